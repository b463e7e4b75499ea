//! The HTML report in a real browser: every chart drawn, no error, no request, no text taken for markup.
//!
//! Where no Chromium is at hand these tests are skipped, and counted.

use std::path::{Path, PathBuf};
use std::process::Command;

use pgdyno_report::html::{self, Chart, Mark, ReportRun, Series};
use pgdyno_results::{LatencyLine, RunRecord, StatementRecord, Timeline, TimelineInterval};

use crate::program::{Home, Run, Running};

/// Names of browsers that can be driven without a screen.
const BROWSERS: [&str; 5] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome-headless-shell"];

/// Hosts that a browser asks by itself, whatever it shows.
const BROWSERS_OWN: [&str; 5] =
    [".google.com", ".googleapis.com", ".googleusercontent.com", ".gstatic.com", ".gvt1.com"];

/// Virtual milliseconds that a page has to come to rest.
const REST_MS: u32 = 5000;

fn browser(test: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).flat_map(|dir| BROWSERS.map(|name| dir.join(name))).find(|path| path.is_file());
    if found.is_none() {
        crate::skipped::skipped(&format!("{test}: no Chromium in PATH (Debian: apt-get install chromium)"));
    }
    found
}

/// What a browser made of a page.
struct Seen {
    /// The page after its scripts.
    dom: String,
    /// What the page said on its console.
    console: Vec<String>,
    /// What the page asked the network for.
    requests: Vec<String>,
}

impl Seen {
    /// A `data-` attribute of the root element.
    fn data(&self, name: &str) -> Option<&str> {
        let root = self.dom.split("<html").nth(1)?.split('>').next()?;
        root.split(&format!("data-{name}=\"")).nth(1)?.split('"').next()
    }

    /// It drew this many charts, without an error, a word or a request.
    #[track_caller]
    fn is_whole(&self, charts: usize) {
        let figures: Vec<_> =
            self.dom.split("<figure").skip(1).filter_map(|rest| rest.split("</figure>").next()).collect();
        assert_eq!(figures.len(), charts);
        for figure in figures {
            let mut paths = figure.split(" d=\"M").skip(1).filter_map(|rest| rest.split('"').next());
            // Grid lines go from edge to edge; from point to point, and around areas, goes what was drawn from data.
            assert!(paths.any(|path| path.contains('L') || path.ends_with('Z')), "nothing is drawn in {figure}");
            assert!(!figure.contains("NaN") && !figure.contains("Infinity"), "{figure}");
        }
        let charts = charts.to_string();
        assert_eq!(self.data("error"), None);
        assert_eq!((self.data("charts"), self.data("drawn")), (Some(charts.as_str()), Some(charts.as_str())));
        assert_eq!((self.console.as_slice(), self.requests.as_slice()), (&[][..], &[][..]));
    }
}

fn look(browser: &Path, page: &Path) -> Seen {
    let profile = tempfile::tempdir().unwrap();
    let log = profile.path().join("net.json");
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]);
    command.args(["--disable-background-networking", "--disable-component-update", "--enable-logging=stderr"]);
    command.arg(format!("--user-data-dir={}", profile.path().join("profile").display()));
    command.arg(format!("--log-net-log={}", log.display()));
    command.arg(format!("--virtual-time-budget={REST_MS}")).args(["--window-size=1000,900", "--dump-dom"]);
    command.arg(format!("file://{}", page.display()));
    let ran = Running::new(command).end();
    assert!(ran.stdout.contains("</html>"), "the browser shows no page: {}", ran.stderr);
    let console = ran.stderr.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    Seen { dom: ran.stdout, console, requests: requests(&std::fs::read_to_string(log).unwrap()) }
}

/// The addresses in the browser's log of its network, but those that it asks for by itself.
fn requests(log: &str) -> Vec<String> {
    let urls = log.split("\"url\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    let of_the_browser = |url: &str| {
        let host = url.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
        BROWSERS_OWN.iter().any(|own| host.ends_with(own))
    };
    urls.filter(|url| url.starts_with("http") && !of_the_browser(url)).map(str::to_owned).collect()
}

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

/// A record that is none of a particular run.
fn record() -> RunRecord {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
    pgdyno_results::read_record(&path).unwrap()
}

/// A run of two minutes with these names of transactions.
fn made_up(name: &str, transactions: &[&str]) -> ReportRun {
    let phase = |nth| match nth {
        0..20 => "ramp",
        20..118 => "measure",
        _ => "drain",
    };
    let interval = |nth: u32| TimelineInterval {
        phase: phase(nth).to_owned(),
        start_s: f64::from(nth),
        end_s: f64::from(nth) + 1.0,
        committed: 100 + u64::from(nth % 7),
        retries: u64::from(nth % 5),
        client_cpu_s: 0.1,
        response_ns: (!nth.is_multiple_of(11)).then_some([1_000_000, 3_000_000, 4_000_000, 90_000_000]),
        ..Default::default()
    };
    let intervals = (0..120).map(interval).collect();
    let mut run = ReportRun::new(record(), Timeline { directory: None, intervals });
    run.name = name.to_owned();
    for (nth, transaction) in (0..120_u32).flat_map(|nth| transactions.iter().map(move |name| (nth, *name))) {
        run.latencies.add(&LatencyLine {
            transaction: transaction.to_owned(),
            response: false,
            start_s: f64::from(nth),
            counts: vec![(1_000_000 + u64::from(nth) * 10_000, 90), (3_000_000, 9), (90_000_000, 1)],
        });
    }
    run
}

/// The samples of a server, such as a page may have: areas one on the other, and marks.
fn with_samples(mut run: ReportRun) -> ReportRun {
    let seconds: Vec<f64> = (0..120).map(f64::from).collect();
    let series = |name: &str, value: f64| Series {
        name: name.to_owned(),
        seconds: seconds.clone(),
        values: seconds.iter().map(|s| (*s != 50.0).then_some(value + s / 60.0)).collect(), ..Series::default() };
    run.charts.push(Chart {
        title: "Wait events".to_owned(),
        note: "Sessions that waited.".to_owned(),
        unit: "sessions".to_owned(),
        stacked: true,
        series: vec![series("CPU", 2.0), series("LWLock: WALWrite", 1.0)],
        ..Default::default()
    });
    run.marks.push(Mark { text: "checkpoint".to_owned(), from_s: 60.0, until_s: Some(80.0), ..Mark::default() });
    run.marks.push(Mark { text: "vacuum of stock".to_owned(), from_s: 90.0, until_s: None, ..Mark::default() });
    run
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

/// What a reader might do, told by the page's own attributes at its end.
const READER: &str = r##"<script>
const root = document.documentElement;
const note = (name, value) => root.setAttribute(`data-${name}`, value);
const plots = [...document.querySelectorAll(".plot > svg")];
const at = (plot, share) => { const box = plot.getBoundingClientRect(); return box.left + box.width * share; };
const point = (plot, type, share) => plot.dispatchEvent(new PointerEvent(type, {
  bubbles: true, button: 0, pointerId: 1, clientX: at(plot, share), clientY: plot.getBoundingClientRect().top + 80 }));
const press = (key, more) => plots[0].dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, ...more }));
plots.forEach((plot) => { plot.setPointerCapture = () => {}; });
note("whole", root.dataset.view);
point(plots[1], "pointerdown", 0.3); point(plots[1], "pointermove", 0.6); point(plots[1], "pointerup", 0.6);
note("zoomed", root.dataset.view);
point(plots[0], "pointermove", 0.5);
note("tip", plots[0].parentElement.querySelector(".tip").textContent);
note("cursors", document.querySelectorAll(".plot .cursor").length);
plots[1].dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
note("reset", root.dataset.view);
press("Escape"); press("+"); note("plus", root.dataset.view);
press("ArrowRight", { shiftKey: true }); note("panned", root.dataset.view);
press("ArrowRight"); note("said", document.querySelector(".said").textContent);
press("0"); note("zero", root.dataset.view);
document.querySelector(".legend:not([hidden]) button").click();
note("pressed", document.querySelector(".legend:not([hidden]) button").getAttribute("aria-pressed"));
const before = getComputedStyle(document.body).backgroundColor;
document.getElementById("theme").click();
note("theme", String(before !== getComputedStyle(document.body).backgroundColor));
const details = document.querySelector("figure details");
details.open = true;
setTimeout(() => note("rows", details.querySelectorAll("tbody tr").length), 100);
const inked = (picture) => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.width, picture.height];
  const context = canvas.getContext("2d");
  context.drawImage(picture, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer);
  return pixels.filter((pixel) => pixel !== pixels[0]).length;
};
HTMLAnchorElement.prototype.click = function () {
  if (this.href.startsWith("data:image/svg")) note("vectors", String(!decodeURIComponent(this.href).includes("var(")));
  const picture = new Image();
  picture.onload = () => note(this.download.split(".").pop(), `${this.download} ${inked(picture)}`);
  picture.src = this.href;
};
document.querySelector("[data-save=png]").click();
document.querySelector("[data-save=svg]").click();
</script></body>"##;

#[test]
fn several_runs_share_a_page_and_a_reader_can_zoom_read_hide_and_save() {
    let runs = [with_samples(made_up("base", &["a", "b"])), made_up("new", &["a", "b"])];
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("page.html");
    write(&runs, &path);
    let Some(browser) = browser("a reader of a page") else { return };
    let seen = look(&browser, &path);
    // Throughput, response time, two heat maps, trouble, under way, the driver, waits, percentiles.
    seen.is_whole(9);
    for words in ["TPS, base", "TPS, new", "p99, new", "LWLock: WALWrite, base", ">checkpoint<", ">vacuum of stock<"] {
        assert!(seen.dom.contains(words), "{words}");
    }
    // A reader's script is no part of the page: its policy would not let it run.
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, after) = page.split_once("<meta http-equiv=\"Content-Security-Policy\"").unwrap();
    let open = format!("{before}<meta name=\"was\"{after}").replace("</body>", READER);
    std::fs::write(&path, open).unwrap();
    let seen = look(&browser, &path);
    assert_eq!(seen.data("error"), None);
    assert_eq!(seen.console, Vec::<String>::new());
    let span = |name: &str| -> (f64, f64) {
        let (from, until) = seen.data(name).unwrap().split_once(' ').unwrap();
        (from.parse().unwrap(), until.parse().unwrap())
    };
    assert_eq!(span("whole"), (0.0, 120.0));
    let (from, until) = span("zoomed");
    assert!((30.0..36.0).contains(&from) && (67.0..73.0).contains(&until), "{from} to {until}");
    let tip = seen.data("tip").unwrap();
    assert!(tip.contains("TPS, base 10") && tip.contains("TPS, new 10"), "{tip}");
    assert_eq!(seen.data("cursors"), Some("8"), "all charts over time show the moment");
    assert_eq!(span("reset"), (0.0, 120.0));
    assert_eq!(span("plus"), (30.0, 90.0));
    assert_eq!(span("panned"), (45.0, 105.0));
    assert!(seen.data("said").unwrap().contains("TPS, base"));
    assert_eq!(span("zero"), (0.0, 120.0));
    assert_eq!((seen.data("pressed"), seen.data("theme")), (Some("false"), Some("true")));
    assert_eq!(seen.data("rows"), Some("120"));
    assert_eq!(seen.data("vectors"), Some("true"), "colours are in the file, which has no page to ask");
    for kind in ["png", "svg"] {
        let (file, inked) = seen.data(kind).unwrap().split_once(' ').unwrap();
        let inked: usize = inked.parse().unwrap();
        assert!(
            file.ends_with(&format!("-Throughput.{kind}")) && inked > 5000,
            "{inked} pixels of {file} are not blank"
        );
    }
}
