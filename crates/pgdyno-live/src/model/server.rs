//! Facts about the server in a few lines: what it writes, whether its cache suffices, what slows it down.

use pgdyno_samples::{SampleSource, checkpointer, database, locks, machine, replication, vacuum, waits, wal};
use pgdyno_text::units;

use super::Model;
use super::frames::{Frames, Row};

/// Checkpoints that ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checkpoints {
    /// Their number.
    pub(crate) ended: u64,
    /// When the last one ended, in seconds since the run started.
    pub(crate) last_s: Option<f64>,
    /// The redo position of the last known one.
    redo: Option<f64>,
}

impl Checkpoints {
    /// Checks whether a checkpoint has ended. Its redo position shows that on every version of the server.
    pub(super) fn look(&mut self, at_s: f64, frames: &Frames) {
        let Some(redo) = frames.gauge(checkpointer::REDO_LSN_BYTES) else { return };
        if self.redo.is_some_and(|known| redo > known) {
            self.ended += 1;
            self.last_s = Some(at_s);
        }
        self.redo = Some(redo);
    }
}

/// A fact about the server.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fact {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its value.
    pub(crate) text: String,
    /// Whether it slows down the run.
    pub(crate) strain: bool,
}

fn fact(name: &'static str, text: String) -> Fact {
    Fact { name, text, strain: false }
}

impl Model {
    /// Returns the facts about the server, the most important first.
    pub(crate) fn server(&self) -> Vec<Fact> {
        let facts = [
            self.wal(),
            self.checkpoint(),
            self.vacuum(),
            self.locks(),
            self.cache(),
            self.disk(),
            self.temporary(),
            self.standby(),
        ];
        facts.into_iter().flatten().collect()
    }

    fn wal(&self) -> Option<Fact> {
        let frames = &self.frames;
        let bytes = frames.rate(wal::LSN_BYTES).or_else(|| frames.rate(wal::WAL_BYTES))?;
        let mut text = format!("{}/s", units::bytes(bytes as u64));
        let records = frames.growth(wal::WAL_RECORDS).filter(|records| *records > 0.0);
        if let Some((images, records)) = frames.growth(wal::WAL_FPI).zip(records) {
            text += &format!(", {} full pages", units::percent(images / records));
        }
        Some(fact("WAL", text))
    }

    fn checkpoint(&self) -> Option<Fact> {
        let last_s = self.frames.last_s(checkpointer::SOURCE)?;
        let written = self.frames.rate(checkpointer::BUFFERS_WRITTEN).filter(|buffers| *buffers > 0.0);
        let ago = |at_s: f64| format!("last {} ago", units::duration((last_s - at_s).max(0.0).round()));
        let text = match (written, self.checkpoints.last_s) {
            (Some(buffers), _) => format!("{} buffers/s", units::rate(buffers)),
            (None, Some(at_s)) => ago(at_s),
            (None, None) => "none yet".to_owned(),
        };
        let ended = self.checkpoints.ended;
        let text = if ended > 0 { format!("{text}, {ended} ended") } else { text };
        Some(Fact { strain: written.is_some(), ..fact("checkpoint", text) })
    }

    fn vacuum(&self) -> Option<Fact> {
        let running = self.frames.rows(vacuum::SOURCE).filter_map(|row| {
            let table = row.text(vacuum::TABLE)?;
            let share =
                row.number(vacuum::HEAP_BLKS_SCANNED).zip(row.number(vacuum::HEAP_BLKS_TOTAL).filter(|all| *all > 0.0));
            let share = share.map_or_else(String::new, |(done, all)| format!(" {:.0} %", done / all * 100.0));
            Some(format!("{table} {}{share}", row.text(vacuum::PHASE).unwrap_or("under way")))
        });
        let running: Vec<_> = running.take(3).collect();
        (!running.is_empty() && self.is_fresh(vacuum::SOURCE)).then(|| fact("vacuum", running.join("; ")))
    }

    fn locks(&self) -> Option<Fact> {
        let waiting: f64 = self.frames.rows(locks::SOURCE).filter_map(|row| row.number(locks::WAITING)).sum();
        let longest = self.frames.rows(locks::SOURCE).max_by(|one, other| {
            let wait_s = |row: &Row<'_>| row.number(locks::LONGEST_WAIT_S).unwrap_or(0.0);
            wait_s(one).total_cmp(&wait_s(other))
        })?;
        let on = longest.text(locks::RELATION).or_else(|| longest.text(locks::LOCKTYPE)).unwrap_or("a lock");
        let wait_s = units::duration(longest.number(locks::LONGEST_WAIT_S).unwrap_or(0.0));
        let text = format!("{waiting} wait ≤ {wait_s}: {on}");
        (waiting > 0.0 && self.is_fresh(locks::SOURCE)).then(|| Fact { strain: true, ..fact("locks", text) })
    }

    fn cache(&self) -> Option<Fact> {
        let growth = |column| self.frames.growth(column);
        let (hit, read) = (growth(database::BLKS_HIT)?, growth(database::BLKS_READ)?);
        let reads = units::rate(self.frames.rate(database::BLKS_READ)?);
        let share = if hit + read > 0.0 { hit / (hit + read) } else { return None };
        Some(fact("cache", format!("{} of blocks hit, {reads} read/s", units::percent(share))))
    }

    fn disk(&self) -> Option<Fact> {
        let gauge = |column| self.frames.gauge(column);
        let speed = |bytes: f64| format!("{}/s", units::bytes(bytes as u64));
        let (read, written) = (gauge(machine::DISK_READ_BYTES_PER_S)?, gauge(machine::DISK_WRITE_BYTES_PER_S)?);
        let busy = gauge(machine::DISK_BUSY);
        let share = busy.map_or_else(String::new, |busy| format!("{:.0} % busy, ", busy * 100.0));
        let text = format!("{share}writes {}, reads {}", speed(written), speed(read));
        Some(Fact { strain: busy.is_some_and(|busy| busy > 0.9), ..fact("disk", text) })
    }

    fn temporary(&self) -> Option<Fact> {
        let bytes = self.frames.rate(database::TEMP_BYTES).filter(|bytes| *bytes > 0.0)?;
        Some(fact("temporary", format!("{}/s in files", units::bytes(bytes as u64))))
    }

    fn standby(&self) -> Option<Fact> {
        let behind = |row: &Row<'_>| row.number(replication::LAG_BYTES).unwrap_or(0.0);
        let last = self.frames.rows(replication::SOURCE).max_by(|one, other| behind(one).total_cmp(&behind(other)))?;
        let lag = last
            .number(replication::REPLAY_LAG_S)
            .map_or_else(String::new, |s| format!(", replays {} late", units::duration(s)));
        let name = last.text(replication::APPLICATION_NAME).unwrap_or("a standby");
        Some(fact("standby", format!("{name} {} behind{lag}", units::bytes(behind(&last) as u64))))
    }

    /// Returns true if the last frame of `source`, which has rows only sometimes, is recent: another source gives the
    /// time.
    fn is_fresh(&self, source: SampleSource) -> bool {
        let time_s = [database::SOURCE, machine::SOURCE, waits::SOURCE]
            .into_iter()
            .filter_map(|source| self.frames.last_s(source))
            .reduce(f64::max);
        self.frames.last_s(source).zip(time_s).is_none_or(|(at_s, time_s)| time_s - at_s < 3.0)
    }
}
