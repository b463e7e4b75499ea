//! Valid directories, and all mistakes in one.

use pgdyno_workload::{Capabilities, When};

use super::*;
use crate::own::{LOAD, SCHEMA};
use crate::registry;

const FILES: [(&str, &str); 4] = [
    (
        MANIFEST,
        "summary = 'a'\nscale = 'b'\n[params]\nrows = 10\nhot = 5\n[[script]]\nfile = 'a.sql'\nweight = 3\n\
         [[script]]\nfile = 'b.sql'\n[[check]]\nname = 'all'\nsql = 'select 1 having count(*) <> :rows;'\n",
    ),
    (SCHEMA, "create table t (a int); -- :hot"),
    (LOAD, "insert into t select generate_series(1, :rows)"),
    ("a.sql", "select :hot;"),
];

fn directory(changes: &[(&str, Option<&str>)]) -> Result<WorkloadDirectory, String> {
    let mut files: BTreeMap<_, _> = FILES.into();
    files.insert("b.sql", "select 2;");
    for (name, text) in changes {
        match text {
            Some(text) => files.insert(name, text),
            None => files.remove(name),
        };
    }
    WorkloadDirectory::read("some/where/", &mut |name| Ok(files.get(name).map(|text| text.as_bytes().to_vec())))
        .map_err(|error| error.to_string())
}

/// The same scripts on the tables of a built-in workload.
fn on_tables(data: &str) -> Result<WorkloadDirectory, String> {
    let manifest = format!("[data]\n{data}\n[params]\nhot = 5\n[[script]]\nfile = 'a.sql'");
    directory(&[(MANIFEST, Some(&manifest)), (SCHEMA, None), (LOAD, None)])
}

fn own(directory: &WorkloadDirectory, given: &[(&str, &str)]) -> Arc<dyn DataSet> {
    let meta = directory.meta();
    let params = Params::new(meta.id, meta.params, given.iter().copied()).unwrap();
    let noop = registry::build("noop", []).unwrap().drive;
    directory.build(&params, noop).unwrap().data.swap_remove(0)
}

#[test]
fn a_directory_is_a_workload() {
    let directory = directory(&[]).unwrap();
    let meta = directory.meta();
    assert_eq!((meta.id, meta.dataset, meta.scale_name), ("some/where", "where", "scale"));
    let when: Vec<_> = meta.params.iter().map(|p| (p.name, p.default, p.when)).collect();
    assert_eq!(when, [("scale", "1", When::Run), ("hot", "5", When::Run), ("rows", "10", When::Load)]);
    assert_eq!(directory.scripts().iter().map(|s| s.weight).collect::<Vec<_>>(), [3, 1]);
    let own = own(&directory, &[("rows", "7")]);
    let data = own.sql_data().unwrap();
    assert_eq!(data.files[1].statements[0].sql, "insert into t select generate_series(1, 7)");
    assert_eq!(data.files[1].name, "some/where/load.sql");
    assert_eq!(own.checks()[0].sql.text(&|| false).unwrap(), "select 1 having count(*) <> 7");
}

#[test]
fn a_directory_without_load_sql_has_only_its_schema() {
    let directory = directory(&[(LOAD, None)]).unwrap();
    assert_eq!(own(&directory, &[]).sql_data().unwrap().files.len(), 1);
    assert!(directory.meta().params.iter().all(|p| p.when == When::Run));
}

#[test]
fn data_may_be_that_of_a_built_in_workload() {
    let directory = on_tables("workload = 'tpcb-like'\nparams = { history-indexes = true }").unwrap();
    let meta = directory.meta();
    assert_eq!((directory.name(), meta.dataset, meta.scale_name), ("where", "pgbench", "scale"));
    let params: Vec<_> = meta.params.iter().map(|p| (p.name, p.default, p.shapes_data(), p.is_fixed())).collect();
    assert_eq!(
        params,
        [
            ("scale", "1", true, false),
            ("history-indexes", "true", true, true),
            ("partitions", "0", true, false),
            ("partition-method", "range", true, false),
            ("hot", "5", false, false)
        ]
    );
    let caps = Capabilities::default();
    let (own, tpcb) = (own(&directory, &[("scale", "3")]), |indexes| {
        registry::build("tpcb-like", [("scale", "3"), ("history-indexes", indexes)]).unwrap().data.swap_remove(0)
    });
    assert!(own.sql_data().is_none());
    assert_eq!((own.scale(), own.bytes()), (3, tpcb("true").bytes()));
    assert_eq!(own.bytes() - tpcb("false").bytes(), 5 * 8192);
    let shape = |w: &dyn DataSet| w.tables(&caps).into_iter().map(|t| (t.ddl, t.indexes)).collect::<Vec<_>>();
    assert_eq!(shape(&*own), shape(&*tpcb("true")));
    let checks = |w: &dyn DataSet| w.checks().iter().map(|c| c.name).collect::<Vec<_>>();
    assert_eq!((checks(&*own), own.before_run()), (checks(&*tpcb("true")), tpcb("true").before_run()));

    let error = Params::new(meta.id, meta.params, [("history-indexes", "false")]).unwrap_err().to_string();
    assert_eq!(error, "history-indexes must be one of true, but 'false' was given");
    // A parameter that is not fixed has the loaded or given value.
    let directory = on_tables("workload = 'tproc-c'\nparams = { warehouses = 4, seed = '9' }").unwrap();
    assert!(directory.meta().params.iter().any(|p| p.name == "partitions" && !p.is_fixed()));
    assert_eq!(self::own(&directory, &[]).scale(), 4);
}

#[test]
fn checks_of_a_built_in_workload_are_chosen_and_ones_own_come_after_them() {
    let names = |checks: &str| {
        let more = "[[check]]\nname = 'mine'\nunchanged = true\nsql = 'select 1'";
        let directory = on_tables(&format!("workload = 'tpcb-like'\n{checks}\n{more}")).unwrap();
        let checks = own(&directory, &[]).checks();
        assert_eq!(checks.last().unwrap().expect, Expect::UnchangedByRun);
        checks.iter().map(|check| check.name).collect::<Vec<_>>()
    };
    assert_eq!(names(""), ["branches-tellers-history", "tellers-branches", "accounts-history", "mine"]);
    assert_eq!(names("checks = ['accounts-history']"), ["accounts-history", "mine"]);
    assert_eq!(names("checks = []"), ["mine"]);
}

#[test]
fn what_is_wrong_with_the_data_of_a_built_in_workload_is_reported() {
    let cases = [
        ("workload = 'tpcb-liek'", "data: 'tpcb-liek' is not a built-in workload with tables; did you mean tpcb-like?"),
        (
            "workload = 'noop'",
            "data: 'noop' is not a built-in workload with tables; choose from tpcb-like, simple-update,",
        ),
        ("workload = 'sensor-1'", "data: 'sensor-1' is not a built-in workload with tables; choose from tpcb-like,"),
        ("params = {}", "data: name a workload, or write existing = true"),
        ("workload = 'tpcb-like'\nexisting = true", "data: it has a workload and existing: remove one of them"),
        ("existing = true\nparams = { a = 1 }", "data: existing tables have no params and no checks"),
        ("workload = 'tpcb-like'\nparam = {}", "unknown field `param`"),
        (
            "workload = 'tpcb-like'\nparams = { warehouses = 1 }",
            "data: workload tpcb-like has no parameter 'warehouses'; it has scale, history-indexes, \
             partitions, partition-method, pipeline",
        ),
        ("workload = 'tpcb-like'\nparams = { scale = 0 }", "data: scale must be a whole number between 1 and"),
        ("workload = 'tpcb-like'\nparams = { scale = [] }", "data: scale must be a number, a text, true or false"),
        (
            "workload = 'tpcb-like'\nparams = { pipeline = true }",
            "data: pipeline is a parameter of the runs of tpcb-like",
        ),
        (
            "workload = 'select-only'\nchecks = ['branches']",
            "data: select-only has no check 'branches'; it has branches-tellers, tellers-branches, accounts-history",
        ),
    ];
    for (data, message) in cases {
        let error = on_tables(data).unwrap_err();
        assert!(error.contains("some/where/workload.toml: ") && error.contains(message), "{error}");
    }
    let with = |text: &str| format!("{text}\n[data]\nworkload = 'tpcb-like'\n[[script]]\nfile = 'a.sql'");
    for (manifest, file, message) in [
        (with(""), SCHEMA, "its data comes from tpcb-like, by [data], and from schema.sql"),
        (with(""), LOAD, "its data comes from tpcb-like, by [data], and from load.sql"),
        (with("scale = 'x'"), "a.sql", "scale: what a unit of it is, is said by the workload of [data]"),
        (with("[params]\nscale = 3"), "a.sql", "params: scale comes with the workload of [data]"),
        (
            with("[[check]]\nname = 'accounts-history'\nsql = 'select 1'"),
            "a.sql",
            "two checks are called 'accounts-history'",
        ),
    ] {
        let absent = [(MANIFEST, Some(manifest.as_str())), (SCHEMA, None), (LOAD, None), (file, Some("select 1"))];
        let error = directory(&absent).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn what_is_missing_or_wrong_is_reported_with_the_file() {
    let script = "[[script]]\nfile = 'a.sql'\n";
    let with = |text: &str| format!("{text}\n{script}");
    let cases = [
        (MANIFEST, None, "some/where has no workload.toml; your own workload is"),
        (SCHEMA, None, "some/where has no schema.sql;"),
        ("a.sql", None, "some/where has no a.sql;"),
        (MANIFEST, Some(String::new()), "some/where/workload.toml: it names no script"),
        (MANIFEST, Some("[[script]]\nfile = 'a.sql'\nweight = 0".into()), "all scripts have weight 0"),
        (MANIFEST, Some(script.repeat(129)), "it names 129 scripts: at most 128 are allowed"),
        (MANIFEST, Some(with("name = 'a b'")), "some/where/workload.toml: 'a b' cannot be its name"),
        (MANIFEST, Some(with("name = 'pgbench'")), "'pgbench' is the name of a built-in workload"),
        (MANIFEST, Some(with("nmae = 'x'")), "some/where/workload.toml: TOML parse error at line 1"),
        (MANIFEST, Some(with("[params]\nscale = 1")), "params: scale is always defined"),
        (SCHEMA, Some("create table t (a int);\nselect 'a".into()), "schema.sql: line 2: a quote is never closed"),
        (
            MANIFEST,
            Some(format!("{script}[[check]]\nname = 'c'\nsql = 'select 1; select 2'")),
            "workload.toml, check c: a check is one query, but there are 2",
        ),
    ];
    for (file, text, message) in cases {
        let error = directory(&[(file, text.as_deref())]).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn lists_of_values_are_queries_with_the_values_of_parameters() {
    let list = |name: &str, sql: &str| {
        let manifest = format!(
            "[params]\nrows = 10\n[[script]]\nfile = 'a.sql'\n[[values]]\nname = '{name}'\nsql = \"{sql}\"\n\
             [[values]]\nname = 'other'\nsql = '(table t)'\n"
        );
        directory(&[(MANIFEST, Some(&manifest))])
    };
    let found = list("hot_1", "select :rows as n, ':rows' as word -- all;").unwrap();
    let params = Params::new(found.meta().id, found.meta().params, [("rows", "7")]).unwrap();
    let queries = found.value_queries(&params).unwrap();
    assert_eq!((queries[0].name.as_str(), queries[1].name.as_str()), ("hot_1", "other"));
    assert_eq!(queries[0].sql, "select 7 as n, ':rows' as word -- all;");
    assert_eq!(queries[0].place, "some/where/workload.toml, values hot_1");
    for (name, sql, words) in [
        ("a-b", "select 1", "some/where/workload.toml: values: 'a-b' cannot be the name of a list"),
        ("", "select 1", "'' cannot be the name"),
        ("other", "select 1", "two lists of values are called 'other'"),
        ("a", "select 1; select 2", "workload.toml, values a: a list is one query, but there are 2"),
        ("a", "-- nothing", "a list is one query, but there are 0"),
        ("a", "insert into t values (1) returning a", "begins with 'insert'"),
        ("a", "select 'x", "workload.toml, values a: line 1: a quote is never closed"),
    ] {
        let error = list(name, sql).unwrap_err();
        assert!(error.contains(words), "{sql}: {error}");
    }
}
