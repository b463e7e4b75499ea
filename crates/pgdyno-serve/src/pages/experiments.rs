//! Pages of A/B experiments.

use pgdyno_report::html::ab::{body, title};
use pgdyno_report::studies::change;
use pgdyno_results::AbRecord;

use super::{begin, end};
use crate::run_source::Found;

/// Returns the page of all experiments, the latest first.
pub(crate) fn experiments(experiments: &[Found<AbRecord>]) -> String {
    let mut html = begin("Experiments", "/experiments");
    if experiments.is_empty() {
        html.raw("<p class=\"hint\">There is no experiment here; <code>pgdyno ab</code> makes one.</p>\n");
        return end(html);
    }
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"experiments\"><table><thead><tr>");
    html.raw("<th scope=\"col\">experiment</th><th scope=\"col\">workload</th><th scope=\"col\">A</th>");
    html.raw("<th scope=\"col\">B</th><th scope=\"col\">verdict</th><th scope=\"col\">change</th>");
    html.raw("<th class=\"n\" scope=\"col\">units</th></tr></thead><tbody>\n");
    for experiment in experiments {
        match experiment {
            Ok(record) => {
                html.raw("<tr><td><a href=\"").text(&address(&record.id)).raw("\">").text(&record.id).raw("</a></td>");
                let side = |differs: &[String]| match differs {
                    [] => "as given".to_owned(),
                    differs => differs.join(", "),
                };
                let [a, b] = [&record.a, &record.b].map(|of| side(&of.differs));
                for text in [&record.workload, &a, &b, record.verdict.name(), &change(record)] {
                    html.raw("<td>").text(text).raw("</td>");
                }
                html.raw("<td class=\"n\">").text(&record.units.len().to_string()).raw("</td></tr>\n");
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

/// Returns the address of an experiment's page: as its file is found from the page of a run.
fn address(id: &str) -> String {
    format!("/ab/{id}.html")
}

/// Returns the page of an experiment.
pub(crate) fn experiment(record: &AbRecord) -> String {
    let mut html = begin(&title(record), "/experiments");
    html.raw("<p class=\"sub\">").text(&record.id).raw("</p>\n<section>\n");
    body(record, &mut html);
    html.raw("</section>\n");
    end(html)
}
