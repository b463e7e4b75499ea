//! Joins symptoms to what made them: a finding becomes a chain from its cause to the part of the clients' time that went there.
//!
//! A cause explains a share of a part of the clients' time: [`EXPLANATIONS`] has a row for each pair. What it explains is taken
//! from the findings that only name the part, so that no time counts twice. The weight of a finding is the share of the clients'
//! time that would be left over without it. A finding that another one made is no cause of its own: [`LINKS`] has these pairs.

use pgdyno_results::{Certainty, FindingRecord, LinkRecord};
use pgdyno_text::brief::percent;

use crate::explained::Explained;
use crate::explanations::{EXPLANATIONS, LINKS};
use crate::facts::Facts;
use crate::parts::Part;
use crate::rules::{self, SHARE_MIN, backlog};

/// A cause with a larger share of the clients' time than this precedes the parts that nothing explains: it can be removed, and what is
/// left of a part is work.
const FIRST_MIN: f64 = 0.1;

/// Other programs precede the server's own work if they took at least this share of it: they can be kept away.
const OTHERS_FIRST: f64 = 0.5;

/// A smaller share of a part than this explains nothing.
const EXPLAINED_MIN: f64 = 0.1;

/// A cause that takes a smaller share than this of the time for which clients and connections are busy does not make the queue for them.
const BUSY_MIN: f64 = 0.5;

/// A cause that was found, and what it explains.
struct Chain {
    cause: &'static str,
    certainty: Certainty,
    /// Its parts, with the share of the clients' time that it explains of each.
    parts: Vec<(Part, f64)>,
}

impl Chain {
    fn weight(&self) -> f64 {
        self.parts.iter().map(|(_, share)| share).sum()
    }

    /// Returns the parts of which it explains a fair share of the clients' time.
    fn main_parts(&self) -> impl Iterator<Item = Part> {
        self.parts.iter().filter(|(_, share)| *share >= SHARE_MIN).map(|(part, _)| *part)
    }
}

/// Returns the findings of all rules, joined into chains: causes with a fair share of the clients' time, then those that name a part
/// of it, each the weightiest first, then those that are also seen.
pub(crate) fn ranked(facts: &Facts<'_>) -> Vec<FindingRecord> {
    let mut found = joined(facts, &rules::findings(facts));
    // The finding about a missed rate names the other programs already.
    if finding(&found, "backlog").is_some() && backlog::taken_while_missed(facts).is_some() {
        found.retain(|finding| !finding.also_seen || finding.rule != "other-programs");
    }
    let place = |finding: &FindingRecord| {
        let is_cause = !finding.chain.is_empty() && finding.weight >= FIRST_MIN;
        if finding.also_seen { 2 } else { u8::from(!is_cause) }
    };
    found.sort_by(|a, b| place(a).cmp(&place(b)).then(b.weight.total_cmp(&a.weight)));
    let at = |rule: &str| found.iter().position(|finding| finding.rule == rule);
    if let (Some(cpu), Some(others)) = (at("cpu"), at("other-programs"))
        && cpu < others
        && found[others].weight >= OTHERS_FIRST * found[cpu].weight
    {
        found[cpu..=others].rotate_right(1);
    }
    found
}

/// Joins the findings of the rules into chains.
fn joined(facts: &Facts<'_>, findings: &[FindingRecord]) -> Vec<FindingRecord> {
    let mut found = findings.to_vec();
    let mut chains: Vec<Chain> = Vec::new();
    for part in Part::ALL {
        let causes = match part {
            Part::Queue => causes_of_queue(facts, findings, &chains),
            _ => causes(part, facts, findings),
        };
        take(&mut found, part, causes.iter().map(|(_, explained)| explained.share).sum());
        for (cause, explained) in causes {
            let share = explained.share * part.share(facts);
            match chains.iter_mut().find(|chain| chain.cause == cause) {
                Some(chain) => chain.parts.push((part, share)),
                None => chains.push(Chain { cause, certainty: explained.certainty, parts: vec![(part, share)] }),
            }
        }
    }
    for chain in chains.iter().filter(|chain| chain.weight() >= SHARE_MIN) {
        connect(facts, findings, &mut found, chain);
    }
    found
}

/// Returns the causes of a part that were found. Together they explain all of it at most.
fn causes(part: Part, facts: &Facts<'_>, findings: &[FindingRecord]) -> Vec<(&'static str, Explained)> {
    let rows = EXPLANATIONS.iter().filter(|row| row.part == part && finding(findings, row.cause).is_some());
    let explained = rows.filter_map(|row| Some((row.cause, (row.explained)(facts)?)));
    let mut causes: Vec<_> = explained.filter(|(_, explained)| explained.share >= EXPLAINED_MIN).collect();
    // What another cause made is no cause of its own.
    let effects: Vec<_> = causes.iter().flat_map(|(cause, _)| effects(cause, facts)).collect();
    causes.retain(|(cause, _)| !effects.contains(cause));
    let total: f64 = causes.iter().map(|(_, explained)| explained.share).sum();
    causes.iter_mut().for_each(|(_, explained)| explained.share /= total.max(1.0));
    causes
}

/// Returns the causes of waits for a client or connection: what keeps these busy makes the queue for them. Where no cause takes most of
/// their time, the queue is there because of the rate, or of the number of clients or connections.
fn causes_of_queue(facts: &Facts<'_>, findings: &[FindingRecord], chains: &[Chain]) -> Vec<(&'static str, Explained)> {
    if !Part::Queue.rules().iter().any(|rule| finding(findings, rule).is_some()) {
        return Vec::new();
    }
    let busy = (1.0 - Part::Queue.share(facts)).max(f64::MIN_POSITIVE);
    let explained = |chain: &Chain| {
        let share = (chain.weight() / busy).min(1.0);
        (chain.cause, Explained { share, certainty: Certainty::Consistent })
    };
    chains.iter().map(explained).filter(|(_, explained)| explained.share >= BUSY_MIN).collect()
}

/// Returns the rules whose findings a cause made in this run, directly or by another one.
fn effects(cause: &str, facts: &Facts<'_>) -> Vec<&'static str> {
    let links = LINKS.iter().filter(|link| link.cause == cause && (link.holds)(facts));
    links.flat_map(|link| [vec![link.effect], effects(link.effect, facts)].concat()).collect()
}

/// Returns the finding of a rule.
fn finding<'a>(findings: &'a [FindingRecord], rule: &str) -> Option<&'a FindingRecord> {
    findings.iter().find(|finding| finding.rule == rule)
}

/// Takes what is explained of a part from the findings that have its time.
fn take(found: &mut Vec<FindingRecord>, part: Part, explained: f64) {
    if explained <= 0.0 {
        return;
    }
    for finding in found.iter_mut().filter(|finding| !finding.also_seen && part.rules().contains(&&*finding.rule)) {
        finding.evidence.push(format!("{} of it is explained by other findings", percent(explained)));
        finding.weight *= 1.0 - explained;
    }
    found.retain(|finding| finding.also_seen || finding.weight >= SHARE_MIN);
}

/// Makes a cause the finding that stands for its chain.
fn connect(facts: &Facts<'_>, findings: &[FindingRecord], found: &mut Vec<FindingRecord>, chain: &Chain) {
    // A cause may have time of its own, all of which others may have taken.
    let left = finding(found, chain.cause);
    let own = left.filter(|finding| !finding.also_seen).map_or(0.0, |finding| finding.weight);
    let Some(cause) = left.or(finding(findings, chain.cause)).cloned() else { return };
    let mut links = vec![LinkRecord::new(&cause.text, chain.certainty, &cause.evidence)];
    for effect in effects(chain.cause, facts).into_iter().filter_map(|rule| finding(findings, rule)) {
        // One that has the time of a part is the part's link.
        if !chain.main_parts().any(|part| part.rules().contains(&&*effect.rule)) {
            links.push(LinkRecord::new(&effect.text, Certainty::Measured, &effect.evidence));
        }
        found.retain(|finding| finding.rule != effect.rule || !finding.also_seen);
    }
    links.extend(chain.main_parts().map(|part| part_link(facts, findings, part)));
    let texts = links[1..].iter().map(|link| link.text.clone());
    let cause = FindingRecord {
        evidence: texts.chain(cause.evidence.iter().cloned()).collect(),
        weight: chain.weight() + own,
        also_seen: false,
        chain: links,
        ..cause
    };
    found.retain(|finding| finding.rule != cause.rule);
    found.push(cause);
}

/// Returns the link of a part, with the figures of the finding that names its time.
fn part_link(facts: &Facts<'_>, findings: &[FindingRecord], part: Part) -> LinkRecord {
    let named = part.rules().first().and_then(|rule| finding(findings, rule)).filter(|finding| !finding.also_seen);
    let evidence = named.map_or_else(|| part.evidence(facts), |finding| finding.evidence.clone());
    LinkRecord::new(&part.text(facts), Certainty::Measured, &evidence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn flushes() -> Run {
        Run::new()
            .waits(&[("IO", "WALSync", 8.0)])
            .counters("wal", &[("wal_bytes", 8192.0 * 1000.0), ("wal_fpi", 900.0)])
    }

    fn brief(run: &Run) -> Vec<(String, f64)> {
        let ranked = run.ask(ranked).into_iter().filter(|finding| !finding.also_seen);
        ranked.map(|finding| (finding.rule, (finding.weight * 1e3).round() / 1e3)).collect()
    }

    #[test]
    fn what_explains_a_wait_comes_first_and_takes_its_time() {
        let run = flushes().counters("checkpointer", &[("num_timed", 0.3), ("num_requested", 0.0)]);
        assert_eq!(brief(&run), [("full-pages".to_owned(), 0.9), ("wal-flush".to_owned(), 0.1)]);
        let found = run.ask(ranked);
        let links: Vec<_> = found[0].chain.iter().map(|link| (link.text.as_str(), link.certainty)).collect();
        assert_eq!(links[0], (found[0].text.as_str(), Certainty::Consistent));
        assert_eq!(links[1], ("100 % of the clients' time was waiting for WAL flush", Certainty::Measured));
        assert_eq!(found[1].evidence.last().unwrap(), "90 % of it is explained by other findings");
        // One checkpoint is as it should be.
        let run = flushes().counters("checkpointer", &[("num_timed", 0.1), ("num_requested", 0.0)]);
        assert_eq!(brief(&run), [("wal-flush".to_owned(), 1.0)]);
    }

    #[test]
    fn the_deepest_cause_has_those_between_in_its_chain() {
        let run = flushes()
            .counters("checkpointer", &[("num_timed", 0.0), ("num_requested", 0.5)])
            .counters("wal", &[("wal_bytes", 8192.0 * 1000.0), ("wal_fpi", 900.0), ("lsn_bytes", 8192.0 * 1000.0)])
            .setting("max_wal_size", "32MB");
        assert_eq!(brief(&run), [("checkpoints".to_owned(), 0.9), ("wal-flush".to_owned(), 0.1)]);
        let found = run.ask(ranked);
        assert_eq!(found[0].chain.len(), 3);
        assert!(found[0].chain[1].text.contains("full-page images"), "{found:?}");
        assert!(found[0].evidence.iter().any(|line| line.contains("full-page images")), "{found:?}");
    }

    #[test]
    fn causes_together_explain_all_of_a_part_at_most() {
        let kinds = vec![vec!["client backend".to_owned(), "1.0".to_owned()]];
        let run = Run::new()
            .waits(&[("CPU", "CPU", 8.0)])
            .counters("database", &[("temp_bytes", 2e9), ("temp_files", 1.0), ("blks_read", 1e6), ("blks_hit", 1e5)])
            .table("processes", &["kind", "cpus"], &kinds);
        assert_eq!(brief(&run), [("reads".to_owned(), 0.5), ("temp-files".to_owned(), 0.5)]);
    }

    /// A table of 100,000 rows on 1,600 blocks, of which each of a hundred scans a second reads all, and so many blocks a second from
    /// outside, of 10,000 in all.
    fn scans(blocks_read: f64) -> Run {
        let columns =
            ["schema", "table", "n_dead_tup", "n_live_tup", "seq_scan", "seq_tup_read", "heap_blks_read", "heap_bytes"];
        let look = |seconds: f64| {
            let counted = [seconds * 100.0, seconds * 1e7, seconds * blocks_read, 1600.0 * 8192.0];
            let cells = ["public", "t", "0", "100000"].map(str::to_owned).into_iter();
            cells.chain(counted.map(|n| n.to_string())).collect::<Vec<_>>()
        };
        let (then, now) = (look(0.0), look(12.0));
        let [then, now] = [&then, &now].map(|row| row.iter().map(String::as_str).collect::<Vec<_>>());
        let mut run = Run::new()
            .looks("tables", &columns, &[(0.0, &then), (12.0, &now)])
            .counters("database", &[("blks_read", 10_000.0), ("blks_hit", 10_000.0)])
            .table("processes", &["kind", "cpus"], &[vec!["client backend".to_owned(), "0.1".to_owned()]]);
        run.summary().cache_hit_ratio = Some(0.5);
        run
    }

    fn texts(finding: &FindingRecord) -> Vec<&str> {
        finding.chain.iter().map(|link| link.text.as_str()).collect()
    }

    #[test]
    fn blocks_that_sequential_scans_read_are_their_work() {
        let cpu: &[(&str, &str, f64)] = &[("CPU", "CPU", 8.0)];
        let run = scans(9_000.0).waits(cpu);
        let found = run.ask(ranked);
        assert_eq!(brief(&run), [("seq-scans".to_owned(), 1.0)]);
        assert_eq!(
            texts(&found[0])[1..],
            [
                "50 % of all blocks came from outside shared buffers",
                "100 % of the clients' time was work on a CPU of the server, or the queue for one"
            ]
        );
        assert!(
            found[0].chain[1].evidence.contains(&"50.00 % of block reads hit shared buffers".to_owned()),
            "{found:?}"
        );
        assert!(found[0].evidence.iter().any(|line| line.ends_with("90 % of the blocks from outside shared buffers")));
        assert!(found[0].advice.as_ref().unwrap().starts_with("create an index on t"));
        // Where others read the blocks, these are a cause of their own.
        assert_eq!(brief(&scans(100.0).waits(cpu)), [("seq-scans".to_owned(), 0.669), ("reads".to_owned(), 0.331)]);
    }

    #[test]
    fn waits_for_blocks_that_sequential_scans_read_are_theirs() {
        let waits = [("IO", "DataFileRead", 4.0), ("LWLock", "BufferMapping", 2.0)];
        let run = scans(8_000.0).waits(&waits);
        // 0.6 of these waits, and the work on a CPU.
        assert_eq!(brief(&run), [("seq-scans".to_owned(), 0.613), ("reads".to_owned(), 0.1)]);
        let found = run.ask(ranked);
        let links = texts(&found[0]);
        assert_eq!(links[1], "50 % of the clients' time was waiting for blocks that were not in shared buffers");
        assert_eq!(links[2], "25 % of the clients' time was waiting for the server's internal locks (LWLocks)");
        assert!(
            found[0].chain[1].evidence.contains(&"50.00 % of block reads hit shared buffers".to_owned()),
            "{found:?}"
        );
    }

    #[test]
    fn blocks_that_come_from_outside_make_others_wait() {
        let run = Run::new()
            .waits(&[("IO", "DataFileWrite", 3.0), ("IO", "DataFileExtend", 1.0), ("LWLock", "buffer_mapping", 2.0)])
            .counters("database", &[("blks_read", 900.0), ("blks_hit", 100.0)])
            .counters("bgwriter", &[("buffers_alloc", 1000.0)]);
        // Nine of ten buffers were for blocks that were read, and three of four sessions waited to write one.
        assert_eq!(brief(&run), [("reads".to_owned(), 0.588), ("backend-writes".to_owned(), 0.162)]);
        // Without misses the same waits have another cause.
        let hits = run.counters("database", &[("blks_read", 9.0), ("blks_hit", 991.0)]);
        assert_eq!(brief(&hits), [("backend-writes".to_owned(), 0.5), ("internal-locks".to_owned(), 0.25)]);
    }

    #[test]
    fn images_fill_the_wal_buffers() {
        let run = flushes()
            .waits(&[("LWLock", "WALInsert", 8.0)])
            .counters("checkpointer", &[("num_timed", 0.3), ("num_requested", 0.0)]);
        assert_eq!(brief(&run), [("full-pages".to_owned(), 0.9), ("wal-buffers".to_owned(), 0.1)]);
    }

    #[test]
    fn what_keeps_clients_busy_makes_the_queue_for_them() {
        let queued = |run: Run| {
            let mut run = run;
            run.record.plan.drive.pace =
                pgdyno_plan::Pace::Rate(pgdyno_plan::Rate { per_s: 200.0, arrivals: pgdyno_plan::Arrivals::Poisson });
            let latency = |ms: f64| Some(pgdyno_results::LatencyRecord { mean: ms * 1e6, ..Default::default() });
            // Of 400 ms each, 320 are spent in the queue.
            run.summary().response_latency_ns = latency(400.0);
            run.summary().schedule_lag_ns = latency(320.0);
            run
        };
        let run = queued(scans(9_000.0).waits(&[("CPU", "CPU", 8.0)]));
        assert_eq!(brief(&run), [("seq-scans".to_owned(), 1.0)]);
        let found = run.ask(ranked);
        let queue = "80 % of the response time was waiting for a client or connection, which were busy with the rest";
        assert_eq!(texts(&found[0]).last(), Some(&queue));
        let unexplained = queued(Run::new().waits(&[("CPU", "CPU", 8.0)]));
        assert_eq!(brief(&unexplained)[0], ("backlog".to_owned(), 0.8));
        // A cause of 0.4 of the work does not make the queue.
        let kinds = vec![vec!["client backend".to_owned(), "1.0".to_owned()]];
        let partly = Run::new()
            .waits(&[("CPU", "CPU", 8.0)])
            .counters("database", &[("temp_bytes", 80.0 * 1024.0 * 1024.0), ("temp_files", 1.0)])
            .table("processes", &["kind", "cpus"], &kinds);
        let found = brief(&queued(partly));
        assert_eq!(found[0], ("backlog".to_owned(), 0.8));
        assert!(found.contains(&("temp-files".to_owned(), 0.08)), "{found:?}");
    }

    #[test]
    fn every_row_names_rules_that_exist() {
        let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
        let is_rule = |name: &str| directory.join(name.replace('-', "_")).with_extension("rs").exists();
        assert!(EXPLANATIONS.iter().all(|row| is_rule(row.cause)));
        assert!(LINKS.iter().all(|link| is_rule(link.cause) && is_rule(link.effect)));
        assert!(Part::ALL.iter().flat_map(|part| part.rules()).all(|name| is_rule(name)));
    }
}
