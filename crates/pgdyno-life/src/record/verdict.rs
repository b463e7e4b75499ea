//! Status and exit code of a run.

use pgdyno_engine::Ended;
use pgdyno_report::units;
use pgdyno_results::{RunRecord, Status};

use crate::drive::{self, Driven};
use crate::exit_code::Code;

/// How a run that started has ended.
pub(crate) struct End {
    pub(crate) status: Status,
    pub(crate) reason: Option<String>,
    pub(crate) code: Code,
}

/// Returns that so many clients aborted or lost their connection: `1 client aborted`.
pub(crate) fn aborted(clients: usize) -> String {
    format!("{clients} client{} aborted", if clients == 1 { "" } else { "s" })
}

/// Returns the status and the exit code of a run.
pub(crate) fn of(driven: &Driven, record: &RunRecord, broken: &[String], death: Option<String>) -> End {
    let summary = record.summary.as_ref();
    let outcome = &driven.outcome;
    let end = |status, reason: Option<String>, code| End { status, reason, code };
    if let Some(reason) = drive::early_end(&outcome.ended) {
        return match outcome.ended {
            Ended::Interrupted => end(Status::Interrupted, Some(reason), Code::Interrupted),
            // The figures are those of a part of the clients from then on.
            Ended::DriverLost(_) => end(Status::Invalid, Some(reason), Code::Run),
            _ => {
                end(Status::Failed, Some(death.map_or(reason.clone(), |death| format!("{reason}; {death}"))), Code::Run)
            }
        };
    }
    if !broken.is_empty() {
        return end(Status::Invalid, Some(broken.join("; ")), Code::Run);
    }
    if outcome.clients_lost + outcome.clients_aborted > 0 {
        return end(Status::Invalid, Some(aborted(outcome.clients_lost + outcome.clients_aborted)), Code::Run);
    }
    if summary.is_none_or(|s| s.committed == 0) {
        return end(Status::Failed, Some("no transaction was committed in the measured window".to_owned()), Code::Run);
    }
    // The summary may be of a part of the groups.
    let of_groups = record.stages.iter().flat_map(|stage| &stage.groups).map(|group| &group.summary);
    let summary = summary.filter(|_| record.stages.is_empty());
    let failed = summary.into_iter().chain(of_groups).flat_map(|summary| &summary.failed_by_class);
    let hard_failures: u64 =
        failed.filter(|(class, _)| !matches!(class.as_str(), "serialization" | "deadlock")).map(|(_, n)| n).sum();
    if hard_failures > 0 {
        let plural = if hard_failures == 1 { "" } else { "s" };
        let reason = format!("{hard_failures} transaction{plural} failed other than by serialization or deadlock");
        return end(Status::Invalid, Some(reason), Code::Run);
    }
    end(Status::Complete, None, Code::Success)
}

/// Returns transactions per minute as the server counts them: its exact count of the whole run, multiplied by the
/// measured window's share of the client's counts. docs/metrics.md explains this. `is_one_each`: a transaction of a client is one
/// of the server.
///
/// # Errors
/// When the server's count is far from the clients': returns the warning.
pub(crate) fn tpm(driven: &Driven, tpm_client: f64, is_one_each: bool) -> Result<Option<f64>, String> {
    let Some(whole) = &driven.whole else { return Ok(None) };
    let parts = driven.outcome.phases_by_group().flatten().map(|totals| totals.part.all());
    let (mut completed, mut sent) = (0, 0);
    for part in parts {
        completed += part.completed();
        sent += part.completed() + part.retries + part.failed.iter().sum::<u64>();
    }
    let by_server = whole.transactions();
    if is_one_each && (is_too_low(by_server, completed) || is_too_high(by_server, sent)) {
        return Err(format!(
            "TPM is left out: the server counted {} transactions and the clients sent {} (a pooler whose sessions report late, \
             or other programs in the database)",
            units::count(by_server),
            units::count(sent)
        ));
    }
    Ok((completed > 0).then(|| tpm_client * by_server as f64 / completed as f64))
}

/// Transactions that the server may count less or more than the clients in any run: pgdyno's own, and those of autovacuum.
const UNCOUNTED: u64 = 1000;

/// Returns true if the server missed a tenth of the transactions that clients completed.
fn is_too_low(by_server: u64, completed: u64) -> bool {
    by_server + UNCOUNTED < completed - completed / 10
}

/// Returns true if the server counted a quarter more than clients sent.
fn is_too_high(by_server: u64, sent: u64) -> bool {
    by_server > sent + sent / 4 + UNCOUNTED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_of_the_server_is_believed_if_it_is_near_the_clients() {
        for (by_server, sent, low, high) in [
            (100_000, 100_000, false, false),
            (95_000, 100_000, false, false),
            (49_000, 100_000, true, false),
            (120_000, 100_000, false, false),
            (136_000, 100_000, false, true),
            // In a short run pgdyno's own transactions are many.
            (600, 100, false, false),
            (0, 1000, false, false),
        ] {
            assert_eq!((is_too_low(by_server, sent), is_too_high(by_server, sent)), (low, high), "{by_server} {sent}");
        }
    }
}
