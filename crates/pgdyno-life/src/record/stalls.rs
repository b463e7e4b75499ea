//! The times in which no transaction succeeded.

use pgdyno_measure::stall::Stall;
use pgdyno_results::Warning;

/// A run in which nothing succeeded for this share of the window or more measured no server at work.
const MOST: f64 = 0.5;

/// In a short window, a stall of this many seconds or fewer is one interval by chance.
const LEAST_S: f64 = 1.5;

/// Returns the time of all stalls in seconds.
pub(crate) fn seconds(stalls: &[Stall]) -> f64 {
    stalls.iter().map(Stall::seconds).sum()
}

/// Returns true if they are half of a window of so many seconds, or more.
pub(crate) fn are_most_of(stalls: &[Stall], window_s: f64) -> bool {
    seconds(stalls) >= (MOST * window_s).max(LEAST_S)
}

/// Returns the warning about a window of so many seconds; `None` without stalls. `with_fault`: the run caused a fault in it.
pub(crate) fn warning(stalls: &[Stall], window_s: f64, with_fault: bool) -> Option<Warning> {
    let first = stalls.first()?;
    let stalled_s = seconds(stalls);
    let most = |of: fn(&Stall) -> u64| stalls.iter().map(of).max().unwrap_or_default();
    Some(Warning::NothingEnded {
        stalled_s,
        share: stalled_s / window_s.max(1e-9),
        from_s: first.from_s,
        in_flight_max: most(|stall| stall.in_flight_max),
        failed: stalls.iter().map(|stall| stall.failed).sum(),
        disconnected_max: most(|stall| stall.disconnected_max),
        with_fault,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stalls_have_their_share_of_the_window_and_what_waited() {
        let stall = |from_s, until_s| Stall { from_s, until_s, failed: 0, in_flight_max: 4, disconnected_max: 0 };
        let [short, long] = [vec![stall(2.0, 4.0)], vec![stall(2.0, 4.0), stall(5.0, 7.0)]];
        assert_eq!((are_most_of(&short, 8.0), are_most_of(&long, 8.0), are_most_of(&[], 0.0)), (false, true, false));
        let text = warning(&long, 8.0, false).unwrap().to_string();
        let begin = "no transaction succeeded for 4.0 s (50.0 % of the window), first at 2.0 s: up to 4 were in flight";
        assert!(text.starts_with(begin) && text.contains("look at the server's log"), "{text}");
        let refused = Stall { failed: 1_200, in_flight_max: 0, disconnected_max: 8, ..stall(2.0, 4.0) };
        let text = warning(&[refused], 8.0, true).unwrap().to_string();
        let end = ", first at 2.0 s: 1,200 failed, up to 8 connections were lost meanwhile, in a window with a fault";
        assert!(text.ends_with(end), "{text}");
    }
}
