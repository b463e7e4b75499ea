//! `ycsb-a` to `ycsb-f`: the core workloads of YCSB, on the table of its JDBC binding or with JSONB.
//!
//! Keys, distributions and operations are YCSB's, so that data of YCSB or go-ycsb can be driven here, and theirs can drive
//! ours. Source: YCSB 0.17, core workloads and JDBC binding.

mod checks;
mod client;
mod keys;
mod layout;
mod mixes;
pub(crate) mod options;
mod rows;
mod schema;

use std::sync::Arc;

use pgdyno_text::units::ending;
use pgdyno_workload::{
    Capabilities, Changed, Check, ClientContext, ClientScript, DataSet, Drive, Group, Maker, Meta, Params, Program,
    Routines, ScriptStatement, Scripts, SqlData, Statements, Table, TxnId, Workload,
};

use client::{Client, Op, ReadModifyWrite};
use keys::Keys;
use layout::Layout;
pub(crate) use mixes::{A, B, C, D, E, F};
use mixes::{LOST_UPDATES, READ_MODIFY_WRITE, SCAN_LENGTH};

/// Builds one of the workloads.
pub(crate) fn build(meta: &'static Meta, params: &Params) -> Workload {
    let ycsb = Arc::new(Ycsb::new(meta, params));
    Workload {
        meta,
        params: params.clone(),
        scale: ycsb.layout.records,
        drive: Arc::new(ycsb.drive()),
        data: vec![ycsb],
        audit: None,
    }
}

/// YCSB's JDBC binding and go-ycsb make the same table. They have no routines: its name says it.
static YCSB: Maker = Maker {
    name: "YCSB",
    routines: &[],
    drive: "pgdyno run ycsb-a",
    routine_schema: "",
    remedy: REMEDY,
    deviations: &[],
};

const REMEDY: &str = "give the number of its fields with --fields, and --schema jsonb where they are one document; or name another \
                      database in --target";

/// One of the workloads.
struct Ycsb {
    meta: &'static Meta,
    params: Params,
    /// Its operations, each with its share.
    mix: &'static [(Op, f64)],
    layout: Layout,
    keys: Keys,
    scan_length: u32,
    read_modify_write: ReadModifyWrite,
}

impl Ycsb {
    fn new(meta: &'static Meta, params: &Params) -> Self {
        let (layout, mix) = (Layout::of(params), mixes::operations(meta));
        Self {
            meta,
            params: params.clone(),
            mix,
            keys: Keys::new(layout.records, params, mix.iter().any(|(op, _)| *op == Op::Insert)),
            scan_length: params.integer(SCAN_LENGTH.name) as u32,
            read_modify_write: ReadModifyWrite {
                is_transaction: params.text(READ_MODIFY_WRITE.name) == "transaction",
                counts: params.flag(LOST_UPDATES.name) && layout.has_marks(),
            },
            layout,
        }
    }

    fn has(&self, op: Op) -> bool {
        self.mix.iter().any(|(other, _)| *other == op)
    }
}

impl DataSet for Ycsb {
    fn meta(&self) -> &'static Meta {
        self.meta
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn scale(&self) -> u64 {
        self.layout.records
    }

    fn tables(&self, _: &Capabilities) -> Vec<Table> {
        vec![self.layout.table()]
    }

    fn sql_data(&self) -> Option<&SqlData> {
        None
    }

    fn routines(&self, _: &Capabilities) -> Routines {
        Routines::default()
    }

    fn other_maker(&self) -> Option<&'static Maker> {
        Some(&YCSB)
    }

    fn checks(&self) -> Vec<Check> {
        checks::checks(&self.layout, self.has(Op::Insert))
    }

    fn changed(&self, _: &str) -> Changed {
        Changed { checks: self.checks(), repair: None }
    }

    fn before_run(&self) -> &'static [&'static str] {
        &[]
    }

    fn bytes(&self) -> u64 {
        self.layout.bytes()
    }
}

impl Ycsb {
    fn drive(self: &Arc<Self>) -> Drive {
        let (of_program, of_advice) = (Arc::clone(self), Arc::clone(self));
        let program = move |_: &Capabilities| {
            let ycsb = Arc::clone(&of_program);
            Program::new(ycsb.statements(), move |context| ycsb.client(context))
        };
        let txns = self.mix.iter().map(|(op, share)| op.txn(*share)).collect();
        let inserts = self.has(Op::Insert).then(checks::inserts);
        let modified = self.read_modify_write.counts.then(|| checks::read_modify_writes(&self.layout));
        Drive::new(vec![Scripts {
            is_read_only: self.mix.iter().all(|(op, _)| matches!(op, Op::Read | Op::Scan)),
            has_shared_state: self.has(Op::Insert),
            server_counts: inserts.into_iter().chain(modified).collect(),
            adviser: Some(Arc::new(move |clients| of_advice.advice(clients))),
            ..Scripts::new(Group::ONLY, txns, program)
        }])
    }

    /// Returns the statements, each of which belongs to the operation that alone executes it.
    fn statements(&self) -> Statements {
        let of_op = |(nth, statement)| {
            let txn = self.mix.iter().position(|(op, _)| op.is_only_user_of(nth));
            ScriptStatement { txn: txn.map(|op| TxnId(op as u8)), ..ScriptStatement::from(statement) }
        };
        self.layout.statements().into_iter().enumerate().map(of_op).collect()
    }

    fn client(&self, context: &ClientContext) -> Box<dyn ClientScript> {
        Box::new(Client::new(
            self.mix,
            self.layout.clone(),
            self.keys.chooser(),
            self.scan_length,
            self.read_modify_write,
            context.rng.clone(),
        ))
    }

    fn advice(&self, clients: u32) -> Vec<String> {
        let (records, mut advice) = (self.layout.records, Vec::new());
        let writes = self.has(Op::Update) || self.has(Op::ReadModifyWrite);
        if writes && u64::from(clients) > records {
            advice.push(format!(
                "{clients} clients update {records} record{}: most of the time will be waiting for row locks; use more \
                 --records",
                ending(records)
            ));
        }
        if self.has(Op::Scan) && u64::from(self.scan_length) > records {
            advice.push(format!(
                "scans of up to {} rows are longer than the table of {records}: most read all that follows their key; \
                 use more --records, or a smaller -D scan-length",
                self.scan_length
            ));
        }
        if self.params.flag(LOST_UPDATES.name) && !self.layout.has_marks() {
            advice.push(format!(
                "lost updates are not counted: a field of {} bytes has no room for the number; use --field-bytes {} or \
                 more",
                self.layout.field_bytes,
                layout::MARKED_BYTES
            ));
        }
        advice
    }
}
