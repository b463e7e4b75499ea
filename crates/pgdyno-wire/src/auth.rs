//! Answers to the server's authentication requests: password, MD5, SCRAM-SHA-256 with and without
//! channel binding.
//!
//! [`Authenticator`] takes the body of each `R` message and appends the answer. It sends nothing itself, and never
//! puts the password into an error.
//!
//! Source: PostgreSQL documentation, "Frontend/Backend Protocol", sections "Start-up" and "SASL
//! Authentication"; RFC 5802, RFC 7677; RFC 5929 section 4 for `tls-server-end-point`.

mod md5;
mod scram;

pub use scram::verifier as scram_verifier;

use crate::frontend;
use scram::{Bound, Proven, Scram};

const SCRAM: &str = "SCRAM-SHA-256";
const SCRAM_PLUS: &str = "SCRAM-SHA-256-PLUS";

/// libpq's `channel_binding`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BindingPolicy {
    /// Never.
    Disable,
    /// If the connection and the server support it.
    #[default]
    Prefer,
    /// Always; without it there is no connection.
    Require,
}

/// Data to which a SCRAM exchange can be bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// There is no TLS.
    NoTls,
    /// TLS, with a certificate whose signature has no `tls-server-end-point`.
    Unavailable,
    /// The hash of the server's certificate.
    EndPoint(Vec<u8>),
}

/// Supported authentication methods; libpq's words in `require_auth`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The server does not authenticate (`trust`, `peer`, a client certificate).
    None,
    /// The password in clear text.
    Password,
    /// The salted MD5 of the password.
    Md5,
    /// SCRAM-SHA-256, with or without channel binding.
    ScramSha256,
}

impl Method {
    /// All methods.
    pub const ALL: [Self; 4] = [Self::None, Self::Password, Self::Md5, Self::ScramSha256];

    /// Returns libpq's word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Password => "password",
            Self::Md5 => "md5",
            Self::ScramSha256 => "scram-sha-256",
        }
    }
}

/// The error when authentication failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// The server asks for a password and there is none.
    #[error("server asks for a password and none was given")]
    NoPassword,
    /// GSSAPI, SSPI, Kerberos, OAuth and the like.
    #[error(
        "server asks for {0} authentication, which pgdyno does not speak; \
         let pg_hba.conf offer scram-sha-256, md5, password, cert, peer or trust for this connection"
    )]
    Unsupported(String),
    /// `require_auth` excludes the server's method.
    #[error("server asks for authentication method '{}', which require_auth forbids", .0.name())]
    Forbidden(Method),
    /// The server offers channel binding over a connection without TLS.
    #[error(
        "server offers SCRAM-SHA-256-PLUS, which needs TLS, over a connection without TLS: something in between may have \
         taken TLS away; use sslmode=require or stronger"
    )]
    Stripped,
    /// The server offers channel binding, and its certificate does not support it.
    #[error(
        "server offers SCRAM-SHA-256-PLUS, and the signature of its certificate has no tls-server-end-point hash to bind \
         to; give the server a certificate signed with ECDSA or RSA (PKCS #1), or use channel_binding=disable"
    )]
    Unbindable,
    /// `channel_binding=require`, and it is not possible.
    #[error("channel_binding=require, but {0}")]
    NotBound(&'static str),
    /// The SCRAM exchange failed: an invalid message, or a server that does not know the password either.
    #[error("SCRAM exchange failed: {0}")]
    Scram(String),
    /// An unreasonable number of iterations.
    #[error(
        "server asks for {0} SCRAM iterations, and more than 10,000,000 are not done: set scram_iterations to less on the \
         server and give the role its password anew (\\password in psql)"
    )]
    Iterations(u32),
    /// The caller's deadline passed before all iterations were done.
    #[error(
        "the {0} SCRAM iterations that the server asks for took longer than connect_timeout; raise it, or set \
         scram_iterations to less on the server and give the role its password anew (\\password in psql)"
    )]
    OutOfTime(u32),
    /// The server accepted before it proved that it knows the password.
    #[error("server ended the SCRAM exchange before it proved that it knows the password")]
    Unproven,
    /// An unexpected `R` message.
    #[error("server sent a malformed authentication request")]
    Malformed,
}

/// Action after a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthProgress {
    /// Send the output, if any, and wait for the next message.
    Continue,
    /// The server accepted the client.
    Done,
}

enum State {
    Start,
    /// Send the password or its hash.
    Answered,
    ScramFirst(Scram),
    ScramFinal(Proven),
    ScramProven,
    Finished,
}

/// One authentication, from the startup message to AuthenticationOk.
///
/// ```
/// use pgdyno_wire::auth::{AuthProgress, Authenticator, Binding, BindingPolicy};
///
/// let mut auth = Authenticator::new("me", Some(b"secret"), Binding::NoTls, BindingPolicy::Prefer);
/// let mut out = Vec::new();
/// assert_eq!(auth.answer(&[0, 0, 0, 3], &mut out), Ok(AuthProgress::Continue)); // cleartext
/// assert_eq!(out, b"p\0\0\0\x0bsecret\0");
/// assert_eq!(auth.answer(&[0, 0, 0, 0], &mut out), Ok(AuthProgress::Done));
/// ```
pub struct Authenticator {
    user: String,
    password: Option<Vec<u8>>,
    binding: Binding,
    policy: BindingPolicy,
    allowed: Vec<Method>,
    state: State,
    bound: bool,
    used_password: bool,
}

impl Authenticator {
    /// Returns an authentication that has not begun.
    #[must_use]
    pub fn new(user: &str, password: Option<&[u8]>, binding: Binding, policy: BindingPolicy) -> Self {
        Self {
            user: user.to_owned(),
            password: password.map(<[u8]>::to_vec),
            binding,
            policy,
            allowed: Method::ALL.to_vec(),
            state: State::Start,
            bound: false,
            used_password: false,
        }
    }

    /// Allows only these methods.
    #[must_use]
    pub fn allow(mut self, methods: &[Method]) -> Self {
        self.allowed = methods.to_vec();
        self
    }

    /// Returns true if the exchange was bound to the TLS connection.
    #[must_use]
    pub fn is_channel_bound(&self) -> bool {
        self.bound
    }

    /// Returns true if the server asked for the password. After a refusal this distinguishes a wrong password from a
    /// role that may not connect at all.
    #[must_use]
    pub fn used_password(&self) -> bool {
        self.used_password
    }

    /// Reads the body of an `R` message, and appends the answer to `out` if there is one.
    ///
    /// # Errors
    /// See [`AuthError`]. The connection is unusable then.
    pub fn answer(&mut self, body: &[u8], out: &mut Vec<u8>) -> Result<AuthProgress, AuthError> {
        self.answer_while(body, out, &mut || true)
    }

    /// Reads the body of an `R` message. Calls `go_on` about once a millisecond of computation, and stops if it
    /// returns false: a server may ask for much work.
    ///
    /// # Errors
    /// See [`AuthError`]. The connection is unusable then.
    pub fn answer_while(
        &mut self,
        body: &[u8],
        out: &mut Vec<u8>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<AuthProgress, AuthError> {
        let (kind, data) = body.split_first_chunk::<4>().ok_or(AuthError::Malformed)?;
        match (i32::from_be_bytes(*kind), &self.state) {
            (0, _) => return self.finish(),
            (3, State::Start) => {
                let password = self.unbound_password(Method::Password)?;
                frontend::password(out, &password);
                self.state = State::Answered;
            }
            (5, State::Start) => {
                let salt: [u8; 4] = data.try_into().map_err(|_| AuthError::Malformed)?;
                let password = self.unbound_password(Method::Md5)?;
                let hash = md5::answer(self.user.as_bytes(), &password, salt);
                frontend::password(out, hash.as_bytes());
                self.state = State::Answered;
            }
            (10, State::Start) => self.start_scram(data, out)?,
            (11 | 12, _) => self.continue_scram(i32::from_be_bytes(*kind), data, out, go_on)?,
            (2, _) => return Err(AuthError::Unsupported("Kerberos V5".into())),
            (6, _) => return Err(AuthError::Unsupported("SCM credential".into())),
            (7 | 8, _) => return Err(AuthError::Unsupported("GSSAPI".into())),
            (9, _) => return Err(AuthError::Unsupported("SSPI".into())),
            (3 | 5 | 10, _) => return Err(AuthError::Malformed),
            (other, _) => return Err(AuthError::Unsupported(format!("an unknown ({other})"))),
        }
        Ok(AuthProgress::Continue)
    }

    /// Returns the password for a method without channel binding.
    fn unbound_password(&mut self, method: Method) -> Result<Vec<u8>, AuthError> {
        self.permit(method)?;
        if self.policy == BindingPolicy::Require {
            return Err(AuthError::NotBound("the server asks for a method without channel binding"));
        }
        self.password()
    }

    fn permit(&self, method: Method) -> Result<(), AuthError> {
        if self.allowed.contains(&method) { Ok(()) } else { Err(AuthError::Forbidden(method)) }
    }

    fn password(&mut self) -> Result<Vec<u8>, AuthError> {
        self.used_password = true;
        self.password.clone().filter(|p| !p.is_empty()).ok_or(AuthError::NoPassword)
    }

    fn start_scram(&mut self, mechanisms: &[u8], out: &mut Vec<u8>) -> Result<(), AuthError> {
        let offered = |name: &str| mechanisms.split(|&b| b == 0).any(|m| m == name.as_bytes());
        if !offered(SCRAM) && !offered(SCRAM_PLUS) {
            let names: Vec<_> =
                mechanisms.split(|&b| b == 0).filter(|m| !m.is_empty()).map(String::from_utf8_lossy).collect();
            return Err(AuthError::Unsupported(format!("SASL {}", names.join(", "))));
        }
        self.permit(Method::ScramSha256)?;
        let plus = offered(SCRAM_PLUS);
        let (mechanism, bound) = match (&self.binding, self.policy) {
            (Binding::NoTls, BindingPolicy::Require) => {
                return Err(AuthError::NotBound(
                    "the connection has no TLS to bind to; use sslmode=require or stronger over TCP",
                ));
            }
            // The server knows that it offered it, and would refuse an exchange without.
            (Binding::NoTls, _) if plus => return Err(AuthError::Stripped),
            (Binding::NoTls, _) | (_, BindingPolicy::Disable) => (SCRAM, Bound::Not),
            (Binding::EndPoint(hash), _) if plus => {
                self.bound = true;
                (SCRAM_PLUS, Bound::EndPoint(hash.clone()))
            }
            (Binding::Unavailable, BindingPolicy::Require) if plus => {
                return Err(AuthError::NotBound(
                    "the signature of the server's certificate has no tls-server-end-point hash",
                ));
            }
            (Binding::Unavailable, _) if plus => return Err(AuthError::Unbindable),
            (_, BindingPolicy::Require) => return Err(AuthError::NotBound("the server does not offer it")),
            // The client supports it, and believes that the server does not. If an attacker removed the offer, the
            // server detects it by this flag.
            (_, BindingPolicy::Prefer) => (SCRAM, Bound::NotOffered),
        };
        if mechanism == SCRAM && !offered(SCRAM) {
            return Err(AuthError::Unsupported(format!("SASL {SCRAM_PLUS} alone")));
        }
        let scram = Scram::new(&self.password()?, bound);
        frontend::sasl_initial_response(out, mechanism, scram.first().as_bytes());
        self.state = State::ScramFirst(scram);
        Ok(())
    }

    fn continue_scram(
        &mut self,
        kind: i32,
        data: &[u8],
        out: &mut Vec<u8>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), AuthError> {
        match (kind, std::mem::replace(&mut self.state, State::Finished)) {
            (11, State::ScramFirst(scram)) => {
                let (proven, answer) = scram.prove(data, go_on)?;
                frontend::sasl_response(out, answer.as_bytes());
                self.state = State::ScramFinal(proven);
            }
            (12, State::ScramFinal(proven)) => {
                proven.verify(data)?;
                self.state = State::ScramProven;
            }
            _ => return Err(AuthError::Malformed),
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<AuthProgress, AuthError> {
        match std::mem::replace(&mut self.state, State::Finished) {
            State::ScramFirst(_) | State::ScramFinal(_) => return Err(AuthError::Unproven),
            State::Finished => return Err(AuthError::Malformed),
            State::Start => self.permit(Method::None)?,
            State::Answered | State::ScramProven => {}
        }
        if self.policy == BindingPolicy::Require && !self.bound {
            return Err(AuthError::NotBound("the server let us in without a SCRAM exchange"));
        }
        Ok(AuthProgress::Done)
    }
}

#[cfg(test)]
mod tests {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use sha2::{Digest as _, Sha256};

    use super::*;

    fn request(kind: i32, data: &[u8]) -> Vec<u8> {
        [&kind.to_be_bytes(), data].concat()
    }

    #[test]
    fn a_verifier_is_what_the_server_stores() {
        // RFC 7677's password and salt; keys by Python's hashlib.
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap().try_into().unwrap();
        let keys = "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";
        assert_eq!(scram_verifier("pencil", salt), format!("SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==${keys}"));
    }

    fn authenticator(binding: Binding, policy: BindingPolicy) -> Authenticator {
        Authenticator::new("md5_user", Some(b"password"), binding, policy)
    }

    fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
        let pad = |with: u8| -> Vec<u8> { (0..64).map(|i| key.get(i).copied().unwrap_or(0) ^ with).collect() };
        let inner = Sha256::digest([&pad(0x36), text].concat());
        Sha256::digest([&pad(0x5c), inner.as_slice()].concat()).into()
    }

    /// RFC 5802 section 3, the server's side, for the password `password`.
    struct Server {
        first_bare: String,
        first: String,
        stored_key: [u8; 32],
        server_key: [u8; 32],
        gs2: String,
    }

    impl Server {
        /// Reads the body of a SASLInitialResponse.
        fn new(body: &[u8]) -> (Self, String) {
            Self::with_iterations(body, 4096)
        }

        fn with_iterations(body: &[u8], iterations: u32) -> (Self, String) {
            let end = body.iter().position(|&b| b == 0).unwrap();
            let mechanism = String::from_utf8(body[..end].to_vec()).unwrap();
            let message = std::str::from_utf8(&body[end + 5..]).unwrap();
            let at = message.find(",,").unwrap() + 2;
            let nonce = &message[message.find("r=").unwrap() + 2..];
            let salt = b"0123456789abcdef";
            let mut block = hmac(b"password", &[salt.as_slice(), &[0, 0, 0, 1]].concat());
            let mut salted = block;
            for _ in 1..iterations {
                block = hmac(b"password", &block);
                salted.iter_mut().zip(block).for_each(|(s, b)| *s ^= b);
            }
            let this = Self {
                first_bare: message[at..].to_owned(),
                first: format!("r={nonce}server,s={},i={iterations}", STANDARD.encode(salt)),
                stored_key: Sha256::digest(hmac(&salted, b"Client Key")).into(),
                server_key: hmac(&salted, b"Server Key"),
                gs2: message[..at].to_owned(),
            };
            (this, mechanism)
        }

        /// Checks the client's proof and answers with the server's signature.
        fn finish(&self, body: &[u8], end_point: &[u8]) -> String {
            let message = std::str::from_utf8(body).unwrap();
            let (without_proof, proof) = message.split_once(",p=").unwrap();
            let cbind = STANDARD.encode([self.gs2.as_bytes(), end_point].concat());
            assert!(without_proof.starts_with(&format!("c={cbind},")));
            let text = format!("{},{},{without_proof}", self.first_bare, self.first);
            let signature = hmac(&self.stored_key, text.as_bytes());
            let key: Vec<u8> = STANDARD.decode(proof).unwrap().iter().zip(signature).map(|(p, s)| p ^ s).collect();
            assert_eq!(Sha256::digest(key).as_slice(), self.stored_key, "proof is wrong");
            format!("v={}", STANDARD.encode(hmac(&self.server_key, text.as_bytes())))
        }
    }

    #[test]
    fn the_md5_answer_is_the_known_one() {
        let mut auth = authenticator(Binding::NoTls, BindingPolicy::Prefer);
        let mut out = Vec::new();
        auth.answer(&request(5, &[0x2a, 0x3d, 0x8f, 0xe0]), &mut out).unwrap();
        assert_eq!(&out[5..], b"md562af4dd09bbb41884907a838a3233294\0");
        assert_eq!(auth.answer(&request(0, &[]), &mut out), Ok(AuthProgress::Done), "accepted");
    }

    #[test]
    fn scram_proves_both_sides_with_and_without_binding() {
        for (binding, policy, offer, mechanism, gs2, end_point) in [
            (Binding::NoTls, BindingPolicy::Prefer, "SCRAM-SHA-256\0\0", SCRAM, "n,,", b"".as_slice()),
            (Binding::EndPoint(b"hash".into()), BindingPolicy::Prefer, "SCRAM-SHA-256\0\0", SCRAM, "y,,", b""),
            (
                Binding::EndPoint(b"hash".into()),
                BindingPolicy::Disable,
                "SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0",
                SCRAM,
                "n,,",
                b"",
            ),
            (Binding::Unavailable, BindingPolicy::Prefer, "SCRAM-SHA-256\0\0", SCRAM, "y,,", b""),
            (Binding::Unavailable, BindingPolicy::Disable, "SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0", SCRAM, "n,,", b""),
            (
                Binding::EndPoint(b"hash".into()),
                BindingPolicy::Require,
                "SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0",
                SCRAM_PLUS,
                "p=tls-server-end-point,,",
                b"hash",
            ),
        ] {
            let mut auth = authenticator(binding, policy);
            let mut out = Vec::new();
            auth.answer(&request(10, offer.as_bytes()), &mut out).unwrap();
            let (server, named) = Server::new(&out[5..]);
            assert_eq!((named.as_str(), server.gs2.as_str()), (mechanism, gs2));
            out.clear();
            auth.answer(&request(11, server.first.as_bytes()), &mut out).unwrap();
            let last = server.finish(&out[5..], end_point);
            out.clear();
            auth.answer(&request(12, last.as_bytes()), &mut out).unwrap();
            assert!(out.is_empty());
            assert_eq!(auth.answer(&request(0, &[]), &mut out), Ok(AuthProgress::Done));
            assert_eq!(auth.is_channel_bound(), mechanism == SCRAM_PLUS);
        }
    }

    #[test]
    fn a_server_that_does_not_know_the_password_is_refused() {
        let mut auth = authenticator(Binding::NoTls, BindingPolicy::Prefer);
        let mut out = Vec::new();
        auth.answer(&request(10, b"SCRAM-SHA-256\0\0"), &mut out).unwrap();
        let (server, _) = Server::new(&out[5..]);
        auth.answer(&request(11, server.first.as_bytes()), &mut out).unwrap();
        let forged = format!("v={}", STANDARD.encode([7; 32]));
        assert!(matches!(auth.answer(&request(12, forged.as_bytes()), &mut out), Err(AuthError::Scram(_))));

        let mut auth = authenticator(Binding::NoTls, BindingPolicy::Prefer);
        auth.answer(&request(10, b"SCRAM-SHA-256\0\0"), &mut out).unwrap();
        assert_eq!(auth.answer(&request(0, &[]), &mut out), Err(AuthError::Unproven));
    }

    #[test]
    fn an_offer_of_binding_that_cannot_be_taken_up_is_refused() {
        let both = b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0";
        for (binding, policy, refusal) in [
            (Binding::NoTls, BindingPolicy::Prefer, AuthError::Stripped),
            (Binding::NoTls, BindingPolicy::Disable, AuthError::Stripped),
            (Binding::Unavailable, BindingPolicy::Prefer, AuthError::Unbindable),
        ] {
            let mut out = Vec::new();
            let answered = authenticator(binding, policy).answer(&request(10, both), &mut out);
            assert_eq!(answered, Err(refusal));
            assert!(out.is_empty());
        }
    }

    #[test]
    fn iterations_are_done_as_long_as_there_is_time() {
        let begin = |out: &mut Vec<u8>| {
            let mut auth = authenticator(Binding::NoTls, BindingPolicy::Prefer);
            auth.answer(&request(10, b"SCRAM-SHA-256\0\0"), out).unwrap();
            auth
        };
        let mut out = Vec::new();
        let mut auth = begin(&mut out);
        let (server, _) = Server::with_iterations(&out[5..], 100_001);
        out.clear();
        auth.answer(&request(11, server.first.as_bytes()), &mut out).unwrap();
        let last = server.finish(&out[5..], b"");
        auth.answer(&request(12, last.as_bytes()), &mut out).unwrap();
        assert_eq!(auth.answer(&request(0, &[]), &mut out), Ok(AuthProgress::Done));

        for (iterations, refusal) in [
            ("0", AuthError::Scram("the server's first message is malformed".into())),
            ("-1", AuthError::Scram("the server's first message is malformed".into())),
            ("+1", AuthError::Scram("the server's first message is malformed".into())),
            ("99999999999", AuthError::Scram("the server's first message is malformed".into())),
            ("4096,x=y", AuthError::Scram("the server's first message is malformed".into())),
            ("10000001", AuthError::Iterations(10_000_001)),
            ("9000000", AuthError::OutOfTime(9_000_000)),
        ] {
            let mut out = Vec::new();
            let mut auth = begin(&mut out);
            let (server, _) = Server::new(&out[5..]);
            let first = server.first.replace("i=4096", &format!("i={iterations}"));
            let mut asked = 0;
            let mut go_on = || {
                asked += 1;
                asked < 5
            };
            let answered = auth.answer_while(&request(11, first.as_bytes()), &mut Vec::new(), &mut go_on);
            assert_eq!(answered, Err(refusal), "{iterations}");
        }
    }

    #[test]
    fn the_iterations_of_a_password_and_a_salt_are_done_once() {
        for (password, asked_wanted) in [(b"password", 4), (b"password", 0), (b"passwort", 4)] {
            let mut auth = Authenticator::new("u", Some(password), Binding::NoTls, BindingPolicy::Prefer);
            let mut out = Vec::new();
            auth.answer(&request(10, b"SCRAM-SHA-256\0\0"), &mut out).unwrap();
            let (server, _) = Server::with_iterations(&out[5..], 20_001);
            out.clear();
            let mut asked = 0;
            let mut go_on = || {
                asked += 1;
                true
            };
            auth.answer_while(&request(11, server.first.as_bytes()), &mut out, &mut go_on).unwrap();
            assert_eq!(asked, asked_wanted, "{}", password.escape_ascii());
            if password == b"password" {
                server.finish(&out[5..], b"");
            }
        }
    }

    #[test]
    fn required_binding_sends_nothing_to_a_server_that_cannot() {
        let end_point = || Binding::EndPoint(b"hash".into());
        for (binding, kind, data) in [
            (end_point(), 3, b"".as_slice()),
            (end_point(), 5, b"salt"),
            (end_point(), 10, b"SCRAM-SHA-256\0\0"),
            (Binding::NoTls, 10, b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"),
            (Binding::Unavailable, 10, b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0"),
            (end_point(), 0, b""),
        ] {
            let mut out = Vec::new();
            let error =
                authenticator(binding, BindingPolicy::Require).answer(&request(kind, data), &mut out).unwrap_err();
            assert!(matches!(error, AuthError::NotBound(_)), "request {kind}: {error}");
            assert!(out.is_empty(), "request {kind}");
        }
    }

    #[test]
    fn what_cannot_be_answered_is_named() {
        let answer = |kind, data: &[u8]| {
            authenticator(Binding::NoTls, BindingPolicy::Prefer)
                .answer(&request(kind, data), &mut Vec::new())
                .unwrap_err()
        };
        for (kind, name) in [(2, "Kerberos"), (7, "GSSAPI"), (9, "SSPI"), (77, "unknown (77)")] {
            let text = answer(kind, b"").to_string();
            assert!(text.contains(name), "{text}");
        }
        assert!(answer(10, b"OAUTHBEARER\0\0").to_string().contains("SASL OAUTHBEARER"));
        assert_eq!(answer(5, b"abc"), AuthError::Malformed);
        assert_eq!(answer(11, b""), AuthError::Malformed);
        let mut nobody = Authenticator::new("u", None, Binding::NoTls, BindingPolicy::Prefer);
        assert_eq!(nobody.answer(&request(3, b""), &mut Vec::new()), Err(AuthError::NoPassword));
    }

    #[test]
    fn require_auth_keeps_the_password_from_a_weaker_method() {
        let mut auth = authenticator(Binding::NoTls, BindingPolicy::Prefer).allow(&[Method::ScramSha256]);
        let mut out = Vec::new();
        assert_eq!(auth.answer(&request(3, b""), &mut out), Err(AuthError::Forbidden(Method::Password)));
        assert!(out.is_empty());
        let mut auth = authenticator(Binding::NoTls, BindingPolicy::Prefer).allow(&[Method::ScramSha256]);
        assert_eq!(auth.answer(&request(0, b""), &mut out), Err(AuthError::Forbidden(Method::None)));
    }
}
