//! An A/B experiment, rendered: the verdict first, then the figures of both sides, why, and how sure it is.

pub(crate) mod functions;
pub(crate) mod words;

use std::io::{self, Write};

use pgdyno_results::AbRecord;
use pgdyno_text::wrap;
use pgdyno_untrusted::MarkdownText;

use crate::html;
use words::{Row, lines};

/// Renders the record of an experiment.
pub type RenderExperiment = fn(&AbRecord, &mut dyn Write) -> io::Result<()>;

/// All formats by name.
pub const FORMATS: &[(&str, RenderExperiment)] =
    &[("text", text), ("json", json), ("markdown", markdown), ("html", page)];

/// The renderer of a format.
#[must_use]
pub fn format(name: &str) -> Option<RenderExperiment> {
    FORMATS.iter().find(|(known, _)| *known == name).map(|(_, render)| *render)
}

/// Writes the page.
///
/// # Errors
/// When `out` refuses it.
pub fn page(record: &AbRecord, out: &mut dyn Write) -> io::Result<()> {
    html::ab::write(record, out)
}

fn text(record: &AbRecord, out: &mut dyn Write) -> io::Result<()> {
    wrap::wrapped(out, &format!("{}: {}", record.workload, words::verdict(record)), "  ")?;
    words::sides(record).iter().try_for_each(|line| wrap::hanging(out, "  ", 4, line))?;
    let figures = words::figures(record);
    if !figures.is_empty() {
        aligned(&[vec![Row::heading()], figures].concat(), out)?;
    }
    for (title, rows) in [(words::PARTS, words::parts(record)), (words::STATEMENTS, words::statements(record))] {
        if !rows.is_empty() {
            writeln!(out, "  {title}:")?;
            aligned(&rows, out)?;
        }
    }
    lines(record).iter().try_for_each(|(label, line)| match *label {
        "" => wrap::hanging(out, "  ", 4, line),
        label => wrap::hanging(out, &format!("  {label:4}  "), 8, line),
    })
}

fn aligned(rows: &[Row], out: &mut dyn Write) -> io::Result<()> {
    let width = |of: fn(&Row) -> &str| rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0);
    let (name, a, b) = (width(|row| &row.name), width(|row| &row.a), width(|row| &row.b));
    rows.iter().try_for_each(|row| {
        let line = format!("{:name$}  {:>a$}  {:>b$}   {}", row.name, row.a, row.b, row.change);
        writeln!(out, "  {}", line.trim_end())
    })
}

fn markdown(record: &AbRecord, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### pgdyno ab {}: {}\n", MarkdownText(&record.workload), record.verdict.name())?;
    writeln!(out, "**{}**\n", MarkdownText(&words::verdict(record)))?;
    words::sides(record).iter().try_for_each(|line| writeln!(out, "- {}", MarkdownText(line)))?;
    let rows = |out: &mut dyn Write, title: &str, rows: &[Row]| -> io::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n| {title} | A | B | change |\n| --- | ---: | ---: | --- |")?;
        rows.iter().try_for_each(|row| {
            let [name, a, b, change] = [&row.name, &row.a, &row.b, &row.change].map(|cell| MarkdownText(cell));
            writeln!(out, "| {name} | {a} | {b} | {change} |")
        })
    };
    rows(out, "", &words::figures(record))?;
    rows(out, words::PARTS, &words::parts(record))?;
    rows(out, words::STATEMENTS, &words::statements(record))?;
    writeln!(out)?;
    lines(record).iter().try_for_each(|(label, line)| match *label {
        "" => writeln!(out, "- {}", MarkdownText(line)),
        label => writeln!(out, "- {label}: {}", MarkdownText(line)),
    })
}

fn json(record: &AbRecord, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, record)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_results::{AbFigure, AbPlanChange, AbSide, AbStatement, AbTask, AbTime, AbTimePart, AbUnit, AbVerdict};

    fn record() -> AbRecord {
        AbRecord {
            id: "x-ab-7".to_owned(),
            workload: "tpcb-like".to_owned(),
            a: AbSide { differs: vec!["shared_buffers=1GB".to_owned()], ..AbSide::default() },
            b: AbSide { differs: vec!["shared_buffers=8GB".to_owned()], ..AbSide::default() },
            slice_s: 2.0,
            spent_s: 300.0,
            margin: 0.02,
            confidence: 0.95,
            restarts: true,
            metric: "tps".to_owned(),
            verdict: AbVerdict::Faster,
            change_percent: Some(5.2),
            interval_percent: Some([3.1, 7.3]),
            noise_percent: Some(2.13),
            units: vec![AbUnit::default(); 10],
            ended: Some("decided".to_owned()),
            ..AbRecord::default()
        }
    }

    fn rendered(record: &AbRecord, name: &str) -> String {
        let mut out = Vec::new();
        format(name).unwrap()(record, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_servers_are_named() {
        let of = |target: &str| AbSide { target: Some(target.to_owned()), ..AbSide::default() };
        let one = AbRecord { a: of("host=db1"), b: of("host=db1"), ..record() };
        assert!(rendered(&one, "text").contains("\n  target: host=db1\n"));
        let two = AbRecord { b: of("db2"), ..one };
        assert!(rendered(&two, "text").contains("\n  targets: host=db1, and db2 of B\n"));
    }

    /// A figure with the interval of its change.
    fn figure(name: &str, a: f64, b: f64, [low, high]: [f64; 2]) -> AbFigure {
        let interval_percent = Some([low, high]);
        AbFigure { name: name.to_owned(), a, b, change_percent: (b / a - 1.0) * 100.0, interval_percent }
    }

    /// A part of the clients' time: shares, milliseconds of a transaction, and the interval of their change.
    fn part(name: &str, [a_share, b_share]: [f64; 2], ms: [f64; 2], interval: [f64; 2]) -> AbTimePart {
        let [a_ns, b_ns] = ms.map(|ms| ms * 1e6);
        let time = AbTime { name: name.to_owned(), a_share, b_share, a_ns, b_ns };
        AbTimePart { time, change_ns_interval: Some(interval.map(|ms| ms * 1e6)) }
    }

    /// Commits that no longer wait.
    fn twice_as_fast() -> AbRecord {
        let side = |differs: &str| AbSide { differs: vec![differs.to_owned()], ..AbSide::default() };
        AbRecord {
            a: side("synchronous_commit=on"),
            b: side("synchronous_commit=off"),
            change_percent: Some(114.13),
            interval_percent: Some([98.0, 132.0]),
            detectable_percent: Some(5.04),
            units: vec![AbUnit::default(); 5],
            spent_s: 55.0,
            figures: vec![
                figure("tps", 460.0, 985.0, [98.0, 132.0]),
                figure("p99", 47_000_000.0, 16_000_000.0, [-71.0, -60.0]),
            ],
            clients_time: vec![
                part("WAL flush", [0.65, 0.04], [5.65, 0.16], [-5.6, -5.4]),
                part("CPU", [0.3, 0.88], [2.6, 3.57], [0.8, 1.1]),
                part("driver", [0.05, 0.06], [0.4, 0.3], [-0.2, 0.1]),
            ],
            ..record()
        }
    }

    #[test]
    fn the_verdict_comes_first_then_both_sides_and_why() {
        let text = rendered(&twice_as_fast(), "text");
        let expected = "\
tpcb-like: B is 2.1 times as fast as A (95 %: 2.0 to 2.3)
  synchronous_commit on → off
              A      B   change
  TPS     460.0  985.0   +114.1 %  (+98.0 % to +132.0 %)
  p99 ms   47.0   16.0   -66.0 %  (-71.0 % to -60.0 %)
  share of the clients' time, and time in each transaction:
  WAL flush  65 %  4.0 %   -5.49 ms  (-5.60 to -5.40)
  CPU        30 %   88 %   +0.970 ms  (+0.800 to +1.10)
  why   WAL flush: 5.65 ms of each transaction on A, 0.160 ms on B; the largest
        part of B's time is now CPU (88 %)
  sure  5 units, noise 2.1 %, 55 s; a difference of 5.0 % would have been found
        in 4 of 5 cases
  how   each unit is four slices of 2.0 s in turns, both servers restarted
        before
";
        assert_eq!(text, expected, "{text}");
    }

    #[test]
    fn differences_of_one_value_are_one_line_and_those_of_a_connection_string_two() {
        let side = |differs: &str| AbSide { differs: vec![differs.to_owned()], ..AbSide::default() };
        let sides = |a, b| words::sides(&AbRecord { a: side(a), b: side(b), ..record() });
        assert_eq!(sides("work_mem=4MB", "work_mem=8MB"), ["work_mem 4MB → 8MB"]);
        assert_eq!(sides("target=host=a port=1", "target=host=b"), ["A: target=host=a port=1", "B: target=host=b"]);
        assert_eq!(sides("work_mem=4MB", "jit=off"), ["A: work_mem=4MB", "B: jit=off"]);
    }

    #[test]
    fn the_widest_names_and_figures_fit_into_80_columns() {
        let mut wide = twice_as_fast();
        wide.figures[0] = figure("tps", 1_234_567.0, 98_765.0, [-93.2, -91.1]);
        wide.clients_time[0].time.name = "server: on a CPU or queued for one".to_owned();
        let text = rendered(&wide, "text");
        assert!(
            text.contains("on a CPU or queued for one ") && text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
    }

    #[test]
    fn a_reason_is_given_only_for_a_difference_that_a_part_makes() {
        let why = |record: &AbRecord| {
            let text = rendered(record, "text");
            text.lines().find_map(|line| line.strip_prefix("  why   ")).map(str::to_owned)
        };
        // The part that grew most shrank in fact, or may have stayed.
        let slower = AbRecord { verdict: AbVerdict::Slower, change_percent: Some(-50.0), ..twice_as_fast() };
        let slower = AbRecord {
            clients_time: vec![
                part("WAL flush", [0.5, 0.1], [1.0, 0.2], [-1.2, -0.6]),
                part("CPU", [0.5, 0.9], [1.0, 3.0], [-0.1, 4.1]),
            ],
            ..slower
        };
        assert_eq!(why(&slower).unwrap(), "no single part of the clients' time makes the difference");
        let equal = AbRecord { verdict: AbVerdict::NoDifference, ..twice_as_fast() };
        assert_eq!(why(&equal), None);
        let unknown = AbRecord { clients_time: Vec::new(), ..twice_as_fast() };
        assert_eq!(why(&unknown), None);
    }

    #[test]
    fn a_verdict_is_said_as_people_say_it() {
        let said = |verdict, change: f64, interval| {
            let record =
                AbRecord { verdict, change_percent: Some(change), interval_percent: Some(interval), ..record() };
            words::verdict(&record)
        };
        assert_eq!(said(AbVerdict::Faster, 5.2, [3.1, 7.3]), "B is 5.2 % faster than A (95 %: 3.1 % to 7.3 %)");
        assert_eq!(said(AbVerdict::Slower, -5.2, [-7.3, -3.1]), "B is 5.2 % slower than A (95 %: 3.1 % to 7.3 %)");
        assert_eq!(
            said(AbVerdict::Slower, -50.0, [-60.0, -40.0]),
            "B is slower: A is 2.0 times as fast (95 %: 1.7 to 2.5)"
        );
        // Of a time, less is faster.
        assert_eq!(
            said(AbVerdict::Faster, -12.0, [-14.0, -10.0]),
            "B is faster: it takes 12.0 % less time than A (95 %: 10.0 % to 14.0 %)"
        );
        assert_eq!(
            said(AbVerdict::Slower, 100.0, [80.0, 120.0]),
            "B is slower: A is 2.0 times as fast (95 %: 1.8 to 2.2)"
        );
        assert_eq!(
            said(AbVerdict::NoDifference, 0.3, [-0.9, 1.5]),
            "no difference larger than 2 % (95 %: -0.90 % to +1.5 %)"
        );
        assert_eq!(
            said(AbVerdict::Undecided, 3.0, [-2.0, 8.0]),
            "cannot tell: TPS +3.0 % so far (95 %: -2.0 % to +8.0 %)"
        );
        let few = AbRecord {
            verdict: AbVerdict::Undecided,
            change_percent: None,
            figures: vec![AbFigure { interval_percent: None, ..figure("tps", 100.0, 104.0, [0.0, 0.0]) }],
            ..record()
        };
        assert_eq!(words::verdict(&few), "cannot tell: TPS +4.0 % so far; too few units for an interval");
    }

    #[test]
    fn tasks_that_changed_are_named_with_their_intervals() {
        let task = |name: &str, change_percent, verdict| AbTask {
            name: name.to_owned(),
            change_percent,
            interval_percent: [change_percent - 2.0, change_percent + 2.0],
            verdict,
        };
        let record = AbRecord {
            whole_runs: true,
            tasks: vec![
                task("q1", -12.0, AbVerdict::Faster),
                task("q2", 0.1, AbVerdict::Undecided),
                task("q18", 30.0, AbVerdict::Slower),
            ],
            ..record()
        };
        let text = rendered(&record, "text");
        assert!(text.contains("each unit is four runs in turns"), "{text}");
        assert!(
            text.contains(
                "  q18 is slower: +30.0 %, interval +28.0 % to +32.0 %\n  q1 is faster: -12.0 %, interval -14.0 %"
            ),
            "{text}"
        );
        assert!(text.contains("of 3 tasks 2 changed, 0 by less than 2 %, and of 1 it cannot tell"), "{text}");
    }

    #[test]
    fn what_cannot_be_decided_says_what_more_time_would_bring() {
        let mut record = record();
        (record.verdict, record.ended) = (AbVerdict::Undecided, Some("budget".to_owned()));
        let text = rendered(&record, "text");
        assert!(text.contains("the first verdict comes after 4 units"), "{text}");
        (record.looks, record.units_for_power) = (3, Some(40));
        let text = rendered(&record, "markdown");
        assert!(text.contains("- about 40 units (20 min 0 s) decide in 4 of 5 cases"), "{text}");
        assert!(text.contains("pgdyno ab --resume x-ab-7"), "{text}");
        assert!(text.contains("- stopped: budget exhausted"), "{text}");
    }

    #[test]
    fn statements_and_plans_are_shown_if_they_moved() {
        let mut record = record();
        assert!(!rendered(&record, "text").contains("statements"));
        let statement = |sql: &str, a_ns, b_ns, change_ns_interval| AbStatement {
            sql: sql.to_owned(),
            transaction: None,
            a_ns,
            b_ns,
            change_ns_interval: Some(change_ns_interval),
        };
        let long = "UPDATE pgbench_branches\n  SET bbalance = bbalance + $1 WHERE bid = $2";
        record.statements = vec![
            statement("BEGIN", 1e6, 1.001e6, [0.9e3, 1.1e3]),
            statement(long, 2e6, 0.5e6, [-1.6e6, -1.4e6]),
            statement("SELECT 1", 1e6, 1.5e6, [-0.1e6, 1.1e6]),
        ];
        let plan = |nth: usize| AbPlanChange {
            statement: format!("SELECT {nth}"),
            changes: vec!["Seq Scan on t → Index Scan using t_pkey on t".to_owned()],
        };
        record.plans = (1..=5).map(plan).collect();
        let text = rendered(&record, "text");
        let row = "  time of statements in each transaction, ms:\n  UPDATE pgbench_branches S…  2.00  0.500   -1.50  (-1.60 to -1.40)\n";
        assert!(text.contains(row), "{text}");
        assert!(!text.contains("BEGIN") && !text.contains("SELECT 1  "), "too little, and not sure: {text}");
        assert!(text.contains("  plan  SELECT 1: Seq Scan on t → Index Scan using t_pkey on t\n"), "{text}");
        assert!(text.contains("  plan  2 more plans changed; the record names all\n"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let markdown = rendered(&record, "markdown");
        assert!(markdown.contains("| UPDATE pgbench"), "{markdown}");
    }
}
