//! A control group is stopped now and then by its limit of CPU, and has CPU left on average.

use pgdyno_results::FindingRecord;
use pgdyno_samples::cgroup;
use pgdyno_text::brief::{number, percent};

use super::{UNKNOWN, cpu};
use crate::facts::Facts;

/// Fewer pauses than this, as a share of the limit's periods, cost little.
const LEAST: f64 = 0.05;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    // Where the limit is used up, the rule of the CPU says so.
    if facts.quota.is_some_and(|quota| cpu::is_used_up(&quota)) {
        return None;
    }
    let groups = facts.samples.of(cgroup::SOURCE).by(cgroup::OF);
    let throttled = |(of, table): (String, pgdyno_results::SampleTable)| {
        let mean = |column| table.gauge(column).mean(facts.from_s, facts.until_s);
        Some((of, mean(cgroup::THROTTLED)?, mean(cgroup::LIMIT_CPUS)?, mean(cgroup::USED_CPUS)))
    };
    let worst = groups.into_iter().filter_map(throttled).max_by(|a, b| a.1.total_cmp(&b.1));
    let (of, share, limit, used) = worst.filter(|(_, share, ..)| *share >= LEAST)?;
    let whose = if of == "driver" { "pgdyno's" } else { "the server's" };
    let used = used.map_or_else(String::new, |used| format!(", {} used on average", number(used)));
    Some(FindingRecord {
        rule: "throttled".to_owned(),
        text: format!("{whose} control group was stopped in {} of the periods of its CPU limit", percent(share)),
        weight: UNKNOWN,
        evidence: vec![format!("limit {} CPUs{used}", number(limit))],
        advice: Some(format!("raise the CPU limit of {whose} container (it is {} CPUs)", number(limit))),
        also_seen: true,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn pauses_by_a_limit_that_is_not_used_up_are_seen() {
        let columns = ["of", "limit_cpus", "used_cpus", "throttled"];
        let run = |of: &str, throttled: &str| {
            let row = [of, "2.000", "1.000", throttled].map(str::to_owned).to_vec();
            Run::new().waits(&[("CPU", "CPU", 1.0)]).table("cgroup", &columns, &[row])
        };
        let found = run("server", "0.200").finds(look);
        assert!(found.text.starts_with("the server's control group was stopped in 20 %"), "{found:?}");
        assert_eq!(found.evidence, ["limit 2.0 CPUs, 1.0 used on average"]);
        assert!(run("driver", "0.900").finds(look).text.starts_with("pgdyno's"));
        run("server", "0.010").finds_nothing(look);
        run("server", "0.900").finds_nothing(look);
        Run::new().finds_nothing(look);
    }
}
