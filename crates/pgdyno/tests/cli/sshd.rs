//! An ssh server of a test, on a port of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use pgdyno_testing::port::Port;
use rustix::process::{Pid, Signal, kill_process};

use crate::program::{PATIENCE, descendants, eventually, finish};
use crate::skipped::skipped;

/// An ssh server of a test, on a port of its own.
pub(crate) struct Sshd {
    directory: PathBuf,
    program: &'static str,
    child: Child,
    /// Options of ssh that reach it with its key.
    pub(crate) options: String,
    port: Port,
}

impl Sshd {
    /// Starts it with new keys in `directory` and further lines of its configuration; `None` where there is no sshd.
    pub(crate) fn start(directory: &Path, more: &str) -> Option<Self> {
        let program = ["/usr/sbin/sshd", "/usr/local/sbin/sshd"].into_iter().find(|path| Path::new(path).exists());
        let Some(program) = program else {
            skipped("sshd, which stands for other machines, is not installed");
            return None;
        };
        let path = |name: &str| directory.join(name).display().to_string();
        for key in ["host", "user"] {
            let file = path(key);
            finish(command("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &file])).ok();
        }
        std::fs::copy(path("user.pub"), path("authorized")).unwrap();
        if rustix::process::geteuid().is_root() {
            // What Debian's service makes before it starts.
            std::fs::create_dir_all("/run/sshd").unwrap();
        }
        let port = Port::reserve();
        // The first line of a kind is the one that counts.
        let config = format!(
            "{more}Port {}\nListenAddress 127.0.0.1\nHostKey {}\nPidFile none\nAuthorizedKeysFile {}\nStrictModes no\n\
             PasswordAuthentication no\nUsePAM no\n",
            port.number(),
            path("host"),
            path("authorized")
        );
        std::fs::write(path("config"), config).unwrap();
        let options = format!(
            "-F /dev/null -p {} -i {} -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR",
            port.number(),
            path("user")
        );
        let child = listen(program, directory, port.number());
        Some(Self { directory: directory.to_owned(), program, child, options, port })
    }

    pub(crate) fn port(&self) -> u16 {
        self.port.number()
    }

    /// Ends it and its sessions, as a broken connection does; what runs in the background goes on.
    pub(crate) fn stop(&mut self) {
        let sessions = descendants(i32::try_from(self.child.id()).unwrap());
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        for session in sessions.into_iter().filter(|process| process.args.starts_with("sshd")) {
            // One that has ended meanwhile cannot be killed.
            let _ = kill_process(Pid::from_raw(session.pid).unwrap(), Signal::KILL);
        }
    }

    /// Starts it again where it was.
    pub(crate) fn start_again(&mut self) {
        self.child = listen(self.program, &self.directory, self.port.number());
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        // One that was stopped has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn listen(program: &str, directory: &Path, port: u16) -> Child {
    let config = directory.join("config");
    let child = command(program, &["-D", "-e", "-f"]).arg(config).stderr(Stdio::null()).spawn().unwrap();
    eventually("sshd answers", PATIENCE, || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok());
    child
}

fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null());
    command
}
