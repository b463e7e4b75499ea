//! Words that docs/style.md forbids, in identifiers and comments. Texts in quotes are not looked at: pgbench's messages have their own.

use std::collections::BTreeMap;
use std::fs;

use super::{root, sources};

/// A word that is not written, and what is written instead.
struct Forbidden {
    word: &'static str,
    instead: &'static str,
}

const fn forbid(word: &'static str, instead: &'static str) -> Forbidden {
    Forbidden { word, instead }
}

const FORBIDDEN: &[Forbidden] = &[
    forbid("told", "reported, printed, received, informed, asked"),
    forbid("tell", "report, print, return, distinguish"),
    forbid("tells", "reports, prints, returns, distinguishes"),
    forbid("whoever", "a user who, a role that, the caller"),
    forbid("somebody", "a user, another session"),
    forbid("glance", "POLL_INTERVAL"),
    forbid("witness", "observer"),
    forbid("wish", "option, request"),
    forbid("wishes", "options"),
    forbid("lived", "outcome"),
    forbid("torn", "incomplete; teardown"),
    forbid("blame", "attribute"),
    forbid("blamed", "attributed"),
    forbid("heard", "received"),
    forbid("hear", "receive"),
    forbid("hears", "receives, handles"),
    forbid("stood", "was"),
    forbid("spoil", "disturb, invalidate"),
    forbid("spoils", "disturbs, invalidates"),
    forbid("trouble", "failure"),
    forbid("manner", "parameter, mode"),
    forbid("manners", "parameters, modes"),
    forbid("scene", "server, state"),
    forbid("opponents", "baseline and candidate"),
    forbid("crew", "engine threads"),
];

/// Lines that still have such a word, by crate (with its tests). This list may only shrink: a crate that is not in it has none.
const EXCEPTIONS: &str = include_str!("words.csv");

/// Numbers of lines by crate and word.
type Counts = BTreeMap<(String, String), usize>;

#[test]
fn forbidden_words_become_fewer() {
    let mut found = Counts::new();
    for entry in fs::read_dir(root().join("crates")).expect("a readable directory").flatten() {
        let mut files = Vec::new();
        for part in ["src", "tests", "benches"].map(|part| entry.path().join(part)).iter().filter(|part| part.is_dir())
        {
            sources(part, &mut files);
        }
        // This list itself.
        for file in files.iter().filter(|file| !file.ends_with("tidy/words.rs")) {
            let text = fs::read_to_string(file).expect("a readable source");
            for word in text.lines().flat_map(words_of).filter(|word| FORBIDDEN.iter().any(|f| f.word == word)) {
                *found.entry((entry.file_name().to_string_lossy().into_owned(), word)).or_default() += 1;
            }
        }
    }
    let known = known();
    let mut differences = Vec::new();
    for key in found.keys().chain(known.keys().filter(|key| !found.contains_key(*key))) {
        let [lines, listed] = [&found, &known].map(|counts| counts.get(key).copied().unwrap_or_default());
        let (name, word) = key;
        let instead = FORBIDDEN.iter().find(|f| f.word == word).map_or("?", |forbidden| forbidden.instead);
        if lines > listed {
            differences.push(format!("{name} has {word} on {lines} lines, {listed} are listed; write: {instead}"));
        } else if lines < listed {
            differences.push(format!("{name} has {word} on {lines} lines; shorten the list: {name},{word},{lines}"));
        }
    }
    assert!(differences.is_empty(), "{differences:#?}");
}

#[test]
fn words_are_found_in_names_and_comments_and_not_in_texts() {
    let found = |line: &str| words_of(line).collect::<Vec<_>>().join(" ");
    assert_eq!(found("    /// Tells nobody's_own, then stops."), "tells nobody s own then stops");
    assert_eq!(
        found("let drift_told = HistoryTold::of(\"it is \\\"heard\\\"\"); // a wish"),
        "let drift told history of a wish"
    );
    assert_eq!(found("const GLANCE_MS: u8 = b'x';"), "const glance ms u b x");
    assert_eq!(found("let url = \"https://x\"; // said"), "let url said");
}

/// Returns the list.
fn known() -> Counts {
    let row = |line: &str| {
        let mut fields = line.split(',');
        let mut next = || fields.next().expect("crate,word,lines").to_owned();
        let key = (next(), next());
        (key, next().parse().expect("a number"))
    };
    EXCEPTIONS.lines().skip(1).map(row).collect()
}

/// Returns the words of a line outside of its texts in quotes, in lower case, each once: names end at `_` and at capitals.
fn words_of(line: &str) -> impl Iterator<Item = String> + use<> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let (mut in_text, mut is_escaped, mut last) = (false, false, ' ');
    let is_comment = line.trim_start().starts_with("//");
    for c in line.chars().chain([' ']) {
        if in_text {
            in_text = is_escaped || c != '"';
            is_escaped = c == '\\' && !is_escaped;
        } else if c == '"' && last != '\'' && !is_comment {
            in_text = true;
        }
        let begins = c.is_ascii_uppercase() && last.is_ascii_lowercase();
        if (begins || !c.is_ascii_alphabetic() || in_text) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_ascii_alphabetic() && !in_text {
            word.push(c.to_ascii_lowercase());
        }
        last = c;
    }
    words.dedup();
    let mut once: Vec<String> = Vec::new();
    for word in words {
        if !once.contains(&word) {
            once.push(word);
        }
    }
    once.into_iter()
}
