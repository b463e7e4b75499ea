//! The text of a warning. What precedes the first `: ` fits into a list of reasons.

use std::fmt;

use pgdyno_text::brief;
use pgdyno_text::units::{count, duration, mean_bytes, percent, rate};

use super::{Drivers, Sign, Warning};

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DriverShortOfCpu { .. }
            | Self::DriverBottleneck { .. }
            | Self::RepliesLeftUnread { .. }
            | Self::SlowClock { .. } => driver(self, f),
            Self::NothingEnded { stalled_s, share, from_s, with_fault, .. } => {
                write!(
                    f,
                    "no transaction succeeded for {} ({} of the window), first at {}: {} meanwhile",
                    duration(*stalled_s),
                    percent(*share),
                    duration(*from_s),
                    meanwhile(self)
                )?;
                f.write_str(match with_fault {
                    true => ", in a window with a fault",
                    false => "; look at the server's log, its locks and its machine at that time",
                })
            }
            Self::ThroughputStalled { stalled_s, share, from_s } => write!(
                f,
                "throughput stalled for {} ({} of the window), first at {}: next to nothing was committed",
                brief::duration(*stalled_s),
                brief::percent(*share),
                brief::duration(*from_s)
            ),
            Self::RateMissed { group, reached_share, rate_per_s, with_fault } => {
                if let Some(of) = group {
                    write!(f, "group {} of stage {}, ", of.group, of.stage)?;
                }
                write!(f, "{} of the offered {}/s were reached ", percent(*reached_share), rate(*rate_per_s))?;
                f.write_str(if *with_fault {
                    "in a window with a fault"
                } else {
                    "(lower --rate or add clients): response times grow as long as the run lasts"
                })
            }
            Self::ShortWindow { window_s } => write!(
                f,
                "{} is short (-T 1min or more): checkpoints, autovacuum and a cold cache are not in the figures",
                duration(*window_s)
            ),
            Self::NotSettled { ramp_s } => {
                write!(f, "throughput had not settled when the window began (--ramp {ramp_s:.0})")
            }
            Self::Drifts => f.write_str("throughput drifts over the window (longer --ramp or -T)"),
            Self::LevelChanged { at_s, tps_before, tps_after } => write!(
                f,
                "throughput changed at {} from {} to {} TPS (see the events): the mean is of neither level",
                duration(*at_s),
                rate(*tps_before),
                rate(*tps_after)
            ),
            Self::UnsafeSetting { name } => write!(
                f,
                "{name} is off: a crash of this server can lose data; do not compare it with one that is safe"
            ),
            Self::ClientsLost { lost, clients } => {
                write!(f, "{lost} of {clients} clients had no connection at the end")
            }
            Self::ClientsAborted { aborted, clients } => {
                write!(f, "{aborted} of {clients} clients aborted: the errors say why")
            }
            Self::TransactionError { sqlstate, advice } => write!(f, "hint for error {sqlstate}: {advice}"),
            Self::OtherPrograms { machine, used_cpus, cpus } => write!(
                f,
                "other programs used {used_cpus:.2} of the {cpus:.0} CPUs of {machine} (stop them and run again): the figures reflect the \
                 remaining CPU, and another run may find more or less"
            ),
            Self::CpuSteal { machine, share } => write!(
                f,
                "CPU steal of {} on {machine}: the hypervisor gave that time to others, and the figures reflect the rest",
                percent(*share)
            ),
            Self::StageNotWhole { stage, undone, figures } => {
                let are = if figures.len() == 1 { "is" } else { "are" };
                let (undone, figures) = (undone.join(", "), figures.join(" and "));
                write!(f, "not every client of stage {stage} ended {undone}: {figures} {are} left out")
            }
            Self::RuleBroken { rule, wanted, found } => write!(f, "{rule}: {wanted}, and it was {found}"),
            Self::UnevenNodes { skew, unit } => write!(
                f,
                "the fullest node has {skew:.2} times as many {unit} as the mean of all nodes, and limits throughput: use many \
                 more {unit} than nodes, or another --shard-count"
            ),
            Self::NotDelegated { why } => write!(f, "not delegated: {why}"),
            Self::VacuumRan { share, workers_max, autovacuum_max_workers } => {
                let at_once = if *workers_max > 1 { format!(", up to {workers_max} at once") } else { String::new() };
                write!(
                    f,
                    "vacuum ran for {} of the window{at_once}: it used a part of the server",
                    brief::percent(*share)
                )?;
                match autovacuum_max_workers {
                    Some(most) => write!(f, " (autovacuum_max_workers is {most})"),
                    None => Ok(()),
                }
            }
            Self::NoCheckpoint { window_s, checkpoint_timeout_s, max_wal_size, wal_bytes, measured_s } => {
                let size = max_wal_size.as_ref().map_or_else(String::new, |size| format!(", max_wal_size is {size}"));
                write!(
                    f,
                    "no checkpoint in the window ({} to have one): the figures leave out what checkpoints cost; \
                     checkpoint_timeout is {}{size}, and {} of WAL were written in {}",
                    time_option(*window_s),
                    brief::duration(*checkpoint_timeout_s),
                    mean_bytes(*wal_bytes),
                    brief::duration(*measured_s)
                )
            }
            Self::TpmLeftOut { by_server, sent } => write!(
                f,
                "TPM is left out: the server counted {} transactions and the clients sent {} (a pooler whose sessions report \
                 late, or other programs in the database)",
                count(*by_server),
                count(*sent)
            ),
            Self::LowFidelity { time_percent, scripts } => write!(
                f,
                "only {} of the captured time is represented: the figures are of another load ({})",
                brief::percent(time_percent / 100.0),
                if scripts.is_empty() {
                    "the other statements are in no script".to_owned()
                } else {
                    scripts.join(", ")
                }
            ),
            Self::FaultWithoutEffect { fault, at_s } => write!(
                f,
                "fault {fault} at {} had no effect: no client lost its connection or had an error, and the server is the same; this \
                 run measured no fault",
                brief::duration(*at_s)
            ),
            Self::FaultFailed { fault, at_s, why } => {
                write!(f, "fault {fault} at {} failed: {why}", brief::duration(*at_s))
            }
            Self::NotDiagnosed { why } => write!(f, "the run was not diagnosed: {why}"),
            Self::LeftOut { text } | Self::Note { text } => f.write_str(text),
        }
    }
}

/// Returns what clients did while nothing succeeded: `up to 4 were in flight, 12 failed`.
fn meanwhile(warning: &Warning) -> String {
    let Warning::NothingEnded { in_flight_max, failed, disconnected_max, .. } = warning else { return String::new() };
    let in_flight = match in_flight_max {
        0 => None,
        1 => Some("1 transaction was in flight".to_owned()),
        most => Some(format!("up to {} were in flight", count(*most))),
    };
    let failed = (*failed > 0).then(|| format!("{} failed", count(*failed)));
    let disconnected = match disconnected_max {
        0 => None,
        1 => Some("1 connection was lost".to_owned()),
        most => Some(format!("up to {} connections were lost", count(*most))),
    };
    in_flight.into_iter().chain(failed).chain(disconnected).collect::<Vec<_>>().join(", ")
}

/// Writes a warning about the driver, or about several of them.
fn driver(warning: &Warning, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (who, were, drivers) = match warning {
        Warning::DriverShortOfCpu { drivers: Some(drivers), .. }
        | Warning::DriverBottleneck { drivers: Some(drivers), .. }
        | Warning::RepliesLeftUnread { drivers: Some(drivers), .. }
        | Warning::SlowClock { drivers: Some(drivers), .. } => match drivers {
            Drivers { first, number: 1, .. } => (first.clone(), "was", None),
            Drivers { first, number, of } => (format!("{number} of {of} drivers"), "were", Some(first)),
        },
        _ => ("the driver".to_owned(), "was", None),
    };
    match warning {
        Warning::DriverShortOfCpu { is_most, waited_share, busy_share, signs, .. } => {
            let what = if *is_most { "without a CPU most of the time" } else { "short of CPU" };
            let (waited, busy) = (small_percent(*waited_share), small_percent(*busy_share));
            let threads = format!("its threads waited for a CPU for {waited} of the time, and were on one for {busy}");
            write!(
                f,
                "{who} {were} {what} (use a second machine, or taskset): {}; latencies include that wait. More --threads do not \
                 help: other programs, or the server, want the same CPUs",
                joined(signs, Some(threads))
            )?;
        }
        Warning::DriverBottleneck { signs, .. } => {
            write!(f, "{who} {were} the bottleneck (more --threads, or a larger machine): {}", joined(signs, None))?
        }
        Warning::RepliesLeftUnread { coalesce_us, signs, .. } => write!(
            f,
            "replies were left unread to save client CPU (without --coalesce {coalesce_us}us they are not): {}; latencies \
             include that",
            joined(signs, None)
        )?,
        Warning::SlowClock { clocksource, read_ns, drivers } => {
            let clock = if drivers.is_some() { format!("the clock of {who}") } else { "the driver's clock".to_owned() };
            write!(
                f,
                "{clock} is slow (clocksource {clocksource}, {read_ns:.0} ns a read): each reply takes one or more, and \
                 latencies include that; use a machine whose clocksource is tsc"
            )?;
        }
        _ => {}
    }
    match drivers {
        Some(first) => write!(f, " (figures of {first})"),
        None => Ok(()),
    }
}

fn joined(signs: &[Sign], last: Option<String>) -> String {
    signs.iter().map(Sign::to_string).chain(last).collect::<Vec<_>>().join("; ")
}

/// Returns a share in percent, with two decimals if it is small.
fn small_percent(share: f64) -> String {
    if share < 0.01 { format!("{:.2} %", share * 100.0) } else { percent(share) }
}

/// Returns the option for a window of at least so long.
pub(super) fn time_option(seconds: f64) -> String {
    if seconds <= 60.0 {
        format!("-T {:.0}s", (seconds / 10.0).ceil() * 10.0)
    } else {
        format!("-T {:.0}min", (seconds / 60.0).ceil())
    }
}
