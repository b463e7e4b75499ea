//! Whether the driver was the bottleneck, or others had the CPUs that it wanted. The thresholds are explained in docs/measurement.md.

use pgdyno_results::{ClientRecord, Sign, Summary, Warning};

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

/// Returns warnings about the driver; `real` if it drove a server, not only itself. `coalesce_us`: how long it was to leave
/// replies unread.
pub(super) fn judge(client: &ClientRecord, summary: &Summary, real: bool, coalesce_us: Option<f64>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut signs = busy(client);
    let unread = unread(client, summary);
    match coalesce_us {
        None => signs.extend(unread),
        Some(coalesce_us) if !unread.is_empty() => {
            warnings.push(Warning::RepliesLeftUnread { drivers: None, coalesce_us, signs: unread });
        }
        Some(_) => {}
    }
    signs.extend(late(client, summary));
    let is_starved = client.run_delay > STARVED || !signs.is_empty() && waits_more_than_it_works(client);
    if is_starved {
        warnings.push(Warning::DriverShortOfCpu {
            drivers: None,
            is_most: client.run_delay > WITHOUT_CPU,
            waited_share: client.run_delay,
            busy_share: mean_busy(client),
            signs,
        });
    } else if real && !signs.is_empty() {
        warnings.push(Warning::DriverBottleneck { drivers: None, signs });
    }
    if let Some(read_ns) = client.clock_read_ns.filter(|ns| *ns > SLOW_CLOCK_NS) {
        let clocksource = client.clock_source.clone().unwrap_or_else(|| "unknown".to_owned());
        warnings.push(Warning::SlowClock { drivers: None, clocksource, read_ns });
    }
    warnings
}

/// Returns true if two drivers have the same warning, whatever its figures.
pub(super) fn is_alike(one: &Warning, other: &Warning) -> bool {
    match (one, other) {
        (Warning::DriverShortOfCpu { is_most, .. }, Warning::DriverShortOfCpu { is_most: other, .. }) => {
            is_most == other
        }
        _ => std::mem::discriminant(one) == std::mem::discriminant(other),
    }
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

/// Returns the part that `part` is of `whole`, if it is large enough to shift a percentile.
fn beyond(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64).filter(|share| *share > TAIL)
}

/// Returns the sign of a thread without rest.
fn busy(client: &ClientRecord) -> Vec<Sign> {
    let share = client.thread_busy.iter().copied().fold(0.0, f64::max);
    (share > BUSY).then_some(Sign::BusyThread { share }).into_iter().collect()
}

/// Returns the signs of replies that were read late.
fn unread(client: &ClientRecord, summary: &Summary) -> Vec<Sign> {
    let mut signs = Vec::new();
    if let Some(share) = client.unread_share.filter(|share| *share > UNREAD) {
        signs.push(Sign::UnreadReplies { share });
    }
    if let (Some(delay), Some(service)) = (&client.read_delay_ns, &summary.service_latency_ns)
        && let Some(share) = beyond(delay.p99, service.p99)
    {
        signs.push(Sign::LateReads { delay_ns_p99: delay.p99, share });
    }
    signs
}

/// Returns the sign of transactions that began late.
fn late(client: &ClientRecord, summary: &Summary) -> Option<Sign> {
    // Without a schedule a late timer is a longer think time, and not part of any latency.
    if let (Some(late), Some(response), Some(_)) =
        (&client.timer_lateness_ns, &summary.response_latency_ns, &summary.schedule_lag_ns)
        && late.p99 > LATE_NS
        && let Some(share) = beyond(late.p99, response.p99)
    {
        return Some(Sign::LateArrivals { delay_ns_p99: late.p99, share });
    }
    None
}

#[cfg(test)]
mod tests {
    use pgdyno_results::LatencyRecord;

    use super::*;
    use crate::record::warnings::tests::texts;

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
        texts(judge(&client, &summary, true, None))
    }

    #[test]
    fn a_driver_within_its_limits_is_passed_over() {
        assert_eq!(warnings(|_, _| {}), Vec::<String>::new());
        let nothing_known = judge(&ClientRecord::default(), &Summary::default(), true, None);
        assert_eq!(nothing_known, []);
    }

    #[test]
    fn each_sign_alone_is_enough_and_is_reported_with_its_figure() {
        type Change = fn(&mut ClientRecord, &mut Summary);
        let cases: [(Change, &str); 4] = [
            (|client, _| client.thread_busy[1] = 0.91, "on a CPU for 91.0 % of the time"),
            (|client, _| client.unread_share = Some(0.06), "unread for 6.0 % of the service time"),
            (|client, _| client.read_delay_ns = p99(1_100_000), "unread for 1.10 ms or more, 11.0 % of the p99"),
            (|client, _| client.timer_lateness_ns = p99(1_200_000), "served 1.20 ms late or more, 12.0 % of the p99"),
        ];
        for (change, figure) in cases {
            let found = warnings(change);
            assert!(
                found.len() == 1 && found[0].starts_with("the driver was the bottleneck (more --threads"),
                "{found:?}"
            );
            assert!(found[0].contains(figure), "{found:?}");
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
        assert_eq!(judge(&client, &summary, false, None), []);
    }

    #[test]
    fn replies_that_were_to_be_left_unread_do_not_make_the_driver_the_bottleneck() {
        let (mut client, summary) = well();
        (client.unread_share, client.read_delay_ns) = (Some(0.06), p99(1_100_000));
        let found = texts(judge(&client, &summary, true, Some(50.0)));
        assert!(found.len() == 1 && found[0].starts_with("replies were left unread"), "{found:?}");
        assert!(found[0].contains("--coalesce 50us") && found[0].contains("6.0 % of the service time"), "{found:?}");
        client.thread_busy[0] = 0.95;
        let found = texts(judge(&client, &summary, true, Some(50.0)));
        assert!(found.len() == 2 && found[1].starts_with("the driver was the bottleneck"), "{found:?}");
        assert!(!found[1].contains("unread"), "{found:?}");
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
