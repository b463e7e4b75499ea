//! Links and anchors of the documentation, and the summary of its site.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::root;

/// Returns all pages of the repository.
pub(super) fn pages() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    markdown(&root(), &mut pages);
    pages
}

fn markdown(directory: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a readable directory").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() && !name.starts_with('.') && name != "target" && name != "pgdyno-results" {
            markdown(&path, pages);
        } else if name.ends_with(".md") {
            pages.push(path);
        }
    }
}

/// Returns the targets of a text's links.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// Returns the anchors of a page: its headings as GitHub and mdBook name them. Those of equal headings are numbered.
fn anchors(text: &str) -> BTreeSet<String> {
    let (mut anchors, mut in_code, mut seen) = (BTreeSet::new(), false, BTreeMap::new());
    for line in text.lines() {
        in_code ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        if in_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let words = heading.trim().to_lowercase().replace(' ', "-");
        let anchor: String = words.chars().filter(|c| c.is_alphanumeric() || ['-', '_'].contains(c)).collect();
        let nth = seen.entry(anchor.clone()).and_modify(|nth| *nth += 1).or_insert(0);
        anchors.insert(if *nth == 0 { anchor } else { format!("{anchor}-{nth}") });
    }
    anchors
}

#[test]
fn links_in_the_documentation_lead_somewhere() {
    let pages = pages();
    assert!(pages.len() > 10, "found only {pages:?}");
    let mut broken = Vec::new();
    for page in &pages {
        let text = fs::read_to_string(page).expect("a readable page");
        for link in links(&text).filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = page.parent().expect("a page lies in a directory").join(path);
            let target = if path.is_empty() { page.clone() } else { target };
            let is_page = target.extension().is_some_and(|extension| extension == "md");
            let has_anchor = || anchors(&fs::read_to_string(&target).expect("a readable page")).contains(anchor);
            if !target.exists() || is_page && !anchor.is_empty() && !has_anchor() {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_site_has_every_page_of_the_documentation() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).expect("a readable page");
    let listed: Vec<_> = links(&summary).filter(|link| !link.is_empty()).map(|link| docs.join(link)).collect();
    let once: BTreeSet<_> = listed.iter().collect();
    assert_eq!(once.len(), listed.len(), "a page is listed twice");
    let mut all = Vec::new();
    markdown(&docs, &mut all);
    let missing: Vec<_> = all.iter().filter(|page| !page.ends_with("SUMMARY.md") && !once.contains(page)).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md does not list {missing:#?}");
    for part in ["Tutorial", "How-to", "Reference", "Explanation", "Contributors"] {
        assert!(summary.contains(&format!("\n# {part}\n")), "{part}");
    }
}

#[test]
fn a_heading_is_an_anchor_by_its_words() {
    let text = "# `ab`: A, B\n```\n# no heading\n```\n## What stays\n## What stays\n#no\n";
    assert_eq!(anchors(text).into_iter().collect::<Vec<_>>(), ["ab-a-b", "what-stays", "what-stays-1"]);
}
