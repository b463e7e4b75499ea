//! `key=value` connection strings, parsed and written.

use super::{ConninfoError, Values, known, require_known};

/// Parses `key = value` pairs. Values may be in single quotes; a backslash escapes the next character.
pub(super) fn parse(text: &str) -> Result<Values, ConninfoError> {
    let mut values = Values::default();
    let mut chars = text.chars().peekable();
    loop {
        while chars.next_if(|c| c.is_ascii_whitespace()).is_some() {}
        if chars.peek().is_none() {
            return Ok(values);
        }
        let mut name = String::new();
        while let Some(c) = chars.next_if(|c| *c != '=' && !c.is_ascii_whitespace()) {
            name.push(c);
        }
        if name.contains("://") {
            return Err(ConninfoError::Syntax("a URI must begin with postgresql:// or postgres://".into()));
        }
        while chars.next_if(|c| c.is_ascii_whitespace()).is_some() {}
        if chars.next_if_eq(&'=').is_none() {
            return Err(ConninfoError::Syntax(format!(
                "'=' is missing after {}; write key=value pairs such as \
                 \"host=db1 dbname=bench\", or postgresql://user@host:port/dbname",
                // The text after a missing quote may be part of a password.
                known(&name).map_or_else(|| "one of its words".to_owned(), |name| format!("'{name}'"))
            )));
        }
        while chars.next_if(|c| c.is_ascii_whitespace()).is_some() {}
        let key = require_known(&name, !values.holds_a_secret())?;
        values.insert(key, value(key, &mut chars)?);
    }
}

fn value(key: &str, chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<String, ConninfoError> {
    let mut value = String::new();
    if chars.next_if_eq(&'\'').is_some() {
        loop {
            match chars.next() {
                Some('\'') => return Ok(value),
                Some('\\') => value.extend(chars.next()),
                Some(c) => value.push(c),
                None => {
                    return Err(ConninfoError::Syntax(format!("the quoted value of {key} has no closing quote")));
                }
            }
        }
    }
    while let Some(c) = chars.next_if(|c| !c.is_ascii_whitespace()) {
        if c == '\\' {
            value.extend(chars.next());
        } else {
            value.push(c);
        }
    }
    Ok(value)
}

/// Returns `key=value` as part of a connection string: the value is in quotes where libpq requires them.
#[must_use]
pub fn pair(key: &str, value: &str) -> String {
    let is_plain = |c: char| !c.is_whitespace() && !matches!(c, '\'' | '\\');
    match !value.is_empty() && value.chars().all(is_plain) {
        true => format!("{key}={value}"),
        false => format!("{key}='{}'", value.replace('\\', r"\\").replace('\'', r"\'")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pairs_that_are_written_are_parsed_to_the_same_values(user in ".*", dbname in r"['\\\\ a-z=\t\n]*") {
            let text = [pair("user", &user), pair("dbname", &dbname)].join(" ");
            prop_assert_eq!(read(&text), Ok(vec![("dbname", dbname), ("user", user)]));
        }
    }

    fn read(text: &str) -> Result<Vec<(&'static str, String)>, String> {
        parse(text).map(|v| v.iter().map(|(k, v)| (k, v.to_owned())).collect()).map_err(|e| e.to_string())
    }

    #[test]
    fn values_are_read_as_libpq_reads_them() {
        for (text, expected) in [
            ("", vec![]),
            ("  host=a  port=1 ", vec![("host", "a"), ("port", "1")]),
            ("host = a", vec![("host", "a")]),
            ("host=\nport=1", vec![("host", "port=1")]),
            ("password='a b'", vec![("password", "a b")]),
            (r"password='it\'s \\'", vec![("password", r"it's \")]),
            (r"password=it\'s\ ok", vec![("password", "it's ok")]),
            ("host=''", vec![("host", "")]),
            ("host=''port=1", vec![("host", ""), ("port", "1")]),
            ("host=a host=b", vec![("host", "b")]),
            ("options='-c a=b'", vec![("options", "-c a=b")]),
        ] {
            let expected: Vec<_> = expected.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
            assert_eq!(read(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_malformed_is_refused_without_showing_a_password() {
        for text in [
            "bench",
            "host a",
            "password='secret",
            "host=a secret",
            "=a",
            "password=a secret c",
            "password=a secret=c",
            "password=a b secret=c",
            "password='it's secret=c'",
            "sslpassword=a secret=c",
            "my.secret=c",
            "Postgresql://u:secret@h/d?a=b",
            "postgres:/u:secret@h/d?a=b",
            "psql://u:secret@h/d",
        ] {
            let error = read(text).unwrap_err();
            assert!(!error.contains("secret"), "{text}: {error}");
        }
        let error = read("hots=a password=x").unwrap_err();
        assert!(error.contains("'hots'") && error.contains("'host'"), "{error}");
    }
}
