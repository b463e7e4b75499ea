//! A workload with two groups of clients, and a stage in which each query runs once.

use std::sync::Arc;

use pgdyno_wire::{ParamType, Statement, StmtId, Value};
use pgdyno_workload::{
    Arrivals, Batch, Begin, Capabilities, ClientContext, ClientScript, Clients, Drive, Ends, Group, Meta, Next, Pace,
    Rate, Reply, Rng, Stage, Txn, TxnId, Verdict, Workload,
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
    Workload { meta: &META, drive: Arc::new(Mixed { writers: tpcb_like.drive, accounts }), ..tpcb_like }
}

/// What its clients do.
struct Mixed {
    /// The drive of `tpcb-like`.
    writers: Arc<dyn Drive>,
    accounts: i64,
}

impl Drive for Mixed {
    fn stages(&self) -> Vec<Stage> {
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

    // Transactions and statements are numbered over all groups: first the writers', then the readers', then the queries'.
    fn txns(&self) -> Vec<Txn> {
        let others = ["read-balance"].into_iter().chain(QUERIES.map(|(name, _)| name));
        let others = others.map(|name| Txn { name, weight: 1.0, queries: 1 });
        self.writers.txns().into_iter().chain(others).collect()
    }

    fn statements(&self, caps: &Capabilities) -> Vec<Statement> {
        let mut statements = self.writers.statements(caps);
        let read = "SELECT abalance FROM pgbench_accounts WHERE aid = $1";
        statements.push(Statement::new(read, &[ParamType::Int4]));
        statements.extend(QUERIES.map(|(_, sql)| Statement::new(sql, &[])));
        statements
    }

    fn client(&self, context: &ClientContext) -> Box<dyn ClientScript> {
        let txns = self.writers.txns().len() as u8;
        let statements = self.writers.statements(&Capabilities::default()).len() as u32;
        match context.group {
            "writers" => self.writers.client(context),
            "readers" => {
                let (txn, stmt, rng) = (TxnId(txns), StmtId(statements), context.rng.clone());
                Box::new(Reader { txn, stmt, accounts: self.accounts, aid: 1, rng })
            }
            _ => Box::new(EachOnce { first_txn: txns + 1, first_stmt: statements + 1, begun: 0 }),
        }
    }
}

/// Reads the balance of one account after the other.
struct Reader {
    txn: TxnId,
    stmt: StmtId,
    accounts: i64,
    aid: i32,
    rng: Rng,
}

impl ClientScript for Reader {
    fn begin(&mut self) -> Option<Begin> {
        self.aid = self.rng.uniform(1, self.accounts) as i32;
        Some(Begin::now(self.txn))
    }

    fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        batch.execute(self.stmt, &[Value::Int4(self.aid)]);
        Next::Finish(Verdict::Committed)
    }

    fn restart(&mut self) {}
}

/// Runs each query once, and is done.
struct EachOnce {
    first_txn: u8,
    first_stmt: u32,
    begun: usize,
}

impl ClientScript for EachOnce {
    fn begin(&mut self) -> Option<Begin> {
        if self.begun == QUERIES.len() {
            return None;
        }
        self.begun += 1;
        Some(Begin::now(TxnId(self.first_txn + self.begun as u8 - 1)))
    }

    fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        batch.execute(StmtId(self.first_stmt + self.begun as u32 - 1), &[]);
        Next::Finish(Verdict::Committed)
    }

    fn restart(&mut self) {}
}
