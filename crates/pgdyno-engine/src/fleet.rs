//! The clients of one thread, with their timers and their recorder. Sans-IO: bytes come in by
//! [`Fleet::receive`], what is to be sent lies in [`Fleet::output`], time is an argument.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use pgdyno_measure::Recorder;
use pgdyno_wire::{ProtocolError, QueryMode, Received, SqlState, Statement, StmtId, Wire};
use pgdyno_workload::{ClientScript, Note, ShellOutcome};

use crate::backlog::Backlog;
use crate::client::{Client, Command, Common, State, Wait};
use crate::errors::ErrorSample;
use crate::groups::Groups;
use crate::lines::{Line, Pool};
use crate::observer::Observer;
use crate::pacer::Pacer;
use crate::{Rules, Tick};

/// What a client wants to be done by somebody who may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errand {
    /// The connection of this line is of no more use.
    Disconnect(usize),
    /// The connection of this shared line is of no more use to anybody, and another would be: where there is to be one,
    /// [`Fleet::miss`] and in the end [`Fleet::attach`] follow.
    Renew(usize),
    /// A connection is to be opened; [`Fleet::attach`] or [`Fleet::cannot_connect`] follows.
    Connect(usize),
    /// [`Fleet::shell`] is to be run; [`Fleet::shell_done`] follows.
    Shell(usize),
    /// It was given up, and somebody should know; its shared line, if it was left in order, serves others.
    GivenUp,
}

/// The clients of one thread, by group, and the lines that they send and receive by. A client has the line of its own
/// number, unless [`Fleet::sharing`] makes them share fewer.
pub struct Fleet {
    clients: Vec<Client>,
    /// The last one is nobody's: clients that hold no line are given it where they need none.
    lines: Vec<Line>,
    /// The line that each client holds.
    held: Vec<u32>,
    pool: Option<Pool>,
    /// Shared lines that were handed out, on which something may have to be sent.
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
    /// A fleet of one group, with one client for each script; `first` is the number within the stage of the first of them.
    /// Transactions and statements are numbered over all groups.
    #[must_use]
    pub fn new(
        first: u32,
        scripts: Vec<Box<dyn ClientScript>>,
        mode: QueryMode,
        statements: Arc<[Statement]>,
        txns: usize,
        rules: Rules,
        pacer: Pacer,
    ) -> Self {
        let nobodys = Line::new(mode, statements.len(), true, None);
        let first_group = Common::new(&statements, txns, rules, pacer);
        let fleet = Self {
            clients: Vec::new(),
            lines: vec![nobodys],
            held: Vec::new(),
            pool: None,
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

    /// Adds a group: clients with scripts, pace and rules of their own. What follows here is for all groups that are there.
    #[must_use]
    pub fn with_group(
        mut self,
        first: u32,
        scripts: Vec<Box<dyn ClientScript>>,
        mode: QueryMode,
        rules: Rules,
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

    /// Keeps response times apart from service times in all groups, as those with a rate do: so their sums are of the same
    /// transactions.
    #[must_use]
    pub fn scheduled(mut self) -> Self {
        self.groups.iter_mut().for_each(|group| group.recorder.schedule());
        self
    }

    /// Lets all clients share so many lines, at least 1: each holds one for the time of a transaction. Response times
    /// are kept apart from service times: they count from the intended start, the wait for a line included.
    #[must_use]
    pub fn sharing(mut self, lines: usize) -> Self {
        let lines = lines.max(1);
        let (mode, wire) = (self.lines[0].session.mode(), self.lines[0].session.wire());
        self.lines = (0..=lines).map(|_| Line::new(mode, self.statements.len(), true, None)).collect();
        self.held = vec![lines as u32; self.clients.len()];
        self.clients.iter_mut().for_each(Client::share);
        self.pool = Some(Pool::new(lines));
        self.groups.iter_mut().for_each(|group| group.shared = true);
        self.scheduled().speaking(wire)
    }

    /// Sends statements in this form.
    #[must_use]
    pub fn speaking(mut self, wire: Wire) -> Self {
        self.lines.iter_mut().for_each(|line| line.session.speak(wire));
        self
    }

    /// Counts so many things beside transactions; scripts say how many of each.
    #[must_use]
    pub fn tallying(mut self, tallies: usize) -> Self {
        self.groups.iter_mut().for_each(|group| group.recorder.count_tallies(tallies));
        self
    }

    /// Shares the room for notices that wait to be passed on.
    #[must_use]
    pub(crate) fn queueing_in(mut self, backlog: &Arc<Backlog>) -> Self {
        self.groups.iter_mut().for_each(|group| group.backlog = Arc::clone(backlog));
        self
    }

    /// Lets `observer` hear of every transaction.
    #[must_use]
    pub fn observed_by(mut self, observer: Option<Box<dyn Observer>>) -> Self {
        let observer = observer.map(|observer| Arc::new(Mutex::new(observer)));
        self.groups.iter_mut().for_each(|group| group.observer.clone_from(&observer));
        self
    }

    /// Tells the observer that no more transactions will end.
    pub fn finish(&mut self, now: Tick) {
        // All groups have the same one.
        if let Some(observer) = &self.groups.first.observer {
            observer.lock().unwrap_or_else(PoisonError::into_inner).finish(now);
        }
    }

    /// How many clients there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.clients.len()
    }

    /// How many lines there are.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.lines.len() - 1
    }

    /// The line that client `i` holds.
    #[inline]
    #[must_use]
    pub fn line_of(&self, i: usize) -> Option<usize> {
        let line = self.held[i] as usize;
        (line < self.lines()).then_some(line)
    }

    /// The time before which the answer that is awaited on a line cannot have been there.
    #[inline]
    #[must_use]
    pub fn asked_at(&self, line: usize) -> Tick {
        self.lines[line].client.map_or(Tick(0), |i| self.clients[i].asked_at())
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.clients.is_empty()
    }

    /// Clients that are neither finished nor lost nor given up. Where all shared lines are lost, none is.
    #[must_use]
    pub fn active(&self) -> usize {
        if self.are_all_lines_lost() { 0 } else { self.groups.iter().map(|common| common.active).sum() }
    }

    /// The same of one group.
    pub(crate) fn active_in(&self, group: usize) -> usize {
        let active = self.groups.iter().nth(group).map_or(0, |common| common.active);
        if self.are_all_lines_lost() { 0 } else { active }
    }

    fn are_all_lines_lost(&self) -> bool {
        self.pool.as_ref().is_some_and(|pool| pool.alive() == 0)
    }

    /// How many groups there are.
    pub(crate) fn groups(&self) -> usize {
        self.groups.len()
    }

    /// Clients without a connection that they had; of shared lines, those.
    #[must_use]
    pub fn lost(&self) -> usize {
        match self.pool {
            Some(_) => self.lines.iter().filter(|line| line.lost.is_some()).count(),
            None => self.clients.iter().filter(|client| matches!(client.state(), State::Lost(_))).count(),
        }
    }

    /// Clients that were given up.
    #[must_use]
    pub fn aborted(&self) -> usize {
        self.clients.iter().filter(|client| client.state() == State::Aborted).count()
    }

    /// Whether the connection of a line is still of use to somebody.
    #[must_use]
    pub fn is_wanted(&self, line: usize) -> bool {
        match (&self.pool, self.lines[line].client) {
            (None, Some(i)) => !matches!(self.state(i), State::Finished | State::Aborted),
            _ => self.lines[line].attached,
        }
    }

    /// Whether a line's own client was given up.
    #[must_use]
    pub fn is_given_up(&self, line: usize) -> bool {
        self.lines[line].client.is_some_and(|i| self.state(i) == State::Aborted)
    }

    /// Whether a line is without the connection that it had.
    #[must_use]
    pub fn is_lost(&self, line: usize) -> bool {
        match (&self.pool, self.lines[line].client) {
            (None, Some(i)) => matches!(self.state(i), State::Lost(_)),
            _ => self.lines[line].lost.is_some(),
        }
    }

    /// Whether client `i` waits for the connection of its transaction.
    #[must_use]
    pub fn is_connecting(&self, i: usize) -> bool {
        self.state(i) == State::Connecting
    }

    /// Where client `i` is.
    #[must_use]
    pub fn state(&self, i: usize) -> State {
        self.clients[i].state()
    }

    /// Lines whose client's transaction is under way.
    pub fn busy(&self) -> impl Iterator<Item = usize> {
        let clients = self.clients.iter().enumerate().filter(|(_, client)| client.in_transaction());
        clients.filter_map(|(i, _)| self.line_of(i))
    }

    /// A shared line that was handed out since the last call, on which something may have to be sent.
    #[inline]
    pub fn take_handed(&mut self) -> Option<usize> {
        self.handed.pop()
    }

    /// What is to be sent on a line. The caller drains it.
    #[inline]
    pub fn output(&mut self, line: usize) -> &mut Vec<u8> {
        &mut self.lines[line].out
    }

    /// The recorder of a group.
    pub fn recorder(&mut self, group: usize) -> &mut Recorder {
        &mut self.groups.of(group).recorder
    }

    /// What came on a line was read so long after it can have been there.
    #[inline]
    pub(crate) fn read_after(&mut self, line: usize, ns: u64) {
        let group = self.lines[line].client.map_or(0, |i| self.clients[i].group());
        self.groups.of(group).recorder.read_after(ns);
    }

    /// Errors that were met, by SQLSTATE.
    pub fn errors(&mut self) -> BTreeMap<SqlState, ErrorSample> {
        let mut all = BTreeMap::new();
        for (code, sample) in self.groups.iter_mut().flat_map(|group| group.errors.take()) {
            let ErrorSample { count, message } = sample;
            all.entry(code).or_insert(ErrorSample { count: 0, message }).count += count;
        }
        all
    }

    /// What scripts and server want the user to read, since the last call.
    pub fn take_notes(&mut self) -> Vec<Note> {
        let mut notes = Vec::new();
        self.groups.iter_mut().for_each(|group| notes.append(&mut group.notes));
        notes
    }

    /// How much of the room for notices those take that were taken last: to be released when they were passed on.
    pub(crate) fn take_notice_bytes(&mut self) -> usize {
        self.groups.iter_mut().map(|group| std::mem::take(&mut group.notice_bytes)).sum()
    }

    /// The next errand to be done.
    #[inline]
    pub fn take_errand(&mut self) -> Option<Errand> {
        self.errands.pop_front()
    }

    /// The command that client `i` wants to be run.
    #[must_use]
    pub fn shell(&self, i: usize) -> Command<'_> {
        self.clients[i].shell()
    }

    /// The number of client `i` within the stage.
    #[must_use]
    pub fn id(&self, i: usize) -> u32 {
        self.clients[i].id()
    }

    /// The number within the stage of the first client.
    #[must_use]
    pub fn first_id(&self) -> u32 {
        self.clients.first().map_or(0, Client::id)
    }

    /// The error that ends the run, once.
    pub fn take_fatal(&mut self) -> Option<String> {
        self.groups.iter_mut().find_map(|group| group.errors.take_fatal())
    }

    /// Client `i`, the line that it holds, and what it has in common with the others of its group.
    #[inline]
    fn seat(&mut self, i: usize) -> (&mut Client, &mut Line, &mut Common) {
        let client = &mut self.clients[i];
        let common = self.groups.of(client.group());
        (client, &mut self.lines[self.held[i] as usize], common)
    }

    /// Lets client `i` go on, and whoever has the line that it gives back.
    #[inline]
    pub fn advance(&mut self, i: usize, now: Tick) {
        self.advance_one(i, now);
        self.hand_out(now);
    }

    /// Gives free lines to those who wait for one.
    #[inline]
    fn hand_out(&mut self, now: Tick) {
        while let Some((i, line)) = self.pool.as_mut().and_then(Pool::hand_out) {
            let client = &mut self.clients[i];
            if client.take_turn(now, self.groups.of(client.group())) {
                self.held[i] = line as u32;
                self.lines[line].client = Some(i);
                self.handed.push(line);
            } else if let Some(pool) = &mut self.pool {
                pool.give_back(line);
            }
            self.advance_one(i, now);
        }
    }

    #[inline]
    fn advance_one(&mut self, i: usize, now: Tick) {
        let (client, line, common) = self.seat(i);
        let wait = client.advance(now, line, common);
        self.settle(i, wait);
    }

    /// Client `i` has come as far as it could: sees to what it waits for.
    fn settle(&mut self, i: usize, wait: Wait) {
        if self.clients[i].wants_no_connection() || wait == Wait::Finished && self.pool.is_some() {
            self.let_go(i);
        }
        match wait {
            Wait::Readable => {}
            Wait::Until(deadline) => self.timers.push(Reverse((deadline, i))),
            Wait::Connection => match &mut self.pool {
                Some(pool) => pool.ask(i),
                None => self.errands.push_back(Errand::Connect(i)),
            },
            Wait::Shell => self.errands.push_back(Errand::Shell(i)),
            Wait::Nothing => self.runnable.push_back(i),
            Wait::Finished => self.leave(i),
        }
    }

    /// Client `i` is done.
    fn leave(&mut self, i: usize) {
        self.groups.of(self.clients[i].group()).active -= 1;
    }

    /// Client `i` has no use for its line: a shared one is free for others, any other is closed.
    fn let_go(&mut self, i: usize) {
        let Some(line) = self.line_of(i).filter(|line| self.lines[*line].attached) else { return };
        match &mut self.pool {
            Some(pool) => {
                if self.clients[i].state() == State::Aborted {
                    self.errands.push_back(Errand::GivenUp);
                }
                self.lines[line].client = None;
                self.held[i] = (self.lines.len() - 1) as u32;
                if self.clients[i].is_at_rest(&self.lines[line].session) {
                    pool.give_back(line);
                } else {
                    // Its client is done in the middle of something that nobody else can go on with.
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

    /// Takes what the server sent on a line, and lets its client go on.
    ///
    /// # Errors
    /// When the bytes make no sense; the caller closes the connection and calls [`Fleet::lose`].
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
            ready = client.on_answer(now, stmt, status, line, common);
        } else {
            let used = digest(client, now, bytes, line, common, &mut ready)?;
            line.pending.extend_from_slice(&bytes[used..]);
        }
        if ready {
            let wait = client.advance(now, line, common);
            if wait != Wait::Readable || client.wants_no_connection() {
                self.settle(i, wait);
                self.hand_out(now);
            }
        }
        Ok(())
    }

    /// Takes what the server says on a line that nobody holds: a changed parameter, or its last words.
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

    /// The next time at which something is to be done without the server.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Tick> {
        self.timers.peek().map(|Reverse((deadline, _))| *deadline)
    }

    /// Whether a client can go on at once.
    #[must_use]
    pub fn has_runnable(&self) -> bool {
        !self.runnable.is_empty()
    }

    /// Lets one client go on that can; which one it was.
    #[inline]
    pub fn run_one(&mut self, now: Tick) -> Option<usize> {
        let i = self.runnable.pop_front()?;
        self.advance(i, now);
        Some(i)
    }

    /// Lets one client go on whose time has come; which one it was.
    pub fn fire_one(&mut self, now: Tick) -> Option<usize> {
        while let Some(Reverse((deadline, i))) = self.timers.peek().copied() {
            if deadline > now {
                return None;
            }
            self.timers.pop();
            // A timer outlives its client's wait when the run stops or the connection is lost.
            if self.clients[i].deadline() == Some(deadline) {
                self.groups.of(self.clients[i].group()).recorder.timer_late(now.since(deadline));
                self.advance(i, now);
                return Some(i);
            }
        }
        None
    }

    /// No transaction begins any more; clients between two transactions are done.
    pub fn stop(&mut self, now: Tick) {
        self.groups.iter_mut().for_each(|group| group.stopping = true);
        self.count_waiting(now);
        for i in self.pool.as_mut().map(Pool::dismiss).unwrap_or_default() {
            self.clients[i].dismiss();
            self.leave(i);
        }
        for i in 0..self.clients.len() {
            match self.state(i) {
                State::Throttle(_) => self.advance(i, now),
                // Whoever opens its connection may take for ever.
                State::Connecting if self.pool.is_none() => {
                    self.clients[i].dismiss();
                    self.leave(i);
                }
                _ => {}
            }
        }
    }

    /// Counts what was due by now and did not begin, and with a schedule all that was due.
    fn count_waiting(&mut self, now: Tick) {
        for (group, Common { pacer, recorder, rules, .. }) in self.groups.iter_mut().enumerate() {
            let clients = || self.clients.iter().filter(|client| client.group() == group);
            let mut ahead = 0;
            for client in clients() {
                match client.awaited_start() {
                    Some(due) if due > now => ahead += 1,
                    // Who thinks between transactions is not waiting, who asks for a shared connection is.
                    Some(due) if pacer.is_open() || client.state() == State::Connecting && self.pool.is_some() => {
                        recorder.still_waiting(1, now.since(due));
                    }
                    _ => {}
                }
            }
            if let Pacer::Open(schedule) = pacer {
                // With a number of transactions, or scripts that are done, the schedule ends with the last transaction.
                let are_done = || clients().all(|client| client.state() == State::Finished);
                if rules.transactions.is_none() && !are_done() {
                    let (left, first) = schedule.leave(now);
                    recorder.still_waiting(left, now.since(first));
                }
                recorder.scheduled_until_end(schedule.drawn() - ahead);
            }
        }
    }

    /// A line has no connection any more, for this reason.
    pub fn lose(&mut self, line: usize, now: Tick, why: &str) {
        if self.pool.is_some() {
            return self.lose_shared(line, now, why);
        }
        let i = line;
        if matches!(self.state(i), State::Finished | State::Aborted | State::Lost(_)) || !self.lines[line].attached {
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

    /// A shared line is gone: the transaction on it has failed, and its client goes on with another line.
    fn lose_shared(&mut self, line: usize, now: Tick, why: &str) {
        if !self.lines[line].attached {
            return;
        }
        let holder = self.lines[line].client.take();
        match holder {
            Some(i) => {
                let (client, line, common) = self.seat(i);
                client.lose(now, why, line, common);
                client.recover();
                self.held[i] = (self.lines.len() - 1) as u32;
                self.runnable.retain(|&r| r != i);
            }
            None => self.groups.first.recorder.lost(),
        }
        self.lines[line].attached = false;
        self.lines[line].lost = Some(now);
        self.lines[line].reset(self.statements.len());
        if let Some(pool) = &mut self.pool {
            pool.lose(line);
        }
        if let Some(i) = holder {
            self.advance(i, now);
        }
    }

    /// A shared line waits for another connection from now on.
    pub fn miss(&mut self, line: usize, now: Tick) {
        self.lines[line].lost = Some(now);
    }

    /// A line has a new connection, which took `took_ns` to open. Somebody must have waited for it.
    pub fn attach(&mut self, line: usize, now: Tick, took_ns: u64) {
        self.lines[line].reset(self.statements.len());
        self.lines[line].attached = true;
        if let Some(pool) = &mut self.pool {
            pool.revive(line);
            if let Some(lost) = self.lines[line].lost.take() {
                self.groups.first.recorder.reconnected(now.since(lost));
            }
            return self.hand_out(now);
        }
        let i = line;
        let was_lost = matches!(self.state(i), State::Lost(_));
        let (client, _, common) = self.seat(i);
        client.attach(now, took_ns, common);
        common.active += usize::from(was_lost);
        self.advance(i, now);
    }

    /// The connection that client `i` asked for could not be opened: it is given up.
    pub fn cannot_connect(&mut self, i: usize, now: Tick) {
        let (client, _, common) = self.seat(i);
        client.cannot_connect(now, common);
        common.active -= 1;
    }

    /// Command `number` of client `i` ended. One whose transaction was lost meanwhile is passed over.
    pub fn shell_done(&mut self, i: usize, now: Tick, number: u64, outcome: ShellOutcome) {
        let (client, _, common) = self.seat(i);
        if client.awaits_shell(number) {
            client.shell_done(now, outcome, common);
            self.advance(i, now);
        }
    }
}

/// A workload's statements, each made ready under the number of its place.
#[must_use]
pub fn numbered(statements: Vec<Statement>) -> Arc<[Statement]> {
    statements.into_iter().zip(0..).map(|(statement, id)| statement.numbered(StmtId(id))).collect()
}

/// Feeds `bytes` to the client, event by event; how many of them are done with.
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
    // A read mostly ends with a message.
    while !rest.is_empty() {
        match line.session.receive(rest)? {
            Received::NeedMore { used } => {
                rest = &rest[used..];
                break;
            }
            Received::Event { event, used } => {
                *ready |= client.on_event(now, event, line, common);
                rest = &rest[used..];
            }
        }
    }
    Ok(bytes.len() - rest.len())
}
