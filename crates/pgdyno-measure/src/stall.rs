//! Times in which no transaction ended although some were in flight: the server hung, or the driver did not run.

/// The end of one interval of the measured window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pulse {
    /// Its start, in seconds since the clients began.
    pub start_s: f64,
    /// Its end.
    pub end_s: f64,
    /// Transactions that ended in it, failures included.
    pub ended: u64,
    /// Transactions in flight at its end.
    pub in_flight: u64,
}

/// A time in which nothing ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stall {
    /// Its start, in seconds since the clients began.
    pub from_s: f64,
    /// Its end.
    pub until_s: f64,
    /// Transactions that waited at its end.
    pub in_flight: u64,
}

/// Where fewer transactions end a second, while some do, an interval may have none by chance.
const USUAL_PER_S: f64 = 20.0;

/// A shorter one is the rest of an interval.
const SHORTEST_S: f64 = 0.5;

impl Stall {
    /// Returns its length in seconds.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.until_s - self.from_s
    }
}

/// Returns the stalls of a window: rows of intervals in which nothing ended, longer than 99 % of the transactions took
/// (`usual_s`). Clients in step with each other, which all end at once, are none.
#[must_use]
pub fn stalls(pulses: &[Pulse], usual_s: f64) -> Vec<Stall> {
    let is_silent = |pulse: &Pulse| pulse.ended == 0 && pulse.in_flight > 0;
    let others = || pulses.iter().filter(|pulse| !is_silent(pulse));
    let ended: u64 = others().map(|pulse| pulse.ended).sum();
    let seconds: f64 = others().map(|pulse| pulse.end_s - pulse.start_s).sum();
    if (ended as f64) < USUAL_PER_S * seconds || ended == 0 {
        return Vec::new();
    }
    let rows = pulses.chunk_by(|a, b| is_silent(a) == is_silent(b));
    let stall = |row: &[Pulse]| {
        let (first, last) = (row.first()?, row.last()?);
        let stall = Stall { from_s: first.start_s, until_s: last.end_s, in_flight: last.in_flight };
        (is_silent(first) && stall.seconds() > usual_s.max(SHORTEST_S)).then_some(stall)
    };
    rows.filter_map(stall).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pulses(ended: &[u64], in_flight: u64) -> Vec<Pulse> {
        let pulse = |(nth, ended): (usize, &u64)| Pulse {
            start_s: nth as f64,
            end_s: nth as f64 + 1.0,
            ended: *ended,
            in_flight,
        };
        ended.iter().enumerate().map(pulse).collect()
    }

    #[test]
    fn a_server_that_hangs_is_a_stall_also_for_most_of_the_window() {
        let found = stalls(&pulses(&[9000, 4000, 0, 0, 0, 0, 0, 0], 4), 0.013);
        assert_eq!(found, [Stall { from_s: 2.0, until_s: 8.0, in_flight: 4 }]);
        assert_eq!(found[0].seconds(), 6.0);
        let found = stalls(&pulses(&[9000, 0, 0, 9000, 0, 9000], 4), 0.013);
        assert_eq!(
            found.iter().map(|stall| (stall.from_s, stall.until_s)).collect::<Vec<_>>(),
            [(1.0, 3.0), (4.0, 5.0)]
        );
    }

    #[test]
    fn slow_transactions_clients_in_step_and_idle_clients_are_none() {
        // 100 clients that all take 5 s.
        assert_eq!(stalls(&pulses(&[0, 0, 0, 0, 100, 0, 0, 0, 0, 100], 100), 5.1), []);
        // Few transactions.
        assert_eq!(stalls(&pulses(&[1, 0, 2, 0, 0, 1], 1), 0.4), []);
        // No client was due, or all had lost their connections.
        assert_eq!(stalls(&pulses(&[9000, 0, 0, 9000], 0), 0.01), []);
        assert_eq!(stalls(&[], 0.0), []);
        assert_eq!(stalls(&pulses(&[0, 0, 0], 3), 0.0), [], "nothing ended: that is said in another way");
    }
}
