//! `ledger`: each transaction inserts one row with a marker that its client chose, so that it is known after a crash or a failover
//! which commits the server has kept.

use std::sync::{Arc, LazyLock};

use pgdyno_wire::{ParamType, ParamValue, Statement, StmtId};
use pgdyno_workload::{
    Batch, Begin, Capabilities, Changed, Check, ClientContext, ClientScript, DataSet, Distribution, Drive, Group,
    Ledger, LedgerMarkers, Maker, Marks, Meta, Next, Param, ParamKind, Params, Partitions, Program, Reply, Routines,
    RowCount, ScriptStatement, Scripts, SqlData, Statements, Table, Txn, TxnId, Verdict, When, Workload,
};

/// Largest number of tables.
const TABLES_MAX: i64 = 64;

/// The name of its transaction.
const TXN: &str = "commit";

/// Bytes of an empty table with its index.
const TABLE_BYTES: u64 = 16_384;

pub(crate) static META: Meta = Meta {
    id: "ledger",
    summary: "one row a commit, with a marker: which commits survive a crash or a failover, and how long it takes",
    version: 1,
    dataset: "ledger",
    scale_name: "tables",
    scale_query: None,
    is_key_range: false,
    params: &[Param {
        name: "tables",
        help: "tables pgdyno_ledger_1, …, over which the clients are spread",
        default: "1",
        kind: ParamKind::Integer(1, TABLES_MAX),
        when: When::Load,
    }],
};

pub(crate) fn build(params: &Params) -> Workload {
    // The range begins with 1.
    let markers = Markers { params: params.clone(), tables: params.integer("tables") as u32 };
    Workload {
        meta: &META,
        params: params.clone(),
        scale: u64::from(markers.tables),
        drive: Arc::new(markers.drive()),
        data: vec![Arc::new(markers)],
        audit: None,
    }
}

/// Returns the name of a table, from 1.
fn name(table: u32) -> &'static str {
    static NAMES: LazyLock<Vec<String>> =
        LazyLock::new(|| (1..=TABLES_MAX).map(|table| format!("pgdyno_ledger_{table}")).collect());
    &NAMES[table as usize - 1]
}

struct Markers {
    params: Params,
    tables: u32,
}

impl Markers {
    fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        (1..=self.tables).map(name)
    }

    fn drive(&self) -> Drive {
        let (names, tables): (Vec<_>, _) = (self.names().collect(), self.tables);
        let inserts = names.clone();
        let program = move |_: &Capabilities| {
            let statements: Statements =
                inserts.iter().map(|name| ScriptStatement::of(TxnId(0), insert(name))).collect();
            Program::new(statements, move |context| Box::new(Client::new(context, tables)))
        };
        let scripts = Scripts::new(Group::ONLY, vec![Txn::new(TXN, 1.0, 1)], program);
        let ledger = Ledger { is_always: true, txns: vec![TXN], markers: LedgerMarkers::Rows(names) };
        Drive { ledger: Some(ledger), ..Drive::new(vec![scripts]) }
    }
}

fn insert(table: &str) -> Statement {
    let types = [ParamType::Int8, ParamType::Int4, ParamType::Int8];
    Statement::new(format!("insert into {table} (run, client, sequence) values ($1, $2, $3)"), &types)
}

/// Returns a table. A row knows the timeline and the server that wrote it: `pg_control_checkpoint` shows the old timeline until the
/// first checkpoint after a promotion, the name of the WAL file does not.
fn table(name: &'static str) -> Table {
    Table {
        name,
        ddl: format!(
            "create table {name} (run bigint not null, client integer not null, sequence bigint not null, \
             written_at timestamptz not null default clock_timestamp(), \
             timeline text default left(pg_walfile_name(pg_current_wal_lsn()), 8), \
             server_started timestamptz default pg_postmaster_start_time())"
        ),
        indexes: vec![format!("alter table {name} add primary key (run, client, sequence)")],
        foreign_keys: Vec::new(),
        rows: RowCount::Exact(0),
        grows: true,
        bytes: TABLE_BYTES,
        partitions: Partitions::None,
        distribution: None::<Distribution>,
        binary: Vec::new(),
        source: None,
    }
}

impl DataSet for Markers {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn scale(&self) -> u64 {
        u64::from(self.tables)
    }

    fn tables(&self, _: &Capabilities) -> Vec<Table> {
        self.names().map(table).collect()
    }

    fn sql_data(&self) -> Option<&SqlData> {
        None
    }

    fn routines(&self, _: &Capabilities) -> Routines {
        Routines::default()
    }

    fn other_maker(&self) -> Option<&'static Maker> {
        None
    }

    fn checks(&self) -> Vec<Check> {
        Vec::new()
    }

    fn changed(&self, _: &str) -> Changed {
        Changed::default()
    }

    fn before_run(&self) -> &'static [&'static str] {
        &[]
    }

    fn bytes(&self) -> u64 {
        TABLE_BYTES * u64::from(self.tables)
    }
}

/// A client. Its transaction is one statement, which commits by itself.
struct Client {
    run: i64,
    id: i32,
    insert: StmtId,
    /// The number of its last transaction.
    sequence: i64,
}

impl Client {
    fn new(context: &ClientContext, tables: u32) -> Self {
        let id = context.id.0;
        // The server has no unsigned numbers.
        Self { run: context.seed.cast_signed(), id: id.cast_signed(), insert: StmtId(id % tables), sequence: 0 }
    }
}

impl ClientScript for Client {
    fn begin(&mut self) -> Option<Begin> {
        self.sequence += 1;
        Some(Begin::now(TxnId(0)))
    }

    fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        let key = [ParamValue::Int8(self.run), ParamValue::Int4(self.id), ParamValue::Int8(self.sequence)];
        // A rule or a trigger may leave the row out, and the server reports success.
        batch.find(self.insert, &key);
        Next::Finish(Verdict::Committed)
    }

    fn restart(&mut self) {}

    fn marks(&self) -> Marks<'_> {
        Marks::Wrote(self.sequence.cast_unsigned())
    }
}

#[cfg(test)]
mod tests {
    use pgdyno_workload::{ClientId, Rng, Stage};

    use super::*;

    #[test]
    fn each_transaction_has_a_marker_of_its_own_and_a_retry_the_same() {
        let context = ClientContext {
            stage: Stage::ONLY,
            group: Group::ONLY,
            id: ClientId(5),
            clients: 6,
            rng: Rng::new(1),
            seed: 9,
            has_ledger: true,
        };
        let mut client = Client::new(&context, 3);
        assert_eq!((client.run, client.insert), (9, StmtId(2)));
        client.begin();
        assert_eq!(client.marks(), Marks::Wrote(1));
        client.restart();
        assert_eq!(client.marks(), Marks::Wrote(1));
        client.begin();
        assert_eq!(client.marks(), Marks::Wrote(2));
    }
}
