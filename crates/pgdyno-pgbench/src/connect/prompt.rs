//! Asks for a password without echo.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;

use pgdyno_net::{Secret, Stop};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Asks on the terminal of the process, without echo; without a terminal, on standard error and standard input.
///
/// # Errors
/// When reading or writing fails, or `stop` is set meanwhile. The end of the input is an empty password.
#[expect(clippy::disallowed_methods, reason = "pgbench asks on standard error where there is no terminal")]
pub fn ask_on_terminal(stop: &Stop) -> io::Result<Secret> {
    let Ok(terminal) = File::options().read(true).write(true).open("/dev/tty") else {
        return ask(&mut io::stderr(), &mut BufReader::new(Stoppable { input: io::stdin(), stop }));
    };
    let _quiet = Quiet::new(&terminal)?;
    ask(&mut &terminal, &mut BufReader::new(Stoppable { input: &terminal, stop }))
}

/// An input whose reads end when the program has to stop.
struct Stoppable<'a, T> {
    input: T,
    stop: &'a Stop,
}

impl<T: Read + AsFd> Read for Stoppable<'_, T> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let interval = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        loop {
            if self.stop.is_requested() {
                return Err(io::Error::other("interrupted"));
            }
            match poll(&mut [PollFd::new(&self.input, PollFlags::IN)], Some(&interval)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return self.input.read(buf),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

fn ask(to: &mut dyn Write, from: &mut dyn BufRead) -> io::Result<Secret> {
    to.write_all(b"Password: ")?;
    to.flush()?;
    let mut line = String::new();
    from.read_line(&mut line)?;
    to.write_all(b"\n")?;
    Ok(Secret::new(line.trim_end_matches(['\n', '\r']).to_owned()))
}

/// A terminal without echo, until this value is dropped.
struct Quiet<'a> {
    terminal: &'a File,
    before: Termios,
}

impl<'a> Quiet<'a> {
    fn new(terminal: &'a File) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        tcsetattr(terminal, OptionalActions::Flush, &quiet)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for Quiet<'_> {
    fn drop(&mut self) {
        // A terminal that is gone needs no echo.
        tcsetattr(self.terminal, OptionalActions::Flush, &self.before).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_password_is_the_line_that_is_typed() {
        let mut said = Vec::new();
        let password = ask(&mut said, &mut "hunter 2 \nmore\n".as_bytes()).unwrap();
        assert_eq!(password.reveal(), "hunter 2 ");
        assert_eq!(said, b"Password: \n");
        assert_eq!(ask(&mut said, &mut "".as_bytes()).unwrap().reveal(), "");
    }
}
