//! Signals that the parent shell made us ignore.

/// Returns true if `signal` was ignored when the program started: background jobs of scripts ignore SIGINT, `nohup`
/// SIGHUP. Such a signal stays ignored.
#[must_use]
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: `sigaction` with a null `act` changes nothing; `old` is valid for what it writes.
    let (done, old) = unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(signal, std::ptr::null(), &raw mut old), old)
    };
    done == 0 && old.sa_sigaction == libc::SIG_IGN
}
