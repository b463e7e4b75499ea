use std::path::Path;

use super::*;

fn row(step: &ServerStep) -> String {
    let kind = if step.is_required { "required" } else { "optional" };
    format!("| {} | {kind} | {} | {} |\n", step.name, step.needs, step.without)
}

#[test]
fn the_page_has_the_table() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/your-server.md");
    let rows: String = ALL.iter().map(|step| row(step)).collect();
    let wanted = format!("\n| step | | needs | without it |\n| --- | --- | --- | --- |\n{rows}\n");
    pgdyno_testing::pages::part_is(&page, "steps", &wanted);
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
