//! What the program does about signals that the shell has left to it.

/// Lets a write to a pipe that nobody reads end the program, as C programs are used to; Rust ignores SIGPIPE. Sockets
/// are written with MSG_NOSIGNAL and are not concerned.
pub(crate) fn end_by_broken_pipes() {
    // SAFETY: restoring the default action has no precondition.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
}
