use std::path::Path;

use super::*;

const BEGIN: &str = "<!-- steps: written by PGDYNO_WRITE_DOCS=1 cargo test -p pgdyno-load --lib steps -->\n";
const END: &str = "<!-- end of steps -->";

fn row(step: &Step) -> String {
    let kind = if step.is_required { "required" } else { "optional" };
    format!("| {} | {kind} | {} | {} |\n", step.name, step.needs, step.without)
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the variable asks to write the page")]
fn the_page_has_the_table() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/your-server.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("a place for the table");
    let (found, after) = rest.split_once(END).expect("its end");
    let rows: String = ALL.iter().map(|step| row(step)).collect();
    let wanted = format!("\n| step | | needs | without it |\n| --- | --- | --- | --- |\n{rows}\n");
    if std::env::var_os("PGDYNO_WRITE_DOCS").is_some() {
        std::fs::write(&path, [before, BEGIN, &wanted, END, after].concat()).unwrap();
    } else {
        assert_eq!(found, wanted, "docs/your-server.md differs: write it with PGDYNO_WRITE_DOCS=1");
    }
}

#[test]
fn only_a_required_step_ends_a_run() {
    let refused = || AdminError::Shape { sql: "select".to_owned(), expected: "a row", found: "none".to_owned() };
    let error = CREATE.decide::<()>(Err(refused())).unwrap_err();
    assert!(error.to_string().starts_with("failed to create tables and routines: expected a row"), "{error}");
    let mut warnings = Vec::new();
    assert_eq!(MARK.decide::<()>(Err(refused())).unwrap().or_warn(|warning| warnings.push(warning)), None);
    assert!(warnings[0].starts_with("left out: mark the server as measured: ") && warnings[0].ends_with(MARK.without));
    assert_eq!(MARK.decide(Ok(1)).unwrap().or_warn(|warning| warnings.push(warning)), Some(1));
    // Nothing else can be done with a lost connection.
    let lost = AdminError::Interrupted { peer: "p".to_owned(), command: "c".to_owned() };
    assert!(MARK.decide::<()>(Err(lost)).is_err());
    assert!(ALL.iter().any(|step| step.is_required) && warnings.len() == 1);
}
