//! A browser that goes to an address.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::get;
use crate::program::Running;

/// Names of browsers that can be driven without a screen.
const BROWSERS: [&str; 5] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome-headless-shell"];

/// Hosts that a browser asks by itself, whatever it shows.
const BROWSERS_OWN: [&str; 5] =
    [".google.com", ".googleapis.com", ".googleusercontent.com", ".gstatic.com", ".gvt1.com"];

/// Virtual milliseconds that a page has to come to rest.
const REST_MS: u32 = 3000;

/// The browser, where there is one.
pub(super) fn browser(test: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).flat_map(|dir| BROWSERS.map(|name| dir.join(name))).find(|path| path.is_file());
    if found.is_none() {
        crate::skipped::skipped(&format!("{test}: no Chromium in PATH (Debian: apt-get install chromium)"));
    }
    found
}

fn headless(browser: &Path, profile: &Path) -> Command {
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]);
    command.args(["--disable-background-networking", "--disable-component-update"]);
    command.arg(format!("--user-data-dir={}", profile.join("profile").display()));
    command
}

/// What a browser made of a page.
pub(super) struct Seen {
    /// The page after its scripts.
    pub(super) dom: String,
    /// What the page said on its console.
    pub(super) console: Vec<String>,
    /// What the page asked the network for.
    pub(super) requests: Vec<String>,
}

impl Seen {
    /// A `data-` attribute of the root element.
    pub(super) fn data(&self, name: &str) -> Option<&str> {
        let root = self.dom.split("<html").nth(1)?.split('>').next()?;
        root.split(&format!("data-{name}=\"")).nth(1)?.split('"').next()
    }
}

/// Goes to an address, and lets the page come to rest.
pub(super) fn visit(browser: &Path, address: &str) -> Seen {
    let profile = tempfile::tempdir().unwrap();
    let log = profile.path().join("net.json");
    let mut command = headless(browser, profile.path());
    command.arg("--enable-logging=stderr").arg(format!("--log-net-log={}", log.display()));
    command.arg(format!("--virtual-time-budget={REST_MS}")).args(["--window-size=1000,900", "--dump-dom", address]);
    let ran = Running::new(command).end();
    assert!(ran.stdout.contains("</html>"), "the browser shows no page: {}", ran.stderr);
    let console = ran.stderr.lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    let log = std::fs::read_to_string(log).unwrap();
    let of_the_browser = |url: &str| {
        let host = url.split("://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default();
        BROWSERS_OWN.iter().any(|own| host.ends_with(own))
    };
    let urls = log.split("\"url\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    let requests = urls.filter(|url| url.starts_with("http") && !of_the_browser(url)).map(str::to_owned).collect();
    Seen { dom: ran.stdout, console, requests }
}

/// A browser that has a page open, in real time, and tells its title.
pub(super) struct Watching {
    _browser: Running,
    profile: tempfile::TempDir,
}

impl Watching {
    pub(super) fn open(browser: &Path, address: &str) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut command = headless(browser, profile.path());
        command.args(["--remote-debugging-port=0", address]);
        Self { _browser: Running::new(command), profile }
    }

    /// The title of the page; nothing as long as there is none.
    pub(super) fn title(&self) -> Option<String> {
        let port = std::fs::read_to_string(self.profile.path().join("profile/DevToolsActivePort")).ok()?;
        let address = format!("127.0.0.1:{}", port.lines().next()?).parse().ok()?;
        let pages: serde_json::Value = serde_json::from_str(&get(address, "/json/list").body).ok()?;
        let page = pages.as_array()?.iter().find(|page| page["type"] == "page")?;
        page["title"].as_str().map(str::to_owned)
    }

    /// Seconds of the run that the title tells.
    pub(super) fn seconds(&self) -> Option<u32> {
        let title = self.title()?;
        let clock = |part: &str| {
            let (minutes, seconds) = part.split_once(':')?;
            Some(minutes.parse::<u32>().ok()? * 60 + seconds.parse::<u32>().ok()?)
        };
        title.split(" · ").find_map(clock)
    }
}
