//! The JSON Schemas in `schemas/v1`: those of the types, and those of what the program writes.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::given_server::TRUST;
use crate::postgres;
use crate::program::{Home, REST, finish, json};
use crate::python::{self, python};
use crate::server::TestServer;

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/v1")
}

fn schemas() -> Vec<(&'static str, Value)> {
    let mut schemas = pgdyno_report::schemas::all();
    schemas.push(("capture", pgdyno_report::schemas::schema::<pgdyno_capture::CaptureRecord>("capture")));
    schemas.push(("doctor", pgdyno_report::schemas::schema::<pgdyno_doctor::Examination>("doctor")));
    schemas
}

#[test]
fn the_files_are_the_schemas_of_the_types() {
    let mut names = BTreeSet::new();
    for (name, schema) in schemas() {
        let path = directory().join(format!("{name}.json"));
        let text = format!("{}\n", serde_json::to_string_pretty(&schema).unwrap());
        if std::env::var_os("PGDYNO_WRITE_SCHEMAS").is_some() {
            std::fs::write(&path, &text).unwrap();
        }
        let file = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(file == text, "{name} has changed: PGDYNO_WRITE_SCHEMAS=1 writes schemas/v1 anew");
        names.insert(format!("{name}.json"));
    }
    let files = std::fs::read_dir(directory()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(files.collect::<BTreeSet<_>>(), names);
    let readme = std::fs::read_to_string(directory().join("../README.md")).unwrap();
    assert!(names.iter().all(|name| readme.contains(&format!("(v1/{name})"))), "schemas/README.md names all of them");
}

/// A schema that refuses fields which it does not name. Objects with names of their own for keys stay open, and so do the forms of
/// an object that has other fields beside theirs: it refuses what none of them names.
fn strict(schema: &mut Value) {
    match schema {
        Value::Object(map) => {
            let is_object = map.contains_key("properties");
            if is_object && !map.contains_key("additionalProperties") {
                map.insert("unevaluatedProperties".to_owned(), false.into());
            }
            for (key, part) in map.iter_mut() {
                strict(part);
                let forms = part.as_array_mut().filter(|_| is_object && key == "oneOf");
                for form in forms.into_iter().flatten().filter_map(Value::as_object_mut) {
                    form.remove("unevaluatedProperties");
                }
            }
        }
        Value::Array(list) => list.iter_mut().for_each(strict),
        _ => {}
    }
}

/// What the program has written, by schema.
struct Written {
    directory: PathBuf,
    names: Vec<String>,
}

impl Written {
    fn keep(&mut self, name: &str, text: &str) {
        self.names.push(name.to_owned());
        let file = self.directory.join(format!("{name}.{}.json", self.names.len()));
        std::fs::write(file, text).unwrap();
    }
}

/// Two tiny runs, then every command that prints JSON about them.
#[test]
fn what_the_program_writes_is_what_the_schemas_say() {
    let Some(python) = python(&["jsonschema"], "validates JSON") else { return };
    let home = Home::of_an_ordinary_user();
    let directory = tempfile::tempdir().unwrap();
    let mut written = Written { directory: directory.path().to_owned(), names: Vec::new() };
    let mut print = |name: &str, code: i32, args: &[&str]| {
        let ran = home.run(args).ended(code);
        written.keep(name, &ran.stdout);
        serde_json::from_str::<Value>(&ran.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}"))
    };
    let null = ["--target", "null", "-T", "1", "--ramp", "0", "-c", "2", "-q", "--format", "json"];
    for seed in ["1", "2"] {
        print("run", 0, &[&["run", "select-only", "--random-seed", seed, "--label", "commit=abc"][..], &null].concat());
    }
    print("run", 0, &["report", "last", "--format", "json"]);
    print("compare", 21, &["compare", "last-1", "last", "--fail-if-slower", "3%", "--format", "json"]);
    print("history", 21, &["history", "--format", "json"]);
    print("scaling", 0, &["scaling", "last-1", "last", "--axis", "clients", "--format", "json"]);
    let listed = print("list-runs", 0, &["list", "runs", "--format", "json"]);
    assert_eq!(listed["runs"].as_array().map(Vec::len), Some(2), "{listed}");
    assert_eq!(listed["runs"][0]["labels"]["commit"], "abc");
    print("list-workloads", 0, &["list", "workloads", "--format", "json"]);
    let shown = print("list-workloads", 0, &["show", "tproc-c", "--format", "json"]);
    assert_eq!(shown["workloads"].as_array().map(Vec::len), Some(1), "{shown}");
    let recipes = print("list-recipes", 0, &["list", "recipes", "--format", "json"]);
    for recipe in recipes["recipes"].as_array().unwrap() {
        print("show", 0, &["show", recipe["name"].as_str().unwrap(), "--format", "json"]);
    }
    print("cloud-list", 0, &["cloud", "list", "--format", "json"]);
    home.run(&["cloud", "init", "local", "-o", "lab.toml"]).ok();
    print("cloud-plan", 0, &["cloud", "plan", "lab.toml", "--format", "json"]);
    print("cloud-status", 0, &["cloud", "status", "--format", "json"]);
    let plan = print("plan", 0, &["plan", "tproc-c", "-w", "2", "--target", "embedded", "--format", "json"]);
    assert_eq!(plan["plan"]["workload"], "tproc-c");
    assert!(plan["steps"].as_array().unwrap().iter().any(|step| step["name"] == "load"), "{plan}");
    print("plan", 0, &["plan", "ch-benchmark", "-w", "1", "--target", "null", "--format", "json"]);
    // Its exit code is its worst finding's.
    let doctor = home.run(&["doctor", "--format", "json"]);
    written.keep("doctor", &doctor.stdout);
    std::fs::write(
        home.join("tiny.toml"),
        "name = \"tiny\"\ntargets = [\"null\"]\n[[run]]\nwhat = \"select-only\"\nrate = 500\ntime = \"1s\"\nramp = \"0s\"\nclients = 2\n",
    )
    .unwrap();
    let mut print = |name: &str, code: i32, args: &[&str]| {
        let ran = home.run(args).ended(code);
        written.keep(name, &ran.stdout);
        serde_json::from_str::<Value>(&ran.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}"))
    };
    print("suite-plan", 0, &["suite", "plan", "tiny.toml", "--format", "json"]);
    let ran = print("suite-report", 0, &["suite", "run", "tiny.toml", "--format", "json"]);
    assert_eq!(ran["cells"][0]["complete"].as_array().map(Vec::len), Some(1), "{ran}");
    let list = print("suite-list", 0, &["suite", "list", "--format", "json"]);
    assert_eq!((&list["suites"][0]["planned"], &list["suites"][0]["complete"]), (&1.into(), &1.into()), "{list}");
    print("suite-status", 0, &["suite", "status", "tiny", "--format", "json"]);
    let cells = print("suite-report", 0, &["suite", "report", "tiny", "--format", "json"]);
    assert!(cells["cells"][0]["mean"].as_f64().unwrap() > 0.0, "{cells}");
    let exported = print("export", 0, &["export", "--format", "json"]);
    assert_eq!(exported.as_array().map(Vec::len), Some(3), "{exported}");
    let started = print("suite-start", 0, &["suite", "start", "tiny.toml", "--format", "json"]);
    assert!(started["pid"].as_u64() > Some(1), "{started}");
    let attached = print("suite-report", 0, &["suite", "attach", "tiny", "--format", "json"]);
    assert_eq!(attached["cells"], print("suite-report", 0, &["suite", "report", "tiny", "--format", "json"])["cells"]);
    let long = std::fs::read_to_string(home.join("tiny.toml")).unwrap().replace("\"1s\"", "\"1h\"");
    std::fs::write(home.join("long.toml"), long.replace("tiny", "long")).unwrap();
    print("suite-start", 0, &["suite", "start", "long.toml", "--format", "json"]);
    let stopped = print("suite-status", 0, &["suite", "stop", "long", "--now", "--format", "json"]);
    assert!(stopped["pid"].is_null() && stopped["suite"]["complete"] == 0, "{stopped}");
    std::fs::write(home.join("rest.sql"), format!("SELECT 1;\n{REST}")).unwrap();
    let ab = ["ab", "./rest.sql", "--target", "null", "--slice", "500ms", "--budget", "1s", "--yes", "-c", "2", "-q"];
    let ran = home.run(&[&ab[..], &["--b", "mode=simple", "--format", "json"]].concat());
    assert!(matches!(ran.code, Some(0 | 20 | 21)), "{:?} {}", ran.code, ran.stderr);
    written.keep("ab", &ran.stdout);
    let search =
        ["search", "./rest.sql", "--target", "null", "-T", "1", "--ramp", "0", "--slo", "p99 < 1s", "--by", "clients"];
    let ran = home.run(&[&search[..], &["--max", "2", "--steps", "3", "-q", "--format", "json"]].concat());
    written.keep("search", &ran.stdout);
    print_null_server(&home, &mut written);
    let with_server = postgres::available("the JSON of servers, checks and loads");
    if with_server {
        with_a_server(&home, &mut written);
    }
    for run in home.runs() {
        written.keep("run", &run.record.to_string());
    }
    let missing: Vec<_> =
        schemas().iter().map(|(name, _)| *name).filter(|name| !written.names.iter().any(|n| n == name)).collect();
    if with_server {
        // A frontier takes long: the test of one validates its record.
        assert_eq!(missing, ["frontier"]);
    }
    validate(&python, &written, true);
}

/// The commands that need a server.
fn with_a_server(home: &Home, written: &mut Written) {
    let mut print = |name: &str, args: &[&str]| {
        let ran = home.run(args).ok();
        written.keep(name, &ran.stdout);
        serde_json::from_str::<Value>(&ran.stdout).unwrap_or_else(|error| panic!("{args:?}: {error}"))
    };
    let faults = print("fault-list", &["fault", "list", "--target", "embedded", "--format", "json"]);
    assert_eq!(faults["faults"][0]["name"], "kill-9", "{faults}");
    let status = print("server", &["server", "status", "--format", "json"]);
    assert_eq!(status["state"], "absent", "{status}");
    let started = print("server", &["server", "start", "--tcp", "--format", "json"]);
    assert!(started["password"].as_str().is_some_and(|password| password.len() > 8), "it is shown once");
    let status = print("server", &["server", "status", "--format", "json"]);
    assert_eq!((&status["state"], status.get("password")), (&"running".into(), None), "{status}");
    let loaded = print("check", &["load", "tpcb-like", "-s", "1", "-q", "--format", "json"]);
    assert_eq!(loaded["loads"].as_array().map(Vec::len), Some(1), "{loaded}");
    let checked = print("check", &["check", "tpcb-like", "-q", "--format", "json"]);
    assert!(checked["checks"].as_array().is_some_and(|checks| !checks.is_empty()), "{checked}");
    print("run", &["run", "tpcb-like", "-t", "50", "-c", "1", "-q", "--format", "json"]);
    let dropped = print("drop", &["drop", "tpcb-like", "-q", "--format", "json"]);
    assert!(dropped["dropped"].as_array().is_some_and(|names| names.len() >= 4), "{dropped}");
    print("server", &["server", "stop", "--format", "json"]);

    // A meeting and a store.
    let server = TestServer::start("shared_preload_libraries = 'pg_stat_statements'\n", TRUST);
    let dsn = format!("host=127.0.0.1 port={} user=postgres dbname=postgres", server.port);
    server.admin().execute("create extension pg_stat_statements").unwrap();
    home.run(&["capture", "--window", "1s", "-o", "a.capture", "--target", &dsn]).ok();
    print("capture", &["capture", "show", "a.capture", "--format", "json"]);
    let mut agent = home.start(&["agent", "--meet", &dsn, "--allow-target", "null"]);
    agent.until_it_says("waits for runs", 1);
    let agents = print("agents", &["agents", "--meet", &dsn, "--format", "json"]);
    assert_eq!(agents["agents"][0]["state"], "idle", "{agents}");
    drop(agent);
    let mut store = |name: &str, args: &[&str]| {
        print(&format!("store-{name}"), &[&["store", name], args, &["--store", &dsn, "--format", "json"]].concat())
    };
    assert_eq!(store("init", &[])["created"], true);
    std::fs::write(home.runs()[0].path.join("transactions.log"), "0 1 2 3 4 5\n").unwrap();
    let pushed = store("push", &[]);
    let kinds = |form: &Value, list: &str| -> BTreeSet<String> {
        form[list].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
    };
    let all: BTreeSet<String> = ["run", "experiment", "search"].map(str::to_owned).into();
    assert_eq!(kinds(&pushed, "pushed"), all, "{pushed}");
    assert!(pushed["pushed"].to_string().contains("transactions.log"), "{pushed}");
    assert_eq!(kinds(&store("list", &[]), "stored"), all);
    let search = pushed["pushed"].as_array().unwrap().iter().find(|one| one["kind"] == "search").unwrap();
    let pulled = store("pull", &[search["name"].as_str().unwrap(), "--out", "copy"]);
    assert_eq!(kinds(&pulled, "pulled"), ["run", "search"].map(str::to_owned).into());
    assert_eq!(kinds(&store("prune", &["--older-than", "0h", "--dry-run"]), "deleted"), all);
}

/// The connection string of a null server, which serves until it is killed.
fn print_null_server(home: &Home, written: &mut Written) {
    let mut command = home.command(["server", "null", "--port", "0", "--format", "json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    while !text.ends_with("}\n") {
        assert!(lines.read_line(&mut text).unwrap() > 0, "{text}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let form: Value = serde_json::from_str(&text).unwrap();
    assert!(form["target"].as_str().unwrap().contains("host=127.0.0.1 port="), "{form}");
    written.keep("server-null", &text);
}

/// Validates a document that another test has made.
pub(crate) fn validate_one(name: &str, text: &str) {
    let Some(python) = python(&["jsonschema"], "validates JSON") else { return };
    let directory = tempfile::tempdir().unwrap();
    let mut written = Written { directory: directory.path().to_owned(), names: Vec::new() };
    written.keep(name, text);
    validate(&python, &written, true);
}

/// Validates all that was written.
fn validate(python: &Path, written: &Written, are_valid: bool) {
    for (name, mut schema) in schemas() {
        strict(&mut schema);
        std::fs::write(written.directory.join(format!("{name}.schema.json")), schema.to_string()).unwrap();
    }
    let mut command = python::program(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/schemas/validate.py")).arg(&written.directory);
    let ran = finish(command);
    assert_eq!(ran.code, Some(i32::from(!are_valid)), "{}\n{}", ran.stdout, ran.stderr);
}

#[test]
fn a_field_that_no_schema_knows_is_found() {
    let Some(python) = python(&["jsonschema"], "validates JSON") else { return };
    let directory = tempfile::tempdir().unwrap();
    let mut written = Written { directory: directory.path().to_owned(), names: Vec::new() };
    let home = Home::new();
    home.run(&["run", "select-only", "--target", "null", "-T", "1", "--ramp", "0", "-c", "1", "-q"]).ok();
    let mut record = json(&home.the_run().path.join("run.json"));
    record["summary"]["tps_too"] = 1.into();
    written.keep("run", &record.to_string());
    validate(&python, &written, false);
}
