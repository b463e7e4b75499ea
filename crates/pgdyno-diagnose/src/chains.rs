//! Joins symptoms to what made them: a finding becomes a chain from its cause to the part of the clients' time that went there.
//!
//! A cause explains a share of a part of the clients' time: [`EXPLANATIONS`] has a row for each pair. What it explains is taken
//! from the findings that only name the part, so that no time counts twice. The weight of a finding is the share of the clients'
//! time that would be left over without it.

use pgdyno_results::{Certainty, FindingRecord, LinkRecord};
use pgdyno_text::brief::percent;

use crate::explained::Explained;
use crate::facts::Facts;
use crate::rules::{
    self, SHARE_MIN, by_event, checkpoints, cpu, full_pages, jit, old_snapshot, reads, seq_scans, temp_files,
};
use crate::waits::Class;

/// A part of the clients' time that causes explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Work on a CPU of the server, and the queue for one.
    Cpu,
    /// Waits for blocks that were not in shared buffers.
    Reads,
    /// Waits until WAL is on its disk.
    WalFlush,
}

impl Part {
    const ALL: [Self; 3] = [Self::Cpu, Self::Reads, Self::WalFlush];

    /// Returns its share of the clients' time.
    fn share(self, facts: &Facts<'_>) -> f64 {
        let sessions = match self {
            Self::Cpu if cpu::is_saturated(facts) == Some(true) => cpu::queue(facts),
            Self::Cpu => facts.account.cpu,
            Self::Reads | Self::WalFlush => facts.waits.sessions(self.class()),
        };
        facts.account.share(sessions)
    }

    /// Returns the class of the waits that it is sampled by.
    fn class(self) -> Class {
        match self {
            Self::Cpu => Class::Cpu,
            Self::Reads => Class::DataRead,
            Self::WalFlush => Class::WalFlush,
        }
    }

    /// Returns the rules whose findings have this time.
    fn rules(self) -> &'static [&'static str] {
        match self {
            Self::Cpu => &["cpu", "other-programs", "load"],
            Self::Reads => &["reads"],
            Self::WalFlush => &["wal-flush"],
        }
    }

    /// Returns a sentence for the end of a chain.
    fn text(self, facts: &Facts<'_>) -> String {
        let what = match self {
            Self::Cpu => "work on a CPU of the server, or the queue for one",
            Self::Reads => "waiting for blocks that were not in shared buffers",
            Self::WalFlush => "waiting for WAL flush",
        };
        format!("{} {} was {what}", percent(self.share(facts)), facts.of_what())
    }
}

/// A cause of a part of the clients' time.
struct Explanation {
    /// Its rule.
    cause: &'static str,
    /// Rules whose findings lie between the cause and the part.
    between: &'static [&'static str],
    part: Part,
    explained: fn(&Facts<'_>) -> Option<Explained>,
}

const fn explains(
    cause: &'static str,
    between: &'static [&'static str],
    part: Part,
    explained: fn(&Facts<'_>) -> Option<Explained>,
) -> Explanation {
    Explanation { cause, between, part, explained }
}

const EXPLANATIONS: [Explanation; 10] = [
    explains("checkpoints", &["full-pages"], Part::Cpu, checkpoints::of_cpu),
    explains("checkpoints", &["full-pages"], Part::WalFlush, checkpoints::of_wal_flush),
    explains("full-pages", &[], Part::Cpu, full_pages::of_cpu),
    explains("full-pages", &[], Part::WalFlush, full_pages::of_wal_flush),
    explains("jit", &[], Part::Cpu, jit::of_cpu),
    explains("old-snapshot", &["dead-rows"], Part::Cpu, old_snapshot::of_cpu),
    explains("reads", &[], Part::Cpu, reads::of_cpu),
    explains("seq-scans", &[], Part::Cpu, seq_scans::of_cpu),
    explains("seq-scans", &["reads"], Part::Reads, seq_scans::of_reads),
    explains("temp-files", &[], Part::Cpu, temp_files::of_cpu),
];

/// A cause with a larger share of the clients' time than this precedes the parts that nothing explains: it can be removed, and what is
/// left of a part is work.
const FIRST_MIN: f64 = 0.1;

/// Other programs precede the server's own work if they took at least this share of it: they can be kept away.
const OTHERS_FIRST: f64 = 0.5;

/// A smaller share of a part than this explains nothing.
const EXPLAINED_MIN: f64 = 0.1;

/// A cause that was found, and what it explains.
struct Chain {
    cause: &'static str,
    between: &'static [&'static str],
    certainty: Certainty,
    /// Its parts, with the share of the clients' time that it explains of each.
    parts: Vec<(Part, f64)>,
}

impl Chain {
    /// Adds a further part.
    fn add(&mut self, row: &Explanation, part: Part, share: f64) {
        self.parts.push((part, share));
        if self.between.is_empty() {
            self.between = row.between;
        }
    }

    fn weight(&self) -> f64 {
        self.parts.iter().map(|(_, share)| share).sum()
    }
}

/// Returns the findings of all rules, joined into chains: causes with a fair share of the clients' time, then those that name a part
/// of it, each the weightiest first, then those that are also seen.
pub(crate) fn ranked(facts: &Facts<'_>) -> Vec<FindingRecord> {
    let mut found = joined(facts, rules::findings(facts));
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

/// Joins findings into chains.
fn joined(facts: &Facts<'_>, mut found: Vec<FindingRecord>) -> Vec<FindingRecord> {
    let mut chains: Vec<Chain> = Vec::new();
    for part in Part::ALL {
        let causes = causes(part, facts, &found);
        let explained: f64 = causes.iter().map(|(_, explained)| explained.share).sum();
        for (row, explained) in causes {
            let share = explained.share * part.share(facts);
            match chains.iter_mut().find(|chain| chain.cause == row.cause) {
                Some(chain) => chain.add(row, part, share),
                None => chains.push(Chain {
                    cause: row.cause,
                    between: row.between,
                    certainty: explained.certainty,
                    parts: vec![(part, share)],
                }),
            }
        }
        take(&mut found, part, explained);
    }
    for chain in chains.iter().filter(|chain| chain.weight() >= SHARE_MIN) {
        connect(facts, &mut found, chain);
    }
    found
}

/// Returns the causes of a part that were found. Together they explain all of it at most.
fn causes(part: Part, facts: &Facts<'_>, found: &[FindingRecord]) -> Vec<(&'static Explanation, Explained)> {
    let is_found = |rule: &str| found.iter().any(|finding| finding.rule == rule);
    let rows = EXPLANATIONS.iter().filter(|row| row.part == part && is_found(row.cause));
    let explained = |row: &'static Explanation| Some((row, (row.explained)(facts)?));
    let mut causes: Vec<_> = rows.filter_map(explained).filter(|(_, e)| e.share >= EXPLAINED_MIN).collect();
    // What lies between another cause and the part is no cause of its own.
    let between: Vec<_> = causes.iter().flat_map(|(row, _)| row.between).copied().collect();
    causes.retain(|(row, _)| !between.contains(&row.cause));
    let total: f64 = causes.iter().map(|(_, explained)| explained.share).sum();
    causes.iter_mut().for_each(|(_, explained)| explained.share /= total.max(1.0));
    causes
}

/// Takes what is explained of a part from the findings that have its time.
fn take(found: &mut Vec<FindingRecord>, part: Part, explained: f64) {
    if explained <= 0.0 {
        return;
    }
    for finding in found.iter_mut().filter(|finding| part.rules().contains(&&*finding.rule)) {
        finding.evidence.push(format!("{} of it is explained by other findings", percent(explained)));
        finding.weight *= 1.0 - explained;
    }
    found.retain(|finding| finding.also_seen || finding.weight >= SHARE_MIN);
}

/// Makes a cause the finding that stands for its chain.
fn connect(facts: &Facts<'_>, found: &mut Vec<FindingRecord>, chain: &Chain) {
    let Some(at) = found.iter().position(|finding| finding.rule == chain.cause) else { return };
    let mut cause = found.remove(at);
    let mut links = vec![LinkRecord::new(&cause.text, chain.certainty, &cause.evidence)];
    for rule in chain.between {
        if let Some(at) = found.iter().position(|finding| finding.rule == *rule) {
            let between = found.remove(at);
            links.push(LinkRecord::new(&between.text, Certainty::Measured, &between.evidence));
        }
    }
    for (part, _) in chain.parts.iter().filter(|(_, share)| *share >= SHARE_MIN) {
        links.push(LinkRecord::new(&part.text(facts), Certainty::Measured, &[by_event(facts, part.class())]));
    }
    cause.evidence = links[1..].iter().map(|link| link.text.clone()).chain(cause.evidence).collect();
    cause.weight = chain.weight() + if cause.also_seen { 0.0 } else { cause.weight };
    cause.also_seen = false;
    cause.chain = links;
    found.push(cause);
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

    /// A table of 10,000 rows that is read whole 100 times a second, and reads this share of the blocks from outside shared buffers.
    fn scans(share_of_reads: f64) -> Run {
        let columns = ["schema", "table", "n_dead_tup", "n_live_tup", "seq_scan", "heap_blks_read"];
        let blocks_read = (8e6 * share_of_reads).to_string();
        let then: &[&str] = &["public", "t", "0", "10000", "0", "0"];
        let now: &[&str] = &["public", "t", "0", "10000", "1000", &blocks_read];
        let database = [("blks_read", 8e5), ("blks_hit", 8e5)];
        Run::new().looks("tables", &columns, &[(0.0, then), (10.0, now)]).counters("database", &database)
    }

    #[test]
    fn blocks_that_scans_read_are_a_link_between_the_scans_and_the_waits() {
        let waits = [("IO", "DataFileRead", 8.0)];
        let run = scans(0.9).waits(&waits);
        assert_eq!(brief(&run), [("seq-scans".to_owned(), 0.9)]);
        let found = run.ask(ranked);
        let links: Vec<_> = found[0].chain.iter().map(|link| link.text.as_str()).collect();
        assert!(
            links[0].starts_with("sequential scans of t") && links[1].contains("outside shared buffers"),
            "{links:?}"
        );
        assert_eq!(links[2], "100 % of the clients' time was waiting for blocks that were not in shared buffers");
        assert!(found.iter().all(|finding| finding.rule != "reads"), "{found:?}");
        // Where another table is read, that is no cause.
        assert_eq!(brief(&scans(0.1).waits(&waits)), [("reads".to_owned(), 1.0)]);
    }

    #[test]
    fn copies_of_blocks_that_scans_read_are_their_cpu_time() {
        let kinds = vec![vec!["client backend".to_owned(), "1.0".to_owned()]];
        let busy = |share| scans(share).waits(&[("CPU", "CPU", 8.0)]).table("processes", &["kind", "cpus"], &kinds);
        let first = |run: Run| run.ask(ranked).remove(0).rule;
        assert_eq!(first(busy(1.0)), "seq-scans");
        assert_eq!(first(busy(0.0)), "reads");
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

    #[test]
    fn every_row_names_rules_that_exist() {
        let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/rules");
        let is_rule = |name: &str| directory.join(name.replace('-', "_")).with_extension("rs").exists();
        for row in &EXPLANATIONS {
            assert!(is_rule(row.cause) && row.between.iter().all(|name| is_rule(name)), "{}", row.cause);
        }
        assert!(Part::ALL.iter().flat_map(|part| part.rules()).all(|name| is_rule(name)));
    }
}
