//! Sessions sit idle in a transaction, with all that it holds.

use pgdyno_results::FindingRecord;
use pgdyno_text::brief::number;

use super::{SAMPLES_MIN, UNKNOWN};
use crate::blockers::Head;
use crate::facts::Facts;
use crate::horizon::Holder;
use crate::sessions::Session;
use crate::waits::Class;

/// Fewer sessions than this, on average, are the way between two statements.
const LEAST_SESSIONS: f64 = 0.5;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let waits = &facts.waits;
    let others = waits.others_in_transaction >= LEAST_SESSIONS;
    // Idle clients are a finding only where others wait for locks, or scripts sleep.
    let held_up = waits.sessions(Class::RowLock) + waits.sessions(Class::TableLock) >= LEAST_SESSIONS;
    let own = waits.in_transaction >= LEAST_SESSIONS && (held_up || facts.account.script >= LEAST_SESSIONS);
    if waits.looks < SAMPLES_MIN || !(own || others) {
        return None;
    }
    let is_one = |session: &Session| session.is_idle() && session.is_of_others() == others;
    let holder = Holder::longest(facts).filter(|holder| is_one(&holder.session));
    let (text, advice) = if others {
        (
            format!(
                "{} sessions of other programs were idle in a transaction: they keep their locks{}",
                number(waits.others_in_transaction),
                if holder.is_some() { ", and hold back vacuum" } else { "" }
            ),
            "end them (pg_terminate_backend), or set idle_in_transaction_session_timeout",
        )
    } else {
        (
            format!(
                "{} of the clients' sessions were idle in a transaction: they hold locks while idle",
                number(waits.in_transaction)
            ),
            "keep pauses out of transactions, and send statements together (\\startpipeline, procedures)",
        )
    };
    let mut evidence = vec![format!(
        "{} of the clients' sessions and {} of others on average",
        number(waits.in_transaction),
        number(waits.others_in_transaction)
    )];
    let head = Head::all(facts).into_iter().find(|head| is_one(&head.session));
    evidence.extend(head.map(|head| head.evidence(facts)));
    evidence.extend(holder.map(|holder| {
        format!("the oldest snapshot or transaction: {}, {}", holder.session.who(facts), holder.session.doing())
    }));
    Some(FindingRecord {
        rule: "idle-in-transaction".to_owned(),
        text,
        weight: UNKNOWN,
        evidence,
        advice: super::with_settings(facts, advice, &["idle_in_transaction_session_timeout"]),
        also_seen: true,
        ..FindingRecord::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    fn run(own: &str, others: &str, lock: &str) -> Run {
        let columns = [
            "backend_type",
            "wait_event_type",
            "wait_event",
            "samples",
            "in_transaction",
            "others_in_transaction",
            "looks",
        ];
        let row = ["client backend", "Lock", "tuple", lock, own, others, "10"].map(str::to_owned).to_vec();
        Run::new().table("waits", &columns, &[row])
    }

    #[test]
    fn sessions_that_keep_locks_without_work_are_reported() {
        let found = run("10", "0", "60").finds(look);
        assert!(found.also_seen && found.text.starts_with("1.0 of the clients' sessions"), "{found:?}");
        let found = run("0", "10", "0").finds(look);
        assert!(found.text.starts_with("1.0 sessions of other programs"), "{found:?}");
        assert!(found.text.ends_with("they keep their locks"), "no snapshot of theirs is known: {found:?}");
        let columns = ["pid", "backend_type", "application_name", "state", "state_s", "query"];
        let head =
            ["9", "other session", "psql", "idle in transaction", "4", "LOCK TABLE t"].map(str::to_owned).to_vec();
        let found = run("0", "10", "60").table("blockers", &columns, &[head]).finds(look);
        assert!(found.evidence[1].ends_with("in transaction 4.0 s, last statement: LOCK TABLE t"), "{found:?}");
        run("10", "0", "0").finds_nothing(look);
        run("2", "2", "60").finds_nothing(look);
    }
}
