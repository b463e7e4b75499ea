//! Peers that say what a test puts into their mouth.

use std::io::{Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Listens on a port of the loopback, and holds `talk` with each caller, several at a time.
pub(crate) fn serve(talk: impl Fn(TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let talk = Arc::new(talk);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, talk) = (stream.unwrap(), Arc::clone(&talk));
            std::thread::spawn(move || talk(stream));
        }
    });
    port
}

/// Reads a startup message, or a request for TLS; what follows its length.
pub(crate) fn startup(stream: &mut impl Read) -> Vec<u8> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).unwrap();
    let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
    stream.read_exact(&mut body).unwrap();
    body
}

/// Reads one message of the client, if one comes; what follows its length.
pub(crate) fn receive(stream: &mut impl Read) -> Option<Vec<u8>> {
    stream.read_exact(&mut [0]).ok().map(|()| startup(stream))
}

/// One message of a server.
pub(crate) fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    [&[tag], (body.len() as u32 + 4).to_be_bytes().as_slice(), body].concat()
}

/// An authentication request.
pub(crate) fn request(kind: i32, data: &[u8]) -> Vec<u8> {
    message(b'R', &[&kind.to_be_bytes(), data].concat())
}

/// AuthenticationOk, BackendKeyData and ReadyForQuery.
pub(crate) fn let_in() -> Vec<u8> {
    [request(0, b""), message(b'K', &[0; 8]), message(b'Z', b"I")].concat()
}

/// Answers a request for TLS with yes. `before` is called before each of the server's steps.
pub(crate) fn tls(mut stream: TcpStream, before: &dyn Fn()) -> StreamOwned<ServerConnection, TcpStream> {
    startup(&mut stream);
    before();
    stream.write_all(b"S").unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
        .unwrap();
    let mut session = ServerConnection::new(Arc::new(config)).unwrap();
    while session.is_handshaking() {
        session.read_tls(&mut stream).unwrap();
        session.process_new_packets().unwrap();
        before();
        while session.wants_write() {
            session.write_tls(&mut stream).unwrap();
        }
    }
    StreamOwned::new(session, stream)
}
