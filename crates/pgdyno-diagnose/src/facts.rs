//! The facts of a run that rules and events ask for.

use pgdyno_results::{IntervalRecord, RunRecord, SampleTable, Samples, Summary, TimePartRecord, Timeline};
use pgdyno_samples::{SampleColumn, cgroup, machine, processes, waits};
use pgdyno_text::parse;

use crate::account::Account;
use crate::streams::Streams;
use crate::waits::{Class, Waits};

/// A run that measured something.
pub(crate) struct Facts<'a> {
    pub(crate) record: &'a RunRecord,
    pub(crate) summary: &'a Summary,
    pub(crate) samples: &'a Samples,
    /// The intervals of the measured window.
    pub(crate) intervals: Vec<&'a IntervalRecord>,
    /// Begin of the measured window, in seconds since the clients began.
    pub(crate) from_s: f64,
    /// Its end.
    pub(crate) until_s: f64,
    /// Whether the clients' sessions are distinguished from others by their `application_name`.
    pub(crate) has_names: bool,
    /// Waits of the clients' sessions in the window.
    pub(crate) waits: Waits,
    /// Streams of queries beside the clients, if they ran on this server.
    pub(crate) streams: Option<Streams<'a>>,
    /// The account of the clients' time.
    pub(crate) account: Account,
    /// CPUs of the server's machine, and how many of them were busy; where they were sampled.
    pub(crate) machine: Option<(f64, f64)>,
    /// The limit of CPU of the server's control group, if it is on the driver's machine and has one.
    pub(crate) quota: Option<Quota>,
}

/// A control group's limit of CPU.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quota {
    pub(crate) cpus: f64,
    /// CPUs that the group used, if known.
    pub(crate) used: Option<f64>,
    /// Share of the periods in which the group was stopped.
    pub(crate) throttled: f64,
}

impl<'a> Facts<'a> {
    /// None where nothing was measured, or no server was there.
    pub(crate) fn of(record: &'a RunRecord, timeline: &'a Timeline, samples: &'a Samples) -> Option<Self> {
        let summary = record.summary.as_ref()?;
        record.server.as_ref()?;
        let intervals: Vec<_> = timeline.intervals.iter().filter(|interval| interval.is_measured()).collect();
        let (from_s, until_s) = (intervals.first()?.start_s, intervals.last()?.end_s);
        // Poolers may not pass on by whom a session is used, and a script may give its session another name. That none of the
        // clients was seen at work does not say so: on a busy machine short statements are missed.
        let is_pooled = record.server.as_ref().is_some_and(|server| server.pooling.is_some());
        let is_renamed = || record.statements.iter().any(|s| s.sql.to_ascii_lowercase().contains("application_name"));
        let has_names = !is_pooled && !is_renamed();
        let has_nodes = record.server.as_ref().is_some_and(|server| server.cluster.is_some());
        let waits = Waits::of(samples.of(waits::SOURCE), from_s, until_s, !has_names, has_nodes);
        let machine = machine(record, samples, from_s, until_s);
        let account = Account::default();
        let quota = quota(samples, from_s, until_s);
        let streams = Streams::of(record);
        let mut facts = Self {
            record,
            summary,
            samples,
            intervals,
            from_s,
            until_s,
            has_names,
            waits,
            streams,
            account,
            machine,
            quota,
        };
        // Sessions of streams and of others are among the backends: where any was active, their CPU time cannot be separated.
        let is_clients = facts.waits.others() + facts.waits.streams.total() <= 0.0;
        let cpus = facts.cpus_of("client backend").filter(|_| is_clients);
        facts.account = Account::of(record, summary, &facts.waits, cpus);
        Some(facts)
    }

    /// Length of the measured window in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        (self.until_s - self.from_s).max(1e-9)
    }

    /// Returns the growth of a counter in the measured window, a second; of a source with one row.
    pub(crate) fn rate(&self, column: SampleColumn) -> Option<f64> {
        self.rate_between(column, self.from_s, self.until_s)
    }

    /// Returns that growth between two moments.
    pub(crate) fn rate_between(&self, column: SampleColumn, from_s: f64, until_s: f64) -> Option<f64> {
        self.table(column).rate(&[], column).mean(from_s, until_s)
    }

    /// Returns the sum of that over the rows that have these values; `keys` distinguish rows.
    pub(crate) fn rate_where(
        &self,
        only: &[(SampleColumn, &str)],
        keys: &[SampleColumn],
        column: SampleColumn,
    ) -> Option<f64> {
        self.narrow(only, keys, column).rate(keys, column).mean(self.from_s, self.until_s)
    }

    /// Returns the samples of the source that declares a column.
    fn table(&self, column: SampleColumn) -> &SampleTable {
        self.samples.of_column(column)
    }

    /// The rows that have these values, with no more columns than are needed: samples of an hour are large.
    fn narrow(&self, only: &[(SampleColumn, &str)], keys: &[SampleColumn], column: SampleColumn) -> SampleTable {
        let table = self.table(column);
        let columns: Vec<SampleColumn> = keys.iter().copied().chain([column]).collect();
        let is_one = |row: &[String]| only.iter().all(|(name, value)| table.cell(row, *name) == Some(value));
        let cells =
            |row: &[String]| columns.iter().map(|c| table.cell(row, *c).unwrap_or_default().to_owned()).collect();
        let rows = table.rows().iter().filter(|(_, row)| is_one(row)).map(|(at, row)| (*at, cells(row)));
        SampleTable::new(&columns.iter().map(|column| column.name).collect::<Vec<_>>(), rows.collect())
    }

    /// The mean of a gauge in the measured window.
    pub(crate) fn gauge(&self, column: SampleColumn) -> Option<f64> {
        self.table(column).gauge(column).mean(self.from_s, self.until_s)
    }

    /// A setting as the server shows it.
    pub(crate) fn setting(&self, name: &str) -> Option<&str> {
        let server = self.record.server.as_ref()?;
        server.settings.get(name).or_else(|| server.settings_changed.get(name)).map(String::as_str)
    }

    /// `name is value`, where it is known.
    pub(crate) fn setting_is(&self, name: &str) -> Option<String> {
        self.setting(name).map(|value| format!("{name} is {value}"))
    }

    /// Returns a setting of the sessions of streams: their own, or else the server's.
    pub(crate) fn streams_setting(&self, name: &str) -> Option<&str> {
        let own = self.record.plan.drive.analytics.settings.get(name).map(String::as_str);
        own.or_else(|| self.setting(name))
    }

    /// Returns the parallel workers that one query of a stream may have.
    pub(crate) fn streams_workers_each(&self) -> Option<f64> {
        self.streams_setting("max_parallel_workers_per_gather")?.parse().ok()
    }

    /// A setting that is a size.
    pub(crate) fn setting_bytes(&self, name: &str) -> Option<f64> {
        parse::bytes(self.setting(name)?).ok().map(|bytes| bytes as f64)
    }

    /// A setting that is a length of time.
    pub(crate) fn setting_seconds(&self, name: &str) -> Option<f64> {
        let value = self.setting(name)?;
        match value.strip_suffix('d') {
            Some(days) => days.parse::<f64>().ok().map(|days| days * 86_400.0),
            None => parse::duration(value).ok(),
        }
    }

    /// Connections that transactions were on.
    pub(crate) fn connections(&self) -> f64 {
        f64::from(self.record.plan.drive.connections.unwrap_or(self.record.plan.drive.clients).max(1))
    }

    /// Returns true if clients wait for a schedule or for their think time: that a session is idle says nothing then.
    pub(crate) fn is_paced(&self) -> bool {
        self.summary.is_paced(&self.record.plan)
    }

    /// Returns the name of the account's whole.
    pub(crate) fn of_what(&self) -> &'static str {
        if self.is_paced() { "of the response time" } else { "of the clients' time" }
    }

    /// Returns true if driver and server are on one machine.
    pub(crate) fn is_local(&self) -> bool {
        self.record.server.as_ref().is_some_and(|server| server.local)
    }

    /// Returns true if other nodes of the server's cluster are on its machine.
    pub(crate) fn shares_its_machine(&self) -> bool {
        self.cpus_of("other node").is_some()
    }

    /// Returns the parts of the clients' time, the largest first, without those below a thousandth; empty without samples of sessions.
    pub(crate) fn time_parts(&self) -> Vec<TimePartRecord> {
        if self.waits.is_unknown() {
            return Vec::new();
        }
        let account = &self.account;
        let own = [
            ("server: on a CPU or queued for one", account.cpu),
            ("script", account.script),
            ("waiting for a client or connection", account.connection),
            ("opening connections", account.connecting),
            ("driver", account.driver),
            ("on the way and unexplained", account.remainder),
        ];
        let waits = Class::WAITS.iter().map(|(class, name)| (*name, self.waits.sessions(*class)));
        let part =
            |(name, sessions): (&str, f64)| TimePartRecord { name: name.to_owned(), share: account.share(sessions) };
        let mut parts: Vec<_> = own.into_iter().chain(waits).map(part).filter(|part| part.share >= 0.001).collect();
        parts.sort_by(|a, b| b.share.total_cmp(&a.share));
        parts
    }

    /// Returns the CPUs that the clients' sessions used: sampled, or else by the looks at them.
    pub(crate) fn cpus_of_clients(&self) -> f64 {
        let at_work = self.machine.map_or(self.account.cpu, |(cpus, _)| self.account.cpu.min(cpus));
        let sampled =
            self.cpus_of("client backend").map(|cpus| cpus + self.cpus_of("parallel worker").unwrap_or_default());
        sampled.filter(|cpus| *cpus > 0.0).unwrap_or(at_work).max(f64::MIN_POSITIVE)
    }

    /// Returns the rows of the measured window, with their times.
    pub(crate) fn within<'t>(&self, table: &'t SampleTable) -> impl Iterator<Item = &'t (f64, Vec<String>)> {
        let window = self.from_s..=self.until_s;
        table.rows().iter().filter(move |(at, _)| window.contains(at))
    }

    /// Returns the CPUs of the server's machine that its hypervisor gave to others.
    pub(crate) fn stolen_cpus(&self) -> f64 {
        stolen(self.record, self.samples, self.from_s, self.until_s)
    }

    /// CPUs that processes of a kind used on the server's machine.
    pub(crate) fn cpus_of(&self, kind: &str) -> Option<f64> {
        self.narrow(&[(processes::KIND, kind)], &[], processes::CPUS)
            .gauge(processes::CPUS)
            .mean(self.from_s, self.until_s)
    }
}

/// CPUs of the server's machine, and how many of them were busy, from its samples or from the record. Those that other virtual
/// machines had are busy, too.
fn machine(record: &RunRecord, samples: &Samples, from_s: f64, until_s: f64) -> Option<(f64, f64)> {
    let seen = |column| samples.of(machine::SOURCE).gauge(column).mean(from_s, until_s);
    let known = record.server_machine.as_ref();
    let cpus = seen(machine::CPUS).or_else(|| known?.cpus).filter(|cpus| *cpus > 0.0)?;
    let busy = seen(machine::BUSY_CPUS).or_else(|| known?.busy_cpus)?;
    Some((cpus, (busy + stolen(record, samples, from_s, until_s)).min(cpus)))
}

/// CPUs of that machine that its hypervisor gave to others, from the same.
fn stolen(record: &RunRecord, samples: &Samples, from_s: f64, until_s: f64) -> f64 {
    let sampled = samples.of(machine::SOURCE).gauge(machine::STEAL_CPUS).mean(from_s, until_s);
    sampled.or_else(|| record.server_machine.as_ref()?.steal_cpus).unwrap_or_default().max(0.0)
}

fn quota(samples: &Samples, from_s: f64, until_s: f64) -> Option<Quota> {
    let of_server = samples.of(cgroup::SOURCE).by(cgroup::OF).remove("server")?;
    let mean = |column| of_server.gauge(column).mean(from_s, until_s);
    let (cpus, throttled) = (mean(cgroup::LIMIT_CPUS)?, mean(cgroup::THROTTLED)?);
    Some(Quota { cpus, used: mean(cgroup::USED_CPUS), throttled })
}
