//! What a run of a fitted workload did, beside what was captured.

use std::collections::{BTreeMap, BTreeSet};

use pgdyno_capture::{Fidelity, FittedStatement, statement_key, whole_statement_key};
use pgdyno_results::{CallRecord, FidelityRecord, FidelityStatementRecord, RunRecord, SampleTable, Warning};
use pgdyno_samples::{SampleColumn, statements};

use crate::record::run_files::RunFiles;

/// The largest file, in bytes.
const BYTES_MAX: usize = 16 << 20;

/// The most statements: more scripts than a run can have, and those that are left out.
const STATEMENTS_MAX: usize = 1000;

/// The percentage of the captured time below which a run does not show the captured load.
const ENOUGH_PERCENT: f64 = 90.0;

/// Scripts that a warning names.
const NAMED_MAX: usize = 3;

/// Returns a warning if the run does not show the captured load.
pub(crate) fn too_low(fidelity: &FidelityRecord) -> Option<Warning> {
    let scripts = || fidelity.unlike().map(|statement| statement.script.clone()).take(NAMED_MAX).collect();
    let is_low = fidelity.time_percent < ENOUGH_PERCENT;
    is_low.then(|| Warning::LowFidelity { time_percent: fidelity.time_percent, scripts: scripts() })
}

/// Returns a warning that the statements are not compared.
pub(crate) fn left_out(why: &str) -> Warning {
    Warning::LeftOut { text: format!("the statements are not compared with the captured ones: {why}") }
}

/// Returns the comparison, or why there is none. `file` is what `pgdyno fit` wrote.
pub(crate) fn of(file: &[u8], record: &RunRecord, files: Option<&RunFiles>) -> Result<FidelityRecord, String> {
    if file.len() > BYTES_MAX {
        return Err("fidelity.json is larger than 16 MiB".to_owned());
    }
    let fitted: Fidelity = serde_json::from_slice(file).map_err(|error| format!("fidelity.json: {error}"))?;
    let window_s = record.summary.as_ref().map_or(0.0, |summary| summary.duration_s);
    let counted = files.map(|files| files.samples.of(statements::SOURCE));
    match counted {
        Some(counted) if !counted.rows().is_empty() => Ok(compare(&fitted, record, &Counted::of(counted, window_s))),
        _ => Err(why_not_counted(record)),
    }
}

/// Returns why the server's counters of statements are not there.
fn why_not_counted(record: &RunRecord) -> String {
    let samples = record.samples.as_ref();
    let left_out =
        samples.and_then(|samples| samples.left_out.iter().find(|out| out.source == statements::SOURCE.name));
    match (left_out, samples) {
        (Some(left_out), _) => left_out.why.clone(),
        (None, None) => "the server is not sampled (--no-samples)".to_owned(),
        (None, Some(_)) => "the server counted no statement".to_owned(),
    }
}

/// Counters of a statement.
type Counters = [f64; COLUMNS.len()];

/// What the server counted of statements in the window.
struct Counted {
    /// By their keys with all elements of their lists.
    whole: BTreeMap<String, Counters>,
    /// By their keys without these, where PostgreSQL 18 has not kept them: statements whose lists have other lengths are one.
    by_key: BTreeMap<String, Counters>,
    window_s: f64,
}

/// What a statement did in the run.
enum Executed {
    /// It was counted by itself.
    Alone(CallRecord),
    /// It was counted with others that have the same keys.
    WithOthers(BTreeSet<String>, CallRecord),
    /// It was not counted.
    Never,
}

/// The counters, in the order of [`Counted`].
const COLUMNS: [SampleColumn; 7] = [
    statements::CALLS,
    statements::ROWS,
    statements::SHARED_BLKS_HIT,
    statements::SHARED_BLKS_READ,
    statements::TEMP_BLKS_WRITTEN,
    statements::WAL_BYTES,
    statements::TOTAL_EXEC_TIME_MS,
];

impl Counted {
    fn of(table: &SampleTable, window_s: f64) -> Self {
        let (mut whole, mut by_key) = (BTreeMap::new(), BTreeMap::new());
        for (_, row) in table.rows() {
            let Some(text) = table.cell(row, statements::QUERY) else { continue };
            let add = |sums: &mut Counters| {
                for (sum, column) in sums.iter_mut().zip(COLUMNS) {
                    *sum += table.cell(row, column).and_then(|cell| cell.parse().ok()).unwrap_or(0.0);
                }
            };
            add(match whole_statement_key(text) {
                Some(key) => whole.entry(key).or_default(),
                None => by_key.entry(statement_key(text)).or_default(),
            });
        }
        Self { whole, by_key, window_s }
    }

    /// Returns what a statement did that was executed with these texts.
    fn executed(&self, texts: &[&str]) -> Executed {
        let keys: BTreeSet<_> = texts.iter().filter_map(|text| whole_statement_key(text)).collect();
        if let Some(call) = self.call(keys.iter().filter_map(|key| self.whole.get(key))) {
            return Executed::Alone(call);
        }
        let keys: BTreeSet<_> = texts.iter().map(|text| statement_key(text)).collect();
        match self.call(keys.iter().filter_map(|key| self.by_key.get(key))) {
            Some(call) => Executed::WithOthers(keys, call),
            None => Executed::Never,
        }
    }

    /// Returns what a call did of all that was counted here; `None` if there was none.
    fn call<'a>(&self, counted: impl Iterator<Item = &'a Counters>) -> Option<CallRecord> {
        let mut sums = [0.0; COLUMNS.len()];
        for counted in counted {
            sums.iter_mut().zip(counted).for_each(|(sum, counted)| *sum += counted);
        }
        let [calls, rows, hit, read, temp, wal, time_ms] = sums;
        (calls > 0.0).then(|| CallRecord {
            calls_per_s: calls / self.window_s.max(1e-9),
            rows_per_call: rows / calls,
            blocks_per_call: (hit + read) / calls,
            read_blocks_per_call: read / calls,
            temp_blocks_per_call: temp / calls,
            wal_bytes_per_call: wal / calls,
            time_ms_per_call: time_ms / calls,
        })
    }
}

/// Returns the captured rows and blocks of a call over several statements.
fn captured_mean(all: &[&FittedStatement]) -> [f64; 2] {
    let calls: f64 = all.iter().map(|one| one.calls_per_s).sum();
    let mean = |of: fn(&FittedStatement) -> f64| all.iter().map(|one| of(one) * one.calls_per_s).sum::<f64>() / calls;
    [mean(|one| one.captured_rows_per_call), mean(|one| one.captured_blocks_per_call)]
}

fn compare(fitted: &Fidelity, record: &RunRecord, counted: &Counted) -> FidelityRecord {
    let all = fitted.statements.iter().take(STATEMENTS_MAX);
    let executed: Vec<_> = all.map(|one| (one, counted.executed(&texts(one, record)))).collect();
    let mut together: BTreeMap<&BTreeSet<String>, Vec<&FittedStatement>> = BTreeMap::new();
    for (one, executed) in &executed {
        if let Executed::WithOthers(keys, _) = executed {
            together.entry(keys).or_default().push(one);
        }
    }
    let compared = |(one, executed): &(&FittedStatement, Executed)| match executed {
        Executed::Alone(run) => compare_statement(one, Some(*run), &[one]),
        Executed::WithOthers(keys, run) => compare_statement(one, Some(*run), &together[keys]),
        Executed::Never => compare_statement(one, None, &[one]),
    };
    let statements: Vec<_> = executed.iter().map(compared).collect();
    let sum = |of: fn(&FidelityStatementRecord) -> f64| {
        statements.iter().filter(|statement| statement.is_representative).map(of).fold(0.0, |sum, part| sum + part)
    };
    let settings = record.server.as_ref().map(|server| &server.settings);
    FidelityRecord {
        captured_shared_buffers: fitted.shared_buffers.clone(),
        run_shared_buffers: settings.and_then(|settings| settings.get("shared_buffers").cloned()),
        database: fitted.database.clone(),
        server_version: fitted.server_version.clone(),
        captured_at: fitted.captured_at.clone(),
        time_percent: sum(|statement| statement.time_percent),
        calls_percent: sum(|statement| statement.calls_percent),
        statements,
    }
}

/// Compares a statement with what the run did of it and of those that were counted `together` with it.
fn compare_statement(
    fitted: &FittedStatement,
    run: Option<CallRecord>,
    together: &[&FittedStatement],
) -> FidelityStatementRecord {
    let captured = CallRecord {
        calls_per_s: fitted.calls_per_s,
        rows_per_call: fitted.captured_rows_per_call,
        blocks_per_call: fitted.captured_blocks_per_call,
        read_blocks_per_call: fitted.captured_read_blocks_per_call,
        temp_blocks_per_call: fitted.captured_temp_blocks_per_call,
        wal_bytes_per_call: fitted.captured_wal_bytes_per_call,
        time_ms_per_call: fitted.captured_ms_per_call,
    };
    let wanted = match together {
        [_] => [captured.rows_per_call, captured.blocks_per_call],
        several => captured_mean(several),
    };
    let is_representative =
        run.is_some_and(|run| pgdyno_capture::is_near([run.rows_per_call, run.blocks_per_call], wanted));
    FidelityStatementRecord {
        script: fitted.script.clone(),
        text: fitted.text.clone(),
        time_percent: fitted.time_share.clamp(0.0, 1.0) * 100.0,
        calls_percent: fitted.calls_share.clamp(0.0, 1.0) * 100.0,
        is_representative,
        left_out: fitted.left_out.clone(),
        captured,
        run,
    }
}

/// Returns the texts of the statement as the run executes it: its script may have been edited. None if it has no script.
fn texts<'a>(fitted: &'a FittedStatement, record: &'a RunRecord) -> Vec<&'a str> {
    let of_script = record.statements.iter().filter(|one| one.transaction.as_deref() == Some(fitted.script.as_str()));
    let own = match of_script.collect::<Vec<_>>()[..] {
        [only] => only.sql.as_str(),
        [] if fitted.left_out.is_some() => return Vec::new(),
        _ => fitted.executed.first().unwrap_or(&fitted.text),
    };
    fitted.executed.iter().skip(1).map(String::as_str).chain([own]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(script: &str, text: &str, time_share: f64, [rows, blocks]: [f64; 2]) -> FittedStatement {
        let json = serde_json::json!({
            "script": script, "text": text, "time_share": time_share, "calls_share": 0.5, "calls_per_s": 10.0,
            "captured_ms_per_call": 1.0, "captured_rows_per_call": rows, "captured_blocks_per_call": blocks,
            "captured_temp_blocks_per_call": 0.0, "captured_wal_bytes_per_call": 0.0, "is_representative": true,
        });
        serde_json::from_value(json).unwrap()
    }

    fn counted(rows: &[[&str; 5]]) -> Counted {
        let columns = ["query", "calls", "rows", "shared_blks_hit", "shared_blks_read"];
        let rows = rows.iter().map(|row| (1.0, row.map(str::to_owned).to_vec())).collect();
        Counted::of(&SampleTable::new(&columns, rows), 10.0)
    }

    fn record() -> RunRecord {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
        pgdyno_results::read_record(&path).unwrap()
    }

    #[test]
    fn what_a_statement_did_is_found_by_its_text_and_compared() {
        let fidelity = Fidelity {
            statements: vec![
                fitted("01-select-t.sql", "select * from t where a = $2", 0.8, [1.0, 100.0]),
                fitted("02-select-u.sql", "select * from u where a = $1", 0.15, [1.0, 4.0]),
                fitted("03-select-v.sql", "select * from v", 0.05, [1.0, 4.0]),
            ],
            ..Fidelity::default()
        };
        let counted = counted(&[
            ["select * from t where a = $1", "60", "60", "6000", "900"],
            ["PREPARE pgdyno_fit AS select * from t where a = $1", "40", "40", "2000", "100"],
            ["select * from u where a = $1", "10", "10", "900", "0"],
        ]);
        let compared = compare(&fidelity, &record(), &counted);
        let [t, u, v] = &compared.statements[..] else { panic!("{compared:#?}") };
        let run = t.run.unwrap();
        assert_eq!((run.calls_per_s, run.rows_per_call, run.blocks_per_call), (10.0, 1.0, 90.0));
        assert_eq!((run.read_blocks_per_call, compared.run_shared_buffers.as_deref()), (10.0, Some("6026MB")));
        assert!(t.is_representative && !u.is_representative && !v.is_representative);
        assert_eq!((u.run.unwrap().blocks_per_call, v.run), (90.0, None));
        assert!((compared.time_percent - 80.0).abs() < 1e-9 && (compared.calls_percent - 50.0).abs() < 1e-9);
    }

    #[test]
    fn an_edited_script_is_that_statement() {
        let mut record = record();
        record.statements = vec![pgdyno_results::StatementRecord {
            sql: "select * from t where a = :p1 and b".to_owned(),
            transaction: Some("01-select-t.sql".to_owned()),
            ..pgdyno_results::StatementRecord::default()
        }];
        let statement = fitted("01-select-t.sql", "select * from t where a = $1", 1.0, [1.0, 1.0]);
        assert_eq!(texts(&statement, &record), ["select * from t where a = :p1 and b"]);
        record.statements.clear();
        assert_eq!(texts(&statement, &record), [statement.text.as_str()]);
        let left_out = FittedStatement { left_out: Some("why".to_owned()), ..statement };
        assert_eq!(texts(&left_out, &record), [""; 0]);
    }

    #[test]
    fn lists_of_other_lengths_are_other_statements_or_compared_together() {
        let one = fitted("01-select-t.sql", "select * from t where a in ($1)", 0.5, [1.0, 4.0]);
        let ten = fitted("02-select-t.sql", "select * from t where a in ($1, $2, $3)", 0.5, [10.0, 40.0]);
        let fidelity = Fidelity { statements: vec![one, ten], ..Fidelity::default() };
        let near = |counted: &Counted| {
            let compared = compare(&fidelity, &record(), counted);
            let of =
                |one: &FidelityStatementRecord| (one.is_representative, one.run.map_or(0.0, |run| run.rows_per_call));
            compared.statements.iter().map(of).collect::<Vec<_>>()
        };
        let before_18 = counted(&[
            ["select * from t where a in ($1)", "60", "60", "240", "0"],
            ["select * from t where a in ($1, $2, $3)", "60", "600", "2400", "0"],
        ]);
        assert_eq!(near(&before_18), [(true, 1.0), (true, 10.0)]);
        let exchanged = counted(&[["select * from t where a in ($1)", "60", "600", "2400", "0"]]);
        assert_eq!(near(&exchanged), [(false, 10.0), (false, 0.0)]);
        // Both were captured with a list of unknown length, or are counted so.
        let text = "select * from t where a in ($1 /*, ... */)";
        assert_eq!(near(&counted(&[[text, "120", "660", "2640", "0"]])), [(true, 5.5), (true, 5.5)]);
        assert_eq!(near(&counted(&[[text, "120", "120", "480", "0"]])), [(false, 1.0), (false, 1.0)]);
    }

    #[test]
    fn a_file_of_a_stranger_ends_no_run() {
        for file in ["", "[]", "{\"statements\": 5}", "\u{0}"] {
            assert!(of(file.as_bytes(), &record(), None).unwrap_err().contains("fidelity.json"), "{file}");
        }
        let fidelity = serde_json::to_vec(&Fidelity::default()).unwrap();
        let why = of(&fidelity, &RunRecord { samples: None, ..record() }, None).unwrap_err();
        assert!(left_out(&why).to_string().contains("not sampled"), "{why}");
    }
}
