//! Phrases that were replaced in everything that users read: outputs, help, pages and documentation. They do not come back.

use std::fs;

use super::{root, sources};

/// A phrase that is not written, and what is written instead.
const REPLACED: &[(&str, &str)] = &[
    ("not shown steady", "too noisy to confirm steady state"),
    ("told only", "informational"),
    ("more runs to go", "5 more needed"),
    ("too slow swings", "fluctuations too slow"),
    ("in a quieter hour", "when the machine is idle"),
    ("by order (", "requested"),
    ("keep their locks meanwhile", "hold locks while idle"),
    ("client and server count the same", "client and server counts match"),
    ("data checks hold", "data checks passed"),
    ("found no load that meets it", "no tested load met it"),
    ("none kept", "no load met the objective"),
    ("budget is used up", "budget exhausted"),
    ("A against B", "A vs B"),
    ("one may differ by chance", "with this many metrics, one may differ by chance"),
    ("what would spoil", "what would distort it"),
    ("gravest", "most severe"),
    ("which no table keeps", "stored in no table"),
    ("is no value for", "is not a valid value for"),
    ("queries are left at how many", "Measure query throughput at each transaction rate"),
    ("there is nothing of this name", "not found"),
    ("of kind autovacuum", "16 autovacuums"),
    ("in no latency", "excluded from latency"),
    ("measures both in turns", "alternates between both"),
    ("hide little", "have little effect"),
    ("wrong in at most", "wrong at most 5 % of the time"),
    ("found out by the server", "inferred"),
    ("which go together", "Two complementary approaches"),
    ("shows no checkpoint", "is too short to include one"),
    ("transactions that meet fail", "conflicting transactions fail"),
    ("for want of", "for lack of"),
    ("Who is due", "an arrival due while its client is busy"),
];

/// A sentence with the phrase as a part of another one that is right.
const RIGHT: &str = "with this many metrics, one may differ by chance";

#[test]
fn replaced_phrases_stay_away() {
    let mut files = Vec::new();
    for entry in fs::read_dir(root().join("crates")).expect("a readable directory").flatten() {
        sources(&entry.path().join("src"), &mut files);
    }
    for page in super::links::pages() {
        // Decisions quote what was decided against.
        if !page.to_string_lossy().contains("/adr/") && !page.ends_with("CHANGELOG.md") {
            files.push(page);
        }
    }
    let mut found = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a readable file");
        for (nth, line) in text.lines().enumerate().filter(|(_, line)| !line.contains(RIGHT)) {
            let replaced = REPLACED.iter().filter(|(phrase, _)| line.contains(phrase));
            found
                .extend(replaced.map(|(phrase, instead)| {
                    format!("{}:{}: \"{phrase}\"; write: {instead}", file.display(), nth + 1)
                }));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}
