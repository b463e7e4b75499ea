//! Any text as a connection string, a service file and a password file; and properly quoted values, read back.

use pgdyno_net::fuzzing::{Pairs, conninfo, password, service};
use pgdyno_net::{ConnectOptions, Env};

/// A password that no checked input contains.
const PASSWORD: &str = "k33p th1s-s3cr3t";

pub(crate) fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    // libFuzzer finds the password: it sees the operands of comparisons.
    if text.contains("s3cr3t") {
        return;
    }
    connection_string(&text);
    reads_back(&text);
    match service("bench", &text) {
        Ok(pairs) => assert!(pairs.unwrap_or_default().iter().all(|(key, _)| !key.starts_with("service"))),
        Err(why) => assert!(why.to_string().starts_with("service file pg_service.conf"), "{why}"),
    }
    pass_file(&text);
}

fn connection_string(text: &str) {
    for whole in [
        text.to_owned(),
        format!("{text} password='{PASSWORD}'"),
        format!("postgresql://u:{}@{text}", PASSWORD.replace(' ', "%20")),
        format!("postgresql://{text}?password={}", PASSWORD.replace(' ', "%20")),
    ] {
        match conninfo(&whole) {
            Ok(pairs) => resolved(&whole, &pairs),
            Err(why) => {
                let message = why.to_string();
                assert!(message.contains("connection"), "an error names what it read: {message}");
                assert!(!message.contains("s3cr3t"), "{message}");
            }
        }
    }
}

/// Checks the settings that `text` resolves to, unless `pairs` name a file.
fn resolved(text: &str, pairs: &Pairs) {
    let names_a_file = |key: &str| key.starts_with("ssl") || key.starts_with("service") || key == "passfile";
    if pairs.iter().any(|(key, _)| names_a_file(key)) {
        return;
    }
    match ConnectOptions::resolve(text, &Env::new([], None, Some("os"))) {
        Ok(options) => {
            let (shown, inside) = (options.to_string(), format!("{options:?}"));
            assert!(!shown.contains("s3cr3t") && !inside.contains("s3cr3t"), "{shown} {inside}");
            let find = |name: &str| pairs.iter().find(|(key, _)| *key == name).map_or("", |(_, value)| value);
            let user = if find("user").is_empty() { "os" } else { find("user") };
            assert_eq!(options.user(), user);
            assert_eq!(options.dbname(), if find("dbname").is_empty() { user } else { find("dbname") });
        }
        Err(why) => assert!(!why.to_string().is_empty() && !why.to_string().contains("s3cr3t"), "{why}"),
    }
}

/// Checks that the lines of the text read back as values, quoted for libpq and percent-encoded for URIs.
fn reads_back(text: &str) {
    const KEYS: [&str; 5] = ["application_name", "dbname", "host", "password", "user"];
    let values: Pairs = KEYS.into_iter().zip(text.lines().map(|line| line.replace('\0', ""))).collect();
    let quoted = |value: &str| format!("'{}'", value.replace('\\', r"\\").replace('\'', r"\'"));
    let words: Vec<_> = values.iter().map(|(key, value)| format!("{key} = {}", quoted(value))).collect();
    let read = conninfo(&words.join(" ")).unwrap_or_else(|why| panic!("{words:?}: {why}"));
    assert_eq!(read, values);
    let encoded = |value: &str| value.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let words: Vec<_> = values.iter().map(|(key, value)| format!("{key}={}", encoded(value))).collect();
    let read = conninfo(&format!("postgresql://?{}", words.join("&"))).unwrap_or_else(|why| panic!("{words:?}: {why}"));
    assert_eq!(read, values);
}

fn pass_file(text: &str) {
    let _ = password(text, "db1", 5432, "bench", "ann");
    // The first line wins, whatever its values contain and whatever follows.
    let fields: Vec<_> = text.lines().take(2).map(|line| line.replace(['\0', '\r'], "")).collect();
    let [host, word] = <[String; 2]>::try_from(fields).unwrap_or_default();
    let escaped = |field: &str| field.replace('\\', r"\\").replace(':', r"\:");
    // A single asterisk matches everything, and a number sign begins a comment.
    if host.is_empty() || host == "*" || host.starts_with('#') {
        return;
    }
    let file = format!("{}:5432:*:*:{}\n{text}", escaped(&host), escaped(&word));
    assert_eq!(password(&file, &host, 5432, "any", "any"), Some(word));
}
