//! The clients of one thread, with their timers and their recorder. Sans-IO: bytes come in by [`Fleet::receive`],
//! bytes to send are in [`Fleet::output`], time is an argument.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use pgdyno_measure::Recorder;
use pgdyno_wire::{Event, ProtocolError, QueryMode, Received, SqlState, Statement, StmtId, Wire};
use pgdyno_workload::{ClientScript, Note, ShellOutcome};

use crate::backlog::Backlog;
use crate::client::{Client, ClientState, Common, ReplyTimer, ShellCommand, Wait};
use crate::errors::ErrorSample;
use crate::groups::Groups;
use crate::lines::{Line, Pool};
use crate::observer::Observer;
use crate::pacer::Pacer;
use crate::routes::{EndpointWork, Lending, Routes};
use crate::{ClientRules, GroupNumbers, Tick};

/// The tag of a transaction that was rolled back, and the same at the end of an answer outside of a transaction block.
const ROLLED_BACK: &[u8] = b"ROLLBACK\0";
const ROLLED_BACK_ALONE: &[u8] = b"ROLLBACK\0Z\0\0\0\x05I";

/// A task that the caller does for a client, because it may block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errand {
    /// Close the connection of this line.
    Disconnect(usize),
    /// Close the connection of this shared or routed line, and open another one, if there is to be one: call [`Fleet::miss`],
    /// and in the end [`Fleet::attach`].
    Renew(usize),
    /// Open a connection, then call [`Fleet::attach`] or [`Fleet::cannot_connect`].
    Connect(usize),
    /// Run the command of [`Fleet::shell`], then call [`Fleet::shell_done`].
    Shell(usize),
    /// Close the connection of this line and call [`Fleet::lose`]: it did not answer in time, or its server is read-only.
    Lose(usize),
    /// Report that it was aborted. Its shared line serves others if its state is known.
    GivenUp,
}

/// The clients of one thread by group, and their lines. Each client has the line of its own number, unless
/// [`Fleet::sharing`] makes them share fewer, or [`Fleet::routing`] gives them a second one.
pub struct Fleet {
    clients: Vec<Client>,
    /// The last one has no connection: clients without a line use it when they need none.
    lines: Vec<Line>,
    /// The line that each client holds.
    held: Vec<u32>,
    lending: Option<Lending>,
    /// Lines that were assigned for a transaction, with output perhaps.
    handed: Vec<usize>,
    groups: Groups,
    statements: Arc<[Statement]>,
    /// Kinds of transactions, over all groups.
    txns: usize,
    errands: VecDeque<Errand>,
    timers: BinaryHeap<Reverse<(Tick, usize)>>,
    /// Clients that can go on at once.
    runnable: VecDeque<usize>,
}

impl Fleet {
    /// Returns a fleet of one group with one client for each script. `first` is the number of the first client within
    /// the stage. `statements` and `txns` are those of the run; scripts number them as the run does, unless
    /// [`Fleet::numbering`] says otherwise.
    #[must_use]
    pub fn new(
        first: u32,
        scripts: Vec<Box<dyn ClientScript>>,
        mode: QueryMode,
        statements: Arc<[Statement]>,
        txns: usize,
        rules: ClientRules,
        pacer: Pacer,
    ) -> Self {
        let nobodys = Line::new(mode, statements.len(), true, None);
        let first_group = Common::new(&statements, txns, rules, pacer);
        let fleet = Self {
            clients: Vec::new(),
            lines: vec![nobodys],
            held: Vec::new(),
            lending: None,
            handed: Vec::new(),
            groups: Groups { first: first_group, others: Vec::new() },
            statements,
            txns,
            errands: VecDeque::new(),
            timers: BinaryHeap::new(),
            runnable: VecDeque::new(),
        };
        fleet.with_clients(first, 0, scripts, mode)
    }

    /// Adds a group: clients with scripts, pace and rules of their own. The methods below apply to all groups added
    /// before.
    #[must_use]
    pub fn with_group(
        mut self,
        first: u32,
        scripts: Vec<Box<dyn ClientScript>>,
        mode: QueryMode,
        rules: ClientRules,
        pacer: Pacer,
    ) -> Self {
        self.groups.others.push(Common::new(&self.statements, self.txns, rules, pacer));
        let group = self.groups.others.len();
        self.with_clients(first, group, scripts, mode)
    }

    fn with_clients(mut self, first: u32, group: usize, scripts: Vec<Box<dyn ClientScript>>, mode: QueryMode) -> Self {
        let common = self.groups.of(group);
        common.active = scripts.len();
        let attached = !common.rules.connect_each;
        let nobodys = self.lines.pop();
        for (script, id) in scripts.into_iter().zip(first..) {
            let i = self.clients.len();
            self.clients.push(Client::new(id, group as u32, script, attached));
            self.lines.push(Line::new(mode, self.statements.len(), attached, Some(i)));
            self.held.push(i as u32);
        }
        self.lines.extend(nobodys);
        self
    }

    /// Keeps response times apart from service times in all groups, as groups with a rate do, so that both sums are
    /// of the same transactions.
    #[must_use]
    pub fn scheduled(mut self) -> Self {
        self.groups.iter_mut().for_each(|group| group.recorder.schedule());
        self
    }

    /// Makes all clients share so many lines, at least 1. Each holds a line for the time of a transaction. Response
    /// times are kept apart from service times: they count from the intended start, and include the wait for a line.
    #[must_use]
    pub fn sharing(mut self, lines: usize) -> Self {
        let lines = lines.max(1);
        let (mode, wire) = (self.lines[0].session.mode(), self.lines[0].session.wire());
        self.lines = (0..=lines).map(|_| Line::new(mode, self.statements.len(), true, None)).collect();
        self.held = vec![lines as u32; self.clients.len()];
        self.clients.iter_mut().for_each(Client::share);
        self.lending = Some(Lending::Shared(Pool::new(lines)));
        self.groups.iter_mut().for_each(|group| group.shared = true);
        self.scheduled().speaking(wire)
    }

    /// Gives clients a line to a reader, after the lines of all clients and in their order. `reads` says of each transaction
    /// of the run whether it only reads; `readers` has for each client the number of its reader from 0, if it has one.
    /// A client holds the line of its transaction, and no other meanwhile.
    #[must_use]
    pub fn routing(mut self, reads: Arc<[bool]>, readers: &[Option<usize>]) -> Self {
        let routes = Routes::new(reads, readers);
        let nobodys = self.lines.pop();
        for line in self.lines.len()..routes.lines() {
            let mode = self.lines[routes.client_of(line)].session.mode();
            self.lines.push(Line::new(mode, self.statements.len(), true, None));
        }
        self.held = vec![self.lines.len() as u32; self.clients.len()];
        self.lines.extend(nobodys);
        self.lines.iter_mut().for_each(|line| line.client = None);
        self.clients.iter_mut().for_each(Client::share);
        self.lending = Some(Lending::Routed(Box::new(routes)));
        self.groups.iter_mut().for_each(|group| group.shared = true);
        self
    }

    /// Sends statements in this form.
    #[must_use]
    pub fn speaking(mut self, wire: Wire) -> Self {
        self.lines.iter_mut().for_each(|line| line.session.speak(wire));
        self
    }

    /// Counts this many tallies beside transactions. Scripts number them as the run does.
    #[must_use]
    pub fn tallying(mut self, tallies: usize) -> Self {
        for group in self.groups.iter_mut() {
            group.recorder.count_tallies(tallies);
            group.numbers.tallies = 0..tallies;
        }
        self
    }

    /// Sets the numbers within the run of what the scripts of each group number from 0.
    #[must_use]
    pub fn numbering(mut self, numbers: impl IntoIterator<Item = GroupNumbers>) -> Self {
        self.groups.iter_mut().zip(numbers).for_each(|(group, numbers)| group.numbers = numbers);
        self
    }

    /// Shares the room for waiting notices with other threads.
    #[must_use]
    pub(crate) fn queueing_in(mut self, backlog: &Arc<Backlog>) -> Self {
        self.groups.iter_mut().for_each(|group| group.backlog = Arc::clone(backlog));
        self
    }

    /// Sets the observer of every transaction.
    #[must_use]
    pub fn observed_by(mut self, observer: Option<Box<dyn Observer>>) -> Self {
        let observer = observer.map(|observer| Arc::new(Mutex::new(observer)));
        self.groups.iter_mut().for_each(|group| group.observer.clone_from(&observer));
        self
    }

    /// Reports to the observer which process of the target serves a line, if the line belongs to one client.
    pub(crate) fn report_connected(&self, line: usize, process: i32, server: &str) {
        // Lines to readers follow those of all clients.
        if let (Some(observer), false, Some(client)) =
            (&self.groups.first.observer, self.pool().is_some(), self.clients.get(line))
        {
            let mut observer = observer.lock().unwrap_or_else(PoisonError::into_inner);
            observer.connected(client.id(), process, server);
        }
    }

    /// Returns the stock of lines that clients share, if they do.
    fn pool(&self) -> Option<&Pool> {
        self.lending.as_ref().and_then(Lending::pool)
    }

    /// Returns the routes of clients with readers.
    fn routes(&mut self) -> Option<&mut Routes> {
        self.lending.as_mut().and_then(Lending::routes)
    }

    /// Returns the endpoint of a line: 0 is the target, readers count from 1.
    pub(crate) fn endpoint_of(&self, line: usize) -> usize {
        match &self.lending {
            Some(Lending::Routed(routes)) => routes.endpoint_of(line),
            Some(Lending::Shared(_)) | None => 0,
        }
    }

    /// Returns the work of the measured window by endpoint; empty without readers.
    pub fn take_work_by_endpoint(&mut self) -> Vec<EndpointWork> {
        self.routes().map(Routes::take_measured).unwrap_or_default()
    }

    /// Reports to the observer that no more transactions will end, and which are still in progress.
    pub fn finish(&mut self, now: Tick) {
        // All groups share one observer.
        if let Some(observer) = &self.groups.first.observer {
            let mut observer = observer.lock().unwrap_or_else(PoisonError::into_inner);
            for client in &self.clients {
                let proves = self.groups.iter().nth(client.group()).is_some_and(|common| common.proves_commits());
                client.report_unfinished(now, proves, &mut **observer);
            }
            observer.finish(now);
        }
    }

    /// Returns the number of clients.
    #[must_use]
    pub fn len(&self) -> usize {
        self.clients.len()
    }

    /// Returns the number of lines.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.lines.len() - 1
    }

    /// Returns the line that client `i` holds.
    #[inline]
    #[must_use]
    pub fn line_of(&self, i: usize) -> Option<usize> {
        let line = self.held[i] as usize;
        (line < self.lines()).then_some(line)
    }

    /// Returns the earliest time at which the reply awaited on a line can have arrived.
    #[inline]
    #[must_use]
    pub fn asked_at(&self, line: usize) -> Tick {
        self.lines[line].client.map_or(Tick(0), |i| self.clients[i].asked_at())
    }

    /// Returns true if it has no clients.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.clients.is_empty()
    }

    /// Returns the number of clients that are neither finished nor lost nor aborted: 0 if all shared lines are lost.
    #[must_use]
    pub fn active(&self) -> usize {
        if self.are_all_lines_lost() { 0 } else { self.groups.iter().map(|common| common.active).sum() }
    }

    /// Returns the same for one group.
    pub(crate) fn active_in(&self, group: usize) -> usize {
        let active = self.groups.iter().nth(group).map_or(0, |common| common.active);
        if self.are_all_lines_lost() { 0 } else { active }
    }

    fn are_all_lines_lost(&self) -> bool {
        self.pool().is_some_and(|pool| pool.alive() == 0)
    }

    /// Returns the number of groups.
    pub(crate) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Returns the number of lost connections: of clients, or of lines that are lent.
    #[must_use]
    pub fn lost(&self) -> usize {
        match self.lending {
            Some(_) => self.lines.iter().filter(|line| line.lost.is_some()).count(),
            None => self.clients.iter().filter(|client| matches!(client.state(), ClientState::Lost(_))).count(),
        }
    }

    /// Returns the lines that are lost, and whether the rules of their client let it last while they are replaced.
    pub(crate) fn lost_lines(&self) -> impl Iterator<Item = (usize, bool)> {
        let clients =
            self.clients.iter().enumerate().filter(|(_, client)| matches!(client.state(), ClientState::Lost(_)));
        let lasts =
            |group: usize| self.groups.iter().nth(group).is_some_and(|common| common.rules.lasts_while_replaced);
        let own = clients.filter_map(move |(i, client)| Some((self.line_of(i)?, lasts(client.group()))));
        let routed = self.lines.iter().enumerate().filter(|(_, line)| line.lost.is_some());
        let routed = routed.filter_map(move |(line, _)| match &self.lending {
            Some(Lending::Routed(routes)) => Some((line, lasts(self.clients[routes.client_of(line)].group()))),
            Some(Lending::Shared(_)) | None => None,
        });
        own.chain(routed)
    }

    /// Returns the number of aborted clients.
    #[must_use]
    pub fn aborted(&self) -> usize {
        self.clients.iter().filter(|client| client.state() == ClientState::Aborted).count()
    }

    /// Returns true if the connection of a line is still needed.
    #[must_use]
    pub fn is_wanted(&self, line: usize) -> bool {
        match (&self.lending, self.lines[line].client) {
            (None, Some(i)) => !matches!(self.state(i), ClientState::Finished | ClientState::Aborted),
            _ => self.lines[line].attached,
        }
    }

    /// Returns true if the client that owns a line was aborted.
    #[must_use]
    pub fn is_given_up(&self, line: usize) -> bool {
        self.lines[line].client.is_some_and(|i| self.state(i) == ClientState::Aborted)
    }

    /// Returns true if a line lost its connection.
    #[must_use]
    pub fn is_lost(&self, line: usize) -> bool {
        match (&self.lending, self.lines[line].client) {
            (None, Some(i)) => matches!(self.state(i), ClientState::Lost(_)),
            _ => self.lines[line].lost.is_some(),
        }
    }

    /// Returns true if client `i` waits for the connection of its transaction.
    #[must_use]
    pub fn is_connecting(&self, i: usize) -> bool {
        self.clients.get(i).is_some_and(|client| client.state() == ClientState::Connecting)
    }

    /// Returns the state of client `i`.
    #[must_use]
    pub fn state(&self, i: usize) -> ClientState {
        self.clients[i].state()
    }

    /// Returns the lines of clients with a transaction in progress.
    pub fn busy(&self) -> impl Iterator<Item = usize> {
        let clients = self.clients.iter().enumerate().filter(|(_, client)| client.in_transaction());
        clients.filter_map(|(i, _)| self.line_of(i))
    }

    /// Returns a line that was assigned for a transaction since the last call, and may have output.
    #[inline]
    pub fn take_handed(&mut self) -> Option<usize> {
        self.handed.pop()
    }

    /// Returns the bytes to send on a line. The caller drains them.
    #[inline]
    pub fn output(&mut self, line: usize) -> &mut Vec<u8> {
        &mut self.lines[line].out
    }

    /// Returns the recorder of a group.
    pub fn recorder(&mut self, group: usize) -> &mut Recorder {
        &mut self.groups.of(group).recorder
    }

    /// Records that bytes on a line may have waited this long before they were read.
    #[inline]
    pub(crate) fn read_after(&mut self, line: usize, ns: u64) {
        let group = self.lines[line].client.map_or(0, |i| self.clients[i].group());
        self.groups.of(group).recorder.read_after(ns);
    }

    /// Returns the server's errors by SQLSTATE, and forgets them.
    pub fn errors(&mut self) -> BTreeMap<SqlState, ErrorSample> {
        let mut all = BTreeMap::new();
        for (code, sample) in self.groups.iter_mut().flat_map(|group| group.errors.take()) {
            let count = sample.count;
            all.entry(code).or_insert(ErrorSample { count: 0, ..sample }).count += count;
        }
        all
    }

    /// Returns the notes of scripts and server since the last call.
    pub fn take_notes(&mut self) -> Vec<Note> {
        let mut notes = Vec::new();
        self.groups.iter_mut().for_each(|group| notes.append(&mut group.notes));
        notes
    }

    /// Returns the room that the last notices took, to be released when they were passed on.
    pub(crate) fn take_notice_bytes(&mut self) -> usize {
        self.groups.iter_mut().map(|group| std::mem::take(&mut group.notice_bytes)).sum()
    }

    /// Returns the next errand.
    #[inline]
    pub fn take_errand(&mut self) -> Option<Errand> {
        self.errands.pop_front()
    }

    /// Returns the command that client `i` wants to run.
    #[must_use]
    pub fn shell(&self, i: usize) -> ShellCommand<'_> {
        self.clients[i].shell()
    }

    /// Returns the number of client `i` within the stage.
    #[must_use]
    pub fn id(&self, i: usize) -> u32 {
        self.clients[i].id()
    }

    /// Returns the number of the first client within the stage.
    #[must_use]
    pub fn first_id(&self) -> u32 {
        self.clients.first().map_or(0, Client::id)
    }

    /// Returns the error that ends the run, once.
    pub fn take_fatal(&mut self) -> Option<String> {
        self.groups.iter_mut().find_map(|group| group.errors.take_fatal())
    }

    /// Returns client `i`, its line, and the state that it shares with its group.
    #[inline]
    fn seat(&mut self, i: usize) -> (&mut Client, &mut Line, &mut Common) {
        let client = &mut self.clients[i];
        let common = self.groups.of(client.group());
        (client, &mut self.lines[self.held[i] as usize], common)
    }

    /// Runs client `i`, and the client that gets the line that it returns.
    #[inline]
    pub fn advance(&mut self, i: usize, now: Tick) {
        self.advance_one(i, now);
        self.hand_out(now);
    }

    /// Assigns free lines to waiting clients.
    #[inline]
    fn hand_out(&mut self, now: Tick) {
        while let Some((i, line)) = self.lending.as_mut().and_then(Lending::hand_out) {
            if !self.lines[line].attached {
                self.wait_for(i, line);
                continue;
            }
            let client = &mut self.clients[i];
            if client.take_turn(now, self.groups.of(client.group())) {
                self.held[i] = line as u32;
                self.lines[line].client = Some(i);
                self.handed.push(line);
            } else if let Some(lending) = &mut self.lending {
                lending.give_back(line);
            }
            self.advance_one(i, now);
        }
    }

    /// Makes client `i` wait until its line is open again. Meanwhile it does not count as active, like one that lost its only
    /// line.
    #[cold]
    fn wait_for(&mut self, i: usize, line: usize) {
        self.leave(i);
        if let Some(routes) = self.routes() {
            routes.await_line(line);
        }
    }

    #[inline]
    fn advance_one(&mut self, i: usize, now: Tick) {
        let (client, line, common) = self.seat(i);
        let wait = client.advance(now, line, common);
        self.settle(i, wait, now);
    }

    /// Handles the wait of client `i`, which cannot go on.
    fn settle(&mut self, i: usize, wait: Wait, now: Tick) {
        if self.clients[i].wants_no_connection() || wait == Wait::Finished && self.lending.is_some() {
            self.let_go(i, now);
        }
        match wait {
            Wait::Readable => {}
            Wait::Until(deadline) => self.timers.push(Reverse((deadline, i))),
            Wait::Connection => match &mut self.lending {
                Some(lending) => lending.ask(i, self.clients[i].txn()),
                None => self.errands.push_back(Errand::Connect(i)),
            },
            Wait::Shell => self.errands.push_back(Errand::Shell(i)),
            Wait::Nothing if self.clients[i].take_misplaced() => match self.line_of(i) {
                Some(line) => self.errands.push_back(Errand::Lose(line)),
                None => self.runnable.push_back(i),
            },
            Wait::Nothing => self.runnable.push_back(i),
            Wait::Finished => self.leave(i),
        }
    }

    /// Handles the end of client `i`.
    fn leave(&mut self, i: usize) {
        self.groups.of(self.clients[i].group()).active -= 1;
    }

    /// Releases the line of client `i`: a shared one is free for others, a routed one stays open, any other is closed.
    fn let_go(&mut self, i: usize, now: Tick) {
        let Some(line) = self.line_of(i).filter(|line| self.lines[*line].attached) else { return };
        match &mut self.lending {
            Some(Lending::Routed(_)) => self.let_go_routed(i, line, now),
            Some(Lending::Shared(pool)) => {
                if self.clients[i].state() == ClientState::Aborted {
                    self.errands.push_back(Errand::GivenUp);
                }
                self.lines[line].client = None;
                self.held[i] = (self.lines.len() - 1) as u32;
                if self.clients[i].is_at_rest(&self.lines[line].session) {
                    pool.give_back(line);
                } else {
                    // Its client ended in the middle of something that no other client can continue.
                    pool.lose(line);
                    self.lines[line].attached = false;
                    self.errands.push_back(Errand::Renew(line));
                }
            }
            None => {
                self.lines[line].attached = false;
                self.errands.push_back(Errand::Disconnect(i));
            }
        }
    }

    /// Releases a line that only client `i` uses, and counts its transaction.
    fn let_go_routed(&mut self, i: usize, line: usize, now: Tick) {
        let client = &mut self.clients[i];
        let (failure, service_ns) = (client.take_failure(), client.service_ns(now));
        let (is_aborted, is_misplaced) = (client.state() == ClientState::Aborted, client.take_misplaced());
        let is_at_rest = client.is_at_rest(&self.lines[line].session);
        self.lines[line].client = None;
        self.held[i] = (self.lines.len() - 1) as u32;
        if is_aborted {
            self.errands.push_back(Errand::GivenUp);
        }
        let Some(routes) = self.routes() else { return };
        routes.count(line, failure, service_ns);
        if is_misplaced && routes.endpoint_of(line) == 0 {
            // The target has become a standby: its address leads to another server now.
            self.lines[line].attached = false;
            self.errands.push_back(Errand::Renew(line));
        } else if !is_at_rest {
            self.lines[line].attached = false;
            self.errands.push_back(Errand::Disconnect(line));
        }
    }

    /// Handles bytes from the server on a line, and runs its client.
    ///
    /// # Errors
    /// When the bytes are no valid protocol. The caller closes the connection and calls [`Fleet::lose`].
    #[inline]
    pub fn receive(&mut self, line: usize, now: Tick, bytes: &[u8]) -> Result<(), ProtocolError> {
        let held = &mut self.lines[line];
        let Some(i) = held.client else {
            return self.overhear(line, bytes);
        };
        let (client, line) = (&mut self.clients[i], held);
        let common = self.groups.of(client.group());
        let mut ready = false;
        if !line.pending.is_empty() {
            let mut pending = std::mem::take(&mut line.pending);
            pending.extend_from_slice(bytes);
            let used = digest(client, now, &pending, line, common, &mut ready)?;
            pending.drain(..used);
            line.pending = pending;
        } else if let Some((stmt, status)) = line.session.receive_answer(bytes) {
            if common.proves_commits() && bytes.ends_with(ROLLED_BACK_ALONE) {
                client.refuse_commit(stmt, common);
            }
            ready = client.on_answer(now, stmt, status, line, common);
        } else {
            let used = digest(client, now, bytes, line, common, &mut ready)?;
            line.pending.extend_from_slice(&bytes[used..]);
        }
        if ready {
            let wait = client.advance(now, line, common);
            if wait != Wait::Readable || client.wants_no_connection() {
                self.settle(i, wait, now);
                self.hand_out(now);
            }
        }
        Ok(())
    }

    /// Handles messages on a free line: a changed parameter, or the server's last message.
    fn overhear(&mut self, line: usize, bytes: &[u8]) -> Result<(), ProtocolError> {
        let Line { session, pending, .. } = &mut self.lines[line];
        pending.extend_from_slice(bytes);
        loop {
            match session.receive(pending)? {
                Received::NeedMore { used } => {
                    pending.drain(..used);
                    return Ok(());
                }
                Received::Event { used, .. } => {
                    pending.drain(..used);
                }
            }
        }
    }

    /// Returns the next time at which a client goes on without the server.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Tick> {
        self.timers.peek().map(|Reverse((deadline, _))| *deadline)
    }

    /// Returns true if a client can go on at once.
    #[must_use]
    pub fn has_runnable(&self) -> bool {
        !self.runnable.is_empty()
    }

    /// Runs one client that can go on. Returns which.
    #[inline]
    pub fn run_one(&mut self, now: Tick) -> Option<usize> {
        let i = self.runnable.pop_front()?;
        self.advance(i, now);
        Some(i)
    }

    /// Runs one client whose time has come. Returns which.
    pub fn fire_one(&mut self, now: Tick) -> Option<usize> {
        while let Some(Reverse((deadline, i))) = self.timers.peek().copied() {
            if deadline > now {
                return None;
            }
            self.timers.pop();
            // A timer may outlive its client's wait: the run stopped, or the connection was lost.
            if self.clients[i].deadline() == Some(deadline) {
                self.groups.of(self.clients[i].group()).recorder.timer_late(now.since(deadline));
                self.advance(i, now);
                return Some(i);
            }
            match self.clients[i].on_reply_timer(deadline, now) {
                ReplyTimer::Stale => {}
                ReplyTimer::Again(at) => self.timers.push(Reverse((at, i))),
                ReplyTimer::Expired => self.errands.extend(self.line_of(i).map(Errand::Lose)),
            }
        }
        None
    }

    /// Begins no more transactions. Clients between two transactions are finished.
    pub fn stop(&mut self, now: Tick) {
        self.groups.iter_mut().for_each(|group| group.stopping = true);
        self.count_waiting(now);
        if let Some(Lending::Shared(pool)) = &mut self.lending {
            for i in pool.dismiss() {
                self.clients[i].dismiss();
                self.leave(i);
            }
        }
        for i in 0..self.clients.len() {
            match self.state(i) {
                ClientState::Throttle(_) => self.advance(i, now),
                // Opening its connection may take forever.
                ClientState::Connecting if self.lending.is_none() => {
                    self.clients[i].dismiss();
                    self.leave(i);
                }
                // It has left when it began to wait for its line.
                ClientState::Connecting if self.pool().is_none() => self.clients[i].dismiss(),
                _ => {}
            }
        }
    }

    /// Records that client `i` sends its first text, unless another one of its group has done so earlier.
    pub(crate) fn first_text(&mut self, i: usize, at: Tick) {
        self.groups.of(self.clients[i].group()).recorder.first_text(at.0);
    }

    /// Begins the measured window: what clients did before it is not theirs.
    pub fn open_window(&mut self) {
        self.clients.iter_mut().for_each(Client::open_window);
        if let Some(routes) = self.routes() {
            routes.open_window();
        }
    }

    /// Records what each client did in the measured window, and the transactions in flight, with their ages, at its end.
    pub fn close_window(&mut self, at: Tick) {
        for client in &self.clients {
            self.groups.of(client.group()).recorder.client_at_end(client.work());
            if let Some(in_flight) = client.in_flight(at) {
                self.groups.of(client.group()).recorder.in_flight_at_end(in_flight);
            }
        }
        if let Some(routes) = self.routes() {
            routes.close_window();
        }
    }

    /// Counts transactions that were due and did not begin; with a schedule, all arrivals that were due.
    fn count_waiting(&mut self, now: Tick) {
        let is_shared = self.pool().is_some();
        for (group, Common { pacer, recorder, rules, .. }) in self.groups.iter_mut().enumerate() {
            let clients = || self.clients.iter().filter(|client| client.group() == group);
            let mut ahead = 0;
            for client in clients() {
                match client.awaited_start() {
                    Some(due) if due > now => ahead += 1,
                    // A client that thinks is not waiting; a client that wants a shared connection is.
                    Some(due) if pacer.is_open() || client.state() == ClientState::Connecting && is_shared => {
                        recorder.still_waiting(1, now.since(due));
                    }
                    _ => {}
                }
            }
            if pacer.is_open() {
                // With a number of transactions, or finished scripts, the schedule ends with the last transaction.
                let are_done = || clients().all(|client| client.state() == ClientState::Finished);
                if rules.transactions.is_none() && !are_done() {
                    let (left, first) = pacer.leave(now);
                    recorder.still_waiting(left, now.since(first));
                }
                recorder.scheduled_until_end(pacer.drawn().unwrap_or_default() - ahead);
            }
        }
    }

    /// Handles the loss of a line's connection.
    pub fn lose(&mut self, line: usize, now: Tick, why: &str) {
        if self.lending.is_some() {
            return self.lose_lent(line, now, why);
        }
        let i = line;
        if matches!(self.state(i), ClientState::Finished | ClientState::Aborted | ClientState::Lost(_))
            || !self.lines[line].attached
        {
            return;
        }
        let (client, line, common) = self.seat(i);
        client.lose(now, why, line, common);
        line.out.clear();
        line.pending.clear();
        line.attached = false;
        common.active -= 1;
        self.runnable.retain(|&r| r != i);
    }

    /// Handles the loss of a line that was lent. Its transaction has failed; its client continues on another line, or on this one
    /// once it is open again.
    fn lose_lent(&mut self, line: usize, now: Tick, why: &str) {
        if !self.lines[line].attached {
            return;
        }
        let holder = self.lines[line].client.take();
        let group = match &self.lending {
            Some(Lending::Routed(routes)) => self.clients[routes.client_of(line)].group(),
            Some(Lending::Shared(_)) | None => 0,
        };
        match holder {
            Some(i) => {
                let (client, line, common) = self.seat(i);
                client.lose(now, why, line, common);
                client.recover();
                self.held[i] = (self.lines.len() - 1) as u32;
                self.runnable.retain(|&r| r != i);
            }
            None => self.groups.of(group).recorder.lost(),
        }
        if let Some(i) = holder
            && let (Some(class), Some(routes)) =
                (self.clients[i].take_failure(), self.lending.as_mut().and_then(Lending::routes))
        {
            routes.count(line, Some(class), 0);
        }
        self.lines[line].attached = false;
        self.lines[line].lost = Some(now);
        self.lines[line].reset(self.statements.len());
        if let Some(lending) = &mut self.lending {
            lending.lose(line);
        }
        if let Some(i) = holder {
            self.advance(i, now);
        }
    }

    /// Notes that a line waits for another connection.
    pub fn miss(&mut self, line: usize, now: Tick) {
        self.lines[line].lost = Some(now);
    }

    /// Gives a line a new connection, which took `took_ns` to open. Its client waited for it.
    pub fn attach(&mut self, line: usize, now: Tick, took_ns: u64) {
        self.lines[line].reset(self.statements.len());
        self.lines[line].attached = true;
        if let Some(lending) = &mut self.lending {
            let waiting = lending.revive(line);
            let group = lending.routes().map_or(0, |routes| self.clients[routes.client_of(line)].group());
            if let Some(lost) = self.lines[line].lost.take() {
                self.groups.of(group).recorder.reconnected(now.since(lost));
            }
            if let Some(i) = waiting {
                let (client, _, common) = self.seat(i);
                client.resume(now, common);
                common.active += 1;
                let txn = client.txn();
                self.lending.iter_mut().for_each(|lending| lending.ask(i, txn));
            }
            return self.hand_out(now);
        }
        let i = line;
        let was_lost = matches!(self.state(i), ClientState::Lost(_));
        let (client, _, common) = self.seat(i);
        client.attach(now, took_ns, common);
        common.active += usize::from(was_lost);
        self.advance(i, now);
    }

    /// Aborts client `i`: its connection could not be opened.
    pub fn cannot_connect(&mut self, i: usize, now: Tick) {
        let (client, _, common) = self.seat(i);
        client.cannot_connect(now, common);
        common.active -= 1;
    }

    /// Passes the result of command `number` to client `i`, unless its transaction was lost meanwhile.
    pub fn shell_done(&mut self, i: usize, now: Tick, number: u64, outcome: ShellOutcome) {
        let (client, _, common) = self.seat(i);
        if client.awaits_shell(number) {
            client.shell_done(now, outcome, common);
            self.advance(i, now);
        }
    }
}

/// Returns the statements, each encoded with its place as its number.
#[must_use]
pub fn numbered(statements: Vec<Statement>) -> Arc<[Statement]> {
    statements.into_iter().zip(0..).map(|(statement, id)| statement.numbered(StmtId(id))).collect()
}

/// Feeds `bytes` to the client, event by event. Returns how many bytes were consumed.
#[inline]
fn digest(
    client: &mut Client,
    now: Tick,
    bytes: &[u8],
    line: &mut Line,
    common: &mut Common,
    ready: &mut bool,
) -> Result<usize, ProtocolError> {
    let mut rest = bytes;
    // A read usually ends with a message.
    while !rest.is_empty() {
        match line.session.receive(rest)? {
            Received::NeedMore { used } => {
                rest = &rest[used..];
                break;
            }
            Received::Event { event, used } => {
                if let Event::Part(stmt) = event
                    && line.session.lacks_row(&rest[..used])
                {
                    client.found_nothing(stmt, common);
                }
                if let Event::Part(stmt) | Event::Complete(stmt) = event
                    && common.proves_commits()
                    && rest[..used].ends_with(ROLLED_BACK)
                {
                    client.refuse_commit(stmt, common);
                }
                *ready |= client.on_event(now, event, line, common);
                rest = &rest[used..];
            }
        }
    }
    Ok(bytes.len() - rest.len())
}
