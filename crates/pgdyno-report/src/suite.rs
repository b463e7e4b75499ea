//! The table of a suite: one line for each cell, with the mean and the spread of its repetitions. The description of a
//! cell is that of its records.

mod junit;
mod plan;

pub use junit::junit;
pub use plan::{list, plan};

use pgdyno_plan::{Plan, RecipePlan};
use pgdyno_results::table::quoted;
use pgdyno_results::{RecordMetric, RunRecord, Unit};
use pgdyno_text::units;
use pgdyno_untrusted::MarkdownText;

use crate::compare::{deviation, mean};
use crate::forms::{CellForm, FORMAT_VERSION, SuiteCellsForm};

/// A run of a suite.
#[derive(Clone, Copy, Debug)]
pub struct SuiteRun<'a> {
    /// The key of its cell.
    pub cell: &'a str,
    /// Its record; none if it has not run yet.
    pub record: Option<&'a RunRecord>,
    /// Why it counts as failed.
    pub failure: Option<&'a str>,
}

/// A cell.
struct Row<'a> {
    key: &'a str,
    /// The description of its runs, from their records.
    ran: String,
    complete: Vec<&'a RunRecord>,
    failed: Vec<(&'a RunRecord, &'a str)>,
    planned: usize,
    /// The metric, and its value in each complete run.
    metric: RecordMetric,
    figures: Vec<f64>,
    published: Option<f64>,
}

/// Returns the metric that is shown for a run: the first rate that its document publishes, otherwise the main metric of
/// its workload.
fn metric(record: &RunRecord) -> RecordMetric {
    let published = record.plan.recipe.iter().flat_map(|recipe| &recipe.published);
    let mut rates = published
        .filter_map(|one| RecordMetric::published(&one.metric, Some(record)))
        .filter(|metric| matches!(metric.unit(), Unit::PerSecond | Unit::PerMinute));
    rates.next().unwrap_or_else(|| RecordMetric::headline(std::iter::once(record)))
}

fn rows<'a>(runs: &[SuiteRun<'a>]) -> Vec<Row<'a>> {
    let mut keys: Vec<&str> = Vec::new();
    for run in runs {
        if !keys.contains(&run.cell) {
            keys.push(run.cell);
        }
    }
    keys.into_iter().map(|key| row(key, runs)).collect()
}

fn row<'a>(key: &'a str, runs: &[SuiteRun<'a>]) -> Row<'a> {
    let own = || runs.iter().filter(|run| run.cell == key);
    let ended = || own().filter_map(|run| Some((run.record?, run.failure)));
    let complete: Vec<&RunRecord> = ended().filter(|(_, why)| why.is_none()).map(|(record, _)| record).collect();
    let failed: Vec<_> = ended().filter_map(|(record, why)| Some((record, why?))).collect();
    let first = complete.first().copied().or_else(|| failed.first().map(|(record, _)| *record));
    let metric = first.map_or_else(RecordMetric::tps, metric);
    let value = |record: &&RunRecord| metric.value(record);
    let published =
        first.and_then(|record| record.plan.recipe.as_ref()).into_iter().flat_map(|recipe| &recipe.published);
    Row {
        key,
        ran: first.map_or_else(String::new, ran),
        figures: complete.iter().filter_map(value).collect(),
        complete,
        failed,
        planned: own().count(),
        published: published.into_iter().find(|one| one.metric == metric.name()).map(|one| one.value),
        metric,
    }
}

/// Returns the scale without separators.
fn scale(plan: &Plan) -> String {
    plan.fraction().map_or_else(|| plan.scale.to_string(), str::to_owned)
}

/// Returns `tpcb-like scale 10, 4 clients`.
fn ran(record: &RunRecord) -> String {
    let plan = &record.plan;
    let size = if plan.scale_name.is_empty() {
        String::new()
    } else {
        format!(" {}", units::sized(&plan.scale_name, &scale(plan)))
    };
    let time = plan.drive.time_s.map_or_else(String::new, |time| format!(", {}", units::duration(time)));
    let clients = units::plain_plural(plan.stage_clients().into(), "client");
    format!("{}{size}, {clients}{time}", plan.workload)
}

/// Returns the geometric mean, as comparisons have it, and with several figures their standard deviation divided by it.
fn mean_and_spread(figures: &[f64]) -> (Option<f64>, Option<f64>) {
    let mean = (!figures.is_empty()).then(|| mean(figures));
    let spread = mean.filter(|mean| *mean > 0.0).and_then(|mean| Some(deviation(figures)? / mean));
    (mean, spread)
}

const COLUMNS: [&str; 7] = ["cell", "what ran", "complete", "figure", "mean", "spread", "published"];

fn cells(row: &Row<'_>) -> [String; 7] {
    let (mean, spread) = mean_and_spread(&row.figures);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    [
        row.key.to_owned(),
        row.ran.clone(),
        format!("{} of {}", row.complete.len(), row.planned),
        row.metric.title().to_owned(),
        or_dash(mean.map(units::rate)),
        or_dash(spread.map(|share| format!("± {}", units::percent(share)))),
        or_dash(row.published.map(units::rate)),
    ]
}

/// Returns the table of the suite's runs in columns, for a terminal.
#[must_use]
pub fn text(runs: &[SuiteRun<'_>]) -> String {
    let rows = rows(runs);
    let table: Vec<[String; 7]> = std::iter::once(COLUMNS.map(str::to_owned)).chain(rows.iter().map(cells)).collect();
    let width = |column: usize| table.iter().map(|line| line[column].chars().count()).max().unwrap_or_default();
    // Only recipes have published figures.
    let shown = if rows.iter().any(|row| row.published.is_some()) { 7 } else { 6 };
    let widths: Vec<usize> = (0..shown).map(width).collect();
    let mut text = String::new();
    for line in &table {
        let cell = |(nth, width): (usize, &usize)| {
            let cell = &line[nth];
            if nth < 4 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        };
        text += widths.iter().enumerate().map(cell).collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text += &notes(&rows, "");
    text
}

/// Returns the same as Markdown; `name` is that of the execution.
#[must_use]
pub fn markdown(name: &str, runs: &[SuiteRun<'_>]) -> String {
    let rows = rows(runs);
    let line = |cells: &[String]| {
        format!("| {} |\n", cells.iter().map(|cell| MarkdownText(cell).to_string()).collect::<Vec<_>>().join(" | "))
    };
    let mut text = format!("### suite {}\n\n", MarkdownText(name));
    text += &line(&COLUMNS.map(str::to_owned));
    text += "| --- | --- | --- | --- | ---: | ---: | ---: |\n";
    text.extend(rows.iter().map(|row| line(&cells(row))));
    text + &notes(&rows, "- ")
}

/// Returns the same for programs, with exact figures; `name` is that of the execution.
#[must_use]
pub fn form(name: &str, runs: &[SuiteRun<'_>]) -> SuiteCellsForm {
    let cell = |row: Row<'_>| {
        let (mean, spread) = mean_and_spread(&row.figures);
        CellForm {
            cell: row.key.to_owned(),
            complete: row.complete.iter().map(|record| record.id.clone()).collect(),
            failed: row.failed.iter().map(|(record, _)| record.id.clone()).collect(),
            planned: row.planned,
            metric: row.metric.name().to_owned(),
            mean,
            spread,
            published: row.published,
            ran: row.ran,
        }
    };
    let cells = rows(runs).into_iter().map(cell).collect();
    SuiteCellsForm { format_version: FORMAT_VERSION, suite: name.to_owned(), cells }
}

/// Returns the same as CSV, with exact figures.
#[must_use]
pub fn csv(name: &str, runs: &[SuiteRun<'_>]) -> String {
    let mut text =
        "suite,cell,workload,scale,clients,target,planned,complete,failed,metric,mean,spread,published,runs\n"
            .to_owned();
    for row in rows(runs) {
        let first = row.complete.first().copied().or_else(|| row.failed.first().map(|(record, _)| *record));
        let plan = first.map(|record| &record.plan);
        let (mean, spread) = mean_and_spread(&row.figures);
        let number = |n: Option<f64>| n.map_or_else(String::new, |n| format!("{n:.6}"));
        let fields = [
            name.to_owned(),
            row.key.to_owned(),
            plan.map_or_else(String::new, |plan| plan.workload.clone()),
            plan.map_or_else(String::new, scale),
            plan.map_or_else(String::new, |plan| plan.drive.clients.to_string()),
            plan.map_or_else(String::new, |plan| plan.target.to_string()),
            row.planned.to_string(),
            row.complete.len().to_string(),
            row.failed.len().to_string(),
            row.metric.name().to_owned(),
            number(mean),
            number(spread),
            number(row.published),
            row.complete.iter().map(|record| record.id.as_str()).collect::<Vec<_>>().join(" "),
        ];
        text += &fields.map(|field| quoted(&field)).join(",");
        text.push('\n');
    }
    text
}

/// Returns the conditions under which a recipe's figures were published, and the departures from them.
fn conditions(recipe: &RecipePlan) -> String {
    let published = match recipe.published.is_empty() {
        true => format!("nothing published for {} ({})", recipe.machine, recipe.source),
        false => format!("published on {} ({})", recipe.machine, recipe.source),
    };
    let fitted = recipe
        .fitted
        .as_ref()
        .map(|fitted| format!("fitted here to {} vCPU, {}", fitted.vcpus, units::bytes(fitted.memory_bytes)));
    let shortened = recipe.shortened.as_ref().map(|shortened| format!("times divided by {}", shortened.by));
    let departures = recipe.departures.iter().cloned();
    [Some(published), fitted, shortened].into_iter().flatten().chain(departures).collect::<Vec<_>>().join("; ")
}

/// Returns the machines of the measured and the published figures, and why runs failed; each line starts with `bullet`.
fn notes(rows: &[Row<'_>], bullet: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut add = |line: String| {
        if !lines.contains(&line) {
            lines.push(line);
        }
    };
    for record in rows.iter().flat_map(|row| &row.complete) {
        let client = &record.client;
        let server = record.server.as_ref().map_or_else(String::new, |server| {
            let version = server.version.split(" on ").next().unwrap_or_default();
            let place = if server.local { "the same machine" } else { "another machine" };
            format!(", {version} on {place}")
        });
        add(format!(
            "measured on {} CPUs ({}), {}{server}",
            client.cpus,
            client.cpu,
            units::bytes(client.memory_bytes)
        ));
    }
    for recipe in rows.iter().flat_map(|row| &row.complete).filter_map(|record| record.plan.recipe.as_ref()) {
        add(format!("{}: {}", recipe.name, conditions(recipe)));
    }
    for row in rows {
        for (_, why) in &row.failed {
            add(format!("{}: {why}", row.key));
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    format!("\n{}", lines.iter().map(|line| format!("{bullet}{line}\n")).collect::<String>())
}

#[cfg(test)]
mod tests {
    use pgdyno_plan::{Fitted, Shortened};

    use super::*;

    #[test]
    fn the_spread_is_the_samples_standard_deviation() {
        assert_eq!(mean_and_spread(&[]), (None, None));
        assert_eq!(mean_and_spread(&[7.0]), (Some(7.0), None));
        let (mean, spread) = mean_and_spread(&[9.0, 10.0, 11.0]);
        let rounded = |n: Option<f64>| n.map(|n| (n * 1e3).round());
        assert_eq!((rounded(mean), rounded(spread)), (Some(9967.0), Some(100.0)));
        assert_eq!(mean_and_spread(&[0.0, 0.0]), (Some(0.0), None));
    }

    #[test]
    fn what_was_scaled_and_shortened_is_said() {
        let recipe = RecipePlan {
            machine: "AlloyDB, 16 vCPU".to_owned(),
            source: "a guide".to_owned(),
            fitted: Some(Fitted { vcpus: 2, memory_bytes: 1 << 30, rule: String::new() }),
            shortened: Some(Shortened { by: 20.0, time_s: 3900.0, ramp_s: 0.0 }),
            departures: vec!["clients 8 instead of 48".to_owned()],
            ..RecipePlan::default()
        };
        assert_eq!(
            conditions(&recipe),
            "nothing published for AlloyDB, 16 vCPU (a guide); fitted here to 2 vCPU, 1.0 GiB; times divided by 20; \
             clients 8 instead of 48"
        );
    }

    #[test]
    fn fields_with_commas_are_quoted() {
        assert_eq!(quoted("a,b \"c\""), "\"a,b \"\"c\"\"\"");
    }
}
