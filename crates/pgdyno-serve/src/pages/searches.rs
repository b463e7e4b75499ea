//! Pages of searches for the highest load.

use pgdyno_report::html::search::{body, title};
use pgdyno_report::search::load;
use pgdyno_results::SearchRecord;

use super::{begin, end};
use crate::run_source::Found;

/// Returns the page of all searches, the latest first.
pub(crate) fn searches(searches: &[Found<SearchRecord>]) -> String {
    let mut html = begin("Searches", "/searches");
    if searches.is_empty() {
        html.raw("<p class=\"hint\">There is no search here; <code>pgdyno search</code> makes one.</p>\n");
        return end(html);
    }
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"searches\"><table><thead><tr>");
    html.raw("<th scope=\"col\">search</th><th scope=\"col\">workload</th><th scope=\"col\">target</th>");
    html.raw("<th scope=\"col\">objective</th><th scope=\"col\">ended</th><th class=\"n\" scope=\"col\">kept</th>");
    html.raw("<th class=\"n\" scope=\"col\">broken</th></tr></thead><tbody>\n");
    for search in searches {
        match search {
            Ok(search) => {
                html.raw("<tr><td><a href=\"/searches/").text(&search.id).raw("\">").text(&search.id).raw("</a></td>");
                let limit = |at: Option<f64>| at.map(|at| load(&search.by, at)).unwrap_or_default();
                let objectives = search.objectives.join(", ");
                for text in [&search.workload, &search.target, &objectives, search.status.name()] {
                    html.raw("<td>").text(text).raw("</td>");
                }
                for text in [limit(search.kept), limit(search.broken)] {
                    html.raw("<td class=\"n\">").text(&text).raw("</td>");
                }
                html.raw("</tr>\n");
            }
            Err((id, why)) => {
                html.raw("<tr><td>").text(id).raw("</td><td class=\"bad\" colspan=\"6\">unreadable: ").text(why);
                html.raw("</td></tr>\n");
            }
        }
    }
    html.raw("</tbody></table></div>\n");
    end(html)
}

/// Returns the page of a search: the limit, then the loads that were measured.
pub(crate) fn search(search: &SearchRecord) -> String {
    let mut html = begin(&title(search), "/searches");
    html.raw("<p class=\"sub\">").text(&search.id).raw("</p>\n<div id=\"figures\">");
    body(search, &mut html);
    html.raw("</div>\n");
    if !search.runs.is_empty() {
        html.heading("Its runs").raw("<ul>");
        for id in &search.runs {
            html.raw("<li><a href=\"").text(&super::run(id)).raw("\">").text(id).raw("</a></li>");
        }
        html.raw("</ul>\n");
    }
    end(html)
}
