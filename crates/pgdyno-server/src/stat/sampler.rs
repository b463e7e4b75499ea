//! Looks at all sources, and at what happens to the server between the looks.

use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

use pgdyno_net::{AdminError, ConnectOptions, Rows};

use super::clock::Clock;
use super::scene::Scene;
use super::session::{Cost, Session};
use super::source::{Every, Source};
use super::{SOURCES, waits};
use crate::Frame;

/// A source that could not be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Which.
    pub source: &'static str,
    /// Why, and what would help.
    pub why: String,
}

/// Something that a reader of the samples must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// When it was noticed.
    pub at: Instant,
    /// `reset`, `restart`, `outage` or `clock`.
    pub kind: &'static str,
    /// What has happened.
    pub text: String,
}

/// What there is to know of the sampling itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampled {
    /// What could not be looked at.
    pub left_out: Vec<LeftOut>,
    /// What has happened meanwhile.
    pub notices: Vec<Notice>,
    /// Queries that were sent.
    pub queries: u64,
    /// Transactions that the server has counted for them, the beginning of each session included.
    pub transactions: u64,
    /// How long the answers took.
    pub waited: Duration,
    /// CPU time of the sampling sessions, where the server is on this machine and shows it.
    pub cpu: Option<Duration>,
}

/// A source that is asked, and the text that asks it.
#[derive(Debug)]
struct Asked {
    source: &'static Source,
    text: String,
}

/// Samples one server.
#[derive(Debug)]
pub struct Sampler {
    options: ConnectOptions,
    session: Option<Session>,
    /// Of the sessions that are gone.
    spent: Cost,
    scene: Option<Scene>,
    asked: Vec<Asked>,
    waits_text: Option<String>,
    looks: waits::Looks,
    seconds: u64,
    clock: Clock,
    lost_at: Option<Instant>,
    /// The first row of the last look at each source.
    before: BTreeMap<&'static str, Vec<Option<String>>>,
    left_out: Vec<LeftOut>,
    notices: Vec<Notice>,
}

/// Ten-second sources are looked at every so many seconds.
const SLOW: u64 = 10;

impl Sampler {
    /// A sampler of the server that `options` lead to. It has a session of its own from now on; where none can be had that
    /// is told in the end.
    #[must_use]
    pub fn begin(options: &ConnectOptions) -> Self {
        let mut sampler = Self {
            options: options.clone(),
            session: None,
            spent: Cost::default(),
            scene: None,
            asked: Vec::new(),
            waits_text: None,
            looks: waits::Looks::default(),
            seconds: 0,
            clock: Clock::new(Instant::now(), SystemTime::now()),
            lost_at: None,
            before: BTreeMap::new(),
            left_out: Vec::new(),
            notices: Vec::new(),
        };
        match Session::open(options, Cost::default()) {
            Ok(session) => sampler.enter(session),
            Err(error) => sampler.leave_out("statistics", format!("no session to look at them: {error}")),
        }
        sampler
    }

    fn leave_out(&mut self, source: &'static str, why: String) {
        if !self.left_out.iter().any(|out| out.source == source) {
            self.left_out.push(LeftOut { source, why });
        }
    }

    /// Gets to know the server by a new session, and prepares what is asked of it.
    fn enter(&mut self, mut session: Session) {
        let entered = self.settle_in(&mut session);
        match entered {
            Ok(()) => self.session = Some(session),
            Err(_) => self.lose(&session),
        }
    }

    fn settle_in(&mut self, session: &mut Session) -> Result<(), AdminError> {
        let Some(scene) = Scene::look(session)? else {
            self.leave_out("statistics", "the server does not tell its version".to_owned());
            return Ok(());
        };
        self.note_return(&scene);
        self.asked.clear();
        for source in SOURCES {
            if self.left_out.iter().any(|out| out.source == source.name) {
                continue;
            }
            let tried = match source.sql(&scene) {
                Ok(sql) => try_out(session, source.name, &sql)?,
                Err(Some(why)) => Err(why),
                Err(None) => continue,
            };
            match tried {
                Ok(text) => self.asked.push(Asked { source, text }),
                Err(why) => self.leave_out(source.name, why),
            }
        }
        self.waits_text = match try_out(session, waits::NAME, &waits::sql())? {
            Ok(text) => Some(text),
            Err(why) => {
                self.leave_out(waits::NAME, why);
                None
            }
        };
        if let Some(caveat) = waits::caveat(&scene) {
            self.leave_out("waits of others", caveat);
        }
        self.scene = Some(scene);
        Ok(())
    }

    /// There is a session again, where there was one before.
    fn note_return(&mut self, now: &Scene) {
        let Some(lost_at) = self.lost_at.take() else { return };
        let away = lost_at.elapsed().as_secs_f64();
        let restarted = self.scene.as_ref().is_some_and(|before| before.started != now.started);
        let (kind, text) = if restarted {
            ("restart", format!("the server was restarted, and could not be looked at for {away:.1} s"))
        } else {
            ("outage", format!("the server could not be looked at for {away:.1} s: the sampling session was lost"))
        };
        self.before.clear();
        self.notices.push(Notice { at: lost_at, kind, text });
    }

    fn lose(&mut self, session: &Session) {
        self.spent = session.cost();
        self.lost_at.get_or_insert_with(Instant::now);
    }

    /// What `ask` brings over the session; none where there is no session, which then is looked for again.
    fn with_session<T>(&mut self, ask: impl FnOnce(&mut Self, &mut Session) -> Result<T, AdminError>) -> Option<T> {
        let mut session = self.session.take()?;
        match ask(self, &mut session) {
            Ok(answer) => {
                self.session = Some(session);
                Some(answer)
            }
            Err(_) => {
                self.lose(&session);
                None
            }
        }
    }

    /// One of the looks within a second: at the sessions only.
    pub fn look_at_waits(&mut self) {
        let Some(text) = self.waits_text.clone() else { return };
        self.with_session(|sampler, session| {
            if let Some(rows) = session.ask(&text)? {
                sampler.looks.add(rows);
            }
            Ok(())
        });
    }

    /// The look that ends a second: at the sessions and at all sources that are due.
    pub fn look(&mut self) -> Vec<Frame> {
        self.look_at_clock();
        if self.session.is_none() && self.lost_at.is_some() {
            // A server that comes back lets one in when it is ready.
            if let Ok(session) = Session::open(&self.options, self.spent) {
                self.enter(session);
            }
        }
        let slow = self.seconds.is_multiple_of(SLOW);
        self.seconds += 1;
        let due = |asked: &&Asked| asked.source.every == Every::Second || slow;
        let due: Vec<_> = self.asked.iter().filter(due).map(|asked| (asked.source, asked.text.clone())).collect();
        let mut frames = self.with_session(|sampler, session| sampler.ask_all(session, &due)).unwrap_or_default();
        frames.extend(self.looks.take(Instant::now()));
        frames
    }

    /// Asks all in one text; where that fails, one by one, so that the others are seen all the same.
    fn ask_all(
        &mut self,
        session: &mut Session,
        due: &[(&'static Source, String)],
    ) -> Result<Vec<Frame>, AdminError> {
        let texts: Vec<&str> = self.waits_text.iter().chain(due.iter().map(|(_, text)| text)).map(String::as_str).collect();
        let waits = usize::from(self.waits_text.is_some());
        match session.run(&texts.join(";")) {
            Ok(mut results) if results.len() == texts.len() => {
                let at = Instant::now();
                for looked in results.drain(..waits) {
                    self.looks.add(looked.rows);
                }
                let frames = due.iter().zip(results).map(|((source, _), rows)| self.frame(source, at, rows));
                Ok(frames.collect())
            }
            Ok(_) => Ok(Vec::new()),
            Err(error) if error.is_lost() => Err(error),
            Err(_) => self.ask_each(session, due),
        }
    }

    fn ask_each(
        &mut self,
        session: &mut Session,
        due: &[(&'static Source, String)],
    ) -> Result<Vec<Frame>, AdminError> {
        let mut frames = Vec::new();
        for (source, text) in due {
            match session.run(text) {
                Ok(mut results) => {
                    let rows = results.pop().unwrap_or_default();
                    frames.push(self.frame(source, Instant::now(), rows));
                }
                Err(error) if error.is_lost() => return Err(error),
                Err(error) if is_passing(&error) => {}
                Err(error) if is_forgotten(&error) => {
                    session.forgets();
                    self.settle_in(session)?;
                    break;
                }
                Err(error) => {
                    self.asked.retain(|asked| asked.source.name != source.name);
                    self.leave_out(source.name, refusal(&error));
                }
            }
        }
        Ok(frames)
    }

    /// What one source has shown, and whether its counters have been reset since.
    fn frame(&mut self, source: &'static Source, at: Instant, rows: Rows) -> Frame {
        if let [row] = &rows.rows[..]
            && let Some(before) = self.before.insert(source.name, row.clone())
            && source.was_reset(&before, row)
        {
            let text = format!("the counters of {} were reset: what was counted across that moment is not known", source.name);
            self.notices.push(Notice { at, kind: "reset", text });
        }
        Frame { source: source.name, at, columns: source.names, rows: rows.rows }
    }

    fn look_at_clock(&mut self) {
        let at = Instant::now();
        if let Some(step) = self.clock.step(at, SystemTime::now()) {
            let text = format!(
                "the clock of this machine was set by {step:+.1} s, or the machine was asleep: times of day before and after \
                 do not fit together; durations are not affected"
            );
            self.notices.push(Notice { at, kind: "clock", text });
        }
    }

    /// Ends the session.
    #[must_use]
    pub fn end(mut self) -> Sampled {
        let cost = self.session.take().map_or(self.spent, |session| session.cost());
        if let Some(lost_at) = self.lost_at {
            let text = "the server could not be looked at from here on: the sampling session was lost".to_owned();
            self.notices.push(Notice { at: lost_at, kind: "outage", text });
        }
        Sampled {
            left_out: self.left_out,
            notices: self.notices,
            queries: cost.queries,
            transactions: cost.queries + cost.sessions,
            waited: cost.waited,
            cpu: cost.cpu,
        }
    }
}

/// Prepares a statement and runs it once: the text that asks it from now on, or why it cannot be asked.
fn try_out(session: &mut Session, name: &str, sql: &str) -> Result<Result<String, String>, AdminError> {
    let tried = session.prepare(name, sql).and_then(|text| session.run(&text).map(|_| text));
    match tried {
        Ok(text) => Ok(Ok(text)),
        Err(error) if error.is_lost() => Err(error),
        Err(error) if is_passing(&error) => Ok(Ok(format!("EXECUTE pgdyno_{name}"))),
        Err(error) => Ok(Err(refusal(&error))),
    }
}

/// Whether it may be better next time: a limit of the session was reached, or somebody cancelled it.
fn is_passing(error: &AdminError) -> bool {
    error.code().is_some_and(|code| matches!(code.as_str(), "57014" | "55P03" | "40001" | "40P01"))
}

/// Whether what was prepared is not there.
fn is_forgotten(error: &AdminError) -> bool {
    error.code().is_some_and(|code| code.as_str() == "26000")
}

/// What the server said.
fn refusal(error: &AdminError) -> String {
    match error {
        AdminError::Server { message, .. } => format!("the server says: {}", message.message),
        error => error.to_string(),
    }
}
