//! Public types that share a name: two things never share a word.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::{root, sources};

/// Types that each system has in its own file: only one of them is compiled.
const OF_ONE_SYSTEM: [&str; 2] = ["Poller", "Waker"];

#[test]
fn no_two_public_types_have_the_same_name() {
    let mut owners = BTreeMap::<String, BTreeSet<String>>::new();
    for entry in fs::read_dir(root().join("crates")).expect("a readable directory").flatten() {
        let mut files = Vec::new();
        sources(&entry.path().join("src"), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).expect("a readable source");
            for public in text.lines().filter_map(public_type) {
                owners.entry(public.to_owned()).or_default().insert(file.display().to_string());
            }
        }
    }
    assert!(owners.len() > 500, "only {} types were found", owners.len());
    owners.retain(|name, files| files.len() > 1 && !OF_ONE_SYSTEM.contains(&name.as_str()));
    assert!(owners.is_empty(), "give each type a name of its own: {owners:#?}");
}

/// Returns the name of the public type that is declared on a line.
fn public_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub ")?;
    let rest = ["struct ", "enum ", "trait ", "type "].iter().find_map(|word| rest.strip_prefix(word))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}
