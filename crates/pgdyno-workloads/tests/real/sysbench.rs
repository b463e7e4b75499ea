//! sysbench's workloads beside the real sysbench: the same tables, statements and draws, and each can drive what the other
//! prepared.

use std::process::Command;

use pgdyno_wire::QueryMode;
use pgdyno_workload::dist::sysbench::{RandType, Range, SysbenchOptions};
use pgdyno_workload::{Rng, Verdict, Workload};
use pgdyno_workloads::registry;

use crate::support::{Client, Connection, Server};

/// The workloads, and the names of sysbench's scripts.
const SCRIPTS: [(&str, &str); 10] = [
    ("oltp-read-only", "oltp_read_only"),
    ("oltp-read-write", "oltp_read_write"),
    ("oltp-write-only", "oltp_write_only"),
    ("oltp-point-select", "oltp_point_select"),
    ("oltp-update-index", "oltp_update_index"),
    ("oltp-update-non-index", "oltp_update_non_index"),
    ("select-random-points", "select_random_points"),
    ("select-random-ranges", "select_random_ranges"),
    ("oltp-insert", "oltp_insert"),
    ("oltp-delete", "oltp_delete"),
];

/// Returns true if there is a sysbench; says that the test is skipped if not.
fn is_available() -> bool {
    let found = Command::new("sysbench").arg("--version").output().is_ok();
    if !found {
        pgdyno_testing::skipped::skipped("sysbench is not installed");
    }
    found
}

fn sysbench(server: &Server, database: &str, script: &str, args: &[&str]) -> String {
    let output = Command::new("sysbench")
        .arg(script)
        .args(["--db-driver=pgsql", "--pgsql-user=postgres", "--tables=1", "--table-size=2000"])
        .arg(format!("--pgsql-host={}", server.dir().display()))
        .arg(format!("--pgsql-port={}", server.port()))
        .arg(format!("--pgsql-db={database}"))
        .args(args)
        .output()
        .unwrap();
    assert!(output.status.success(), "sysbench {script} {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn workload(id: &str, params: &[(&str, &str)]) -> Workload {
    registry::build(id, [("scale", "2000")].iter().chain(params).copied()).unwrap()
}

fn transact(server: &Server, database: &str, workload: &Workload, mode: QueryMode, n: u32) {
    let mut client = Client::new(server.connect(database), workload, mode, 0, 1, Rng::new(3));
    for _ in 0..n {
        assert_eq!(client.transact().1.unwrap(), Verdict::Committed, "{mode:?}");
    }
}

/// Columns, sequences, indexes and constraints.
fn schema(sql: &mut Connection) -> Vec<Vec<String>> {
    [
        "select table_name, ordinal_position, column_name, data_type, character_maximum_length, is_nullable, column_default
           from information_schema.columns where table_schema = 'public' order by 1, ordinal_position",
        "select indexdef from pg_indexes where schemaname = 'public' order by 1",
        "select conname, pg_get_constraintdef(oid) from pg_constraint
          where connamespace = 'public'::regnamespace order by 1",
        "select sequencename, data_type, increment_by from pg_sequences order by 1",
    ]
    .into_iter()
    .flat_map(|query| sql.rows(query))
    .collect()
}

/// What is the same of random rows.
fn shape(sql: &mut Connection) -> Vec<Vec<String>> {
    sql.rows(
        "select count(*), min(id), max(id), min(k) > 0, max(k) <= 2000,
                bool_and(rtrim(c) ~ '^([0-9]{11}-){9}[0-9]{11}$'), bool_and(rtrim(pad) ~ '^([0-9]{11}-){4}[0-9]{11}$'),
                count(*) filter (where k between 990 and 1011) between 1400 and 1600
           from sbtest1",
    )
}

/// The statements that the server logged since `from`, without their values and the names of prepared ones.
fn logged(server: &Server, from: usize) -> Vec<String> {
    let log = std::fs::read_to_string(server.dir().join("log")).unwrap();
    let mut statements: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in log[from..].lines() {
        let text = line.split_once("LOG:  statement: ").or_else(|| {
            let (_, execute) = line.split_once("LOG:  execute ")?;
            execute.split_once(": ")
        });
        match text {
            Some((_, sql)) => statements.push(sql.to_owned()),
            // A line of the log begins with its time; a text of several lines goes on after a tab.
            None if goes_on && line.starts_with('\t') => *statements.last_mut().unwrap() += line,
            None => {}
        }
        goes_on = text.is_some() || line.starts_with('\t') && goes_on;
    }
    let plain = |sql: &String| sql.split_whitespace().collect::<Vec<_>>().join(" ");
    statements.iter().map(plain).filter(|sql| !sql.starts_with("DEALLOCATE")).collect()
}

/// Puts `?` in place of numbers and strings.
fn without_values(sql: &str) -> String {
    let (mut text, mut in_string, mut before) = (String::new(), false, ' ');
    for c in sql.chars() {
        // The digits of a name are none.
        let is_number = c.is_ascii_digit() && (before.is_ascii_digit() || !before.is_ascii_alphanumeric());
        let is_value = in_string || c == '\'' || is_number;
        if c == '\'' {
            in_string = !in_string;
        }
        match is_value {
            true if text.ends_with('?') => {}
            true => text.push('?'),
            false => text.push(c),
        }
        before = c;
    }
    text
}

#[test]
fn tables_and_statements_are_sysbenchs_and_each_drives_what_the_other_prepared() {
    if !is_available() {
        return;
    }
    let Some(server) = Server::start() else { return };
    let mut ours = server.load("ours", &workload("oltp-read-write", &[]));
    server.connect("postgres").run("create database theirs");
    sysbench(&server, "theirs", "oltp_read_write", &["prepare"]);
    let mut theirs = server.connect("theirs");
    assert_eq!(schema(&mut ours), schema(&mut theirs));
    assert_eq!(shape(&mut ours), [["2000", "1", "2000", "t", "t", "t", "t", "t"]]);
    assert_eq!(shape(&mut ours), shape(&mut theirs));

    for database in ["ours", "theirs"] {
        server.connect("postgres").run(&format!("alter database {database} set log_statement = 'all'"));
    }
    let log = server.dir().join("log");
    let since = || std::fs::metadata(&log).unwrap().len() as usize;
    // Each sends the same statements as the other, in the same order, on what the other one prepared.
    for (id, script) in SCRIPTS {
        let from = since();
        sysbench(&server, "ours", script, &["--threads=1", "--events=5", "--time=0", "run"]);
        let theirs = logged(&server, from);
        // sysbench inserts with a text of its own each time.
        let mode = if id == "oltp-insert" { QueryMode::Simple } else { QueryMode::Prepared };
        let from = since();
        transact(&server, "theirs", &workload(id, &[]), mode, 5);
        let ours = logged(&server, from);
        let plain = |list: &[String]| list.iter().map(|sql| without_values(sql)).collect::<Vec<_>>();
        assert!(!ours.is_empty(), "{id}");
        assert_eq!(plain(&ours), plain(&theirs), "{id}");
    }
    let next = "select max(id) - 2000, count(*) between 2000 and 2005 from sbtest1";
    assert_eq!(ours.rows(next), [["5", "t"]], "sysbench's inserts take the keys after the loaded ones");
    assert_eq!(theirs.rows(next), [["5", "t"]]);

    // The options of a transaction.
    let options = ["--point-selects=2", "--range-selects=off", "--delete-inserts=3", "--skip-trx=on"];
    let from = since();
    sysbench(
        &server,
        "ours",
        "oltp_read_write",
        &[&options[..], &["--threads=1", "--events=2", "--time=0", "run"]].concat(),
    );
    let theirs = logged(&server, from);
    let params = [("point_selects", "2"), ("range_selects", "false"), ("delete_inserts", "3"), ("skip_trx", "true")];
    let from = since();
    transact(&server, "theirs", &workload("oltp-read-write", &params), QueryMode::Prepared, 2);
    assert_eq!(logged(&server, from), theirs);
}

/// Draws of the real sysbench and ours, in classes: no class differs by more than five standard deviations.
#[test]
fn draws_are_distributed_as_sysbenchs() {
    if !is_available() {
        return;
    }
    const DRAWS: u32 = 200_000;
    const KINDS: [&str; 4] = ["uniform", "gaussian", "special", "pareto"];
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("draws.lua");
    let lua = format!(
        "function event() end\n\
         for _, kind in ipairs{{'{}'}} do\n\
           local counts = {{}}\n\
           for i = 1, {DRAWS} do\n\
             local x = sysbench.rand[kind](1, 1000); counts[x] = (counts[x] or 0) + 1\n\
           end\n\
           local line = {{}}\n\
           for x = 1, 1000 do line[x] = counts[x] or 0 end\n\
           print('draws ' .. table.concat(line, ' '))\n\
         end\n\
         os.exit(0)\n",
        KINDS.join("', '")
    );
    std::fs::write(&script, lua).unwrap();
    let output = Command::new("sysbench").arg(&script).arg("run").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("draws ")).collect();
    assert_eq!(lines.len(), KINDS.len(), "{text}");
    for (name, line) in KINDS.iter().zip(lines) {
        let theirs: Vec<f64> = line.split(' ').map(|count| count.parse().unwrap()).collect();
        let range = Range::new(RandType::of(name), SysbenchOptions::default(), 1, 1000);
        let (mut ours, mut rng) = (vec![0.0; 1000], Rng::new(17));
        (0..DRAWS).for_each(|_| ours[range.draw(&mut rng) as usize - 1] += 1.0);
        // The numbers around the middle by themselves, the others by tens.
        let classes = (0..49).map(|nth| nth * 10..nth * 10 + 10).chain((490..510).map(|nth| nth..nth + 1));
        for class in classes.chain((51..100).map(|nth| nth * 10..nth * 10 + 10)) {
            let [a, b] = [&theirs, &ours].map(|counts| counts[class.clone()].iter().sum::<f64>());
            assert!((a - b).abs() < 5.0 * (a + b).sqrt() + 5.0, "{name} {class:?}: {a} and {b}");
        }
    }
}
