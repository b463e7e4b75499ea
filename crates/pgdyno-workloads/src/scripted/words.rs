//! pgbench's messages for errors in scripts.

/// A place in a run's scripts.
#[derive(Clone, Copy, Debug)]
pub(super) struct CommandPlace {
    pub(super) client: u32,
    pub(super) script: usize,
    pub(super) command: usize,
}

/// Returns the message for a command that failed without an error of the server.
pub(super) fn command_failed(at: CommandPlace, command: &str, why: &str) -> String {
    let CommandPlace { client, script, command: number } = at;
    format!("client {client} aborted in command {number} ({command}) of script {script}; {why}")
}

/// Returns the message for a command that the server refused; the client is aborted.
pub(super) fn refused(at: CommandPlace, query: u32, why: &str) -> String {
    let CommandPlace { client, script, command } = at;
    format!("client {client} script {script} aborted in command {command} query {query}: {why}")
}

/// Returns the message for `\gset` with no row or several.
pub(super) fn not_one_row(at: CommandPlace, query: u32, rows: u32) -> String {
    let CommandPlace { client, script, command } = at;
    format!("client {client} script {script} command {command} query {query}: expected one row, got {rows}")
}

/// Returns the message for `\gset` or `\aset` with a column whose name is no variable.
pub(super) fn not_stored(at: CommandPlace, query: u32, variable: &str) -> String {
    let CommandPlace { client, script, command } = at;
    format!("client {client} script {script} command {command} query {query}: error storing into variable {variable}")
}

/// Returns the message of `--verbose-errors` for a command that the server refused.
pub(super) fn met_error(at: CommandPlace, why: &str) -> String {
    let CommandPlace { client, script, command } = at;
    format!("client {client} got an error in command {command} (SQL) of script {script}; {why}")
}

/// Returns the message of `--verbose-errors` for the decision on the transaction.
pub(super) fn decided(client: u32, again: bool, tries: u32, max_tries: u32, used_percent: Option<f64>) -> String {
    let what = if again { "repeats the transaction after the error" } else { "ends the failed transaction" };
    let of = if max_tries > 0 { format!("/{max_tries}") } else { String::new() };
    let used = used_percent.map_or_else(String::new, |p| format!(", {p:.3}% of the maximum time of tries was used"));
    format!("client {client} {what} (try {tries}{of}{used})")
}
