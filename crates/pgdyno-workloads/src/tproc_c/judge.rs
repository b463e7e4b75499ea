//! Judges the figures of a run by the clauses: mix, response times, pace, inputs.
//!
//! In the profile `hammerdb` the shares are only reported, unless they are so far off that something must be wrong.

mod share;

use pgdyno_workload::{Judgement, TxnFigures, WindowFigures};

use super::{
    profile::Profile,
    tally::{self, Tally},
    txns::TxnKind,
};
use share::{Range, at_least, percent};

/// The highest and the lowest number of New-Orders a minute per warehouse (clause 4.2): limited by keying and think
/// times, and required by the standard.
const CEILING: f64 = 12.86;
const FLOOR: f64 = 9.0;

/// The shortest measurement interval, in minutes (clause 5.5.2).
const INTERVAL_MINUTES: f64 = 120.0;

/// Terminals of a warehouse (clause 4.2).
pub(super) const TERMINALS: u32 = 10;

/// Rules of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    pub(super) profile: Profile,
    /// Whether there are keying and think times.
    pub(super) waits: bool,
    pub(super) warehouses: u32,
}

/// Returns all judgements of these figures.
pub(super) fn judge(rules: Rules, figures: &WindowFigures<'_>) -> Vec<Judgement> {
    let mut all = mix(rules, figures);
    if rules.profile == Profile::Spec {
        all.extend(response_times(rules, figures));
        all.extend(pace(rules, figures));
    }
    all.extend(inputs(rules, figures));
    all
}

fn of(figures: &WindowFigures<'_>, kind: TxnKind) -> TxnFigures {
    figures.txns.get(usize::from(kind.id().0)).copied().unwrap_or_default()
}

/// Judges the shares of completed transactions by the minima of clause 5.2.3.
fn mix(rules: Rules, figures: &WindowFigures<'_>) -> Vec<Judgement> {
    let total: u64 = TxnKind::ALL.into_iter().map(|kind| of(figures, kind).completed()).sum();
    TxnKind::ALL
        .into_iter()
        .map(|kind| {
            let (count, name) = (of(figures, kind).completed(), kind.name());
            match (rules.profile, kind) {
                (Profile::Spec, TxnKind::NewOrder) => {
                    reported("5.2.3", format!("share of {name}: the rest"), percent(count, total))
                }
                (Profile::Spec, _) => {
                    at_least(format!("share of {name}"), rules.profile.share(kind), count, total, figures.clients)
                }
                (Profile::HammerDb, _) => {
                    let expected = 100.0 * f64::from(rules.profile.share(kind)) / 23.0;
                    reported("mix", format!("share of {name}: expected {expected:.2} %"), percent(count, total))
                }
            }
        })
        .collect()
}

/// Judges 90th percentiles (clause 5.2.5.3). Without waits Delivery is awaited like the others; otherwise it is
/// deferred, and its execution has the limit of clause 2.7.2.
fn response_times(rules: Rules, figures: &WindowFigures<'_>) -> Vec<Judgement> {
    TxnKind::ALL
        .into_iter()
        .map(|kind| {
            let (clause, seconds, what) = match kind {
                TxnKind::Delivery if rules.waits => ("2.7.2", 80, ", executed deferred,"),
                _ => ("5.2.5.3", kind.row().response_s_p90, ""),
            };
            let (of_kind, name) = (of(figures, kind), kind.name());
            let there_are = of_kind.completed() > 0;
            Judgement {
                name: clause,
                rule: format!("90th percentile of {name}{what} at most {seconds} s"),
                found: match there_are {
                    true => format!("{:.3} s", of_kind.response_ns_p90 as f64 / 1e9),
                    false => "there was none".to_owned(),
                },
                holds: there_are.then_some(of_kind.response_ns_p90 <= seconds * 1_000_000_000),
            }
        })
        .collect()
}

/// Judges duration, number of terminals, and pace.
fn pace(rules: Rules, figures: &WindowFigures<'_>) -> Vec<Judgement> {
    let minutes = figures.seconds / 60.0;
    let terminals = rules.warehouses.saturating_mul(TERMINALS);
    let mut all = vec![
        Judgement {
            name: "5.2.5",
            rule: "keying times before and think times after each transaction".to_owned(),
            found: if rules.waits { "on" } else { "off" }.to_owned(),
            holds: Some(rules.waits),
        },
        Judgement {
            name: "4.2",
            rule: format!("{TERMINALS} terminals for each warehouse: {terminals}"),
            found: figures.clients.to_string(),
            holds: Some(figures.clients == terminals),
        },
        Judgement {
            name: "5.5.2",
            rule: format!("measured for at least {INTERVAL_MINUTES} minutes"),
            found: format!("{minutes:.1} minutes"),
            holds: Some(minutes >= INTERVAL_MINUTES),
        },
    ];
    if minutes > 0.0 {
        // Clause 5.4.2 counts completed orders, which the waits limit: also those rolled back on purpose.
        let completed = of(figures, TxnKind::NewOrder).completed() as f64 / minutes / f64::from(rules.warehouses);
        let found = format!("{completed:.2}");
        all.push(Judgement {
            name: "4.2",
            rule: format!("at most {CEILING} New-Orders a minute for each warehouse"),
            found: found.clone(),
            holds: Some(completed <= CEILING),
        });
        all.push(Judgement {
            name: "4.2",
            rule: format!("at least {FLOOR} New-Orders a minute for each warehouse"),
            found,
            holds: Some(completed >= FLOOR),
        });
    }
    all
}

/// Judges the shares of random inputs (clause 9.2.2.5).
fn inputs(rules: Rules, figures: &WindowFigures<'_>) -> Vec<Judgement> {
    if figures.tallies.len() < tally::NAMES.len() {
        return Vec::new();
    }
    let counted = |tally: Tally| figures.tallies[tally as usize];
    let (orders, payments) = (of(figures, TxnKind::NewOrder), of(figures, TxnKind::Payment).completed());
    let order_status = of(figures, TxnKind::OrderStatus).completed();
    let lines = counted(Tally::OrderLines);
    let strict = rules.profile == Profile::Spec;
    let range = |name, what, low, drawn, high| Range { name, what, low, drawn, high, strict };
    // With one warehouse nothing is remote.
    let remote = |range: Range, count, total| match rules.warehouses {
        1 => reported(range.name, format!("{}: none with one warehouse", range.what), percent(count, total)),
        _ => range.share(count, total),
    };
    vec![
        range("9.2.2.5.1", "New-Orders rolled back", 0.009, 0.01, 0.011).share(orders.rolled_back, orders.completed()),
        range("9.2.2.5.2", "lines of an order", 9.5, 10.0, 10.5).lines(lines, orders.completed()),
        remote(
            range("9.2.2.5.3", "lines supplied by another warehouse", 0.0095, 0.01, 0.0105),
            counted(Tally::RemoteOrderLines),
            lines,
        ),
        remote(
            range("9.2.2.5.4", "payments of another warehouse's customers", 0.14, 0.15, 0.16),
            counted(Tally::RemotePayments),
            payments,
        ),
        range("9.2.2.5.5", "payments by last name", 0.57, 0.6, 0.63).share(counted(Tally::PaymentsByName), payments),
        range("9.2.2.5.6", "order-status by last name", 0.57, 0.6, 0.63)
            .share(counted(Tally::OrderStatusByName), order_status),
    ]
}

/// Returns a value without a verdict.
fn reported(name: &'static str, rule: String, found: String) -> Judgement {
    Judgement { name, rule, found, holds: None }
}

#[cfg(test)]
mod tests;
