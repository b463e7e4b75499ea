//! Any bytes as a server's log: kinds of transactions are of known statements, and their parameters of earlier ones.

use pgdyno_capture::{CapturedStatement, StatementKind, fuzzing};

/// A statement of a capture.
fn statement(text: &str, queryid: &str) -> CapturedStatement {
    CapturedStatement {
        text: text.to_owned(),
        queryids: vec![queryid.to_owned()],
        kind: StatementKind::Read,
        refused: None,
        calls: 1.0,
        rows: 1.0,
        exec_time_ms: 1.0,
        plan_time_ms: 0.0,
        shared_blks_hit: 1.0,
        shared_blks_read: 0.0,
        shared_blks_dirtied: 0.0,
        temp_blks_read: 0.0,
        temp_blks_written: 0.0,
        wal_bytes: 0.0,
    }
}

/// The prefix of lines in stderr's form.
const PREFIX: &str = "%m [%p]: [%l-1] db=%d,user=%u,app=%a ";

pub(crate) fn run(input: &[u8]) {
    let statements =
        [statement("select * from t where a = $1", "7"), statement("update t set b = $1 where a in ($2, $3)", "8")];
    let Ok(Some(found)) = fuzzing::transactions(input, "shop", PREFIX, &statements) else { return };
    assert!(found.kinds.len() <= 1000 && found.kinds.iter().map(|kind| kind.count).sum::<u64>() <= found.committed);
    for kind in &found.kinds {
        assert!(kind.count > 0 && kind.steps.len() <= 200);
        assert!(kind.steps.iter().all(|step| step.statement < statements.len() && step.calls_mean >= 1.0), "{kind:?}");
        for flow in &kind.flows {
            let is_earlier = flow.from_step <= flow.step && flow.step < kind.steps.len();
            assert!(is_earlier && flow.parameter > 0 && flow.from_parameter > 0, "{kind:?}");
        }
    }
}
