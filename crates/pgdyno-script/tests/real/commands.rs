//! What a script consists of: generated scripts, whose commands pgbench lists in its report, and chosen ones, whose
//! SQL it shows as it sends it.

use std::sync::Arc;

use crate::pgbench::{Pgbench, Server};
use crate::postgres;
use pgdyno_script::{CommandKind, ScriptText, Value, VariableNames, Variables, parse};
use pgdyno_workload::Rng;

/// What lexers stumble over.
const PIECES: &[&str] = &[
    "select ",
    "1",
    ";",
    "\n",
    " ",
    "\t",
    "'",
    "''",
    "E'",
    "e'\\'",
    "\"",
    "$$",
    "$a$",
    "$1",
    "$",
    "a$b",
    "/*",
    "*/",
    "--",
    "(",
    ")",
    "\\;",
    "\\:",
    "\\set x 1\n",
    "\\sleep 0\n",
    " \\gset p_\n",
    "\\if 0\n",
    "\\elif 0\n",
    "\\shell a \\\n b\n",
    "\\\n",
    "\r\n",
    ":x",
    "::",
    ":'x'",
    "b'0'",
    "x'",
    "n'",
    "u&'",
    "u&\"",
    "+",
    "*",
    "-",
    "/",
    "é",
    "a",
    "-- c\n",
    "/* c */",
    "'a'\n",
    "\\\\",
];

/// The commands that pgbench reports for a script; all of them are skipped, so all it does is parse.
fn reported(pgbench: &Pgbench, server: &Server, script: &str) -> Result<Vec<String>, String> {
    let printed = pgbench.run(&["-h", server.host(), "-r"], script.as_bytes());
    let Some((_, report)) = printed.stdout.split_once("statement latencies in milliseconds and failures:\n") else {
        return Err(printed.stderr);
    };
    let report = report.strip_suffix('\n').unwrap_or(report);
    // A row is a latency, a count of failures, and the command, which may go on over several lines.
    // Version 18 has one blank less before the command.
    let command = if pgbench.version < 18 { 28 } else { 27 };
    let mut rows: Vec<String> = Vec::new();
    for line in report.split('\n') {
        let numbers: Vec<_> = line.get(..26).into_iter().flat_map(str::split_ascii_whitespace).collect();
        match numbers[..] {
            [latency, "0"] if latency.parse::<f64>().is_ok() => rows.push(line[command..].to_owned()),
            _ => {
                let row = rows.last_mut().unwrap();
                row.push('\n');
                row.push_str(line);
            }
        }
    }
    Ok(rows)
}

#[test]
fn generated_scripts_have_pgbenchs_commands() {
    let Some(pgbench) = Pgbench::find("commands of scripts") else { return };
    let Some(server) = Server::start(&pgbench, "commands of scripts") else { return };
    let mut rng = Rng::new(7);
    let (mut whole, mut broken) = (0, 0);
    for _ in 0..300 {
        let mut script = String::from("\\if false\n");
        for _ in 0..rng.uniform(1, 25) {
            script.push_str(PIECES[rng.up_to(PIECES.len() as u64 - 1) as usize]);
        }
        // Closes what is open, so that most scripts are whole.
        script.push_str(
            ["\n\\endif\n", "'\n\\endif\n", "*/\n\\endif\n", "$$\n\\endif\n", "\"\n\\endif\n"][rng.up_to(4) as usize],
        );
        let expected = reported(&pgbench, &server, &script);
        let found = parse(&ScriptText { name: "-", text: script.as_bytes() }, &mut VariableNames::new());
        match (found, expected) {
            (Ok(found), Ok(expected)) => {
                whole += 1;
                let labels: Vec<_> = found.commands.iter().map(pgdyno_script::Command::label).collect();
                assert_eq!(labels.join("\n"), expected.join("\n"), "{script}");
                assert_eq!(labels.len(), expected.len(), "{script}");
            }
            (Err(found), Err(expected)) => {
                broken += 1;
                let lines = found.pgbench_lines().join("\n");
                assert_eq!(format!("pgbench: error: {lines}\n"), expected, "{script}");
            }
            (found, expected) => panic!("{script}\nours: {found:?}\npgbench's: {expected:?}"),
        }
    }
    assert!(whole > 50 && broken > 50, "{whole} whole, {broken} broken");
}

#[test]
fn sql_is_sent_as_pgbench_sends_it() {
    let Some(pgbench) = Pgbench::find("SQL as it is sent") else { return };
    let Some(server) = Server::start(&pgbench, "SQL as it is sent") else { return };
    let script = "-- a comment\n\n  select 1 -- kept\n , 2;select 'a' -- kept\n 'b';\n\
        select 1 \\; select 'a;b' \\; select E'it\\'s; \\\\' ;; \n\
        select $$a;$b$;$$, $t$ ; $$ $t$, \"x;y\" from (select 1 as \"x;y\") as q; select (1\n);\n\
        /* x;y /* z; */ */ select ':x', :x, :x::text, '::x' /* :x :nope :z */, $$:b$$, ':d', ':t', '12:30:00'::time, 'é:é';\n\
        create table f(a int); insert into f values (:x);\n\
        drop table f;\nselect :{?x} or not :{?zz}, ':{?x}';%select \n\n :x   ";
    // Bodies in SQL came with PostgreSQL 14.
    let body = "create function g() returns int begin atomic select case when true then 1 end; select 2; end; select g();\n\
        drop function g();\n";
    let script = script.replace('%', if postgres::major() >= 14 { body } else { "" });
    let sets = "\\set x 5\n\\set z null\n\\set b true\n\\set d 1.5e20\n";
    let script = format!("{sets}{script}");
    let mut names = VariableNames::new();
    let parsed = parse(&ScriptText { name: "-", text: script.as_bytes() }, &mut names).unwrap();
    let names = Arc::new(names);
    for mode in ["simple", "extended"] {
        let text = if mode == "simple" {
            script.clone()
        } else {
            format!("{sets}select :x::int, :d::float8 \n , ':: :';select 1;")
        };
        let args = ["-h", server.host(), "-M", mode, "--debug", "-D", "t=1e1"];
        // Before version 17, -d was short for this.
        let printed = pgbench.run(&args, text.as_bytes()).stderr;
        let mut variables = Variables::new(&names);
        variables.set_text(names.find(b"t").unwrap(), b"1e1");
        let parsed = if mode == "simple" {
            parsed.clone()
        } else {
            parse(&ScriptText { name: "-", text: text.as_bytes() }, &mut names.as_ref().clone()).unwrap()
        };
        let mut expected = String::new();
        let mut statements = 0;
        for command in &parsed.commands {
            match &command.kind {
                CommandKind::Set(set) => {
                    expected.push_str(&format!("pgbench: client 0 executing {}\n", command.invocation()));
                    set.run(&mut variables, &mut Rng::new(1), &mut |_| {}).unwrap();
                }
                CommandKind::Sql(sql) => {
                    let mut out = Vec::new();
                    match mode {
                        "simple" => sql.simple.render(&variables, &mut out),
                        _ => out.clone_from(&sql.extended.text),
                    }
                    expected.push_str(&format!("pgbench: client 0 sending {}\n", String::from_utf8(out).unwrap()));
                    statements += 1;
                }
                other => panic!("{other:?}"),
            }
        }
        let mut found = String::new();
        for line in printed.split_inclusive('\n') {
            let aside = ["receiving", "executing script", "pghost", "connecting"].iter().any(|s| line.contains(s));
            if !aside {
                found.push_str(line);
            }
        }
        assert_eq!(expected, found);
        assert!(statements >= 2 && !printed.contains("error"), "{printed}");
        assert_eq!(variables.value(names.find(b"x").unwrap()), Ok(Value::Int(5)));
    }
}
