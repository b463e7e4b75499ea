//! Test that acknowledged commits survive a crash of the server.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError, ConnectOptions, Stop};
use pgdyno_workload::Durability;

use crate::check::scenario::{ScenarioError, Values};

/// Interval between two looks at the `Stop`.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Acknowledgements that clients received.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acknowledged {
    /// The client's number, and the commits that were acknowledged.
    pub acknowledged: Vec<(u32, i64)>,
    /// Transactions in progress when the connection was lost: their result is unknown.
    pub unanswered: u32,
}

/// Runs the transaction of `durability` on so many clients for so long, then calls `crash` while they work. Returns
/// when they have noticed, with the result of `crash`. Acknowledgements are kept in memory.
///
/// # Errors
/// When a client cannot connect, a transaction fails before the crash, or `stop` is set before it.
pub fn commit_until_crash<T>(
    options: &ConnectOptions,
    durability: &Durability,
    clients: u32,
    drive: Duration,
    stop: &Stop,
    crash: impl FnOnce() -> T,
) -> Result<(Acknowledged, T), ScenarioError> {
    let mut admins = Vec::new();
    for number in 1..=clients.min(durability.clients) {
        let mut values = Values::default();
        values.set("client", "number", Some(number.to_string()));
        let sql = values.fill(durability.transaction).unwrap_or_else(|_| durability.transaction.to_owned());
        let mut admin = Admin::connect(options)?;
        // The crash ends its statements.
        admin.wait_without_limit();
        admins.push((number, sql, admin));
    }
    // Set before the crash: later failures are of transactions in progress.
    let (crashing, over) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let (crashing, over) = (&crashing, &over);
        let clients: Vec<_> = admins
            .into_iter()
            .map(|(number, sql, admin)| scope.spawn(move || client(number, &sql, admin, crashing, over)))
            .collect();
        let end = Instant::now() + drive;
        let interrupted = loop {
            let failed = clients.iter().any(|client| client.is_finished());
            match stop.is_requested() {
                true => break true,
                false if failed || Instant::now() >= end => break false,
                false => std::thread::sleep(POLL_INTERVAL),
            }
        };
        crashing.store(true, Ordering::Relaxed);
        let crashed = (!interrupted).then(crash);
        // If the server did not crash, this ends them.
        over.store(true, Ordering::Relaxed);
        let mut seen = Acknowledged::default();
        let mut refused = None;
        for client in clients {
            let Ok((acknowledged, end)) = client.join() else { continue };
            seen.acknowledged.extend(acknowledged);
            match end {
                End::Over => {}
                End::Lost => seen.unanswered += 1,
                End::Failed(error) => refused = Some(ScenarioError::from(error)),
            }
        }
        match (crashed, refused) {
            (Some(crashed), None) => Ok((seen, crashed)),
            (None, _) => Err(ScenarioError::Interrupted),
            (_, Some(error)) => Err(error),
        }
    })
}

/// How a client ended.
enum End {
    /// On request.
    Over,
    /// By the crash.
    Lost,
    /// By an error before the crash.
    Failed(AdminError),
}

fn client(
    number: u32,
    sql: &str,
    mut admin: Admin,
    crashing: &AtomicBool,
    over: &AtomicBool,
) -> (Vec<(u32, i64)>, End) {
    let mut acknowledged = Vec::new();
    while !over.load(Ordering::Relaxed) {
        match admin.query(sql) {
            Ok(rows) => {
                let first = rows.rows.first().and_then(|row| row.first()?.as_deref()?.parse().ok());
                acknowledged.extend(first.map(|value| (number, value)));
            }
            Err(_) if crashing.load(Ordering::Relaxed) => return (acknowledged, End::Lost),
            Err(error) => return (acknowledged, End::Failed(error)),
        }
    }
    (acknowledged, End::Over)
}

/// Returns acknowledged transactions that are missing: the first five, as `col=value col=value`, and their number.
///
/// # Errors
/// When the query fails.
pub fn lost(
    admin: &mut Admin,
    durability: &Durability,
    seen: &Acknowledged,
) -> Result<(Vec<String>, usize), AdminError> {
    let array = |values: Vec<String>| Some(format!("{{{}}}", values.join(",")));
    let mut values = Values::default();
    values.set("acknowledged", "clients", array(seen.acknowledged.iter().map(|(c, _)| c.to_string()).collect()));
    values.set("acknowledged", "numbers", array(seen.acknowledged.iter().map(|(_, n)| n.to_string()).collect()));
    let sql = values.fill(durability.lost).unwrap_or_else(|_| durability.lost.to_owned());
    let rows = admin.query(&sql)?;
    let mut shown = crate::check::texts(&rows);
    let all = shown.len();
    shown.truncate(crate::check::question::SHOWN);
    Ok((shown, all))
}
