//! The servers that clients are connected to: a balancer, a name with several addresses or a list of hosts may lead to several.

use std::collections::BTreeMap;

use pgdyno_results::EndpointRecord;
use pgdyno_server::ServerIdentity;

/// The servers that clients are connected to, in the order of their start, with the number of clients on each.
pub(crate) struct Endpoints(BTreeMap<String, (ServerIdentity, u32)>);

impl Endpoints {
    /// Reads what the clients' connections have answered to [`pgdyno_server::IDENTITY`].
    pub(crate) fn of(answers: &[Vec<Option<String>>]) -> Self {
        let mut servers: BTreeMap<String, (ServerIdentity, u32)> = BTreeMap::new();
        for server in answers.iter().filter_map(|row| ServerIdentity::of_row(row.clone())) {
            servers.entry(server.started.clone()).or_insert((server, 0)).1 += 1;
        }
        Self(servers)
    }

    /// Returns a warning if figures of the server of pgdyno's own sessions, which were started at `starts`, would not be those
    /// of the run. `own` is that server in words.
    pub(crate) fn warning(&self, own: &str, starts: &[&str]) -> Option<String> {
        let left_out = format!(
            "TPM, cache hit ratio, WAL, samples and CPU of one server would not be the run's and are left out; version, \
             settings and sizes are those of {own} (name one server in --target to get all figures)"
        );
        let servers: Vec<_> = self.0.values().collect();
        match servers[..] {
            [] => None,
            [(server, _)] => starts.iter().any(|start| **start != server.started).then(|| {
                format!("the target leads to several servers: all clients are on {server}, pgdyno's own sessions are not; {left_out}")
            }),
            _ => {
                let each: Vec<_> = servers.iter().map(|(server, clients)| format!("{clients} on {server}")).collect();
                Some(format!("the clients are on {} servers: {}; {left_out}", servers.len(), each.join(", ")))
            }
        }
    }

    /// Returns a warning if a reader leads to several servers.
    pub(crate) fn several(&self, reader: &str) -> Option<String> {
        let each: Vec<_> = self.0.values().map(|(server, clients)| format!("{clients} on {server}")).collect();
        (each.len() > 1).then(|| {
            format!(
                "reader {reader} leads to {} servers: {}; its figures are those of all of them, and how far it is behind is \
                 measured on one (name each in a --reader of its own)",
                each.len(),
                each.join(", ")
            )
        })
    }

    /// Returns the number of clients.
    pub(crate) fn clients(&self) -> u32 {
        self.0.values().map(|(_, clients)| clients).sum()
    }

    /// Returns the servers for the record, if there are several.
    pub(crate) fn records_of_several(&self) -> Vec<EndpointRecord> {
        if self.0.len() > 1 { self.records() } else { Vec::new() }
    }

    /// Returns the servers for the record.
    pub(crate) fn records(&self) -> Vec<EndpointRecord> {
        let record = |(server, clients): &(ServerIdentity, u32)| EndpointRecord {
            address: server.address.clone(),
            started: format!("{} UTC", server.started),
            standby: server.is_standby,
            clients: *clients,
        };
        self.0.values().map(record).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(started: &str, standby: &str, port: &str) -> Vec<Option<String>> {
        [started, standby, "10.0.0.7", port].map(|cell| Some(cell.to_owned())).to_vec()
    }

    #[test]
    fn figures_are_of_the_run_if_all_sessions_are_on_one_server() {
        let (one, other) = (answer("noon", "f", "1"), answer("one", "t", "2"));
        let warning = |answers: &[&Vec<Option<String>>], starts: &[&str]| {
            let answers: Vec<_> = answers.iter().map(|answer| (*answer).clone()).collect();
            Endpoints::of(&answers).warning("10.0.0.7:1", starts)
        };
        assert_eq!(warning(&[&one, &one], &["noon", "noon"]), None);
        // Without an answer nothing is known.
        assert_eq!(warning(&[], &["noon"]), None);
        assert_eq!(warning(&[&Vec::new()], &["noon"]), None);
        let two = warning(&[&one, &other, &one], &["noon"]).unwrap();
        let servers =
            "the clients are on 2 servers: 2 on 10.0.0.7:1 (primary, started noon UTC), 1 on 10.0.0.7:2 (standby";
        assert!(two.starts_with(servers), "{two}");
        let several = |answers: &[Vec<Option<String>>]| Endpoints::of(answers).several("r");
        assert_eq!(several(&[one.clone(), one.clone()]), None);
        assert!(several(&[one.clone(), other.clone()]).unwrap().starts_with("reader r leads to 2 servers: 1 on"));
        assert!(warning(&[&one], &["noon", "one"]).unwrap().contains("all clients are on 10.0.0.7:1 (primary"));
    }
}
