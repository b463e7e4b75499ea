//! Signals of programs that tests start.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// What shells set to be ignored: `nohup` SIGHUP, background jobs of scripts SIGINT and SIGQUIT, job control the rest.
const IGNORED_BY_SOME: [i32; 8] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGPIPE,
    libc::SIGTERM,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
];

/// Gives the program of `command` the default action of each signal, whatever the tests' own parent ignores: an ignored signal
/// is ignored by children, too.
pub fn set_default_signals(command: &mut Command) -> &mut Command {
    let set = || {
        for signal in IGNORED_BY_SOME {
            // SAFETY: signal(2) only changes this process's action; no handler is installed.
            if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: signal(2) may be called between fork and exec; nothing is allocated.
    unsafe { command.pre_exec(set) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_gets_default_actions_where_its_parent_ignores_signals() {
        let script = "trap '' HUP INT; exec \"$0\" \"$@\"";
        let status = |name: &str| {
            let out = Command::new("sh")
                .args(["-c", script])
                .arg(std::env::current_exe().unwrap())
                .args(["--exact", name, "--nocapture"])
                .env("PGDYNO_TEST_SIGNALS", "1")
                .output()
                .unwrap();
            String::from_utf8(out.stdout).unwrap()
        };
        assert!(status("signals::tests::the_ignoring_parent").contains("ended by signal: 1 (SIGHUP)"));
    }

    /// Not a test by itself: the program of the one above.
    #[test]
    fn the_ignoring_parent() {
        if std::env::var_os("PGDYNO_TEST_SIGNALS").is_some() {
            let mut child = Command::new("sh");
            println!("ended by {}", set_default_signals(child.args(["-c", "kill -HUP $$; sleep 1"])).status().unwrap());
        }
    }
}
