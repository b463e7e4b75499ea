//! Signal actions that the program sets for itself.

/// Restores the default action of SIGPIPE, as C programs have it, so that a write to a closed pipe ends the program;
/// Rust ignores SIGPIPE. Sockets are not affected, because they are written with MSG_NOSIGNAL.
pub(crate) fn end_by_broken_pipes() {
    // SAFETY: restoring the default action has no precondition.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}
