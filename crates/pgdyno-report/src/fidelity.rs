//! How far a run represents the captured load that its workload was fitted to: captured beside run, statement by statement.

use std::io::{self, Write};

use pgdyno_results::{CallRecord, FidelityRecord, FidelityStatementRecord};
use pgdyno_text::brief;
use pgdyno_text::paint::Paint;
use pgdyno_text::wrap::{self, COLUMNS, LABEL, clipped};
use pgdyno_untrusted::MarkdownText;

/// Statements that the summary names.
const NAMED_MAX: usize = 3;

/// The share of the captured time of other statements that is worth a word.
const OTHERS_MIN: f64 = 0.01;

/// Blocks read of a call that are worth a word.
const READ_MIN: f64 = 0.01;

/// Columns before the name of a statement.
const FIGURES: usize = 56;

/// A figure of a call: its heading, and its value.
type CallFigure = (&'static str, fn(&CallRecord) -> f64);

/// The figures of a call, the compared ones first.
const CALL_FIGURES: [CallFigure; 7] = [
    ("rows", |call| call.rows_per_call),
    ("blocks", |call| call.blocks_per_call),
    ("ms", |call| call.time_ms_per_call),
    ("blocks read", |call| call.read_blocks_per_call),
    ("temp blocks", |call| call.temp_blocks_per_call),
    ("WAL bytes", |call| call.wal_bytes_per_call),
    ("calls/s", |call| call.calls_per_s),
];

/// What is compared, in words.
pub(crate) const NOTE: &str = "A statement is representative if rows and blocks of a call are within a factor of 2 of the captured ones. Time is not \
                               compared: hardware differs.";

/// Returns how much of a captured load is represented, in a sentence. Shares are from 0 to 1.
#[must_use]
pub fn headline(time_share: f64, calls_share: f64) -> String {
    format!(
        "{} of the captured time and {} of the calls are representative (rows and blocks of a call within a factor of 2)",
        brief::percent(time_share),
        brief::percent(calls_share)
    )
}

/// Returns how much of the captured time other statements have than these, which have this share of it, if that is worth a word.
#[must_use]
pub fn others(share: f64) -> Option<String> {
    let rest = 1.0 - share;
    (rest >= OTHERS_MIN).then(|| {
        format!(
            "Statements that are not in the workload took {} of the captured time: see REFUSED in pgdyno capture show, and --time-share of \
             pgdyno fit",
            brief::percent(rest)
        )
    })
}

/// Returns this sentence for a run.
fn others_of(fidelity: &FidelityRecord) -> Option<String> {
    others(fidelity.statements.iter().map(|statement| statement.time_percent / 100.0).sum())
}

/// Returns the sentence of a run.
pub(crate) fn answer(fidelity: &FidelityRecord) -> String {
    headline(fidelity.time_percent / 100.0, fidelity.calls_percent / 100.0)
}

/// Writes the answer, and the first statements that are not represented.
pub(crate) fn text(fidelity: &FidelityRecord, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    wrap::entry(out, paint, "CAPTURE", &answer(fidelity))?;
    for statement in fidelity.unlike().take(NAMED_MAX) {
        let mark = format!("{:LABEL$}{} ", "", paint.yellow("!"));
        wrap::hanging(out, &mark, LABEL + 2, &unlike(statement))?;
    }
    let more = fidelity.unlike().count().saturating_sub(NAMED_MAX);
    if more > 0 {
        let are = if more == 1 { "is" } else { "are" };
        wrap::entry(out, paint, "", &format!("{more} more {are} not representative (-v)"))?;
    }
    others_of(fidelity).map_or(Ok(()), |others| wrap::entry(out, paint, "", &others))
}

/// Returns what is said below the table: of the time of other statements, and of the blocks read.
pub(crate) fn notes(fidelity: &FidelityRecord) -> Vec<String> {
    others_of(fidelity).into_iter().chain(reads(fidelity)).collect()
}

/// Returns why a statement is not represented, with its share of the captured time.
fn unlike(statement: &FidelityStatementRecord) -> String {
    let captured = &statement.captured;
    let why = match (&statement.run, &statement.left_out) {
        (None, Some(why)) => format!("left out by the fit: {}", wrap::one_line(why)),
        (None, None) => "not executed in this run".to_owned(),
        (Some(run), _) => format!(
            "{} rows and {} blocks a call, captured {} and {}",
            brief::number(run.rows_per_call),
            brief::number(run.blocks_per_call),
            brief::number(captured.rows_per_call),
            brief::number(captured.blocks_per_call)
        ),
    };
    format!("{} ({} of the time): {why}", statement.script, brief::percent(statement.time_percent / 100.0))
}

/// Writes all statements.
pub(crate) fn table(fidelity: &FidelityRecord, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n  time  rows/call       blocks/call     ms/call         statement")?;
    writeln!(out, "        captured run    captured run    captured run")?;
    for statement in &fidelity.statements {
        let cells: String = CALL_FIGURES
            .iter()
            .take(3)
            .map(|figure| pair(statement, figure))
            .map(|[captured, run]| format!("{captured:<8} {run:<6} "))
            .collect();
        let name = format!("{}{}", if statement.is_representative { "" } else { "! " }, statement.script);
        let name = clipped(&name, COLUMNS - FIGURES);
        writeln!(out, "{:>6}  {cells}{name}", brief::percent(statement.time_percent / 100.0))?;
    }
    match reads(fidelity) {
        Some(reads) => wrap::hanging(out, "        ", 8, &reads),
        None => Ok(()),
    }
}

/// Returns the blocks of a call that the first statements read into shared buffers, captured beside run; `None` if these are few.
fn reads(fidelity: &FidelityRecord) -> Option<String> {
    let pair = |statement: &FidelityStatementRecord| {
        let (captured, run) = (statement.captured.read_blocks_per_call, statement.run?.read_blocks_per_call);
        let figures = format!("{} and {}", brief::number(captured), brief::number(run));
        (captured.max(run) >= READ_MIN).then(|| format!("{} {figures}", statement.script.trim_end_matches(".sql")))
    };
    let all: Vec<_> = fidelity.statements.iter().filter_map(pair).take(NAMED_MAX).collect();
    let buffers = match (&fidelity.captured_shared_buffers, &fidelity.run_shared_buffers) {
        (Some(captured), Some(run)) if captured != run => {
            format!(". They depend on shared_buffers, which were {captured} and are {run}")
        }
        _ => String::new(),
    };
    (!all.is_empty()).then(|| format!("Blocks read a call, captured and run: {}{buffers}", all.join(", ")))
}

/// Returns what was captured and what the run did.
fn pair(statement: &FidelityStatementRecord, (_, value): &CallFigure) -> [String; 2] {
    let run = statement.run.as_ref().map_or_else(|| "-".to_owned(), |run| brief::number(value(run)));
    [brief::number(value(&statement.captured)), run]
}

/// Returns the headings of the whole table.
pub(crate) fn headings() -> Vec<String> {
    let figures = CALL_FIGURES.iter().flat_map(|(name, _)| [format!("{name}, captured"), format!("{name}, run")]);
    ["statement", "time", "calls"].map(str::to_owned).into_iter().chain(figures).collect()
}

/// Returns the cells of each statement.
pub(crate) fn rows(fidelity: &FidelityRecord) -> Vec<Vec<String>> {
    let row = |statement: &FidelityStatementRecord| {
        let mark = if statement.is_representative { "" } else { " (not representative)" };
        let shares = [statement.time_percent, statement.calls_percent].map(|percent| brief::percent(percent / 100.0));
        let figures = CALL_FIGURES.iter().flat_map(|figure| pair(statement, figure));
        [format!("{}{mark}", statement.script)].into_iter().chain(shares).chain(figures).collect()
    };
    fidelity.statements.iter().map(row).collect()
}

/// Writes the answer and the table as Markdown.
pub(crate) fn markdown(fidelity: &FidelityRecord, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}\n", MarkdownText(&answer(fidelity)))?;
    let headings = headings();
    writeln!(out, "| {} |\n| --- |{}", headings.join(" | "), " ---: |".repeat(headings.len() - 1))?;
    for cells in rows(fidelity) {
        let cells: Vec<_> = cells.iter().map(|cell| MarkdownText(cell).to_string()).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    notes(fidelity).iter().try_for_each(|note| writeln!(out, "\n{}", MarkdownText(&format!("{note}."))))?;
    writeln!(out)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns the fidelity of a run that represents one of three statements.
    pub(crate) fn fidelity() -> FidelityRecord {
        let call = |rows_per_call, blocks_per_call| CallRecord {
            calls_per_s: 10.0,
            rows_per_call,
            blocks_per_call,
            read_blocks_per_call: blocks_per_call / 10.0,
            ..CallRecord::default()
        };
        let statement = |script: &str, time_percent, captured, run: Option<CallRecord>, is_representative| {
            FidelityStatementRecord {
                script: script.to_owned(),
                text: "select 1".to_owned(),
                time_percent,
                calls_percent: 30.0,
                is_representative,
                left_out: None,
                captured,
                run,
            }
        };
        FidelityRecord {
            database: "shop".to_owned(),
            captured_shared_buffers: Some("8MB".to_owned()),
            run_shared_buffers: Some("128MB".to_owned()),
            time_percent: 80.0,
            calls_percent: 30.0,
            statements: vec![
                statement("01-select-orders.sql", 80.0, call(1.0, 1500.0), Some(call(1.0, 1490.0)), true),
                statement("02-<b>|x.sql", 15.0, call(1.0, 4.0), Some(call(900.0, 60.0)), false),
                statement("03-update-t.sql", 5.0, call(0.0, 3.0), None, false),
            ],
            ..FidelityRecord::default()
        }
    }

    #[test]
    fn what_is_not_represented_is_named_with_its_figures() {
        let mut out = Vec::new();
        text(&fidelity(), &Paint(false), &mut out).unwrap();
        table(&fidelity(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.starts_with("CAPTURE 80 % of the captured time and 30 % of the calls are representative"),
            "{text}"
        );
        let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let unlike = "! 02-<b>|x.sql (15 % of the time): 900 rows and 60 blocks a call, captured 1.0 and 4.0";
        assert!(joined.contains(unlike), "{text}");
        assert!(text.contains("! 03-update-t.sql (5.0 % of the time): not executed in this run"), "{text}");
        assert!(text.contains("  80 %  1.0      1.0    1,500    1,490  "), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS), "{text}");
        let reads = "Blocks read a call, captured and run: 01-select-orders 150 and 149, 02-<b>|x 0.40 and 6.0. They depend on \
                     shared_buffers, which were 8MB and are 128MB";
        assert!(joined.contains(reads), "{text}");
        assert!(!joined.contains("not in the workload"), "{text}");
        let cached = FidelityRecord { statements: Vec::new(), ..fidelity() };
        assert_eq!(super::reads(&cached), None);
    }

    #[test]
    fn the_time_of_statements_that_are_not_in_the_workload_is_named() {
        let mut without = fidelity();
        without.statements.truncate(1);
        let more = without.statements[0].clone();
        without.statements.extend((0..4).map(|_| FidelityStatementRecord {
            time_percent: 1.0,
            is_representative: false,
            ..more.clone()
        }));
        let mut out = Vec::new();
        text(&without, &Paint(false), &mut out).unwrap();
        markdown(&without, &mut out).unwrap();
        let joined = String::from_utf8(out).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            joined.contains("1 more is not representative (-v) Statements that are not in the workload took 16 % of"),
            "{joined}"
        );
        assert_eq!(joined.matches("took 16 % of the captured time").count(), 2, "{joined}");
        assert_eq!(others(0.995), None);
    }

    #[test]
    fn the_table_for_a_pull_request_has_all_figures() {
        let mut out = Vec::new();
        markdown(&fidelity(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(
            text.contains("| statement | time | calls | rows, captured | rows, run | blocks, captured |"),
            "{text}"
        );
        assert!(text.contains("02-\\<b\\>\\|x.sql (not representative)") || text.contains("&lt;b"), "{text}");
        assert!(
            text.lines().filter(|line| line.starts_with('|')).all(|line| line.matches(" | ").count() >= 14),
            "{text}"
        );
    }
}
