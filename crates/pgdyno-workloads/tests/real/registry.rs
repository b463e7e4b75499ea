//! What holds for every workload in the registry.

use std::collections::HashSet;

use pgdyno_wire::{QueryMode, Session};
use pgdyno_workload::{
    Batch, Capabilities, ClientContext, ClientId, CopyBuf, Group, GroupWork, Next, Params, Reply, Rng, Stage,
};
use pgdyno_workloads::own::embedded;
use pgdyno_workloads::registry;

#[test]
fn every_workload_has_a_page_that_names_its_parameters_and_checks() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/workloads");
    let directories = embedded::names().map(|name| {
        let directory = embedded::find(name).unwrap().unwrap();
        let params = Params::new(name, directory.meta().params, []).unwrap();
        directory.build(&params, registry::build("noop", []).unwrap().drive).unwrap()
    });
    let built_in = registry::all().iter().map(|entry| registry::build(entry.meta.id, []).unwrap());
    for workload in built_in.chain(directories) {
        // Workloads of a family have one page, which is called by their data.
        let of = |name: &str| docs.join(format!("{name}.md"));
        let own = of(workload.meta.id);
        let path = if own.exists() { own } else { of(workload.meta.dataset) };
        let read = |path: &std::path::Path| std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        let mut page = read(&path);
        // A page may leave the parameters of another workload to that one's.
        if let Some((_, rest)) = page.split_once("All parameters of [") {
            let other = read(&of(rest.split(']').next().unwrap()));
            page += &other;
        }
        let names = workload.meta.params.iter().map(|p| p.name);
        let checks: Vec<_> = workload.data.iter().flat_map(|data| data.checks()).collect();
        let checks = checks.iter().map(|c| match c.name {
            name if name.starts_with("3.3.2.") => "3.3.2.1 to 3.3.2.12",
            name if name.starts_with("answer of q") && workload.meta.id == "tproc-ds" => "the 99 answers",
            name if name.starts_with("answer of q") => "the 22 answers",
            name => name,
        });
        for name in names.chain(checks) {
            assert!(page.contains(name), "{path:?} does not mention {name}");
        }
        assert!(page.contains(workload.meta.id), "{path:?} does not mention {}", workload.meta.id);
    }
}

/// A transaction ends within a few steps, sends only statements that exist, and the same stream gives the
/// same transactions.
#[test]
fn scripts_are_finite_and_repeatable() {
    let caps = Capabilities::default();
    for entry in registry::all() {
        let drive = registry::build(entry.meta.id, []).unwrap().drive;
        let of_run = drive.numbered(&caps);
        assert!(!of_run.txns.is_empty(), "{}", entry.meta.id);
        for (nth, scripts) in drive.scripts.iter().enumerate() {
            let of_scripts = of_run.statements[of_run.scripts[nth].numbers.statements.clone()].iter();
            let statements: Vec<_> = of_scripts.map(|numbered| numbered.statement.clone()).collect();
            let sent = |seed| {
                // Clients of one drive may share which keys exist.
                let again = registry::build(entry.meta.id, []).unwrap().drive.numbered(&caps).scripts.swap_remove(nth);
                let mut script = (again.client)(&ClientContext {
                    stage: Stage::ONLY,
                    group: Group::ONLY,
                    id: ClientId(3),
                    clients: 7,
                    rng: Rng::new(seed),
                    seed,
                    has_ledger: false,
                });
                let (mut out, mut ended) = (Vec::new(), false);
                for _ in 0..300 {
                    let Some(begin) = script.begin() else {
                        ended = true;
                        break;
                    };
                    assert!(usize::from(begin.txn.0) < scripts.txns.len(), "{}", entry.meta.id);
                    let mut steps = 0;
                    loop {
                        let mut session = Session::new(QueryMode::Simple, statements.len());
                        let mut notes = Vec::new();
                        let mut batch = Batch::new(&mut session, &statements, &mut out, &mut notes);
                        let next = script.step(Reply::default(), &mut batch);
                        batch.close();
                        steps += 1;
                        assert!(steps < 100, "{} does not end", entry.meta.id);
                        match next {
                            Next::Finish(_) => break,
                            Next::Await => assert!(session.is_busy()),
                            Next::Sleep(_) => assert!(!session.is_busy()),
                            other => panic!("no built-in workload does {other:?}"),
                        }
                    }
                }
                (out, ended)
            };
            let first = sent(1);
            assert_eq!(first, sent(1), "{}", entry.meta.id);
            let mut groups = drive.stages.iter().flat_map(|stage| &stage.groups);
            let is_of_queries = groups.any(|group| {
                group.work == GroupWork::Queries && (drive.scripts.len() == 1 || group.name == scripts.group)
            });
            // A script that ends has a fixed order of its transactions, and so have streams of queries.
            if entry.meta.needs_server() && !first.1 && !is_of_queries {
                assert_ne!(sent(1), sent(2), "{}", entry.meta.id);
            }
        }
    }
}

/// Each chunk whose number is a multiple of this is generated twice.
const AGAIN: u64 = 7;

#[test]
fn chunks_hold_the_promised_rows_in_any_order() {
    let mut datasets = HashSet::new();
    for entry in registry::all() {
        // What is small has rows in all tables, too.
        let small = match entry.meta.id {
            "tproc-h" => Some(("scale", "0.1")),
            "tproc-ds" => Some(("scale", "0.01")),
            _ => None,
        };
        let workload = registry::build(entry.meta.id, small).unwrap();
        // Workloads of a family share their data.
        if !datasets.insert(entry.meta.dataset) {
            continue;
        }
        for table in workload.data.iter().flat_map(|data| data.tables(&Capabilities::default())) {
            let mut rows = 0;
            if let Some(source) = &table.source {
                assert!(source.chunks() > 0, "{}: no chunk", table.name);
                for chunk in (0..source.chunks()).rev() {
                    let mut one = CopyBuf::new();
                    source.write(chunk, &mut one);
                    rows += one.rows();
                    if chunk.is_multiple_of(AGAIN) {
                        let mut again = CopyBuf::new();
                        source.write(chunk, &mut again);
                        assert!(one.bytes() == again.bytes(), "{} {chunk}", table.name);
                    }
                }
            }
            assert!(table.rows.admits(rows), "{}: {rows} rows", table.name);
        }
    }
}

#[test]
fn advice_is_given_where_clients_outnumber_the_data() {
    let advice = |id, given: &[(&str, &str)], clients| {
        let workload = registry::build(id, given.iter().copied()).unwrap();
        workload.drive.advice(clients).concat()
    };
    assert!(advice("tproc-c", &[], 2).contains("2 clients share 1 home warehouse (more -w"));
    assert!(advice("tproc-c", &[("warehouses", "2")], 2).contains("2 clients draw their home warehouses"));
    assert_eq!(advice("tproc-c", &[("warehouses", "2"), ("profile", "spec"), ("think", "off")], 2), "");
    assert_eq!(advice("tproc-c", &[("warehouses", "2"), ("profile", "spec")], 20), "");
    assert_eq!(advice("tproc-c", &[("all-warehouses", "true"), ("warehouses", "2")], 2), "");
    assert!(advice("tproc-c", &[("all-warehouses", "true")], 2).contains("2 clients share 1 home warehouse"));
    assert!(advice("tpcb-like", &[("scale", "3")], 4).contains("4 clients update the 3 rows"));
    assert_eq!(advice("simple-update", &[], 4), "");
}
