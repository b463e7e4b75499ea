//! Whether the driver was the bottleneck, or others had the CPUs that it wanted. The thresholds are explained in docs/measurement.md.

use pgdyno_results::{ClientRecord, Summary};
use pgdyno_text::units;

/// A thread that was on a CPU for a greater share of the time than this was the bottleneck, or close to it.
const BUSY: f64 = 0.9;
/// Threads that waited for a CPU for a greater share of the time than this measured their own waiting.
const STARVED: f64 = 0.05;
/// Threads that waited for a CPU for a greater share of the time than this did hardly anything else.
const WITHOUT_CPU: f64 = 0.5;
/// Unread replies that waited for a greater share of all service time than this shift the mean.
const UNREAD: f64 = 0.05;
/// A 99th percentile of the driver's own delays above this share of the latency's shifts that percentile.
const TAIL: f64 = 0.1;
/// Timers that are later than this are reported: no kernel promises less.
const LATE_NS: u64 = 100_000;
/// A clock that takes longer to read than this, in nanoseconds, is not the CPU's own.
const SLOW_CLOCK_NS: f64 = 200.0;

/// Returns warnings about the driver; `real` if it drove a server, not only itself. `coalesce_us`: how long it was told
/// to leave replies unread.
pub(super) fn judge(client: &ClientRecord, summary: &Summary, real: bool, coalesce_us: Option<f64>) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut signs = busy(client);
    let unread = unread(client, summary);
    match coalesce_us {
        None => signs.extend(unread),
        Some(us) if !unread.is_empty() => warnings.push(format!(
            "replies were left unread to save client CPU (without --coalesce {us}us they are not): {}; latencies include \
             that",
            unread.join("; ")
        )),
        Some(_) => {}
    }
    signs.extend(late(client, summary));
    let starved = client.run_delay > STARVED || !signs.is_empty() && waits_more_than_it_works(client);
    let mut found = signs.clone();
    if starved {
        let [waited, busy] = [client.run_delay, mean_busy(client)].map(share);
        found.push(format!("its threads waited for a CPU for {waited} of the time, and were on one for {busy}"));
    }
    let found = found.join("; ");
    if starved {
        let what = if client.run_delay > WITHOUT_CPU { "without a CPU most of the time" } else { "short of CPU" };
        warnings.push(format!(
            "the driver was {what} (use a second machine, or taskset): {found}; latencies include that wait. More \
             --threads do not help: other programs, or the server, want the same CPUs"
        ));
    } else if real && !signs.is_empty() {
        warnings.push(format!("the driver was the bottleneck (more --threads, or a larger machine): {found}"));
    }
    if let Some(read_ns) = client.clock_read_ns.filter(|ns| *ns > SLOW_CLOCK_NS) {
        let source = client.clock_source.as_deref().unwrap_or("unknown");
        warnings.push(format!(
            "the driver's clock is slow (clocksource {source}, {read_ns:.0} ns a read): each reply takes one or more, and \
             latencies include that; use a machine whose clocksource is tsc"
        ));
    }
    warnings
}

/// Returns the share of the time that a thread was on a CPU, mean over the threads.
fn mean_busy(client: &ClientRecord) -> f64 {
    client.thread_busy.iter().sum::<f64>() / client.thread_busy.len().max(1) as f64
}

/// Returns true if the threads had less CPU than they waited for: what was late is due to others, however little that is of the
/// window.
fn waits_more_than_it_works(client: &ClientRecord) -> bool {
    client.run_delay > mean_busy(client)
}

/// Returns a share in percent, with two decimals where it is small.
fn share(share: f64) -> String {
    if share < 0.01 { format!("{:.2} %", share * 100.0) } else { units::percent(share) }
}

/// Returns the part that `part` is of `whole`, if it is large enough to shift a percentile.
fn beyond(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64).filter(|share| *share > TAIL)
}

/// Returns the sign of a thread without rest.
fn busy(client: &ClientRecord) -> Vec<String> {
    let busiest = client.thread_busy.iter().copied().fold(0.0, f64::max);
    let sign = || format!("its busiest thread was on a CPU for {} of the time", units::percent(busiest));
    (busiest > BUSY).then(sign).into_iter().collect()
}

/// Returns the signs of replies that were read late.
fn unread(client: &ClientRecord, summary: &Summary) -> Vec<String> {
    let mut signs = Vec::new();
    if let Some(share) = client.unread_share.filter(|share| *share > UNREAD) {
        signs.push(format!("replies lay unread for {} of the service time", units::percent(share)));
    }
    if let (Some(delay), Some(service)) = (&client.read_delay_ns, &summary.service_latency_ns)
        && let Some(share) = beyond(delay.p99, service.p99)
    {
        signs.push(format!(
            "1 % of replies lay unread for {} ms or more, {} of the p99 of service time",
            units::ms(delay.p99),
            units::percent(share)
        ));
    }
    signs
}

/// Returns the sign of transactions that began late.
fn late(client: &ClientRecord, summary: &Summary) -> Option<String> {
    // Without a schedule a late timer is a longer think time, and not part of any latency.
    if let (Some(late), Some(response), Some(_)) =
        (&client.timer_lateness_ns, &summary.response_latency_ns, &summary.schedule_lag_ns)
        && late.p99 > LATE_NS
        && let Some(share) = beyond(late.p99, response.p99)
    {
        return Some(format!(
            "1 % of arrivals were served {} ms late or more, {} of the p99 of response time",
            units::ms(late.p99),
            units::percent(share)
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use pgdyno_results::LatencyRecord;

    use super::*;

    fn p99(ns: u64) -> Option<LatencyRecord> {
        Some(LatencyRecord { p99: ns, ..LatencyRecord::default() })
    }

    /// Returns a driver without delays, and its figures: 10 ms of service and response time at the 99th percentile.
    fn well() -> (ClientRecord, Summary) {
        let client = ClientRecord {
            thread_busy: vec![0.2, 0.9],
            run_delay: 0.05,
            read_delay_ns: p99(1_000_000),
            unread_share: Some(0.05),
            timer_lateness_ns: p99(1_000_000),
            clock_read_ns: Some(25.0),
            clock_source: Some("tsc".to_owned()),
            ..ClientRecord::default()
        };
        let summary = Summary {
            service_latency_ns: p99(10_000_000),
            response_latency_ns: p99(10_000_000),
            schedule_lag_ns: p99(2_000_000),
            ..Summary::default()
        };
        (client, summary)
    }

    fn warnings(change: impl FnOnce(&mut ClientRecord, &mut Summary)) -> Vec<String> {
        let (mut client, mut summary) = well();
        change(&mut client, &mut summary);
        judge(&client, &summary, true, None)
    }

    #[test]
    fn a_driver_within_its_limits_is_passed_over() {
        assert_eq!(warnings(|_, _| {}), Vec::<String>::new());
        let nothing_known = judge(&ClientRecord::default(), &Summary::default(), true, None);
        assert_eq!(nothing_known, Vec::<String>::new());
    }

    #[test]
    fn each_sign_alone_is_enough_and_is_told_with_its_figure() {
        type Change = fn(&mut ClientRecord, &mut Summary);
        let cases: [(Change, &str); 4] = [
            (|client, _| client.thread_busy[1] = 0.91, "on a CPU for 91.0 % of the time"),
            (|client, _| client.unread_share = Some(0.06), "unread for 6.0 % of the service time"),
            (|client, _| client.read_delay_ns = p99(1_100_000), "unread for 1.10 ms or more, 11.0 % of the p99"),
            (|client, _| client.timer_lateness_ns = p99(1_200_000), "served 1.20 ms late or more, 12.0 % of the p99"),
        ];
        for (change, figure) in cases {
            let said = warnings(change);
            assert!(
                said.len() == 1 && said[0].starts_with("the driver was the bottleneck (more --threads"),
                "{said:?}"
            );
            assert!(said[0].contains(figure), "{said:?}");
        }
    }

    #[test]
    fn several_signs_are_one_warning_and_a_null_server_is_there_to_be_outrun() {
        let change = |client: &mut ClientRecord, _: &mut Summary| {
            client.thread_busy[0] = 1.0;
            client.unread_share = Some(0.5);
        };
        assert_eq!(warnings(change).len(), 1);
        let (mut client, mut summary) = well();
        change(&mut client, &mut summary);
        assert_eq!(judge(&client, &summary, false, None), Vec::<String>::new());
    }

    #[test]
    fn replies_that_were_to_be_left_unread_do_not_make_the_driver_the_bottleneck() {
        let (mut client, summary) = well();
        (client.unread_share, client.read_delay_ns) = (Some(0.06), p99(1_100_000));
        let said = judge(&client, &summary, true, Some(50.0));
        assert!(said.len() == 1 && said[0].starts_with("replies were left unread"), "{said:?}");
        assert!(said[0].contains("--coalesce 50us") && said[0].contains("6.0 % of the service time"), "{said:?}");
        client.thread_busy[0] = 0.95;
        let said = judge(&client, &summary, true, Some(50.0));
        assert!(said.len() == 2 && said[1].starts_with("the driver was the bottleneck"), "{said:?}");
        assert!(!said[1].contains("unread"), "{said:?}");
    }

    #[test]
    fn late_timers_mean_nothing_without_a_schedule_or_where_they_are_short() {
        let none = Vec::<String>::new();
        let late = p99(9_000_000);
        assert_eq!(
            warnings(|client, summary| (client.timer_lateness_ns, summary.schedule_lag_ns) = (late, None)),
            none
        );
        let short = |client: &mut ClientRecord, summary: &mut Summary| {
            client.timer_lateness_ns = p99(90_000);
            summary.response_latency_ns = p99(200_000);
        };
        assert_eq!(warnings(short), none);
    }

    #[test]
    fn late_work_of_a_driver_with_little_to_do_is_due_to_those_who_had_the_cpus() {
        let idle = |run_delay| {
            warnings(|client, _| {
                (client.thread_busy, client.run_delay) = (vec![0.000_9, 0.001_1], run_delay);
                client.timer_lateness_ns = p99(1_200_000);
            })
        };
        let [short, bottleneck] = [0.004, 0.000_5].map(idle);
        let begin =
            "the driver was short of CPU (use a second machine, or taskset): 1 % of arrivals were served 1.20 ms late";
        assert!(short.len() == 1 && short[0].starts_with(begin), "{short:?}");
        assert!(short[0].contains("waited for a CPU for 0.40 % of the time, and were on one for 0.10 %"), "{short:?}");
        assert!(bottleneck.len() == 1 && bottleneck[0].starts_with("the driver was the bottleneck"), "{bottleneck:?}");
    }

    #[test]
    fn a_starved_driver_and_a_slow_clock_are_named_with_what_helps() {
        let starved = warnings(|client, _| client.run_delay = 0.2);
        assert!(starved.len() == 1 && starved[0].contains("20.0 %") && starved[0].contains("taskset"), "{starved:?}");
        assert!(starved[0].starts_with("the driver was short of CPU (") && starved[0].contains("on one for 55.0 %"));
        let without = warnings(|client, _| client.run_delay = 0.6);
        assert!(without[0].starts_with("the driver was without a CPU most of the time ("), "{without:?}");
        let both = warnings(|client, _| (client.run_delay, client.unread_share) = (0.2, Some(0.5)));
        assert!(
            both.len() == 1 && both[0].contains("unread for 50.0 %") && both[0].contains("--threads do not"),
            "{both:?}"
        );
        let slow = warnings(|client, _| {
            (client.clock_read_ns, client.clock_source) = (Some(812.4), Some("hpet".to_owned()));
        });
        assert!(slow.len() == 1 && slow[0].contains("clocksource hpet, 812 ns a read"), "{slow:?}");
    }
}
