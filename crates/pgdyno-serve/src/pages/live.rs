//! The page of a run that goes on: its script fetches news.

use pgdyno_results::RunRecord;

use super::{begin, end, run};

/// Returns the page of a run.
pub(crate) fn page(record: &RunRecord) -> String {
    let mut html = begin(&record.plan.workload, "");
    html.raw("<p class=\"sub\">").text(&record.id).raw("</p>\n");
    html.raw("<div id=\"live\" data-news=\"").text(&run(&record.id)).raw("/live.json\" data-report=\"");
    html.text(&run(&record.id)).raw("\">\n<p id=\"what\"></p>\n<p id=\"state\" role=\"status\">asking …</p>\n");
    html.raw("<progress id=\"progress\" max=\"1\" value=\"0\" hidden></progress>\n");
    html.raw("<dl class=\"tiles\" id=\"figures\" aria-label=\"figures of the last interval\"></dl>\n");
    html.raw("<section id=\"charts\"></section>\n</div>\n");
    html.raw("<noscript><p class=\"bad\">A script draws what is new, and scripts are off. The <a href=\"");
    html.text(&run(&record.id)).raw("\">report so far</a> has all figures.</p></noscript>\n");
    html.raw("<script src=\"/assets/live.js\"></script>\n");
    end(html)
}
