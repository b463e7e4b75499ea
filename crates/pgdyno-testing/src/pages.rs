//! Parts of the documentation that are written by tests.

use std::path::Path;

/// Compares a part of a page with what it should be. The part lies between the comments `<!-- NAME: … -->` and
/// `<!-- end of NAME -->`. With the variable `PGDYNO_WRITE_DOCS`, writes it instead.
///
/// # Panics
/// When the page has no such part, or another one.
pub fn part_is(page: &Path, name: &str, wanted: &str) {
    let text = std::fs::read_to_string(page).unwrap();
    let begin = text.find(&format!("<!-- {name}: ")).expect("a place for the part");
    let begin = begin + text[begin..].find("-->\n").expect("the end of a comment") + 4;
    let end = begin + text[begin..].find(&format!("<!-- end of {name} -->")).expect("the end of the part");
    if std::env::var_os("PGDYNO_WRITE_DOCS").is_some() {
        std::fs::write(page, [&text[..begin], wanted, &text[end..]].concat()).unwrap();
    } else {
        assert_eq!(&text[begin..end], wanted, "{} differs: write it with PGDYNO_WRITE_DOCS=1", page.display());
    }
}
