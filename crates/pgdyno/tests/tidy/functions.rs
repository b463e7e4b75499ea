//! Functions are short and take few parameters, in the crates that are finished in this respect.
//!
//! The scanner relies on rustfmt: a function ends at the first line that is a brace at its own indentation.

use std::fs;
use std::path::PathBuf;

use super::{root, sources};

/// The crates whose functions are measured.
const CRATES: &[&str] = &["pgdyno-life"];
/// Lines of a function, from its name to its last brace.
const LINES_MAX: usize = 60;
/// Parameters of a function, without `self`.
const PARAMETERS_MAX: usize = 5;
/// Functions that are longer or take more, by file and name. This list may only shrink.
const EXCEPTIONS: &[(&str, &str)] = &[];

/// A function in a file.
#[derive(Debug, PartialEq, Eq)]
struct Function {
    name: String,
    lines: usize,
    parameters: usize,
}

#[test]
fn functions_are_short_and_take_few_parameters() {
    let mut found = Vec::new();
    for name in CRATES {
        let directory = root().join("crates").join(name).join("src");
        let mut files = Vec::new();
        sources(&directory, &mut files);
        assert!(files.len() > 10, "{files:?}");
        for file in files {
            let text = fs::read_to_string(&file).expect("a readable source");
            let place = file.strip_prefix(root().join("crates")).expect("a file of a crate").display().to_string();
            let large = functions(&text).into_iter();
            let large = large.filter(|f| f.lines > LINES_MAX || f.parameters > PARAMETERS_MAX);
            found.extend(large.map(|function| (place.clone(), function)));
        }
    }
    let is_known = |(place, function): &&(String, Function)| {
        EXCEPTIONS.iter().any(|(file, name)| file == place && *name == function.name)
    };
    let new: Vec<_> = found.iter().filter(|one| !is_known(one)).collect();
    assert!(new.is_empty(), "more than {LINES_MAX} lines or {PARAMETERS_MAX} parameters: {new:#?}");
    let known = found.iter().filter(is_known).count();
    assert_eq!(known, EXCEPTIONS.len(), "an exception is no longer needed");
}

/// A value that may be missing must not be handed down to be filled in: the rooms of a run own what they make.
#[test]
fn no_option_is_handed_down_to_be_filled_in() {
    let mut files = Vec::new();
    sources(&root().join("crates/pgdyno-life/src"), &mut files);
    let holds = |file: &PathBuf| fs::read_to_string(file).expect("a readable source").contains(": &mut Option<");
    let found: Vec<_> = files.iter().filter(|file| holds(file)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// Returns the functions of a source that have a body, except those of one line.
fn functions(source: &str) -> Vec<Function> {
    let lines: Vec<&str> = source.lines().collect();
    let mut found = Vec::new();
    for (nth, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let Some((before, rest)) = code.split_once("fn ") else { continue };
        let is_item = before
            .split_whitespace()
            .all(|word| matches!(word, "pub" | "const" | "unsafe" | "extern" | "async") || word.starts_with("pub("));
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if !is_item || name.is_empty() {
            continue;
        }
        let indent = &line[..line.len() - code.len()];
        // Without a body it ends with its signature.
        let has_body = lines[nth..].iter().find(|line| line.ends_with('{') || line.ends_with(';'));
        if !has_body.is_some_and(|line| line.ends_with('{')) {
            continue;
        }
        let last = lines[nth..].iter().position(|line| *line == format!("{indent}}}")).unwrap_or_default();
        let signature = lines[nth..].join("\n");
        found.push(Function { name, lines: last + 1, parameters: parameters(&signature) });
    }
    found
}

/// Returns the number of parameters of the first function of a text, without `self`.
fn parameters(text: &str) -> usize {
    let start = text.find("fn ").unwrap_or_default();
    let start = start + opening(&text[start..]);
    let (mut depth, mut list, mut last) = (0_usize, String::new(), ' ');
    let mut found = Vec::new();
    for c in text[start + 1..].chars() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' if depth == 0 => break,
            ')' | ']' | '}' => depth -= 1,
            '>' if last != '-' => depth -= 1,
            _ => {}
        }
        if c == ',' && depth == 0 {
            found.push(std::mem::take(&mut list));
        } else {
            list.push(c);
        }
        last = c;
    }
    found.push(list);
    let is_self = |text: &str| text.split([' ', '&', ':']).any(|word| word == "self");
    found.iter().map(|text| text.trim()).filter(|text| !text.is_empty() && !is_self(text)).count()
}

/// Returns where the parameters of a function begin: after its generic ones.
fn opening(text: &str) -> usize {
    let (mut depth, mut last) = (0_usize, ' ');
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if last != '-' => depth -= 1,
            '(' if depth == 0 => return at,
            _ => {}
        }
        last = c;
    }
    0
}

#[test]
fn the_scanner_counts_lines_and_parameters() {
    let source = "impl A {\n    pub(crate) fn one<T: Fn(u8) -> u8>(\n        &mut self,\n        (a, b): (u8, u8),\n        f: &dyn Fn(A<B, C>) -> D,\n    ) -> E {\n        let x = 1;\n    }\n\n    fn two(&self) {\n    }\n}\n\ntrait B {\n    fn three(&self);\n}\n\nfn four(mut a: u8, b: Vec<(u8, u8)>) {\n    inner();\n}\n";
    let found: Vec<_> = functions(source).into_iter().map(|f| (f.name, f.lines, f.parameters)).collect();
    let expected = [("one", 7, 2), ("two", 2, 0), ("four", 3, 2)];
    assert_eq!(found, expected.map(|(name, lines, parameters)| (name.to_owned(), lines, parameters)));
}
