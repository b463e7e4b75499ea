//! The final report.

use pgdyno_pgbench::report::{RunLength, RunReport, ScriptReport};
use pgdyno_pgbench::stats::{Accounting, CommandStats, Moments, Stats};
use pgdyno_wire::QueryMode;

use crate::read::{printed, records, stats};
use crate::support::{Bench, Run};

/// A script as pgbench receives it, and its commands.
struct Script {
    name: &'static str,
    weight: u64,
    text: &'static str,
}

const ONE: Script = Script { name: "one.sql", weight: 3, text: "SELECT 1;\n" };
const NAP: Script = Script { name: "nap.sql", weight: 2, text: "SELECT 1;\n\\sleep 12 ms\nSELECT 2;\n" };
/// Fails by serialization failures where several clients run it.
const RACE: Script = Script {
    name: "race.sql",
    weight: 1,
    text: "\\set id random(1, 2)\n\
           BEGIN ISOLATION LEVEL SERIALIZABLE;\n\
           SELECT sum(n) FROM counter;\n\
           \\sleep 2 ms\n\
           UPDATE counter SET n = n + 1 WHERE id = :id;\n\
           END;\n",
};
const SELECT_ONLY: Script = Script {
    name: "<builtin: select only>",
    weight: 1,
    text: "\\set aid random(1, 100000 * :scale)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n",
};

/// A run: its options, and what the report says of them.
struct Case {
    options: &'static str,
    clients: u32,
    threads: u32,
    length: RunLength,
    query_mode: QueryMode,
    accounting: Accounting,
    scripts: &'static [Script],
    /// Whether what the case is for did happen.
    happened: fn(&Stats) -> bool,
}

const PLAIN: Accounting = Accounting {
    throttled: false,
    latency_limit_us: None,
    max_tries: 1,
    failures_detailed: false,
    continue_on_error: false,
};

fn cases() -> Vec<Case> {
    let simple = Case {
        options: "-S -c 3 -t 50",
        clients: 3,
        threads: 2,
        length: RunLength::Transactions(50),
        query_mode: QueryMode::Simple,
        accounting: PLAIN,
        scripts: &[SELECT_ONLY],
        happened: |total| total.transactions == 150,
    };
    vec![
        Case {
            options: "-S -c 1 -t 20 -r -P 5 -M prepared",
            clients: 1,
            threads: 1,
            length: RunLength::Transactions(20),
            query_mode: QueryMode::Prepared,
            happened: |total| total.transactions == 20,
            ..simple
        },
        Case {
            options: "-f one.sql -C -r -c 2 -t 10",
            clients: 2,
            threads: 1,
            length: RunLength::Transactions(10),
            scripts: &[ONE],
            happened: |total| total.transactions == 20,
            ..simple
        },
        Case {
            options: "-f nap.sql -c 2 -t 40 -R 400 -L 20 -M extended",
            clients: 2,
            length: RunLength::Transactions(40),
            query_mode: QueryMode::Extended,
            accounting: Accounting { throttled: true, latency_limit_us: Some(20_000), ..PLAIN },
            scripts: &[NAP],
            happened: |total| total.skipped > 0 && total.late > 0,
            ..simple
        },
        Case {
            options: "-f nap.sql -c 2 -t 10 -L 12.5",
            clients: 2,
            length: RunLength::Transactions(10),
            accounting: Accounting { latency_limit_us: Some(12_500), ..PLAIN },
            scripts: &[NAP],
            happened: |total| total.transactions == 20,
            ..simple
        },
        Case {
            options: "-f race.sql -c 4 -t 20",
            clients: 4,
            length: RunLength::Transactions(20),
            scripts: &[RACE],
            happened: |total| total.failures() > 0 && total.retries == 0,
            ..simple
        },
        Case {
            options: "-f race.sql -c 4 -t 20 --max-tries=4 --failures-detailed -r",
            clients: 4,
            threads: 1,
            length: RunLength::Transactions(20),
            accounting: Accounting { max_tries: 4, failures_detailed: true, ..PLAIN },
            scripts: &[RACE],
            happened: |total| total.failures() > 0 && total.retries > total.retried && total.retried > 0,
            ..simple
        },
        // More threads than one would count a script's transactions wrong: pgbench has no lock there.
        Case {
            options: "-f one.sql@3 -f nap.sql@2 -f race.sql -c 8 -t 40 -r -R 2500 -L 25 --max-tries=3 --failures-detailed",
            clients: 8,
            threads: 1,
            length: RunLength::Transactions(40),
            accounting: Accounting {
                throttled: true,
                latency_limit_us: Some(25_000),
                max_tries: 3,
                failures_detailed: true,
                ..PLAIN
            },
            scripts: &[ONE, NAP, RACE],
            happened: |total| total.failures() > 0 && total.retries > 0 && total.skipped > 0,
            ..simple
        },
        Case {
            options: "-f one.sql@3 -f nap.sql@2 -c 2 -T 1 --max-tries=0",
            clients: 2,
            threads: 1,
            length: RunLength::Seconds(1),
            accounting: Accounting { max_tries: 0, ..PLAIN },
            scripts: &[ONE, NAP],
            happened: |total| total.transactions > 20,
            ..simple
        },
        simple,
    ]
}

#[test]
fn the_report_of_pgbenchs_own_log_is_the_one_that_it_printed() {
    let Some(bench) = Bench::start("the final report") else { return };
    bench.initialize();
    for script in [ONE, NAP, RACE] {
        bench.script(script.name, script.text);
    }
    for case in cases() {
        // What a case is for depends on how transactions meet; every attempt is compared.
        let happened = (0..20).any(|_| {
            let run = bench.run(case.options, case.threads);
            let report = rebuild(&case, &run);
            let mut ours = report.to_string();
            if bench.version < 18 {
                ours = as_before_18(&report, &ours);
            }
            assert_eq!(ours, run.report, "pgbench {}", case.options);
            (case.happened)(&report.total)
        });
        assert!(happened, "pgbench {}: what the case is for never happened", case.options);
    }
}

/// The report of what is in the logs; from what was printed only what is in no log.
fn rebuild(case: &Case, run: &Run) -> RunReport {
    let accounting = case.accounting;
    let records = records(&accounting, run);
    let total = stats(&accounting, &records, None);
    let per_second = printed(&run.report, "\ntps = ").unwrap();
    let connect = case.options.contains("-C");
    let connection_ms = if connect {
        assert_eq!(total.failures(), 0);
        printed(&run.report, "average connection time = ").unwrap() * total.transactions as f64
    } else {
        printed(&run.report, "initial connection time = ").unwrap()
    };
    let mut commands = commands(&run.report, accounting.max_tries != 1).into_iter();
    let script = |(number, script): (usize, &Script)| ScriptReport {
        name: script.name.to_owned(),
        weight: script.weight,
        stats: stats(&accounting, &records, Some(number)),
        commands: script
            .text
            .lines()
            .zip(commands.by_ref())
            .map(|(line, command)| CommandStats { text: line.to_owned(), ..command })
            .collect(),
    };
    let scripts: Vec<ScriptReport> = case.scripts.iter().enumerate().map(script).collect();
    let per_command = case.options.contains("-r");
    if per_command {
        // What failed and was retried in all of a script's commands is what its transactions did.
        for script in &scripts {
            let sum = |count: fn(&CommandStats) -> u64| script.commands.iter().map(count).sum::<u64>();
            assert_eq!(sum(|c| c.failures), script.stats.failures(), "{}", script.name);
            assert_eq!(sum(|c| c.retries), script.stats.retries, "{}", script.name);
        }
    }
    RunReport {
        accounting,
        scale: 1,
        partitions: None,
        query_mode: case.query_mode,
        clients: case.clients,
        threads: case.threads,
        length: case.length,
        progress: case.options.contains("-P"),
        connect,
        per_command,
        // Printed to six digits after the point: there is one number of whole microseconds that gives it.
        duration_us: (1e6 * total.transactions as f64 / per_second).round() as u64,
        connection_us: (1000.0 * connection_ms).round() as u64,
        total,
        scripts,
        warmup: None,
        reconnects: None,
        percentiles: None,
    }
}

/// The rows of commands, without their texts.
fn commands(report: &str, retries: bool) -> Vec<CommandStats> {
    let rows = report.lines().filter(|line| line.starts_with("    "));
    rows.map(|row| {
        let mut fields = row.split_whitespace();
        let average_us: f64 = 1000.0 * fields.next().unwrap().parse::<f64>().unwrap();
        let mut latency = Moments::default();
        latency.add(average_us);
        let mut count = || fields.next().unwrap().parse::<u64>().unwrap();
        let failures = count();
        CommandStats { text: String::new(), latency, failures, retries: if retries { count() } else { 0 } }
    })
    .collect()
}

/// What versions 15 to 17 print otherwise: a script's successful transactions in one line, their percentage of all
/// successful ones; and two blanks before a command instead of one, and between the counts.
fn as_before_18(report: &RunReport, text: &str) -> String {
    let mut scripts = report.scripts.iter();
    let mut out = String::new();
    for line in text.lines() {
        if line.starts_with(" - number of transactions actually processed") {
            continue;
        }
        if line.contains(" transactions (") {
            let done = scripts.next().unwrap().stats.transactions as f64;
            let percent = 100.0 * done / report.total.transactions as f64;
            let per_second = done / (report.duration_us as f64 * 1e-6);
            out += &format!(" - {done} transactions ({percent:.1}% of total, tps = {per_second:.6})");
        } else if line.starts_with("    ") {
            let (time, rest) = line.split_at(14);
            let (failures, rest) = rest.split_at(12);
            let retries = report.accounting.max_tries != 1;
            let (between, text) = if retries { rest.split_at(11) } else { ("", rest) };
            let between = if retries { format!(" {between}") } else { String::new() };
            out += &format!("{time}{failures}{between} {text}");
        } else {
            out += line;
        }
        out.push('\n');
    }
    out
}
