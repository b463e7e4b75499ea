//! What a reader does with a page: zooms, reads, hides, saves.

use super::{made_up, write};
use crate::browser::{browser, charts, look};

/// What a reader might do, read from attributes of the page at its end.
const READER: &str = r##"<script>
const root = document.documentElement;
const note = (name, value) => root.setAttribute(`data-${name}`, value);
const plots = [...document.querySelectorAll(".plot > svg")];
const at = (plot, share) => { const box = plot.getBoundingClientRect(); return box.left + box.width * share; };
const point = (plot, type, share) => plot.dispatchEvent(new PointerEvent(type, {
  bubbles: true, button: 0, pointerId: 1, clientX: at(plot, share), clientY: plot.getBoundingClientRect().top + 80 }));
const press = (key, more) => plots[0].dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
plots.forEach((plot) => { plot.setPointerCapture = () => {}; });
note("whole", root.dataset.view);
point(plots[1], "pointerdown", 0.3); point(plots[1], "pointermove", 0.6); point(plots[1], "pointerup", 0.6);
note("zoomed", root.dataset.view);
point(plots[0], "pointermove", 0.5);
note("tip", plots[0].parentElement.querySelector(".tip").textContent);
note("cursors", document.querySelectorAll(".plot .cursor").length);
plots[1].dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
note("reset", root.dataset.view);
press("Escape"); press("+"); note("plus", root.dataset.view);
press("ArrowRight", { shiftKey: true }); note("panned", root.dataset.view);
press("ArrowRight"); note("said", document.querySelector(".said").textContent);
press("0"); note("zero", root.dataset.view);
document.querySelector(".legend:not([hidden]) button").click();
note("pressed", document.querySelector(".legend:not([hidden]) button").getAttribute("aria-pressed"));
const before = getComputedStyle(document.body).backgroundColor;
document.getElementById("theme").click();
note("theme", String(before !== getComputedStyle(document.body).backgroundColor));
const details = document.querySelector("figure details");
details.open = true;
setTimeout(() => note("rows", details.querySelectorAll("tbody tr").length), 100);
const inked = (picture) => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.width, picture.height];
  const context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  return pixels.filter((pixel) => pixel !== pixels[0]).length;
};
HTMLAnchorElement.prototype.click = function () {
  if (this.href.startsWith("data:image/svg")) note("vectors", String(!decodeURIComponent(this.href).includes("var(")));
  const picture = new Image();
  picture.onload = () => note(this.download.split(".").pop(), `${this.download} ${inked(picture)}`);
  picture.src = this.href;
};
document.querySelector("[data-save=png]").click();
document.querySelector("[data-save=svg]").click();
</script></body>"##;

#[test]
fn several_runs_share_a_page_and_a_reader_can_zoom_read_hide_and_save() {
    let run = |name| made_up::run(name, 120, &["a", "b"]);
    let runs = [made_up::with_samples(run("base"), ""), run("new")];
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.html");
    write(&runs, &path);
    let Some(browser) = browser("a reader of a page") else { return };
    let seen = look(&browser, &path);
    seen.is_whole(&[
        "Throughput",
        "Response time: p99",
        "Response times, as a heat map: base",
        "Response times, as a heat map: new",
        "What active sessions waited for: base",
        "Response times by percentile: all",
        "WAL",
    ]);
    let over_time = charts(&seen.dom).iter().filter(|title| !title.contains("by percentile")).count().to_string();
    // A reader's script is no part of the page: its policy would not let it run.
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, after) = page.split_once("<meta http-equiv=\"Content-Security-Policy\"").unwrap();
    let open = format!("{before}<meta name=\"was\"{after}").replace("</body>", READER);
    std::fs::write(&path, open).unwrap();
    let seen = look(&browser, &path);
    assert_eq!(seen.data("error"), None);
    assert_eq!(seen.console, Vec::<String>::new());
    let span = |name: &str| -> (f64, f64) {
        let (from, until) = seen.data(name).unwrap().split_once(' ').unwrap();
        (from.parse().unwrap(), until.parse().unwrap())
    };
    assert_eq!(span("whole"), (0.0, 120.0));
    let (from, until) = span("zoomed");
    assert!((24.0..28.0).contains(&from) && (66.0..70.0).contains(&until), "{from} to {until}");
    let tip = seen.data("tip").unwrap();
    assert!(tip.contains("base 10") && tip.contains("new 10"), "{tip}");
    assert_eq!(seen.data("cursors"), Some(over_time.as_str()), "all charts over time show the moment");
    assert_eq!(span("reset"), (0.0, 120.0));
    assert_eq!(span("plus"), (30.0, 90.0));
    assert_eq!(span("panned"), (45.0, 105.0));
    assert!(seen.data("said").unwrap().contains("base 10"));
    assert_eq!(span("zero"), (0.0, 120.0));
    assert_eq!((seen.data("pressed"), seen.data("theme")), (Some("false"), Some("true")));
    assert_eq!(seen.data("rows"), Some("120"));
    assert_eq!(seen.data("vectors"), Some("true"), "colours are in the file, which has no page to ask");
    for kind in ["png", "svg"] {
        let (file, inked) = seen.data(kind).unwrap().split_once(' ').unwrap();
        let inked: usize = inked.parse().unwrap();
        assert!(
            file.ends_with(&format!("-Throughput.{kind}")) && inked > 5000,
            "{inked} pixels of {file} are not blank"
        );
    }
}
