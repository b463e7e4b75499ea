//! The flame graph of the server's processes.

use super::ReportRun;
use super::markup::Html;
use crate::drawing::Drawing;
use crate::flame;

/// Writes the flame graph, folded, if the run has a profile.
pub(super) fn profile(run: &ReportRun, html: &mut Html) {
    let Some(profile) = run.record.profile.as_ref().filter(|_| !run.timeline.profile.is_empty()) else { return };
    html.heading("Profile of the server")
        .raw("<p class=\"note\">Call stacks of the server's processes on a CPU in the measured ");
    html.raw(
        "window: a box is as wide as its share of the samples, above the function that called it; blue is the kernel. ",
    );
    html.raw(
        "Point at a box for its name. Waits are not in it: the charts have them. perf.folded has the stacks.</p>\n",
    );
    let graph = flame::graph(&run.timeline.profile, &profile.title(&run.record));
    flame_graph(&format!("flame graph of {} samples", pgdyno_text::units::count(profile.samples)), &graph, html);
}

/// Writes a flame graph, folded. On a narrow screen it scrolls, also with the keyboard.
pub(super) fn flame_graph(summary: &str, graph: &Drawing, html: &mut Html) {
    html.raw("<details><summary>").text(summary).raw("</summary>\n");
    html.raw("<div class=\"flame\" tabindex=\"0\" role=\"region\" aria-label=\"flame graph\">");
    html.drawing(graph).raw("</div></details>\n");
}
