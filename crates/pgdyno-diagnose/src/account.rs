//! Divides the clients' time into parts that add up to the whole, in sessions.

use pgdyno_results::{ClientRecord, RunRecord, Summary};

use crate::streams;
use crate::waits::{Class, Waits};

/// The clients' time, in sessions: 1.5 is one and a half clients all the time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Account {
    /// All of it: every client all the time; with a schedule or think times, the response times of their transactions.
    pub(crate) whole: f64,
    /// In `\sleep` and other commands of the scripts between statements.
    pub(crate) script: f64,
    /// Waiting for a free client or one of the shared connections.
    pub(crate) connection: f64,
    /// Opening connections, where each transaction has one of its own.
    pub(crate) connecting: f64,
    /// Active on the server and waiting for nothing: on a CPU, or queued for one.
    pub(crate) cpu: f64,
    /// Active on the server and waiting for something.
    pub(crate) waiting: f64,
    /// Replies that lay unread in the driver, its own work, and its threads' waits for a CPU.
    pub(crate) driver: f64,
    /// The rest: on the way between driver and server, and time that nothing explains.
    pub(crate) remainder: f64,
}

impl Account {
    /// Draws it up. `backend_cpus` are the CPUs that client backends used, where they were sampled.
    ///
    /// Looks at `pg_stat_activity` miss much of statements that are shorter than the time between looks: CPU time of
    /// the backends is a floor for their time on a CPU. What the driver is charged with is measured: its threads' CPU
    /// time, the share of service time in which replies lay unread, and the share of time its threads waited for a CPU, of the
    /// clients that wait for nothing else.
    pub(crate) fn of(record: &RunRecord, summary: &Summary, waits: &Waits, backend_cpus: Option<f64>) -> Self {
        let clients = f64::from(record.plan.drive.clients.max(1));
        let per_s = (summary.committed + summary.rolled_back) as f64 / summary.duration_s.max(1e-9);
        let mean_s = |latency: &Option<pgdyno_results::LatencyRecord>| latency.as_ref().map_or(0.0, |l| l.mean / 1e9);
        let service = per_s * mean_s(&summary.service_latency_ns);
        let response = summary.response_latency_ns.as_ref().map_or(service, |latency| per_s * latency.mean / 1e9);
        let lag = per_s * mean_s(&summary.schedule_lag_ns);
        let cpu = waits.sessions(Class::Cpu).max(backend_cpus.unwrap_or_default());
        let waiting = waits.total() - waits.sessions(Class::Cpu);
        let is_paced = summary.is_paced(&record.plan);
        let whole = if is_paced { response } else { clients }.max(cpu + waiting).max(f64::MIN_POSITIVE);

        let mut left = whole - cpu - waiting;
        let mut take = |sessions: f64| {
            let taken = sessions.clamp(0.0, left.max(0.0));
            left -= taken;
            taken
        };
        let commands = [false, true].map(|of_scripts| statements(record, summary, of_scripts));
        let script = take(commands[1].unwrap_or_default());
        let connection = take(lag);
        let opened = summary.connections_opened.unwrap_or_default() as f64 / summary.duration_s.max(1e-9);
        let connecting = take(opened * summary.connection_s_mean.unwrap_or_default());
        let idle = whole - cpu - waiting - script - connection - connecting;
        let driver = take(driver(&record.client, commands[0].unwrap_or(service), idle));
        Self { whole, script, connection, connecting, cpu, waiting, driver, remainder: left.max(0.0) }
    }

    /// Returns sessions as a share of the whole, at most 1.
    pub(crate) fn share(&self, sessions: f64) -> f64 {
        (sessions / self.whole).min(1.0)
    }
}

/// Clients that were in a statement of SQL, or `of_scripts` in a command that waits, by the commands' own latencies; `None`
/// where there were none. Queries of streams beside the clients are not among them, wherever they ran.
fn statements(record: &RunRecord, summary: &Summary, of_scripts: bool) -> Option<f64> {
    let mut ns = 0.0;
    let of_clients = record.statements.iter().filter(|statement| !streams::is_of_streams(record, statement));
    for statement in of_clients.filter(|statement| is_of_script(&statement.sql) == of_scripts) {
        ns += statement.time_ns();
    }
    (ns > 0.0).then(|| ns / 1e9 / summary.duration_s.max(1e-9))
}

/// Returns true if it is a command of a script that takes time beside the server.
fn is_of_script(command: &str) -> bool {
    ["\\sleep", "\\shell", "\\setshell"].iter().any(|name| command.starts_with(name))
}

/// Sessions that the driver held up, as it measured itself; never more than that. What its threads did for streams of queries
/// held up none of the clients' statements, or is among the waits for a CPU and the unread replies. Its threads' waits for a CPU hold up those
/// that are `idle`: the others wait for the server, or for their script.
fn driver(client: &ClientRecord, in_statements: f64, idle: f64) -> f64 {
    let busy = client.thread_busy.iter().sum::<f64>() - client.beside_busy.unwrap_or_default();
    busy.max(0.0) + client.unread_share.unwrap_or_default() * in_statements + client.run_delay * idle
}

#[cfg(test)]
mod tests {
    use pgdyno_results::{LatencyRecord, StatementRecord};

    use crate::fixture::Run;

    fn latency(mean_ms: f64) -> Option<LatencyRecord> {
        Some(LatencyRecord { mean: mean_ms * 1e6, ..LatencyRecord::default() })
    }

    fn statement(sql: &str, executed: u64, mean_ms: f64) -> StatementRecord {
        let latency_ns = latency(mean_ms);
        StatementRecord { sql: sql.to_owned(), executed, latency_ns, ..StatementRecord::default() }
    }

    /// Eight clients that do 100 transactions a second of 80 ms: all of their time.
    fn run() -> Run {
        let mut run = Run::new().waits(&[("CPU", "CPU", 0.5), ("IO", "WALSync", 1.0)]);
        run.summary().service_latency_ns = latency(80.0);
        run.record.client.thread_busy = vec![0.1, 0.1];
        run
    }

    #[test]
    fn the_parts_add_up_to_the_whole() {
        let mut run = run();
        run.record.client.run_delay = 0.1;
        run.record.client.unread_share = Some(0.05);
        run.record.statements = vec![statement("SELECT 1", 1000, 20.0), statement("\\sleep 60 ms", 1000, 60.0)];
        let account = run.ask(|facts| facts.account);
        let parts = [account.script, account.connection, account.connecting, account.cpu, account.waiting];
        let sum = parts.iter().sum::<f64>() + account.driver + account.remainder;
        assert!((sum - 8.0).abs() < 1e-9 && account.whole == 8.0, "{account:?}");
        // A hundred pauses of 60 ms a second are six sessions.
        assert!((account.script - 6.0).abs() < 1e-9, "{account:?}");
        // 0.2 busy, 5 % of two sessions unread, a tenth of the half that is left delayed.
        assert!((account.driver - 0.35).abs() < 1e-9 && (account.remainder - 0.15).abs() < 1e-9, "{account:?}");
    }

    #[test]
    fn a_driver_that_does_little_is_charged_with_little() {
        let account = run().ask(|facts| facts.account);
        assert!((account.driver - 0.2).abs() < 1e-9 && (account.remainder - 6.3).abs() < 1e-9, "{account:?}");
    }

    #[test]
    fn work_for_streams_is_none_of_the_clients_time() {
        let mut run = run();
        run.record.client.beside_busy = Some(0.15);
        let account = run.ask(|facts| facts.account);
        assert!((account.driver - 0.05).abs() < 1e-9 && (account.remainder - 6.45).abs() < 1e-9, "{account:?}");
    }

    #[test]
    fn cpu_time_of_the_backends_is_a_floor() {
        let kinds = vec![vec!["client backend".to_owned(), "1.25".to_owned()]];
        let account = run().table("processes", &["kind", "cpus"], &kinds).ask(|facts| facts.account);
        assert_eq!((account.cpu, account.waiting), (1.25, 1.0));
    }

    #[test]
    fn connections_that_are_opened_and_waited_for_are_parts() {
        let mut run = run();
        run.record.plan.drive.connections = Some(4);
        run.summary().schedule_lag_ns = latency(30.0);
        run.summary().response_latency_ns = latency(80.0);
        run.summary().service_latency_ns = latency(50.0);
        run.summary().connections_opened = Some(1000);
        run.summary().connection_s_mean = Some(0.01);
        let account = run.ask(|facts| facts.account);
        assert!((account.connection - 3.0).abs() < 1e-9 && (account.connecting - 1.0).abs() < 1e-9, "{account:?}");
    }
}
