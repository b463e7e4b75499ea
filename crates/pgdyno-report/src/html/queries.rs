//! Queries of a workload of few large ones: a bar for each, and who ran which when.

use pgdyno_results::{AnalyticsRecord, Execution, GroupTimeline, IntervalRecord, StageRecord};
use pgdyno_text::units::{count, percent, rate as rate_text, seconds};

use super::ReportRun;
use super::markup::{Html, PageColumn};
use crate::analytics;
use crate::query_costs::{self, Columns};

/// Bars narrower than this share of a lane have no name in them.
const NAMED_MIN: f64 = 0.015;

/// Writes both, if the run kept its executions.
pub(super) fn queries(run: &ReportRun, html: &mut Html) {
    let executions = &run.timeline.executions;
    let Some(first) = executions.first() else { return };
    html.raw("<section id=\"queries\">\n");
    match &run.record.analytics {
        Some(analytics) => table(run, analytics, html),
        None => bars(executions, &first.stage, &Columns::of(&run.record), html),
    }
    for stage in &run.record.stages {
        lanes(stage, run, html);
    }
    html.raw("</section>\n");
}

/// The times of a query in one stage.
struct Times {
    query: String,
    mean_s: f64,
    least_s: f64,
    greatest_s: f64,
    executions: usize,
    failed: usize,
}

/// Returns the times of each query of a stage, in the order of their names' numbers.
fn times<'a>(executions: impl Iterator<Item = &'a Execution>) -> Vec<Times> {
    let mut all: Vec<(String, Vec<f64>, usize)> = Vec::new();
    for execution in executions {
        let nth = all.iter().position(|(query, ..)| *query == execution.transaction).unwrap_or_else(|| {
            all.push((execution.transaction.clone(), Vec::new(), 0));
            all.len() - 1
        });
        match execution.is_completed() {
            true => all[nth].1.push(execution.seconds()),
            false => all[nth].2 += 1,
        }
    }
    all.sort_by(|(a, ..), (b, ..)| in_order(a).cmp(&in_order(b)));
    let times = |(query, times, failed): (String, Vec<f64>, usize)| Times {
        query,
        // The sum of none is -0.
        mean_s: times.iter().fold(0.0, |sum, time| sum + time) / times.len().max(1) as f64,
        least_s: times.iter().copied().fold(f64::INFINITY, f64::min).min(f64::MAX),
        greatest_s: times.iter().copied().fold(0.0, f64::max),
        executions: times.len(),
        failed,
    };
    all.into_iter().map(times).collect()
}

/// Returns the letters and the number of a query's name: `q2` stands before `q14`, and both before `rf1`.
fn in_order(query: &str) -> (&str, u32) {
    let letters = query.trim_end_matches(|c: char| c.is_ascii_digit());
    (letters, query[letters.len()..].parse().unwrap_or_default())
}

/// Writes a bar for each query of the first stage, with the mean of the others beside it.
fn bars(executions: &[Execution], first: &str, costs: &Columns<'_>, html: &mut Html) {
    let in_first = times(executions.iter().filter(|execution| execution.stage == first));
    let later = times(executions.iter().filter(|execution| execution.stage != first));
    let longest = in_first.iter().map(|times| times.greatest_s).fold(0.0, f64::max);
    if longest <= 0.0 {
        return;
    }
    let whole: f64 = in_first.iter().map(|times| times.mean_s).sum();
    let is_repeated = in_first.iter().any(|times| times.executions > 1);
    html.heading("Queries");
    html.raw(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table\"><table class=\"queries\"><thead><tr>",
    );
    html.raw("<th scope=\"col\">query</th><th scope=\"col\"></th><th scope=\"col\" class=\"n\">s</th><th scope=\"col\" class=\"n\">share</th>");
    if is_repeated {
        html.raw("<th scope=\"col\" class=\"n\">shortest to longest</th>");
    }
    if !later.is_empty() {
        html.raw("<th scope=\"col\" class=\"n\">s in streams</th>");
    }
    for heading in costs.headings() {
        html.raw("<th scope=\"col\" class=\"n\">").text(heading).raw("</th>");
    }
    html.raw("</tr></thead><tbody>\n");
    for times in &in_first {
        html.raw("<tr><th scope=\"row\">").text(&times.query).raw("</th><td class=\"picture\">");
        bar(times, longest, html);
        let [time, share] = match times.executions {
            0 => ["failed".to_owned(), String::new()],
            _ => [seconds(times.mean_s), percent(times.mean_s / whole)],
        };
        html.raw("</td><td class=\"n\">").text(&time).raw("</td><td class=\"n\">").text(&share).raw("</td>");
        if is_repeated {
            let reach = format!("{} to {}", seconds(times.least_s), seconds(times.greatest_s));
            html.raw("<td class=\"n\">").text(if times.executions > 1 { &reach } else { "" }).raw("</td>");
        }
        if !later.is_empty() {
            let mean = later.iter().find(|other| other.query == times.query && other.executions > 0);
            html.raw("<td class=\"n\">")
                .text(&mean.map_or_else(String::new, |other| seconds(other.mean_s)))
                .raw("</td>");
        }
        for cell in costs.cells(&times.query) {
            html.raw("<td class=\"n\">").text(&cell).raw("</td>");
        }
        html.raw("</tr>\n");
    }
    html.raw("</tbody></table></div>\n<p class=\"note\">Bars: time from the first byte sent to the last one received, in stage ");
    html.text(first);
    html.raw(if is_repeated {
        ", the mean of its executions; the line goes from the shortest to the longest. "
    } else {
        ". "
    });
    html.raw("Share: of all queries' times.");
    if !later.is_empty() {
        html.raw(" In streams: the mean over all streams of the later stages.");
    }
    if costs.len() > 0 {
        html.text(&format!(" Of all stages: {}.", query_costs::NOTE));
    }
    html.raw("</p>\n");
}

fn bar(times: &Times, longest: f64, html: &mut Html) {
    let share = |seconds: f64| format!("{:.2}%", seconds / longest * 100.0);
    html.raw("<svg class=\"query");
    html.raw(if times.failed > 0 { " failed" } else { "" });
    html.raw("\" aria-hidden=\"true\"><rect class=\"rail\" y=\"4\" width=\"100%\" height=\"10\" rx=\"2\"/>");
    html.raw("<rect class=\"time\" y=\"4\" height=\"10\" rx=\"2\" width=\"").text(&share(times.mean_s)).raw("\"/>");
    if times.executions > 1 {
        html.raw("<rect class=\"reach\" y=\"8\" height=\"2\" x=\"").text(&share(times.least_s));
        html.raw("\" width=\"").text(&share(times.greatest_s - times.least_s)).raw("\"/>");
    }
    html.raw("</svg>");
}

/// Writes the table of queries that run beside transactions, with what it does not show.
fn table(run: &ReportRun, analytics: &AnalyticsRecord, html: &mut Html) {
    let (columns, rows) = analytics::table(analytics);
    let columns: Vec<PageColumn<'_>> =
        std::iter::once((analytics::FIRST, false)).chain(columns.iter().map(|name| (name.as_str(), true))).collect();
    let rows: Vec<Vec<String>> =
        rows.into_iter().map(|(name, cells)| std::iter::once(name).chain(cells).collect()).collect();
    html.heading("Queries").table(&columns, &rows);
    html.raw("<ul class=\"notes\">");
    for note in analytics::notes(&run.record, analytics) {
        html.raw("<li>").text(&note).raw("</li>");
    }
    html.raw("</ul>\n");
}

/// Writes a lane for each client of a stage that runs queries, with a bar for each execution. The throughput of clients that
/// run transactions beside them is on the same axis.
fn lanes(stage: &StageRecord, run: &ReportRun, html: &mut Html) {
    let of_stage = || run.timeline.executions.iter().filter(|execution| execution.stage == stage.name);
    let beside: Vec<&GroupTimeline> = run.timeline.groups.iter().filter(|g| g.stage == stage.name).collect();
    let beside: Vec<&GroupTimeline> = beside.into_iter().filter(|group| is_beside(stage, run, &group.group)).collect();
    let clients: u32 = stage.groups.iter().map(|group| group.clients).sum();
    let from_s = of_stage().map(|execution| execution.start_s).fold(f64::INFINITY, f64::min);
    let until_s = of_stage().map(|execution| execution.end_s).fold(0.0, f64::max);
    if clients < 2 || until_s <= from_s {
        return;
    }
    let longest = times(of_stage()).into_iter().max_by(|a, b| a.mean_s.total_cmp(&b.mean_s));
    let longest = longest.map(|times| times.query).unwrap_or_default();
    html.raw("<h2>").text(&format!("Streams of stage {}", stage.name)).raw("</h2>\n<div class=\"lanes\">\n");
    for group in &beside {
        throughput(group, [from_s, until_s], html);
    }
    let names = stage.groups.iter().flat_map(|group| {
        let one = if group.name == stage.name { "stream" } else { group.name.as_str() };
        (1..=group.clients).map(move |nth| if group.clients > 1 { format!("{one} {nth}") } else { one.to_owned() })
    });
    for (client, name) in names.enumerate() {
        let mine: Vec<_> = of_stage().filter(|execution| execution.client as usize == client).collect();
        if mine.is_empty() && !beside.is_empty() {
            continue;
        }
        let words = format!("{} queries of {name}, in their order", count(mine.len() as u64));
        html.raw("<span>").text(&name).raw("</span><svg class=\"lane\" role=\"img\" aria-label=\"").text(&words);
        html.raw("\"><rect class=\"rail\" width=\"100%\" height=\"100%\"/>");
        for execution in mine {
            one(execution, &longest, [from_s, until_s], html);
        }
        html.raw("</svg>\n");
    }
    html.raw("<span></span><div class=\"axis\"><span>0 s</span><span>").text(&seconds((until_s - from_s) / 2.0));
    html.raw(" s</span><span>")
        .text(&seconds(until_s - from_s))
        .raw(" s</span></div>\n</div>\n<p class=\"note\">Orange: ");
    html.text(&longest).raw(", which takes longest here.");
    if of_stage().any(|execution| !execution.is_completed()) {
        html.raw(" Red: failed, cancelled for its time, or still running at the end.");
    }
    html.raw("</p>\n");
}

/// Returns true if the clients of a group run transactions beside queries: none of their executions is kept.
fn is_beside(stage: &StageRecord, run: &ReportRun, group: &str) -> bool {
    let streams = run.record.analytics.iter().flat_map(|analytics| &analytics.stages);
    streams.filter(|streams| streams.stage == stage.name).any(|streams| streams.group != group)
}

/// Writes the throughput of a group as an area, on the axis of the lanes below it.
fn throughput(group: &GroupTimeline, [from_s, until_s]: [f64; 2], html: &mut Html) {
    let rate = |interval: &IntervalRecord| interval.committed as f64 / interval.seconds().max(1e-9);
    let within = || group.intervals.iter().filter(|i| i.seconds() >= 0.5 && i.end_s > from_s && i.start_s < until_s);
    let highest = within().map(rate).fold(0.0, f64::max);
    if highest <= 0.0 {
        return;
    }
    let x = |at_s: f64| ((at_s - from_s) / (until_s - from_s) * 1000.0).clamp(0.0, 1000.0);
    let mut path = String::new();
    for interval in within() {
        let y = 40.0 - rate(interval) / highest * 38.0;
        let command = if path.is_empty() { "M" } else { "L" };
        path += &format!("{command}{:.1} {y:.1}H{:.1}", x(interval.start_s), x(interval.end_s));
    }
    let end = within().next_back().map_or(0.0, |last| x(last.end_s));
    let begin = within().next().map_or(0.0, |first| x(first.start_s));
    let words = format!("{} a second, at most {}", group.group, rate_text(highest));
    html.raw("<span>").text(&words).raw("</span><svg class=\"lane beside\" role=\"img\" aria-label=\"").text(&words);
    html.raw("\" viewBox=\"0 0 1000 40\" preserveAspectRatio=\"none\"><path d=\"");
    html.text(&format!("{path}L{end:.1} 40L{begin:.1} 40Z")).raw("\"/></svg>\n");
}

fn one(execution: &Execution, longest: &str, [from_s, until_s]: [f64; 2], html: &mut Html) {
    let whole = until_s - from_s;
    let share = |seconds: f64| format!("{:.3}%", seconds / whole * 100.0);
    let class = match execution.is_completed() {
        false => "failed",
        true if execution.transaction == longest => "longest",
        true => "time",
    };
    html.raw("<svg x=\"").text(&share(execution.start_s - from_s)).raw("\" width=\"").text(&share(execution.seconds()));
    html.raw("\" height=\"100%\"><rect class=\"").raw(class).raw("\" width=\"100%\" height=\"100%\"><title>");
    html.text(&format!("{}: {} s", execution.transaction, seconds(execution.seconds()))).raw("</title></rect>");
    if execution.seconds() / whole >= NAMED_MIN {
        html.raw("<text x=\"3\" y=\"15\">").text(execution.transaction.trim_start_matches('q')).raw("</text>");
    }
    html.raw("</svg>");
}

#[cfg(test)]
mod tests {
    use pgdyno_results::{ExecutionOutcome, QueryCostRecord};

    use super::*;

    fn execution(stage: &str, client: u32, query: &str, start_s: f64, end_s: f64) -> Execution {
        let (stage, transaction) = (stage.to_owned(), query.to_owned());
        let outcome = if end_s < 9.0 { ExecutionOutcome::Completed } else { ExecutionOutcome::Failed };
        Execution { stage, client, transaction, start_s, end_s, outcome, memory_bytes_max: None }
    }

    #[test]
    fn queries_stand_in_the_order_of_their_numbers_with_their_times() {
        let executions = [
            execution("power", 0, "q14", 0.0, 1.0),
            execution("power", 0, "q2", 1.0, 4.0),
            execution("power", 0, "q14", 4.0, 6.0),
            execution("power", 0, "q9", 6.0, 9.0),
        ];
        let times = times(executions.iter());
        let shown: Vec<_> =
            times.iter().map(|t| (t.query.as_str(), t.mean_s, t.greatest_s, t.executions, t.failed)).collect();
        assert_eq!(shown, [("q2", 3.0, 3.0, 1, 0), ("q9", 0.0, 0.0, 0, 1), ("q14", 1.5, 2.0, 2, 0)]);
        let mut html = Html::default();
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
        let mut record = pgdyno_results::read_record(&path).unwrap();
        let memory_bytes_max = Some(3 << 20);
        record.query_costs =
            vec![QueryCostRecord { query: "q2".to_owned(), memory_bytes_max, ..QueryCostRecord::default() }];
        bars(&executions, "power", &Columns::of(&record), &mut html);
        let html = html.into_string();
        let repeated =
            ["shortest to longest", "1.00 to 2.00", "class=\"query failed\"", "width=\"100.00%\"", "mem MiB", ">3.00<"];
        assert!(repeated.iter().all(|part| html.contains(part)), "{html}");
        assert!(html.contains(">failed</td><td class=\"n\"></td>") && !html.contains("-0."), "{html}");
    }

    #[test]
    fn a_run_that_kept_no_executions_has_neither() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
        let record = pgdyno_results::read_record(&path).unwrap();
        let mut html = Html::default();
        queries(&ReportRun::new(record, pgdyno_results::Timeline::default()), &mut html);
        assert_eq!(html.into_string(), "");
    }
}
