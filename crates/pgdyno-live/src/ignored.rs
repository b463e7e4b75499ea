//! What the shell that started us has decided about signals.

/// Whether `signal` was ignored when the program began: background jobs of scripts ignore SIGINT, `nohup` SIGHUP.
/// Such a signal is meant to stay ignored.
#[must_use]
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: `sigaction` with a null `act` changes nothing; `old` is a valid place for what it reads.
    let (done, old) = unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        (libc::sigaction(signal, std::ptr::null(), &raw mut old), old)
    };
    done == 0 && old.sa_sigaction == libc::SIG_IGN
}
