//! The pages of the server can be used with a keyboard and a screen reader.

use std::path::Path;

use pgdyno_results::{FrontierPoint, FrontierRecord, SearchPoint, SearchRecord};

use super::{Serving, serve};
use crate::axe::is_accessible;
use crate::compare::store;
use crate::program::Home;

/// Results with runs of a suite, a change of level, a search, an experiment and a frontier.
fn results() -> Home {
    let home = Home::new();
    for nth in 0..12_i32 {
        let level = if nth < 7 { 1000.0 } else { 880.0 };
        store(&home, &format!("run-{nth:02}"), level + f64::from(nth * 7 % 5), |record| {
            record["started_at"] = format!("2026-01-{:02}T00:00:00Z", nth + 1).into();
            if nth > 9 {
                let run = format!("clients={nth}");
                record["plan"]["suite"] =
                    serde_json::json!({ "suite": "nightly", "id": "x", "run": run, "repetition": 1 });
            }
        });
    }
    let began = "2026-01-01T00:00:00Z".parse().unwrap();
    let mut search = SearchRecord::begin("s".into(), began, "tproc-c".into(), "null".into(), "rate");
    search.objectives = vec!["p99 < 10ms".to_owned()];
    let point = |load, verdict: &str| SearchPoint { load, verdict: verdict.to_owned(), ..SearchPoint::default() };
    search.points = vec![point(100.0, "kept"), point(200.0, "broken")];
    let point = FrontierPoint { share: 1.0, tps: vec![90.0], queries_per_hour: vec![10.0], ..FrontierPoint::default() };
    let frontier = FrontierRecord { workload: "ch".to_owned(), points: vec![point], ..FrontierRecord::default() };
    let write = |directory: &str, name: &str, text: String| {
        let directory = home.join("pgdyno-results").join(directory);
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join(name), text).unwrap();
    };
    write("searches", "s.json", serde_json::to_string(&search).unwrap());
    write("frontiers", "f.json", serde_json::to_string(&frontier).unwrap());
    let experiment = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/0.2.0/ab.json");
    write("ab", "e.json", std::fs::read_to_string(experiment).unwrap());
    home
}

/// The page with its styles in it, which a file needs.
fn page(server: &Serving, path: &str) -> String {
    let answer = server.get(path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    let mut page = answer.body;
    for name in ["report.css", "serve.css"] {
        let link = format!("<link rel=\"stylesheet\" href=\"/assets/{name}\">");
        page = page.replace(&link, &format!("<style>{}</style>", server.get(&format!("/assets/{name}")).body));
    }
    assert!(!page.contains("rel=\"stylesheet\""), "{path} has further styles");
    page
}

#[test]
fn the_pages_of_the_server_are_accessible() {
    let home = results();
    let server = serve(&home);
    let both = "/compare?base=run-01&new=run-09";
    for path in [
        "/",
        "/suites",
        "/searches",
        "/searches/s",
        "/experiments",
        "/ab/e.html",
        "/frontiers",
        "/frontiers/f.html",
        "/history?run=run-03",
        both,
    ] {
        is_accessible(path, &page(&server, path));
    }
}
