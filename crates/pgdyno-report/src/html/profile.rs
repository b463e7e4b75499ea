//! The flame graph of the server's processes.

use super::ReportRun;
use super::markup::Html;
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
    html.raw("<details><summary>")
        .text(&format!("flame graph of {} samples", pgdyno_text::units::count(profile.samples)));
    html.raw("</summary>\n<div class=\"flame\">");
    html.drawing(&flame::graph(&run.timeline.profile, &profile.title(&run.record))).raw("</div></details>\n");
}
