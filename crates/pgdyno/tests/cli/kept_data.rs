//! Data that private servers have loaded, kept for later runs that want the same.

use crate::own;
use crate::program::{Home, Run};
use crate::server;

/// A load long enough for its data to be kept.
const FILES: [(&str, &str); 4] = [
    (
        "workload.toml",
        "summary = 'slow to load'\n[params]\nrows = { default = 100, help = 'rows' }\n[[script]]\nfile = 'look.sql'\n",
    ),
    ("schema.sql", "create table slow_to_load (id int primary key);"),
    ("load.sql", "insert into slow_to_load select generate_series(1, :rows); select pg_sleep(5.1);"),
    ("look.sql", "select count(*) from slow_to_load;\n\\sleep 5 ms\n"),
];

fn kept(home: &Home) -> Vec<serde_json::Value> {
    let listed = home.run(&["cache", "list", "--format", "json"]).ok();
    serde_json::from_str::<Vec<_>>(&listed.stdout).unwrap()
}

#[test]
fn data_that_took_long_to_load_is_copied_the_next_time() {
    if !server::available("kept data") {
        return;
    }
    let home = Home::of_an_ordinary_user();
    own::write(&home, "mine", &FILES);
    let run = |more: &[&str]| {
        let args = ["run", "./mine", "-c", "2", "-R", "100", "-T", "1", "--ramp", "0"];
        let ran = home.run(&[&args, more].concat()).ok();
        (ran, home.runs().pop().unwrap())
    };
    let has = |run: &Run, pointer: &str| run.record.pointer(pointer).is_some();
    let is_copied = |run: &Run| has(run, "/cached_data");

    home.run(&["cache", "list"]).ok().prints(&["no data is kept"]);
    let (ran, first) = run(&[]);
    ran.says(&["keeping a copy of the data"]);
    assert!(!is_copied(&first));
    let entries = kept(&home);
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert!(entries[0]["data"].as_str().unwrap().contains("mine"), "{entries:?}");

    let (ran, second) = run(&[]);
    ran.says(&["copying the data that an earlier run has loaded"]);
    assert!(is_copied(&second) && !has(&second, "/load"));
    assert_eq!(second.at("/cached_data/bytes"), &entries[0]["bytes"]);
    assert_eq!(second.number("/summary/failed"), 0.0);

    // Other parameters are other data; --cache-size 0 neither uses nor keeps any.
    let (_, other) = run(&["--cache-size", "0", "-D", "rows=7"]);
    assert!(!is_copied(&other) && has(&other, "/load"));
    assert_eq!(kept(&home).len(), 1);

    // What is damaged is not used, and its place is taken.
    let key = entries[0]["key"].as_str().unwrap();
    let data = home.join("cache/pgdyno/cache").join(key).join("data");
    std::fs::remove_file(data.join("PG_VERSION")).unwrap();
    let (_, third) = run(&[]);
    assert!(!is_copied(&third) && data.join("PG_VERSION").is_file());

    home.run(&["cache", "clear"]).ok().prints(&["removed "]);
    assert_eq!(kept(&home), Vec::<serde_json::Value>::new());
    home.assert_clean();
}

/// Several runs change the data: it is loaded before the first one, and kept.
#[test]
fn a_suite_keeps_what_it_loads_and_begins_with_it_the_next_time() {
    if !server::available("kept data of a suite") {
        return;
    }
    let home = Home::of_an_ordinary_user();
    own::write(&home, "mine", &FILES);
    let suite = |name: &str| {
        let text = format!(
            "name = '{name}'\ntargets = ['embedded']\n\
             [[run]]\nwhat = './mine'\nrate = 100\ntime = '1s'\nramp = '0s'\nmatrix.clients = [1, 2]\n"
        );
        let path = home.join(format!("{name}.toml"));
        std::fs::write(&path, text).unwrap();
        home.run(&["suite", "run", path.to_str().unwrap()]).ok()
    };
    suite("first").says(&["keeping a copy of the data"]);
    assert_eq!(kept(&home).len(), 1);
    suite("second").says(&["copying the data that an earlier run has loaded"]);
    let runs = home.runs();
    assert_eq!(runs.len(), 4);
    for run in &runs {
        assert!(run.record.pointer("/load").is_none(), "{}", run.record);
        assert_eq!(run.number("/summary/failed"), 0.0);
    }
    home.assert_clean();
}

/// The runs of a search and of an experiment begin with the data that the first of them has loaded.
#[test]
fn a_search_keeps_what_it_loads_and_an_experiment_begins_with_it() {
    if !server::available("kept data of a search") {
        return;
    }
    let home = Home::of_an_ordinary_user();
    own::write(&home, "mine", &FILES);
    let search = "search ./mine --slo p99<10s --by clients --min 1 --max 2 -T 1 --ramp 0";
    let reported = home.run(&search.split(' ').collect::<Vec<_>>()).ok();
    reported.says(&["keeping a copy of the data"]);
    assert_eq!(kept(&home).len(), 1);
    let searched = home.runs();
    assert!(searched.len() > 1, "a search of several runs");
    let experiment = "ab ./mine -c 2 --b work_mem=9MB --slice 500ms --budget 1s --yes";
    let reported = home.run(&experiment.split(' ').collect::<Vec<_>>());
    reported.says(&["copying the data that an earlier run has loaded", "copying the data of A to B"]);
    let runs = home.runs();
    assert!(runs.len() > searched.len(), "an experiment of several runs");
    for run in &runs {
        assert!(run.record.pointer("/load").is_none(), "{}", run.record);
    }
    assert_eq!(kept(&home).len(), 1);
    home.assert_clean();
}
