//! Parameters that sets of queries share.

use pgdyno_workload::{Param, ParamKind, When};

use super::TIMEOUT_S;

/// Streams of the throughput stage.
pub(crate) const STREAMS: Param = Param {
    name: "streams",
    help: "streams of the throughput stage; 0: only the power stage",
    default: "0",
    kind: ParamKind::Integer(0, 1_000),
    when: When::Run,
};

/// Sets of the power stage.
pub(crate) const REPEAT: Param = Param {
    name: "repeat",
    help: "sets of queries in the power stage, one after the other: each query's time has an interval",
    default: "1",
    kind: ParamKind::Integer(1, 1_000),
    when: When::Run,
};

/// Limit of a query's time.
pub(crate) const TIMEOUT: Param = Param {
    name: "timeout",
    help: "seconds that a query may take before it is cancelled; 86400: the server's own limit",
    default: "86400",
    kind: ParamKind::Thousandths(1, 1000 * TIMEOUT_S),
    when: When::Run,
};
