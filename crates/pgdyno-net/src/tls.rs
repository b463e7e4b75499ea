//! TLS by libpq's `ssl*` parameters.

mod chain;
mod config;
mod dial;
mod settings;
mod stream;
mod verify;
mod x509;

pub use stream::TlsStream;

pub(crate) use config::{TlsConfig, TlsFileError};
pub(crate) use dial::{DialError, Dialed, Dialer};
pub(crate) use settings::{SslMode, TlsSettings};
pub(crate) use x509::{Certificate, end_point_hash};
