//! Whether all clients can connect, and pgdyno's own sessions beside them.

use std::time::{Duration, Instant};

use pgdyno_load::steps::{COUNTERS, SAMPLES};
use pgdyno_net::Admin;
use pgdyno_server::{ConnectionLimit, room};

use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};

/// How long sessions that have just ended may take to go.
const GOING: Duration = Duration::from_secs(2);
/// The session that controls a run, and is open all the time.
const CONTROL: u32 = 1;

/// The sessions of a run beside its clients and its control session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Watchers {
    /// Whether one reads the counters at both ends of the window.
    pub(crate) counters: bool,
    /// Whether one samples the server's views.
    pub(crate) samples: bool,
}

impl Watchers {
    fn sessions(self) -> u32 {
        u32::from(self.counters) + u32::from(self.samples)
    }
}

/// Refuses a run whose clients cannot all connect, before anything is loaded. Returns the watchers that fit beside them, and a
/// warning for each that does not.
///
/// # Errors
/// When there is no room for the clients and the control session.
pub(crate) fn admit(admin: &mut Admin, clients: u32, wanted: Watchers) -> Result<(Watchers, Vec<String>)> {
    let Some(limit) = roomy(admin, clients.saturating_add(CONTROL + wanted.sessions()))? else {
        return Ok((wanted, Vec::new()));
    };
    refusal(&limit, clients, wanted).map_or_else(|| Ok(reduced(&limit, clients, wanted)), Err)
}

/// Returns what a plan says about the room for its clients, if there is too little.
///
/// # Errors
/// When the connection is lost.
pub fn shortage(admin: &mut Admin, clients: u32, samples: bool) -> Result<Vec<String>> {
    let wanted = Watchers { counters: true, samples };
    let Some(limit) = room(admin).or_fail(Code::Start)? else { return Ok(Vec::new()) };
    Ok(match refusal(&limit, clients, wanted) {
        Some(failure) => {
            let hint = failure.remedy().unwrap_or_default();
            vec![format!("the run will be refused: {}; {hint}", failure.text())]
        }
        None => reduced(&limit, clients, wanted).1,
    })
}

/// Returns the tightest limit. Waits for sessions that have just ended, if so many connections do not fit.
fn roomy(admin: &mut Admin, connections: u32) -> Result<Option<ConnectionLimit>> {
    let patience = Instant::now() + GOING;
    loop {
        match room(admin).or_fail(Code::Start)? {
            Some(limit) if limit.free() < connections && limit.used > 0 && Instant::now() < patience => {
                std::thread::sleep(Duration::from_millis(100));
            }
            limit => return Ok(limit),
        }
    }
}

/// Returns the refusal of more clients than there is room for.
fn refusal(limit: &ConnectionLimit, clients: u32, wanted: Watchers) -> Option<CommandError> {
    let own = CONTROL + wanted.sessions();
    if clients.saturating_add(CONTROL) <= limit.free() {
        return None;
    }
    let room = limit.free().saturating_sub(own);
    let error = format!(
        "you asked for {clients} clients, but the server has room for {room}: {}, and pgdyno needs {own} for itself",
        limit.text()
    );
    let remedy = limit.remedy(clients.saturating_add(own));
    let hint = format!("lower --clients or --streams, let clients share --connections, or {remedy}");
    Some(CommandError::new(Code::Start, error).hint(hint))
}

/// Returns the watchers that fit, and warnings for the others: the counters are worth more than the samples.
fn reduced(limit: &ConnectionLimit, clients: u32, wanted: Watchers) -> (Watchers, Vec<String>) {
    let left = limit.free().saturating_sub(clients.saturating_add(CONTROL));
    let counters = wanted.counters && left > 0;
    let samples = wanted.samples && left > u32::from(counters);
    let why = format!("{}, and the clients need the rest", limit.text());
    let missing = [(wanted.counters && !counters, &COUNTERS), (wanted.samples && !samples, &SAMPLES)];
    let warnings = missing.iter().filter(|(is_missing, _)| *is_missing).map(|(_, step)| step.left_out(&why));
    (Watchers { counters, samples }, warnings.collect())
}
