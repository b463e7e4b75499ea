//! Renders a search for the highest load: the limit with its interval, the knee and the curve.

pub(crate) mod curve;
mod deciding;
mod plot;

use std::io::{self, Write};

use pgdyno_results::table::quoted;
use pgdyno_results::{KindFigure, SearchPoint, SearchRecord, SearchStatus};
use pgdyno_text::{units, wrap};
use pgdyno_untrusted::MarkdownText;

use crate::html;
use curve::{LoadCurve, LoadSign};
pub use deciding::{miss, scatter};

/// Renders the record of a search.
pub type RenderSearch = fn(&SearchRecord, &mut dyn Write) -> io::Result<()>;

/// All formats by name.
pub const FORMATS: &[(&str, RenderSearch)] =
    &[("text", text), ("json", json), ("csv", csv), ("markdown", markdown), ("html", page)];

/// Returns the renderer of a format.
#[must_use]
pub fn format(name: &str) -> Option<RenderSearch> {
    FORMATS.iter().find(|(known, _)| *known == name).map(|(_, render)| *render)
}

/// Writes the page.
///
/// # Errors
/// When `out` refuses it.
pub fn page(record: &SearchRecord, out: &mut dyn Write) -> io::Result<()> {
    html::search::write(record, out)
}

/// Columns of a load's figures in the text.
const FIGURES: usize = 58;

/// The columns of [`rows`].
pub const HEADER: [&str; 7] = ["offered", "achieved/s", "p50 ms", "p99 ms", "failed", "repeats", "verdict"];

/// Returns a load as text: `5,000/s`, `8 clients`.
#[must_use]
pub fn load(by: &str, load: f64) -> String {
    match by {
        "rate" => format!("{}/s", units::rate(load)),
        _ => format!("{} client{}", units::grouped(load), if load == 1.0 { "" } else { "s" }),
    }
}

/// Returns the answer in a line.
#[must_use]
pub fn answer(record: &SearchRecord) -> String {
    let objectives = record.objectives.join(", ");
    let highest = if record.by == "rate" { "highest rate" } else { "most clients" };
    match (record.status, record.kept) {
        (SearchStatus::Undecided, _) => undecided(record),
        (SearchStatus::NoneKept, None) if !is_lowest_missed(record) => undecided(record),
        (SearchStatus::NoneKept, _) => format!("no tested load met {objectives}"),
        (SearchStatus::Found, Some(kept)) => format!("{highest} with {objectives}: {}", load(&record.by, kept)),
        (status, Some(kept)) => {
            format!("{}; {highest} with {objectives} so far: {}", status.name(), load(&record.by, kept))
        }
        (status, None) => status.name().to_owned(),
    }
}

fn undecided(record: &SearchRecord) -> String {
    record.reason.as_ref().map_or_else(|| "undecided".to_owned(), |reason| format!("undecided: {reason}"))
}

/// Returns true if the runs of the lowest load show that it misses the objectives. Version 0.2.0 did not tell that from an
/// undecided search.
fn is_lowest_missed(record: &SearchRecord) -> bool {
    record.points.first().is_some_and(|point| point.verdict == "broken")
}

/// Returns what there is to say beside the [`answer`], in sentences.
#[must_use]
pub fn findings(record: &SearchRecord) -> Vec<String> {
    let word = |n| load(&record.by, n);
    let mut lines = Vec::new();
    match (record.status, record.kept, record.broken) {
        (SearchStatus::NoneKept | SearchStatus::Undecided, ..) | (_, None, _) => {}
        (_, Some(kept), Some(broken)) => lines.push(format!(
            "the limit lies between {} and {} (+{})",
            word(kept),
            word(broken),
            units::percent(broken / kept - 1.0)
        )),
        (_, Some(kept), None) if record.max == Some(kept) => {
            lines.push("the highest load tested met it: give a higher --max".to_owned());
        }
        (_, Some(_), None) => lines.push("no tested load missed it".to_owned()),
    }
    let is_answer = record.reason.as_ref().is_some_and(|reason| answer(record).ends_with(reason.as_str()));
    lines.extend(record.reason.clone().filter(|_| !is_answer));
    if let Some(drift) = record.drift_percent {
        let way = if drift > 0.0 { "worse" } else { "better" };
        lines.push(format!(
            "drift: at the same load the figure that decides got {:.0} % {way} while the search went on; the limit is that of its end",
            drift.abs()
        ));
    }
    if let Some(knee) = record.knee {
        let edge = match (record.points.first(), record.points.last()) {
            (Some(first), _) if first.load == knee => ", the lowest load measured: it may lie lower",
            (_, Some(last)) if last.load == knee => ", the highest load measured: it may lie higher",
            _ => "",
        };
        lines.push(format!("knee: {} (greatest throughput / response time{edge})", word(knee)));
    }
    if let Some(capacity) = record.capacity_tps {
        lines.push(format!("closed loop: {} TPS", units::rate(capacity)));
    }
    lines
}

/// Returns the loads that were measured, a row for each.
#[must_use]
pub fn rows(record: &SearchRecord) -> Vec<[String; 7]> {
    record.points.iter().map(|point| row(&record.by, point)).collect()
}

/// Returns whether a load meets the objectives, in the words of reports.
#[must_use]
pub fn verdict(point: &SearchPoint) -> &'static str {
    LoadSign::of(point).name()
}

/// Returns the figures that the verdict on a load rests on: those of one kind of transactions if an objective names it,
/// else the p99 of all.
#[must_use]
pub fn figures(point: &SearchPoint) -> String {
    match &point.of_kinds[..] {
        [] => format!("p99 {} ms", units::ms(point.response_latency_ns_p99.unwrap_or_default() as u64)),
        of_kinds => of_kinds.iter().map(of_kind).collect::<Vec<_>>().join(", "),
    }
}

fn of_kind(figure: &KindFigure) -> String {
    match (figure.latency_ns, figure.failed_share) {
        (Some(ns), _) => format!("{} {} ms", figure.name, units::ms(ns as u64)),
        (None, Some(share)) => format!("{} {}", figure.name, units::small_percent(share)),
        (None, None) => format!("{} -", figure.name),
    }
}

fn row(by: &str, point: &SearchPoint) -> [String; 7] {
    let ms = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), |ns| units::ms(ns as u64));
    let mut reported = verdict(point).to_owned();
    if let Some(overload) = &point.overload {
        reported += &match point.overloaded < point.repeats {
            true => format!(" ({} of {} runs: {overload})", point.overloaded, point.repeats),
            false => format!(": {overload}"),
        };
    }
    if !point.of_kinds.is_empty() {
        reported += &format!("; {}", figures(point));
    }
    [
        load(by, point.load),
        units::rate(point.achieved_per_s),
        ms(point.response_latency_ns_p50),
        ms(point.response_latency_ns_p99),
        units::small_percent(point.failed_share),
        point.repeats.to_string(),
        reported,
    ]
}

fn text(record: &SearchRecord, out: &mut dyn Write) -> io::Result<()> {
    wrap::wrapped(out, &answer(record), "  ")?;
    let subject = format!("{} on {}, {}", record.workload, record.target, record.id);
    for line in findings(record).iter().chain([&subject]) {
        wrap::wrapped(out, &format!("  {line}"), "    ")?;
    }
    if let Some(curve) = LoadCurve::of(record) {
        writeln!(out)?;
        plot::write(&curve, &record.by, out)?;
    }
    writeln!(out)?;
    for row in std::iter::once(HEADER.map(str::to_owned)).chain(rows(record)) {
        let [offered, achieved, p50, p99, failed, repeats, verdict] = row;
        let figures = format!("{offered:>12} {achieved:>11} {p50:>7} {p99:>7} {failed:>7} {repeats:>7}  ");
        wrap::hanging(out, &figures, FIGURES, &verdict)?;
    }
    Ok(())
}

fn markdown(record: &SearchRecord, out: &mut dyn Write) -> io::Result<()> {
    let [workload, target] = [&record.workload, &record.target].map(|text| MarkdownText(text));
    writeln!(out, "**{}**\n\n{workload} on {target}\n", MarkdownText(&answer(record)))?;
    for line in findings(record) {
        writeln!(out, "- {}", MarkdownText(&line))?;
    }
    writeln!(out, "\n| {} |\n| ---: | ---: | ---: | ---: | ---: | ---: | --- |", HEADER.join(" | "))?;
    for row in rows(record) {
        writeln!(out, "| {} |", row.map(|cell| MarkdownText(&cell).to_string()).join(" | "))?;
    }
    Ok(())
}

fn json(record: &SearchRecord, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, record)?;
    writeln!(out)
}

fn csv(record: &SearchRecord, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "search,by,load,verdict,repeats,overloaded,achieved_per_s,failed_share,response_latency_ns_mean,\
         response_latency_ns_p50,response_latency_ns_p99"
    )?;
    let number = |n: Option<f64>| n.map_or_else(String::new, |n| format!("{n:.0}"));
    for point in &record.points {
        writeln!(
            out,
            "{},{},{},{},{},{},{:.3},{:.6},{},{},{}",
            quoted(&record.id),
            quoted(&record.by),
            point.load,
            quoted(&point.verdict),
            point.repeats,
            point.overloaded,
            point.achieved_per_s,
            point.failed_share,
            number(point.response_latency_ns_mean),
            number(point.response_latency_ns_p50),
            number(point.response_latency_ns_p99)
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use pgdyno_results::RunFigures;

    use super::*;

    fn record() -> SearchRecord {
        let point = |load: f64, verdict: &str, p99: f64| SearchPoint {
            load,
            verdict: verdict.to_owned(),
            repeats: 2,
            achieved_per_s: load - 0.5,
            response_latency_ns_mean: Some(p99 / 2.0),
            response_latency_ns_p50: Some(p99 / 3.0),
            response_latency_ns_p99: Some(p99),
            ..SearchPoint::default()
        };
        let started = jiff::Timestamp::UNIX_EPOCH;
        let mut record = SearchRecord::begin("a-search".into(), started, "noop".into(), "none".into(), "rate");
        record.status = SearchStatus::Found;
        record.reason = None;
        record.objectives = vec!["p99 < 10ms".to_owned()];
        (record.kept, record.broken, record.knee) = (Some(1000.0), Some(1050.0), Some(500.0));
        record.capacity_tps = Some(1234.0);
        record.points = vec![
            point(500.0, "kept", 1e6),
            point(1000.0, "kept", 9e6),
            point(1025.0, "cannot tell", 10e6),
            point(1050.0, "broken", 2e7),
        ];
        record.points[3].overloaded = 2;
        (record.points[1].overloaded, record.points[1].overload) = (1, Some("the queue grows".to_owned()));
        record.points[3].overload = Some("97.0 % of the offered load were achieved".to_owned());
        record
    }

    fn rendered(name: &str) -> String {
        let mut bytes = Vec::new();
        format(name).unwrap()(&record(), &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn text_says_the_limit_its_interval_the_knee_and_the_curve() {
        insta::assert_snapshot!(rendered("text"), @r"
        highest rate with p99 < 10ms: 1,000/s
          the limit lies between 1,000/s and 1,050/s (+5.0 %)
          knee: 500.0/s (greatest throughput / response time, the lowest load measured:
            it may lie lower)
          closed loop: 1,234 TPS
          noop on none, a-search

          p99 in ms by transactions/s offered, ms logarithmic
          o met   x not met   ? undecided   - - p99 < 10ms
          20 │                                                                      x
             │
          10 │- - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - - ? - -
             │                                                                  o
           5 │
             │
             │
           2 │
             │
           1 │                                 o
             └┴────────────────────────────────┴────────────────────────────────┴───────
              0                               500                             1,000

             offered  achieved/s  p50 ms  p99 ms  failed repeats  verdict
             500.0/s       499.5   0.333    1.00   0.0 %       2  met
             1,000/s       999.5    3.00    9.00   0.0 %       2  met (1 of 2 runs: the
                                                                  queue grows)
             1,025/s       1,025    3.33    10.0   0.0 %       2  undecided
             1,050/s       1,050    6.67    20.0   0.0 %       2  not met: 97.0 % of the
                                                                  offered load were
                                                                  achieved
        ");
    }

    #[test]
    fn figures_of_a_kind_of_transactions_stand_beside_the_verdict() {
        let mut record = record();
        record.objectives = vec!["new-order p99 < 20ms".to_owned(), "payment errors < 1%".to_owned()];
        for point in &mut record.points {
            let p99 = KindFigure { name: "new-order p99".to_owned(), latency_ns: Some(12.3e6), failed_share: None };
            let errors = KindFigure { name: "payment errors".to_owned(), latency_ns: None, failed_share: Some(0.002) };
            point.of_kinds = vec![p99, errors];
        }
        assert_eq!(rows(&record)[0][6], "met; new-order p99 12.3 ms, payment errors 0.20 %");
        assert_eq!(figures(&record.points[0]), "new-order p99 12.3 ms, payment errors 0.20 %");
        record.target = "host=a-host-with-a-long-name port=5432 dbname=bench user=someone".to_owned();
        let mut bytes = Vec::new();
        text(&record, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn signs_differ_in_shape_and_the_drawing_has_80_columns_whatever_the_loads() {
        let mut record = record();
        for (nth, point) in record.points.iter_mut().enumerate() {
            let p99 = point.response_latency_ns_p99.unwrap();
            point.load = [1.0, 80.0, 900.0, 1_234_567.0][nth];
            let latency_ns = vec![p99 / 9.0, p99, p99 * 9.0];
            point.of_runs = vec![RunFigures { name: "p99".to_owned(), latency_ns, failed_share: Vec::new() }];
        }
        let mut bytes = Vec::new();
        text(&record, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("p99 in ms by transactions/s offered, both logarithmic"), "{text}");
        assert!(text.contains("o met   x not met   ? undecided   | range of its runs   - - p99 < 10ms"), "{text}");
        let drawing: Vec<&str> = text.lines().filter(|line| line.contains('│')).collect();
        let all = drawing.concat();
        assert_eq!(['o', 'x', '?'].map(|sign| all.matches(sign).count()), [2, 1, 1], "{text}");
        assert!(drawing.iter().any(|line| line.starts_with("   10 │-|- - -")), "{text}");
        assert!(drawing.len() <= 12 && all.contains('|'), "{text}");
    }

    #[test]
    fn an_undecided_search_is_not_one_that_found_nothing() {
        let reason = Some("p99 scatters between 15.0 and 162 ms at 500.0/s; use -T 60".to_owned());
        let none = SearchRecord { kept: None, broken: None, drift_percent: None, reason, ..record() };
        let undecided = SearchRecord { status: SearchStatus::Undecided, ..none.clone() };
        assert_eq!(answer(&undecided), "undecided: p99 scatters between 15.0 and 162 ms at 500.0/s; use -T 60");
        assert_eq!(findings(&undecided).iter().filter(|line| line.contains("scatters")).count(), 0, "said once");
        let mut missed = SearchRecord { status: SearchStatus::NoneKept, ..none };
        missed.points.drain(..3);
        assert_eq!(answer(&missed), "no tested load met p99 < 10ms");
        // Version 0.2.0 had one status for both.
        missed.points[0].verdict = "cannot tell".to_owned();
        missed.reason = Some("noise hides whether 500.0/s meets it".to_owned());
        assert_eq!(answer(&missed), "undecided: noise hides whether 500.0/s meets it");
        let ended = SearchRecord { status: SearchStatus::Interrupted, ..record() };
        assert_eq!(answer(&ended), "interrupted; highest rate with p99 < 10ms so far: 1,000/s");
    }

    #[test]
    fn a_drift_is_reported_with_its_size_and_its_way() {
        for (percent, words) in [(34.7, "got 35 % worse while"), (-12.0, "got 12 % better while")] {
            let lines = findings(&SearchRecord { drift_percent: Some(percent), ..record() });
            assert!(lines.iter().any(|line| line.contains(words)), "{lines:?}");
        }
    }

    #[test]
    fn markdown_has_the_same() {
        insta::assert_snapshot!(rendered("markdown"), @r"
        **highest rate with p99 &lt; 10ms: 1,000/s**

        noop on none

        - the limit lies between 1,000/s and 1,050/s (+5.0 %)
        - knee: 500.0/s (greatest throughput / response time, the lowest load measured: it may lie lower)
        - closed loop: 1,234 TPS

        | offered | achieved/s | p50 ms | p99 ms | failed | repeats | verdict |
        | ---: | ---: | ---: | ---: | ---: | ---: | --- |
        | 500.0/s | 499.5 | 0.333 | 1.00 | 0.0 % | 2 | met |
        | 1,000/s | 999.5 | 3.00 | 9.00 | 0.0 % | 2 | met (1 of 2 runs: the queue grows) |
        | 1,025/s | 1,025 | 3.33 | 10.0 | 0.0 % | 2 | undecided |
        | 1,050/s | 1,050 | 6.67 | 20.0 | 0.0 % | 2 | not met: 97.0 % of the offered load were achieved |
        ");
    }

    #[test]
    fn csv_and_json_are_for_programs() {
        let csv = rendered("csv");
        let columns: Vec<_> = csv.lines().map(|line| line.split(',').count()).collect();
        assert_eq!(columns, [11; 5]);
        let read: SearchRecord = serde_json::from_str(&rendered("json")).unwrap();
        assert_eq!(read, record());
    }
}
