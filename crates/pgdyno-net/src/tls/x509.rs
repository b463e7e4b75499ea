//! Fields of a certificate that rustls does not return.
//!
//! Source: RFC 5280 section 4.1; ITU-T X.690 (DER).

use rustls::pki_types::UnixTime;
use sha2::{Digest as _, Sha224, Sha256, Sha384, Sha512};

const SEQUENCE: u8 = 0x30;
const OID: u8 = 0x06;
const OID_COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
const OID_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x0f];
const OID_SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];
const OID_BASIC_CONSTRAINTS: &[u8] = &[0x55, 0x1d, 0x13];
const OID_EXTENDED_KEY_USAGE: &[u8] = &[0x55, 0x1d, 0x25];
/// 1.3.6.1.5.5.7.3.1
const OID_SERVER_AUTH: &[u8] = &[0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01];

/// Bits of keyUsage: digitalSignature, keyEncipherment and keyAgreement; keyCertSign; cRLSign.
const KEY_FOR_TLS: u8 = 0x80 | 0x20 | 0x08;
const KEY_CERT_SIGN: u8 = 0x04;
const KEY_CRL_SIGN: u8 = 0x02;
/// 1.2.840.113549.1.1: signatures with RSA.
const OID_PKCS1: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01];
/// 1.2.840.10045.4: signatures with ECDSA.
const OID_ECDSA: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04];

/// Fields of a certificate, borrowed from its DER form.
#[derive(Debug)]
pub(crate) struct Certificate<'a> {
    /// 1 or 3.
    pub(super) version: u8,
    pub(super) serial: &'a [u8],
    pub(super) issuer: &'a [u8],
    pub(super) subject: &'a [u8],
    /// Seconds since 1970, both included.
    pub(super) valid: (u64, u64),
    /// The last common name of the subject.
    pub(crate) common_name: Option<&'a str>,
    /// Whether it has a subjectAltName of type dNSName or iPAddress.
    pub(super) has_alt_names: bool,
    uses: Uses,
    signature_algorithm: &'a [u8],
    /// The complete SubjectPublicKeyInfo.
    pub(crate) public_key: &'a [u8],
}

/// Values of extensions; `None` if one is absent.
#[derive(Debug, Default)]
struct Uses {
    is_ca: Option<bool>,
    /// Number of CAs allowed between this one and a server.
    path_len: Option<u8>,
    key: Option<u8>,
    for_servers: Option<bool>,
}

impl<'a> Certificate<'a> {
    pub(crate) fn parse(der: &'a [u8]) -> Option<Self> {
        let mut outer = Reader(Reader(der).expect(SEQUENCE)?);
        let mut tbs = Reader(outer.expect(SEQUENCE)?);
        let signature_algorithm = Reader(outer.expect(SEQUENCE)?).expect(OID)?;
        let version = match tbs.optional(0xa0) {
            Some(explicit) => Reader(explicit).expect(0x02)?.last()?.checked_add(1)?,
            None => 1,
        };
        let serial = tbs.expect(0x02)?;
        tbs.next()?; // signature
        let issuer = tbs.expect(SEQUENCE)?;
        let mut validity = Reader(tbs.expect(SEQUENCE)?);
        let valid = (time(validity.next()?)?, time(validity.next()?)?);
        let subject = tbs.expect(SEQUENCE)?;
        let before = tbs.0;
        tbs.expect(SEQUENCE)?;
        let public_key = &before[..before.len() - tbs.0.len()];
        let (mut has_alt_names, mut uses) = (false, Uses::default());
        while let Some((tag, content)) = tbs.next() {
            if tag == 0xa3 {
                (has_alt_names, uses) = extensions(content)?;
            }
        }
        Some(Self {
            version,
            serial,
            issuer,
            subject,
            valid,
            common_name: common_name(subject),
            has_alt_names,
            uses,
            signature_algorithm,
            public_key,
        })
    }

    /// Returns true if a TLS server may use it.
    pub(super) fn may_be_a_server(&self) -> bool {
        self.uses.for_servers != Some(false) && self.uses.key.is_none_or(|bits| bits & KEY_FOR_TLS != 0)
    }

    /// Returns true if it may sign a server or another CA. Among those without the CA extension, OpenSSL accepts
    /// version 1, and those whose key may sign certificates.
    pub(super) fn may_sign(&self) -> bool {
        let Uses { is_ca, key, for_servers, .. } = self.uses;
        key.is_none_or(|bits| bits & KEY_CERT_SIGN != 0)
            && is_ca.unwrap_or(self.version == 1 || key.is_some())
            && for_servers != Some(false)
    }

    /// Returns true if its revocation lists are valid.
    pub(super) fn may_sign_lists(&self) -> bool {
        self.uses.key.is_none_or(|bits| bits & KEY_CRL_SIGN != 0)
    }

    /// Returns true if so many other CAs may be between it and a server.
    pub(super) fn may_be_above(&self, cas: usize) -> bool {
        self.uses.path_len.is_none_or(|most| cas <= usize::from(most))
    }

    pub(super) fn is_valid_at(&self, now: UnixTime) -> bool {
        (self.valid.0..=self.valid.1).contains(&now.as_secs())
    }
}

/// Returns the data of the channel binding `tls-server-end-point`: the certificate's hash, by the algorithm of its
/// signature, or SHA-256 instead of MD5 and SHA-1. Returns `None` if the signature has no hash (Ed25519), or names it
/// in its parameters (RSA-PSS), which servers before PostgreSQL 16 do not support.
///
/// Source: RFC 5929 section 4.1.
pub(crate) fn end_point_hash(der: &[u8]) -> Option<Vec<u8>> {
    let oid = Certificate::parse(der)?.signature_algorithm;
    let sha256 = || Sha256::digest(der).to_vec();
    let sha384 = || Sha384::digest(der).to_vec();
    let sha512 = || Sha512::digest(der).to_vec();
    let sha224 = || Sha224::digest(der).to_vec();
    if let Some(rest) = oid.strip_prefix(OID_PKCS1) {
        return match rest {
            [4 | 5 | 11] => Some(sha256()),
            [12] => Some(sha384()),
            [13] => Some(sha512()),
            [14] => Some(sha224()),
            _ => None,
        };
    }
    match oid.strip_prefix(OID_ECDSA)? {
        [1] | [3, 2] => Some(sha256()),
        [3, 1] => Some(sha224()),
        [3, 3] => Some(sha384()),
        [3, 4] => Some(sha512()),
        _ => None,
    }
}

fn common_name(subject: &[u8]) -> Option<&str> {
    let (mut sets, mut found) = (Reader(subject), None);
    while let Some((_, set)) = sets.next() {
        let mut attributes = Reader(set);
        while let Some((_, attribute)) = attributes.next() {
            let mut fields = Reader(attribute);
            if fields.expect(OID) == Some(OID_COMMON_NAME) {
                found = fields.next().and_then(|(_, value)| std::str::from_utf8(value).ok());
            }
        }
    }
    found
}

/// Returns whether the extensions have a dNSName or an iPAddress, and their values.
fn extensions(content: &[u8]) -> Option<(bool, Uses)> {
    let mut extensions = Reader(Reader(content).expect(SEQUENCE)?);
    let (mut has_alt_names, mut uses) = (false, Uses::default());
    while let Some((_, extension)) = extensions.next() {
        let mut fields = Reader(extension);
        let oid = fields.expect(OID)?;
        fields.optional(0x01); // critical
        let mut value = Reader(fields.expect(0x04)?);
        match oid {
            OID_SUBJECT_ALT_NAME => {
                let mut names = Reader(value.expect(SEQUENCE)?);
                has_alt_names = std::iter::from_fn(|| names.next()).any(|(tag, _)| matches!(tag, 0x82 | 0x87));
            }
            OID_BASIC_CONSTRAINTS => {
                let mut constraints = Reader(value.expect(SEQUENCE)?);
                uses.is_ca = Some(constraints.optional(0x01).is_some_and(|value| value != [0]));
                // More than 127 means no limit.
                uses.path_len =
                    constraints.optional(0x02).and_then(|len| <[u8; 1]>::try_from(len).ok()).map(|[len]| len);
            }
            // The first byte is the number of unused bits at the end.
            OID_KEY_USAGE => uses.key = Some(value.expect(0x03)?.get(1).copied().unwrap_or(0)),
            OID_EXTENDED_KEY_USAGE => {
                let mut purposes = Reader(value.expect(SEQUENCE)?);
                let mut all = std::iter::from_fn(|| purposes.next());
                uses.for_servers = Some(all.any(|(tag, oid)| tag == OID && oid == OID_SERVER_AUTH));
            }
            _ => {}
        }
    }
    Some((has_alt_names, uses))
}

/// Returns the date of a revocation list, and that of the next one, in seconds since 1970; `None` if absent.
pub(super) fn list_dates(der: &[u8]) -> Option<(u64, u64)> {
    let mut outer = Reader(Reader(der).expect(SEQUENCE)?);
    let mut tbs = Reader(outer.expect(SEQUENCE)?);
    tbs.optional(0x02); // version
    tbs.expect(SEQUENCE)?; // signature
    tbs.expect(SEQUENCE)?; // issuer
    Some((time(tbs.next()?)?, time(tbs.next()?)?))
}

/// Returns UTCTime `YYMMDDHHMMSSZ` or GeneralizedTime `YYYYMMDDHHMMSSZ` in seconds since 1970; 0 before that.
fn time((tag, text): (u8, &[u8])) -> Option<u64> {
    let number = |digits: &[u8]| std::str::from_utf8(digits).ok()?.parse::<i64>().ok();
    let (year, rest) = match tag {
        0x17 => {
            let (year, rest) = text.split_at_checked(2)?;
            let year = number(year)?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        0x18 => {
            let (year, rest) = text.split_at_checked(4)?;
            (number(year)?, rest)
        }
        _ => return None,
    };
    let field = |index: usize| number(rest.get(index * 2..index * 2 + 2)?);
    let (month, day) = (field(0)?, field(1)?);
    // Days since 1970 of a Gregorian date: years begin in March, so that the leap day comes last.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (m * 306 + 5) / 10 + day - 1 - 719_468;
    let seconds = ((days * 24 + field(2)?) * 60 + field(3)?) * 60 + field(4)?;
    Some(u64::try_from(seconds).unwrap_or(0))
}

/// Reads one DER value after another.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// Returns tag and content of the next value.
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&[tag, first], rest) = self.0.split_first_chunk::<2>()?;
        let (len, rest) = match first {
            0..=0x7f => (usize::from(first), rest),
            0x81..=0x84 => {
                let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                let len = digits.iter().fold(0, |len, b| len << 8 | usize::from(*b));
                (len, rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(len)?;
        self.0 = rest;
        Some((tag, content))
    }

    /// Returns the content of the next value, which must have this tag.
    fn expect(&mut self, tag: u8) -> Option<&'a [u8]> {
        self.next().filter(|(t, _)| *t == tag).map(|(_, c)| c)
    }

    /// Returns the content of the next value if it has this tag; else reads nothing.
    fn optional(&mut self, tag: u8) -> Option<&'a [u8]> {
        (self.0.first() == Some(&tag)).then(|| self.next())?.map(|(_, c)| c)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rcgen::{CertificateParams, DnType, KeyPair, PKCS_ECDSA_P384_SHA384, PKCS_ED25519};

    use super::*;

    fn params(names: &[&str]) -> CertificateParams {
        let names: Vec<_> = names.iter().map(|n| (*n).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name.push(DnType::CommonName, "db.example");
        params.not_before = rcgen::date_time_ymd(2020, 2, 29);
        params.not_after = rcgen::date_time_ymd(2099, 12, 31);
        params
    }

    #[test]
    fn the_fields_of_a_certificate_are_found() {
        let key = KeyPair::generate().unwrap();
        let der = params(&["a.example"]).self_signed(&key).unwrap();
        let certificate = Certificate::parse(der.der()).unwrap();
        assert_eq!(certificate.version, 3);
        assert_eq!(certificate.common_name, Some("db.example"));
        assert!(certificate.has_alt_names);
        // 2020-02-29 and 2099-12-31, 00:00 UTC.
        assert_eq!(certificate.valid, (1_582_934_400, 4_102_358_400));
        let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        assert!(certificate.is_valid_at(at(1_582_934_400)));
        assert!(!certificate.is_valid_at(at(1_582_934_399)));
        let der = params(&[]).self_signed(&key).unwrap();
        assert!(!Certificate::parse(der.der()).unwrap().has_alt_names);
    }

    #[test]
    fn cut_certificates_are_refused_and_do_not_panic() {
        let key = KeyPair::generate().unwrap();
        let der = params(&["a.example"]).self_signed(&key).unwrap();
        for end in 0..der.der().len() {
            assert!(Certificate::parse(&der.der()[..end]).is_none(), "{end}");
        }
    }

    #[test]
    fn the_end_point_hash_follows_the_signature() {
        for (algorithm, len) in
            [(&rcgen::PKCS_ECDSA_P256_SHA256, Some(32)), (&PKCS_ECDSA_P384_SHA384, Some(48)), (&PKCS_ED25519, None)]
        {
            let key = KeyPair::generate_for(algorithm).unwrap();
            let der = params(&[]).self_signed(&key).unwrap();
            assert_eq!(end_point_hash(der.der()).map(|hash| hash.len()), len);
        }
    }
}
