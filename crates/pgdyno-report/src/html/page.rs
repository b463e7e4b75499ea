//! The page as a whole.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::Digest as _;

use super::markup::Html;
use super::{ReportRun, data, figures, server, tables};
use crate::text::what_ran;

/// The whole look.
const STYLE: &str = include_str!("assets/page.css");

/// The whole script: one scope, so that the files know each other and nobody else knows them.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("assets/scale.js"),
    include_str!("assets/frame.js"),
    include_str!("assets/export.js"),
    include_str!("assets/view.js"),
    include_str!("assets/lines.js"),
    include_str!("assets/heat.js"),
    include_str!("assets/curve.js"),
    include_str!("assets/main.js"),
    "})();\n"
);

/// The page of all runs.
pub(super) fn page(runs: &[ReportRun]) -> String {
    let mut html = Html::default();
    let title = title(runs);
    head(&title, &mut html);
    html.raw("<header><div><p class=\"brand\">pgdyno</p><h1>").text(&title).raw("</h1>");
    if let [run] = runs {
        html.raw("<p class=\"sub\">").text(&run.name).raw("</p>");
    }
    html.raw("</div><button id=\"theme\" type=\"button\" hidden>dark</button></header>\n<main>\n");
    html.raw("<section aria-label=\"figures\">\n");
    figures::figures(runs, &mut html);
    html.raw("</section>\n");
    for run in runs {
        run_heading(runs, run, &mut html);
        html.raw("<section>\n");
        figures::verdict(&run.record, &mut html);
        html.heading("What ran");
        server::what_ran(&run.record, &mut html);
        html.raw("</section>\n");
    }
    html.raw("<section id=\"charts\"><h2>Over time</h2>\n");
    html.raw("<p class=\"hint\">Drag across a chart to zoom all of them, double-click to see everything again. With the keyboard: ");
    html.raw("<kbd>←</kbd> <kbd>→</kbd> read values, with <kbd>Shift</kbd> they pan, <kbd>+</kbd> <kbd>−</kbd> zoom, ");
    html.raw("<kbd>0</kbd> resets. Shaded time is warm-up (ramp) and drain, which the figures do not count. Where intervals are too many to be told apart, a line is their ");
    html.raw("median, and the light band reaches from the least to the greatest.</p>\n");
    html.raw("<noscript><p class=\"bad all\">The charts are drawn by a script, and scripts are off. The tables have all figures.");
    html.raw("</p></noscript></section>\n");
    for run in runs {
        run_heading(runs, run, &mut html);
        html.raw("<section>\n");
        tables::tables(&run.record, &mut html);
        server::appendix(run, &mut html);
        html.raw("</section>\n");
    }
    html.raw("</main>\n<script type=\"application/json\" id=\"data\">")
        .json(&data::data(runs))
        .raw("</script>\n<script>");
    html.raw(SCRIPT).raw("</script>\n</body></html>\n");
    html.into_string()
}

fn title(runs: &[ReportRun]) -> String {
    match runs {
        [run] => what_ran(&run.record),
        _ => {
            let names: Vec<_> = runs.iter().map(|run| run.name.as_str()).collect();
            format!("{} runs: {}", runs.len(), names.join(", "))
        }
    }
}

/// Where there are several runs each stands under its name.
fn run_heading(runs: &[ReportRun], run: &ReportRun, html: &mut Html) {
    if runs.len() > 1 {
        html.raw("<h2 class=\"run\">").text(&run.name).raw("</h2>\n");
    }
}

fn head(title: &str, html: &mut Html) {
    html.raw("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n");
    html.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"").text(&policy()).raw("\">\n");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<title>").text(title).raw(" – pgdyno</title>\n");
    html.raw("<style>").raw(STYLE).raw("</style></head>\n<body>\n");
}

/// No request, no script and no style but the page's own; pictures only as data, for the export of charts.
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(sha2::Sha256::digest(text));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; \
         form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}
