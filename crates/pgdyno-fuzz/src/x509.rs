//! Any bytes as a certificate.

use pgdyno_net::fuzzing::{certificate, end_point_hash};

pub(crate) fn run(der: &[u8]) {
    let Some((public_key, common_name)) = certificate(der) else {
        assert_eq!(end_point_hash(der), None, "no hash of what is no certificate");
        return;
    };
    let within = |part: &[u8]| der.as_ptr_range().contains(&part.as_ptr()) && part.len() < der.len();
    assert!(within(public_key) && common_name.is_none_or(|name| name.is_empty() || within(name.as_bytes())));
    assert!(end_point_hash(der).is_none_or(|hash| [28, 32, 48, 64].contains(&hash.len())));
    // Bytes after a certificate are not part of it.
    let more = [der, b"more"].concat();
    assert_eq!(certificate(&more), Some((public_key, common_name)));
}
