//! Records, results directories, workload directories and caches of others: nothing of them is followed, executed or obeyed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use pgdyno_net::Admin;
use serde_json::Value;

use crate::given_server::{Place, TRUST};
use crate::own::write;
use crate::program::{Home, PATIENCE, eventually, json};
use crate::server;

/// A text that a terminal, a page, a spreadsheet and a shell would obey.
const POISON: &str =
    "\u{1b}]0;owned\u{7}\u{9b}2J <img src=x onerror=alert(1)> @all |cell| `rm` [x](http://evil.example)";

/// A run of the fixture in the results of this home, changed.
fn put(home: &Home, id: &str, change: impl FnOnce(&mut Value)) -> PathBuf {
    let directory = home.join("pgdyno-results").join(id);
    fs::create_dir_all(&directory).unwrap();
    let mut record = json(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json"));
    record["id"] = id.into();
    change(&mut record);
    fs::write(directory.join("run.json"), record.to_string()).unwrap();
    directory
}

/// A file that must not be written to through a link.
fn victim(home: &Home) -> PathBuf {
    let victim = home.join("victim");
    fs::write(&victim, "precious").unwrap();
    victim
}

fn is_untouched(victim: &Path) {
    assert_eq!(fs::read_to_string(victim).unwrap(), "precious");
}

#[test]
fn pages_are_not_written_through_links() {
    let home = Home::new();
    let victim = victim(&home);
    let run = put(&home, "20260101T000000Z-a", |_| {});
    put(&home, "20260102T000000Z-b", |_| {});
    let results = home.join("pgdyno-results");
    for link in [run.join("report.html"), results.join("compare.html"), results.join("scaling.html")] {
        symlink(&victim, link).unwrap();
    }
    home.run(&["report", "20260101", "--format", "html"]).ok();
    home.run(&["compare", "20260101", "20260102", "--format", "html", "--anyway"]);
    home.run(&["scaling", "2026*", "--axis", "clients", "--format", "html"]);
    is_untouched(&victim);
    assert!(fs::symlink_metadata(run.join("report.html")).unwrap().is_file(), "the link is replaced");
    // A link that the user types is the user's.
    let own = home.join("own.html");
    fs::write(home.join("page.html"), "").unwrap();
    symlink(home.join("page.html"), &own).unwrap();
    home.run(&["report", "20260101", "--format", "html", "-o", "own.html"]).ok();
    assert!(fs::read_to_string(home.join("page.html")).unwrap().contains("<html"));
}

#[test]
fn a_run_writes_through_no_link_and_needs_no_list() {
    let home = Home::new();
    let victim = victim(&home);
    let run = ["run", "select-only", "--target", "null", "-t", "10", "-q", "--out", "there"];
    for make in ["ln -s ../victim", "ln -s ../nowhere", "mkfifo", "mkdir"] {
        fs::create_dir_all(home.join("there")).unwrap();
        let made =
            Command::new("sh").arg("-c").arg(format!("{make} results.csv")).current_dir(home.join("there")).status();
        assert!(made.unwrap().success());
        home.run(&run).ok().says(&["results.csv"]);
        is_untouched(&victim);
        assert!(!home.join("nowhere").exists());
        fs::remove_dir_all(home.join("there")).unwrap();
    }
    home.run(&run).ok();
    assert!(home.join("there/results.csv").is_file());
    let left: Vec<_> = fs::read_dir(home.join("there")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn a_program_of_a_record_is_not_run() {
    let home = Home::new();
    let program = home.join("evil/bin/postgres");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::write(
        &program,
        format!("#!/bin/sh\ntouch {}\necho postgres '(PostgreSQL) 17.0'\n", home.join("executed").display()),
    )
    .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    put(&home, "20260101T000000Z-a", |record| record["plan"]["target"] = "embedded:./evil/bin".into());
    put(&home, "20260102T000000Z-b", |record| {
        record["plan"]["target"] = "db1".into();
        record["plan"]["target_dsn"] = format!("embedded:{}", home.join("evil/bin").display()).into();
    });
    for (command, id) in [("plan", "20260101"), ("run", "20260101"), ("plan", "20260102"), ("run", "20260102")] {
        let ran = home.run(&[command, "--again", id]);
        ran.ended(1).says(&["the program of a record is not run", "--target embedded:"]);
    }
    assert!(!home.join("executed").exists());
    home.run(&["plan", "--again", "20260101", "--target", "null"]).ok();
}

#[test]
fn what_a_record_asks_for_beyond_its_sql_is_to_be_confirmed() {
    let home = Home::new();
    write(&home, "s", &[("a.sql", "\\shell touch executed\nSELECT 1;\n")]);
    home.run(&["run", "s/a.sql", "--target", "null", "-t", "1", "-q"]).ok();
    fs::remove_file(home.join("executed")).unwrap();
    home.run(&["plan", "--again", "last"]).ok();
    home.run(&["run", "--again", "last", "-q"]).ended(1).says(&["the shell commands of s/a.sql", "--yes"]);
    assert!(!home.join("executed").exists());
    home.run(&["run", "--again", "last", "-q", "--yes"]).ok();
    assert!(home.join("executed").exists());
    fs::remove_file(home.join("executed")).unwrap();
    for script in ["SELECT 1; \\shell touch executed\n", "\\ shell touch executed\nSELECT 1;\n"] {
        write(&home, "s", &[("b.sql", script)]);
        home.run(&["run", "s/b.sql", "--target", "null", "-t", "1", "-q"]).ok();
        fs::remove_file(home.join("executed")).unwrap();
        home.run(&["run", "--again", "last", "-q"]).ended(1).says(&["the shell commands of s/b.sql"]);
        assert!(!home.join("executed").exists());
    }
    put(&home, "20990101T000000Z-b", |record| record["plan"]["target"] = "host=192.0.2.1 dbname=x user=u".into());
    home.run(&["plan", "--again", "last"]).ended(1).says(&["the server host=192.0.2.1", "another --target"]);
}

#[test]
fn what_runs_programs_on_a_private_server_is_to_be_confirmed() {
    if !server::available("records for private servers") {
        return;
    }
    let home = Home::of_an_ordinary_user();
    let executed = home.join("executed");
    let command = format!("cat >{}", executed.display());
    write(&home, "s", &[("a.sql", &format!("COPY (SELECT 1) TO PROGRAM '{command}';\n"))]);
    let again = |more: &[&str]| home.run(&[&["run", "--again", "last", "-q"], more].concat());
    home.run(&["run", "s/a.sql", "-c", "1", "-t", "1", "-q"]).ok();
    // The scripts are here as they were: they are the user's own.
    fs::remove_file(&executed).unwrap();
    again(&[]).ok();
    fs::remove_file(&executed).unwrap();
    fs::remove_dir_all(home.join("s")).unwrap();
    home.run(&["plan", "--again", "last"]).ok();
    again(&[]).ended(1).says(&["the statements of s/a.sql, as superuser of a private server", "--yes"]);
    assert!(!executed.exists());

    // Settings of the server that run a program, or load one.
    let with = |id: &str, setting: &str, value: &str| {
        put(&home, id, |record| {
            record["plan"]["target"] = "embedded".into();
            record["plan"]["settings"] = serde_json::json!({ setting: value });
        });
    };
    with("20990101T000000Z-b", "archive_command", "reboot");
    again(&[]).ended(1).says(&["the setting archive_command = reboot", "--yes"]);
    with("20990102T000000Z-b", "shared_preload_libraries", "/tmp/evil.so");
    again(&[]).ended(1).says(&["the setting shared_preload_libraries = /tmp/evil.so"]);
}

/// In a database of another owner, the functions that pgdyno asks are the system's: whatever that owner's have of the same names, they
/// would have the rights of a superuser.
#[test]
fn the_owner_of_a_database_gets_no_rights_of_a_superuser_who_asks_there() {
    let Some(place) = Place::new("a database of another owner", "", TRUST) else { return };
    place.execute("create role tenant login");
    place.execute("create database tenants owner tenant");
    let place = place.into_database("tenants");
    let mut there = Admin::connect(&place.server.options().with_database("tenants")).unwrap();
    there.execute("create schema evil authorization tenant").unwrap();
    let seize = "language plpgsql as $$ begin alter role tenant superuser; return null; end $$";
    for function in [
        "current_setting(text) returns text",
        "current_setting(text, boolean) returns text",
        "pg_is_in_recovery() returns boolean",
        "pg_backend_pid() returns integer",
        "pg_control_system() returns bigint",
        "pg_database_size(name) returns bigint",
    ] {
        there.execute(&format!("create function evil.{function} {seize}")).unwrap();
    }
    there.execute("alter database tenants set search_path = evil, pg_catalog, public").unwrap();
    write(&place.home, "s", &[("a.sql", "SELECT 1;\n")]);
    for command in ["doctor", "plan s/a.sql", "run s/a.sql -t 1"] {
        let ran = place.run(command);
        let is_superuser = place.ask("select rolsuper from pg_catalog.pg_roles where rolname = 'tenant'");
        assert_eq!(is_superuser, "f", "{command}: {}{}", ran.stdout, ran.stderr);
    }
    // What is in the schema of the data is found there.
    there.execute("alter database tenants set search_path = public, pg_catalog").unwrap();
    place.run("load select-only -s 1").ok();
    assert_eq!(there.query_one("select count(*) from public.pgbench_branches").unwrap(), "1");
}

#[test]
fn a_module_in_the_working_directory_is_not_imported() {
    if Command::new("python3").arg("--version").output().is_err() {
        crate::skipped::skipped("modules of Python, as there is no python3");
        return;
    }
    let home = Home::new();
    let executed = home.join("executed");
    fs::write(home.join("duckdb.py"), format!("open({executed:?}, 'w').close()\n")).unwrap();
    // Whether DuckDB is installed does not matter.
    home.run(&["plan", "tproc-ds", "--queries-from", "duckdb", "--target", "null"]);
    home.run(&["check", "tproc-h", "--oracle", "duckdb", "--target", "host=/nonexistent"]);
    assert!(!executed.exists());
}

#[test]
fn text_of_a_record_moves_no_terminal_and_is_no_markup() {
    let home = Home::new();
    put(&home, "20260101T000000Z-a", |record| {
        record["plan"]["workload"] = POISON.into();
        record["plan"]["target"] = format!("=1+1{POISON}").into();
        record["reason"] = POISON.into();
        record["status"] = "failed".into();
        record["warnings"] = vec![POISON].into();
        record["warning_details"] = Vec::<Value>::new().into();
        record["server"]["version"] = POISON.into();
        record["transactions"][0]["name"] = format!("=cmd(){POISON}").into();
    });
    let obeyed = |text: &str| text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t'));
    for line in [
        "list runs",
        "report last",
        "report last -v",
        "report last --format markdown",
        "report last --format csv",
        "compare last last --anyway",
        "compare last last --anyway --format markdown",
        "history",
        "scaling last --axis clients",
        "plan --again last",
        "export --format csv",
    ] {
        let ran = home.run(&line.split(' ').collect::<Vec<_>>());
        let is_text = !line.contains("csv");
        assert!(!is_text || !obeyed(&ran.stdout), "{line}: {}", ran.stdout);
        assert!(!obeyed(&ran.stderr), "{line}: {}", ran.stderr);
        if line.contains("markdown") {
            assert!(!ran.stdout.contains("<img") && !ran.stdout.contains("@all"), "{line}: {}", ran.stdout);
        }
        if line.contains("csv") {
            let formula = ran.stdout.split([',', '\n']).find(|cell| cell.trim_matches('"').starts_with('='));
            assert_eq!(formula, None, "{line}: {}", ran.stdout);
        }
    }
    home.run(&["report", "last", "-o", "file.txt"]).ok();
    assert!(!obeyed(&fs::read_to_string(home.join("file.txt")).unwrap()));
}

#[test]
fn functions_of_a_profile_move_no_terminal_and_are_no_markup() {
    let home = Home::new();
    let mut record = json(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/0.2.0/ab.json"));
    let poison = POISON.replace(';', ":");
    let stacks = [serde_json::json!({ "stack": format!("postgres;{poison}"), "a": 100, "b": 900 })];
    record["profile"] =
        serde_json::json!({ "frequency_hz": 199, "a_transactions": 1e3, "b_transactions": 1e3, "stacks": stacks });
    let file = "pgdyno-results/ab/20260101T000000Z-ab.json";
    fs::create_dir_all(home.join("pgdyno-results/ab")).unwrap();
    fs::write(home.join(file), record.to_string()).unwrap();
    for format in ["text", "markdown"] {
        let ran = home.run(&["report", file, "--format", format]).ok().prints(&["perf", "owned"]);
        assert!(!ran.stdout.chars().any(|c| c.is_control() && c != '\n'), "{}", ran.stdout);
        assert!(format == "text" || !ran.stdout.contains("<img"), "{}", ran.stdout);
    }
    home.run(&["report", file, "--format", "html", "-o", "page.html"]).ok();
    let page = fs::read_to_string(home.join("page.html")).unwrap();
    assert!(page.contains("<div class=\"flame\"") && page.contains("&lt;img src=x"), "{page}");
    assert!(!page.contains("<img") && !page.contains(['\u{1b}', '\u{9b}', '\u{7}']), "{page}");
}

#[test]
fn a_workload_reads_files_of_its_own_directory_only() {
    let home = Home::new();
    fs::write(home.join("secret.sql"), "SELECT 'secret';\n").unwrap();
    let manifest = |file: &str| format!("name = 'w'\n\n[[script]]\nfile = '{file}'\n");
    let absolute = home.join("secret.sql").display().to_string();
    for file in ["../secret.sql", "~/secret.sql", absolute.as_str(), "a/../../secret.sql"] {
        write(&home, "w", &[("workload.toml", &manifest(file)), ("schema.sql", "CREATE TABLE t (a int);")]);
        home.run(&["plan", "./w"]).ended(1).says(&["workload.toml", "line 4", "directory"]);
    }
    write(&home, "w", &[("workload.toml", &manifest("x.sql"))]);
    symlink("../secret.sql", home.join("w/x.sql")).unwrap();
    home.run(&["plan", "./w"]).ended(1).says(&["w/x.sql", "it is a link"]);
    fs::remove_file(home.join("w/x.sql")).unwrap();
    assert!(Command::new("mkfifo").arg(home.join("w/x.sql")).status().unwrap().success());
    home.run(&["plan", "./w"]).ended(1).says(&["w/x.sql", "not an ordinary file"]);
    fs::remove_file(home.join("w/x.sql")).unwrap();
    fs::write(home.join("w/x.sql"), "SELECT 1;\n").unwrap();
    home.run(&["plan", "./w"]).ok();
}

#[test]
fn a_cache_that_others_can_write_to_is_not_used() {
    let home = Home::of_an_ordinary_user();
    home.shell("mkdir -p cache/pgdyno/stores && chmod 777 cache/pgdyno").status().unwrap();
    for command in [
        &["server", "status"][..],
        &["run", "select-only", "--target", "embedded", "-t", "1", "-q"],
        &["cache", "list"],
    ] {
        let ran = home.run(command);
        // Nothing was kept there yet.
        let is_absent = command[0] == "server" && ran.stdout.contains("not running");
        assert!(
            is_absent || ran.stderr.contains("can be written to by other users"),
            "{command:?}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
    home.run(&["list", "runs", "--store", "host=/nowhere"]).ended(1);
}

#[test]
#[cfg(target_os = "linux")]
fn a_password_is_not_in_the_title_of_the_process() {
    let home = Home::new();
    // A server that accepts and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("host=127.0.0.1 port={} password=geheim user=app", silent.local_addr().unwrap().port());
    for target in [format!("--target={target}"), target.clone()] {
        let args = if target.starts_with("--") { vec![target.as_str()] } else { vec!["--target", target.as_str()] };
        let mut child = home.command([&["run", "select-only", "-q"], &args[..]].concat()).spawn().unwrap();
        let title = || {
            fs::read(format!("/proc/{}/cmdline", child.id())).map(|title| String::from_utf8_lossy(&title).into_owned())
        };
        eventually("the title without the password", PATIENCE, || {
            title().is_ok_and(|title| title.contains("user=app") && !title.contains("geheim"))
        });
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn a_database_of_any_name_is_reached_again() {
    let Some(place) = Place::new("names of databases", "", TRUST) else { return };
    for database in ["a b", r"it's \ a=b", "größe"] {
        place.execute(&format!("create database \"{database}\""));
        let target = format!(
            "host={} port={} user=postgres dbname='{}'",
            place.server.dir().display(),
            place.server.port,
            database.replace('\\', r"\\").replace('\'', r"\'")
        );
        place.home.run(&["run", "select-only", "-s", "1", "-c", "1", "-t", "10", "-q", "--target", &target]).ok();
        place.home.run(&["plan", "--again", "last"]).ok();
        place.home.run(&["run", "--again", "last", "-q"]).ok();
        assert_eq!(place.home.runs().pop().unwrap().text("/plan/target"), place.home.runs()[0].text("/plan/target"));
        for run in place.home.runs() {
            fs::remove_dir_all(place.home.join("pgdyno-results").join(run.text("/id"))).unwrap();
        }
    }
}
