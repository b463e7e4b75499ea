//! What stands between client and server, and what the server is.

use pgdyno_server::ServerFacts;
use pgdyno_workload::Capabilities;

use crate::finding::Finding;

pub(super) fn check(facts: &ServerFacts, caps: &Capabilities) -> Vec<Finding> {
    let mut found = Vec::new();
    if caps.pooling.is_some() {
        found.push(Finding::passed("pooler", "a pooler answers").note(
            "The pooler's CPU and its pool are part of every figure, and prepared statements may not work through it.",
            "Connect to the server itself to measure the server.",
        ));
    }
    if let Some(tls) = &facts.tls {
        found.push(Finding::passed("tls", format!("{}, {}", tls.version, tls.cipher)));
    } else if !facts.is_local {
        found.push(Finding::passed("tls", "none"));
    }
    if facts.is_local {
        found.push(Finding::passed("same-machine", "client and server share this machine").note(
            "The driver takes CPU time from the server; with many clients that decides.",
            "For figures of a server alone, run pgdyno on another machine; to compare two sides, the share is the same for both.",
        ));
    }
    if caps.standby {
        found.push(Finding::passed("standby", "the server is a standby").note(
            "It takes no writes: only workloads that read run there, and queries may be cancelled for replay.",
            "Name the primary to measure writes.",
        ));
    }
    found
}
