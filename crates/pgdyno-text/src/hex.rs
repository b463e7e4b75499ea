//! Bytes as hexadecimal digits: names and digests.

use std::fmt::Write as _;

/// Returns two digits of each byte, in lower case.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut digits, byte| {
        // Writing to a text cannot fail.
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_byte_has_two_digits() {
        assert_eq!(super::hex(&[0, 9, 0x10, 0xab, 255]), "000910abff");
        assert_eq!(super::hex(&[]), "");
    }
}
