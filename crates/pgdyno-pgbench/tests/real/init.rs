//! `pgbench -i` beside the installed one: what it says, what the server is sent, and what stands there in the end.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, Stop};

use crate::programs::{Pgbench, Ran, ours, ours_until};
use crate::server::{self, TestServer};

const TABLES: [&str; 4] = ["pgbench_accounts", "pgbench_branches", "pgbench_history", "pgbench_tellers"];

/// Option sets, each on a new database; `|` separates initializations one after another on the same one. `%` is a
/// tablespace, and `·` a blank.
const SETS: &[&str] = &[
    "",
    "-s 2 -q",
    "-s 10 -q -n",
    "-s 2 -F 90 --foreign-keys | ",
    "-I dtGvpf",
    "-n -I dtpg",
    "-I · | -I t | -I g | -I ·p·f· | -I v",
    "--partitions=3",
    "--partitions=7 -I dtG",
    "--partitions=3 --partition-method=hash -F 80 -s 2 --foreign-keys",
    "--unlogged-tables",
    "--tablespace=% --index-tablespace=%",
    "-s 20000 -I dtp",
    "-s 20000 -I dtp --partitions=2 | -I dd",
    "-I dt -F 10 | -I tt",
    // What fails.
    "-I g",
    "-I G",
    "-I v",
    "-I p",
    "-I f",
    "--tablespace=absent",
    "--index-tablespace=absent",
    "-I dtpp",
    "| --foreign-keys -I t",
];

/// One server, and a database for each initialization to come.
pub(crate) struct Stage {
    pub(crate) server: TestServer,
    pub(crate) pgbench: Pgbench,
    admin: Admin,
    databases: u32,
}

pub(crate) const TABLESPACE: &str = "sp\"ace";

impl Stage {
    pub(crate) fn new(test: &str) -> Option<Self> {
        if !server::available(test) {
            return None;
        }
        let pgbench = Pgbench::find(test)?;
        let server =
            TestServer::start("log_statement = all\nautovacuum = off\nmax_wal_size = 4GB\n", "local all all trust\n");
        let space = server.dir().join("space");
        std::fs::create_dir(&space).unwrap();
        std::fs::set_permissions(&space, std::fs::Permissions::from_mode(0o700)).unwrap();
        server::hand_over(&space);
        let mut admin = server.admin();
        admin.execute(&format!("create tablespace \"sp\"\"ace\" location '{}'", space.display())).unwrap();
        // The tests' server has another use for a % in its configuration.
        admin.execute("alter system set log_line_prefix = '@%d@'").unwrap();
        admin.execute("select pg_reload_conf()").unwrap();
        while admin.query_one("show log_line_prefix").unwrap() != "@%d@" {}
        Some(Self { server, pgbench, admin, databases: 0 })
    }

    pub(crate) fn database(&mut self) -> String {
        self.databases += 1;
        let name = format!("d{}", self.databases);
        self.admin.execute(&format!("create database {name}")).unwrap();
        name
    }

    pub(crate) fn connect(&self, database: &str) -> Admin {
        Admin::connect(&self.server.options().with_database(database)).unwrap()
    }

    /// What the server logged of a database: statements, parameters, errors.
    pub(crate) fn log(&self, database: &str) -> Vec<String> {
        let log = std::fs::read_to_string(self.server.dir().join("log")).unwrap();
        let start = format!("\n@{database}@");
        let entries = log.split(&start).skip(1);
        entries.map(|entry| entry.split("\n@").next().unwrap().trim_end().to_owned()).collect()
    }

    /// Runs a program with these options after `-i`.
    pub(crate) fn run(&self, database: &str, options: &str, run: impl Fn(&[&str], &[(&str, &str)]) -> Ran) -> Ran {
        let (dir, port) = (self.server.dir().to_str().unwrap(), self.server.port.to_string());
        let mut args = vec!["-i".to_owned()];
        args.extend(options.split_whitespace().map(|arg| arg.replace('·', " ").replace('%', TABLESPACE)));
        args.push(database.to_owned());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        run(&args, &[("PGHOST", dir), ("PGPORT", port.as_str()), ("PGUSER", "postgres")])
    }
}

/// All that the catalogs know of the tables.
pub(crate) fn catalog(admin: &mut Admin) -> Vec<Vec<Option<String>>> {
    let mut found = Vec::new();
    for sql in [
        "select attrelid::regclass, attnum, attname, format_type(atttypid, atttypmod), attnotnull from pg_attribute a
           join pg_class c on c.oid = attrelid
          where relnamespace = 'public'::regnamespace and attnum > 0 order by relname, attnum",
        "select relname, relkind, relpersistence, reloptions, spcname, relispartition,
                pg_get_expr(relpartbound, c.oid), pg_get_partkeydef(c.oid)
           from pg_class c left join pg_tablespace t on t.oid = reltablespace
          where relnamespace = 'public'::regnamespace order by relname",
        "select conrelid::regclass, conname, pg_get_constraintdef(oid), conislocal, coninhcount,
                case when contype <> 'p' then connoinherit end
           from pg_constraint where connamespace = 'public'::regnamespace order by conrelid::regclass::text, 3, 2",
        "select indexrelid::regclass, pg_get_indexdef(indexrelid), indisprimary, indisvalid, inhparent::regclass
           from pg_index left join pg_inherits on inhrelid = indexrelid
          where indrelid::regclass::text like 'pgbench%' order by indexrelid::regclass::text",
    ] {
        found.extend(admin.query(sql).unwrap().rows);
    }
    found
}

/// What only one of both has.
pub(crate) fn difference(ours: &[Vec<Option<String>>], theirs: &[Vec<Option<String>>]) -> String {
    let only = |mine: &[Vec<Option<String>>], other: &[Vec<Option<String>>]| -> String {
        let rows = mine.iter().filter(|row| !other.contains(row));
        rows.map(|row| format!("    {}\n", row.iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" | ")))
            .collect()
    };
    match (only(ours, theirs), only(theirs, ours)) {
        (ours, theirs) if ours.is_empty() && theirs.is_empty() => String::new(),
        (ours, theirs) => format!("only ours:\n{ours}  only theirs:\n{theirs}"),
    }
}

/// Number and digest of the rows of each table that there is.
pub(crate) fn rows(admin: &mut Admin) -> Vec<Vec<Option<String>>> {
    let mut found = Vec::new();
    for table in TABLES {
        let exists = admin.query_one(&format!("select to_regclass('{table}') is not null")).unwrap() == "t";
        if exists {
            let sql = format!("select '{table}', count(*), sum(hashtextextended(t::text, 0)::numeric) from {table} t");
            found.extend(admin.query(&sql).unwrap().rows);
        }
    }
    found
}

/// Times and the width that they give the lines are another with each run.
fn without_times(text: &str) -> String {
    let mut masked = String::new();
    let mut words = text.split_inclusive(' ').peekable();
    while let Some(word) = words.next() {
        let number = word.trim_end().parse::<f64>().is_ok() && word.contains('.');
        let seconds = words.peek().is_some_and(|next| next.starts_with('s'));
        masked.push_str(if number && seconds { "N " } else { word });
    }
    masked
}

/// What versions before 17 do otherwise: rows of branches and tellers go one by one and not by COPY, the kind of
/// a table is not asked for, and progress does not name the table.
fn without_17(log: Vec<String>) -> Vec<String> {
    let otherwise = [
        "LOG:  statement: insert into pgbench_branches(bid,bbalance) values(",
        "LOG:  statement: insert into pgbench_tellers(tid,bid,tbalance) values (",
        "LOG:  statement: copy pgbench_branches",
        "LOG:  statement: copy pgbench_tellers",
        "LOG:  execute <unnamed>: SELECT relkind",
        "DETAIL:  parameters: $1 = 'pgbench_",
        // As servers from version 18 on log it.
        "DETAIL:  Parameters: $1 = 'pgbench_",
    ];
    log.into_iter().filter(|entry| !otherwise.iter().any(|text| entry.starts_with(text))).collect()
}

fn said(ran: &Ran, options: &str, version: u32) -> Ran {
    let mut err = without_times(&ran.err);
    if options.split(' ').any(|option| option == "-q") {
        // A line every five seconds, with what is done then.
        let is_of_a_time = |line: &str| line.contains(" tuples (") && !line.contains("(100%)");
        err = err.split_inclusive('\n').filter(|line| !is_of_a_time(line)).collect();
    }
    if version < 17 {
        err = err.replace(" of pgbench_accounts done", " done");
        // With -q and 100 tellers.
        err = err
            .lines()
            .filter(|line| !line.contains("of pgbench_tellers done"))
            .map(|line| format!("{line}\n"))
            .collect();
    }
    Ran { code: ran.code, out: ran.out.clone(), err }
}

#[test]
fn the_same_is_said_sent_and_made() {
    let Some(mut stage) = Stage::new("init") else { return };
    let mut wrong = Vec::new();
    for set in SETS {
        let (mine, other) = (stage.database(), stage.database());
        let mut logged = (Vec::new(), Vec::new());
        for options in set.split('|') {
            let before = (stage.log(&mine).len(), stage.log(&other).len());
            let version = stage.pgbench.version;
            let ours = said(&stage.run(&mine, options, ours), options, version);
            let theirs =
                said(&stage.run(&other, options, |args, vars| stage.pgbench.run(args, vars)), options, version);
            let theirs = Ran { err: theirs.err.replace(&format!("\"{other}\""), &format!("\"{mine}\"")), ..theirs };
            if ours != theirs {
                wrong.push(format!("{set}: said\n  ours:   {ours:?}\n  theirs: {theirs:?}"));
            }
            logged.0.extend(stage.log(&mine).split_off(before.0));
            logged.1.extend(stage.log(&other).split_off(before.1));
        }
        if stage.pgbench.version < 17 {
            logged = (without_17(logged.0), without_17(logged.1));
        }
        assert!(!logged.0.is_empty(), "{set}: nothing was logged");
        if logged.0 != logged.1 {
            let at =
                logged.0.iter().zip(&logged.1).position(|(a, b)| a != b).unwrap_or(logged.0.len().min(logged.1.len()));
            wrong.push(format!("{set}: sent\n  ours:   {:?}\n  theirs: {:?}", logged.0.get(at), logged.1.get(at)));
        }
        let (mut ours, mut theirs) = (stage.connect(&mine), stage.connect(&other));
        let made = difference(&catalog(&mut ours), &catalog(&mut theirs));
        let rows = difference(&rows(&mut ours), &rows(&mut theirs));
        if !made.is_empty() || !rows.is_empty() {
            wrong.push(format!("{set}: made\n  {made}  {rows}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Since 18 only the partitions are unlogged.
#[test]
fn with_partitions_only_these_are_unlogged() {
    let Some(mut stage) = Stage::new("unlogged partitions") else { return };
    let (mine, other) = (stage.database(), stage.database());
    let options = "--unlogged-tables --partitions=2";
    assert_eq!(stage.run(&mine, options, ours).code, 0);
    stage.run(&other, options, |args, vars| stage.pgbench.run(args, vars));
    let unlogged = "select string_agg(relname, ' ' order by relname) from pg_class
                     where relnamespace = 'public'::regnamespace and relpersistence = 'u' and relkind in ('r', 'p')";
    let partitions = "pgbench_accounts_1 pgbench_accounts_2";
    assert_eq!(stage.connect(&mine).query_one(unlogged).unwrap(), partitions);
    assert_eq!(stage.connect(&other).query_one(unlogged).unwrap() == partitions, stage.pgbench.version >= 18);
}

/// An error that a trigger raises while rows are copied.
#[test]
fn an_error_during_the_copy_is_the_servers_own() {
    let Some(mut stage) = Stage::new("error during the copy") else { return };
    let (mine, other) = (stage.database(), stage.database());
    let mut reported = Vec::new();
    for (database, is_mine) in [(&mine, true), (&other, false)] {
        let run = |options: &str| {
            let theirs = |args: &[&str], vars: &[(&str, &str)]| stage.pgbench.run(args, vars);
            if is_mine { stage.run(database, options, ours) } else { stage.run(database, options, theirs) }
        };
        run("-I dt");
        stage
            .connect(database)
            .execute(
                "create function f() returns trigger language plpgsql as
                   'begin if new.aid = 99999 then raise exception ''boo'' using detail = ''dd'', hint = ''hh''; end if;
                          raise notice ''aid %'', new.aid; return new; end';
                 create trigger t before insert on pgbench_accounts for each row
                    when (new.aid > 99997) execute function f()",
            )
            .unwrap();
        reported.push([run("-I g"), run("-I G")].map(|ran| said(&ran, "", stage.pgbench.version)));
    }
    let theirs = reported.pop().unwrap();
    assert_eq!(reported.pop().unwrap(), theirs);
    assert!(theirs[0].err.contains("NOTICE:  aid 99998\n") && theirs[0].err.contains("CONTEXT:  "), "{theirs:?}");
}

/// A stop in the middle cancels what the server does, and leaves nothing of the load.
#[test]
fn a_stop_cancels_and_is_reported() {
    let Some(mut stage) = Stage::new("stop") else { return };
    for (options, end) in [
        ("-s 200 -I dtg", "pgbench: error: PQendcopy failed\n"),
        ("-s 200 -I dtG", "from generate_series(1, 20000000) as aid\n"),
        ("-s 200 -I dtg --init-jobs=2", "pgbench: error: PQendcopy failed\n"),
    ] {
        let database = stage.database();
        let stop = Stop::new();
        let ran = std::thread::scope(|scope| {
            let (stage, stop) = (&stage, &stop);
            let watched = database.clone();
            scope.spawn(move || {
                let mut admin = stage.server.admin();
                let busy = format!(
                    "select count(*) from pg_stat_activity where datname = '{watched}' and state = 'active'
                        and query ~ '^(copy|insert into) pgbench_accounts'"
                );
                let deadline = Instant::now() + Duration::from_secs(60);
                while admin.query_one(&busy).unwrap() == "0" && Instant::now() < deadline {
                    std::thread::sleep(Duration::from_millis(5));
                }
                stop.cleanly();
            });
            stage.run(&database, options, |args, vars| ours_until(args, vars, stop))
        });
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(ran.err.contains("Cancel request sent\n"), "{ran:?}");
        assert!(
            ran.err.contains("ERROR:  canceling statement due to user request\n") && ran.err.ends_with(end),
            "{ran:?}"
        );
        assert_eq!(stage.connect(&database).query_one("select count(*) from pgbench_accounts").unwrap(), "0");
    }
}
