//! Ways of encryption, their order, and the meaning of their failures.

use pgdyno_wire::auth::Binding;
use rustls::pki_types::ServerName;
use rustls::{AlertDescription, CertificateError, Error};

use crate::address::Address;
use crate::host::{Host, HostPlace};
use crate::startup::{Attempt, StartupError, excerpt};
use crate::tls::{DialError, Dialed, Dialer, SslMode, TlsSettings, end_point_hash};
use crate::transport::{Socket, Transport};
use crate::{ConnectError, Deadline};

/// A way of encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Encryption {
    /// Without TLS.
    Plain,
    /// With TLS, or without if the server does not support it.
    IfOffered,
    /// With TLS.
    Tls,
}

/// Returns the ways for an address, the preferred one first. There is no TLS over unix sockets.
pub(crate) fn ways(mode: SslMode, address: &Address) -> &'static [Encryption] {
    match mode {
        _ if address.is_unix() => &[Encryption::Plain],
        SslMode::Disable => &[Encryption::Plain],
        SslMode::Allow => &[Encryption::Plain, Encryption::Tls],
        SslMode::Prefer => &[Encryption::IfOffered, Encryption::Plain],
        SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => &[Encryption::Tls],
    }
}

/// Returns true if another way may succeed after this failure: TLS itself failed, or a rule in the server's
/// `pg_hba.conf` depends on it.
pub(crate) fn another_way_may_help(failure: &StartupError) -> bool {
    match &failure.error {
        ConnectError::Certificate { .. } | ConnectError::Tls { .. } | ConnectError::TlsFile { .. } => true,
        ConnectError::Refused { .. } | ConnectError::WrongPassword { .. } => failure.before_auth,
        _ => false,
    }
}

/// Returns how to negotiate TLS with `host`.
pub(crate) fn dialer(
    settings: &TlsSettings,
    host: &Host,
    address: &Address,
    attempt: &Attempt<'_>,
) -> Result<Option<Dialer>, ConnectError> {
    let (Address::Tcp(ip), HostPlace::Tcp { name, .. }) = (address, &host.place) else {
        return Ok(None);
    };
    let config = settings
        .config()
        .map_err(|error| ConnectError::TlsFile { peer: attempt.peer.clone(), reason: error.to_string() })?;
    // A name that no certificate can have cannot be verified; that matters only if verification is required.
    let name = match ServerName::try_from(name.trim_end_matches('.').to_owned()) {
        Ok(name) => name,
        Err(_) if settings.mode == SslMode::VerifyFull => {
            return Err(ConnectError::Certificate {
                peer: attempt.peer.clone(),
                reason: format!("'{name}' is not a host name that a certificate can hold"),
            });
        }
        Err(_) => ServerName::from(ip.ip()),
    };
    Ok(Some(Dialer { config, name }))
}

/// Negotiates TLS on a new TCP connection, or returns that the server does not support it.
pub(crate) fn encrypt(
    dialer: &Dialer,
    way: Encryption,
    socket: Socket,
    deadline: Deadline,
    attempt: &Attempt<'_>,
) -> Result<(Transport, Binding), ConnectError> {
    match dialer.dial(socket, deadline) {
        Ok(Dialed::Tls(stream)) => {
            let certificate = stream.session().peer_certificates().and_then(|c| c.first());
            let binding =
                certificate.and_then(|cert| end_point_hash(cert)).map_or(Binding::Unavailable, Binding::EndPoint);
            Ok((Transport::Tls(stream), binding))
        }
        Ok(Dialed::Plain(socket)) if way == Encryption::IfOffered => Ok((Transport::Plain(socket), Binding::NoTls)),
        Ok(Dialed::Plain(_)) => {
            Err(ConnectError::TlsNotOffered { peer: attempt.peer.clone(), sslmode: attempt.options.tls.mode.name() })
        }
        Err(error) => Err(attempt.dial_error(error)),
    }
}

impl Attempt<'_> {
    fn dial_error(&self, error: DialError) -> ConnectError {
        match error {
            DialError::Io(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {
                self.tls_failed("the server broke the handshake off; its log says why".into())
            }
            DialError::Io(error) => self.transport_error(error),
            DialError::Foreign(said) => self.not_postgres(format!("it says \"{}\"", excerpt(&said))),
            DialError::Closed => self.not_postgres(
                "it closed the connection without an answer (a PostgreSQL server that crashes does \
                 so too: see its log)"
                    .into(),
            ),
            DialError::ErrorMessage => self.tls_failed(
                "the server answered with an error, which is not shown because anybody could have \
                 sent it; see the server's log"
                    .into(),
            ),
            DialError::NoAlpn => self.tls_failed(
                "the server did not agree to speak PostgreSQL's protocol; \
                 sslnegotiation=direct needs PostgreSQL 17, use sslnegotiation=postgres"
                    .into(),
            ),
            DialError::Tls(error) => self.tls_error(&error),
        }
    }

    fn tls_failed(&self, reason: String) -> ConnectError {
        let peer = self.peer.clone();
        ConnectError::Tls { peer, reason }
    }

    /// Returns the error for the user of an error of rustls.
    pub(crate) fn tls_error(&self, error: &Error) -> ConnectError {
        match error {
            Error::InvalidCertificate(error) => {
                ConnectError::Certificate { peer: self.peer.clone(), reason: certificate_reason(error) }
            }
            Error::AlertReceived(alert) => self.tls_failed(format!(
                "the server refuses with alert {alert:?}{}",
                match alert {
                    AlertDescription::CertificateRequired
                    | AlertDescription::CertificateUnknown
                    | AlertDescription::UnknownCA
                    | AlertDescription::DecryptError
                    | AlertDescription::BadCertificate
                    | AlertDescription::CertificateExpired
                    | AlertDescription::CertificateRevoked =>
                        "; give a client certificate that it trusts with sslcert= and sslkey=",
                    AlertDescription::ProtocolVersion =>
                        "; its ssl_min_protocol_version and ssl_max_protocol_version allow neither \
                         TLSv1.2 nor TLSv1.3 as far as wanted here",
                    _ => "; its log may say more",
                }
            )),
            Error::InvalidMessage(_) => self.tls_failed("the server's answer is not TLS; check host and port".into()),
            Error::PeerIncompatible(reason) => {
                self.tls_failed(format!("there is no TLS version or cipher that both sides do ({reason:?})"))
            }
            other => self.tls_failed(other.to_string()),
        }
    }
}

/// Returns a name of a certificate without rustls's `DnsName("localhost")`.
fn plain(name: &str) -> &str {
    name.split_once('(').map_or(name, |(_, inner)| inner.trim_end_matches(')').trim_matches('"'))
}

fn certificate_reason(error: &CertificateError) -> String {
    match error {
        // A CA of the same name with another key gives a bad signature.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "it is not signed by a CA that is trusted here; name the CA's certificate with sslrootcert=".into()
        }
        CertificateError::NotValidForName => "it is made out for another host; connect by a name that \
             stands in it, or use sslmode=verify-ca"
            .into(),
        CertificateError::NotValidForNameContext { expected, presented } => format!(
            "it is made out for {}, not for {}; connect by a name that stands in it, or use \
             sslmode=verify-ca",
            if presented.is_empty() {
                "no host name".to_owned()
            } else {
                presented.iter().map(|name| plain(name)).collect::<Vec<_>>().join(", ")
            },
            expected.to_str()
        ),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "it has expired; renew it (and check this machine's clock)".into()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "it is not valid yet; check this machine's clock".into()
        }
        CertificateError::Revoked => "it is revoked, or a CA that vouches for it is".into(),
        CertificateError::UnknownRevocationStatus => {
            "sslcrl= and sslcrldir= hold no revocation list that is in force for each \
             certificate of its chain; add the lists of all its CAs, the root among them"
                .into()
        }
        CertificateError::ExpiredRevocationList | CertificateError::ExpiredRevocationListContext { .. } => {
            "the revocation list of its CA has expired; fetch the new one (and check this machine's clock)".into()
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "it is not made for servers; issue it anew with keyUsage digitalSignature and extendedKeyUsage serverAuth"
                .into()
        }
        CertificateError::Other(other) if other.to_string().contains("UnsupportedCertVersion") => {
            "it is an X.509 certificate of version 1, which is not supported; issue it anew with \
             subjectAltName (openssl x509 -extfile), or use sslmode=require"
                .into()
        }
        other => other.to_string(),
    }
}
