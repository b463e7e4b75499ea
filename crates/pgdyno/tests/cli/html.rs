//! The HTML report in a real browser: every chart drawn, no error, no request, no text taken for markup.
//!
//! Where no Chromium is at hand these tests are skipped, and counted.

mod accessibility;
mod first_screen;
mod made_up;
mod reader;
mod together;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use pgdyno_report::html::{self, Chart, ChartSeries, Mark, ReportRun};
use pgdyno_results::StatementRecord;

use crate::browser::{browser, look};
use crate::program::{Home, Run, finish};

/// A run on the null server, with a ramp and a rate: it needs no PostgreSQL.
fn run(home: &Home) -> Run {
    let what = ["run", "select-only", "--target", "null", "-s", "3"];
    let how = ["-c", "3", "-T", "2", "--ramp", "1", "-R", "300", "-L", "500", "--latency-percentiles=75", "-q"];
    let ran = home.run(&[&what[..], &how[..]].concat()).ok();
    let run = home.the_run();
    ran.prints(&[&format!("  open pgdyno-results/{}/report.html", run.text("/id"))]);
    run
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
    let made_at_the_end = std::fs::read_to_string(run.path.join("report.html")).unwrap();
    let page = report(&home);
    assert_eq!(page, made_at_the_end, "a run ends with the page that can be made again");
    assert!(page.len() < 2_500_000);
    for words in ["select-only", "TPS", "What ran", "Transactions", "Run it again", "intervals.csv", "durability"] {
        assert!(page.contains(words), "{words}");
    }
    let Some(browser) = browser("a page of a run") else { return };
    let seen = look(&browser, &run.path.join("report.html"));
    seen.is_whole(&[
        "Throughput",
        "Response time",
        "Response times, as a heat map",
        "Response times by percentile",
        "Transactions in flight",
        "CPU of the driver",
    ]);
    for words in ["aria-label=\"Throughput over time. TPS: from ", ">warm-up<", "all, service time", "99 %"] {
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
fn a_page_goes_where_it_is_reported_and_a_record_alone_has_one_too() {
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

#[test]
fn a_page_is_opened_in_the_browser_where_there_is_one() {
    let home = Home::new();
    let bin = home.join("bin");
    std::fs::create_dir(&bin).unwrap();
    let run = |args: &str, path: &str| {
        let mut command = home.command(args.split(' '));
        command.env("PATH", path);
        finish(command).ok()
    };
    let opened = home.join("opened");
    let once_opened = || {
        let until = Instant::now() + Duration::from_secs(60);
        while !std::fs::read_to_string(&opened).is_ok_and(|text| text.ends_with('\n')) {
            assert!(Instant::now() < until, "nothing was opened");
            std::thread::sleep(Duration::from_millis(20));
        }
        let text = std::fs::read_to_string(&opened).unwrap();
        std::fs::remove_file(&opened).unwrap();
        text
    };
    let (args, nowhere) = ("run select-only --target null -s 1 -t 5", bin.display().to_string());
    let line = "report.html was not opened in a browser: ";
    assert!(!run(args, &nowhere).stderr.contains(line));
    run(&format!("{args} --open"), &nowhere).says(&[line]);
    let script = format!("#!/bin/sh\necho \"$1\" >{}\n", opened.display());
    std::fs::write(bin.join("xdg-open"), script).unwrap();
    std::fs::set_permissions(bin.join("xdg-open"), std::fs::Permissions::from_mode(0o755)).unwrap();
    run(&format!("{args} --open"), &nowhere);
    let page = once_opened();
    assert!(page.starts_with('/') && page.contains("/pgdyno-results/") && page.ends_with("/report.html\n"), "{page}");
    run("report last --open", &nowhere).prints(&["report.html"]);
    assert_eq!(once_opened(), page);
}

/// A chart and marks of the page's maker.
fn with_chart(mut run: ReportRun) -> ReportRun {
    let seconds: Vec<f64> = (0..120).map(f64::from).collect();
    let values = seconds.iter().map(|s| (*s != 50.0).then_some(1.0 + s / 60.0)).collect();
    let series = ChartSeries { name: "own".to_owned(), seconds, values, ..ChartSeries::default() };
    run.charts.push(Chart { title: "Own chart".to_owned(), stacked: true, series: vec![series], ..Chart::default() });
    run.marks.push(Mark { text: "begun".to_owned(), from_s: 90.0, ..Mark::default() });
    run
}

fn write(runs: &[ReportRun], path: &Path) {
    let mut bytes = Vec::new();
    html::write(runs, &mut bytes).unwrap();
    std::fs::write(path, bytes).unwrap();
}

/// Every chart that samples can make.
const OF_SAMPLES: [&str; 22] = [
    "What active sessions waited for",
    "Sessions waiting for locks",
    "Longest wait for a lock",
    "WAL",
    "Full-page images",
    "Cache hits in shared buffers",
    "Buffers written",
    "Reads and writes of the server",
    "Read and write times",
    "Temporary files",
    "Replication lag",
    "Replication lag in bytes",
    "Citus",
    "CPU of the server's machine, by program",
    "CPU of the server's machine, by kind of work",
    "Memory of the server's machine",
    "Disks of the server's machine",
    "The busiest disk",
    "Network of the server's machine",
    "CPU of the driver's machine, by kind of work",
    "Dead rows",
    "Growth of the tables",
];

#[test]
fn samples_become_charts_and_a_diagnosis_is_reported_first() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.html");
    write(&[made_up::with_samples(made_up::run("one", 120, &["a", "b"]), "")], &path);
    let page = std::fs::read_to_string(&path).unwrap();
    let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("the page does not say {words}"));
    let order = [
        "What limited the run",
        "63 % of active samples waited for WAL",
        "CPU use",
        "id=\"charts\"",
        "Statements as the server counts them",
        ">Events<",
        "from readable to read",
        "How the server was sampled",
    ];
    assert!(order.map(at).is_sorted(), "{:?}", order.map(at));
    for words in
        ["pgdyno 0.50", "other programs 1.10", "no extension", "--ramp 35", "used by PostgreSQL", "1,234 queries"]
    {
        at(words);
    }
    let Some(browser) = browser("samples in a page") else { return };
    let seen = look(&browser, &path);
    seen.is_whole(&OF_SAMPLES);
    for words in [">checkpoint<", ">stall<", ">restart<", "LWLock: WALWrite", "other events", "CPUs of the machine"] {
        assert!(seen.dom.contains(words), "{words}");
    }
}

#[test]
fn of_many_kinds_of_events_the_last_lane_has_the_rest() {
    let Some(browser) = browser("lanes of many kinds of events") else { return };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.html");
    let lanes = |kinds: &[&str]| {
        let mut run = made_up::run("one", 60, &["a"]);
        run.record.events.clear();
        let mark =
            |(at, kind): (usize, &&str)| Mark { text: (*kind).to_owned(), from_s: 25.0 + at as f64, ..Mark::default() };
        run.marks = kinds.iter().enumerate().map(mark).collect();
        write(&[run], &path);
        let dom = look(&browser, &path).dom;
        ["first", "second", "third", "fourth", "fifth", "others"].map(|name| dom.contains(&format!(">{name}<title>")))
    };
    let [yes, no] = [true, false];
    assert_eq!(lanes(&["first", "second", "third", "fourth"]), [yes, yes, yes, yes, no, no]);
    assert_eq!(lanes(&["first", "second", "third", "fourth", "fifth"]), [yes, yes, yes, no, no, yes]);
}

#[test]
fn an_hour_is_no_more_to_open_than_a_few_minutes() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.html");
    let names = ["new-order", "payment", "order-status", "delivery", "stock-level"];
    write(&[made_up::with_samples(made_up::run("hour", 3660, &names), "")], &path);
    let bytes = std::fs::metadata(&path).unwrap().len();
    assert!(bytes < 2_500_000, "{bytes} bytes");
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(page.contains("Each point is the mean of 3 that follow each other"));
    let Some(browser) = browser("a page of an hour") else { return };
    let seen = look(&browser, &path);
    seen.is_whole(&OF_SAMPLES);
    // What a browser has to do is what stands in the page after its scripts.
    let (elements, drawn) = (seen.dom.matches('<').count() / 2, seen.dom.len() - page.len());
    assert!(elements < 6000 && drawn < 3_000_000, "{elements} elements, {drawn} bytes are drawn");
}

#[test]
fn text_of_anybody_stays_text() {
    let evil = "<img src=https://evil.example/x onerror=\"document.title='owned'\"></script>\
                <script>document.title='owned'</script><!-- \u{2028} 'q' \"Q\" </style></title>]]>";
    let mut run = with_chart(made_up::with_samples(made_up::run(evil, 120, &[evil]), evil));
    run.record.id = evil.to_owned();
    run.record.reason = Some(evil.to_owned());
    run.record.plan.workload = evil.to_owned();
    run.record.plan.target = evil.into();
    run.record.warnings = vec![pgdyno_results::Warning::note(evil)].into();
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
    seen.is_whole(&OF_SAMPLES);
    assert!(!seen.dom.contains("<img") && !seen.dom.contains("<title>owned"), "text became markup");
    assert!(seen.dom.contains("&lt;img src=https://evil.example/x"), "text is shown as it is");
}
