//! Status and exit code of a run.

use pgdyno_engine::RunEnd;
use pgdyno_results::{RunRecord, Status, Warning};
use pgdyno_text::units;

use crate::drive::Driven;
use crate::exit_code::Code;
use crate::record::ending::Ending;
use crate::record::stalls;

/// A driver that did not run for this share of the window or more measured nothing.
const ABSENT: f64 = 0.5;

/// How a run that started has ended.
pub(crate) struct End {
    pub(crate) status: Status,
    pub(crate) reason: Option<String>,
    pub(crate) code: Code,
}

impl End {
    /// Returns the end of a run that was not recorded.
    pub(crate) fn unrecorded() -> Self {
        Self { status: Status::Failed, reason: Some("the run was not recorded".to_owned()), code: Code::Run }
    }
}

/// Returns that so many clients aborted: `1 client aborted`.
pub(crate) fn aborted(clients: usize) -> String {
    format!("{} aborted", units::plain_plural(clients as u64, "client"))
}

/// Returns that so many clients had no connection at the end: `1 client had no connection when the window ended`.
fn disconnected(clients: usize) -> String {
    format!("{} had no connection when the window ended", units::plain_plural(clients as u64, "client"))
}

/// Returns why a run ended early; `None` if it did not.
pub(crate) fn early_end(ended: &RunEnd) -> Option<String> {
    match ended {
        RunEnd::Complete => None,
        RunEnd::Interrupted => Some("ended by the user; what was measured until then is kept".to_owned()),
        RunEnd::ServerLost(why) => Some(format!(
            "the server was lost: {why}; what was measured until then is kept (--reconnect TIME keeps trying)"
        )),
        RunEnd::Fatal(why) => Some(format!("the run was ended by an error: {why}")),
        RunEnd::DriverLost(why) => Some(format!("{why}; what was measured until then is kept")),
    }
}

/// Returns the status and the exit code of a run, from its figures and the end of its clients.
pub(crate) fn of(record: &RunRecord, ending: &Ending) -> End {
    let end = |status, reason: Option<String>, code| End { status, reason, code };
    if let Some(reason) = early_end(&ending.ended) {
        let death = ending.death.as_ref();
        return match ending.ended {
            RunEnd::Interrupted => end(Status::Interrupted, Some(reason), Code::Interrupted),
            // The figures are those of a part of the clients from then on.
            RunEnd::DriverLost(_) => end(Status::Invalid, Some(reason), Code::Run),
            _ => {
                end(Status::Failed, Some(death.map_or(reason.clone(), |death| format!("{reason}; {death}"))), Code::Run)
            }
        };
    }
    if let Some(reason) = of_clients(ending) {
        return end(Status::Invalid, Some(reason), Code::Run);
    }
    let summary = record.summary.as_ref();
    if summary.is_none_or(|s| s.committed == 0) {
        return end(Status::Failed, Some("no transaction was committed in the measured window".to_owned()), Code::Run);
    }
    let window_s = summary.map_or(0.0, |summary| summary.duration_s);
    let stalled = || {
        // An outage is what a ledger or a run with a fault measures.
        let is_meant = record.ledger.is_some() || record.has_fault();
        let is_most = !is_meant && stalls::are_most_of(&ending.stalls, window_s);
        is_most.then(|| stalls::warning(&ending.stalls, window_s, false)).flatten().map(|warning| warning.to_string())
    };
    match hard_failures(record).or_else(|| driver_was_away(record)).or_else(stalled) {
        Some(reason) => end(Status::Invalid, Some(reason), Code::Run),
        None => end(Status::Complete, None, Code::Success),
    }
}

/// Returns that identities do not hold, or that clients did not last to the end.
fn of_clients(ending: &Ending) -> Option<String> {
    if !ending.broken.is_empty() {
        return Some(ending.broken.join("; "));
    }
    let lost = (ending.clients_lost > 0).then(|| disconnected(ending.clients_lost));
    let aborted = (ending.clients_aborted > 0).then(|| aborted(ending.clients_aborted));
    lost.into_iter().chain(aborted).reduce(|lost, aborted| format!("{lost}, {aborted}"))
}

/// Returns that transactions failed for other reasons than concurrency.
fn hard_failures(record: &RunRecord) -> Option<String> {
    // The summary may be of a part of the groups.
    let of_groups = record.stages.iter().flat_map(|stage| &stage.groups).map(|group| &group.summary);
    let summary = record.summary.as_ref().filter(|_| record.stages.is_empty());
    let failed = summary.into_iter().chain(of_groups).flat_map(|summary| &summary.failed_by_class);
    // A fault ends sessions, and with them what they had under way.
    let is_faulty = record.has_fault();
    let is_hard = |class: &str| match class {
        "serialization" | "deadlock" => false,
        "connection" => !is_faulty && record.ledger.is_none(),
        // An outage is what a ledger measures.
        "unknown" => record.ledger.is_none(),
        _ => true,
    };
    let hard_failures: u64 = failed.filter(|(class, _)| is_hard(class)).map(|(_, n)| n).sum();
    let plural = units::ending(hard_failures);
    (hard_failures > 0)
        .then(|| format!("{hard_failures} transaction{plural} failed other than by serialization or deadlock"))
}

/// Returns that commits are missing that the settings promise to keep.
pub(crate) fn broken_promise(record: &RunRecord) -> Option<String> {
    let ledger = record.ledger.as_ref().filter(|ledger| ledger.breaks_promise())?;
    let lost = ledger.found.as_ref().map_or(0, |found| found.lost);
    let commits = units::plural(lost, "acknowledged commit");
    Some(format!(
        "{commits} lost, although synchronous_commit, synchronous_standby_names and fsync promise to keep them"
    ))
}

/// Returns that it is unknown which commits are there.
pub(crate) fn unproven(record: &RunRecord) -> Option<String> {
    let ledger = record.ledger.as_ref()?;
    let why = ledger.unwritten.as_ref().or(ledger.not_read.as_ref())?;
    Some(format!("the ledger proves nothing: {why}"))
}

/// Returns that a driver did not run for most of the window.
fn driver_was_away(record: &RunRecord) -> Option<String> {
    let drivers = record.drivers.iter().map(|driver| (format!("the driver on {}", driver.host), &driver.client));
    let all = std::iter::once(("the driver".to_owned(), &record.client)).chain(drivers);
    let mut away = all.filter_map(|(name, client)| Some((name, client.absent.filter(|share| *share >= ABSENT)?)));
    let (name, share) = away.next_back()?;
    Some(format!(
        "{name} did not run for {} of the window: it was stopped, or its machine left it waiting for a CPU",
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
    let reason = format!(
        "the server stopped answering: {} never ended{}",
        units::plural(cancelled as u64, "transaction"),
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
pub(crate) fn tpm(driven: &Driven, tpm_client: f64, is_one_each: bool) -> Result<Option<f64>, Warning> {
    let Some(whole) = &driven.whole else { return Ok(None) };
    let parts = driven.outcome.phases_by_group().flatten().map(|totals| totals.part.all());
    let (mut completed, mut sent) = (0, 0);
    for part in parts {
        completed += part.completed();
        sent += part.completed() + part.retries + part.failed.iter().sum::<u64>();
    }
    let by_server = whole.transactions();
    if is_one_each && (is_too_low(by_server, completed) || is_too_high(by_server, sent)) {
        return Err(Warning::TpmLeftOut { by_server, sent });
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
    use pgdyno_measure::stall::Stall;
    use pgdyno_results::{
        ClientRecord, DriverRecord, FaultOutcome, FaultRecord, InFlightRecord, LedgerRecord, MarkersFound, Summary,
    };

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
    fn a_ledger_that_could_not_be_read_proves_nothing_and_a_loss_counts_where_it_is_ruled_out() {
        let found = MarkersFound { lost: 3, ..MarkersFound::default() };
        let ledger = LedgerRecord { found: Some(found), is_promised: true, ..LedgerRecord::default() };
        let with = |ledger| RunRecord { ledger, ..record() };
        let reason = broken_promise(&with(Some(ledger.clone()))).unwrap();
        assert!(reason.starts_with("3 acknowledged commits lost"), "{reason}");
        assert_eq!(broken_promise(&with(Some(LedgerRecord { is_promised: false, ..ledger.clone() }))), None);
        assert_eq!(unproven(&with(Some(ledger.clone()))), None);
        let unread = LedgerRecord { found: None, not_read: Some("no server takes writes".to_owned()), ..ledger };
        assert_eq!(
            unproven(&with(Some(unread.clone()))).as_deref(),
            Some("the ledger proves nothing: no server takes writes")
        );
        assert_eq!((broken_promise(&with(Some(unread))), unproven(&record())), (None, None));
        let unwritten = LedgerRecord { unwritten: Some("the disk is full".to_owned()), ..LedgerRecord::default() };
        assert!(unproven(&with(Some(unwritten))).unwrap().ends_with("proves nothing: the disk is full"));
    }

    #[test]
    fn failures_of_an_outage_are_expected_only_with_a_ledger() {
        let mut failed = record();
        let failed_by_class = [("connection".to_owned(), 2), ("unknown".to_owned(), 1)].into();
        failed.summary = Some(Summary { failed_by_class, ..Summary::default() });
        failed.stages.clear();
        assert!(hard_failures(&failed).unwrap().starts_with("3 transactions failed"));
        failed.ledger = Some(LedgerRecord::default());
        assert_eq!(hard_failures(&failed), None);
    }

    #[test]
    fn an_outage_of_most_of_the_window_is_no_run_unless_the_run_caused_it() {
        let stall = Stall { from_s: 1.0, until_s: 9.0, failed: 40, in_flight_max: 0, disconnected_max: 4 };
        let ending = Ending { stalls: vec![stall], ..Ending::complete() };
        let mut record = record();
        record.summary = Some(Summary { committed: 100, duration_s: 10.0, ..Summary::default() });
        record.stages.clear();
        let invalid = of(&record, &ending);
        assert_eq!(invalid.status, Status::Invalid);
        assert!(invalid.reason.unwrap().starts_with("no transaction succeeded for 8.0 s"));
        record.faults = vec![FaultRecord { outcome: FaultOutcome::NoEffect, ..FaultRecord::default() }];
        assert_eq!(of(&record, &ending).status, Status::Invalid);
        record.faults[0].outcome = FaultOutcome::Done;
        assert_eq!(of(&record, &ending).status, Status::Complete);
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
