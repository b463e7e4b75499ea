//! Prints the directory of the programs of the portable PostgreSQL of a major version, and fetches it where it is not there
//! yet: `cargo run -p pgdyno-server --example portable -- 16`.

#![expect(clippy::disallowed_methods, clippy::print_stderr, clippy::print_stdout, reason = "a program of its own")]

use std::error::Error;

use pgdyno_server::{Account, Places, portable};

fn main() -> Result<(), Box<dyn Error>> {
    let major = std::env::args().nth(1).and_then(|word| word.parse().ok()).ok_or("give a major version, such as 16")?;
    let places = Places::of_user(|name| std::env::var_os(name))?;
    let account = Account::for_server()?;
    let fetching = || eprintln!("fetching the portable PostgreSQL {major}");
    let found = portable::obtain(&places, major, account.as_ref(), fetching)?;
    println!("{}", found.bindir.display());
    Ok(())
}
