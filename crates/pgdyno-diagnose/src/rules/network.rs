//! The network between driver and server loses segments.

use pgdyno_results::FindingRecord;
use pgdyno_samples::machine;
use pgdyno_text::brief::percent;
use pgdyno_text::units::mean_bytes;

use super::UNKNOWN;
use crate::facts::Facts;

/// A smaller share of segments sent again than this costs little.
const LEAST: f64 = 0.01;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    if facts.is_local() {
        return None;
    }
    let table = |source| facts.samples.of(source);
    let ends = [("the driver's", machine::OF_DRIVER), ("the server's", machine::SOURCE)];
    let mean = |source, column| table(source).gauge(column).mean(facts.from_s, facts.until_s);
    let lost = ends.iter().filter_map(|(whose, source)| {
        Some((*whose, *source, mean(*source, machine::TCP_RETRANSMITTED).filter(|share| *share >= LEAST)?))
    });
    let (whose, source, share) = lost.max_by(|a, b| a.2.total_cmp(&b.2))?;
    let moved = [("received", machine::NET_RECEIVE_BYTES_PER_S), ("sent", machine::NET_SEND_BYTES_PER_S)];
    let moved = moved
        .iter()
        .filter_map(|(what, column)| Some(format!("{} a second {what}", mean_bytes(mean(source, *column)?))));
    let mut evidence = vec![format!("of all TCP segments of {whose} machine, whatever program sent them")];
    evidence.extend(moved);
    Some(FindingRecord {
        rule: "network".to_owned(),
        text: format!("{} of the TCP segments that {whose} machine sent were sent again", percent(share)),
        weight: UNKNOWN,
        evidence,
        advice: Some(
            "look for losses and limits of bandwidth between driver and server (ip -s link, nstat)".to_owned(),
        ),
        also_seen: true,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn losses_on_the_way_are_reported() {
        let run = |share: f64| {
            let gauges = [("tcp_retransmitted", share), ("net_send_bytes_per_s", 1024.0)];
            Run::new().gauges("driver_machine", &gauges)
        };
        let found = run(0.03).finds(look);
        assert_eq!(found.text, "3.0 % of the TCP segments that the driver's machine sent were sent again");
        assert_eq!(found.evidence[1], "1.0 KiB a second sent");
        run(0.001).finds_nothing(look);
        let mut local = run(0.03);
        local.record.server.as_mut().unwrap().local = true;
        local.finds_nothing(look);
    }
}
