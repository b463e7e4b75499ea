//! Quotes text for SQL, as libpq's PQescapeLiteral and PQescapeIdentifier do.

/// Returns `text` as a string literal, with quotes.
#[must_use]
pub fn literal(text: &str) -> String {
    let doubled = text.replace('\'', "''");
    match text.contains('\\') {
        // Whatever standard_conforming_strings is.
        true => format!("E'{}'", doubled.replace('\\', r"\\")),
        false => format!("'{doubled}'"),
    }
}

/// Returns `name` as an identifier, with quotes.
#[must_use]
pub fn identifier(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
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
