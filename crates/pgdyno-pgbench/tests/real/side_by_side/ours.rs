//! What an installed pgbench may not have yet, and what it cannot do: the drop-in by itself.

use super::cases::{Case, one};
use super::stage::Stage;

/// Lines that must be there, of standard output and standard error, and the exit code.
struct Expected {
    case: Case,
    code: i32,
    out: &'static [&'static str],
    err: &'static str,
}

const CASES: &[Expected] = &[
    // Since 19: any error of the server is counted, and its client goes on.
    Expected {
        case: one("-n -t 3 --continue-on-error --failures-detailed -l", &["begin;\nselect 1/0;\nend;\n"]),
        code: 0,
        out: &[
            "number of transactions actually processed: 0/3",
            "number of failed transactions: 3 (100.000%)",
            "number of serialization failures: 0 (0.000%)",
            "number of deadlock failures: 0 (0.000%)",
            "number of other failures: 3 (100.000%)",
        ],
        err: "",
    },
    Expected {
        case: one(
            "-n -t 4 --continue-on-error --verbose-errors --max-tries=3 -r",
            &["\\set i 1 - :i\nselect 1 / :i;\n"],
        ),
        code: 2,
        out: &["number of transactions actually processed: 0/4"],
        err: "pgbench: error: undefined variable \"i\"\n\
              pgbench: error: client 0 aborted in command 0 (set) of script 0; evaluation of meta-command failed\n\
              pgbench: error: Run was aborted; the above results are incomplete.\n",
    },
    Expected {
        case: one(
            "-n -t 2 -D i=0 --continue-on-error --verbose-errors --max-tries=3 -r",
            &["select 1 / :i;\n\\set i 1\n"],
        ),
        code: 0,
        out: &[
            "number of transactions actually processed: 0/2",
            "number of failed transactions: 2 (100.000%)",
            "number of transactions retried: 0 (0.000%)",
            "ROW 2 0 select 1 / :i;",
            "ROW 0 0 \\set i 1",
        ],
        err: "pgbench: client 0 got an error in command 0 (SQL) of script 0; ERROR:  division by zero\n\
              pgbench: client 0 ends the failed transaction (try 1/3)\n\
              pgbench: client 0 got an error in command 0 (SQL) of script 0; ERROR:  division by zero\n\
              pgbench: client 0 ends the failed transaction (try 1/3)\n",
    },
    // It is about what the server refuses: a script's own mistakes, COPY and lost connections still end a client.
    Expected {
        case: one("-n -t 2 --continue-on-error", &["select 1 where false \\gset\n"]),
        code: 2,
        out: &["number of transactions actually processed: 0/2"],
        err: "pgbench: error: client 0 script 0 command 0 query 0: expected one row, got 0\n\
              pgbench: error: Run was aborted; the above results are incomplete.\n",
    },
    Expected {
        case: one("-n -t 2 --continue-on-error", &["copy t to stdout;\n"]),
        code: 2,
        out: &["number of transactions actually processed: 0/2"],
        err: "pgbench: error: COPY is not supported in pgbench, aborting\n\
              pgbench: error: Run was aborted; the above results are incomplete.\n",
    },
    Expected {
        case: one("-n -t 2 --continue-on-error", &["select pg_terminate_backend(pg_backend_pid());\n"]),
        code: 2,
        out: &["number of transactions actually processed: 0/2"],
        err: "pgbench: error: client 0 script 0 aborted in command 0 query 0: FATAL:  terminating connection due to \
              administrator command\n\
              pgbench: error: Run was aborted; the above results are incomplete.\n",
    },
    // Limits beyond all numbers.
    Expected {
        case: one("-n -t 2 -L inf", &["select 1;\n"]),
        code: 0,
        out: &["number of transactions actually processed: 2/2"],
        err: "",
    },
    Expected {
        case: one("-n -t 2 -R inf -L 1e300", &["select 1;\n"]),
        code: 0,
        out: &["number of transactions actually processed: 2/2", "number of transactions skipped: 0 (0.000%)"],
        err: "",
    },
    // Boolean where pgbench takes any bits for a number.
    Expected {
        case: one("-n -t 2", &["\\set a abs(true)\n"]),
        code: 2,
        out: &[],
        err: "pgbench: error: cannot coerce boolean to double\n\
              pgbench: error: client 0 aborted in command 0 (set) of script 0; evaluation of meta-command failed\n\
              pgbench: error: Run was aborted; the above results are incomplete.\n",
    },
];

#[test]
fn what_pgbench_has_not_is_as_documented() {
    let Some(mut stage) = Stage::start("without pgbench") else { return };
    stage.version = 19;
    for Expected { case, code, out, err } in CASES {
        let did = stage.run_one(case, true, "lane0");
        assert_eq!((did.code, did.err.as_str()), (*code, *err), "{}:\n{}", case.name(), did.out);
        for line in *out {
            assert!(did.out.lines().any(|l| l == *line), "{}: {line} is not in\n{}", case.name(), did.out);
        }
        if case.options.contains(" -l") {
            let log = did.files.values().next().map(String::as_str);
            assert_eq!(log, Some("0 1 other 0 N N\n0 2 other 0 N N\n0 3 other 0 N N\n"), "{}", case.name());
        }
    }
}
