//! The summary of a run on a terminal: the result, whether to trust it, what limited it, and where to look further.

mod details;

use std::io::{self, Write};

use pgdyno_results::{CheckSet, ErrorRecord, FindingRecord, NoticeRecord, ObjectiveRecord, RunRecord, Summary, Trust};
use pgdyno_text::TextStyle;
use pgdyno_text::brief;
use pgdyno_text::paint::Paint;
use pgdyno_text::units::{bytes, count, duration, ms, percent, percent_of_whole, rate};
use pgdyno_text::wrap::{self, COLUMNS, LABEL, clipped, wrapped};

use crate::Extent;
use crate::latency_table::{cells, known, latency_columns, latency_rows, percentile_columns};
use crate::metric::{figures, server_counts};
use crate::{cost, describe, diagnosis, faults, fidelity, groups, guide, ledger, machine, readers, trust};

/// An estimated error that is larger than the figure says nothing: TRUST has its cause.
const ERROR_SHARE_MAX: f64 = 1.0;

/// Maximum number of causes in the summary.
const CAUSES_MAX: usize = 3;

/// Maximum number of kinds of errors in the summary.
const ERRORS_MAX: usize = 3;

/// Columns of a share of the clients' time, with the space behind it.
const SHARE: usize = 8;

/// Columns of a cause and its evidence.
const CAUSE: usize = COLUMNS - LABEL - SHARE;

pub(crate) fn render(record: &RunRecord, look: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint(look.colour);
    heading(record, &paint, out)?;
    guide::text(record, out)?;
    writeln!(out)?;
    if let Some(summary) = &record.summary {
        result(record, summary, &paint, out)?;
    }
    faults::text(record, &paint, out)?;
    lines_of_trust(record, &paint, out)?;
    if let Some(ledger) = &record.ledger {
        ledger::text(ledger, &paint, out)?;
    }
    if let Some(fidelity) = &record.fidelity {
        fidelity::text(fidelity, &paint, out)?;
    }
    if let Some(summary) = &record.summary {
        limit(record, &paint, out)?;
        tables(record, out)?;
        cpus(record, &paint, out)?;
        data(record, summary, &paint, out)?;
        if let Some(cost) = cost::figures(record) {
            wrap::entry(out, &paint, "COST", &cost)?;
        }
        guide::table_in_text(record, out)?;
    }
    if look.verbose {
        writeln!(out)?;
        details::render(record, &paint, out)?;
    }
    Ok(())
}

/// Returns the run in one line: the figure that counts, the 99th percentile, and whether to trust them.
#[must_use]
pub fn answer(record: &RunRecord, look: TextStyle) -> String {
    let paint = Paint(look.colour);
    let measured = record.summary.as_ref().filter(|summary| summary.duration_s > 0.0);
    let Some(summary) = measured else { return paint.bold("nothing was measured") };
    let figure = figures(record).into_iter().next().map(|h| paint.bold(&format!("{} {}", h.value, h.name)));
    let completed = summary.committed + summary.rolled_back;
    let p99 = summary.response_latency_ns.as_ref().and_then(|latency| known(latency, 99.0, completed));
    let p99 = p99.map(|ns| format!("p99 {} ms", ms(ns)));
    let trust = degree(trust::of(record).degree(), &paint);
    let missed = record.objectives.iter().filter(|objective| objective.met != Some(true));
    let missed = missed.map(|objective| paint.red(&objective_text(objective)));
    figure.into_iter().chain(p99).chain([trust]).chain(missed).collect::<Vec<_>>().join("  ")
}

/// Returns a degree of trust in its colour.
fn degree(trust: Trust, paint: &Paint) -> String {
    match trust {
        Trust::Good => trust.name().to_owned(),
        Trust::Fair | Trust::WithCare => paint.yellow(trust.name()),
        Trust::Poor | Trust::NotUsable => paint.red(trust.name()),
    }
}

/// Writes what ran, for how long, and on which server.
fn heading(record: &RunRecord, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    let plan = &record.plan;
    let mut what = format!("{}, {}", describe::workload(record), describe::clients(record));
    if let Some(offered) = plan.offered() {
        what += &format!(", {offered}");
    }
    if let Some(summary) = &record.summary {
        let (ramp_s, _) = plan.window();
        what += &match (describe::measured(record, summary), ramp_s > 0.0) {
            (Some(_), true) if summary.duration_s <= 0.0 => ", ended in the warm-up".to_owned(),
            (Some(measured), true) => format!(", {measured} (+{} warm-up)", duration(ramp_s)),
            (Some(measured), false) => format!(", {measured}"),
            (None, _) => String::new(),
        };
    }
    writeln!(out, "{}", paint.bold(&what))?;
    wrapped(out, &describe::server_and_way(record), "  ")
}

/// Writes the figures, and what became of transactions that did not commit at once.
fn result(record: &RunRecord, summary: &Summary, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    let mut values: Vec<_> = figures(record).iter().map(|h| format!("{} {}", paint.bold(&h.value), h.name)).collect();
    let within = trust::of(record).throughput_error_share;
    let between = record.earlier_runs.map(|earlier| earlier.error_share);
    let share = within.into_iter().chain(between).reduce(f64::max).filter(|share| *share < ERROR_SHARE_MAX);
    if let (Some(first), Some(share)) = (values.first_mut(), share) {
        *first += &format!(" ± {}", brief::percent(share));
    }
    if summary.duration_s > 0.0 {
        writeln!(out, "{}{}", paint.bold("RESULT  "), values.join("   "))?;
    } else {
        writeln!(out, "{}none: the run ended before the measured window", paint.bold("RESULT  "))?;
    }
    let n = summary.committed + summary.rolled_back;
    let latencies = cells(record, Extent::Short, summary.response_latency_ns.as_ref(), n);
    let known = percentile_columns(record, Extent::Short).into_iter().zip(latencies).filter(|(_, cell)| cell != "-");
    let latency = |(name, cell): (String, String)| format!("{} {cell}", name.trim_end_matches(" ms"));
    let latencies: Vec<_> = known.map(latency).collect();
    let latencies = if latencies.is_empty() { String::new() } else { format!("{} ms   ", latencies.join("  ")) };
    let by_class = summary.failed_by_class.iter().map(|(class, n)| format!("{} failed ({class})", count(*n)));
    let failed = match (summary.failed, summary.failed_by_class.is_empty()) {
        (0, _) => "0 failed".to_owned(),
        (n, true) => paint.red(&format!("{} failed", count(n))),
        (_, false) => paint.red(&by_class.collect::<Vec<_>>().join(", ")),
    };
    if summary.duration_s > 0.0 {
        writeln!(out, "{:8}{latencies}{failed}", "")?;
    }
    if let Some(earlier) = record.earlier_runs {
        let (runs, mean) = (earlier.runs, rate(earlier.tps_mean));
        let change = earlier.change_share * 100.0;
        writeln!(out, "{:8}{change:+.1} % against the mean of {runs} earlier runs of this plan, {mean} TPS", "")?;
    }
    objectives(record, paint, out)?;
    let fates = fates(record, summary);
    if !fates.is_empty() {
        wrap::entry(out, paint, "", &fates.join(", "))?;
    }
    for e in record.errors.iter().take(ERRORS_MAX) {
        marked(out, &paint.red("!"), &error(e))?;
    }
    for n in record.notices.iter().filter(|notice| notice.severity == "WARNING").take(ERRORS_MAX) {
        marked(out, &paint.yellow("!"), &notice(n))?;
    }
    let more = record.errors.len().saturating_sub(ERRORS_MAX);
    if more > 0 {
        marked(out, &paint.red("!"), &format!("{more} more kinds of errors (-v)"))?;
    }
    Ok(())
}

/// Writes whether the run met its objectives.
fn objectives(record: &RunRecord, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    for objective in &record.objectives {
        let text = objective_text(objective);
        match objective.met {
            Some(true) => writeln!(out, "{:LABEL$}ok {text}", "")?,
            _ => marked(out, &paint.red("!"), &paint.red(&text))?,
        }
    }
    Ok(())
}

/// Returns an objective and its figure: `p99 < 10ms is met: 5.14 ms`.
pub(crate) fn objective_text(objective: &ObjectiveRecord) -> String {
    let ObjectiveRecord { objective, found, met } = objective;
    match met {
        Some(true) => format!("{objective} is met: {found}"),
        Some(false) => format!("{objective} is not met: {found}"),
        None if found.is_empty() => format!("{objective} cannot be judged: nothing was measured"),
        None => format!("{objective} cannot be judged: {found}"),
    }
}

/// Returns what became of transactions, beside those that committed at once.
fn fates(record: &RunRecord, s: &Summary) -> Vec<String> {
    let mut fates = Vec::new();
    if s.retried > 0 {
        let most = match record.plan.drive.max_tries {
            0 => String::new(),
            tries => format!(", at most {} tries each", count(u64::from(tries))),
        };
        fates.push(format!("{} retried ({} retries{most})", count(s.retried), count(s.retries)));
    }
    if s.skipped > 0 {
        fates.push(format!("{} skipped", count(s.skipped)));
    }
    if s.still_waiting > 0 {
        let longest = duration(s.still_waiting_s_max.unwrap_or_default());
        fates.push(format!(
            "{} still waiting at the end, for up to {longest} (excluded from latency)",
            count(s.still_waiting)
        ));
    }
    if s.late > 0 {
        fates.push(format!("{} above the latency limit", count(s.late)));
    }
    if s.cancelled_in_flight > 0 {
        fates.push(format!("{} cancelled at the end", count(s.cancelled_in_flight)));
    }
    if let Some(in_flight) = s.in_flight_at_end.filter(|in_flight| in_flight.counted > 0) {
        let age = duration(in_flight.age_s_max);
        let counted = count(in_flight.counted);
        fates.push(format!("{counted} in flight at the end, for up to {age} (latencies include that age)"));
    }
    if let Some(outage) = s.outage_s_max {
        fates.push(format!("{} reconnected, longest outage {}", count(s.reconnected), duration(outage)));
    }
    fates
}

/// Returns a kind of error with its number.
fn error(e: &ErrorRecord) -> String {
    format!("error {} × {}: {}", e.sqlstate, count(e.count), e.text())
}

/// Returns a kind of notice with its number.
fn notice(n: &NoticeRecord) -> String {
    format!("{} × {}: {}", n.severity, count(n.count), n.message)
}

/// Writes text behind a mark of one column.
fn marked(out: &mut dyn Write, mark: &str, text: &str) -> io::Result<()> {
    wrap::hanging(out, &format!("{:LABEL$}{mark} ", ""), LABEL + 2, text)
}

/// Writes whether the figures can be used, the reasons if not, and what was found right.
fn lines_of_trust(record: &RunRecord, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    let (verdict, reasons) = trust::lines(record, "-v");
    writeln!(out, "{}{}", paint.bold("TRUST   "), degree(verdict, paint))?;
    let mark = if verdict == Trust::NotUsable { paint.red("!") } else { paint.yellow("!") };
    reasons.iter().try_for_each(|reason| marked(out, &mark, reason))?;
    for set in &record.checks {
        broken(set, paint, out)?;
    }
    let (not_met, met): (Vec<_>, Vec<_>) =
        record.rules.iter().filter(|rule| rule.holds.is_some()).partition(|rule| rule.holds == Some(false));
    for rule in not_met {
        let text = format!("rule {} is not met: {}: {}", rule.name, rule.rule, rule.found);
        marked(out, &paint.red("!"), &text)?;
    }
    let mut fine = Vec::new();
    let made = |check: &&pgdyno_results::CheckRecord| check.passes() && check.refused.is_none();
    let checks = record.checks.iter().flat_map(|set| &set.checks).filter(made).count();
    if checks > 0 {
        fine.push(format!("{} passed", pgdyno_text::units::plural(checks as u64, "data check")));
    }
    if !met.is_empty() {
        fine.push(format!("{} met", pgdyno_text::units::plural(met.len() as u64, "rule")));
    }
    for (counted, client, server) in server_counts(record) {
        if client == server {
            fine.push(format!("{counted}: client and server counts match"));
        } else {
            let text = format!("{counted}: the client counts {}, the server's tables {}", count(client), count(server));
            marked(out, &paint.red("!"), &text)?;
        }
    }
    if fine.is_empty() { Ok(()) } else { wrap::hanging(out, "        ok ", 11, &fine.join("; ")) }
}

/// Writes the checks of a set that do not hold, with the rows.
fn broken(set: &CheckSet, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    let broken: Vec<_> = set.checks.iter().filter(|check| !check.passes()).collect();
    if broken.is_empty() {
        return Ok(());
    }
    let text = format!("checks {}: {} of {} broken", set.when, broken.len(), set.checks.len());
    marked(out, &paint.red("!"), &text)?;
    for check in broken {
        wrap::hanging(out, "            ", 12, &format!("{} does not hold: {}", check.name, check.condition))?;
        for violation in &check.violations {
            wrap::hanging(out, "              ", 14, violation)?;
        }
    }
    Ok(())
}

/// Writes the main causes of waits: the first with its evidence and advice.
fn limit(record: &RunRecord, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    let (ranked, also_seen): (Vec<_>, Vec<_>) = record.findings.iter().partition(|finding| !finding.also_seen);
    for (nth, finding) in ranked.iter().take(CAUSES_MAX).enumerate() {
        let label = if nth == 0 { "LIMIT" } else { "" };
        let first = format!("{}{:>6}  ", paint.bold(&format!("{label:<LABEL$}")), percent(finding.weight));
        if nth == 0 {
            wrap::hanging(out, &first, LABEL + SHARE, beside_share(finding))?;
            let evidence = finding.evidence.join("; ");
            if !evidence.is_empty() {
                wrap::hanging(out, &" ".repeat(LABEL + SHARE), LABEL + SHARE, clipped(&evidence, 3 * CAUSE))?;
            }
            if let Some(advice) = &finding.advice {
                wrap::hanging(out, &format!("{:16}-> ", ""), LABEL + SHARE + 3, advice)?;
            }
        } else {
            wrap::hanging(out, &first, LABEL + SHARE, clipped(beside_share(finding), 2 * CAUSE))?;
        }
    }
    for (nth, finding) in also_seen.iter().enumerate() {
        let label = if nth == 0 && ranked.is_empty() { "LIMIT" } else { "" };
        let first = format!("{}{:>6}  ", paint.bold(&format!("{label:<LABEL$}")), "also");
        let advice = finding.advice.as_ref().map_or_else(String::new, |advice| format!(" -> {advice}"));
        wrap::hanging(out, &first, LABEL + SHARE, &format!("{}{advice}", finding.text))?;
    }
    if record.findings.is_empty()
        && let Some(parts) = diagnosis::clients_time(record)
    {
        wrap::entry(out, paint, "LIMIT", &format!("no cause found; {parts}"))?;
    }
    Ok(())
}

/// Returns the text of a finding as it is shown beside its share: without that share, which it may begin with in whole percents.
fn beside_share(finding: &FindingRecord) -> &str {
    let share = brief::percent(finding.weight);
    finding.text.strip_prefix(&share).and_then(|rest| rest.strip_prefix(' ')).unwrap_or(&finding.text)
}

/// Writes the table of transactions or of groups, if there are several.
fn tables(record: &RunRecord, out: &mut dyn Write) -> io::Result<()> {
    if record.stages.is_empty() {
        let rows = latency_rows(record, Extent::Short);
        if rows.len() > 1 {
            writeln!(out)?;
            crate::latency_table::aligned("transaction", &latency_columns(record, Extent::Short), &rows, out)?;
            writeln!(out)?;
        } else if record.readers.is_some() {
            writeln!(out)?;
        }
        return readers::text(record, Extent::Short, out);
    }
    writeln!(out)?;
    groups::text(record, Extent::Short, out)?;
    readers::text(record, Extent::Short, out)
}

/// Writes who used the CPUs.
fn cpus(record: &RunRecord, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    for (nth, line) in machine::lines(record, Extent::Short).iter().enumerate() {
        wrap::entry(out, paint, if nth == 0 { "CPU" } else { "" }, line)?;
    }
    Ok(())
}

/// Writes how the data was read, and how much was written.
fn data(record: &RunRecord, s: &Summary, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    let mut facts = Vec::new();
    if let Some(ratio) = s.cache_hit_ratio {
        facts.push(format!("cache hits {}", percent_of_whole(ratio)));
    }
    if let Some(wal) = s.wal_bytes {
        facts.push(format!("WAL {}", bytes(wal)));
    }
    if let Some((before, after)) =
        record.server.as_ref().and_then(|server| Some((server.database_bytes?, server.database_bytes_after?)))
    {
        facts.push(format!("database {} (+{})", bytes(after), bytes(after.saturating_sub(before))));
    }
    if facts.is_empty() { Ok(()) } else { wrap::entry(out, paint, "DATA", &facts.join(", ")) }
}

/// Returns the text for checks of which none is broken.
pub(crate) fn all_pass(set: &CheckSet) -> String {
    let (all, known, refused) = (set.checks.len(), set.known(), set.refused());
    let mut text = match all - known.len() - refused.len() {
        passed if passed == all => format!("all {all} passed"),
        passed => format!("{passed} of {all} passed"),
    };
    if !known.is_empty() {
        text += &format!(", known deviations in {}", known.join(", "));
    }
    if !refused.is_empty() {
        text += &format!(", not checked: {}", refused.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(record: &RunRecord, verbose: bool) -> String {
        let mut out = Vec::new();
        render(record, TextStyle { verbose, ..TextStyle::default() }, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_summary_has_80_columns_and_the_answer_first_and_the_rest_is_below_it() {
        let mut record: RunRecord = serde_json::from_str(include_str!("../../../fixtures/runs/v1/run.json")).unwrap();
        let message = |nth: u32| format!("ERROR: {}(SQLSTATE 4000{nth})", "word ".repeat(30));
        let place = Some("./my.sql:3".to_owned());
        let kind =
            |nth| ErrorRecord { sqlstate: format!("4000{nth}"), count: 7, message: message(nth), place: place.clone() };
        record.errors = (1..=5).map(kind).collect();
        let warning = |nth| pgdyno_results::Warning::note(format!("warning {nth} (do it): {}", "why ".repeat(40)));
        record.warnings = (1..=5).map(warning).collect();
        record.trust = None;
        let (short, all) = (rendered(&record, false), rendered(&record, true));
        assert!(short.lines().all(|line| line.chars().count() <= COLUMNS), "{short}");
        let at = |words: &str| short.find(words).unwrap_or_else(|| panic!("{words}: {short}"));
        assert!(at("RESULT") < at("error 40001 × 7") && at("2 more kinds of errors (-v)") < at("TRUST"), "{short}");
        assert!(at("! warning 1 (do it)\n") > at("TRUST") && !short.contains("40005") && !short.contains("why"));
        assert!(all.starts_with(&short), "{all}");
        assert!(short.contains("! error 40001 × 7: ./my.sql:3: ERROR: word") && !short.contains("SQLSTATE"), "{short}");
        for words in ["error 40005 × 7", "warning: warning 5 (do it): why"] {
            assert!(all.contains(words), "{words}: {all}");
        }
    }

    #[test]
    fn a_cause_has_its_share_once() {
        let mut record: RunRecord = serde_json::from_str(include_str!("../../../fixtures/runs/v1/run.json")).unwrap();
        let finding = |text: &str, weight| FindingRecord { text: text.to_owned(), weight, ..FindingRecord::default() };
        record.findings = vec![
            finding("48 % of the clients' time went into WAL flush", 0.483),
            finding("95 % of all blocks came from outside shared buffers", 0.31),
            finding("locks: 12 % of it", 0.12),
        ];
        let text = rendered(&record, false);
        let lines: Vec<_> = text.lines().skip_while(|line| !line.starts_with("LIMIT")).take(3).collect();
        let expected = [
            "LIMIT   48.3 %  of the clients' time went into WAL flush",
            "        31.0 %  95 % of all blocks came from outside shared buffers",
            "        12.0 %  locks: 12 % of it",
        ];
        assert_eq!(lines, expected, "{text}");
    }
}
