//! Readers: each client has a connection to the target and one to a reader, and sends each transaction to one of them.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use pgdyno_measure::Latency;
use pgdyno_wire::ErrorClass;

use crate::lines::Pool;

/// What the transactions of one endpoint did in the measured window: of the target, or of a reader.
#[derive(Clone, Debug, Default)]
pub struct EndpointWork {
    /// Transactions that ended without an error.
    pub completed: u64,
    /// Transactions that failed.
    pub failed: BTreeMap<ErrorClass, u64>,
    /// Service times of those that ended without an error.
    pub service: Latency,
    /// Connections that were lost.
    pub lost: u64,
}

impl EndpointWork {
    /// Adds the work of other clients.
    pub fn merge(&mut self, other: &Self) {
        self.completed += other.completed;
        for (class, count) in &other.failed {
            *self.failed.entry(*class).or_default() += count;
        }
        self.service.merge(&other.service);
        self.lost += other.lost;
    }
}

/// Adds work by endpoint.
pub(crate) fn add_work(known: &mut Vec<EndpointWork>, more: &[EndpointWork]) {
    known.resize_with(known.len().max(more.len()), EndpointWork::default);
    known.iter_mut().zip(more).for_each(|(known, more)| known.merge(more));
}

/// How clients get a line for each transaction, where they do not keep one.
pub(crate) enum Lending {
    /// From a stock that all share.
    Shared(Pool),
    /// Each from its own two: to the target, or to a reader.
    Routed(Box<Routes>),
}

impl Lending {
    /// Returns the stock, if lines are shared.
    pub(crate) fn pool(&self) -> Option<&Pool> {
        match self {
            Self::Shared(pool) => Some(pool),
            Self::Routed(_) => None,
        }
    }

    /// Returns the routes, if there are any.
    pub(crate) fn routes(&mut self) -> Option<&mut Routes> {
        match self {
            Self::Shared(_) => None,
            Self::Routed(routes) => Some(routes),
        }
    }

    /// Returns the next client and the line for its transaction.
    #[inline]
    pub(crate) fn hand_out(&mut self) -> Option<(usize, usize)> {
        match self {
            Self::Shared(pool) => pool.hand_out(),
            Self::Routed(routes) => routes.due.pop_front(),
        }
    }

    /// Queues a client whose transaction `txn` is due.
    pub(crate) fn ask(&mut self, client: usize, txn: usize) {
        match self {
            Self::Shared(pool) => pool.ask(client),
            Self::Routed(routes) => routes.ask(client, txn),
        }
    }

    /// Frees a line.
    pub(crate) fn give_back(&mut self, line: usize) {
        match self {
            Self::Shared(pool) => pool.give_back(line),
            Self::Routed(_) => {}
        }
    }

    /// Notes that a line lost its connection.
    pub(crate) fn lose(&mut self, line: usize) {
        match self {
            Self::Shared(pool) => pool.lose(line),
            Self::Routed(routes) => routes.work[routes.owners[line].endpoint].lost += 1,
        }
    }

    /// Notes that a line has a connection again. Returns the client that waits for this one.
    pub(crate) fn revive(&mut self, line: usize) -> Option<usize> {
        match self {
            Self::Shared(pool) => {
                pool.revive(line);
                None
            }
            Self::Routed(routes) => {
                let owner = &mut routes.owners[line];
                std::mem::take(&mut owner.waits).then_some(owner.client)
            }
        }
    }
}

/// The client and the endpoint of a line.
#[derive(Clone, Copy, Debug)]
struct Owner {
    client: usize,
    /// 0 is the target; readers count from 1.
    endpoint: usize,
    /// Whether the client waits until it is open again.
    waits: bool,
}

/// The lines of one thread's clients by endpoint.
pub(crate) struct Routes {
    /// By transaction of the run, whether it only reads.
    reads: Arc<[bool]>,
    /// By client, its line to a reader, if it has one.
    of_readers: Vec<Option<usize>>,
    /// By line.
    owners: Vec<Owner>,
    /// Clients whose transaction is due, with the line for it.
    due: VecDeque<(usize, usize)>,
    /// By endpoint, since the start of the measured window.
    work: Vec<EndpointWork>,
    /// The same at its end.
    measured: Option<Vec<EndpointWork>>,
}

impl Routes {
    /// Returns the routes of clients with the line of their own number to the target. `readers` has for each of them the
    /// number of its reader from 0, if it has one; its line follows those of all clients and of the readers before.
    pub(crate) fn new(reads: Arc<[bool]>, readers: &[Option<usize>]) -> Self {
        let of_target = (0..readers.len()).map(|client| Owner { client, endpoint: 0, waits: false });
        let mut owners: Vec<Owner> = of_target.collect();
        let mut of_readers = Vec::new();
        for (client, reader) in readers.iter().enumerate() {
            of_readers.push(reader.map(|_| owners.len()));
            owners.extend(reader.map(|nth| Owner { client, endpoint: 1 + nth, waits: false }));
        }
        let endpoints = owners.iter().map(|owner| owner.endpoint).max().unwrap_or_default() + 1;
        let work = vec![EndpointWork::default(); endpoints];
        Self { reads, of_readers, owners, due: VecDeque::new(), work, measured: None }
    }

    /// Returns the number of lines.
    pub(crate) fn lines(&self) -> usize {
        self.owners.len()
    }

    fn ask(&mut self, client: usize, txn: usize) {
        let is_read = self.reads.get(txn).copied().unwrap_or_default();
        let line = self.of_readers[client].filter(|_| is_read).unwrap_or(client);
        self.due.push_back((client, line));
    }

    /// Returns the client of a line.
    pub(crate) fn client_of(&self, line: usize) -> usize {
        self.owners[line].client
    }

    /// Returns the endpoint of a line: 0 is the target.
    pub(crate) fn endpoint_of(&self, line: usize) -> usize {
        self.owners[line].endpoint
    }

    /// Notes that the client of a line waits until it is open again.
    pub(crate) fn await_line(&mut self, line: usize) {
        self.owners[line].waits = true;
    }

    /// Counts a transaction that ended: its failure, or its service time.
    pub(crate) fn count(&mut self, line: usize, failure: Option<ErrorClass>, service_ns: u64) {
        let work = &mut self.work[self.owners[line].endpoint];
        match failure {
            Some(class) => *work.failed.entry(class).or_default() += 1,
            None => {
                work.completed += 1;
                work.service.record(service_ns);
            }
        }
    }

    /// Begins the measured window.
    pub(crate) fn open_window(&mut self) {
        self.work.fill(EndpointWork::default());
    }

    /// Ends the measured window.
    pub(crate) fn close_window(&mut self) {
        self.measured.get_or_insert_with(|| self.work.clone());
    }

    /// Returns what was measured, by endpoint.
    pub(crate) fn take_measured(&mut self) -> Vec<EndpointWork> {
        self.measured.take().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_reads_goes_to_the_reader_of_its_client() {
        let readers = [Some(1), None, Some(0)];
        let mut lending = Lending::Routed(Box::new(Routes::new([false, true].into(), &readers)));
        for (client, txn, line) in [(0, 0, 0), (0, 1, 3), (1, 1, 1), (2, 1, 4), (2, 0, 2), (2, 9, 2)] {
            lending.ask(client, txn);
            assert_eq!(lending.hand_out(), Some((client, line)), "client {client}, transaction {txn}");
        }
        let routes = lending.routes().unwrap();
        assert_eq!([3, 4, 0].map(|line| (routes.client_of(line), routes.endpoint_of(line))), [(0, 2), (2, 1), (0, 0)]);
        assert_eq!(routes.lines(), 5);
    }

    #[test]
    fn only_the_measured_window_counts() {
        let mut routes = Routes::new([true].into(), &[Some(0)]);
        routes.count(1, None, 5);
        routes.open_window();
        routes.count(1, None, 7);
        routes.count(1, Some(ErrorClass::Serialization), 7);
        routes.count(0, None, 9);
        routes.close_window();
        routes.count(1, None, 11);
        let mut all = Vec::new();
        add_work(&mut all, &routes.take_measured());
        add_work(&mut all, &[EndpointWork { completed: 2, ..EndpointWork::default() }]);
        let counts: Vec<_> = all.iter().map(|work| (work.completed, work.service.max_ns())).collect();
        assert_eq!(counts, [(3, 9), (1, 7)]);
        assert_eq!(all[1].failed, [(ErrorClass::Serialization, 1)].into());
    }
}
