//! Times in which no transaction succeeded although clients tried: the server hung or refused, or the driver did not run.

/// The end of one interval of the measured window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pulse {
    /// Its start, in seconds since the clients began.
    pub start_s: f64,
    /// Its end.
    pub end_s: f64,
    /// Transactions that ended in it without an error, rolled back ones included.
    pub completed: u64,
    /// Transactions that failed in it.
    pub failed: u64,
    /// Transactions in flight at its end.
    pub in_flight: u64,
    /// Connections that were lost, and not opened again, at its end.
    pub disconnected: u64,
}

/// A time in which nothing succeeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stall {
    /// Its start, in seconds since the clients began.
    pub from_s: f64,
    /// Its end.
    pub until_s: f64,
    /// Transactions that failed in it.
    pub failed: u64,
    /// Transactions in flight at the end of one of its intervals, at most.
    pub in_flight_max: u64,
    /// Connections that were lost, and not opened again, at the end of one of its intervals, at most.
    pub disconnected_max: u64,
}

/// Where fewer transactions succeed a second, while some do, an interval may have none by chance.
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

impl Pulse {
    /// Returns true if nothing succeeded, although clients tried.
    fn is_silent(&self) -> bool {
        self.completed == 0 && (self.in_flight > 0 || self.failed > 0 || self.disconnected > 0)
    }
}

/// Returns the stalls of a window: rows of intervals in which nothing succeeded, longer than 99 % of the transactions took
/// (`usual_s`). Clients in step with each other, which all end at once, are none.
#[must_use]
pub fn stalls(pulses: &[Pulse], usual_s: f64) -> Vec<Stall> {
    let others = || pulses.iter().filter(|pulse| !pulse.is_silent());
    let completed: u64 = others().map(|pulse| pulse.completed).sum();
    let seconds: f64 = others().map(|pulse| pulse.end_s - pulse.start_s).sum();
    if (completed as f64) < USUAL_PER_S * seconds || completed == 0 {
        return Vec::new();
    }
    let rows = pulses.chunk_by(|a, b| a.is_silent() == b.is_silent());
    let stall = |row: &[Pulse]| {
        let (first, last) = (row.first()?, row.last()?);
        let most = |of: fn(&Pulse) -> u64| row.iter().map(of).max().unwrap_or_default();
        let stall = Stall {
            from_s: first.start_s,
            until_s: last.end_s,
            failed: row.iter().map(|pulse| pulse.failed).sum(),
            in_flight_max: most(|pulse| pulse.in_flight),
            disconnected_max: most(|pulse| pulse.disconnected),
        };
        (first.is_silent() && stall.seconds() > usual_s.max(SHORTEST_S)).then_some(stall)
    };
    rows.filter_map(stall).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pulse(nth: usize, completed: u64) -> Pulse {
        Pulse { start_s: nth as f64, end_s: nth as f64 + 1.0, completed, failed: 0, in_flight: 0, disconnected: 0 }
    }

    fn pulses(completed: &[u64], in_flight: u64) -> Vec<Pulse> {
        let pulse = |(nth, completed): (usize, &u64)| Pulse { in_flight, ..pulse(nth, *completed) };
        completed.iter().enumerate().map(pulse).collect()
    }

    #[test]
    fn a_server_that_hangs_is_a_stall_also_for_most_of_the_window() {
        let found = stalls(&pulses(&[9000, 4000, 0, 0, 0, 0, 0, 0], 4), 0.013);
        let stall = Stall { from_s: 2.0, until_s: 8.0, failed: 0, in_flight_max: 4, disconnected_max: 0 };
        assert_eq!(found, [stall]);
        assert_eq!(found[0].seconds(), 6.0);
        let found = stalls(&pulses(&[9000, 0, 0, 9000, 0, 9000], 4), 0.013);
        assert_eq!(
            found.iter().map(|stall| (stall.from_s, stall.until_s)).collect::<Vec<_>>(),
            [(1.0, 3.0), (4.0, 5.0)]
        );
    }

    #[test]
    fn failures_are_no_success_and_lost_connections_are_no_rest() {
        // Each client lost its connection, and was refused: what it tries fails at once, and nothing is in flight.
        let failing = |nth| Pulse { failed: 500, ..pulse(nth, 0) };
        let away = |nth| Pulse { disconnected: 8, ..pulse(nth, 0) };
        let outage = [pulse(0, 9000), Pulse { failed: 8, ..pulse(1, 3000) }, failing(2), away(3), pulse(4, 9000)];
        let stall = Stall { from_s: 2.0, until_s: 4.0, failed: 500, in_flight_max: 0, disconnected_max: 8 };
        assert_eq!(stalls(&outage, 0.013), [stall]);
        // Some fail while others succeed.
        let beside = [pulse(0, 9000), Pulse { failed: 500, ..pulse(1, 20) }, pulse(2, 9000)];
        assert_eq!(stalls(&beside, 0.013), []);
    }

    #[test]
    fn slow_transactions_clients_in_step_and_idle_clients_are_none() {
        // 100 clients that all take 5 s.
        assert_eq!(stalls(&pulses(&[0, 0, 0, 0, 100, 0, 0, 0, 0, 100], 100), 5.1), []);
        // Few transactions.
        assert_eq!(stalls(&pulses(&[1, 0, 2, 0, 0, 1], 1), 0.4), []);
        // No client was due.
        assert_eq!(stalls(&pulses(&[9000, 0, 0, 9000], 0), 0.01), []);
        assert_eq!(stalls(&[], 0.0), []);
        assert_eq!(stalls(&pulses(&[0, 0, 0], 3), 0.0), [], "nothing succeeded: that is said in another way");
    }
}
