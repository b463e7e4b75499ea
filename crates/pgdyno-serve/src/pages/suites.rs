//! Pages of suites, from the records of their runs.

use pgdyno_report::html::VerdictMark;
use pgdyno_results::{Status, Trust};

use super::{begin, end};
use crate::run_source::Listed;

/// Degrees in the order of their counts.
const TRUST: [Trust; 5] = Trust::ALL;

struct Suite<'a> {
    name: &'a str,
    /// The identifier of an execution.
    id: &'a str,
    runs: usize,
    complete: usize,
    going_on: usize,
    /// Runs of each degree.
    trust: [usize; TRUST.len()],
    last: &'a str,
}

/// Returns the page of all suites, the one with the latest run first.
pub(crate) fn suites(runs: &[Listed]) -> String {
    let mut html = begin("Suites", "/suites");
    let suites = collect(runs);
    if suites.is_empty() {
        html.raw("<p class=\"hint\">No run here is of a suite; <code>pgdyno suite run FILE</code> makes some.</p>\n");
        return end(html);
    }
    html.raw("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"suites\"><table><thead><tr>");
    html.raw("<th scope=\"col\">suite</th><th scope=\"col\">execution</th><th class=\"n\" scope=\"col\">runs</th>");
    html.raw("<th class=\"n\" scope=\"col\">complete</th><th class=\"n\" scope=\"col\">running</th><th scope=\"col\">trust</th>");
    html.raw("<th scope=\"col\">last began (UTC)</th></tr></thead><tbody>\n");
    for suite in suites {
        let mut address = form_urlencoded::Serializer::for_suffix("/?".to_owned(), 2);
        let address = address.append_pair("suite", suite.name).finish();
        html.raw("<tr><td><a href=\"").text(&address).raw("\">").text(suite.name).raw("</a></td><td>").text(suite.id);
        for count in [suite.runs, suite.complete, suite.going_on] {
            html.raw("</td><td class=\"n\">").text(&count.to_string());
        }
        html.raw("</td><td class=\"whole\">");
        for (verdict, runs) in TRUST.into_iter().zip(suite.trust).filter(|(_, runs)| *runs > 0) {
            html.raw("<span class=\"counted\">");
            VerdictMark::from(verdict).draw(&mut html);
            html.text(&format!("{runs} {}", verdict.name())).raw("</span>");
        }
        let began = suite.last.split(['.', 'Z']).next().unwrap_or_default().replacen('T', " ", 1);
        html.raw("</td><td class=\"began\">").text(&began).raw("</td></tr>\n");
    }
    html.raw("</tbody></table></div>\n");
    end(html)
}

/// Collects suites. `runs` starts with the latest one.
fn collect(runs: &[Listed]) -> Vec<Suite<'_>> {
    let mut suites: Vec<Suite<'_>> = Vec::new();
    for run in runs {
        if run.study().is_some() {
            continue;
        }
        let Some((record, plan)) = run.record.as_ref().ok().and_then(|r| Some((r, r.plan.suite.as_ref()?))) else {
            continue;
        };
        let at = suites.iter().position(|suite| (suite.name, suite.id) == (&plan.suite, &plan.id));
        let at = at.unwrap_or_else(|| {
            let (name, id, last) = (&plan.suite, &plan.id, &record.started_at);
            suites.push(Suite { name, id, runs: 0, complete: 0, going_on: 0, trust: [0; TRUST.len()], last });
            suites.len() - 1
        });
        let suite = &mut suites[at];
        suite.runs += 1;
        suite.complete += usize::from(record.status == Status::Complete);
        suite.going_on += usize::from(run.goes_on);
        if let Some(trust) = record.trust.as_ref().filter(|_| !run.goes_on) {
            suite.trust[TRUST.iter().position(|known| *known == trust.degree()).unwrap_or_default()] += 1;
        }
    }
    suites
}
