//! Pages can be used with a keyboard and a screen reader: axe-core finds nothing serious in them, light or dark.

use std::path::Path;

use pgdyno_report::studies::StudyRecord;
use pgdyno_results::StudyKind;

use super::{made_up, with_chart, write};
use crate::browser::{browser, look};

/// axe-core, as CI installs it.
const AXE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/axe/node_modules/axe-core/axe.min.js");

/// Runs axe-core on a page, in the theme, and leaves what it finds in the page.
fn examined(page: &str, axe: &str, theme: &str) -> String {
    let policy = page.split("<meta http-equiv").nth(1).and_then(|rest| rest.split('>').next()).unwrap();
    // The page's own policy lets no other script run.
    let page = page.replace(&format!("<meta http-equiv{policy}>"), "");
    let page = page.replace("<html lang=\"en\">", &format!("<html lang=\"en\" data-theme=\"{theme}\">"));
    let examine = "axe.run().then((found) => {
        const serious = found.violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
        const words = ({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(' | ')}`;
        document.documentElement.dataset.axe = JSON.stringify(serious.map(words));
    });";
    page.replace("</body>", &format!("<script>{axe}</script>\n<script>{examine}</script>\n</body>"))
}

#[track_caller]
fn is_accessible(page: &str) {
    let Ok(axe) = std::fs::read_to_string(AXE) else {
        crate::skipped::skipped("accessibility of pages: no axe-core (npm install --prefix target/axe axe-core@4)");
        return;
    };
    let Some(browser) = browser("accessibility of pages") else { return };
    for theme in ["light", "dark"] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("page.html");
        std::fs::write(&path, examined(page, &axe, theme)).unwrap();
        let seen = look(&browser, &path);
        assert_eq!(seen.data("axe").map(|found| found.replace("&quot;", "\"")).as_deref(), Some("[]"), "{theme}");
    }
}

#[test]
fn the_page_of_a_run_is_accessible() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.html");
    write(&[with_chart(made_up::with_samples(made_up::run("one", 120, &["a", "b"]), ""))], &path);
    is_accessible(&std::fs::read_to_string(path).unwrap());
}

#[test]
fn the_page_of_an_experiment_is_accessible() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/0.2.0/ab.json");
    let record = StudyRecord::read(StudyKind::Experiment, &path).unwrap();
    let mut bytes = Vec::new();
    assert!(record.render("html", &mut bytes).unwrap());
    is_accessible(&String::from_utf8(bytes).unwrap());
}
