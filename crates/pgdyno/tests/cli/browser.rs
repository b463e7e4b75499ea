//! A real browser without a screen.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::Running;

/// Names of browsers that can be driven without a screen. Those that never have one take less CPU time.
const BROWSERS: [&str; 6] = [
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];

/// Hosts that a browser asks by itself, whatever it shows.
const BROWSERS_OWN: [&str; 5] =
    [".google.com", ".googleapis.com", ".googleusercontent.com", ".gstatic.com", ".gvt1.com"];

/// Virtual milliseconds that a page has to come to rest.
const REST_MS: u32 = 5000;

/// A browser; else a word on the test that is skipped.
pub(crate) fn browser(test: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = BROWSERS
        .iter()
        .find_map(|name| std::env::split_paths(&path).map(|dir| dir.join(name)).find(|path| path.is_file()));
    if found.is_none() {
        crate::skipped::skipped(&format!(
            "{test}: no Chromium in PATH (Debian: apt-get install chromium-headless-shell)"
        ));
    }
    found
}

/// What a browser made of a page.
pub(crate) struct Seen {
    /// The page after its scripts.
    pub(crate) dom: String,
    /// What the page said on its console.
    pub(crate) console: Vec<String>,
    /// What the page asked the network for.
    pub(crate) requests: Vec<String>,
}

impl Seen {
    /// A `data-` attribute of the root element.
    pub(crate) fn data(&self, name: &str) -> Option<&str> {
        let root = self.dom.split("<html").nth(1)?.split('>').next()?;
        root.split(&format!("data-{name}=\"")).nth(1)?.split('"').next()
    }

    /// It drew every chart that its data has, without an error, a word or a request; these titles are among them.
    #[track_caller]
    pub(crate) fn is_whole(&self, titles: &[&str]) {
        let charts = charts(&self.dom);
        for title in titles {
            assert!(charts.iter().any(|known| known == title), "no chart {title} in {charts:?}");
            assert!(self.dom.contains(&format!("<h3>{title}</h3>")), "{title} is not shown");
        }
        let charts = charts.len();
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

/// Titles of the charts that a page has the data for.
pub(crate) fn charts(page: &str) -> Vec<String> {
    let text = page.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next()).unwrap();
    let data: serde_json::Value = serde_json::from_str(text).unwrap();
    let list = |name: &str| data[name].as_array().unwrap().clone();
    let titles =
        list("charts").into_iter().chain(list("growth")).map(|chart| chart["title"].as_str().unwrap().to_owned());
    let runs = list("runs");
    let of = |what: &str, of: &str| if runs.len() == 1 { what.to_owned() } else { format!("{what}: {of}") };
    let heats = list("heats").into_iter().map(|heat| {
        let run = runs[heat["run"].as_u64().unwrap() as usize]["name"].as_str().unwrap();
        of("Response times, as a heat map", run)
    });
    let mut curves: Vec<String> = list("curves")
        .iter()
        .map(|curve| of("Response times by percentile", curve["name"].as_str().unwrap()))
        .collect();
    curves.sort();
    curves.dedup();
    titles.chain(heats).chain(curves).collect()
}

/// A browser without a screen that keeps what it must remember in `profile`, and asks for nothing by itself.
pub(crate) fn headless(browser: &Path, profile: &Path) -> Command {
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]);
    command.args(["--disable-background-networking", "--disable-component-update"]);
    command.arg(format!("--user-data-dir={}", profile.join("profile").display()));
    // Its sockets have a short path, whatever TMPDIR is.
    command.env("TMPDIR", "/tmp");
    command
}

/// Shows a page of a file until it has come to rest.
pub(crate) fn look(browser: &Path, page: &Path) -> Seen {
    visit(browser, &format!("file://{}", page.display()))
}

/// Goes to an address, and lets the page come to rest.
pub(crate) fn visit(browser: &Path, address: &str) -> Seen {
    let profile = tempfile::tempdir().unwrap();
    let log = profile.path().join("net.json");
    let mut command = headless(browser, profile.path());
    command.arg("--enable-logging=stderr").arg(format!("--log-net-log={}", log.display()));
    command.arg(format!("--virtual-time-budget={REST_MS}")).args(["--window-size=1000,900", "--dump-dom", address]);
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
