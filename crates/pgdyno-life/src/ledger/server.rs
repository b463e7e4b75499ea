//! Reads the markers that the server has, when it takes writes again.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, AdminError, ConnectOptions, Stop};
use pgdyno_results::{LedgerEntry, LedgerRecord, MarkersFound, read_ledger};
use pgdyno_workload::{Ledger, LedgerMarkers, MARKER_COLUMNS};

use super::account::{Present, compare, count_classes};
use super::{keys, outage, promise};
use crate::events::EventSink;
use crate::exit_code::Code;
use crate::failure::{OrFail, Result};
use crate::target::server_state::ServerState;

/// How long the check waits for a server that takes writes.
const AWAITING: Duration = Duration::from_secs(60);
/// Time between two tries, and between two reads of the markers.
const PAUSE: Duration = Duration::from_secs(1);
/// Reads of the markers of a standby, at most: it may still replay.
const READS_MAX: usize = 60;
/// Limits of the answer with all markers.
const READING: Duration = Duration::from_secs(600);
const MARKERS_BYTES_MAX: usize = 4 << 30;

/// A commit that waits for a standby is not visible yet.
const STILL_WAITING: &str =
    "select count(*) from pg_stat_activity where wait_event = 'SyncRep' and datname = current_database()";

/// What is known before the clients begin.
#[derive(Clone, Debug, Default)]
pub(crate) struct LedgerBefore {
    /// The first marker that the run can write in each place; empty if all markers with its number are its own.
    first: HashMap<[i64; 2], i64>,
    settings: BTreeMap<String, String>,
    timeline: Option<String>,
}

/// Removes markers with the number of this run, and reads what is compared after it.
///
/// # Errors
/// When the server refuses.
pub(crate) fn look_before(
    ledger: &Ledger,
    run: i64,
    admin: &mut Admin,
    events: &dyn EventSink,
) -> Result<LedgerBefore> {
    if let LedgerMarkers::Keys(keys) = &ledger.markers {
        keys::admit(keys, admin)?.iter().for_each(|warning| events.warn(warning));
    }
    for sql in ledger.forget(run) {
        admin.execute(&sql).or_fail(Code::Load)?;
    }
    let mut before = LedgerBefore::default();
    if let Some(sql) = ledger.first_markers() {
        let rows = admin.query(sql).or_fail(Code::Load)?.rows;
        before.first =
            rows.iter().filter_map(|row| Some(([number(row, 0)?, number(row, 1)?], number(row, 2)?))).collect();
    }
    let settings = admin.query(promise::SETTINGS).or_fail(Code::Start)?.rows;
    before.settings =
        settings.into_iter().filter_map(|mut row| Some((row[0].take()?, row.get_mut(1)?.take()?))).collect();
    before.timeline = ServerState::ask(admin).or_fail(Code::Start)?.timeline;
    Ok(before)
}

/// What is asked after the clients have ended.
pub(crate) struct LookBack<'a> {
    pub(crate) ledger: &'a Ledger,
    /// The number of the run.
    pub(crate) run: i64,
    /// The time limit of a reply.
    pub(crate) timeout_s: f64,
    pub(crate) before: &'a LedgerBefore,
    /// Whether a server is waited for.
    pub(crate) waits: bool,
    /// The end of the measured window, in microseconds since 1970.
    pub(crate) until_us: u64,
    /// Why commits are missing in the ledger, if they are.
    pub(crate) unwritten: Option<&'a str>,
}

/// Returns the account of a run: the commits in its directory, and what the server has of them.
///
/// # Errors
/// When the commits of the run cannot be read.
pub(crate) fn look_back(
    look: &LookBack<'_>,
    directory: &Path,
    options: &ConnectOptions,
    stop: &Stop,
) -> Result<LedgerRecord> {
    let entries = read_ledger(directory).or_fail(Code::Run)?;
    let mut record = LedgerRecord {
        run: look.run,
        transaction: look.ledger.txns.join(", "),
        settings: look.before.settings.clone(),
        timeline_before: look.before.timeline.clone(),
        unwritten: look.unwritten.map(str::to_owned),
        ..LedgerRecord::default()
    };
    count_classes(&entries, &mut record);
    outage::fill(&entries, look.timeout_s, look.until_us, &mut record);
    let patience = if look.waits { AWAITING } else { Duration::ZERO };
    let read = await_writable(options, patience, stop).and_then(|(mut admin, timeline)| {
        record.timeline_after = timeline;
        find(look.ledger, look.run, &look.before.first, &entries, &mut admin)
    });
    match read {
        Ok(found) => record.found = Some(found),
        Err(why) => record.not_read = Some(why),
    }
    if record.unmarked > 0 && record.acknowledged == 0 {
        let why = "no transaction set the variable of its key ";
        (record.found, record.not_read) = (None, Some(why.to_owned()));
    }
    settle(&mut record);
    Ok(record)
}

/// Fills in what the settings promise. Where a timeline is not known, as on a service without the right to read it, another server may have the
/// data now; so it does where several have acknowledged commits, whichever of them was asked at the end.
pub(super) fn settle(record: &mut LedgerRecord) {
    let is_alone = record.endpoints.len() < 2;
    let has_stayed = is_alone && record.timeline_before.is_some() && record.timeline_before == record.timeline_after;
    record.is_promised = promise::is_promised(&record.settings, !has_stayed);
}

/// Returns a session on a server that takes writes, and its timeline. Gives up after that time, or when the user does not want to wait.
fn await_writable(
    options: &ConnectOptions,
    patience: Duration,
    stop: &Stop,
) -> std::result::Result<(Admin, Option<String>), String> {
    let deadline = Instant::now() + patience;
    loop {
        let reached = Admin::connect(options).map_err(|error| error.to_string()).and_then(|mut admin| {
            match ServerState::ask(&mut admin) {
                Ok(state) if state.takes_writes => Ok((admin, state.timeline)),
                Ok(_) => Err(format!("{} is read-only", admin.peer())),
                Err(error) => Err(error.to_string()),
            }
        });
        match reached {
            Err(why) if Instant::now() >= deadline || stop.is_requested() => {
                return Err(format!("no server takes writes: {why}"));
            }
            Err(_) => std::thread::sleep(PAUSE),
            Ok(admin) => return Ok(admin),
        }
    }
}

/// Reads the markers and compares the commits with them. A read right after the end may come too early: what counts is the first
/// that finds the same as the one before, a second later.
pub(super) fn find(
    ledger: &Ledger,
    run: i64,
    first: &HashMap<[i64; 2], i64>,
    entries: &[LedgerEntry],
    admin: &mut Admin,
) -> std::result::Result<MarkersFound, String> {
    let failed = |error: AdminError| format!("failed to read the markers on the server: {error}");
    admin.take_at_most(MARKERS_BYTES_MAX);
    admin.wait_at_most(READING);
    let shows_all = !matches!(ledger.markers, LedgerMarkers::Keys(_));
    let commits = keys::numbered(if shows_all { &[] } else { entries });
    let read = |admin: &mut Admin| match &ledger.markers {
        LedgerMarkers::Keys(keys) => keys::find(keys, &commits, admin),
        LedgerMarkers::Rows(_) | LedgerMarkers::Orders => read(ledger, run, first, admin),
    };
    let mut present = read(admin).map_err(failed)?;
    for _ in 1..READS_MAX {
        std::thread::sleep(PAUSE);
        let later = read(admin).map_err(failed)?;
        let is_settled = later == present;
        present = later;
        if is_settled {
            break;
        }
    }
    let is_standby = admin.query_one("select pg_is_in_recovery()").map_err(failed)? == "t";
    let still_waiting = admin.query_one(STILL_WAITING).ok().and_then(|n| n.parse().ok()).unwrap_or_default();
    Ok(MarkersFound {
        still_waiting,
        read_on: admin.peer().to_owned(),
        is_standby,
        ..compare(if shows_all { entries } else { &commits.entries }, &present, shows_all)
    })
}

/// Reads all markers of a run in one snapshot.
fn read(
    ledger: &Ledger,
    run: i64,
    first: &HashMap<[i64; 2], i64>,
    admin: &mut Admin,
) -> std::result::Result<Present, AdminError> {
    let from = first.values().min().copied().unwrap_or_default();
    let mut present = Present::default();
    let Some(query) = ledger.present(run, from) else { return Ok(present) };
    for row in admin.query(&query)?.rows {
        let [Some(a), Some(b), Some(c)] = [number(&row, 0), number(&row, 1), number(&row, 2)] else { continue };
        // Where the first marker of a place is not known, the run has written none there.
        let is_own = first.is_empty() || first.get(&[a, b]).is_some_and(|first| c >= *first);
        if row.len() != MARKER_COLUMNS || !is_own {
            continue;
        }
        *present.times.entry([a, b, c]).or_default() += 1;
        if row[3].as_deref() == Some("f") {
            present.incomplete.insert([a, b, c]);
        }
    }
    Ok(present)
}

fn number(row: &[Option<String>], column: usize) -> Option<i64> {
    row.get(column)?.as_deref()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use pgdyno_net::Env;
    use pgdyno_results::LedgerEndpointRecord;

    use super::*;

    #[test]
    fn the_first_ctrl_c_ends_the_wait_for_a_server() {
        let dsn = "host=/nowhere port=1 user=nobody dbname=nothing";
        let options = ConnectOptions::resolve(dsn, &Env::new([], None, None)).unwrap();
        let began = Instant::now();
        let why = await_writable(&options, Duration::from_secs(30), &Stop::requested()).unwrap_err();
        assert!(why.starts_with("no server takes writes: ") && began.elapsed() < Duration::from_secs(10), "{why}");
    }

    #[test]
    fn an_unknown_timeline_promises_what_a_promotion_does() {
        let promised = |before: Option<&str>, after: Option<&str>, standbys: &str| {
            let settings = [("synchronous_commit", "on"), ("fsync", "on"), ("synchronous_standby_names", standbys)];
            let mut record = LedgerRecord {
                settings: settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
                timeline_before: before.map(str::to_owned),
                timeline_after: after.map(str::to_owned),
                ..LedgerRecord::default()
            };
            settle(&mut record);
            record.is_promised
        };
        assert!(promised(Some("00000001"), Some("00000001"), ""), "the same server");
        assert!(!promised(Some("00000001"), Some("00000002"), "") && promised(Some("00000001"), Some("00000002"), "*"));
        assert!(!promised(None, None, "") && !promised(Some("00000001"), None, ""));
        assert!(promised(None, None, "*"));
        // Two servers acknowledged commits, and the one that was read is the former primary.
        let endpoint = LedgerEndpointRecord::default;
        let mut record = LedgerRecord {
            settings: [("synchronous_commit", "on"), ("fsync", "on")].map(|(name, on)| (name.into(), on.into())).into(),
            timeline_before: Some("00000001".to_owned()),
            timeline_after: Some("00000001".to_owned()),
            endpoints: vec![endpoint(), endpoint()],
            ..LedgerRecord::default()
        };
        settle(&mut record);
        assert!(!record.is_promised);
    }
}
