//! Connection URIs.

use super::{ConninfoError, Values, known, require_known};

/// Returns the text after `postgresql://` or `postgres://`.
fn after_scheme(text: &str) -> Option<&str> {
    text.strip_prefix("postgresql://").or_else(|| text.strip_prefix("postgres://"))
}

pub(super) fn is_uri(text: &str) -> bool {
    after_scheme(text).is_some()
}

/// Parses `postgresql://[user[:password]@][host[:port],…][/dbname][?key=value&…]`.
pub(super) fn parse(text: &str) -> Result<Values, ConninfoError> {
    let mut values = Values::default();
    let mut rest = after_scheme(text).unwrap_or_default();
    // As in libpq, the first '@' ends the credentials unless a '/' comes before it.
    if let Some(at) = rest.find(['@', '/']).filter(|at| rest[*at..].starts_with('@')) {
        let (user, password) = match rest[..at].split_once(':') {
            Some((user, password)) => (user, Some(password)),
            None => (&rest[..at], None),
        };
        if !user.is_empty() {
            values.insert("user", decode("the user", user)?);
        }
        if let Some(password) = password.filter(|p| !p.is_empty()) {
            values.insert("password", decode("the password", password)?);
        }
        rest = &rest[at + 1..];
    }
    let authority = rest;
    rest = hosts(rest, &mut values)?;
    let authority = &authority[..authority.len() - rest.len()];
    if let Some(after) = rest.strip_prefix('/') {
        let end = after.find('?').unwrap_or(after.len());
        // In "user:pass/word@host" or "user:p@ss/word@host", the supposed host is part of the password.
        if after[..end].contains('@') && (authority.contains(':') || values.get("password").is_some()) {
            return Err(unencoded());
        }
        if end > 0 {
            values.insert("dbname", decode("the database", &after[..end])?);
        }
        rest = &after[end..];
    }
    if let Some(query) = rest.strip_prefix('?').filter(|q| !q.is_empty()) {
        parameters(query, &mut values)?;
    }
    Ok(values)
}

/// Returns the error for a special character that is not encoded. It shows nothing of the URI.
fn unencoded() -> ConninfoError {
    ConninfoError::Syntax(
        "a '@' stands where none can be; percent-encode ':', '/', '@', '?' and '%' in a password (%3A, %2F, %40, %3F, %25)"
            .into(),
    )
}

/// Parses the list of hosts and ports. Returns the rest.
fn hosts<'a>(mut rest: &'a str, values: &mut Values) -> Result<&'a str, ConninfoError> {
    let (mut hosts, mut ports) = (Vec::new(), Vec::new());
    loop {
        let host = if let Some(inside) = rest.strip_prefix('[') {
            let end = inside
                .find(']')
                .filter(|end| *end > 0)
                .ok_or_else(|| ConninfoError::Syntax("an IPv6 address is not closed with ']', or empty".into()))?;
            rest = &inside[end + 1..];
            if !rest.is_empty() && !rest.starts_with([':', '/', '?', ',']) {
                return Err(ConninfoError::Syntax(
                    "after an IPv6 address in [] only ':', '/', '?' or ',' may follow".into(),
                ));
            }
            &inside[..end]
        } else {
            let end = rest.find([':', '/', '?', ',']).unwrap_or(rest.len());
            let host = &rest[..end];
            rest = &rest[end..];
            if host.contains('@') {
                return Err(unencoded());
            }
            host
        };
        hosts.push(decode("a host", host)?);
        if let Some(after) = rest.strip_prefix(':') {
            let end = after.find(['/', '?', ',']).unwrap_or(after.len());
            let port = decode("a port", &after[..end])?;
            // Checked before the rest: after an unencoded '/' in a password, this is its beginning.
            if !port.is_empty() {
                crate::host::port(&port)?;
            }
            ports.push(port);
            rest = &after[end..];
        } else {
            ports.push(String::new());
        }
        match rest.strip_prefix(',') {
            Some(after) => rest = after,
            None => break,
        }
    }
    let (hosts, ports) = (hosts.join(","), ports.join(","));
    if !hosts.is_empty() {
        values.insert("host", hosts);
    }
    if !ports.is_empty() {
        values.insert("port", ports);
    }
    Ok(rest)
}

fn parameters(query: &str, values: &mut Values) -> Result<(), ConninfoError> {
    // A '@' may end the credentials, and everything before it may be a password.
    let may_show = !query.contains('@');
    let mut asked = Values::default();
    for pair in query.split('&') {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(ConninfoError::Syntax("a parameter after '?' has no '='; write '&' in a value as %26".into()));
        };
        let name = decode("a parameter's name", name)?;
        if value.contains('=') {
            let name = known(&name).unwrap_or("a parameter");
            return Err(ConninfoError::Syntax(format!("the value of {name} holds a '='; write it as %3D")));
        }
        let value = decode("a parameter's value", value)?;
        // JDBC's parameter for TLS.
        if name == "ssl" && value == "true" {
            values.insert("sslmode", "require".into());
        } else {
            let may_show = may_show && !asked.holds_a_secret();
            let key = require_known(&name, may_show)?;
            asked.insert(key, String::new());
            values.insert(key, value);
        }
    }
    Ok(())
}

/// Undoes percent-encoding. `what` names the part without showing it: it may be the password.
fn decode(what: &str, text: &str) -> Result<String, ConninfoError> {
    let bad = || ConninfoError::Syntax(format!("{what} is not percent-encoded properly"));
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(b) = bytes.next() {
        if b != b'%' {
            out.push(b);
            continue;
        }
        let mut digit = || char::from(bytes.next()?).to_digit(16);
        match (digit(), digit()) {
            (Some(high), Some(low)) if high + low > 0 => out.push((high * 16 + low) as u8),
            _ => return Err(bad()),
        }
    }
    String::from_utf8(out).map_err(|_| bad())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        parse(text)
            .map(|values| {
                let pairs: Vec<_> = values.iter().map(|(k, v)| format!("{k}={v}")).collect();
                pairs.join(" ")
            })
            .map_err(|e| e.to_string())
    }

    /// The first lines are the cases of libpq's own test, `src/interfaces/libpq/t/001_uri.pl`.
    #[test]
    fn uris_are_read_as_libpq_reads_them() {
        for (uri, expected) in [
            (
                "postgresql://uri-user:secret@host:12345/db",
                "dbname=db host=host password=secret port=12345 user=uri-user",
            ),
            ("postgresql://uri-user@host/db", "dbname=db host=host user=uri-user"),
            ("postgresql://host:12345/", "host=host port=12345"),
            ("postgresql://host/db?user=uri-user", "dbname=db host=host user=uri-user"),
            ("postgresql://", ""),
            ("postgresql:///", ""),
            ("postgresql:///db", "dbname=db"),
            ("postgresql://%68ost/", "host=host"),
            ("postgresql://[::1]:12345/db", "dbname=db host=::1 port=12345"),
            ("postgresql://[::1]", "host=::1"),
            ("postgresql://[2001:db8::1234]/", "host=2001:db8::1234"),
            ("postgres://host?sslmode=require", "host=host sslmode=require"),
            ("postgresql://@host", "host=host"),
            ("postgresql://:@host", "host=host"),
            ("postgresql://:secret@", "password=secret"),
            ("postgresql://%2Fvar%2Frun/db", "dbname=db host=/var/run"),
            ("postgresql:///db?host=/path/to/socket/dir", "dbname=db host=/path/to/socket/dir"),
            ("postgresql://otheruser@?host=/var", "host=/var user=otheruser"),
            ("postgresql://a:1,b,[::1]:3/d", "dbname=d host=a,b,::1 port=1,,3"),
            ("postgresql://u:p%40%2F%25@h", "host=h password=p@/% user=u"),
            ("postgresql://h/d?options=-c%20a%3Db&ssl=true", "dbname=d host=h options=-c a=b sslmode=require"),
            ("postgresql://h/a@b", "dbname=a@b host=h"),
        ] {
            assert_eq!(read(uri).as_deref(), Ok(expected), "{uri}");
        }
    }

    #[test]
    fn malformed_uris_are_refused_without_showing_a_password() {
        for (uri, part) in [
            ("postgresql://host/db?u%7aser=x", "uzser"),
            ("postgresql://host?zzz", "has no '='"),
            ("postgresql://host?user=a=b", "%3D"),
            ("postgresql://[::1", "closed"),
            ("postgresql://[]", "empty"),
            ("postgresql://[::1]z", "may follow"),
            ("postgresql://u:secret%zz@h", "the password"),
            ("postgresql://u:secret%@h", "the password"),
            ("postgresql://h/%00", "the database"),
            ("postgresql://h/%ff", "the database"),
            ("postgresql://u:p@secret@h/d", "percent-encode"),
            ("postgresql://u:p@secret,h@h/d", "percent-encode"),
            ("postgresql://u:p@a,secret@h/d", "percent-encode"),
            ("postgresql://u:secret/word@h/d", "percent-encoded"),
            ("postgresql://u:secret/word?secret=b@h/d", "percent-encoded"),
            ("postgresql://u:12/secret@h/d", "percent-encode"),
            ("postgresql://u:12/a?secret=b@h/d", "percent-encode"),
            ("postgresql://u:p@secret/word@h/d", "percent-encode"),
            ("postgresql://u:p@a?secret=b@h/d", "percent-encode"),
            ("postgresql://h/d?password=a&secret=b", "percent-encode"),
            ("postgresql://h/d?password=a&secret=b=c", "%3D"),
            ("postgresql://u:p@h/d?ssl_mode=require", "'sslmode'"),
        ] {
            let error = read(uri).unwrap_err();
            assert!(error.contains(part), "{uri}: {error}");
            assert!(!error.contains("secret"), "{uri}: {error}");
        }
    }
}
