//! Pages of frontiers of transactions and queries.

use pgdyno_report::html::frontier::{body, title};
use pgdyno_results::FrontierRecord;

use super::{begin, end};
use crate::run_source::Found;

/// Returns the page of all frontiers, the latest first.
pub(crate) fn frontiers(frontiers: &[Found<FrontierRecord>]) -> String {
    let mut html = begin("Frontiers", "/frontiers");
    if frontiers.is_empty() {
        html.raw(
            "<p class=\"hint\">There is no frontier here; <code>pgdyno frontier ch-benchmark</code> makes one.</p>\n",
        );
        return end(html);
    }
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"frontiers\"><table><thead><tr>");
    html.raw("<th scope=\"col\">frontier</th><th scope=\"col\">workload</th><th scope=\"col\">target</th>");
    html.raw("<th scope=\"col\">ended</th><th class=\"n\" scope=\"col\">points</th>");
    html.raw("<th class=\"n\" scope=\"col\">area</th></tr></thead><tbody>\n");
    for frontier in frontiers {
        match frontier {
            Ok(frontier) => {
                html.raw("<tr><td><a href=\"")
                    .text(&address(&frontier.id))
                    .raw("\">")
                    .text(&frontier.id)
                    .raw("</a></td>");
                let ended = frontier.ended.as_deref().unwrap_or("it continues, or was killed");
                for text in [&frontier.workload, &frontier.target, ended] {
                    html.raw("<td>").text(text).raw("</td>");
                }
                let measured = frontier.points.iter().filter(|point| !point.runs.is_empty()).count();
                let area = frontier.result.as_ref().map_or_else(String::new, |result| format!("{:.2}", result.area));
                for text in [format!("{measured} of {}", frontier.points.len()), area] {
                    html.raw("<td class=\"n\">").text(&text).raw("</td>");
                }
                html.raw("</tr>\n");
            }
            Err((id, why)) => {
                html.raw("<tr><td>").text(id).raw("</td><td class=\"bad\" colspan=\"5\">unreadable: ").text(why);
                html.raw("</td></tr>\n");
            }
        }
    }
    html.raw("</tbody></table></div>\n");
    end(html)
}

/// Returns the address of a frontier's page: as its file is found from the page of a run.
fn address(id: &str) -> String {
    format!("/frontiers/{id}.html")
}

/// Returns the page of a frontier.
pub(crate) fn frontier(frontier: &FrontierRecord) -> String {
    let mut html = begin(&title(frontier), "/frontiers");
    html.raw("<p class=\"sub\">").text(&frontier.target).raw(" · ").text(&frontier.id).raw("</p>\n<section>\n");
    body(frontier, &mut html);
    html.raw("</section>\n");
    end(html)
}
