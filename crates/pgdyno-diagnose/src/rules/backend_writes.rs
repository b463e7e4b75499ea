//! Sessions write and extend tables themselves.

use pgdyno_results::FindingRecord;
use pgdyno_samples::{bgwriter, checkpointer, io};
use pgdyno_text::brief::{number, percent};

use super::{waited, with_settings};
use crate::facts::Facts;
use crate::waits::Class;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let what = "writing or extending tables in the clients' own sessions";
    let mut found = waited(facts, "backend-writes", Class::DataWrite, what)?;
    let own = own_writes(facts);
    let others = [bgwriter::BUFFERS_CLEAN, checkpointer::BUFFERS_WRITTEN];
    let others: f64 = others.iter().filter_map(|column| facts.rate(*column)).sum();
    if let Some(own) = own.filter(|own| *own > 0.0) {
        let share = percent(own / (own + others));
        found.evidence.push(format!("the sessions wrote {} buffers a second themselves, {share} of all", number(own)));
    }
    let stopped = facts.rate(bgwriter::MAXWRITTEN_CLEAN).filter(|n| *n > 0.0);
    let top = facts.waits.of_class(Class::DataWrite).next().map_or("", |(name, _)| name);
    found.advice = if top.ends_with("DataFileExtend") {
        let is_old = facts.record.server.as_ref().is_some_and(|server| server.version_num < 160_000);
        let newer = if is_old { ", or PostgreSQL 16 or later, which extends tables by many pages at once" } else { "" };
        Some(format!("use a faster disk or file system{newer}: tables grow"))
    } else if let Some(stopped) = stopped {
        found.evidence.push(format!("the background writer stopped at its limit {} times a second", number(stopped)));
        with_settings(facts, "raise bgwriter_lru_maxpages", &["bgwriter_lru_maxpages", "bgwriter_delay"])
    } else {
        with_settings(facts, "raise shared_buffers, or use a faster disk", &["shared_buffers"])
    };
    Some(found)
}

/// Buffers that sessions wrote, a second: until 16 the background writer's statistics have them, then those of I/O.
fn own_writes(facts: &Facts<'_>) -> Option<f64> {
    let own = [(io::BACKEND_TYPE, "client backend"), (io::OBJECT, "relation")];
    facts.rate(bgwriter::BUFFERS_BACKEND).or_else(|| facts.rate_where(&own, &[io::CONTEXT], io::WRITES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn own_writes_are_reported_with_their_share() {
        let run = Run::new()
            .waits(&[("IO", "DataFileWrite", 2.0), ("IO", "DataFileExtend", 1.0)])
            .counters("bgwriter", &[("buffers_clean", 50.0), ("buffers_backend", 300.0), ("maxwritten_clean", 2.0)])
            .counters("checkpointer", &[("buffers_written", 50.0)])
            .setting("bgwriter_lru_maxpages", "100");
        let found = run.finds(look);
        assert_eq!(found.evidence[1], "the sessions wrote 300 buffers a second themselves, 75 % of all");
        assert_eq!(found.evidence[2], "the background writer stopped at its limit 2.0 times a second");
        assert!(found.advice.unwrap().ends_with("(bgwriter_lru_maxpages is 100)"));
    }

    #[test]
    fn more_buffers_do_not_help_where_tables_grow() {
        let found = Run::new().waits(&[("IO", "DataFileExtend", 3.0)]).finds(look);
        assert!(found.advice.unwrap().starts_with("use a faster disk or file system"));
    }

    #[test]
    fn version_17_has_them_with_other_io() {
        let keys: &[&str] = &["backend_type", "object", "context"];
        let run = Run::new().waits(&[("IO", "DataFileWrite", 2.0)]).keyed_counters(
            "io",
            keys,
            &[
                (&["client backend", "relation", "normal"], &[("writes", 30.0)]),
                (&["client backend", "wal", "normal"], &[("writes", 900.0)]),
                (&["checkpointer", "relation", "normal"], &[("writes", 900.0)]),
            ],
        );
        assert_eq!(run.finds(look).evidence[1], "the sessions wrote 30 buffers a second themselves, 100 % of all");
    }

    #[test]
    fn writes_for_which_nobody_waits_are_nothing() {
        let run = Run::new().waits(&[("CPU", "CPU", 2.0), ("IO", "DataFileRead", 1.0)]);
        run.counters("bgwriter", &[("buffers_backend", 300.0)]).finds_nothing(look);
    }
}
