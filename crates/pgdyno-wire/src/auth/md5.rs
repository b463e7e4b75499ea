//! The answer to AuthenticationMD5Password.
//!
//! Source: PostgreSQL documentation, "Message Flow", section "Start-up".

use md5::{Digest as _, Md5};

/// Returns the answer: `md5` and the digest of the salt and of the digest that the server stores.
pub(super) fn answer(user: &[u8], password: &[u8], salt: [u8; 4]) -> String {
    let stored = hex(&[password, user]);
    format!("md5{}", hex(&[stored.as_bytes(), &salt]))
}

/// Returns the digest of the parts in lower-case digits.
fn hex(parts: &[&[u8]]) -> String {
    let digest = parts.iter().fold(Md5::new(), |digest, part| digest.chain_update(part)).finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_salted_twice() {
        // Computed with Python's hashlib.
        let answer = answer(b"md5_user", b"password", [0x2a, 0x3d, 0x8f, 0xe0]);
        assert_eq!(answer, "md562af4dd09bbb41884907a838a3233294");
    }
}
