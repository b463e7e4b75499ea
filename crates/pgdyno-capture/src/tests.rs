use std::io::{Cursor, Write as _};

use pgdyno_text::TextStyle;
use pgdyno_workload::IsolationLevel;

use crate::{
    ApplicationConnections, CaptureCost, CaptureHead, CaptureRecord, CapturedRelation, CapturedServer,
    CapturedStatement, CapturedTransaction, CapturedTransactions, FORMATS, FileError, ParameterFlow, RelationActivity,
    StatementKind, TransactionStep, ValueProfile, Window, read, write,
};

fn statement(
    text: &str,
    kind: StatementKind,
    refused: Option<&str>,
    calls: f64,
    exec_time_ms: f64,
) -> CapturedStatement {
    let statement = serde_json::json!({
        "text": text, "queryids": ["1"], "kind": kind, "calls": calls, "rows": calls, "exec_time_ms": exec_time_ms,
        "plan_time_ms": 0.0, "shared_blks_hit": calls * 4.0, "shared_blks_read": 0.0, "shared_blks_dirtied": 0.0,
        "temp_blks_read": 0.0, "temp_blks_written": 0.0, "wal_bytes": 0.0,
    });
    let statement: CapturedStatement = serde_json::from_value(statement).unwrap();
    CapturedStatement { refused: refused.map(str::to_owned), ..statement }
}

pub(crate) fn capture() -> CaptureRecord {
    let connections = ApplicationConnections {
        application: "web".to_owned(),
        connections_mean: 12.0,
        connections_max: 16,
        active_mean: 2.5,
        active_max: 6,
        idle_in_transaction_mean: 0.25,
    };
    let table = CapturedRelation {
        schema: "public".to_owned(),
        name: "orders".to_owned(),
        kind: "r".to_owned(),
        rows: 1e6,
        bytes: 8e7,
        columns: Vec::new(),
        indexes: Vec::new(),
        constraints: Vec::new(),
        triggers: 0,
        activity: Some(RelationActivity { index_scans: 6000.0, rows_inserted: 60.0, ..RelationActivity::default() }),
    };
    CaptureRecord {
        head: CaptureHead {
            format_version: 1,
            pgdyno: "0.2.0".to_owned(),
            server: CapturedServer {
                version: "18.1".to_owned(),
                database: "shop".to_owned(),
                ..CapturedServer::default()
            },
            window: Window { began_at: "2026-11-28T10:00:00Z".to_owned(), seconds: 60.0 },
            cost: CaptureCost { queries: 70, waited_s: 0.5, waited_max_s: 0.04 },
            connections: vec![connections],
            transactions_by_minute: vec![600.0, 1200.0],
            warnings: vec!["no statement was executed\nUSABLE  all of it".to_owned()],
            ..CaptureHead::default()
        },
        statements: vec![
            statement("select * from orders where id = $1", StatementKind::Read, None, 6000.0, 900.0),
            statement("insert into orders values ($1)", StatementKind::Write, None, 60.0, 80.0),
            statement("VACUUM ANALYZE", StatementKind::Utility, Some("it is a utility statement"), 1.0, 20.0),
            statement("COMMIT", StatementKind::Transaction, Some("it begins or ends a transaction"), 60.0, 1.0),
        ],
        relations: vec![table],
        transactions: Some(transactions()),
    }
}

fn transactions() -> CapturedTransactions {
    let step = |statement, calls_mean| TransactionStep { statement, calls_mean };
    let flow = ParameterFlow { step: 1, parameter: 1, from_step: 0, from_parameter: 1 };
    CapturedTransactions {
        committed: 40,
        rolled_back: 2,
        incomplete: 1,
        unknown_statements: 0,
        kinds: vec![
            CapturedTransaction {
                count: 30,
                isolation: None,
                steps: vec![step(0, 1.0), step(1, 2.5)],
                flows: vec![flow],
            },
            CapturedTransaction {
                count: 10,
                isolation: Some(IsolationLevel::Serializable),
                steps: vec![step(0, 1.0)],
                flows: vec![],
            },
        ],
        profiles: vec![ValueProfile {
            statement: 0,
            parameter: 1,
            draws: 400,
            distinct: 3,
            most_frequent: vec![200, 300],
        }],
    }
}

fn profile(capture: &mut CaptureRecord) -> &mut ValueProfile {
    &mut capture.transactions.as_mut().unwrap().profiles[0]
}

fn kind(capture: &mut CaptureRecord) -> &mut CapturedTransaction {
    &mut capture.transactions.as_mut().unwrap().kinds[0]
}

fn shown(capture: &CaptureRecord, verbose: bool) -> String {
    let mut out = Vec::new();
    FORMATS[0].1(capture, TextStyle { verbose, ..TextStyle::default() }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_capture_says_first_how_much_of_the_load_is_usable() {
    let text = shown(&capture(), false);
    for line in [
        "shop, PostgreSQL 18.1: 60 s from 2026-11-28T10:00:00Z",
        "98 % of the time, 100 % of the calls (2 of 3 statements)",
        "had 1.3 times the mean",
        "web: 12 connections, 2.5 active, 0.25 idle in transaction",
        "WARNING no statement was executed USABLE all of it",
        "  90 %    100.0     0.15       1.0       4.0  select * from orders where id = $1",
        "REFUSED VACUUM ANALYZE (2.0 % of the time): it is a utility statement",
        "HOLDS   texts of statements without constants;",
        "42 transactions in the log (2 rolled back)",
        "  75 %  1. select-orders, 2. insert-orders × 2.5 ($1 = $1 of 1)\n  25 %  SERIALIZABLE: select-orders\n",
        " 1,000,000   76.3 MiB         0       6,000       60  public.orders",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let mut with = capture();
    with.statements[1].text = "insert into orders values (4711)".to_owned();
    assert!(shown(&with, false).contains("texts of statements (1 has constants);"));
    with.statements = vec![with.statements[2].clone(); 40];
    assert!(shown(&with, false).contains("… 25 more (-v)") && !shown(&with, true).contains("more (-v)"));
    assert!(!text.contains("COMMIT") && text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_file_is_read_as_it_was_written() {
    let mut file = Cursor::new(Vec::new());
    write(&capture(), &mut file).unwrap();
    assert_eq!(read(&mut file).unwrap(), capture());
    // A capture without a log has no such member, as one of an older version.
    let without = CaptureRecord { transactions: None, ..capture() };
    let mut file = Cursor::new(Vec::new());
    write(&without, &mut file).unwrap();
    assert!(zip::ZipArchive::new(&mut file).unwrap().by_name("transactions.json").is_err());
    assert_eq!(read(&mut file).unwrap(), without);
}

#[test]
fn what_is_no_capture_is_refused() {
    let error = |bytes: &[u8]| read(Cursor::new(bytes)).unwrap_err();
    assert!(matches!(error(b""), FileError::Archive(_)));
    assert!(matches!(error(b"PK\x05\x06"), FileError::Archive(_)));
    let mut newer = capture();
    newer.head.format_version = 2;
    let mut file = Cursor::new(Vec::new());
    write(&newer, &mut file).unwrap();
    let whole = file.get_ref().clone();
    assert_eq!(error(&whole).to_string(), "its format is 2, and this version reads 1");
    for cut in (0..whole.len()).step_by(97) {
        assert!(read(Cursor::new(&whole[..cut])).is_err());
    }
    for change in [
        |c: &mut CaptureRecord| c.head.window.seconds = 1e308,
        |c: &mut CaptureRecord| c.statements[0].calls = 1e308,
        |c: &mut CaptureRecord| c.statements[0].rows = -1.0,
        |c: &mut CaptureRecord| kind(c).steps[0].statement = 4,
        |c: &mut CaptureRecord| kind(c).steps[0].calls_mean = 0.0,
        |c: &mut CaptureRecord| kind(c).steps.clear(),
        |c: &mut CaptureRecord| kind(c).steps = vec![TransactionStep { statement: 0, calls_mean: 1.0 }; 201],
        |c: &mut CaptureRecord| kind(c).flows[0].from_step = 2,
        |c: &mut CaptureRecord| kind(c).flows[0].step = 2,
        |c: &mut CaptureRecord| profile(c).statement = 4,
        |c: &mut CaptureRecord| profile(c).draws = 1 << 40,
        |c: &mut CaptureRecord| profile(c).distinct = 0,
        |c: &mut CaptureRecord| profile(c).most_frequent[1] = 401,
        |c: &mut CaptureRecord| profile(c).most_frequent.clear(),
    ] {
        let mut absurd = capture();
        change(&mut absurd);
        let mut file = Cursor::new(Vec::new());
        write(&absurd, &mut file).unwrap();
        assert!(matches!(error(file.get_ref()), FileError::Absurd(_)));
    }
    let mut empty = Cursor::new(Vec::new());
    zip::ZipWriter::new(&mut empty).finish().unwrap();
    assert_eq!(error(empty.get_ref()).to_string(), "it is no capture: it has no capture.json");
}

#[test]
fn a_capture_of_five_thousand_statements_is_small_and_a_small_file_takes_no_more_memory_than_that() {
    let mut large = capture();
    let one = large.statements[0].clone();
    large.statements = (0..5000)
        .map(|nth| CapturedStatement { text: format!("{} and column_{nth} = $2", one.text), ..one.clone() })
        .collect();
    let mut file = Cursor::new(Vec::new());
    write(&large, &mut file).unwrap();
    assert!(file.get_ref().len() < 1 << 20, "{}", file.get_ref().len());
    assert_eq!(read(&mut file).unwrap(), large);
    // A member that is nothing but one character is packed into a thousandth.
    let mut bomb = zip::ZipWriter::new(Cursor::new(Vec::new()));
    bomb.start_file("capture.json", zip::write::SimpleFileOptions::default()).unwrap();
    for _ in 0..65 {
        bomb.write_all(&[b' '; 1 << 20]).unwrap();
    }
    let bomb = bomb.finish().unwrap();
    assert!(bomb.get_ref().len() < 1 << 20 && matches!(read(bomb).unwrap_err(), FileError::TooLarge("capture.json")));
}
