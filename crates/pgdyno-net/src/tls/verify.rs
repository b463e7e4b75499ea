//! Verifies a server's certificate by libpq's rules.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature, verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

use super::chain::Chain;
use super::x509::Certificate;

/// libpq's `verify-ca` and `verify-full`; without a chain, an encrypted connection to an unverified server.
#[derive(Debug)]
pub(super) struct Verifier {
    pub(super) chain: Option<Chain>,
    pub(super) check_name: bool,
    pub(super) algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(chain) = &self.chain else {
            return Ok(ServerCertVerified::assertion());
        };
        // The chain is verified before the name, so that a wrong name means a valid chain.
        chain.verify(end_entity, intermediates, now).map_err(Error::InvalidCertificate)?;
        if self.check_name {
            let parsed = ParsedCertificate::try_from(end_entity)?;
            match rustls::client::verify_server_name(&parsed, server_name) {
                Err(Error::InvalidCertificate(
                    CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
                )) if Certificate::parse(end_entity).is_some_and(|c| matches_common_name(&c, server_name)) => {}
                other => other?,
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match Certificate::parse(cert) {
            // webpki reads only version 3; the manual's recipe for a certificate signed by a CA makes version 1.
            // Without verification (sslmode=require) it is accepted, as in libpq.
            Some(fields) if fields.version == 1 => verify_tls13_signature_with_raw_key(
                message,
                &SubjectPublicKeyInfoDer::from(fields.public_key),
                dss,
                &self.algorithms,
            ),
            _ => verify_tls13_signature(message, cert, dss, &self.algorithms),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// As in libpq, the common name counts if the certificate has no other host name; the manual's recipe makes such
/// certificates.
fn matches_common_name(certificate: &Certificate<'_>, name: &ServerName<'_>) -> bool {
    let Some(common_name) = certificate.common_name.filter(|_| !certificate.has_alt_names) else {
        return false;
    };
    let (common_name, host) = (common_name.to_lowercase(), name.to_str().to_lowercase());
    if common_name == host {
        return true;
    }
    let is_ip = matches!(name, ServerName::IpAddress(_));
    let (Some(suffix), Some((_, domain))) = (common_name.strip_prefix("*."), host.split_once('.')) else {
        return false;
    };
    !is_ip && suffix == domain
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair};

    use super::*;

    #[test]
    fn a_common_name_counts_only_without_alternative_names() {
        let key = KeyPair::generate().unwrap();
        let matches = |common_name: &str, alt: &[&str], host: &str| {
            let alt: Vec<_> = alt.iter().map(|n| (*n).to_owned()).collect();
            let mut params = CertificateParams::new(alt).unwrap();
            params.distinguished_name.push(DnType::CommonName, common_name);
            let der = params.self_signed(&key).unwrap();
            matches_common_name(
                &Certificate::parse(der.der()).unwrap(),
                &ServerName::try_from(host.to_owned()).unwrap(),
            )
        };
        assert!(matches("DB1.example", &[], "db1.example"));
        assert!(matches("*.example", &[], "db1.example"));
        assert!(matches("127.0.0.1", &[], "127.0.0.1"));
        assert!(!matches("db1.example", &["other"], "db1.example"));
        assert!(!matches("*.example", &[], "a.b.example"));
        assert!(!matches("*.example", &[], "example"));
        assert!(!matches("*.0.0.1", &[], "127.0.0.1"));
        assert!(!matches("db2.example", &[], "db1.example"));
    }
}
