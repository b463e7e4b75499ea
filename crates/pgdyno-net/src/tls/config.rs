//! Builds a configuration of rustls from libpq's `ssl*` parameters.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};

use super::chain::Chain;
use super::settings::{FileSetting, Roots, SslMode, TlsSettings};
use super::verify::Verifier;

/// Registered name of PostgreSQL's protocol for ALPN.
pub(crate) const ALPN: &[u8] = b"postgresql";

/// The error when files of TLS cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TlsFileError {
    #[error(
        "sslmode={0} needs trusted certificates, and there is no {1}; put the CA's certificate there, name \
         it with sslrootcert=, or use the system's with sslrootcert=system"
    )]
    NoRoots(&'static str, String),
    #[error("cannot use {what} {path}: {reason}", path = .path.display())]
    File { what: &'static str, path: PathBuf, reason: String },
    #[error("the system has no trusted certificates: {0}; name a file with sslrootcert=")]
    NoSystemRoots(String),
    #[error("cannot set TLS up: {0}")]
    Rustls(String),
}

/// The configuration, and whether it verifies the server.
#[derive(Clone, Debug)]
pub(crate) struct TlsConfig {
    pub(crate) client: Arc<ClientConfig>,
    pub(crate) direct: bool,
}

impl TlsConfig {
    /// Reads the files.
    pub(super) fn load(settings: &TlsSettings) -> Result<Self, TlsFileError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions: Vec<_> =
            [settings.tls12.then_some(&rustls::version::TLS12), settings.tls13.then_some(&rustls::version::TLS13)]
                .into_iter()
                .flatten()
                .collect();
        let failed = |error: rustls::Error| TlsFileError::Rustls(error.to_string());
        let algorithms = provider.signature_verification_algorithms;
        let check_name = settings.mode == SslMode::VerifyFull;
        let verifier = Verifier { chain: chain(settings, algorithms)?, check_name, algorithms };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)
            .map_err(failed)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut client = match client_certificate(settings)? {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => builder.with_client_auth_cert(chain, key).map_err(failed)?,
        };
        client.enable_sni = settings.sni;
        client.alpn_protocols = vec![ALPN.to_vec()];
        Ok(Self { client: Arc::new(client), direct: settings.direct })
    }
}

/// Returns the trusted roots. As in libpq, an existing root file is used in every `sslmode`, and must exist for
/// `verify-ca` and `verify-full`.
fn chain(settings: &TlsSettings, algorithms: WebPkiSupportedAlgorithms) -> Result<Option<Chain>, TlsFileError> {
    let needs_roots = settings.mode >= SslMode::VerifyCa;
    let trusted = match &settings.roots {
        Roots::System => system_roots()?,
        Roots::File(path) if path.exists() => certificates("sslrootcert", path)?,
        Roots::File(path) if needs_roots => {
            return Err(TlsFileError::NoRoots(settings.mode.name(), path.display().to_string()));
        }
        Roots::None if needs_roots => {
            let file = "~/.postgresql/root.crt".to_owned();
            return Err(TlsFileError::NoRoots(settings.mode.name(), file));
        }
        Roots::File(_) | Roots::None => return Ok(None),
    };
    Chain::new(trusted, &revocations(settings)?, algorithms).map(Some).map_err(TlsFileError::Rustls)
}

fn system_roots() -> Result<Vec<CertificateDer<'static>>, TlsFileError> {
    let found = rustls_native_certs::load_native_certs();
    if found.certs.is_empty() {
        let errors: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
        return Err(TlsFileError::NoSystemRoots(errors.join(", ")));
    }
    Ok(found.certs)
}

/// Returns the revocation lists. With a file or a directory without any, libpq refuses all servers or verifies
/// nothing, depending on its content; here that is an error.
fn revocations(settings: &TlsSettings) -> Result<Vec<CertificateRevocationListDer<'static>>, TlsFileError> {
    let none = |what, path: &Path| TlsFileError::File {
        what,
        path: path.to_owned(),
        reason: "there is no revocation list in PEM in it".into(),
    };
    let mut lists = Vec::new();
    if let Some(FileSetting { path, named }) = &settings.revocations
        && (*named || path.exists())
    {
        lists = read_all("sslcrl", path)?;
        if lists.is_empty() {
            return Err(none("sslcrl", path));
        }
    }
    if let Some(dir) = &settings.revocation_dir {
        let entries = std::fs::read_dir(dir).map_err(|e| unusable("sslcrldir", dir, &e))?;
        let before = lists.len();
        for path in entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()) {
            lists.extend(read_all("sslcrldir", &path)?);
        }
        if lists.len() == before {
            return Err(none("sslcrldir", dir));
        }
    }
    Ok(lists)
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn client_certificate(settings: &TlsSettings) -> Result<Option<Identity>, TlsFileError> {
    let Some(certificate) = &settings.certificate else {
        return Ok(None);
    };
    if !certificate.named && !certificate.path.exists() {
        return Ok(None);
    }
    let chain = certificates("sslcert", &certificate.path)?;
    let key = settings.key.as_ref().ok_or_else(|| TlsFileError::File {
        what: "sslcert",
        path: certificate.path.clone(),
        reason: "there is no key for it; name it with sslkey=".into(),
    })?;
    check_permissions(&key.path)?;
    let pem = PrivateKeyDer::from_pem_file(&key.path).map_err(|error| TlsFileError::File {
        what: "sslkey",
        path: key.path.clone(),
        reason: format!("{error}; it must be an unencrypted key in PEM"),
    })?;
    Ok(Some((chain, pem)))
}

/// libpq's rule: only its owner may read the user's key; a group may read one of root.
fn check_permissions(path: &Path) -> Result<(), TlsFileError> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = std::fs::metadata(path).map_err(|e| unusable("sslkey", path, &e))?;
    let refuse =
        |reason: &str| Err(TlsFileError::File { what: "sslkey", path: path.to_owned(), reason: reason.to_owned() });
    let forbidden = if metadata.uid() == 0 { 0o037 } else { 0o077 };
    if !metadata.is_file() {
        refuse("it is not a plain file")
    } else if metadata.mode() & forbidden != 0 {
        refuse("others may access it; chmod 0600 it")
    } else {
        Ok(())
    }
}

fn certificates(what: &'static str, path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsFileError> {
    let found = read_all(what, path)?;
    if found.is_empty() {
        return Err(TlsFileError::File {
            what,
            path: path.to_owned(),
            reason: "it holds no certificate in PEM".into(),
        });
    }
    Ok(found)
}

fn read_all<T: PemObject>(what: &'static str, path: &Path) -> Result<Vec<T>, TlsFileError> {
    let text = std::fs::read(path).map_err(|e| unusable(what, path, &e))?;
    T::pem_slice_iter(&text).collect::<Result<_, _>>().map_err(|error| TlsFileError::File {
        what,
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

fn unusable(what: &'static str, path: &Path, error: &io::Error) -> TlsFileError {
    TlsFileError::File { what, path: path.to_owned(), reason: error.to_string() }
}
