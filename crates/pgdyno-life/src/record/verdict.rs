//! Status and exit code of a run.

use pgdyno_engine::Ended;
use pgdyno_measure::stall::Stall;
use pgdyno_report::units;
use pgdyno_results::{RunRecord, Status};

use crate::drive::{self, Driven};
use crate::exit_code::Code;
use crate::record::stalls;

/// A driver that did not run for this share of the window or more measured nothing.
const ABSENT: f64 = 0.5;

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
pub(crate) fn of(
    driven: &Driven,
    record: &RunRecord,
    broken: &[String],
    stalls: &[Stall],
    death: Option<String>,
) -> End {
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
    if let Some(reason) = driver_was_away(record) {
        return end(Status::Invalid, Some(reason), Code::Run);
    }
    let window_s = record.summary.as_ref().map_or(0.0, |summary| summary.duration_s);
    if stalls::are_most_of(stalls, window_s) {
        return end(Status::Invalid, stalls::text(stalls, window_s), Code::Run);
    }
    end(Status::Complete, None, Code::Success)
}

/// Returns that a driver did not run for most of the window.
fn driver_was_away(record: &RunRecord) -> Option<String> {
    let drivers = record.drivers.iter().map(|driver| (format!("the driver on {}", driver.host), &driver.client));
    let all = std::iter::once(("the driver".to_owned(), &record.client)).chain(drivers);
    let mut away = all.filter_map(|(name, client)| Some((name, client.absent.filter(|share| *share >= ABSENT)?)));
    let (name, share) = away.next_back()?;
    Some(format!(
        "{name} did not run for {} of the window: it was stopped, or its machine gave it no CPU",
        units::percent(share)
    ))
}

/// Returns the end of a run whose server no longer answers after it: `failed` if transactions were in flight that never ended.
pub(crate) fn without_answer(end: End, record: &RunRecord, cancelled: usize) -> End {
    if cancelled == 0 || !matches!(end.status, Status::Complete | Status::Invalid) {
        return end;
    }
    let oldest = record.summary.as_ref().and_then(|summary| summary.in_flight_at_end);
    let oldest = oldest.map(|in_flight| {
        format!(", the oldest in flight for {} when the window ended", units::duration(in_flight.age_s_max))
    });
    let plural = if cancelled == 1 { "" } else { "s" };
    let reason = format!(
        "the server stopped answering: {} transaction{plural} never ended{}",
        units::count(cancelled as u64),
        oldest.unwrap_or_default()
    );
    End { status: Status::Failed, reason: Some(reason), code: Code::Run }
}

/// Returns transactions per minute as the server counts them: its exact count of the whole run, multiplied by the
/// measured window's share of the client's counts. docs/measurement.md explains this. `is_one_each`: a transaction of a client is one
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
    use pgdyno_results::{ClientRecord, DriverRecord, InFlightRecord, Summary};

    use super::*;

    fn record() -> RunRecord {
        serde_json::from_str(include_str!("../../../../fixtures/runs/v1/run.json")).unwrap()
    }

    #[test]
    fn a_driver_that_did_not_run_for_most_of_the_window_is_named() {
        let mut record = record();
        assert_eq!(driver_was_away(&record), None);
        record.client.absent = Some(0.4);
        assert_eq!(driver_was_away(&record), None);
        record.client.absent = Some(0.75);
        assert!(driver_was_away(&record).unwrap().starts_with("the driver did not run for 75.0 % of the window"));
        let client = ClientRecord { absent: Some(0.6), ..ClientRecord::default() };
        record.drivers = vec![DriverRecord { host: "b".to_owned(), client, ..DriverRecord::default() }];
        assert!(driver_was_away(&record).unwrap().starts_with("the driver on b did not run for 60.0 %"));
    }

    #[test]
    fn a_server_that_left_transactions_unanswered_and_is_silent_fails_the_run() {
        let mut record = record();
        let in_flight_at_end = Some(InFlightRecord { transactions: 4, age_s_max: 6.04, counted: 4 });
        record.summary = Some(Summary { in_flight_at_end, ..Summary::default() });
        let end = || End { status: Status::Complete, reason: None, code: Code::Success };
        let failed = without_answer(end(), &record, 4);
        assert_eq!((failed.status, failed.code as u8), (Status::Failed, 2));
        let why = "the server stopped answering: 4 transactions never ended, the oldest in flight for 6.0 s when the window ended";
        assert_eq!(failed.reason.as_deref(), Some(why));
        // Its control session may be lost for another reason.
        assert_eq!(without_answer(end(), &record, 0).status, Status::Complete);
    }

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
