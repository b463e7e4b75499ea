//! The HTML report in a real browser: every chart drawn, no error, no request, no text taken for markup.
//!
//! Where no Chromium is at hand these tests are skipped, and counted.

mod browser;
mod made_up;
mod reader;

use std::path::Path;

use pgdyno_report::html::{self, Chart, Mark, ReportRun, Series};
use pgdyno_results::StatementRecord;

use crate::program::{Home, Run};
use browser::{browser, look};

/// A run on the null server, with a ramp and a rate: it needs no PostgreSQL.
fn run(home: &Home) -> Run {
    let what = ["run", "select-only", "--target", "null", "-s", "3"];
    let how = ["-c", "3", "-T", "2", "--ramp", "1", "-R", "300", "-L", "500", "--latency-percentiles=75", "-q"];
    home.run(&[&what[..], &how[..]].concat()).ok();
    home.the_run()
}

/// The page of the last run, as `pgdyno report` makes it.
fn report(home: &Home) -> String {
    let ran = home.run(&["report", "last", "--format", "html"]).ok();
    let path = home.join(ran.stdout.trim_end());
    assert!(path.ends_with("report.html"), "{}", path.display());
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_run_becomes_a_page_with_every_chart_drawn_and_nothing_asked_for() {
    let home = Home::new();
    let run = run(&home);
    let page = report(&home);
    assert!(page.len() < 2_500_000);
    for words in ["select-only", "TPS", "What ran", "Transactions", "Run it again", "intervals.csv", "durability"] {
        assert!(page.contains(words), "{words}");
    }
    let Some(browser) = browser("a page of a run") else { return };
    let seen = look(&browser, &run.path.join("report.html"));
    seen.is_whole(6);
    for words in ["aria-label=\"Throughput over time. TPS: from ", ">ramp<", "all, service time", "99 %"] {
        assert!(seen.dom.contains(words), "{words}");
    }
}

#[test]
fn a_page_that_asks_for_something_is_noticed() {
    let Some(browser) = browser("what a page asks for") else { return };
    let dir = tempfile::tempdir().unwrap();
    let page = dir.path().join("page.html");
    std::fs::write(&page, "<html><img src='http://127.0.0.1:9/x.png'><script>console.error('no')</script></html>")
        .unwrap();
    let seen = look(&browser, &page);
    assert!(seen.requests.iter().any(|url| url == "http://127.0.0.1:9/x.png"), "{:?}", seen.requests);
    assert_eq!(seen.console.len(), 1);
}

#[test]
fn the_command_line_of_a_page_makes_the_same_plan() {
    let home = Home::new();
    let run = run(&home);
    let page = report(&home);
    let line = page.split("<pre class=\"again\">").nth(1).unwrap().split("</pre>").next().unwrap();
    let words: Vec<_> = line.split(' ').skip(2).collect();
    let plan = home.run(&[&["plan"], &words[..]].concat()).ok().stdout;
    assert!(plan.starts_with(&format!("plan {} ", run.text("/plan_hash"))), "{line}\n{plan}");
}

#[test]
fn a_page_goes_where_it_is_told_and_a_record_alone_has_one_too() {
    let home = Home::new();
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
    let record = home.join("base.json");
    std::fs::copy(fixture, &record).unwrap();
    let html = ["report", "base.json", "--format", "html"];
    home.run(&html).ok().prints(&["report.html"]);
    let page = std::fs::read_to_string(home.join("report.html")).unwrap();
    let printed = home.run(&[&html[..], &["-o", "-"]].concat()).ok().stdout;
    assert_eq!(printed, page);
    assert!(!home.join("-").exists());
    home.run(&[&html[..], &["-o", "elsewhere.html"]].concat()).ok().prints(&["elsewhere.html"]);
    assert_eq!(std::fs::read_to_string(home.join("elsewhere.html")).unwrap(), page);
    home.run(&[&html[..], &["-o", "nowhere/x.html"]].concat()).ended(1).says(&["nowhere/x.html", "-o FILE"]);
    home.run(&["report", "base.json", "--format", "csv", "-o", "one.csv"]).ok();
    assert!(std::fs::read_to_string(home.join("one.csv")).unwrap().contains("tproc-c"));
}

fn write(runs: &[ReportRun], path: &Path) {
    let mut bytes = Vec::new();
    html::write(runs, &mut bytes).unwrap();
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn text_of_anybody_stays_text() {
    let evil = "<img src=https://evil.example/x onerror=\"document.title='owned'\"></script>\
                <script>document.title='owned'</script><!-- \u{2028} 'q' \"Q\" </style></title>]]>";
    let mut run = with_samples(made_up(evil, &[evil]));
    run.record.id = evil.to_owned();
    run.record.reason = Some(evil.to_owned());
    run.record.plan.workload = evil.to_owned();
    run.record.plan.target = evil.to_owned();
    run.record.warnings = vec![evil.to_owned()];
    run.record.statements =
        vec![StatementRecord { sql: evil.to_owned(), executed: 5, latency_ns_mean: Some(1e6), ..Default::default() }];
    run.record.transactions[0].name = evil.to_owned();
    run.record.plan.params.insert(evil.to_owned(), evil.to_owned());
    run.record.server.as_mut().unwrap().settings_changed.insert(evil.to_owned(), evil.to_owned());
    run.charts[0].title = evil.to_owned();
    run.charts[0].series[0].name = evil.to_owned();
    run.marks[0].text = evil.to_owned();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.html");
    write(&[run], &path);
    let page = std::fs::read_to_string(&path).unwrap();
    assert_eq!(page.matches("<script").count(), 2, "the data and the page's own script");
    assert!(!page.contains("<img"));
    let Some(browser) = browser("text of anybody in a page") else { return };
    let seen = look(&browser, &path);
    seen.is_whole(8);
    assert!(!seen.dom.contains("<img") && !seen.dom.contains("<title>owned"), "text became markup");
    assert!(seen.dom.contains("&lt;img src=https://evil.example/x"), "text is shown as it is");
}
