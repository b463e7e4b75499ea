//! libpq's `ssl*` parameters.

use std::path::PathBuf;
use std::sync::OnceLock;

use super::{TlsConfig, TlsFileError};
use crate::conninfo::Values;
use crate::options::choice;
use crate::{ConninfoError, Env};

/// libpq's `sslmode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SslMode {
    Disable,
    Allow,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

impl SslMode {
    const ALL: [Self; 6] = [Self::Disable, Self::Allow, Self::Prefer, Self::Require, Self::VerifyCa, Self::VerifyFull];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Disable => "disable",
            Self::Allow => "allow",
            Self::Prefer => "prefer",
            Self::Require => "require",
            Self::VerifyCa => "verify-ca",
            Self::VerifyFull => "verify-full",
        }
    }

    fn parse(text: &str) -> Result<Self, ConninfoError> {
        Self::ALL.into_iter().find(|mode| mode.name() == text).ok_or_else(|| ConninfoError::Invalid {
            name: "sslmode",
            value: text.to_owned(),
            expected: Self::ALL.map(Self::name).join(", "),
        })
    }
}

/// The trusted roots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Roots {
    /// The operating system's.
    System,
    /// Those of a given file, or of libpq's default file.
    File(PathBuf),
    /// None: there is no home directory.
    None,
}

/// A file. libpq's default file need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileSetting {
    pub(crate) path: PathBuf,
    pub(crate) named: bool,
}

/// Values of the `ssl*` parameters. Files are read when the first connection with TLS is opened.
#[derive(Debug)]
pub(crate) struct TlsSettings {
    pub(crate) mode: SslMode,
    /// `sslnegotiation=direct`.
    pub(crate) direct: bool,
    pub(crate) roots: Roots,
    /// `None` with `sslcertmode=disable` or without a home directory.
    pub(crate) certificate: Option<FileSetting>,
    pub(crate) key: Option<FileSetting>,
    pub(crate) revocations: Option<FileSetting>,
    pub(crate) revocation_dir: Option<PathBuf>,
    /// Whether SNI is sent.
    pub(crate) sni: bool,
    pub(crate) tls12: bool,
    pub(crate) tls13: bool,
    loaded: OnceLock<Result<TlsConfig, TlsFileError>>,
}

impl TlsSettings {
    /// Returns the settings without TLS: for a unix socket.
    pub(crate) fn disabled() -> Self {
        Self {
            mode: SslMode::Disable,
            direct: false,
            roots: Roots::None,
            certificate: None,
            key: None,
            revocations: None,
            revocation_dir: None,
            sni: true,
            tls12: true,
            tls13: true,
            loaded: OnceLock::new(),
        }
    }

    /// Returns the configuration, built once for all connections.
    pub(crate) fn config(&self) -> Result<TlsConfig, TlsFileError> {
        self.loaded.get_or_init(|| TlsConfig::load(self)).clone()
    }

    pub(crate) fn resolve(values: &Values, env: &Env) -> Result<Self, ConninfoError> {
        let default_file = |name: &str| {
            let path = env.home()?.join(".postgresql").join(name);
            Some(FileSetting { path, named: false })
        };
        let file = |key, default| match values.non_empty(key) {
            Some(path) => Some(FileSetting { path: path.into(), named: true }),
            None => default_file(default),
        };
        let roots = match values.non_empty("sslrootcert") {
            Some("system") => Roots::System,
            _ => file("sslrootcert", "root.crt").map_or(Roots::None, |f| Roots::File(f.path)),
        };
        let mode = mode(values, &roots)?;
        let direct = choice(values, "sslnegotiation", &["postgres", "direct"])? == 1;
        if direct && mode < SslMode::Require {
            return Err(ConninfoError::Unsupported(format!(
                "sslnegotiation=direct needs sslmode=require or stronger, and sslmode is {}",
                mode.name()
            )));
        }
        let send_certificate = match choice(values, "sslcertmode", &["allow", "disable", "require"])? {
            0 => true,
            1 => false,
            _ => {
                return Err(ConninfoError::Unsupported("sslcertmode=require is not supported; use allow".into()));
            }
        };
        if values.non_empty("sslpassword").is_some() {
            return Err(ConninfoError::Unsupported(
                "sslpassword is not supported: give an unencrypted key as sslkey (openssl pkey -in \
                 KEY -out PLAIN_KEY)"
                    .into(),
            ));
        }
        let (tls12, tls13) = versions(values)?;
        let named_crl = values.non_empty("sslcrl").is_some();
        let revocation_dir = values.non_empty("sslcrldir").map(PathBuf::from);
        Ok(Self {
            mode,
            direct,
            roots,
            certificate: file("sslcert", "postgresql.crt").filter(|_| send_certificate),
            key: file("sslkey", "postgresql.key"),
            // With a directory, libpq does not search the default file.
            revocations: file("sslcrl", "root.crl").filter(|_| named_crl || revocation_dir.is_none()),
            revocation_dir,
            sni: choice(values, "sslsni", &["1", "0"])? == 0,
            tls12,
            tls13,
            loaded: OnceLock::new(),
        })
    }
}

/// Parses `sslmode`. With the system's roots only `verify-full` makes sense, because anybody can get a certificate
/// from them: it is the default then, and the only value.
fn mode(values: &Values, roots: &Roots) -> Result<SslMode, ConninfoError> {
    let given = values.non_empty("sslmode").map(SslMode::parse).transpose()?;
    match (given, roots) {
        (None, Roots::System) => Ok(SslMode::VerifyFull),
        (Some(weak), Roots::System) if weak != SslMode::VerifyFull => Err(ConninfoError::Unsupported(format!(
            "sslmode={} may not be used with sslrootcert=system; use sslmode=verify-full",
            weak.name()
        ))),
        (given, _) => Ok(given.unwrap_or(SslMode::Prefer)),
    }
}

/// Returns true if TLS 1.2 and 1.3 are in the given range. Older versions are not supported.
fn versions(values: &Values) -> Result<(bool, bool), ConninfoError> {
    const WORDS: [&str; 4] = ["TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3"];
    let bound = |key: &'static str, default: usize| match values.non_empty(key) {
        None => Ok(default),
        Some(text) => WORDS
            .iter()
            .position(|word| word.eq_ignore_ascii_case(text))
            .ok_or_else(|| ConninfoError::Invalid { name: key, value: text.to_owned(), expected: WORDS.join(", ") }),
    };
    let low = bound("ssl_min_protocol_version", 2)?;
    let high = bound("ssl_max_protocol_version", 3)?;
    let within = |version| (low..=high).contains(&version);
    if within(2) || within(3) {
        Ok((within(2), within(3)))
    } else {
        Err(ConninfoError::Unsupported(
            "ssl_min_protocol_version and ssl_max_protocol_version leave neither TLSv1.2 nor TLSv1.3, \
             and pgdyno speaks no other"
                .into(),
        ))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::conninfo::merge;

    fn resolve(dsn: &str) -> Result<TlsSettings, String> {
        let env = Env::new([], Some(Path::new("/home/u")), Some("u"));
        let values = merge(dsn, &[], &env).map_err(|e| e.to_string())?;
        TlsSettings::resolve(&values, &env).map_err(|e| e.to_string())
    }

    #[test]
    fn defaults_are_libpqs() {
        let settings = resolve("").unwrap();
        assert_eq!(settings.mode, SslMode::Prefer);
        assert_eq!(settings.roots, Roots::File("/home/u/.postgresql/root.crt".into()));
        assert_eq!(settings.certificate.unwrap().path, Path::new("/home/u/.postgresql/postgresql.crt"));
        assert_eq!((settings.sni, settings.tls12, settings.tls13), (true, true, true));
    }

    #[test]
    fn the_systems_roots_imply_full_verification() {
        assert_eq!(resolve("sslrootcert=system").unwrap().mode, SslMode::VerifyFull);
        assert!(resolve("sslrootcert=system sslmode=require").unwrap_err().contains("verify-full"));
    }

    #[test]
    fn impossible_options_are_refused() {
        for dsn in [
            "sslmode=on",
            "sslnegotiation=direct",
            "sslnegotiation=direct sslmode=prefer",
            "sslcertmode=require",
            "sslpassword=x",
            "sslsni=2",
            "ssl_min_protocol_version=SSLv3",
            "ssl_max_protocol_version=TLSv1.1",
            "ssl_min_protocol_version=TLSv1.3 ssl_max_protocol_version=TLSv1.2",
        ] {
            assert!(resolve(dsn).is_err(), "{dsn}");
        }
        let only13 = resolve("ssl_min_protocol_version=tlsv1.3").unwrap();
        assert_eq!((only13.tls12, only13.tls13), (false, true));
        assert!(resolve("sslcertmode=disable").unwrap().certificate.is_none());
    }
}
