//! Opens a page in the user's browser.

use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::process::{Command, Stdio};

/// Programs that open what they are given as the desktop does: freedesktop.org's, GNOME's, the one of Windows Subsystem for Linux, and macOS's.
#[cfg(not(target_os = "macos"))]
const OPENERS: &[&[&str]] = &[&["xdg-open"], &["gio", "open"], &["wslview"]];
#[cfg(target_os = "macos")]
const OPENERS: &[&[&str]] = &[&["/usr/bin/open"]];

/// Opens a page, without waiting for the browser.
///
/// # Errors
/// Where no program does it, or the page has no absolute path.
pub(super) fn open(page: &Path) -> Result<()> {
    // An absolute path is never taken for an option.
    let page = std::path::absolute(page)?;
    for opener in OPENERS {
        let mut command = Command::new(opener[0]);
        command.args(&opener[1..]).arg(&page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match command.spawn() {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    let names: Vec<_> = OPENERS.iter().map(|opener| opener[0]).collect();
    Err(Error::new(ErrorKind::NotFound, format!("there is no {}", names.join(", "))))
}
