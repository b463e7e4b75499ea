//! Public types of different crates that share a name: two things never share a word.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{root, sources};

/// Names that several crates give to a public type, with those crates. This list may only shrink.
const EXCEPTIONS: &str = include_str!("names.csv");

#[test]
fn public_types_of_two_crates_do_not_share_a_name() {
    let mut owners = BTreeMap::<String, BTreeSet<String>>::new();
    for entry in fs::read_dir(root().join("crates")).expect("a readable directory").flatten() {
        let name = entry.file_name().to_string_lossy().replace("pgdyno-", "");
        let mut files = Vec::new();
        sources(&entry.path().join("src"), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).expect("a readable source");
            for public in text.lines().filter_map(public_type) {
                owners.entry(public.to_owned()).or_default().insert(name.clone());
            }
        }
    }
    let shared = owners.into_iter().filter(|(_, crates)| crates.len() > 1);
    let row = |(name, crates): (String, BTreeSet<String>)| format!("{name},{}", Vec::from_iter(crates).join(" "));
    let found: BTreeSet<_> = shared.map(row).collect();
    let known: BTreeSet<_> = EXCEPTIONS.lines().skip(1).map(str::to_owned).collect();
    let added: Vec<_> = found.difference(&known).collect();
    assert!(added.is_empty(), "give each type a name of its own: {added:#?}");
    let gone: Vec<_> = known.difference(&found).collect();
    assert!(gone.is_empty(), "shorten tests/tidy/names.csv: {gone:#?}");
}

/// Returns the name of the public type that is declared on a line.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ")?;
    let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|word| rest.strip_prefix(word))?;
    rest.split(|c: char| !c.is_alphanumeric()).next()
}
