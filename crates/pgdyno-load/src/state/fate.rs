//! What became of a step whose answer did not come: the server is asked, nothing is guessed. A cancelled wait for a
//! synchronous standby, for example, has committed.

use std::fmt;
use std::time::Duration;

use pgdyno_net::{Admin, AdminError, ConnectOptions, Deadline, quote};
use pgdyno_workload::DataSet;

use crate::lock_key::lock_key;
use crate::{DataState, Stamp, state};

/// How long to look: the user has asked for the end.
const LOOKING: Duration = Duration::from_secs(5);
/// Interval between two looks at a transaction that is still in progress.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// What became of a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It committed.
    Committed,
    /// It was rolled back.
    RolledBack,
    /// The server still works on it.
    InProgress,
    /// The server does not say, for this reason.
    Unknown(String),
}

impl Fate {
    /// Asks over a connection of its own what became of transaction `id`, which [`transaction`] has returned.
    pub(crate) fn ask(options: &ConnectOptions, id: &str) -> Self {
        let sql = format!("select txid_status({})", quote::literal(id));
        let asked = asking(options, |admin, deadline| {
            loop {
                let status = admin.query_opt(&sql)?;
                if status.as_deref() != Some("in progress") || deadline.has_passed() {
                    return Ok(status);
                }
                std::thread::sleep(POLL_INTERVAL);
            }
        });
        match asked.as_ref().map(Option::as_deref) {
            Ok(Some("committed")) => Self::Committed,
            Ok(Some("aborted")) => Self::RolledBack,
            Ok(Some("in progress")) => Self::InProgress,
            Ok(_) => Self::Unknown("the server has forgotten the transaction".to_owned()),
            Err(why) => Self::Unknown(why.clone()),
        }
    }
}

/// Returns the identity of the transaction in progress; `None` if the server does not say.
pub(crate) fn transaction(admin: &mut Admin) -> Result<Option<String>, AdminError> {
    // In a transaction, a refusal would end it.
    admin.execute("savepoint pgdyno")?;
    match admin.query_opt("select txid_current()") {
        Ok(id) => Ok(id),
        Err(error) if error.is_lost() => Err(error),
        Err(_) => admin.execute("rollback to savepoint pgdyno").map(|_| None),
    }
}

/// What is there after a load was interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remains {
    /// Complete data: the load had ended, or had not begun to replace what was there.
    Complete(Box<Stamp>),
    /// Nothing of the data set.
    Nothing,
    /// The tables of another program.
    Foreign,
    /// Tables of these names that pgdyno loaded for another workload.
    Taken,
    /// A part of the load.
    Part,
    /// It could not be determined, for this reason.
    Unknown(String),
}

impl Remains {
    /// Asks over a connection of its own what is there.
    pub(crate) fn ask(options: &ConnectOptions, data: &dyn DataSet) -> Self {
        let free = format!("select pg_try_advisory_xact_lock({})", lock_key(data.meta().dataset));
        let found = asking(options, |admin, deadline| {
            // The load holds it until its last statement has ended.
            while admin.query_opt(&free)?.as_deref() == Some("f") && !deadline.has_passed() {
                std::thread::sleep(POLL_INTERVAL);
            }
            Ok(state(admin, data).map_err(|error| error.to_string()))
        });
        match found.and_then(|found| found) {
            Ok(DataState::Complete(stamp) | DataState::Other(stamp)) => Self::Complete(Box::new(stamp)),
            Ok(DataState::Absent) => Self::Nothing,
            Ok(DataState::Foreign { .. }) => Self::Foreign,
            Ok(DataState::Taken(_)) => Self::Taken,
            Ok(DataState::Partial { .. }) => Self::Part,
            Err(why) => Self::Unknown(why),
        }
    }
}

impl fmt::Display for Remains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Complete(stamp) => write!(f, "the database holds {stamp}, complete"),
            Self::Nothing => f.write_str("nothing of it is in the database"),
            Self::Foreign => f.write_str("the tables of the other program are still there"),
            Self::Taken => f.write_str("the data of the other workload is still there"),
            Self::Part => f.write_str("what was loaded so far is unusable, and the next load removes it"),
            Self::Unknown(why) => write!(f, "what is in the database now could not be determined: {why}"),
        }
    }
}

/// Runs `work` over a connection of its own, which an interrupt does not end, within [`LOOKING`].
fn asking<T>(
    options: &ConnectOptions,
    work: impl FnOnce(&mut Admin, Deadline) -> Result<T, AdminError>,
) -> Result<T, String> {
    let options = options.uninterrupted().unreported().with_connect_timeout_at_most(LOOKING);
    let mut admin = Admin::connect(&options).map_err(|error| error.to_string())?;
    let deadline = Deadline::after(LOOKING);
    // The last question begins before the deadline, and its answer may come a little later.
    admin.until(Deadline::after(LOOKING + LOOKING), |admin| work(admin, deadline)).map_err(|error| error.to_string())
}
