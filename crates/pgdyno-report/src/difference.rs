//! Says which part of the clients' time makes the difference between two sides.

use pgdyno_results::{AbTime, time_part_title};
use pgdyno_text::brief::percent;
use pgdyno_text::units::ms;

/// A part that makes less than this share of the difference does not explain it.
pub(crate) const EXPLAINS_MIN: f64 = 0.25;

/// Less of a transaction than this is none.
const NOTHING_NS: f64 = 500.0;

/// Returns the name of a part within a sentence.
pub(crate) fn bare(part: &AbTime) -> &str {
    let title = time_part_title(&part.name);
    title.strip_prefix("server: ").unwrap_or(title)
}

/// Returns a difference of times in milliseconds, with its sign.
pub(crate) fn signed_ms(ns: f64) -> String {
    let sign = if ns < 0.0 { '-' } else { '+' };
    format!("{sign}{}", ms(ns.abs().round() as u64))
}

/// Returns a sentence: how much of a transaction the `cause` of the difference takes on each of the `sides`, and the `largest` part of the
/// second one's time.
pub(crate) fn why(cause: &AbTime, largest: Option<&AbTime>, [a, b]: [&str; 2]) -> String {
    let of = |ns: f64| if ns < NOTHING_NS { "none".to_owned() } else { format!("{} ms", ms(ns.round() as u64)) };
    let made = format!("{}: {} of each transaction on {a}, {} on {b}", bare(cause), of(cause.a_ns), of(cause.b_ns));
    let now = largest.map(|part| match part.name == cause.name {
        true => format!("; it is now {} of {b}'s time", percent(part.b_share)),
        false => format!("; the largest part of {b}'s time is now {} ({})", bare(part), percent(part.b_share)),
    });
    made + &now.unwrap_or_default()
}
