//! The client's side of SCRAM-SHA-256.
//!
//! Source: RFC 5802, RFC 7677; saslprep as in PostgreSQL: a password that it rejects is used unchanged.

use std::sync::{Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use super::AuthError;

/// Limit of iterations that a server may ask for: some seconds of CPU time. PostgreSQL asks for 4,096 by default, and
/// advice goes up to a million.
const MAX_ITERATIONS: u32 = 10_000_000;

/// Iterations between two calls of `go_on`: about a millisecond.
const ITERATIONS_AT_ONCE: u32 = 4_096;

/// Iterations of a verifier: PostgreSQL's default.
const VERIFIER_ITERATIONS: u32 = 4_096;

/// Channel binding of the exchange.
pub(super) enum Bound {
    /// `n`: none, because there is no TLS, or none is wanted.
    Not,
    /// `y`: none, because the server did not offer it.
    NotOffered,
    /// `p`: the hash of the server's certificate.
    EndPoint(Vec<u8>),
}

impl Bound {
    fn header(&self) -> &'static str {
        match self {
            Self::Not => "n,,",
            Self::NotOffered => "y,,",
            Self::EndPoint(_) => "p=tls-server-end-point,,",
        }
    }

    /// Returns the header and the data, as in the client's second message.
    fn input(&self) -> String {
        let data: &[u8] = if let Self::EndPoint(hash) = self { hash } else { b"" };
        STANDARD.encode([self.header().as_bytes(), data].concat())
    }
}

/// An exchange before the server's first message.
pub(super) struct Scram {
    password: Vec<u8>,
    bound: Bound,
    nonce: String,
}

/// An exchange after the client's proof.
pub(super) struct Proven {
    server_key: [u8; 32],
    auth_message: String,
}

impl Scram {
    pub(super) fn new(password: &[u8], bound: Bound) -> Self {
        Self { password: prepared(password), bound, nonce: STANDARD.encode(rand::random::<[u8; 18]>()) }
    }

    /// Returns the client's first message.
    pub(super) fn first(&self) -> String {
        format!("{}n=,r={}", self.bound.header(), self.nonce)
    }

    /// Reads the server's first message, and returns the client's second one, with its proof. Stops if `go_on`
    /// returns false.
    pub(super) fn prove(self, first: &[u8], go_on: &mut dyn FnMut() -> bool) -> Result<(Proven, String), AuthError> {
        let first = text(first)?;
        let malformed = || AuthError::Scram("the server's first message is malformed".into());
        let mut fields = first.split(',');
        let mut field = |name: &str| fields.next().and_then(|field| field.strip_prefix(name)).ok_or_else(malformed);
        let (nonce, salt, iterations) = (field("r=")?, field("s=")?, field("i=")?);
        if fields.next().is_some() {
            return Err(malformed());
        }
        if !nonce.starts_with(&self.nonce) {
            return Err(AuthError::Scram("the server's nonce does not begin with ours".into()));
        }
        let salt = STANDARD.decode(salt).map_err(|_| malformed())?;
        let digits = iterations.bytes().all(|b| b.is_ascii_digit());
        let iterations = iterations.parse().ok().filter(|count| digits && *count > 0).ok_or_else(malformed)?;
        let salted = salted_once(self.password, salt, iterations, go_on)?;
        let client_key = hmac(&salted, b"Client Key");
        let without_proof = format!("c={},r={nonce}", self.bound.input());
        let auth_message = format!("n=,r={},{first},{without_proof}", self.nonce);
        let signature = hmac(&Sha256::digest(client_key), auth_message.as_bytes());
        let proof: Vec<u8> = client_key.iter().zip(signature).map(|(key, byte)| key ^ byte).collect();
        let answer = format!("{without_proof},p={}", STANDARD.encode(proof));
        Ok((Proven { server_key: hmac(&salted, b"Server Key"), auth_message }, answer))
    }
}

impl Proven {
    /// Reads the server's last message, and checks that it knows the password as well.
    pub(super) fn verify(&self, last: &[u8]) -> Result<(), AuthError> {
        let last = text(last)?;
        if let Some(error) = last.strip_prefix("e=") {
            return Err(AuthError::Scram(format!("the server says {}", error.escape_debug())));
        }
        let malformed = || AuthError::Scram("the server's last message is malformed".into());
        let signature = last.strip_prefix("v=").and_then(|text| STANDARD.decode(text).ok()).ok_or_else(malformed)?;
        let mac = keyed(&self.server_key).chain_update(self.auth_message.as_bytes());
        // In constant time.
        mac.verify_slice(&signature).map_err(|_| AuthError::Scram("the server does not know the password".into()))
    }
}

/// Returns what the server stores of a password, as `ALTER ROLE name PASSWORD` takes it.
#[must_use]
pub fn verifier(password: &str, salt: [u8; 16]) -> String {
    let salted = salted(&prepared(password.as_bytes()), &salt, VERIFIER_ITERATIONS, &mut || true);
    let salted = salted.unwrap_or_else(|_| unreachable!("these few iterations are never stopped"));
    let stored_key = STANDARD.encode(Sha256::digest(hmac(&salted, b"Client Key")));
    let server_key = STANDARD.encode(hmac(&salted, b"Server Key"));
    format!("SCRAM-SHA-256${VERIFIER_ITERATIONS}:{}${stored_key}:{server_key}", STANDARD.encode(salt))
}

/// Returns a password after saslprep; as it is where that rejects it.
fn prepared(password: &[u8]) -> Vec<u8> {
    let prepared = std::str::from_utf8(password).ok().and_then(|text| stringprep::saslprep(text).ok());
    prepared.map_or_else(|| password.to_vec(), |text| text.into_owned().into_bytes())
}

fn text(message: &[u8]) -> Result<&str, AuthError> {
    std::str::from_utf8(message).map_err(|_| AuthError::Scram("a message is not UTF-8".into()))
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    // HMAC accepts keys of any length.
    Hmac::new_from_slice(key).unwrap_or_else(|_| unreachable!("HMAC takes keys of any length"))
}

fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    keyed(key).chain_update(text).finalize().into_bytes().into()
}

/// A password with a salt, and what they became.
struct Salted {
    password: Vec<u8>,
    salt: Vec<u8>,
    iterations: u32,
    key: [u8; 32],
}

/// Passwords that were salted last, the newest first: the connections of a process are to few roles, and a role has one salt.
/// RFC 5802, section 5.1, lets a client keep what it computed.
static SALTED: Mutex<Vec<Salted>> = Mutex::new(Vec::new());

/// How many are kept: roles of a few targets.
const SALTED_KEPT: usize = 8;

/// [`salted`], without the iterations where this process has done them before.
fn salted_once(
    password: Vec<u8>,
    salt: Vec<u8>,
    iterations: u32,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<[u8; 32], AuthError> {
    let kept = || SALTED.lock().unwrap_or_else(PoisonError::into_inner);
    let is_this = |kept: &&Salted| kept.iterations == iterations && kept.salt == salt && kept.password == password;
    if let Some(known) = kept().iter().find(is_this) {
        return Ok(known.key);
    }
    // Others are not kept waiting meanwhile: a server may ask for seconds.
    let key = salted(&password, &salt, iterations, go_on)?;
    let mut kept = kept();
    kept.insert(0, Salted { password, salt, iterations, key });
    kept.truncate(SALTED_KEPT);
    Ok(key)
}

/// PBKDF2 with one block: `Hi` of RFC 5802.
fn salted(
    password: &[u8],
    salt: &[u8],
    iterations: u32,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<[u8; 32], AuthError> {
    if iterations > MAX_ITERATIONS {
        return Err(AuthError::Iterations(iterations));
    }
    let key = keyed(password);
    let step = |text: &[u8]| -> [u8; 32] { key.clone().chain_update(text).finalize().into_bytes().into() };
    let mut block = step(&[salt, &[0, 0, 0, 1]].concat());
    let mut salted = block;
    for done in 1..iterations {
        if done % ITERATIONS_AT_ONCE == 0 && !go_on() {
            return Err(AuthError::OutOfTime(iterations));
        }
        block = step(&block);
        salted.iter_mut().zip(block).for_each(|(sum, byte)| *sum ^= byte);
    }
    Ok(salted)
}
