//! The ledger of a run: the verdict in one sentence, and a table of all that is known.

use std::io::{self, Write};

use pgdyno_results::{LedgerRecord, MarkersFound};
use pgdyno_text::paint::Paint;
use pgdyno_text::units::{self, count, plural};
use pgdyno_text::wrap;
use pgdyno_untrusted::MarkdownText;

/// Returns a length of time; a short one to the hundredth of a second, for a loss is often shorter than a tenth.
fn duration(seconds: f64) -> String {
    if seconds < 10.0 { format!("{seconds:.2} s") } else { units::duration(seconds) }
}

/// Returns the verdict in one sentence.
#[must_use]
pub fn answer(ledger: &LedgerRecord) -> String {
    let outage = match (ledger.outage.outage_s, ledger.outage.is_over) {
        (None, _) => match ledger.outage.client_outage_s_max {
            None => "no outage".to_owned(),
            Some(gap_s) => format!("no outage, longest gap of a client {}", duration(gap_s)),
        },
        (Some(outage_s), true) => format!("{} without commits", duration(outage_s)),
        (Some(outage_s), false) => format!("{} without commits, to the end of the run", duration(outage_s)),
    };
    let acknowledged = format!("{} acknowledged", count(ledger.acknowledged));
    let Some(found) = &ledger.found else {
        return format!("{outage}; {acknowledged}, and it is not known which of them are there");
    };
    let lost = match found.loss_window_s {
        None => "none lost".to_owned(),
        Some(window_s) => format!("{} of them LOST (within {})", count(found.lost), duration(window_s)),
    };
    let unknown = match ledger.unknown {
        0 => "0 unknown".to_owned(),
        unknown => format!("{} unknown, {} of them present", count(unknown), count(found.unknown_present)),
    };
    let only = ledger.locally_only;
    let locally = if only == 0 { String::new() } else { format!("; {} on one server only", plural(only, "commit")) };
    format!("{outage}; {acknowledged}, {lost}; {unknown}{locally}")
}

/// Writes the verdict, and what a reader must know beside it.
pub(crate) fn text(ledger: &LedgerRecord, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    wrap::entry(out, paint, "LEDGER", &answer(ledger))?;
    for line in alarms(ledger) {
        wrap::entry(out, paint, "", &format!("{} {line}", paint.red("!")))?;
    }
    Ok(())
}

/// Returns what a reader must know beside the verdict.
pub(crate) fn alarms(ledger: &LedgerRecord) -> Vec<String> {
    let mut alarms = Vec::new();
    alarms.extend(ledger.unwritten.as_ref().map(|why| format!("{why}: more commits may be lost")));
    if let Some(why) = &ledger.not_read {
        alarms.push(format!("{why}; ask again later: pgdyno check ledger --run last"));
    }
    if let Some(found) = &ledger.found {
        if found.lost > 0 {
            let promise = match ledger.is_promised {
                true => "the settings promise to keep what was acknowledged",
                false => {
                    "the settings do not promise to keep what was acknowledged: synchronous_commit, synchronous_standby_names, fsync"
                }
            };
            alarms.push(promise.to_owned());
        }
        if found.still_waiting > 0 {
            let sessions = plural(found.still_waiting, "session");
            let text = format!(
                "{sessions} on the server wait for a synchronous standby: their commits count as absent as long as they wait"
            );
            alarms.push(text);
        }
        let nameless = (found.unknown_unmarked, "unknown commit", "without a marker: its answer would have had it");
        let resurrected = (found.resurrected, "failed commit", "present although the server reported a failure");
        let duplicated = (found.duplicated, "marker", "present more than once");
        let unrecorded = (found.unrecorded, "marker", "present that no client has recorded");
        let seen = [nameless, resurrected, duplicated, unrecorded].into_iter().filter(|(number, ..)| *number > 0);
        alarms.extend(seen.map(|(number, what, how)| format!("{} {how}", plural(number, what))));
    }
    if ledger.unmarked > 0 {
        let commits = plural(ledger.unmarked, "acknowledged commit");
        alarms.push(format!("{commits} without a marker: it is not known whether they are there"));
    }
    if let Some(overlap_s) = ledger.overlap_s {
        let servers = ledger.endpoints.iter().map(|server| server.address.as_str()).collect::<Vec<_>>().join(" and ");
        alarms
            .push(format!("split brain: {servers} acknowledged commits at the same time, for {}", duration(overlap_s)));
    }
    alarms
}

/// Returns all that is known: names and values.
pub(crate) fn rows(ledger: &LedgerRecord) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let mut add = |name: &str, value: String| rows.push((name.to_owned(), value));
    add("acknowledged", count(ledger.acknowledged));
    add("on one server only", count(ledger.locally_only));
    add("failed", count(ledger.failed));
    add("unknown", count(ledger.unknown));
    if let Some(found) = &ledger.found {
        of_server(found, &mut add);
    }
    let outage = &ledger.outage;
    let times = [
        ("without commits", outage.outage_s),
        ("began after", outage.outage_from_s),
        ("until the first error", outage.first_error_s),
        ("until 90 % of the former rate", outage.recovery_s),
        ("longest gap of a client, median", outage.client_outage_s_median),
        ("longest gap of a client, maximum", outage.client_outage_s_max),
    ];
    for (name, seconds) in times {
        add(name, seconds.map_or_else(|| "-".to_owned(), duration));
    }
    if let Some(lost) = &outage.work_lost {
        let in_flight = format!("{}, {} of them in flight", count(lost.aborted), count(lost.in_flight));
        add("transactions that failed or are unknown meanwhile", in_flight);
        add("time of clients without a commit", duration(lost.client_s));
        add("commits that were not made until the recovery", count(lost.commits));
    }
    add("resolution of these times", format!("{:.1} ms", outage.resolution_s * 1e3));
    add("replies that did not come in time", count(outage.hung));
    for server in &ledger.endpoints {
        let span = format!("from {} to {}", duration(server.first_s), duration(server.last_s));
        add(&format!("acknowledged by {}", server.address), format!("{}, {span}", count(server.acknowledged)));
    }
    if let (Some(before), Some(after)) = (&ledger.timeline_before, &ledger.timeline_after) {
        add("timeline before and after", format!("{before}, {after}"));
    }
    for name in ["synchronous_commit", "synchronous_standby_names", "fsync"] {
        if let Some(value) = ledger.settings.get(name) {
            add(name, if value.is_empty() { "(empty)".to_owned() } else { value.clone() });
        }
    }
    rows
}

fn of_server(found: &MarkersFound, add: &mut impl FnMut(&str, String)) {
    add("lost", count(found.lost));
    if let Some(window_s) = found.loss_window_s {
        add("loss window", duration(window_s));
    }
    add("on one server only, and absent", count(found.locally_only_absent));
    add("unknown, present", count(found.unknown_present));
    add("unknown, absent", count(found.unknown_absent));
    add("failed, present", count(found.resurrected));
    add("present more than once", count(found.duplicated));
    add("lost before later ones of the same client", count(found.holes));
    let kind = if found.is_standby { "standby" } else { "primary" };
    add("read on", format!("{} ({kind})", found.read_on));
}

/// Writes the table as text.
pub fn table(ledger: &LedgerRecord, out: &mut dyn Write) -> io::Result<()> {
    rows(ledger).into_iter().try_for_each(|(name, value)| writeln!(out, "  {name:<50} {value}"))
}

/// Writes verdict and table as text, for a check after the run.
///
/// # Errors
/// When they cannot be written.
pub fn checked(ledger: &LedgerRecord, out: &mut dyn Write) -> io::Result<()> {
    text(ledger, &Paint(false), out)?;
    table(ledger, out)
}

/// Writes verdict and table as Markdown.
pub(crate) fn markdown(ledger: &LedgerRecord, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}\n", MarkdownText(&answer(ledger)))?;
    for alarm in alarms(ledger) {
        writeln!(out, "- {}", MarkdownText(&alarm))?;
    }
    writeln!(out, "\n| commits | |\n| --- | ---: |")?;
    for (name, value) in rows(ledger) {
        writeln!(out, "| {} | {} |", MarkdownText(&name), MarkdownText(&value))?;
    }
    writeln!(out)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use pgdyno_results::{LedgerEndpointRecord, OutageRecord, RunRecord};

    use super::*;

    /// Returns a record without a ledger.
    pub(crate) fn record() -> RunRecord {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
        pgdyno_results::read_record(&path).unwrap()
    }

    /// Returns the ledger of a run with a failover that lost nothing.
    pub(crate) fn ledger() -> LedgerRecord {
        LedgerRecord {
            acknowledged: 12_277,
            unknown: 8,
            found: Some(MarkersFound { unknown_present: 7, unknown_absent: 1, ..MarkersFound::default() }),
            outage: OutageRecord { outage_s: Some(27.0), is_over: true, ..OutageRecord::default() },
            endpoints: ["<b>|a", "b:5432"]
                .map(|address| LedgerEndpointRecord { address: address.to_owned(), ..LedgerEndpointRecord::default() })
                .into(),
            ..LedgerRecord::default()
        }
    }

    #[test]
    fn the_verdict_is_one_sentence() {
        let sentence = "27 s without commits; 12,277 acknowledged, none lost; 8 unknown, 7 of them present";
        assert_eq!(answer(&ledger()), sentence);
        assert!(alarms(&ledger()).is_empty());
    }

    #[test]
    fn a_run_without_an_outage_has_its_longest_gap() {
        let outage = OutageRecord { client_outage_s_max: Some(0.128), ..OutageRecord::default() };
        let text = answer(&LedgerRecord { outage, ..ledger() });
        assert!(text.starts_with("no outage, longest gap of a client 0.13 s; 12,277 acknowledged"), "{text}");
    }

    #[test]
    fn a_loss_says_within_which_time_and_whether_it_was_promised() {
        let found = MarkersFound { lost: 284, loss_window_s: Some(0.18), ..MarkersFound::default() };
        let lossy = LedgerRecord { found: Some(found), locally_only: 1, overlap_s: Some(2.0), ..ledger() };
        let text = answer(&lossy);
        assert!(text.contains("12,277 acknowledged, 284 of them LOST (within 0.18 s)"), "{text}");
        assert!(text.ends_with("; 1 commit on one server only"), "{text}");
        let given = alarms(&lossy);
        assert!(
            given[0].contains("do not promise") && given[1].starts_with("split brain: <b>|a and b:5432"),
            "{given:?}"
        );
    }

    #[test]
    fn what_could_not_be_read_is_not_called_kept() {
        let unread = LedgerRecord { found: None, not_read: Some("no server takes writes".to_owned()), ..ledger() };
        assert!(answer(&unread).ends_with("it is not known which of them are there"));
        assert!(alarms(&unread)[0].ends_with("pgdyno check ledger --run last"));
    }
}
