//! Says which part of the clients' time makes the difference between two sides.

use pgdyno_results::time_part_title;
use pgdyno_text::brief::percent;
use pgdyno_text::units::ms;

/// A part that makes less than this share of the difference does not explain it.
pub(crate) const EXPLAINS_MIN: f64 = 0.25;

/// Less of a transaction than this is none.
const NOTHING_NS: f64 = 500.0;

/// A part of the clients' time on both sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    /// Its name, as in the records.
    pub(crate) name: &'a str,
    /// The time of a committed transaction that it takes on each side.
    pub(crate) ns: [f64; 2],
    /// Its share of the second side's time, 0 to 1.
    pub(crate) share: f64,
}

/// Returns the name of a part within a sentence.
pub(crate) fn bare(name: &str) -> &str {
    let title = time_part_title(name);
    title.strip_prefix("server: ").unwrap_or(title)
}

/// Returns a sentence: how much of a transaction the `cause` of the difference takes on each of the `sides`, and the `largest` part of the
/// second one's time.
pub(crate) fn why(cause: Part<'_>, largest: Option<Part<'_>>, sides: [&str; 2]) -> String {
    let of = |ns: f64| if ns < NOTHING_NS { "none".to_owned() } else { format!("{} ms", ms(ns.round() as u64)) };
    let ([before, after], [a, b]) = (cause.ns.map(of), sides);
    let made = format!("{}: {before} of each transaction on {a}, {after} on {b}", bare(cause.name));
    let now = largest.map(|part| match part.name == cause.name {
        true => format!("; it is now {} of {b}'s time", percent(part.share)),
        false => format!("; the largest part of {b}'s time is now {} ({})", bare(part.name), percent(part.share)),
    });
    made + &now.unwrap_or_default()
}
