//! A time limit for each check: one that hangs does not keep the others from ending.

use std::time::Duration;

use pgdyno_net::{Admin, AdminError, ConnectOptions, Deadline};

use crate::finding::Finding;

/// Time limit of one check.
pub(super) const CHECK: Duration = Duration::from_secs(10);

/// A session that runs checks, and is opened again after one that did not end.
pub(super) struct Session<'a> {
    pub(super) admin: &'a mut Admin,
    pub(super) options: &'a ConnectOptions,
}

impl Session<'_> {
    /// Runs a check. If it does not end in time, that is its only finding.
    ///
    /// # Errors
    /// When the connection is lost, or the user ends it.
    pub(super) fn check<T: IntoIterator<Item = Finding>>(
        &mut self,
        name: &'static str,
        work: impl FnOnce(&mut Admin) -> Result<T, AdminError>,
    ) -> Result<Vec<Finding>, AdminError> {
        match self.admin.until(Deadline::after(CHECK), work) {
            Ok(found) => Ok(found.into_iter().collect()),
            Err(error @ (AdminError::Silent { .. } | AdminError::TooLarge { .. })) => {
                match Admin::connect(self.options) {
                    Ok(admin) => *self.admin = admin,
                    Err(_) => return Err(error),
                }
                Ok(vec![unfinished(name, &error)])
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns the finding of a check that hung, or whose answer was too large.
fn unfinished(name: &'static str, error: &AdminError) -> Finding {
    let found = match error {
        AdminError::Silent { .. } => Finding::passed(name, format!("did not end within {} s", CHECK.as_secs())),
        error => Finding::passed(name, error.to_string()),
    };
    let remedy = "See wait_event in pg_stat_activity and pg_blocking_pids() while doctor runs.";
    match name {
        "commit" => found.error("A commit that writes hangs: loads and runs would, too.", remedy),
        _ => found.warning("The result is unknown. What holds the server up would hold up a run, too.", remedy),
    }
}
