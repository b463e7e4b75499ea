//! Parts as bytes, for other machines. Numbers are LEB128, histograms HdrHistogram's V2 form, deflated.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};
use pgdyno_wire::ErrorClass;

use crate::{
    ClientSpread, Delays, Digest, GroupInterval, InFlight, IntervalPart, Latency, Phase, StatementRows, StmtPart,
    ThreadCounts, TxnPart, WorkerUsage,
};

/// Version of the form, the first byte.
const FORM: u64 = 4;
/// The last interval of any run, and its end: a century.
const INDEX_MAX: u64 = 1 << 32;
const TIME_NS_MAX: u64 = 1 << 62;
/// A form with more elements than this in one list is not ours: it would only take memory.
const MOST: u64 = 1 << 22;

/// The error of bytes that are no part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the counts of an interval cannot be read: {0}")]
pub struct NoPart(String);

impl NoPart {
    fn new(why: impl ToString) -> Self {
        Self(why.to_string())
    }
}

type Read<T> = Result<T, NoPart>;

/// The most elements that the lists of a run's intervals have. Each element may take some hundred times the memory of its
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListBounds {
    /// Groups of clients, which must be as many.
    pub groups: usize,
    /// Kinds of transactions.
    pub txns: usize,
    /// Statements.
    pub stmts: usize,
    /// Counts beside transactions.
    pub tallies: usize,
    /// Engine threads of the source.
    pub threads: usize,
    /// Clients of all groups: no more transactions are in flight at the end.
    pub clients: usize,
}

/// Writes numbers.
#[derive(Default)]
struct Out(Vec<u8>);

impl Out {
    fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.0.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    fn numbers(&mut self, numbers: impl IntoIterator<Item = u64>) {
        numbers.into_iter().for_each(|n| self.number(n));
    }

    fn wide(&mut self, n: u128) {
        self.numbers([n as u64, (n >> 64) as u64]);
    }

    fn list<T>(&mut self, list: &[T], each: impl Fn(&mut Self, &T)) {
        self.number(list.len() as u64);
        list.iter().for_each(|item| each(self, item));
    }

    fn option<T>(&mut self, option: Option<&T>, some: impl Fn(&mut Self, &T)) {
        self.number(option.is_some().into());
        if let Some(value) = option {
            some(self, value);
        }
    }
}

/// Reads what [`Out`] wrote.
struct In<'a>(&'a [u8]);

impl In<'_> {
    fn number(&mut self) -> Read<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let (first, rest) = self.0.split_first().ok_or_else(|| NoPart::new("they are cut off"))?;
            self.0 = rest;
            if shift == 63 && *first > 1 {
                return Err(NoPart::new("a number is too large"));
            }
            number |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                return Ok(number);
            }
            shift += 7;
        }
    }

    fn flag(&mut self) -> Read<bool> {
        self.number().map(|n| n != 0)
    }

    fn wide(&mut self) -> Read<u128> {
        Ok(u128::from(self.number()?) | u128::from(self.number()?) << 64)
    }

    fn length(&mut self) -> Read<usize> {
        match self.number()? {
            length if length > MOST => Err(NoPart::new("a list is too long")),
            length => Ok(length as usize),
        }
    }

    /// Reads a list of at most so many elements.
    fn list<T>(&mut self, most: usize, each: impl Fn(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        // Grows as elements come: a length alone takes no memory.
        match self.length()? {
            length if length > most => {
                Err(NoPart(format!("a list has {length} elements, and the run's have at most {most}")))
            }
            length => (0..length).map(|_| each(self)).collect(),
        }
    }

    fn option<T>(&mut self, some: impl Fn(&mut Self) -> Read<T>) -> Read<Option<T>> {
        if self.flag()? { some(self).map(Some) } else { Ok(None) }
    }

    fn bytes(&mut self) -> Read<&[u8]> {
        let length = self.length()?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(|| NoPart::new("they are cut off"))?;
        self.0 = rest;
        Ok(bytes)
    }
}

impl IntervalPart {
    /// Returns it as bytes: some kilobytes, by kinds of transactions, statements and groups.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Out::default();
        let phase = [Phase::Ramp, Phase::Measure, Phase::Drain].iter().position(|phase| *phase == self.phase);
        out.numbers([FORM, phase.unwrap_or_default() as u64, self.index, self.start_ns, self.end_ns]);
        out.list(&self.groups, |out, group| {
            group.part.write(out);
            out.number(group.in_flight);
        });
        out.list(&self.workers, |out, usage| {
            out.numbers([usage.user_ns, usage.sys_ns, usage.run_delay_ns, usage.beside_ns, usage.absent_ns]);
        });
        out.0
    }

    /// Reads what [`IntervalPart::to_bytes`] wrote for a run of this shape.
    ///
    /// # Errors
    /// Describes the first mistake.
    pub fn from_bytes(bytes: &[u8], shape: &ListBounds) -> Result<Self, NoPart> {
        let mut input = In(bytes);
        let form = input.number()?;
        if form != FORM {
            return Err(NoPart(format!("form {form} is unknown, this program knows {FORM}")));
        }
        let phase = match input.number()? {
            0 => Phase::Ramp,
            1 => Phase::Measure,
            2 => Phase::Drain,
            other => return Err(NoPart(format!("there is no phase {other}"))),
        };
        let part = Self {
            phase,
            index: input.number()?,
            start_ns: input.number()?,
            end_ns: input.number()?,
            groups: input.list(shape.groups, |input| {
                Ok(GroupInterval { part: ThreadCounts::read(input, shape)?, in_flight: input.number()? })
            })?,
            workers: input.list(shape.threads, |input| {
                let [user_ns, sys_ns] = [input.number()?, input.number()?];
                let [run_delay_ns, beside_ns] = [input.number()?, input.number()?];
                Ok(WorkerUsage { user_ns, sys_ns, run_delay_ns, beside_ns, absent_ns: input.number()? })
            })?,
        };
        if part.groups.len() != shape.groups {
            return Err(NoPart(format!(
                "they have {} groups of clients instead of {}",
                part.groups.len(),
                shape.groups
            )));
        }
        if part.index > INDEX_MAX || part.end_ns > TIME_NS_MAX || part.start_ns > part.end_ns {
            return Err(NoPart::new("they are of no time of a run"));
        }
        if input.0.is_empty() { Ok(part) } else { Err(NoPart::new("something follows them")) }
    }
}

impl ThreadCounts {
    fn write(&self, out: &mut Out) {
        let Self {
            txns,
            stmts,
            lost,
            reconnected,
            outage_ns_max,
            connected,
            connecting_ns,
            notices_dropped,
            scheduled,
            still_waiting,
            still_waiting_ns_max,
            in_flight,
            clients,
            first_text_ns,
            tallies,
            read_delay,
            timer_lateness,
        } = self;
        out.list(txns, |out, txn| txn.write(out));
        out.list(stmts, |out, stmt| stmt.write(out));
        out.numbers([*lost, *reconnected, *outage_ns_max, *connected, *connecting_ns, *notices_dropped]);
        out.option(scheduled.as_ref(), |out, n| out.number(*n));
        out.numbers([*still_waiting, *still_waiting_ns_max]);
        out.list(in_flight, |out, one| out.numbers([one.txn as u64, one.service_ns, one.response_ns]));
        clients.write(out);
        out.option(first_text_ns.as_ref(), |out, n| out.number(*n));
        out.list(tallies, |out, n| out.number(*n));
        read_delay.write(out);
        timer_lateness.write(out);
    }

    fn read(input: &mut In<'_>, shape: &ListBounds) -> Read<Self> {
        Ok(Self {
            txns: input.list(shape.txns, TxnPart::read)?,
            stmts: input.list(shape.stmts, StmtPart::read)?,
            lost: input.number()?,
            reconnected: input.number()?,
            outage_ns_max: input.number()?,
            connected: input.number()?,
            connecting_ns: input.number()?,
            notices_dropped: input.number()?,
            scheduled: input.option(In::number)?,
            still_waiting: input.number()?,
            still_waiting_ns_max: input.number()?,
            in_flight: input.list(shape.clients, |input| {
                let txn = input.number()? as usize;
                if txn >= shape.txns {
                    return Err(NoPart::new("a transaction in flight is of no kind of the run"));
                }
                Ok(InFlight { txn, service_ns: input.number()?, response_ns: input.number()? })
            })?,
            clients: ClientSpread::read(input)?,
            first_text_ns: input.option(In::number)?,
            tallies: input.list(shape.tallies, In::number)?,
            read_delay: Delays::read(input)?,
            timer_lateness: Delays::read(input)?,
        })
    }
}

impl ClientSpread {
    fn write(&self, out: &mut Out) {
        let Self { clients, committed, committed_squared, response_ns, response_ns_squared } = self;
        out.numbers([*clients, *committed]);
        [committed_squared, response_ns, response_ns_squared].into_iter().for_each(|n| out.wide(*n));
    }

    fn read(input: &mut In<'_>) -> Read<Self> {
        Ok(Self {
            clients: input.number()?,
            committed: input.number()?,
            committed_squared: input.wide()?,
            response_ns: input.wide()?,
            response_ns_squared: input.wide()?,
        })
    }
}

impl TxnPart {
    fn write(&self, out: &mut Out) {
        let Self { started, committed, rolled_back, failed, retried, retries, skipped, late, service, response, lag } =
            self;
        out.numbers([*started, *committed, *rolled_back]);
        out.numbers(*failed);
        out.numbers([*retried, *retries, *skipped, *late]);
        service.write(out);
        out.option(response.as_ref(), |out, latency| latency.write(out));
        out.option(lag.as_ref(), |out, latency| latency.write(out));
    }

    fn read(input: &mut In<'_>) -> Read<Self> {
        let (started, committed, rolled_back) = (input.number()?, input.number()?, input.number()?);
        let mut failed = [0; ErrorClass::ALL.len()];
        for count in &mut failed {
            *count = input.number()?;
        }
        Ok(Self {
            started,
            committed,
            rolled_back,
            failed,
            retried: input.number()?,
            retries: input.number()?,
            skipped: input.number()?,
            late: input.number()?,
            service: Latency::read(input)?,
            response: input.option(Latency::read)?,
            lag: input.option(Latency::read)?,
        })
    }
}

impl StmtPart {
    fn write(&self, out: &mut Out) {
        let Self { failed, retried, latency, rows } = self;
        out.numbers([*failed, *retried]);
        latency.write(out);
        out.option(rows.as_deref(), |out, rows| {
            let StatementRows { count, digest, answered, first_row_ns } = rows;
            out.numbers([*count, *answered, *first_row_ns]);
            out.option(digest.as_ref(), |out, digest| out.numbers([digest.unordered, digest.ordered]));
        });
    }

    fn read(input: &mut In<'_>) -> Read<Self> {
        let rows = |input: &mut In<'_>| {
            let (count, answered, first_row_ns) = (input.number()?, input.number()?, input.number()?);
            let digest = input.option(|input| Ok(Digest { unordered: input.number()?, ordered: input.number()? }))?;
            Ok(Box::new(StatementRows { count, digest, answered, first_row_ns }))
        };
        Ok(Self {
            failed: input.number()?,
            retried: input.number()?,
            latency: Latency::read(input)?,
            rows: input.option(rows)?,
        })
    }
}

impl Latency {
    fn write(&self, out: &mut Out) {
        let sums = self.sums();
        out.numbers([sums.sums_only.into(), sums.count]);
        if sums.count == 0 {
            return;
        }
        out.wide(sums.sum_ns);
        out.wide(sums.sum_squares_ns2);
        out.numbers([sums.min_ns, sums.max_ns]);
        let mut bytes = Vec::new();
        if let Some(histogram) = self.histogram() {
            // Memory takes whatever is written to it, and the counts are far below those that the form cannot hold.
            drop(V2DeflateSerializer::new().serialize(&histogram, &mut bytes));
        }
        out.number(bytes.len() as u64);
        out.0.extend(bytes);
    }

    fn read(input: &mut In<'_>) -> Read<Self> {
        let mut sums = Sums { sums_only: input.flag()?, count: input.number()?, ..Sums::default() };
        if sums.count == 0 {
            return Ok(if sums.sums_only { Self::sums_only() } else { Self::default() });
        }
        (sums.sum_ns, sums.sum_squares_ns2) = (input.wide()?, input.wide()?);
        (sums.min_ns, sums.max_ns) = (input.number()?, input.number()?);
        let bytes = input.bytes()?;
        let histogram = match bytes {
            [] => None,
            bytes => Some(histogram(bytes)?),
        };
        Self::of(&sums, histogram.as_ref()).ok_or_else(|| NoPart::new("a histogram does not have its latencies"))
    }
}

/// Reads a histogram of ours: one with another range or resolution would take other memory.
fn histogram(mut bytes: &[u8]) -> Read<Histogram<u64>> {
    Deserializer::new().deserialize(&mut bytes).map_err(|error| NoPart(format!("a histogram: {error:?}")))
}

/// Exact figures of a [`Latency`], without its histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) sums_only: bool,
    pub(crate) count: u64,
    pub(crate) sum_ns: u128,
    pub(crate) sum_squares_ns2: u128,
    pub(crate) min_ns: u64,
    pub(crate) max_ns: u64,
}

impl Delays {
    fn write(&self, out: &mut Out) {
        let filled: Vec<_> = self.by_bucket().collect();
        out.list(&filled, |out, (bucket, count)| out.numbers([*bucket as u64, *count]));
        out.numbers([self.sum_ns(), self.max_ns()]);
    }

    fn read(input: &mut In<'_>) -> Read<Self> {
        let filled = input.list(MOST as usize, |input| Ok((input.number()? as usize, input.number()?)))?;
        let (sum_ns, max_ns) = (input.number()?, input.number()?);
        Self::of(&filled, sum_ns, max_ns).ok_or_else(|| NoPart::new("there is no such bucket of delays"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClientWork, Recorder};
    use proptest::prelude::*;

    /// The shape of [`interval`].
    const SHAPE: ListBounds = ListBounds { groups: 2, txns: 3, stmts: 600, tallies: 2, threads: 2, clients: 4 };

    /// Returns an interval with something in every field.
    fn interval(seed: u64) -> IntervalPart {
        let mut recorder = Recorder::new(3, 4, seed.is_multiple_of(2));
        recorder.count_tallies(2);
        recorder.tallies()[1] = seed;
        let mut n = seed;
        for nth in 0..20 {
            n = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let ns = n >> (4 + nth);
            let txn = nth % 3;
            recorder.started(txn);
            match nth % 4 {
                0 => recorder.failed(txn, ErrorClass::ALL[nth % ErrorClass::ALL.len()]),
                3 => {}
                _ => recorder.completed(txn, nth % 2 == 0, ns, ns.saturating_add(7), nth % 5 == 0),
            }
            recorder.statement(nth % 3, ns);
            recorder.rows(
                nth % 4,
                &StatementRows {
                    count: n >> 20,
                    answered: 1,
                    first_row_ns: 2,
                    digest: (nth % 2 == 0).then_some(Digest { unordered: n, ordered: !n }),
                },
            );
            recorder.statement_failed(nth % 4);
            recorder.statement_retried(1);
            recorder.retried(txn, nth % 2 == 1);
            recorder.skipped(txn, 3);
            recorder.read_after(ns);
            recorder.timer_late(ns / 3);
            recorder.connected(ns >> 20);
        }
        recorder.lost();
        recorder.reconnected(seed);
        recorder.notice_dropped();
        recorder.still_waiting(4, seed >> 3);
        recorder.first_text(seed);
        recorder.in_flight_at_end(InFlight { txn: 0, service_ns: seed, response_ns: u64::MAX });
        recorder.client_at_end(ClientWork { committed: seed, response_ns: u64::MAX });
        if seed.is_multiple_of(3) {
            recorder.scheduled_until_end(seed);
        }
        let usage = WorkerUsage { user_ns: seed, sys_ns: 2, run_delay_ns: u64::MAX, beside_ns: 1, absent_ns: 9 };
        let (part, in_flight) = (recorder.take(), recorder.in_flight());
        IntervalPart {
            phase: [Phase::Ramp, Phase::Measure, Phase::Drain][(seed % 3) as usize],
            index: seed % INDEX_MAX,
            start_ns: 1,
            end_ns: 1 + seed / 8,
            groups: [(part, in_flight), (ThreadCounts::new(1, 600, true), 0)]
                .map(|(part, in_flight)| GroupInterval { part, in_flight })
                .into(),
            workers: vec![usage; 2],
        }
    }

    proptest! {
        // A case has some forty histograms of 290 kB.
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn counts_are_read_back_as_they_were_written(seed: u64) {
            let interval = interval(seed);
            prop_assert_eq!(IntervalPart::from_bytes(&interval.to_bytes(), &SHAPE).unwrap(), interval);
        }

        /// A machine on the network may send anything.
        #[test]
        fn changed_bytes_are_refused_or_read_and_never_a_panic(seed: u64, at: usize, to: u8, end: usize) {
            let mut bytes = interval(seed).to_bytes();
            let at = at % bytes.len();
            bytes[at] = to;
            bytes.truncate(at + end % (bytes.len() - at) + 1);
            drop(IntervalPart::from_bytes(&bytes, &SHAPE));
        }
    }

    #[test]
    fn counts_of_another_shape_are_refused_before_they_take_memory() {
        let bytes = interval(7).to_bytes();
        for shape in [
            ListBounds { groups: 1, ..SHAPE },
            ListBounds { groups: 3, ..SHAPE },
            ListBounds { txns: 2, ..SHAPE },
            ListBounds { stmts: 599, ..SHAPE },
            ListBounds { tallies: 1, ..SHAPE },
            ListBounds { threads: 1, ..SHAPE },
            ListBounds { clients: 0, ..SHAPE },
        ] {
            assert!(IntervalPart::from_bytes(&bytes, &shape).is_err(), "{shape:?}");
        }
        let late = IntervalPart { index: INDEX_MAX + 1, ..interval(7) };
        assert!(IntervalPart::from_bytes(&late.to_bytes(), &SHAPE).is_err());
    }

    #[test]
    fn what_is_cut_off_is_reported() {
        let bytes = interval(7).to_bytes();
        for end in (0..bytes.len()).step_by(13) {
            assert!(IntervalPart::from_bytes(&bytes[..end], &SHAPE).is_err(), "{end} of {}", bytes.len());
        }
        let error = |bytes: &[u8]| IntervalPart::from_bytes(bytes, &SHAPE).unwrap_err().to_string();
        assert!(error(&[1, 0]).contains(&format!("form 1 is unknown, this program knows {FORM}")));
        assert!(error(&[bytes.as_slice(), &[0]].concat()).ends_with("something follows them"));
        assert!(error(&[FORM as u8, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 1]).ends_with("a list is too long"));
    }
}
