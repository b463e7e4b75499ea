//! The knee of a curve of latency against load.

/// Returns the place in `curve`, pairs of throughput and mean response time by load, where throughput over response
/// time is greatest: Kleinrock's *power*. Below it more load costs little latency, above it latency grows faster than
/// throughput. Returns `None` for fewer than three points.
///
/// Source: L. Kleinrock, "Power and Deterministic Rules of Thumb for Probabilistic Problems in Computer
/// Communications", ICC 1979.
#[must_use]
pub fn knee(curve: &[(f64, f64)]) -> Option<usize> {
    if curve.len() < 3 {
        return None;
    }
    let power = curve.iter().map(|(throughput, latency)| if *latency > 0.0 { throughput / latency } else { 0.0 });
    power.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_of_one_server_has_its_knee_at_half_its_capacity() {
        // M/M/1: the mean response time at load ρ is 1 / (1 − ρ).
        let curve: Vec<_> = (1..20).map(|n| f64::from(n) / 20.0).map(|load| (load, 1.0 / (1.0 - load))).collect();
        assert_eq!(knee(&curve).map(|at| curve[at].0), Some(0.5));
        assert_eq!(knee(&curve[..2]), None);
    }
}
