//! Any rows as the answers of a store: a line a row, its cells between tabs, `=` for the right digest.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pgdyno_plan::sha256;
use pgdyno_store::fuzzing::{StoreAnswers, copy_all};

/// Files that no store may change: a file outside, and what other programs keep in the results.
const OTHERS: [&str; 4] =
    ["outside/file", "results/suites/a/state.json", "results/ab/own.json", "results/own/run.json"];

pub(crate) fn run(input: &[u8]) {
    let mut answers = answers(&String::from_utf8_lossy(input));
    // In memory where the system has such a place: thousands of small trees take minutes on a busy disk.
    let root = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory");
    let root = root.path();
    for path in OTHERS {
        fs::create_dir_all(root.join(path).parent().expect("a parent")).expect("a directory");
        fs::write(root.join(path), "precious").expect("a file");
    }
    fs::create_dir(root.join("cache")).expect("a directory");
    let planted = plant(root, &answers.id);
    let before = tree(&root.join("outside"));
    let copied = copy_all(&mut answers, &root.join("cache"), &root.join("results"));

    for path in OTHERS {
        assert_eq!(fs::read_to_string(root.join(path)).expect(path), "precious");
    }
    assert_eq!(tree(&root.join("outside")), before);
    assert_eq!(names(root), ["cache", "outside", "results"]);
    let made = names(&root.join("cache"));
    assert!(
        made.iter().all(|name| *name == answers.id) && (copied.is_some() || planted || made.is_empty()),
        "{made:?}"
    );
    let results = tree(&root.join("results"));
    assert!(results.values().all(|kind| *kind != Kind::Other), "a link in {results:?}");
    assert!(results.keys().all(|path| !path.contains("/.")), "a hidden file in {results:?}");
}

/// Puts links in the way of the copies.
fn plant(root: &Path, id: &str) -> bool {
    let mirror = root.join("cache").join(id);
    let is_plain = id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if !is_plain || fs::create_dir(&mirror).is_err() {
        return false;
    }
    for name in ["linked", "searches"] {
        std::os::unix::fs::symlink(root.join("outside"), mirror.join(name)).expect("a link");
    }
    fs::create_dir(mirror.join("a")).expect("a directory");
    std::os::unix::fs::symlink(root.join("outside/file"), mirror.join("a/run.json")).expect("a link");
    true
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    File,
    Directory,
    Other,
}

/// Returns all paths below a directory, which begin with `/`.
fn tree(directory: &Path) -> BTreeMap<String, Kind> {
    let mut found = BTreeMap::new();
    let mut open = vec![(directory.to_owned(), String::new())];
    while let Some((directory, within)) = open.pop() {
        for name in names(&directory) {
            let path = directory.join(&name);
            let kind = fs::symlink_metadata(&path).expect("is there").file_type();
            let kind = match (kind.is_file(), kind.is_dir()) {
                (true, _) => Kind::File,
                (_, true) => Kind::Directory,
                _ => Kind::Other,
            };
            let within = format!("{within}/{name}");
            if kind == Kind::Directory {
                open.push((path, within.clone()));
            }
            found.insert(within, kind);
        }
    }
    found
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let mut names: Vec<_> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Returns the answers that a text describes. Its content is text, which is sent in base64.
fn answers(text: &str) -> StoreAnswers {
    let mut answers = StoreAnswers::default();
    for line in text.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell != "NULL").then(|| (*cell).to_owned())).collect();
        let own = |cell: &str| cell.to_owned();
        match cells[..] {
            ["id", id] => answers.id = own(id),
            ["run", ref cells @ ..] => answers.runs.push(row(cells)),
            ["file", run, ref cells @ ..] => answers.files.push((own(run), row(cells))),
            ["part", run, path, part, content] => {
                answers.parts.push([own(run), own(path), own(part), STANDARD.encode(content)]);
            }
            ["study", ref cells @ ..] => answers.studies.push(row(cells)),
            ["content", study, content] => answers.contents.push([own(study), STANDARD.encode(content)]),
            _ => {}
        }
    }
    fill(&mut answers);
    answers
}

/// Replaces `=` by the length or the digest that fits: a store can always give those.
fn fill(answers: &mut StoreAnswers) {
    let parts = answers.parts.clone();
    let of_file = |run: &str, path: &str| -> Vec<u8> {
        let of_it = parts.iter().filter(|[of, at, ..]| of == run && at == path);
        of_it.flat_map(|[.., content]| STANDARD.decode(content).unwrap_or_default()).collect()
    };
    let wanted = |row: &[Option<String>], at: usize| row.get(at).is_some_and(|cell| cell.as_deref() == Some("="));
    let set = |row: &mut Vec<Option<String>>, at: usize, content: &[u8]| {
        if wanted(row, at) {
            row[at] = Some(content.len().to_string());
        }
        if wanted(row, at + 1) {
            row[at + 1] = Some(sha256(content));
        }
    };
    let text = |row: &[Option<String>], at: usize| row.get(at).cloned().flatten().unwrap_or_default();
    for row in &mut answers.runs {
        let content = of_file(&text(row, 0), "run.json");
        set(row, 1, &content);
    }
    for (run, row) in &mut answers.files {
        let content = of_file(run, &text(row, 0));
        set(row, 1, &content);
    }
    let files = answers.files.clone();
    for (run, row) in &mut answers.files {
        if wanted(row, 3) {
            let mut list: Vec<_> =
                files.iter().filter(|(of, _)| of == run).map(|(_, row)| (text(row, 0), text(row, 2))).collect();
            list.sort();
            let lines: String = list.iter().map(|(path, sha256)| format!("{sha256}  {path}\n")).collect();
            row[3] = Some(sha256(lines.as_bytes()));
        }
    }
    for row in &mut answers.studies {
        if wanted(row, 2) {
            let content =
                answers.contents.iter().find(|[of, _]| *of == text(row, 1)).map(|[_, content]| content.clone());
            row[2] = Some(sha256(&STANDARD.decode(content.unwrap_or_default()).unwrap_or_default()));
        }
    }
}
