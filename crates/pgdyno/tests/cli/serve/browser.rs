//! The pages in a real browser.
//!
//! Where no Chromium, or no PostgreSQL, is at hand these tests are skipped, and counted.

use std::time::Duration;

use rustix::process::Signal;

use super::watching::Watching;
use super::{Serving, put, serve};
use crate::browser::{Seen, browser, visit};
use crate::compare::store;
use crate::program::{Home, PATIENCE, eventually};
use crate::server;

/// It says nothing on its console, and asks nobody but its server.
#[track_caller]
fn is_quiet(seen: &Seen, server: &Serving) {
    assert_eq!(seen.console, Vec::<String>::new());
    let elsewhere: Vec<_> = seen.requests.iter().filter(|url| !url.starts_with(&server.url("/"))).collect();
    assert_eq!(elsewhere, Vec::<&String>::new());
}

#[test]
fn the_list_and_a_report_are_whole_in_a_browser() {
    let Some(browser) = browser("the list of runs") else { return };
    let home = Home::new();
    let evil = "<img src=x onerror=alert(1)>";
    let directory = put(&home, "20260101T000000Z-a-111111", "2026-01-01T00:00:00Z");
    let record = std::fs::read_to_string(directory.join("run.json")).unwrap();
    std::fs::write(directory.join("run.json"), record.replace("\"tproc-c\"", &format!("{evil:?}"))).unwrap();
    put(&home, "20260102T000000Z-b-222222", "2026-01-02T00:00:00Z");
    let server = serve(&home);
    let seen = visit(&browser, &server.url("/?sort=workload"));
    is_quiet(&seen, &server);
    assert_eq!(seen.dom.matches("<a href=\"/runs/").count(), 2);
    assert!(!seen.dom.contains("<img") && seen.dom.contains("&lt;img src=x"), "{}", seen.dom);
    let seen = visit(&browser, &server.url("/runs/20260102T000000Z-b-222222"));
    is_quiet(&seen, &server);
    assert_eq!(seen.data("error"), None);
    let both = "/compare?base=20260101T000000Z-a-111111&new=20260102T000000Z-b-222222";
    let seen = visit(&browser, &server.url(both));
    is_quiet(&seen, &server);
    assert_eq!(seen.data("error"), None);
    assert!(seen.dom.contains("111111") && seen.dom.contains("222222"));
}

#[test]
fn a_history_has_its_runs_and_change_points_in_a_chart() {
    let Some(browser) = browser("the history of a figure") else { return };
    let home = Home::new();
    for nth in 0..24_i32 {
        let level = if nth < 14 { 1000.0 } else { 880.0 };
        store(&home, &format!("run-{nth:02}"), level + f64::from(nth * 7 % 5), |record| {
            record["started_at"] = format!("2026-01-{:02}T00:00:00Z", nth + 1).into();
        });
    }
    let server = serve(&home);
    let seen = visit(&browser, &server.url("/history?run=run-03"));
    is_quiet(&seen, &server);
    assert!(seen.dom.contains("slower by 12.0 %") && seen.dom.contains("9 runs ago"), "{}", seen.dom);
    assert_eq!(
        (seen.dom.matches("</title></circle>").count(), seen.dom.matches("class=\"change slower\"").count()),
        (24, 1)
    );
    assert!(!seen.dom.contains("NaN") && seen.dom.contains("href=\"/runs/run-14\""));
    assert!(server.get("/").body.contains("href=\"/history?run=run-03\""));
}

#[test]
fn a_run_is_watched_until_it_ends() {
    let Some(browser) = browser("watching a run") else { return };
    if !server::available("watching a run") {
        return;
    }
    let home = Home::of_an_ordinary_user();
    let results = serve(&home);
    assert!(results.get("/").body.contains("no runs in pgdyno-results yet"));
    let mut run = home.start(&["run", "tpcb-like", "-c", "2", "-R", "50", "-T", "30", "--ramp", "2"]);
    run.until_it_says("progress: ", 1);
    let id = home.the_run().path.file_name().unwrap().to_string_lossy().into_owned();
    let live = format!("/runs/{id}/live");
    assert!(results.get("/").body.contains(&format!("href=\"{live}\"")), "the list leads to it");
    let page = Watching::open(&browser, &results.url(&live));
    eventually("the page shows a second", PATIENCE, || page.seconds().is_some());
    let first = page.seconds().unwrap();
    // Not more than the run has left, and not by asking the page to come anew.
    eventually("the page goes on", PATIENCE, || page.seconds().is_some_and(|now| now > first));
    assert!(page.title().unwrap().contains(" TPS · "));
    let seen = visit(&browser, &results.url(&live));
    is_quiet(&seen, &results);
    assert_eq!(seen.data("state"), Some("running"), "{}", seen.dom);
    assert!(seen.data("points").unwrap().parse::<u32>().unwrap() > 0);
    assert!(seen.dom.contains("<h3>Response time</h3>") && seen.dom.contains("class=\"line\""));
    run.end().ok();
    eventually("the page says the end", PATIENCE, || {
        page.title().is_some_and(|title| title.starts_with("complete · "))
    });
    let seen = visit(&browser, &results.url(&live));
    is_quiet(&seen, &results);
    assert_eq!(seen.data("state"), Some("ended"));
    assert!(seen.dom.contains("ended: complete") && seen.dom.contains(&format!("href=\"/runs/{id}\">its report")));
    assert!(!results.get("/").body.contains(&live));
}

#[test]
fn a_run_that_was_killed_is_said_to_be_gone() {
    let home = Home::new();
    let server = serve(&home);
    let mut run = home.start(&["run", "select-only", "--target", "null", "-c", "1", "-R", "500", "-T", "60"]);
    run.until_it_says("progress: ", 2);
    let id = home.the_run().path.file_name().unwrap().to_string_lossy().into_owned();
    let state = || server.get(&format!("/runs/{id}/live.json")).body;
    assert!(state().contains("\"state\":\"running\""), "{}", state());
    let metrics = server.get("/metrics");
    assert_eq!(metrics.header("content-type"), Some("application/openmetrics-text; version=1.0.0; charset=utf-8"));
    let labels = format!("{{workload=\"select-only\",target=\"null\",run=\"{id}\"");
    for family in ["transactions_per_second", "elapsed_seconds"] {
        let sample = format!("\npgdyno_run_{family}{labels}}} ");
        let (_, value) = metrics.body.split_once(&sample).unwrap_or_else(|| panic!("{sample} in {}", metrics.body));
        assert!(value.lines().next().unwrap().parse::<f64>().unwrap() > 0.0, "{}", metrics.body);
    }
    assert!(metrics.body.contains(&format!("{labels},quantile=\"0.99\"}} ")) && metrics.body.ends_with("# EOF\n"));
    run.signal(Signal::KILL);
    assert_eq!(run.end().code, None);
    eventually("its process is gone", Duration::from_secs(10), || state().contains("\"state\":\"lost\""));
    assert!(!server.get("/").body.contains("running, watch"));
    assert_eq!(server.get("/metrics").body, "# EOF\n", "it did not end, and it does not go on");
}
