//! One run of a suite: its process, its watcher, and its result.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pgdyno_life::events::EventSink as _;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, Result};
use pgdyno_life::interrupt::Interrupt;
use pgdyno_life::record::Recording;
use pgdyno_plan::{Order, Plan};
use pgdyno_report::units;
use pgdyno_results::Status;

use super::{GLANCE, Runner};
use crate::child::{self, Ended};
use crate::suite::standing::{self, Done};
use crate::suite::targets::Targets;
use crate::suite::view;

/// How often the changing line is updated.
const SHOWN: Duration = Duration::from_millis(500);
/// A run that has exceeded its time and does not end cleanly within this is ended at once.
const GRACE: Duration = Duration::from_secs(30);

impl Runner<'_> {
    /// Runs the run `nth`. `None` if the user has ended it.
    pub(super) fn turn(
        &mut self,
        nth: usize,
        standings: &[Option<Done>],
        targets: &mut Targets<'_>,
    ) -> Result<Option<Done>> {
        let cell = self.cells[nth];
        self.execution.state.current = Some(nth);
        self.execution.write()?;
        let done = match targets.ready(cell, &mut self.execution) {
            Ok(mut order) => {
                order.labels.extend(self.execution.state.labels.clone());
                self.drive(nth, &order, standings)?
            }
            Err(_) if self.interrupt.control.is_stopping() => None,
            Err(failure) => Some(self.failed_without_record(nth, &failure.text(), failure.code())?),
        };
        targets.look();
        if let Some(done) = &done {
            self.view.say(&format!("{}: {}", view::title(&self.execution.state, nth), view::ending(done)));
        }
        Ok(done)
    }

    /// Lets the child run, and completes its record.
    fn drive(&mut self, nth: usize, order: &Order, standings: &[Option<Done>]) -> Result<Option<Done>> {
        let (place, log) = (self.execution.state.place(nth), self.execution.run_log(nth));
        let said_before = std::fs::metadata(&log).map_or(0, |log| log.len());
        // Records of earlier attempts.
        let known: Vec<String> = child::records(&self.execution.state.results)?
            .filter(|(_, record)| record.plan.suite.as_ref() == Some(&place))
            .map(|(_, record)| record.id)
            .collect();
        let (inner, over, late) = (Interrupt::default(), AtomicBool::new(false), AtomicBool::new(false));
        let mut ended = std::thread::scope(|scope| {
            scope.spawn(|| self.watch(nth, &log, standings, &inner, &over, &late));
            let ended = child::run(order, &place, &self.execution.state.results, &log, self.store, &inner);
            over.store(true, Ordering::Release);
            ended
        })?;
        ended.record = ended.record.filter(|(_, record)| !known.contains(&record.id));
        self.settle(nth, ended, late.into_inner(), &log, said_before)
    }

    /// Watches a run: passes on what the user asks for, ends the run when its time is over, and shows its progress.
    fn watch(
        &self,
        nth: usize,
        log: &Path,
        standings: &[Option<Done>],
        inner: &Interrupt,
        over: &AtomicBool,
        late: &AtomicBool,
    ) {
        let began = Instant::now();
        let timeout = self.suite.run_timeout_s.map(Duration::from_secs_f64);
        let left = view::left_s(&self.execution.state, standings, self.suite.cool_down_s);
        let mut shown: Option<Instant> = None;
        while !over.load(Ordering::Acquire) {
            if self.interrupt.control.is_stopping() && !inner.control.is_stopping() {
                inner.control.stop();
            }
            if self.interrupt.control.is_killing() && !inner.control.is_killing() {
                inner.control.kill();
            }
            if timeout.is_some_and(|timeout| began.elapsed() > timeout) && !inner.control.is_stopping() {
                late.store(true, Ordering::Release);
                inner.control.stop();
            }
            if timeout.is_some_and(|timeout| began.elapsed() > timeout + GRACE) && !inner.control.is_killing() {
                inner.control.kill();
            }
            if shown.is_none_or(|shown| shown.elapsed() > SHOWN) {
                shown = Some(Instant::now());
                let (state, passed_s) = (&self.execution.state, began.elapsed().as_secs_f64());
                self.view.show(state, nth, log, state.worked_s + passed_s, left.map(|left| left - passed_s));
            }
            std::thread::sleep(GLANCE);
        }
        self.progress.ended();
    }

    /// Returns how a child ended according to the records. Writes that into the record if no other process has.
    fn settle(&mut self, nth: usize, ended: Ended, late: bool, log: &Path, said_before: u64) -> Result<Option<Done>> {
        let results = self.execution.state.results.clone();
        let why = match (ended.code, ended.signal) {
            _ if late => {
                let timeout = units::duration(self.suite.run_timeout_s.unwrap_or_default());
                format!("it took longer than run_timeout, {timeout}, and was ended")
            }
            (_, Some(signal)) => format!("its process was ended by signal {signal}"),
            (code, _) => error_in(log, said_before).unwrap_or_else(|| {
                format!("its process ended with code {} and without a message", code.unwrap_or_default())
            }),
        };
        let code = code_of(ended.code);
        match ended.record {
            Some((_, record)) if record.status != Status::Interrupted => {
                standing::list(&results, &record, self.progress)
            }
            Some((_, record)) if self.interrupt.control.is_stopping() && !late => {
                standing::list(&results, &record, self.progress);
                return Ok(None);
            }
            // Its line already says interrupted, and lines never change.
            Some((_, record)) if pgdyno_results::is_listed(&results, &record.id).unwrap_or(false) => {
                self.execution.state.failed.insert(nth, why);
            }
            Some((path, mut record)) => {
                standing::amend(&path, &mut record, &why, code)?;
                standing::list(&results, &record, self.progress);
            }
            None if self.interrupt.control.is_stopping() && !late => return Ok(None),
            None => return self.failed_without_record(nth, &why, code).map(Some),
        }
        let found = child::find(&results, &self.execution.state.place(nth))?;
        Ok(found.and_then(|found| standing::standing(&self.execution.state, nth, &[found])))
    }

    /// Creates a record for a run that did not get far enough to make one, so that it is not missing from the results.
    fn failed_without_record(&mut self, nth: usize, why: &str, code: Code) -> Result<Done> {
        let draft = &self.drafts[self.cells[nth]];
        let plan = Plan { suite: Some(self.execution.state.place(nth)), ..draft.plan.clone() };
        let mut recording =
            Recording::begin(&plan, &draft.source, &draft.workload.drive, &self.execution.state.results)?;
        let troubles = recording.end(Status::Failed, Some(why.to_owned()), code, None);
        match troubles.errors.into_iter().next() {
            Some(error) => Err(Failure::new(Code::Run, error)),
            None => Ok(Done { record: recording.record.clone(), failure: Some(why.to_owned()) }),
        }
    }
}

/// Returns the meaning of a child's exit code.
fn code_of(code: Option<i32>) -> Code {
    let codes = [Code::Start, Code::Server, Code::Load, Code::Check, Code::Hook];
    codes.into_iter().find(|known| code == Some(i32::from(*known as u8))).unwrap_or(Code::Run)
}

/// Returns the error in a run's output after position `said_before`.
fn error_in(log: &Path, said_before: u64) -> Option<String> {
    let bytes = std::fs::read(log).ok()?;
    let said = bytes.get(usize::try_from(said_before).ok()?..)?;
    let text = String::from_utf8_lossy(said).into_owned();
    text.lines().find_map(|line| line.strip_prefix("error: ")).map(str::to_owned)
}
