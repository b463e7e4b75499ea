//! The first screen of a page: what a reader sees before the first scroll.

use super::{made_up, write};
use crate::browser::{browser, look};

/// Reports to the frame around the page where things end, in pixels, and how wide the page is.
const MEASURE: &str = r##"<script>
const root = document.documentElement;
const end = (selector) => Math.round(document.querySelector(selector).getBoundingClientRect().bottom);
parent.postMessage({ name: window.name, places: [".result", ".trust", "#over-time figure", "#over-time", ".finding .claim", ".finding"].map(end), wide: root.scrollWidth }, "*");
</script></body>"##;

/// Shows a page at the sizes of a laptop and of a phone.
const FRAMES: &str = r#"<!DOCTYPE html><html><body><script>
addEventListener("message", ({ data }) => {
  document.documentElement.setAttribute(`data-${data.name}`, [...data.places, data.wide].join(" "));
});
for (const [name, width, height] of [["laptop", 1280, 800], ["phone", 390, 844]]) {
  const frame = document.createElement("iframe");
  Object.assign(frame, { name, width, height, src: "page.html" });
  document.body.append(frame);
}
</script></body></html>"#;

#[test]
fn the_answer_is_on_the_first_screen() {
    let mut run = made_up::with_samples(made_up::run("one", 120, &["a", "b"]), "");
    let warning = |nth| pgdyno_results::Warning::note(format!("warning {nth} of some length: and what to do about it"));
    run.record.warnings = (1..=8).map(warning).collect();
    run.record.trust = None;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.html");
    write(&[run], &path);
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("8 warnings in full") && page.contains("<li>warning 8 of some length: and what to do"));
    let Some(browser) = browser("the first screen of a page") else { return };
    let (before, after) = page.split_once("<meta http-equiv=\"Content-Security-Policy\"").unwrap();
    std::fs::write(&path, format!("{before}<meta name=\"was\"{after}").replace("</body>", MEASURE)).unwrap();
    let frames = dir.path().join("frames.html");
    std::fs::write(&frames, FRAMES).unwrap();
    let seen = look(&browser, &frames);
    let measured = |name: &str| -> Vec<u32> {
        seen.data(name).unwrap_or_default().split(' ').map(|pixels| pixels.parse().unwrap()).collect()
    };
    let laptop = measured("laptop");
    assert!(laptop[..6].iter().all(|end| *end <= 800) && laptop[6] <= 1280, "{laptop:?}");
    // What to do about the finding may stand below.
    let phone = measured("phone");
    assert!(phone[..5].is_sorted() && phone[4] <= 844 && phone[6] <= 390, "{phone:?}");
}
