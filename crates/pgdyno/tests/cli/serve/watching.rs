//! A browser that stays on a page.

use std::os::unix::process::CommandExt;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process_group};

use super::ask;
use crate::browser::headless;
use crate::program::Running;

/// A browser that has a page open, in real time, and returns its title.
pub(super) struct Watching {
    browser: Running,
    profile: tempfile::TempDir,
}

impl Drop for Watching {
    fn drop(&mut self) {
        kill_process_group(Pid::from_raw(self.browser.pid()).unwrap(), Signal::KILL).unwrap();
    }
}

impl Watching {
    pub(super) fn open(browser: &Path, address: &str) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut command = headless(browser, profile.path());
        command.args(["--remote-debugging-port=0", address]);
        // Debian's Chromium is a script, which it outlives.
        command.process_group(0);
        Self { browser: Running::new(command), profile }
    }

    /// The title of the page; nothing as long as there is none.
    pub(super) fn title(&self) -> Option<String> {
        let port = std::fs::read_to_string(self.profile.path().join("profile/DevToolsActivePort")).ok()?;
        let address = format!("127.0.0.1:{}", port.lines().next()?).parse().ok()?;
        let pages: serde_json::Value = serde_json::from_str(&ask(address, "/json/list").ok()?.body).ok()?;
        let page = pages.as_array()?.iter().find(|page| page["type"] == "page")?;
        page["title"].as_str().map(str::to_owned)
    }

    /// Seconds of the run that the title has.
    pub(super) fn seconds(&self) -> Option<u32> {
        let title = self.title()?;
        let clock = |part: &str| {
            let (minutes, seconds) = part.split_once(':')?;
            Some(minutes.parse::<u32>().ok()? * 60 + seconds.parse::<u32>().ok()?)
        };
        title.split(" · ").find_map(clock)
    }
}
