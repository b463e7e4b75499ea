//! axe-core: what it finds in pages that hinders people who use a keyboard or a screen reader.

use crate::browser::{browser, look};

/// axe-core, as CI installs it.
const AXE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/axe/node_modules/axe-core/axe.min.js");

/// Runs axe-core on a page, light and dark, and leaves what it finds in the page.
fn examined(page: &str, axe: &str) -> String {
    // The page's own policy lets no other script run.
    let policy = page.split("<meta http-equiv").nth(1).and_then(|rest| rest.split('>').next());
    let page = policy.map_or(page.to_owned(), |policy| page.replace(&format!("<meta http-equiv{policy}>"), ""));
    let examine = "(async () => {
        const root = document.documentElement;
        const found = [];
        for (const theme of ['light', 'dark']) {
            root.dataset.theme = theme;
            const { violations } = await axe.run();
            for (const { id, impact, nodes } of violations) {
                const places = nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(' | ');
                if (impact === 'serious' || impact === 'critical') found.push(`${theme}: ${id}: ${places}`);
            }
        }
        root.dataset.axe = JSON.stringify(found);
    })();";
    page.replace("</body>", &format!("<script>{axe}</script>\n<script>{examine}</script>\n</body>"))
}

/// It finds nothing serious in the page.
#[track_caller]
pub(crate) fn is_accessible(name: &str, page: &str) {
    let Ok(axe) = std::fs::read_to_string(AXE) else {
        crate::skipped::skipped("accessibility of pages: no axe-core (npm install --prefix target/axe axe-core@4)");
        return;
    };
    let Some(browser) = browser("accessibility of pages") else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.html");
    std::fs::write(&path, examined(page, &axe)).unwrap();
    let seen = look(&browser, &path);
    let found = seen.data("axe").map(|found| found.replace("&quot;", "\""));
    assert_eq!(found.as_deref(), Some("[]"), "{name}");
}
