//! Quotes text for SQL.

/// Returns `text` as a string literal, with quotes.
#[must_use]
pub fn literal(text: &str) -> String {
    postgres_protocol::escape::escape_literal(text).trim_start().to_owned()
}

/// Returns `name` as an identifier, with quotes.
#[must_use]
pub fn identifier(name: &str) -> String {
    postgres_protocol::escape::escape_identifier(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_backslashes_cannot_end_the_text() {
        assert_eq!(literal("O'Neil"), "'O''Neil'");
        assert_eq!(literal(r"a\'b"), r"E'a\\''b'");
        assert_eq!(identifier(r#"a"b"#), r#""a""b""#);
    }
}
