//! How evenly transactions and their time are spread over clients.

/// What one client did since the start of the measured window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientWork {
    /// Transactions that it committed.
    pub committed: u64,
    /// Response time of all transactions that it completed.
    pub response_ns: u64,
}

impl ClientWork {
    /// Adds a completed transaction.
    #[inline]
    pub fn completed(&mut self, committed: bool, response_ns: u64) {
        self.committed += u64::from(committed);
        self.response_ns = self.response_ns.saturating_add(response_ns);
    }
}

/// Sums over clients, which give mean and standard deviation, and add up over threads and drivers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientSpread {
    /// Clients.
    pub clients: u64,
    /// Sum of their committed transactions.
    pub committed: u64,
    /// Sum of the squares of these.
    pub committed_squared: u128,
    /// Sum of their response times.
    pub response_ns: u128,
    /// Sum of the squares of these.
    pub response_ns_squared: u128,
}

impl ClientSpread {
    /// Adds a client.
    pub fn add(&mut self, work: ClientWork) {
        let (committed, response_ns) = (u128::from(work.committed), u128::from(work.response_ns));
        self.merge(&Self {
            clients: 1,
            committed: work.committed,
            committed_squared: committed * committed,
            response_ns,
            response_ns_squared: response_ns * response_ns,
        });
    }

    /// Adds other clients. Sums come from other machines, too: they end at the largest number.
    pub fn merge(&mut self, other: &Self) {
        self.clients = self.clients.saturating_add(other.clients);
        self.committed = self.committed.saturating_add(other.committed);
        self.committed_squared = self.committed_squared.saturating_add(other.committed_squared);
        self.response_ns = self.response_ns.saturating_add(other.response_ns);
        self.response_ns_squared = self.response_ns_squared.saturating_add(other.response_ns_squared);
    }

    /// Returns mean and standard deviation, of the clients themselves and not of a sample, of committed transactions for each
    /// client; `None` without clients.
    #[must_use]
    pub fn committed_mean_stddev(&self) -> Option<(f64, f64)> {
        self.mean_stddev(u128::from(self.committed), self.committed_squared)
    }

    /// Returns the same of the response time in nanoseconds.
    #[must_use]
    pub fn response_ns_mean_stddev(&self) -> Option<(f64, f64)> {
        self.mean_stddev(self.response_ns, self.response_ns_squared)
    }

    fn mean_stddev(&self, sum: u128, squares: u128) -> Option<(f64, f64)> {
        let n = u128::from(self.clients);
        // n²·variance, in integers where it fits: the difference of two large numbers.
        let scaled = match (n.checked_mul(squares), sum.checked_mul(sum)) {
            (Some(squares), Some(sum)) => squares.saturating_sub(sum) as f64,
            _ => (n as f64 * squares as f64 - sum as f64 * sum as f64).max(0.0),
        };
        (n > 0).then(|| (sum as f64 / n as f64, scaled.sqrt() / n as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_are_those_of_all_clients_of_all_threads() {
        let thread = |clients: &[(u64, u64)]| {
            let mut spread = ClientSpread::default();
            clients.iter().for_each(|&(committed, response_ns)| spread.add(ClientWork { committed, response_ns }));
            spread
        };
        let mut all = thread(&[(2, 60_000_000_001), (4, 60_000_000_001)]);
        all.merge(&thread(&[(4, 60_000_000_003), (4, 60_000_000_001), (5, 60_000_000_001)]));
        all.merge(&thread(&[(5, 60_000_000_001), (7, 60_000_000_001), (9, 60_000_000_001)]));
        assert_eq!(all.committed_mean_stddev(), Some((5.0, 2.0)));
        // A deviation of a nanosecond is not lost in the squares of a minute: sqrt(7/64)·2.
        let (mean, stddev) = all.response_ns_mean_stddev().unwrap();
        assert_eq!(mean, 60_000_000_001.25);
        assert!((stddev - 7_f64.sqrt() / 4.0).abs() < 1e-9, "{stddev}");
        assert_eq!(ClientSpread::default().committed_mean_stddev(), None);
    }

    #[test]
    fn sums_of_a_strange_driver_do_not_overflow() {
        let most = ClientWork { committed: u64::MAX, response_ns: u64::MAX };
        let mut spread = ClientSpread::default();
        spread.add(most);
        spread.add(most);
        let (mean, stddev) = spread.response_ns_mean_stddev().unwrap();
        assert!(mean.is_finite() && stddev.is_finite());
    }
}
