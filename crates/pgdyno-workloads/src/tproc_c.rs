//! `tproc-c`: the nine tables and five transactions of TPC-C, derived from the standard and unaudited.
//!
//! Clause numbers refer to the TPC Benchmark C Standard Specification, revision 5.11. Columns and types are
//! HammerDB's, so that databases and plans are alike; rows and transactions follow the clauses.
//! `docs/workloads/tproc-c.md` lists every difference from both.

mod advice;
mod call;
mod checks;
mod deck;
mod home;
mod isolation;
mod judge;
pub(crate) mod options;
mod ordered;
mod population;
mod profile;
mod rows;
mod schema;
pub(crate) mod strings;
mod tally;
mod terminal;
mod txns;
mod waits;

use std::sync::Arc;

use pgdyno_workload::{
    Capabilities, Changed, Check, ClientContext, ClientCounts, ClientScript, DataSet, Drive, Group, Ledger,
    LedgerMarkers, Maker, Measured, Meta, Metric, Param, ParamKind, Params, Program, Routines, Scripts, SqlData, Table,
    When, Workload,
};

use call::Call;
use home::Home;
use judge::Rules;
use ordered::Ordered;
use population::Seed;
use profile::Profile;
use terminal::{Setup, Terminal};
use waits::Waits;

/// Cardinalities of clause 1.2.1 and 4.3.3.1.
const ITEMS: u32 = 100_000;
const DISTRICTS: u32 = 10;
const CUSTOMERS: u32 = 3_000;
const ORDERS: u32 = 3_000;
/// First undelivered order of a district.
const FIRST_NEW_ORDER: u32 = 2_101;

/// Connections for any number of terminals that wait most of their time: enough for 64 concurrent transactions, and
/// below a server's default limit of 100.
const WAITING_CONNECTIONS: u32 = 64;

/// The largest number of warehouses whose stock fits one table of PostgreSQL: 2^32 - 2 blocks of 8 KiB, 23 rows in
/// each. `w_id` is an integer and would allow 2,147,483,647.
const MAX_WAREHOUSES: i64 = 987_842;

/// Committed New-Orders a minute (clause 5.4.1 counts the same; the name tpmC is the TPC's). Each increases the next
/// order number of a district by one.
pub(crate) const NOPM: Metric = Metric {
    name: "nopm",
    title: "NOPM",
    meaning: "committed New-Orders a minute",
    measured: Measured::PerMinute,
    transactions: &["new-order"],
    counted: "New-Orders",
    server_count: Some("select sum(d_next_o_id) from district"),
};

/// The schema of procedures and functions for tables of another program.
const ROUTINE_SCHEMA: &str = "pgdyno";

pub(crate) static META: Meta = Meta {
    id: "tproc-c",
    summary: "order entry of a wholesale supplier: five transactions derived from TPC-C",
    version: 1,
    dataset: "tproc-c",
    scale_name: "warehouses",
    scale_query: Some("select max(w_id) from warehouse"),
    is_key_range: false,
    params: &PARAMS,
};

/// Its parameters, which CH-benCHmark has, too.
pub(crate) const PARAMS: [Param; 10] = [
    Param {
        name: "warehouses",
        help: "number of warehouses, about 100 MB each",
        default: "1",
        kind: ParamKind::Integer(1, MAX_WAREHOUSES),
        when: When::Load,
    },
    Param {
        name: "seed",
        help: "seed of the rows and of the NURand constants",
        default: "1",
        kind: ParamKind::Integer(0, i64::MAX),
        when: When::Load,
    },
    Param {
        name: "partitions",
        help: "hash partitions of order_line by warehouse; 0: none",
        default: "0",
        kind: ParamKind::Integer(0, 10_000),
        when: When::Load,
    },
    Param {
        name: "foreign-keys",
        help: "declare the foreign keys of clause 1.3; HammerDB has none",
        default: "false",
        kind: ParamKind::Flag,
        when: When::Load,
    },
    Param {
        name: "shard-count",
        help: "shards of each table, on a server that distributes tables (Citus)",
        default: "48",
        kind: ParamKind::Integer(1, 64_000),
        when: When::Load,
    },
    Param {
        name: "profile",
        help: "rule set for mix, choice of warehouses and inputs: hammerdb, or spec (the TPC-C clauses)",
        default: "hammerdb",
        kind: ParamKind::Choice(&["hammerdb", "spec"]),
        when: When::Run,
    },
    Param {
        name: "think",
        help: "keying and think times: on, off, or as the profile has them (hammerdb: off, spec: on)",
        default: "profile",
        kind: ParamKind::Choice(&["profile", "on", "off"]),
        when: When::Run,
    },
    Param {
        name: "all-warehouses",
        help: "each client works on its own share of all warehouses instead of one home warehouse",
        default: "false",
        kind: ParamKind::Flag,
        when: When::Run,
    },
    Param {
        name: "call",
        help: "how transactions are issued: procedure, function, or client (plain SQL)",
        default: "procedure",
        kind: ParamKind::Choice(&["procedure", "function", "client"]),
        when: When::Run,
    },
    Param {
        name: Maker::ROUTINE_SCHEMA,
        help: "where procedures and functions are: beside the tables, or in schema pgdyno (tables of HammerDB)",
        default: "tables",
        kind: ParamKind::Choice(&["tables", ROUTINE_SCHEMA]),
        when: When::Run,
    },
];

pub(crate) fn build(params: &Params) -> Workload {
    let tproc_c = Arc::new(TprocC {
        params: params.clone(),
        // Both ranges are non-negative; the first ends at MAX_WAREHOUSES.
        warehouses: params.integer("warehouses") as u32,
        seed: Seed(params.integer("seed").unsigned_abs()),
        profile: Profile::of(params.text("profile")),
        call: Call::of(params.text("call")),
        all_warehouses: params.flag("all-warehouses"),
        layout: Layout {
            partitions: params.integer("partitions") as u32,
            foreign_keys: params.flag("foreign-keys"),
            shards: params.integer("shard-count") as u32,
        },
    });
    Workload {
        meta: &META,
        params: params.clone(),
        scale: tproc_c.scale(),
        drive: Arc::new(tproc_c.drive()),
        data: vec![tproc_c],
        audit: Some(Arc::new(isolation::Acid)),
    }
}

struct TprocC {
    params: Params,
    warehouses: u32,
    seed: Seed,
    profile: Profile,
    call: Call,
    all_warehouses: bool,
    layout: Layout,
}

impl TprocC {
    /// Returns keying and think times: the profile's, unless the user overrides them.
    fn waits(&self) -> Waits {
        let is_spec = self.profile == Profile::Spec;
        match self.params.text("think") {
            "off" => Waits::Off,
            "on" => Waits::On { deferred: is_spec },
            _ if is_spec => Waits::On { deferred: true },
            _ => Waits::Off,
        }
    }

    fn routine_schema(&self) -> Option<&'static str> {
        (self.params.text(Maker::ROUTINE_SCHEMA) == ROUTINE_SCHEMA).then_some(ROUTINE_SCHEMA)
    }

    /// Returns the rules of the run, for judgements and advice.
    fn rules(&self) -> Rules {
        Rules { profile: self.profile, waits: self.waits() != Waits::Off, warehouses: self.warehouses }
    }
}

/// Layout of the tables; the rows are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Layout {
    /// Hash partitions of order_line; 0 for none.
    partitions: u32,
    foreign_keys: bool,
    /// Shards of each distributed table.
    shards: u32,
}

impl DataSet for TprocC {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn scale(&self) -> u64 {
        u64::from(self.warehouses)
    }

    fn tables(&self, caps: &Capabilities) -> Vec<Table> {
        schema::tables(self.warehouses, self.seed, self.layout, caps)
    }

    fn sql_data(&self) -> Option<&SqlData> {
        None
    }

    fn routines(&self, caps: &Capabilities) -> Routines {
        Routines { schema: self.routine_schema(), list: self.call.routines(self.routine_schema(), caps) }
    }

    fn other_maker(&self) -> Option<&'static Maker> {
        Some(&schema::HAMMERDB)
    }

    fn checks(&self) -> Vec<Check> {
        checks::checks(self.warehouses)
    }

    fn changed(&self, _: &str) -> Changed {
        Changed { checks: self.checks(), repair: None }
    }

    fn before_run(&self) -> &'static [&'static str] {
        &[]
    }

    fn bytes(&self) -> u64 {
        schema::data_bytes(self.warehouses)
    }
}

impl TprocC {
    fn drive(self: &Arc<Self>) -> Drive {
        let (of_program, of_advice) = (Arc::clone(self), Arc::clone(self));
        let program = move |_: &Capabilities| {
            let tproc_c = Arc::clone(&of_program);
            let statements = tproc_c.call.statements(tproc_c.routine_schema());
            Program::new(statements, move |context| tproc_c.client(context))
        };
        let rules = self.rules();
        let scripts = Scripts {
            tallies: tally::NAMES,
            adviser: Some(Arc::new(move |clients| of_advice.advice(clients))),
            judge: Some(Arc::new(move |figures| judge::judge(rules, figures))),
            ..Scripts::new(Group::ONLY, self.profile.txns(self.call), program)
        };
        let terminals = self.warehouses.saturating_mul(judge::TERMINALS);
        let clients = ClientCounts {
            clients: (rules.profile == Profile::Spec && rules.waits).then_some(terminals),
            connections_max: rules.waits.then_some(WAITING_CONNECTIONS),
        };
        let ledger = Ledger { is_always: false, txns: vec![NOPM.transactions[0]], markers: LedgerMarkers::Orders };
        Drive { metrics: &[NOPM], clients, ledger: Some(ledger), ..Drive::new(vec![scripts]) }
    }

    fn client(&self, context: &ClientContext) -> Box<dyn ClientScript> {
        let mut rng = context.rng.clone();
        let home = match (self.all_warehouses, self.profile) {
            (true, _) => Home::share(&mut rng, context.id.0, context.clients, self.warehouses),
            (false, Profile::Spec) => Home::dealt(context.id.0, self.warehouses),
            (false, Profile::HammerDb) => Home::drawn(&mut rng, self.warehouses),
        };
        let setup = Setup {
            home,
            warehouses: self.warehouses,
            constants: self.profile.constants(self.seed),
            mix: self.profile.mix(),
            call: self.call,
            waits: self.waits(),
        };
        let terminal = Terminal::new(setup, rng);
        match context.has_ledger {
            true => Box::new(Ordered::new(terminal, self.call)),
            false => Box::new(terminal),
        }
    }

    fn advice(&self, clients: u32) -> Vec<String> {
        advice::advice(self.rules(), clients, self.all_warehouses)
    }
}
