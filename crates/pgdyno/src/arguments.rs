//! The arguments of the process, and what other users of the machine see of them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::sync::OnceLock;

/// Words before a secret in a connection string.
const SECRETS: [&str; 4] = ["password", "oauth_client_secret", "scram_client_key", "scram_server_key"];

/// Returns the arguments, the program's name first, as they were given.
pub(crate) fn all() -> &'static [OsString] {
    static ARGUMENTS: OnceLock<Vec<OsString>> = OnceLock::new();
    ARGUMENTS.get_or_init(|| std::env::args_os().collect())
}

/// Removes passwords from the title of the process, which all users of the machine can read. Until then, some milliseconds, it
/// shows them; on systems other than Linux it always does.
pub(crate) fn hide_secrets() {
    let arguments = all();
    let shown: Vec<_> = arguments.iter().map(|argument| without_secret(argument)).collect();
    if shown.iter().any(Option::is_some) {
        let title: Vec<u8> = shown
            .into_iter()
            .zip(arguments)
            .flat_map(|(shown, argument)| [shown.unwrap_or_else(|| argument.as_bytes().to_vec()), vec![0]].concat())
            .collect();
        overwrite(&title);
    }
}

/// Returns what is shown instead of an argument with a secret, as long as it; `None` without one.
fn without_secret(argument: &OsStr) -> Option<Vec<u8>> {
    let text = argument.to_string_lossy();
    let credentials = text.split_once("://").and_then(|(_, rest)| rest.split_once('@'));
    let is_secret = credentials.is_some_and(|(credentials, _)| credentials.contains(':'))
        || SECRETS.iter().any(|word| text.to_ascii_lowercase().contains(word));
    if !is_secret {
        return None;
    }
    let option = text.split_once('=').filter(|(name, _)| name.starts_with("--"));
    let (option, value) = option.map_or((String::new(), text.as_ref()), |(name, value)| (format!("{name}="), value));
    let plain = pgdyno_net::without_secrets(value).ok().filter(|plain| plain.len() <= value.len());
    let shown = option + &plain.unwrap_or_else(|| "x".repeat(value.len()));
    let mut shown = shown.into_bytes();
    shown.resize(argument.len(), b' ');
    Some(shown)
}

/// Writes over the arguments in the memory of this process, of which the system makes the title.
#[cfg(target_os = "linux")]
fn overwrite(title: &[u8]) {
    use std::fs;
    use std::os::unix::fs::FileExt as _;

    // Fields 48 and 49 of proc(5), where the first after the name in parentheses is the third.
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let mut fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace().skip(45);
    let mut address = || fields.next()?.parse::<u64>().ok();
    let (Some(start), Some(end)) = (address(), address()) else { return };
    if end.saturating_sub(start) == title.len() as u64 {
        // If the system refuses, the page about servers says what that means.
        let _ =
            fs::File::options().write(true).open("/proc/self/mem").and_then(|memory| memory.write_all_at(title, start));
    }
}

/// Other systems have no file for it.
#[cfg(not(target_os = "linux"))]
fn overwrite(_: &[u8]) {}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(argument: &str) -> String {
        let shown = without_secret(OsStr::new(argument)).map(|shown| String::from_utf8(shown).unwrap());
        assert!(shown.as_ref().is_none_or(|shown| shown.len() == argument.len()), "{shown:?}");
        shown.unwrap_or_else(|| argument.to_owned()).trim_end().to_owned()
    }

    #[test]
    fn an_argument_loses_its_password() {
        for (argument, expected) in [
            ("host=db1 dbname=bench", "host=db1 dbname=bench"),
            ("postgresql://app@db1/bench", "postgresql://app@db1/bench"),
            ("host=db1 password=geheim", "host=db1"),
            ("--target=host=db1 password='ge heim' user=app", "--target=host=db1 user=app"),
            ("postgresql://app:geheim@db1/bench", "dbname=bench host=db1 user=app"),
            ("postgres://a:geheim@b", "host=b user=a"),
            ("password='geheim", "xxxxxxxxxxxxxxxx"),
            ("target=host=db1 password=geheim", &"x".repeat(31)),
            ("--meet=postgresql://a:b@h/d", "--meet=xxxxxxxxxxxxxxxxxxxx"),
        ] {
            assert_eq!(shown(argument), expected, "{argument}");
        }
    }
}
