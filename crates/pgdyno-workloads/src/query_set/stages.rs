//! The stages of sets of queries: one stream alone, then several at once.

use pgdyno_wire::QueryMode;
use pgdyno_workload::{Clients, Ends, Group, GroupWork, Pace, Results, Stage};

/// Stage and group with one stream.
pub(crate) const POWER: &str = "power";
/// Stage and group with several streams.
pub(crate) const THROUGHPUT: &str = "throughput";

/// Returns a group of streams.
pub(crate) fn group(name: &'static str, streams: u32) -> Group {
    Group {
        clients: Clients::Number(streams),
        pace: Some(Pace::ClosedLoop),
        mode: Some(QueryMode::Simple),
        results: Results::Digest,
        work: GroupWork::Queries,
        ..Group::new(name)
    }
}

/// Returns a power stage, and a throughput stage with so many streams if there are some, in which another group may work `beside`
/// them.
pub(crate) fn stages(streams: u32, beside: Option<Group>) -> Vec<Stage> {
    let stage = |name, groups| Stage { ends: Ends::WhenAllDone, ..Stage::new(name, groups) };
    let power = stage(POWER, vec![group(POWER, 1)]);
    let throughput =
        (streams > 0).then(|| stage(THROUGHPUT, std::iter::once(group(THROUGHPUT, streams)).chain(beside).collect()));
    std::iter::once(power).chain(throughput).collect()
}

/// Returns a warning if a number of clients is asked for that is not that of the streams.
pub(crate) fn advice(workload: &str, streams: u32, clients: u32) -> Option<String> {
    (clients != streams.max(1)).then(|| {
        format!(
            "the number of clients has no effect on {workload}: its power stage has one; --streams {clients} adds a throughput stage \
             with {clients}"
        )
    })
}
