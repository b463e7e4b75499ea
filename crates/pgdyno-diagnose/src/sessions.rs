//! Names of sessions and of others that hold something, for findings.

use pgdyno_text::brief::duration;

use crate::facts::Facts;

/// The kind of sessions that are not the clients'.
const OTHER: &str = "other session";

/// Returns true for the kind of sessions that run streams of queries beside the clients, and for that of their parallel workers.
pub(crate) fn is_of_streams(kind: &str) -> bool {
    matches!(kind, "query stream" | "query stream worker")
}

/// The state of a prepared transaction.
const PREPARED: &str = "prepared";

/// A session, a prepared transaction or a replication slot that holds something.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Session {
    /// `backend_type` as in samples, `prepared transaction` or `replication slot`.
    pub(crate) kind: String,
    /// `application_name`, identifier of a prepared transaction, or name of a slot.
    pub(crate) name: String,
    /// Process, if it was the same at all looks.
    pub(crate) pid: Option<String>,
    pub(crate) state: String,
    /// Longest time in this state, or of its transaction, that was seen.
    pub(crate) seconds: Option<f64>,
    pub(crate) statement: String,
}

impl Session {
    /// Returns who it is: `a session of another program ("psql", process 123)`.
    pub(crate) fn who(&self, facts: &Facts<'_>) -> String {
        let pid = self.pid.as_ref().map(|pid| format!("process {pid}"));
        let name = Some(&self.name).filter(|name| !name.is_empty()).map(|name| format!("\"{name}\""));
        let (what, details) = match self.kind.as_str() {
            OTHER | "client backend" if !facts.has_names => ("a session", vec![pid]),
            OTHER => ("a session of another program", vec![name, pid]),
            "client backend" | "parallel worker" => ("a client session", vec![]),
            kind if is_of_streams(kind) => ("a stream of queries", vec![]),
            "walsender" => ("a standby with hot_standby_feedback", vec![name]),
            "prepared transaction" => ("a prepared transaction", vec![name]),
            "replication slot" => ("a replication slot", vec![name]),
            kind => (kind, vec![pid]),
        };
        let details: Vec<_> = details.into_iter().flatten().collect();
        let details = if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
        format!("{what}{details}")
    }

    /// Returns what it does: `idle in transaction 4.1 s, last statement: UPDATE …`; empty if nothing is known.
    pub(crate) fn doing(&self) -> String {
        let ago = if self.state == PREPARED { " ago" } else { "" };
        let seconds = self.seconds.map_or_else(String::new, |seconds| format!(" {}{ago}", duration(seconds)));
        let state = if self.state.is_empty() { String::new() } else { format!("{}{seconds}", self.state) };
        let word = if self.is_idle() { "last statement" } else { "statement" };
        let statement = Some(&self.statement).filter(|text| !text.is_empty()).map(|text| format!("{word}: {text}"));
        [Some(state).filter(|state| !state.is_empty()), statement].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Returns true if it is idle in a transaction.
    pub(crate) fn is_idle(&self) -> bool {
        self.state.starts_with("idle in transaction")
    }

    /// Returns true if it is one of another program.
    pub(crate) fn is_of_others(&self) -> bool {
        self.kind == OTHER
    }

    /// Returns advice on how to be rid of it; `None` for clients and the server's own processes.
    pub(crate) fn advice(&self, facts: &Facts<'_>) -> Option<String> {
        let setting = |name: &str| facts.setting_is(name).map_or_else(String::new, |is| format!(" ({is})"));
        let pid = self.pid.as_deref().unwrap_or("pid");
        match self.kind.as_str() {
            OTHER if self.is_idle() => Some(format!(
                "end it (pg_terminate_backend({pid})), or set idle_in_transaction_session_timeout{}",
                setting("idle_in_transaction_session_timeout")
            )),
            OTHER => Some(format!("measure while it is away, or end it (pg_terminate_backend({pid}))")),
            "prepared transaction" => {
                Some("end it with COMMIT PREPARED or ROLLBACK PREPARED (pg_prepared_xacts lists all)".to_owned())
            }
            "replication slot" => Some(format!(
                "if nothing reads it, drop it (pg_drop_replication_slot('{}')); else let its standby catch up",
                self.name
            )),
            kind if is_of_streams(kind) => Some(
                "run the queries on a standby (--analytics-target), or limit their time (--timeout, in seconds)"
                    .to_owned(),
            ),
            "walsender" => Some("end long queries on the standby, or turn hot_standby_feedback off there".to_owned()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn a_session_is_reported_with_what_it_does_and_how_to_be_rid_of_it() {
        let word = |text: &str| text.to_owned();
        let session = Session {
            kind: word(OTHER),
            name: word("psql"),
            pid: Some(word("123")),
            state: word("idle in transaction"),
            seconds: Some(4.12),
            statement: word("UPDATE t SET n = ?"),
        };
        let run = Run::new().setting("idle_in_transaction_session_timeout", "0");
        run.ask(|facts| {
            assert_eq!(session.who(facts), "a session of another program (\"psql\", process 123)");
            assert_eq!(session.doing(), "idle in transaction 4.1 s, last statement: UPDATE t SET n = ?");
            let advice = session.advice(facts).unwrap();
            assert!(
                advice.contains("pg_terminate_backend(123)") && advice.ends_with("session_timeout is 0)"),
                "{advice}"
            );
            let slot = Session { kind: word("replication slot"), name: word("s"), ..Session::default() };
            assert_eq!((slot.who(facts), slot.doing()), (word("a replication slot (\"s\")"), String::new()));
            assert!(slot.advice(facts).unwrap().contains("pg_drop_replication_slot('s')"));
            let own = Session { kind: word("client backend"), name: word("pgdyno"), ..Session::default() };
            assert_eq!((own.who(facts), own.advice(facts)), (word("a client session"), None));
            let stream =
                Session { kind: word("query stream worker"), name: word("pgdyno queries"), ..Session::default() };
            assert_eq!(stream.who(facts), "a stream of queries");
            assert!(stream.advice(facts).unwrap().contains("--analytics-target"));
        });
        let mut pooled = Run::new();
        pooled.record.server.as_mut().unwrap().pooling = Some(word("transaction"));
        assert_eq!(pooled.ask(|facts| session.who(facts)), "a session (process 123)");
    }
}
