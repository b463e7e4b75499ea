//! `/metrics` as Prometheus and Grafana read it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;

use super::{put, serve};
use crate::program::{Home, finish, json};
use crate::python::{self, python};

/// The names of metrics in a text, with the labels of each.
fn families(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut families: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, rest) = line.split_once('{').unwrap();
        let labels = rest.rsplit_once('}').unwrap().0;
        // No label of these tests has a comma in its value.
        let names = labels.split(',').map(|label| label.split_once('=').unwrap().0.to_owned());
        families.entry(name.to_owned()).or_default().extend(names);
    }
    families
}

/// Every text of a JSON document.
fn texts<'a>(value: &'a Value, all: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => all.push(text),
        Value::Array(list) => list.iter().for_each(|one| texts(one, all)),
        Value::Object(map) => map.values().for_each(|one| texts(one, all)),
        _ => {}
    }
}

#[test]
fn prometheus_reads_the_metrics_and_the_dashboard_asks_for_no_others() {
    let home = Home::new();
    put(&home, "20260101T000000Z-a", "2026-01-01T00:00:00Z");
    let server = serve(&home);
    let mut run = home.start(&["run", "select-only", "--target", "null", "-c", "1", "-R", "500", "-T", "60"]);
    run.until_it_says("progress: ", 2);
    let text = server.get("/metrics").body;
    run.signal(Signal::INT);
    run.end();
    let families = families(&text);

    let dashboard = json(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/grafana/pgdyno.json"));
    let mut all = Vec::new();
    texts(&dashboard, &mut all);
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = || all.iter().flat_map(|text| text.split(|c| !word(c)));
    let asked: BTreeSet<_> = words().filter(|word| word.starts_with("pgdyno_")).map(str::to_owned).collect();
    // Where the server's machine is not to be seen, it has no CPUs.
    let mut there: BTreeSet<_> = families.keys().cloned().collect();
    there.insert("pgdyno_run_server_busy_cpus".to_owned());
    assert_eq!(asked, there, "the dashboard shows each metric, and no other");
    for target in dashboard["panels"].as_array().unwrap().iter().flat_map(|panel| panel["targets"].as_array().unwrap())
    {
        let (expression, legend) = (target["expr"].as_str().unwrap(), target["legendFormat"].as_str().unwrap());
        let Some(labels) = families.get(expression.split('{').next().unwrap()) else { continue };
        let in_legend = legend.split("{{").skip(1).filter_map(|rest| rest.split("}}").next());
        let selected = expression.split(['{', ',']).skip(1).filter_map(|rest| rest.split("=~").next());
        for label in in_legend.chain(selected) {
            assert!(labels.contains(label), "{expression} has no label {label}");
        }
    }

    let Some(python) = python(&["prometheus_client.openmetrics.parser"], "parses OpenMetrics") else { return };
    std::fs::write(home.join("metrics.txt"), &text).unwrap();
    let script = "import sys\nfrom prometheus_client.openmetrics.parser import text_string_to_metric_families as parse\n\
                  print(*sorted({s.name for f in parse(open(sys.argv[1]).read()) for s in f.samples}))";
    let mut command = python::program(python);
    command.args(["-c", script]).arg(home.join("metrics.txt"));
    let parsed = finish(command).ok().stdout;
    assert_eq!(parsed.trim().split(' ').collect::<Vec<_>>(), families.keys().collect::<Vec<_>>());
}
