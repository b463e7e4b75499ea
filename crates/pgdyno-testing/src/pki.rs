//! Certificates for the tests.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};

/// A CA and the certificates that it signed, as files in one directory.
pub struct Pki {
    /// Directory of the files.
    pub dir: tempfile::TempDir,
    issuer: Issuer<'static, KeyPair>,
}

impl Default for Pki {
    fn default() -> Self {
        Self::new()
    }
}

impl Pki {
    /// Returns a new CA.
    #[must_use]
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, "test CA");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let certificate = params.self_signed(&key).unwrap();
        std::fs::write(dir.path().join("ca.crt"), certificate.pem()).unwrap();
        Self { dir, issuer: Issuer::new(params, key) }
    }

    /// Returns the path of the file of this name.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes `name.crt` and `name.key` for these hosts.
    pub fn issue(&self, name: &str, common_name: &str, hosts: &[&str], change: impl Fn(&mut CertificateParams)) {
        let hosts: Vec<_> = hosts.iter().map(|h| (*h).to_owned()).collect();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(hosts).unwrap();
        params.distinguished_name.push(DnType::CommonName, common_name);
        change(&mut params);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        std::fs::write(self.path(&format!("{name}.crt")), certificate.pem()).unwrap();
        write_key(&self.path(&format!("{name}.key")), &key.serialize_pem());
    }
}

/// Writes a key that only its owner may read, as PostgreSQL requires.
pub fn write_key(path: &Path, pem: &str) {
    std::fs::write(path, pem).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
}
