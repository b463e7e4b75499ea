//! Signal actions that the program sets for itself.

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use rustix::process::setsid;
use signal_hook::consts::SIGHUP;

/// Restores the default action of SIGPIPE, as C programs have it, so that a write to a closed pipe ends the program;
/// Rust ignores SIGPIPE. Sockets are not affected, because they are written with MSG_NOSIGNAL.
pub(crate) fn end_by_broken_pipes() {
    // SAFETY: restoring the default action has no precondition.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}

/// Leaves the terminal: creates a session, and ignores SIGHUP.
pub(crate) fn leave_terminal() -> Result<()> {
    // Fails only for the leader of a process group, such as a user who types the hidden option.
    let _ = setsid();
    signal_hook::flag::register(SIGHUP, std::sync::Arc::default()).or_fail(Code::Start)?;
    Ok(())
}
