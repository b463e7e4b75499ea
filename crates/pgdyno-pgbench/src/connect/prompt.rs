//! Asking for a password where nobody can read along.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};

use pgdyno_net::Secret;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

/// Asks on the terminal of the process, without echo; where there is none, on standard error, and reads standard
/// input.
///
/// # Errors
/// When reading or writing fails. The end of the input is an empty password.
pub fn ask_on_terminal() -> io::Result<Secret> {
    let Ok(terminal) = File::options().read(true).write(true).open("/dev/tty") else {
        return ask(&mut io::stderr(), &mut io::stdin().lock());
    };
    let _quiet = Quiet::new(&terminal)?;
    ask(&mut &terminal, &mut BufReader::new(&terminal))
}

fn ask(to: &mut dyn Write, from: &mut dyn BufRead) -> io::Result<Secret> {
    to.write_all(b"Password: ")?;
    to.flush()?;
    let mut line = String::new();
    from.read_line(&mut line)?;
    to.write_all(b"\n")?;
    Ok(Secret::new(line.trim_end_matches(['\n', '\r']).to_owned()))
}

/// A terminal without echo, until it is dropped.
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
        // A terminal that has gone needs no echo.
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
