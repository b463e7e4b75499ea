//! Verifies the chain from a server's certificate to a trusted one, and revocation lists: OpenSSL's rules, with
//! libpq's settings.
//!
//! Beyond webpki, OpenSSL checks the dates and uses of the trusted certificate itself, and requires it to be
//! self-signed; it checks each certificate of the chain against a list of its issuer as soon as there is any list.

use std::sync::Arc;

use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, TrustAnchor, UnixTime};
use rustls::{CertificateError, OtherError};
use webpki::{
    BorrowedCertRevocationList, CertRevocationList, EndEntityCert, ExpirationPolicy, KeyUsage,
    RevocationOptionsBuilder, UnknownStatusPolicy,
};

use super::x509::{Certificate, list_dates};

/// Trusted certificates and revocation lists.
#[derive(Debug)]
pub(super) struct Chain {
    anchors: Vec<Anchor>,
    /// Trusted certificates that are not self-signed: they may help to reach a root.
    others: Vec<CertificateDer<'static>>,
    /// The newest first.
    lists: Vec<List>,
    algorithms: WebPkiSupportedAlgorithms,
}

/// A trusted certificate that is self-signed.
#[derive(Debug)]
struct Anchor {
    der: CertificateDer<'static>,
    webpki: TrustAnchor<'static>,
}

/// A revocation list.
#[derive(Debug)]
struct List {
    /// In seconds since 1970: date of issue, and date of the next list.
    valid: (u64, u64),
    webpki: CertRevocationList<'static>,
}

impl Chain {
    /// Skips unreadable trusted certificates if there are others; an unreadable list is an error.
    pub(super) fn new(
        trusted: Vec<CertificateDer<'static>>,
        lists: &[CertificateRevocationListDer<'static>],
        algorithms: WebPkiSupportedAlgorithms,
    ) -> Result<Self, String> {
        let (mut anchors, mut others) = (Vec::new(), Vec::new());
        for der in trusted {
            let Some(certificate) = Certificate::parse(&der) else { continue };
            if certificate.issuer != certificate.subject {
                others.push(der);
            } else if let Ok(webpki) = webpki::anchor_from_trusted_cert(&der) {
                let webpki = webpki.to_owned();
                anchors.push(Anchor { der, webpki });
            }
        }
        if anchors.is_empty() && others.is_empty() {
            return Err("none of the trusted certificates can be used".into());
        }
        let mut lists: Vec<_> = lists.iter().map(List::read).collect::<Result<_, _>>()?;
        lists.sort_by_key(|list| std::cmp::Reverse(list.valid.0));
        Ok(Self { anchors, others, lists, algorithms })
    }

    /// Checks the certificate and its chain at this time.
    pub(super) fn verify(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<(), CertificateError> {
        let certificate = Certificate::parse(end_entity).ok_or(CertificateError::BadEncoding)?;
        if !certificate.may_be_a_server() {
            return Err(CertificateError::InvalidPurpose);
        }
        let parsed = EndEntityCert::try_from(end_entity).map_err(in_rustls_words);
        if self.anchors.iter().any(|anchor| anchor.der == *end_entity) {
            // webpki reads only version 3, and refuses unknown critical extensions.
            return if certificate.version == 1 { Ok(()) } else { parsed.map(drop) }
                .and_then(|()| self.verify_its_own_root(&certificate, now));
        }
        let lists = self.lists_at(now);
        if lists.is_empty() && !self.lists.is_empty() {
            return Err(CertificateError::UnknownRevocationStatus);
        }
        let anchors: Vec<_> = self.anchors.iter().filter(|anchor| anchor.may_sign(&lists, now)).collect();
        let usable: Vec<_> = anchors.iter().map(|anchor| anchor.webpki.clone()).collect();
        let helpers: Vec<_> = intermediates.iter().chain(&self.others).cloned().collect();
        let revocation = RevocationOptionsBuilder::new(&lists).ok().map(|options| {
            options
                .with_status_policy(UnknownStatusPolicy::Deny)
                .with_expiration_policy(ExpirationPolicy::Enforce)
                .build()
        });
        let parsed = parsed?;
        let usage = KeyUsage::server_auth();
        let vouch = |path: &webpki::VerifiedPath<'_>| {
            let (mut count, mut good) = (0, true);
            for between in path.intermediate_certificates() {
                count += 1;
                good &= Certificate::parse(&between.der()).is_some_and(|certificate| certificate.may_sign());
            }
            let root = anchors.iter().find(|anchor| anchor.webpki == *path.anchor());
            let root = root.and_then(|root| Certificate::parse(&root.der));
            match root {
                Some(root) if !root.may_be_above(count) => Err(webpki::Error::PathLenConstraintViolated),
                Some(_) if good => Ok(()),
                _ => Err(webpki::Error::EndEntityUsedAsCa),
            }
        };
        let found =
            parsed.verify_for_usage(self.algorithms.all, &usable, &helpers, now, usage, revocation, Some(&vouch));
        match found {
            Ok(_) => Ok(()),
            Err(webpki::Error::UnknownIssuer) if anchors.len() < self.anchors.len() => Err(other(NoUsableRoot)),
            Err(error) => Err(in_rustls_words(error)),
        }
    }

    /// A self-signed certificate that is trusted as it is. Only a list of its own could revoke it, so that its state
    /// is unknown with lists of others; such lists do not exist, and are not searched.
    fn verify_its_own_root(&self, certificate: &Certificate<'_>, now: UnixTime) -> Result<(), CertificateError> {
        if certificate.valid.0 > now.as_secs() {
            Err(CertificateError::NotValidYet)
        } else if certificate.valid.1 < now.as_secs() {
            Err(CertificateError::Expired)
        } else if !self.lists.is_empty() {
            Err(CertificateError::UnknownRevocationStatus)
        } else {
            Ok(())
        }
    }

    /// Returns the lists that are valid already, the newest first. Expired ones come last: they only show that they
    /// are expired.
    fn lists_at(&self, now: UnixTime) -> Vec<&CertRevocationList<'static>> {
        let begun = self.lists.iter().filter(|list| list.valid.0 <= now.as_secs());
        let (current, over): (Vec<_>, Vec<_>) = begun.partition(|list| now.as_secs() < list.valid.1);
        current.into_iter().chain(over).map(|list| &list.webpki).collect()
    }
}

impl Anchor {
    /// Returns true if it may sign others now, and lists if there are any.
    fn may_sign(&self, lists: &[&CertRevocationList<'_>], now: UnixTime) -> bool {
        Certificate::parse(&self.der).is_some_and(|root| {
            let revokes = |list: &&CertRevocationList<'_>| {
                list.issuer() == root.subject && !matches!(list.find_serial(root.serial), Ok(None))
            };
            root.is_valid_at(now)
                && root.may_sign()
                && (lists.is_empty() || root.may_sign_lists() && !lists.iter().any(revokes))
        })
    }
}

impl List {
    fn read(der: &CertificateRevocationListDer<'_>) -> Result<Self, String> {
        let valid = list_dates(der).ok_or("a revocation list is malformed, or does not say when the next one comes")?;
        let webpki = BorrowedCertRevocationList::from_der(der)
            .and_then(|list| list.to_owned())
            .map_err(|error| format!("a revocation list cannot be used: {error}"))?;
        Ok(Self { valid, webpki: webpki.into() })
    }
}

/// None of the roots may sign others.
#[derive(Debug, thiserror::Error)]
#[error(
    "no CA that is trusted here signed it, or the CA has expired, is revoked, or may not sign; name the CA's certificate \
     with sslrootcert="
)]
struct NoUsableRoot;

fn other(error: impl std::error::Error + Send + Sync + 'static) -> CertificateError {
    CertificateError::Other(OtherError(Arc::new(error)))
}

fn in_rustls_words(error: webpki::Error) -> CertificateError {
    use webpki::Error;
    match error {
        Error::BadDer | Error::BadDerTime | Error::TrailingData(_) => CertificateError::BadEncoding,
        Error::CertNotValidYet { .. } => CertificateError::NotValidYet,
        Error::CertExpired { .. } | Error::InvalidCertValidity => CertificateError::Expired,
        Error::UnknownIssuer | Error::InvalidSignatureForPublicKey => CertificateError::UnknownIssuer,
        Error::CertRevoked => CertificateError::Revoked,
        Error::UnknownRevocationStatus => CertificateError::UnknownRevocationStatus,
        Error::CrlExpired { .. } => CertificateError::ExpiredRevocationList,
        Error::RequiredEkuNotFoundContext(_) => CertificateError::InvalidPurpose,
        error => other(error),
    }
}
