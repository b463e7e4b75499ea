//! `--init-jobs`: other ways, the same tables and rows as the installed pgbench makes.

use crate::init::{Stage, catalog, difference, rows};
use crate::postgres;
use crate::programs::ours;

/// Options that pgbench knows, and what the server must, or must not, have been sent because of the jobs.
const SETS: &[(&str, &[&str], &[&str])] = &[
    ("-s 3", &["copy pgbench_accounts from stdin"], &["copy pgbench_accounts from stdin with"]),
    ("-s 1 -F 90 --foreign-keys -q", &["copy pgbench_branches from stdin with (freeze on)"], &[]),
    (
        "-s 2 --partitions=5",
        &[
            "truncate table pgbench_accounts_5",
            "copy pgbench_accounts_5 from stdin with (freeze on)",
            "alter table pgbench_accounts_5 add primary key (aid)",
        ],
        &["copy pgbench_accounts from"],
    ),
    ("-s 1 --partitions=2", &["copy pgbench_accounts from stdin"], &["copy pgbench_accounts_1"]),
    (
        "-s 1 --partitions=4 --partition-method=hash --tablespace=% --index-tablespace=%",
        &[
            "copy pgbench_accounts from stdin",
            "alter table pgbench_accounts_4 add primary key (aid) using index tablespace",
        ],
        &["copy pgbench_accounts_1"],
    ),
    // Keys first: a partition that is referenced cannot be truncated alone.
    ("-I dtpfg --partitions=3", &["copy pgbench_accounts_3 from stdin"], &["truncate table pgbench_accounts_3"]),
    ("-I dtGp --unlogged-tables", &["insert into pgbench_accounts"], &[]),
];

#[test]
fn several_connections_make_the_same_tables_and_rows() {
    let Some(mut stage) = Stage::new("init jobs") else { return };
    for (options, sent, not_sent) in SETS {
        let (mine, other) = (stage.database(), stage.database());
        let ran = stage.run(&mine, &format!("{options} --init-jobs=3"), ours);
        assert_eq!(ran.code, 0, "{options}: {}", ran.err);
        let theirs = stage.run(&other, options, |args, vars| stage.pgbench.run(args, vars));
        assert_eq!(theirs.code, 0, "{options}: {}", theirs.err);

        let log = stage.log(&mine);
        let was_sent = |text: &str| log.iter().any(|entry| entry.starts_with(&format!("LOG:  statement: {text}")));
        // As pgbench does, only servers from PostgreSQL 14 on are asked to freeze, which wants a table that was truncated.
        let freezes = postgres::major() >= 14;
        let sent = sent.iter().filter(|text| freezes || !text.starts_with("truncate"));
        let mut sent = sent.map(|text| if freezes { *text } else { text.trim_end_matches(" with (freeze on)") });
        assert_eq!(sent.find(|text| !was_sent(text)), None, "{options}: {log:#?}");
        assert_eq!(not_sent.iter().find(|text| was_sent(text)), None, "{options}: {log:#?}");

        let (mut mine, mut other) = (stage.connect(&mine), stage.connect(&other));
        let made = difference(&catalog(&mut mine), &catalog(&mut other));
        assert!(made.is_empty(), "{options}: {made}");
        assert_eq!(rows(&mut mine), rows(&mut other), "{options}");

        let lines = |err: &str| err.lines().filter(|line| line.contains("tuples (")).count();
        if stage.pgbench.version >= 17 {
            assert_eq!(lines(&ran.err), lines(&theirs.err), "{options}: {}", ran.err);
        }
    }
}

/// Steps that come later find tables that another user made, whatever the options say of partitions.
#[test]
fn tables_of_another_time_are_filled_as_they_are() {
    let Some(mut stage) = Stage::new("init jobs on other tables") else { return };
    for (made, filled) in
        [("-I dt", "-I gp --partitions=4 --init-jobs=4"), ("-I dt --partitions=4", "-I gp --init-jobs=4")]
    {
        let database = stage.database();
        assert_eq!(stage.run(&database, made, ours).code, 0);
        let ran = stage.run(&database, filled, ours);
        assert_eq!(ran.code, 0, "{filled}: {}", ran.err);
        assert_eq!(stage.connect(&database).query_one("select count(*) from pgbench_accounts").unwrap(), "100000");
    }
}

/// The first failure is reported, once, and the others end with it.
#[test]
fn one_connection_that_fails_ends_all() {
    let Some(mut stage) = Stage::new("init jobs that fail") else { return };
    let database = stage.database();
    assert_eq!(stage.run(&database, "-I dtg", ours).code, 0);
    stage
        .connect(&database)
        .execute(
            "create function f() returns trigger language plpgsql as 'begin raise exception ''boo''; end';
             create trigger t before insert on pgbench_accounts for each row
                when (new.aid = 5000) execute function f()",
        )
        .unwrap();
    let ran = stage.run(&database, "-s 20 -I g --init-jobs=4", ours);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.err.matches("ERROR:").count(), 1, "{}", ran.err);
    assert!(ran.err.contains("ERROR:  boo\n") && ran.err.ends_with("PQendcopy failed\n"), "{}", ran.err);
}
