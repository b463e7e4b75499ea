//! Which keys exist, and which one is next: shared by all clients, without a lock unless an insert takes very long.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pgdyno_workload::dist::ycsb::{Exponential, Hotspot, Latest, Scattered, Scrambled};
use pgdyno_workload::{Params, Rng};

/// The names of the distributions.
pub(super) const DISTRIBUTIONS: &[&str] = &["zipfian", "uniform", "latest", "hotspot", "exponential", "zipf"];

/// Inserted numbers that wait for an older one without a lock.
const UNDER_WAY: usize = 1 << 16;

/// The numbers of the records: those that exist, and the next one to insert.
#[derive(Debug)]
pub(super) struct Frontier {
    /// The next number to insert.
    next: AtomicU64,
    /// All numbers below it exist.
    end: AtomicU64,
    /// Inserted numbers beyond an older one that is under way, each at its place modulo the length, and increased by 1.
    inserted: Box<[AtomicU64]>,
    /// Inserted numbers for which that has no place, because an older one has been under way for so long.
    beyond: Mutex<BTreeSet<u64>>,
    /// The size of `beyond`.
    beyond_count: AtomicUsize,
    /// Whether inserts of earlier runs were looked for.
    is_known: AtomicBool,
    /// Whether the user was informed that the expected inserts are used up.
    is_reported: AtomicBool,
}

impl Frontier {
    fn new(records: u64, grows: bool) -> Self {
        let slots = if grows { UNDER_WAY } else { 0 };
        Self {
            next: AtomicU64::new(records),
            end: AtomicU64::new(records),
            inserted: (0..slots).map(|_| AtomicU64::new(0)).collect(),
            beyond: Mutex::default(),
            beyond_count: AtomicUsize::new(0),
            is_known: AtomicBool::new(!grows),
            is_reported: AtomicBool::new(false),
        }
    }

    /// Returns the youngest number that exists.
    pub(super) fn last(&self) -> u64 {
        self.end.load(Ordering::Relaxed).saturating_sub(1)
    }

    /// Returns a number for an insert, which no other client gets.
    pub(super) fn take(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Notes that a number exists now.
    pub(super) fn note(&self, number: u64) {
        // Sequentially consistent: of two clients at the end, one must see what the other has noted.
        let slot = |number: u64| &self.inserted[number as usize % self.inserted.len()];
        if number < self.end.load(Ordering::SeqCst) + self.inserted.len() as u64 {
            slot(number).store(number + 1, Ordering::SeqCst);
        } else {
            self.with_beyond(|beyond| beyond.insert(number));
        }
        let is_beyond =
            |end| self.beyond_count.load(Ordering::SeqCst) > 0 && self.with_beyond(|beyond| beyond.contains(&end));
        let mut end = self.end.load(Ordering::SeqCst);
        while slot(end).load(Ordering::SeqCst) == end + 1 || is_beyond(end) {
            // A client that fails here finds that another one went on.
            end = match self.end.compare_exchange(end, end + 1, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => {
                    if self.beyond_count.load(Ordering::SeqCst) > 0 {
                        self.with_beyond(|beyond| beyond.remove(&end));
                    }
                    end + 1
                }
                Err(end) => end,
            };
        }
    }

    /// Looks at or changes the numbers that have no place among `inserted`.
    fn with_beyond<T>(&self, access: impl FnOnce(&mut BTreeSet<u64>) -> T) -> T {
        let mut beyond = self.beyond.lock().unwrap_or_else(PoisonError::into_inner);
        let result = access(&mut beyond);
        self.beyond_count.store(beyond.len(), Ordering::SeqCst);
        result
    }

    /// Returns true if nobody has looked for inserts of earlier runs.
    pub(super) fn is_unknown(&self) -> bool {
        !self.is_known.load(Ordering::Acquire)
    }

    /// Notes that all numbers below `end` exist already.
    pub(super) fn found(&self, end: u64) {
        self.next.fetch_max(end, Ordering::AcqRel);
        self.end.fetch_max(end, Ordering::AcqRel);
        self.is_known.store(true, Ordering::Release);
    }
}

/// Search for the first number that does not exist: in steps that double, then by halves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Search {
    /// All numbers below it exist.
    low: u64,
    /// It does not exist, if it is known.
    high: Option<u64>,
    step: u64,
}

impl Search {
    pub(super) fn new(records: u64) -> Self {
        Self { low: records, high: None, step: 1 }
    }

    /// Returns the number to look for; `None` at the end of the search.
    pub(super) fn asks(&self) -> Option<u64> {
        match self.high {
            None => Some(self.low + self.step - 1),
            Some(high) if self.low < high => Some(self.low.midpoint(high)),
            Some(_) => None,
        }
    }

    /// Takes the answer.
    pub(super) fn take_answer(&mut self, exists: bool) {
        let Some(asked) = self.asks() else { return };
        match exists {
            true => (self.low, self.step) = (asked + 1, self.step * 2),
            false => self.high = Some(asked),
        }
    }

    /// Returns the first number that does not exist.
    pub(super) fn end(&self) -> u64 {
        self.low
    }
}

/// How keys are drawn.
#[derive(Debug)]
pub(super) struct Keys {
    records: u64,
    distribution: Distribution,
    /// Room for inserts among the keys of zipfian.
    expected: u64,
    frontier: Arc<Frontier>,
}

#[derive(Clone, Copy, Debug)]
enum Distribution {
    Zipfian(Scrambled),
    Uniform,
    Latest(Latest),
    Hotspot(Hotspot),
    Exponential(Exponential),
    Zipf(Scattered),
}

impl Keys {
    pub(super) fn new(records: u64, params: &Params, grows: bool) -> Self {
        let theta = params.thousandths("zipfian-constant") as f64 / 1e3;
        let expected = match (grows, params.integer("expected-inserts").unsigned_abs()) {
            (false, _) => 0,
            (true, 0) => records / 10,
            (true, given) => given,
        };
        let distribution = match params.text("distribution") {
            "uniform" => Distribution::Uniform,
            "latest" => Distribution::Latest(Latest::new(records - 1, theta)),
            "hotspot" => Distribution::Hotspot(Hotspot::new(records, 0.2, 0.8)),
            "exponential" => Distribution::Exponential(Exponential::new(records)),
            "zipf" => Distribution::Zipf(Scattered::new(records, theta)),
            // YCSB counts one number more, and draws again where it does not exist.
            _ => Distribution::Zipfian(Scrambled::new(records + 1 + expected, theta)),
        };
        Self { records, distribution, expected, frontier: Arc::new(Frontier::new(records, grows)) }
    }

    /// Returns what a client draws keys with.
    pub(super) fn chooser(&self) -> Chooser {
        Chooser {
            records: self.records,
            distribution: self.distribution,
            expected: self.expected,
            frontier: Arc::clone(&self.frontier),
        }
    }
}

/// Draws keys for one client.
#[derive(Debug)]
pub(super) struct Chooser {
    pub(super) records: u64,
    distribution: Distribution,
    expected: u64,
    pub(super) frontier: Arc<Frontier>,
}

impl Chooser {
    /// Draws the number of a record that exists.
    #[inline]
    pub(super) fn draw(&mut self, rng: &mut Rng) -> u64 {
        let last = self.frontier.last();
        loop {
            let number = match &mut self.distribution {
                Distribution::Zipfian(scrambled) => scrambled.draw(rng),
                Distribution::Uniform => rng.up_to(self.records - 1),
                Distribution::Latest(latest) => latest.draw(rng, last),
                Distribution::Hotspot(hotspot) => hotspot.draw(rng),
                Distribution::Exponential(exponential) => exponential.draw(rng, last),
                Distribution::Zipf(zipf) => zipf.draw(rng),
            };
            if number <= last {
                return number;
            }
        }
    }

    /// Returns what the user is to know when this number is inserted, once.
    pub(super) fn remark(&self, number: u64) -> Option<String> {
        let is_beyond = matches!(self.distribution, Distribution::Zipfian(_)) && number > self.records + self.expected;
        if !is_beyond || self.frontier.is_reported.swap(true, Ordering::Relaxed) {
            return None;
        }
        Some(format!(
            "as many records were inserted since the load as were expected ({}): zipfian never draws those that are \
             inserted from now on; expect more with -D expected-inserts=N, or load the data again with --replace",
            self.expected
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_waits_for_the_oldest_insert() {
        let frontier = Frontier::new(10, true);
        let taken = [frontier.take(), frontier.take(), frontier.take()];
        assert_eq!((taken, frontier.last()), ([10, 11, 12], 9));
        frontier.note(12);
        frontier.note(11);
        assert_eq!(frontier.last(), 9);
        frontier.note(10);
        assert_eq!(frontier.last(), 12);
    }

    #[test]
    fn clients_on_several_threads_take_each_number_once() {
        let frontier = Frontier::new(5, true);
        let work = || (0..50_000).map(|_| frontier.take()).inspect(|number| frontier.note(*number)).collect::<Vec<_>>();
        let mut all: Vec<_> = std::thread::scope(|scope| {
            let threads = [(); 4].map(|()| scope.spawn(work));
            threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        all.sort_unstable();
        assert_eq!(all, (5..200_005).collect::<Vec<_>>());
        assert_eq!(frontier.last(), 200_004);
    }

    #[test]
    fn an_insert_that_is_under_way_for_long_stops_nothing() {
        let frontier = Frontier::new(5, true);
        let slow = frontier.take();
        let others = 3 * UNDER_WAY as u64;
        (0..others).map(|_| frontier.take()).for_each(|number| frontier.note(number));
        assert_eq!(frontier.last(), 4);
        frontier.note(slow);
        assert_eq!(frontier.last(), 5 + others);
    }

    #[test]
    fn a_search_finds_what_earlier_runs_inserted() {
        for end in [100, 101, 102, 103, 107, 1_000, 123_456] {
            let (mut search, mut questions) = (Search::new(100), 0);
            while let Some(asked) = search.asks() {
                search.take_answer(asked < end);
                questions += 1;
            }
            assert_eq!(search.end(), end);
            assert!(questions < 40, "{questions}");
        }
        let mut search = Search::new(100);
        search.take_answer(false);
        assert_eq!(search.asks(), None, "one question where nothing was inserted");
    }

    #[test]
    fn every_distribution_draws_only_records_that_exist() {
        let mut rng = Rng::new(3);
        for (name, records) in DISTRIBUTIONS.iter().flat_map(|name| [1, 2, 10, 1_000].map(|records| (*name, records))) {
            for meta in [&super::super::A, &super::super::E] {
                let params = Params::new(meta.id, meta.params, [("distribution", name)]).unwrap();
                let mut chooser = Keys::new(records, &params, meta.id == "ycsb-e").chooser();
                assert!((0..2_000).all(|_| chooser.draw(&mut rng) < records), "{name} {records}");
            }
        }
    }

    #[test]
    fn new_records_are_drawn_once_they_exist() {
        let mut rng = Rng::new(3);
        let params = Params::new("ycsb-e", super::super::E.params, [("expected-inserts", "100")]).unwrap();
        let mut chooser = Keys::new(100, &params, true).chooser();
        for _ in 0..100 {
            let number = chooser.frontier.take();
            assert_eq!(chooser.remark(number), None);
            chooser.frontier.note(number);
        }
        assert!((0..2_000).any(|_| chooser.draw(&mut rng) >= 190));
        let number = chooser.frontier.take() + 1;
        assert!(chooser.remark(number).unwrap().contains("as were expected (100)"));
        assert_eq!(chooser.remark(number), None, "reported once");
    }
}
