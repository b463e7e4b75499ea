//! No circle of files: a file may use its parts and its parents, and others of its crate that do not use it.
//!
//! The check reads `use` lines and paths that begin with `crate` or `super`. What a parent re-exports counts as the
//! parent's.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::{root, sources};

/// The files that each file of a crate uses, by the names of their modules.
type Uses = BTreeMap<String, BTreeSet<String>>;

#[test]
fn files_do_not_use_each_other_in_circles() {
    let mut found = Vec::new();
    let crates = fs::read_dir(root().join("crates")).expect("a readable directory").flatten();
    for directory in crates.map(|entry| entry.path()).filter(|path| path.join("src").is_dir()) {
        let name = directory.file_name().expect("a name").to_string_lossy().into_owned();
        let circles = circles(&uses(&modules(&directory.join("src"))));
        found.extend(circles.into_iter().map(|circle| [vec![name.clone()], circle].concat()));
    }
    assert!(found.is_empty(), "break the circle: move what both need to a file of its own: {found:?}");
}

#[test]
fn a_circle_is_found_through_every_form_of_use() {
    let text = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let sources = BTreeMap::from([
        text("", "mod a; mod b; mod c; mod d;"),
        text("a", "use crate::{b::{self, B}, d};\nuse std::fs;"),
        text("b", "fn f() -> super::c::C { c() }"),
        text("b::part", "use super::B;"),
        text("c", "use crate::a::A as Other; // use crate::d;"),
        text("d", "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}"),
    ]);
    assert_eq!(circles(&uses(&sources)), [["a", "b", "c"]]);
}

/// Returns the texts of a crate's sources, by the names of their modules.
fn modules(source: &Path) -> BTreeMap<String, String> {
    let mut files = Vec::new();
    sources(source, &mut files);
    let text = |path: PathBuf| (module(source, &path), fs::read_to_string(&path).expect("a readable source"));
    files.into_iter().map(text).collect()
}

/// Returns the name of a file's module; that of the crate is empty.
fn module(source: &Path, path: &Path) -> String {
    let path: PathBuf = path.strip_prefix(source).expect("a file of the crate").with_extension("");
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    match parts.join("::") {
        name if name == "lib" || name == "main" => String::new(),
        name => name,
    }
}

/// Returns which other files each file uses, without its parents and its parts.
fn uses(modules: &BTreeMap<String, String>) -> Uses {
    let of = |(name, text): (&String, &String)| {
        let is_other = |used: &String| !is_part(name, used) && !is_part(used, name);
        let used = paths(text).iter().filter_map(|path| target(modules, name, path)).filter(is_other).collect();
        (name.clone(), used)
    };
    modules.iter().filter(|(name, _)| name.rsplit("::").next() != Some("tests")).map(of).collect()
}

/// Returns true if a module is another one or within it.
fn is_part(name: &str, of: &str) -> bool {
    of.is_empty() || name.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Returns the paths that a source uses: those of its `use` lines, and others that begin with `crate` or `super`.
fn paths(text: &str) -> Vec<String> {
    let code = text.split("mod tests {").next().unwrap_or_default();
    let mut lines = code.lines().map(|line| line.split("//").next().unwrap_or_default().trim_end());
    let mut paths = Vec::new();
    while let Some(line) = lines.next() {
        let words = line.trim_start();
        let words = ["pub(crate) ", "pub(super) ", "pub "].iter().find_map(|v| words.strip_prefix(v)).unwrap_or(words);
        if let Some(tree) = words.strip_prefix("use ") {
            let mut tree = tree.to_owned();
            while !tree.ends_with(';')
                && let Some(line) = lines.next()
            {
                tree.push_str(line);
            }
            let tree: String = tree.trim_end_matches(';').replace(" as ", "@").split_whitespace().collect();
            expand("", &tree, &mut paths);
        } else {
            let is_path = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
            let words = line.split(|c| !is_path(c));
            paths.extend(words.filter(|w| w.starts_with("crate::") || w.starts_with("super::")).map(str::to_owned));
        }
    }
    paths
}

/// Adds the paths of a tree of a `use` line.
fn expand(before: &str, tree: &str, paths: &mut Vec<String>) {
    let Some((head, body)) = tree.split_once('{') else {
        return paths.push(format!("{before}{}", tree.split('@').next().unwrap_or_default()));
    };
    let body = body.strip_suffix('}').unwrap_or(body);
    let (mut depth, mut start) = (0, 0);
    for (at, c) in body.char_indices().chain([(body.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if start < at {
                    expand(&format!("{before}{head}"), &body[start..at], paths);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// Returns the file that a path leads to from a module; `None` if it is of another crate.
fn target(modules: &BTreeMap<String, String>, from: &str, path: &str) -> Option<String> {
    let mut base: Vec<&str> = from.split("::").filter(|part| !part.is_empty()).collect();
    let mut parts = path.split("::").filter(|part| !part.is_empty()).peekable();
    match parts.peek()? {
        &"crate" => {
            base.clear();
            parts.next();
        }
        &"super" | &"self" => {
            while let Some(word) = parts.next_if(|part| ["super", "self"].contains(part)) {
                if word == "super" {
                    base.pop();
                }
            }
        }
        // A part of this module, if it has one of that name.
        part => {
            let own = base.iter().chain([part]).copied().collect::<Vec<_>>().join("::");
            modules.get(&own)?;
        }
    }
    base.extend(parts);
    while !base.is_empty() && !modules.contains_key(&base.join("::")) {
        base.pop();
    }
    Some(base.join("::"))
}

/// Returns the circles: files that use each other, directly or by others.
fn circles(uses: &Uses) -> Vec<Vec<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        uses.keys().map(|name| (name.as_str(), reached(uses, name))).collect();
    let circle = |name: &str| -> Vec<String> {
        let both = reached[name].iter().filter(|other| reached.get(*other).is_some_and(|back| back.contains(name)));
        both.map(|&other| other.to_owned()).collect()
    };
    let found: BTreeSet<Vec<String>> = uses.keys().map(|name| circle(name)).filter(|circle| circle.len() > 1).collect();
    found.into_iter().collect()
}

/// Returns the files that a file uses, directly or by others.
fn reached<'a>(uses: &'a Uses, from: &str) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(name) = open.pop() {
        for used in uses.get(name).into_iter().flatten() {
            if seen.insert(used.as_str()) {
                open.push(used);
            }
        }
    }
    seen
}
