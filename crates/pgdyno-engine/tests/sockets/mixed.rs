//! A workload with two groups of clients, and a stage in which each query runs once.

use std::sync::Arc;

use pgdyno_wire::{ParamType, ParamValue, Statement, StmtId};
use pgdyno_workload::{
    Arrivals, Batch, Begin, Capabilities, ClientScript, Clients, Drive, Ends, Group, Meta, Next, Pace, Program, Rate,
    Reply, Rng, ScriptStatement, Scripts, Stage, Statements, Txn, TxnId, Verdict, Workload,
};

static META: Meta = Meta {
    id: "mixed",
    summary: "tpcb-like writers beside readers with a rate, then each query once",
    version: 1,
    dataset: "pgbench",
    scale_name: "scale",
    scale_query: None,
    is_key_range: false,
    params: &[],
};

/// What runs once each.
const QUERIES: [(&str, &str); 2] = [
    ("balances", "SELECT sum(bbalance) FROM pgbench_branches"),
    ("deltas", "SELECT count(*), sum(delta) FROM pgbench_history"),
];

/// Returns the workload: on the data of `tpcb-like`, whose transaction its writers run.
pub(crate) fn workload(tpcb_like: Workload) -> Workload {
    let accounts = 100_000 * tpcb_like.scale as i64;
    let tpcb_like_scripts = tpcb_like.drive.scripts[0].clone();
    let writers = Scripts { group: "writers", ..tpcb_like_scripts };
    let drive = Drive { stages: stages(), ..Drive::new(vec![writers, readers(accounts), queries()]) };
    Workload { meta: &META, drive: Arc::new(drive), ..tpcb_like }
}

/// Which groups run when.
fn stages() -> Vec<Stage> {
    // As many writers as the user says, as fast as they can.
    let writers = Group::new("writers");
    // Two readers, 100 transactions a second together, whatever the writers do.
    let rate = Rate { per_s: 100.0, arrivals: Arrivals::Poisson };
    let readers = Group { clients: Clients::Number(2), pace: Some(Pace::Rate(rate)), ..Group::new("readers") };
    // One client, which ends by itself, and with it the stage.
    let queries = Group { clients: Clients::Number(1), pace: Some(Pace::ClosedLoop), ..Group::new("queries") };
    vec![
        Stage::new("mix", vec![writers, readers]),
        Stage { ends: Ends::WhenDone("queries"), ..Stage::new("each-once", vec![queries]) },
    ]
}

/// What the readers run: one transaction of one statement.
fn readers(accounts: i64) -> Scripts {
    let program = move |_: &Capabilities| {
        let mut statements = Statements::new();
        let sql = "SELECT abalance FROM pgbench_accounts WHERE aid = $1";
        let read = statements.add(Statement::new(sql, &[ParamType::Int4]));
        Program::new(statements, move |context| Box::new(Reader { read, accounts, aid: 1, rng: context.rng.clone() }))
    };
    let transactions = vec![Txn::new("read-balance", 1.0, 1)];
    Scripts { is_read_only: true, ..Scripts::new("readers", transactions, program) }
}

/// Reads the balance of one account after the other.
struct Reader {
    read: StmtId,
    accounts: i64,
    aid: i32,
    rng: Rng,
}

impl ClientScript for Reader {
    fn begin(&mut self) -> Option<Begin> {
        self.aid = self.rng.uniform(1, self.accounts) as i32;
        Some(Begin::now(TxnId(0)))
    }

    fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        batch.execute(self.read, &[ParamValue::Int4(self.aid)]);
        Next::Finish(Verdict::Committed)
    }

    fn restart(&mut self) {}
}

/// What the last stage runs: each query is a transaction of one statement.
fn queries() -> Scripts {
    let program = |_: &Capabilities| {
        let mut statements = Statements::new();
        let tasks: Vec<(TxnId, StmtId)> = (0..)
            .map(TxnId)
            .zip(QUERIES)
            .map(|(txn, (_, sql))| (txn, statements.add(ScriptStatement::of(txn, Statement::new(sql, &[])))))
            .collect();
        Program::new(statements, move |_| Box::new(EachOnce { left: tasks.clone().into_iter(), query: StmtId(0) }))
    };
    let transactions = QUERIES.map(|(name, _)| Txn::new(name, 1.0, 1));
    Scripts { is_read_only: true, ..Scripts::new("queries", transactions.to_vec(), program) }
}

/// Runs each query once, and is done.
struct EachOnce {
    left: std::vec::IntoIter<(TxnId, StmtId)>,
    query: StmtId,
}

impl ClientScript for EachOnce {
    fn begin(&mut self) -> Option<Begin> {
        let (txn, query) = self.left.next()?;
        self.query = query;
        Some(Begin::now(txn))
    }

    fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        batch.execute(self.query, &[]);
        Next::Finish(Verdict::Committed)
    }

    fn restart(&mut self) {}
}
