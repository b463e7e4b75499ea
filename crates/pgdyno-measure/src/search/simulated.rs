//! The search against servers with a known limit.

use super::*;

/// A stream of random numbers (SplitMix64).
struct Random(u64);

impl Random {
    /// Returns a uniform number above 0, up to 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) + 1) as f64 / (1u64 << 53) as f64
    }

    fn exponential(&mut self, rate: f64) -> f64 {
        -self.unit().ln() / rate
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

fn bounds() -> Bounds {
    Bounds { min: 1.0, max: 2000.0, start: 700.0, growth: 1.4, whole: false, precision: 0.05, budget: 60, fill: 3 }
}

/// Searches to the end. Returns the result and the number of measurements.
fn search(bounds: Bounds, mut measure: impl FnMut(f64) -> Seen) -> (SearchResult, Search, usize) {
    let (mut search, mut spent) = (Search::new(bounds), 0);
    while let Some(load) = search.next() {
        assert!(load >= bounds.min && load <= bounds.max, "{load}");
        assert!(!bounds.whole || load.fract() == 0.0, "{load}");
        spent += 1;
        assert!(spent <= bounds.budget, "it ends");
        search.saw(load, measure(load));
    }
    (search.limit(), search, spent)
}

/// Returns the share of `searches` whose limit is within 15 % below and 3 % above the true one, and the mean number
/// of measurements.
fn share_that_finds(truth: f64, searches: u64, mut measure: impl FnMut(&mut Random, f64) -> Seen) -> (f64, f64) {
    let (mut found, mut measurements) = (0.0, 0.0);
    for seed in 0..searches {
        let mut random = Random(seed * 7919 + 1);
        let (limit, _, spent) = search(bounds(), |load| measure(&mut random, load));
        let near = limit.kept.is_some_and(|kept| kept >= 0.85 * truth && kept <= 1.03 * truth);
        found += f64::from(u8::from(near));
        measurements += spent as f64;
    }
    (found / searches as f64, measurements / searches as f64)
}

/// The objective: p99 below this.
const BOUND_S: f64 = 0.02;
const CAPACITY: f64 = 1000.0;

/// The highest load at which the p99 of an M/M/1 queue, ln 100 / (μ − λ), is below the bound.
fn truth() -> f64 {
    CAPACITY - 100f64.ln() / BOUND_S
}

/// One server with exponential service: Lindley's recursion over ten seconds of arrivals.
fn queue(random: &mut Random, load: f64) -> Seen {
    let (mut wait, mut responses) = (0.0_f64, Vec::new());
    let arrivals = (load * 10.0) as usize;
    for _ in 0..arrivals.max(1) {
        let service = random.exponential(CAPACITY);
        responses.push(wait + service);
        wait = (wait + service - random.exponential(load)).max(0.0);
    }
    let nth = responses.len() * 99 / 100;
    let p99 = *responses.select_nth_unstable_by(nth, f64::total_cmp).1;
    Seen::Margin((BOUND_S / p99).ln())
}

#[test]
fn a_queue_of_one_server_is_found_out_in_19_of_20_searches() {
    let (share, measurements) = share_that_finds(truth(), 100, queue);
    assert!(share >= 0.95, "{share}");
    assert!(measurements <= 30.0, "{measurements}");
}

#[test]
fn noise_and_stalls_are_seen_through_in_19_of_20_searches() {
    // Each figure is 15 % off, and one in thirty four times as high: a checkpoint, another program.
    let noisy = |random: &mut Random, load: f64| {
        if load >= CAPACITY {
            return Seen::Overloaded;
        }
        let stall = if random.unit() < 1.0 / 30.0 { 4f64.ln() } else { 0.0 };
        let p99 = 100f64.ln() / (CAPACITY - load);
        Seen::Margin((BOUND_S / p99).ln() - 0.15 * random.normal() - stall)
    };
    let (share, measurements) = share_that_finds(truth(), 400, noisy);
    assert!(share >= 0.95, "{share}");
    assert!(measurements <= 40.0, "{measurements}");
}

/// Returns the shares of searches whose bracket holds the truth, give or take 3 %, and that see a drift, and the mean number of
/// measurements. `capacity` returns the limit after so many measurements; the truth is the one at the end where a drift is seen,
/// else `usual`.
fn share_that_holds(usual: f64, mut capacity: impl FnMut(&mut Random, usize) -> f64) -> (f64, f64, f64) {
    const SEARCHES: u64 = 200;
    let (mut held, mut seen, mut measurements) = (0.0, 0.0, 0.0);
    for seed in 0..SEARCHES {
        let mut random = Random(seed * 7919 + 1);
        let (mut nth, mut now) = (0, 0.0);
        let (limit, _, spent) = search(bounds(), |load| {
            now = capacity(&mut random, nth);
            nth += 1;
            Seen::Margin((now / load).ln() * 4.0 + 0.1 * random.normal())
        });
        let truth = if limit.drift.is_some() { now } else { usual };
        let below = limit.kept.is_some_and(|kept| kept <= truth * 1.03);
        let above = limit.broken.is_none_or(|broken| broken >= truth * 0.97);
        held += f64::from(u8::from(below && above));
        seen += f64::from(u8::from(limit.drift.is_some()));
        measurements += spent as f64;
    }
    let n = SEARCHES as f64;
    (held / n, seen / n, measurements / n)
}

#[test]
fn a_drift_is_seen_and_the_limit_is_that_of_the_end() {
    // By so much in 25 measurements; a strong drift goes on while the search follows it.
    for (change, least) in [(-0.2, 0.9), (-0.1, 0.95), (0.1, 0.9), (0.2, 0.95)] {
        let (held, seen, measurements) = share_that_holds(1000.0, |_, nth| 1000.0 * (1.0 + change * nth as f64 / 25.0));
        assert!(held >= least && seen >= 0.9, "{change}: {held} {seen} {measurements}");
    }
    let (held, seen, measurements) = share_that_holds(1000.0, |_, _| 1000.0);
    assert!(held >= 0.95 && seen <= 0.05 && measurements <= 30.0, "{held} {seen} {measurements}");
}

#[test]
fn a_level_that_swings_slowly_does_not_hide_the_limit() {
    for (spread, persistence, least) in [(0.02, 0.9_f64, 0.95), (0.05, 0.7, 0.95), (0.05, 0.9, 0.9)] {
        let mut level = 0.0;
        let (held, seen, measurements) = share_that_holds(1000.0, |random, nth| {
            let fresh = spread * random.normal();
            level = if nth == 0 { fresh } else { persistence * level + (1.0 - persistence.powi(2)).sqrt() * fresh };
            1000.0 * f64::exp(level)
        });
        assert!(held >= least, "{spread} {persistence}: {held} {seen} {measurements}");
    }
}

#[test]
fn without_noise_the_limit_lies_between_the_ends_and_they_are_near() {
    for truth in [1.5, 3.0, 50.0, 699.0, 700.0, 701.0, 1234.5, 1800.0] {
        let (limit, _, spent) = search(bounds(), |load| Seen::Margin((truth / load).ln() * 4.0));
        let (kept, broken) = (limit.kept.unwrap(), limit.broken.unwrap());
        assert!(kept <= truth * 1.03 && broken >= truth * 0.97 && broken <= kept * 1.25, "{truth}: {limit:?}");
        assert!(spent <= 45 && !limit.exhausted, "{spent}");
    }
}

#[test]
fn clients_are_whole_and_found_exactly_where_it_is_clear() {
    let clients = Bounds { min: 1.0, max: 1000.0, start: 1.0, growth: 2.0, whole: true, ..bounds() };
    for truth in [1.0, 2.0, 3.0, 7.0, 12.0] {
        let (limit, ..) = search(clients, |load| Seen::Margin(if load <= truth { 1.0 } else { -1.0 }));
        assert_eq!((limit.kept, limit.broken), (Some(truth), Some(truth + 1.0)));
    }
    let (limit, ..) = search(clients, |_| Seen::Margin(-1.0));
    assert_eq!((limit.kept, limit.broken), (None, Some(1.0)));
    let (limit, ..) = search(clients, |_| Seen::Margin(1.0));
    assert_eq!((limit.kept, limit.broken), (Some(1000.0), None));
}

#[test]
fn a_stall_at_a_low_load_does_not_end_the_search_there() {
    let mut stalled = false;
    let (limit, search, _) = search(bounds(), |load| {
        if load == 700.0 && !stalled {
            stalled = true;
            return Seen::Overloaded;
        }
        Seen::Margin((1000.0 / load).ln() * 4.0)
    });
    assert!(limit.kept.is_some_and(|kept| kept > 900.0), "{limit:?} {search:?}");
}

#[test]
fn the_lowest_load_is_repeated_while_its_runs_disagree() {
    let lowest = Bounds { min: 700.0, max: 700.0, fill: 0, ..bounds() };
    let spent = |margins: &[f64]| {
        let mut margins = margins.iter().copied().cycle();
        search(lowest, |_| Seen::Margin(margins.next().unwrap())).2
    };
    assert_eq!([spent(&[-0.6]), spent(&[-0.9, 0.1, -0.9, -0.9, -0.9])], [CONFIRMED, REPEATS]);
}

#[test]
fn a_budget_ends_a_search_that_says_so() {
    let tight = Bounds { budget: 3, ..bounds() };
    let (limit, _, spent) = search(tight, |load| Seen::Margin((1000.0 / load).ln() * 4.0));
    assert!(limit.exhausted && spent == 3, "{limit:?}");
}

#[test]
fn the_curve_below_the_limit_is_measured_too() {
    let measured = |fill: usize| {
        let mut loads = Vec::new();
        let (limit, ..) = search(Bounds { fill, ..bounds() }, |load| {
            loads.push(load);
            Seen::Margin((1000.0 / load).ln() * 4.0)
        });
        let kept = limit.kept.unwrap();
        loads.iter().filter(|load| **load < 0.6 * kept).count()
    };
    assert_eq!((measured(0), measured(3)), (0, 2));
}
