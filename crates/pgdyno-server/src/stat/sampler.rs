//! The sampler of one server: its session, which is replaced when it is lost, and its looks.

use std::time::{Instant, SystemTime};

use pgdyno_net::{AdminError, ConnectOptions};

use super::asked::{Asked, Last, Moment};
use super::clock::Clock;
use super::sampled::{Notes, Sampled};
use super::session::{Cost, Session};
use super::statements::{self, Snapshot};
use super::traits::ServerTraits;
use super::{plans, waits};
use crate::Frame;

/// Options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SamplerOptions {
    /// Number of statements whose plans are wanted.
    pub plans: usize,
    /// Whether the database belongs to pgdyno, so that an extension may be created in it.
    pub owns_database: bool,
    /// Whether a pooler assigns server connections transaction by transaction: then nothing is prepared.
    pub is_pooled: bool,
    /// The workload's tables: the keys of their rows may be read.
    pub tables: Vec<String>,
}

/// Samples one server.
#[derive(Debug)]
pub struct Sampler {
    options: ConnectOptions,
    settings: SamplerOptions,
    /// The session and its queries; `None` while the server is unreachable.
    within: Option<(Session, Asked)>,
    /// State that survives a session.
    spent: Cost,
    last: Last,
    started: Option<String>,
    /// The address of its last session.
    peer: String,
    lost_at: Option<Instant>,
    looks: waits::Looks,
    seconds: u64,
    clock: Clock,
    /// When the measured window began, and the counters of statements then.
    at_opening: Option<(Instant, Snapshot)>,
    plans: Option<String>,
    notes: Notes,
}

impl Sampler {
    /// Returns a sampler of the server of `options`, and opens its session. If that fails, [`Sampler::end`] returns
    /// the reason.
    #[must_use]
    pub fn begin(options: &ConnectOptions, settings: SamplerOptions) -> Self {
        let mut sampler = Self {
            options: options.clone(),
            settings,
            within: None,
            spent: Cost::default(),
            last: Last::new(),
            started: None,
            peer: String::new(),
            lost_at: None,
            looks: waits::Looks::default(),
            seconds: 0,
            clock: Clock::new(Instant::now(), SystemTime::now()),
            at_opening: None,
            plans: None,
            notes: Notes::default(),
        };
        if let Err(why) = sampler.enter() {
            sampler.notes.leave_out("all statistics", format!("no session to read them: {why}"));
        }
        sampler
    }

    /// Returns when the sampled server was started, in the form of [`crate::ServerIdentity`]; `None` without a session.
    #[must_use]
    pub fn started(&self) -> Option<&str> {
        self.within.as_ref().and(self.started.as_deref())
    }

    /// Opens a session, reads the server's properties, and prepares the queries. Returns the reason if it fails.
    fn enter(&mut self) -> Result<(), String> {
        let mut session = Session::open(&self.options, self.spent).map_err(|error| error.to_string())?;
        if self.settings.is_pooled {
            session.forgets();
        } else {
            session.lift_idle_limits().map_err(|error| error.to_string())?;
        }
        let settled = self.settle(&mut session);
        self.spent = session.cost();
        let asked = settled.map_err(|error| error.to_string())?.ok_or("the server does not show its version")?;
        self.within = Some((session, asked));
        Ok(())
    }

    fn settle(&mut self, session: &mut Session) -> Result<Option<Asked>, AdminError> {
        let Some(mut traits) = ServerTraits::look(session, &self.settings.tables)? else { return Ok(None) };
        let counts = traits.statements_tracked.as_ref().is_some_and(|tracked| tracked != "none");
        if counts && traits.statements_schema.is_none() && self.settings.owns_database {
            session.ask("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")?;
            traits = ServerTraits::look(session, &self.settings.tables)?.unwrap_or(traits);
        }
        for setting in &traits.untimed {
            let why = format!("{setting} is off, so these times are not measured (--set {setting}=on)");
            self.notes.leave_out(setting, why);
        }
        if let Err(why) = statements::place(&traits) {
            self.notes.leave_out(statements::NAME, why);
        }
        // If the server is lost here, the next attempt finds all as it was.
        let mut asked = Asked::prepare(session, traits, &mut self.notes)?;
        self.note_return(&asked.traits, session.peer());
        self.started = Some(asked.traits.started.clone());
        session.peer().clone_into(&mut self.peer);
        asked.last = std::mem::take(&mut self.last);
        Ok(Some(asked))
    }

    /// Notes that there is a session again, after one was lost.
    fn note_return(&mut self, traits: &ServerTraits, peer: &str) {
        let Some(lost_at) = self.lost_at.take() else { return };
        let away = lost_at.elapsed().as_secs_f64();
        let is_another_start = self.started.as_ref().is_some_and(|started| *started != traits.started);
        let (kind, what) = match is_another_start {
            true if self.peer == peer => ("restart", "the server was restarted".to_owned()),
            true => ("outage", format!("the server at {peer} took over")),
            false => ("outage", "the sampling session was lost".to_owned()),
        };
        let text = format!("{what}: nothing was sampled for {away:.1} s");
        self.notes.note_return(lost_at, kind, text, self.last.keys().copied());
    }

    /// Returns the result of `ask`; `None` without a session. A lost session is replaced at the next look.
    fn within<T>(
        &mut self,
        ask: impl FnOnce(&mut Self, &mut Session, &mut Asked) -> Result<T, AdminError>,
    ) -> Option<T> {
        let (mut session, mut asked) = self.within.take()?;
        match ask(self, &mut session, &mut asked) {
            Ok(answer) => {
                self.within = Some((session, asked));
                Some(answer)
            }
            Err(_) => {
                self.spent = session.cost();
                self.last = asked.into_last();
                self.lost_at = Some(Instant::now());
                None
            }
        }
    }

    /// Looks at the waits of sessions, several times within a second.
    pub fn look_at_waits(&mut self) {
        self.within(|sampler, session, asked| asked.look_at_waits(session, &mut sampler.looks));
    }

    /// Looks at all sources that are due, at the end of a second.
    pub fn look(&mut self) -> Vec<Frame> {
        self.look_at_clock();
        if self.within.is_none() && self.lost_at.is_some() {
            // A server that restarts accepts connections when it is ready; until then every second is an attempt.
            let _ = self.enter();
        }
        let moment = Moment::Second(self.seconds);
        self.seconds += 1;
        let mut frames = self.look_at(moment);
        frames.extend(self.looks.take(Instant::now()));
        frames
    }

    fn look_at(&mut self, moment: Moment) -> Vec<Frame> {
        let looked =
            self.within(|sampler, session, asked| asked.look(session, moment, &mut sampler.looks, &mut sampler.notes));
        looked.unwrap_or_default()
    }

    fn look_at_clock(&mut self) {
        let at = Instant::now();
        if let Some(step) = self.clock.step(at, SystemTime::now()) {
            let text = format!(
                "the clock of this machine was set by {step:+.1} s, or the machine slept: times of day from before do not fit \
                 those after it, and durations do"
            );
            self.notes.note(at, "clock", text);
        }
    }

    /// Handles the start of the measured window.
    pub fn window_opens(&mut self) {
        self.at_opening = self.count_statements().map(|counted| (Instant::now(), counted));
    }

    fn count_statements(&mut self) -> Option<Snapshot> {
        let counted = self.within(|_, session, asked| match statements::place(&asked.traits) {
            Ok(place) => Snapshot::take(session, &place, &asked.traits),
            Err(_) => Ok(None),
        });
        counted.flatten()
    }

    /// Handles the end of the measured window: looks at the slow sources, which show how it ended, and returns its
    /// statements, if they were counted.
    pub fn window_closes(&mut self) -> Vec<Frame> {
        let statements = self.statements_of_window();
        let mut frames = self.look_at(Moment::WindowEnd);
        frames.extend(statements);
        frames
    }

    fn statements_of_window(&mut self) -> Option<Frame> {
        let after = self.count_statements();
        let (Some((opened, before)), Some(after)) = (self.at_opening.take(), after) else {
            let why = "they could not be counted at both ends of the measured window".to_owned();
            self.notes.leave_out(statements::NAME, why);
            return None;
        };
        let frame = self.within(|sampler, session, asked| {
            let Ok(place) = statements::place(&asked.traits) else { return Ok(None) };
            let Some(frame) = statements::frame(session, &place, asked.traits.version, &before, &after)? else {
                let why = "the counters of pg_stat_statements were reset in the measured window";
                sampler.notes.leave_out(statements::NAME, why.to_owned());
                match sampler.notes.has_returned_since(opened) {
                    true => sampler.notes.began_again(statements::COUNTED_BY),
                    false => sampler.notes.note(Instant::now(), "reset", why.to_owned()),
                }
                return Ok(None);
            };
            let texts: Vec<_> = frame.rows.iter().filter_map(|row| row.get(1).cloned().flatten()).collect();
            let wanted = &texts[..sampler.settings.plans.min(texts.len())];
            if !wanted.is_empty() {
                sampler.plans = Some(plans::explain(session, &asked.traits, wanted)?);
            }
            Ok(Some(frame))
        });
        frame.flatten()
    }

    /// Ends the session.
    #[must_use]
    pub fn end(mut self) -> Sampled {
        let cost = self.within.take().map_or(self.spent, |(session, _)| session.cost());
        if let Some(lost_at) = self.lost_at {
            let text = "the sampling session was lost: the server was not sampled from here on".to_owned();
            self.notes.note_since(lost_at, "outage", text);
        }
        Sampled {
            left_out: self.notes.left_out,
            notices: self.notes.notices,
            plans: self.plans,
            queries: cost.queries,
            transactions: cost.queries + cost.sessions,
            waited: cost.waited,
            cpu: cost.cpu,
        }
    }
}
