//! Wait events of the clients' sessions.

use std::collections::BTreeMap;

use pgdyno_results::SampleTable;
use pgdyno_samples::waits;

/// The class of a wait event. Each event has one class, so that no time counts twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// For nothing: the session has a CPU, or queues for one.
    Cpu,
    /// Until WAL is on its disk.
    WalFlush,
    /// For the insertion of WAL into its buffers.
    WalBuffers,
    /// For another transaction that has locked a row.
    RowLock,
    /// For another session that extends the same table.
    Extension,
    /// For any other lock of the lock manager.
    TableLock,
    /// For the buffers of transaction states, subtransactions, multixacts and the like (SLRU).
    Slru,
    /// For another of the server's internal locks.
    Internal,
    /// For a block of a table or an index to be read.
    DataRead,
    /// For such a block to be written.
    DataWrite,
    /// For a temporary file.
    TempFile,
    /// For a standby.
    Standby,
    /// For the driver or the network.
    Client,
    /// For other nodes of a cluster.
    Nodes,
    /// For anything else.
    Other,
}

impl Class {
    /// The classes of sessions that wait, with their names in the account of the clients' time.
    pub(crate) const WAITS: [(Self, &str); 14] = [
        (Self::WalFlush, "server: WAL flush"),
        (Self::WalBuffers, "server: WAL buffers"),
        (Self::RowLock, "server: row locks"),
        (Self::Extension, "server: extending tables"),
        (Self::TableLock, "server: other locks"),
        (Self::Slru, "server: transaction states (SLRU)"),
        (Self::Internal, "server: internal locks"),
        (Self::DataRead, "server: reading blocks"),
        (Self::DataWrite, "server: writing blocks"),
        (Self::TempFile, "server: temporary files"),
        (Self::Standby, "server: standby"),
        (Self::Client, "server: waiting for the client"),
        (Self::Nodes, "server: waiting for other nodes"),
        (Self::Other, "server: other waits"),
    ];

    /// The class of an event, by its names in PostgreSQL 13 to 18. Those of WAL and buffers have changed their letters'
    /// case and their type in between.
    fn of(kind: &str, event: &str) -> Self {
        let name = event.to_ascii_lowercase();
        match kind {
            "CPU" => Self::Cpu,
            "LWLock" if name == "walwrite" => Self::WalFlush,
            "LWLock" if matches!(name.as_str(), "walinsert" | "walbufmapping") => Self::WalBuffers,
            "LWLock" if name == "bufferio" => Self::DataRead,
            "LWLock" | "IO" if is_slru(&name) => Self::Slru,
            "LWLock" => Self::Internal,
            "Lock" if matches!(event, "transactionid" | "tuple") => Self::RowLock,
            "Lock" if event == "extend" => Self::Extension,
            "Lock" => Self::TableLock,
            "Client" => Self::Client,
            "IO" if name.starts_with("wal") => Self::WalFlush,
            "IO" if matches!(name.as_str(), "datafileread" | "datafileprefetch") => Self::DataRead,
            // Reads that another session or a worker does (18).
            "IO" if name.starts_with("aio") => Self::DataRead,
            "IO" if name.starts_with("datafile") => Self::DataWrite,
            "IO" if name.starts_with("buffile") => Self::TempFile,
            "IPC" if name == "bufferio" => Self::DataRead,
            "IPC" if name == "syncrep" => Self::Standby,
            _ => Self::Other,
        }
    }
}

/// Returns true for the events of an SLRU: `SubtransSLRU`, `MultiXactMemberBuffer`, `XactBuffer`, `SLRURead`, ….
fn is_slru(event: &str) -> bool {
    const OF: [&str; 7] = ["committs", "multixact", "notify", "serial", "subtrans", "xact", "other"];
    let of_buffers = event.strip_suffix("buffer").or_else(|| event.strip_suffix("slru"));
    let of_multixacts = ["multixactgen", "multixacttruncation"].contains(&event);
    event.starts_with("slru")
        || of_multixacts
        || of_buffers.is_some_and(|of| OF.iter().any(|name| of.starts_with(name)))
}

/// What sessions waited for in a window, in sessions: 1.5 is one and a half of them all the time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Events(
    /// Class, `type:event` and sessions, the weightiest first.
    Vec<(Class, String, f64)>,
);

impl Events {
    /// Sessions that were active.
    pub(crate) fn total(&self) -> f64 {
        // The sum of nothing is -0.0.
        self.0.iter().map(|(.., sessions)| sessions).sum::<f64>() + 0.0
    }

    /// Sessions that waited for it.
    pub(crate) fn sessions(&self, class: Class) -> f64 {
        self.of_class(class).map(|(_, sessions)| sessions).sum::<f64>() + 0.0
    }

    /// The events of a class with their sessions, the weightiest first.
    pub(crate) fn of_class(&self, class: Class) -> impl Iterator<Item = (&str, f64)> {
        let of_class = self.0.iter().filter(move |(of, ..)| *of == class);
        of_class.map(|(_, name, sessions)| (name.as_str(), *sessions))
    }
}

/// Waits of sessions in a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Waits {
    /// Those of the clients and of the workers that work for them.
    events: Events,
    /// Those of streams of queries beside the clients, and of their workers.
    pub(crate) streams: Events,
    /// The streams' parallel workers that were at work.
    pub(crate) stream_workers: f64,
    /// The number of looks at the sessions.
    pub(crate) looks: f64,
    /// Sessions of others that were active.
    others: f64,
    /// Sessions of the clients that were idle in a transaction, and those of others.
    pub(crate) in_transaction: f64,
    pub(crate) others_in_transaction: f64,
}

/// The kind of sessions that are not the clients'.
const OTHER: &str = "other session";

/// The kind of the streams' parallel workers.
const STREAM_WORKER: &str = "query stream worker";

impl Waits {
    /// Of the clients' sessions and of the workers that work for them, from one moment to another.
    /// Sessions of others count apart, unless `all_are_clients`. On a server with other nodes (`has_nodes`), Citus waits for them
    /// in the events `ClientRead` and `Extension`; the driver sends nothing in pieces, so that nobody waits for it.
    pub(crate) fn of(table: &SampleTable, from_s: f64, until_s: f64, all_are_clients: bool, has_nodes: bool) -> Self {
        // Of the clients, and of streams.
        let mut sums: [BTreeMap<(&str, &str), f64>; 2] = Default::default();
        let (mut seconds, mut looks, mut others, mut stream_workers) = (0.0, 0.0, 0.0, 0.0);
        let mut in_transaction = [0.0; 2];
        let within = table.rows().iter().filter(|(at, _)| (from_s..=until_s).contains(at)).collect::<Vec<_>>();
        for second in within.chunk_by(|a, b| a.0 == b.0) {
            let number = |row: &[String], column| table.cell(row, column).and_then(|cell| cell.parse::<f64>().ok());
            let Some(looked) = number(&second[0].1, waits::LOOKS).filter(|looks| *looks > 0.0) else { continue };
            seconds += 1.0;
            looks += looked;
            for (sum, column) in in_transaction.iter_mut().zip([waits::IN_TRANSACTION, waits::OTHERS_IN_TRANSACTION]) {
                *sum += number(&second[0].1, column).unwrap_or_default() / looked;
            }
            for (_, row) in second {
                let cell = |column| table.cell(row, column).unwrap_or_default();
                let seen = number(row, waits::SAMPLES).unwrap_or_default() / looked;
                let event = (cell(waits::WAIT_EVENT_TYPE), cell(waits::WAIT_EVENT));
                match cell(waits::BACKEND_TYPE) {
                    OTHER if !all_are_clients => others += seen,
                    "client backend" | "parallel worker" | OTHER => *sums[0].entry(event).or_default() += seen,
                    "query stream" => *sums[1].entry(event).or_default() += seen,
                    STREAM_WORKER => {
                        stream_workers += seen;
                        *sums[1].entry(event).or_default() += seen;
                    }
                    _ => {}
                }
            }
        }
        let event = |((kind, event), sum): ((&str, &str), f64)| {
            let name = if kind == event { kind.to_owned() } else { format!("{kind}:{event}") };
            let is_of_nodes = has_nodes && matches!(kind, "Client" | "Extension");
            let class = if is_of_nodes { Class::Nodes } else { Class::of(kind, event) };
            (class, name, sum / seconds)
        };
        let [events, streams] = sums.map(|sums| {
            let mut events: Vec<_> = sums.into_iter().map(event).filter(|(.., sessions)| *sessions > 0.0).collect();
            events.sort_by(|a, b| b.2.total_cmp(&a.2));
            Events(events)
        });
        let mean = |sum: f64| if seconds > 0.0 { sum / seconds } else { 0.0 };
        let [own, of_others] = in_transaction.map(mean);
        Self {
            events,
            streams,
            stream_workers: mean(stream_workers),
            looks,
            others: mean(others),
            in_transaction: own,
            others_in_transaction: of_others,
        }
    }

    /// Returns true if there were no looks.
    pub(crate) fn is_unknown(&self) -> bool {
        self.looks <= 0.0
    }

    /// Sessions of others that were active.
    pub(crate) fn others(&self) -> f64 {
        self.others
    }

    /// Sessions of the clients that were active.
    pub(crate) fn total(&self) -> f64 {
        self.events.total()
    }

    /// Sessions of the clients that waited for it.
    pub(crate) fn sessions(&self, class: Class) -> f64 {
        self.events.sessions(class)
    }

    /// Returns the share of the clients' waits of a class that events have; these are named in lower case, without their type.
    pub(crate) fn share_of_class(&self, class: Class, is_one: impl Fn(&str) -> bool) -> f64 {
        let is_one = |name: &str| name.split(':').next_back().is_some_and(|event| is_one(&event.to_ascii_lowercase()));
        let those: f64 = self.of_class(class).filter(|(name, _)| is_one(name)).map(|(_, sessions)| sessions).sum();
        those / self.sessions(class).max(f64::MIN_POSITIVE)
    }

    /// The clients' events of a class with their sessions, the weightiest first.
    pub(crate) fn of_class(&self, class: Class) -> impl Iterator<Item = (&str, f64)> {
        self.events.of_class(class)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(rows: &[(f64, [&str; 5])]) -> SampleTable {
        let columns = ["backend_type", "wait_event_type", "wait_event", "samples", "looks"];
        let rows = rows.iter().map(|(at, cells)| (*at, cells.map(str::to_owned).to_vec())).collect();
        SampleTable::new(&columns, rows)
    }

    #[test]
    fn sessions_are_means_over_the_seconds_of_the_window() {
        let client = "client backend";
        let waits = Waits::of(
            &table(&[
                (0.5, [client, "Lock", "tuple", "90", "10"]),
                (1.5, [client, "Lock", "tuple", "10", "10"]),
                (1.5, [client, "CPU", "CPU", "5", "10"]),
                (1.5, ["walwriter", "IO", "WALSync", "9", "10"]),
                (2.5, [client, "Lock", "transactionid", "15", "5"]),
                (3.5, [client, "CPU", "CPU", "0", "10"]),
            ]),
            1.0,
            4.0,
            false,
            false,
        );
        assert_eq!((waits.looks, waits.sessions(Class::RowLock)), (25.0, 4.0 / 3.0));
        assert_eq!(waits.of_class(Class::RowLock).next(), Some(("Lock:transactionid", 1.0)));
        assert_eq!(waits.of_class(Class::Cpu).next(), Some(("CPU", 0.5 / 3.0)));
        assert_eq!(waits.sessions(Class::WalFlush), 0.0, "the server's own processes are no clients");
        assert!((waits.total() - 1.5).abs() < 1e-9 && !waits.is_unknown());
        assert!(Waits::of(&table(&[]), 0.0, 9.0, false, false).is_unknown());
    }

    #[test]
    fn sessions_of_others_are_none_of_the_clients() {
        let rows = [
            (1.0, ["client backend", "CPU", "CPU", "10", "10"]),
            (1.0, ["other session", "Timeout", "PgSleep", "20", "10"]),
        ];
        let waits = Waits::of(&table(&rows), 0.0, 2.0, false, false);
        assert_eq!((waits.total(), waits.others()), (1.0, 2.0));
        let pooled = Waits::of(&table(&rows), 0.0, 2.0, true, false);
        assert_eq!((pooled.total(), pooled.others()), (3.0, 0.0));
    }

    #[test]
    fn streams_of_queries_are_none_of_the_clients() {
        let rows = [
            (1.0, ["client backend", "CPU", "CPU", "10", "10"]),
            (1.0, ["query stream", "IO", "BufFileWrite", "15", "10"]),
            (1.0, ["query stream worker", "CPU", "CPU", "30", "10"]),
        ];
        let waits = Waits::of(&table(&rows), 0.0, 2.0, false, false);
        assert_eq!((waits.total(), waits.others(), waits.stream_workers), (1.0, 0.0, 3.0));
        assert_eq!((waits.streams.total(), waits.streams.sessions(Class::TempFile)), (4.5, 1.5));
    }

    #[test]
    fn a_coordinator_waits_for_its_nodes_as_for_a_client() {
        let rows = [
            (1.0, ["client backend", "Client", "ClientRead", "30", "10"]),
            (1.0, ["client backend", "Extension", "Extension", "10", "10"]),
        ];
        let of = |has_nodes| Waits::of(&table(&rows), 0.0, 2.0, false, has_nodes);
        assert_eq!((of(true).sessions(Class::Nodes), of(true).sessions(Class::Client)), (4.0, 0.0));
        assert_eq!((of(false).sessions(Class::Nodes), of(false).sessions(Class::Client)), (0.0, 3.0));
    }

    #[test]
    fn every_version_s_names_are_known() {
        for (kind, event, class) in [
            ("IO", "WALSync", Class::WalFlush),
            ("IO", "WalSync", Class::WalFlush),
            ("LWLock", "WALWrite", Class::WalFlush),
            ("LWLock", "WALInsert", Class::WalBuffers),
            ("LWLock", "BufferContent", Class::Internal),
            ("LWLock", "BufferIO", Class::DataRead),
            ("IPC", "BufferIO", Class::DataRead),
            ("IPC", "BufferIo", Class::DataRead),
            ("IO", "AioIoCompletion", Class::DataRead),
            ("IO", "DataFileExtend", Class::DataWrite),
            ("IO", "BuffileWrite", Class::TempFile),
            ("Lock", "relation", Class::TableLock),
            ("IPC", "SyncRep", Class::Standby),
            ("Timeout", "PgSleep", Class::Other),
            ("LWLock", "SubtransSLRU", Class::Slru),
            ("LWLock", "MultiXactMemberBuffer", Class::Slru),
            ("LWLock", "MultiXactGen", Class::Slru),
            ("LWLock", "XactSLRU", Class::Slru),
            ("LWLock", "XidGen", Class::Internal),
            ("IO", "SLRURead", Class::Slru),
            ("IO", "SlruWrite", Class::Slru),
        ] {
            assert_eq!(Class::of(kind, event), class, "{kind}:{event}");
        }
    }
}
