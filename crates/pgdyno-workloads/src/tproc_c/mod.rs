//! `tproc-c`: the nine tables and five transactions of TPC-C, derived from the standard and unaudited.
//!
//! Clause numbers are those of the TPC Benchmark C Standard Specification, revision 5.11. Columns and
//! types are HammerDB's, so that a database looks the same and plans are alike; rows and transactions
//! follow the clauses. `docs/workloads/tproc-c.md` holds every difference from both.

mod checks;
mod deck;
mod population;
mod procedures;
mod rows;
mod schema;
mod strings;
mod terminal;
mod txns;

use pgdyno_wire::Statement;
use pgdyno_workload::{
    Capabilities, Check, ClientContext, ClientScript, Meta, Param, ParamKind, Params, Routine, Table, Txn, When,
    Workload,
};

use population::Seed;
use terminal::{Home, Terminal};

/// Cardinalities of clause 1.2.1 and 4.3.3.1.
const ITEMS: u32 = 100_000;
const DISTRICTS: u32 = 10;
const CUSTOMERS: u32 = 3_000;
const ORDERS: u32 = 3_000;
/// The first order of a district that is not delivered yet.
const FIRST_NEW_ORDER: u32 = 2_101;

/// The largest number of warehouses whose stock fits one table of PostgreSQL: 2^32 - 2 blocks of 8 KiB,
/// 23 rows in each. `w_id` is an integer and would allow 2,147,483,647.
const MAX_WAREHOUSES: i64 = 987_842;

pub(crate) static META: Meta = Meta {
    id: "tproc-c",
    summary: "order entry of a wholesale supplier: five transactions derived from TPC-C",
    version: 1,
    dataset: "tproc-c",
    scale_name: "warehouses",
    scale_query: Some("select count(*) from warehouse"),
    params: &[
        Param {
            name: "warehouses",
            help: "number of warehouses, about 100 MB each",
            default: "1",
            kind: ParamKind::Integer(1, MAX_WAREHOUSES),
            when: When::Load,
        },
        Param {
            name: "seed",
            help: "what the rows and the NURand constants are derived from",
            default: "1",
            kind: ParamKind::Integer(0, i64::MAX),
            when: When::Load,
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
            help: "how the server does a transaction: by a stored procedure",
            default: "procedure",
            kind: ParamKind::Choice(&["procedure"]),
            when: When::Run,
        },
    ],
};

pub(crate) fn build(params: &Params) -> Box<dyn Workload> {
    Box::new(TprocC {
        params: params.clone(),
        // Both ranges hold no negative number; the first ends at MAX_WAREHOUSES.
        warehouses: params.integer("warehouses") as u32,
        seed: Seed(params.integer("seed").unsigned_abs()),
        all_warehouses: params.flag("all-warehouses"),
    })
}

struct TprocC {
    params: Params,
    warehouses: u32,
    seed: Seed,
    all_warehouses: bool,
}

impl Workload for TprocC {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn scale(&self) -> u64 {
        u64::from(self.warehouses)
    }

    fn tables(&self, _: &Capabilities) -> Vec<Table> {
        schema::tables(self.warehouses, self.seed)
    }

    fn routines(&self, _: &Capabilities) -> Vec<Routine> {
        procedures::routines()
    }

    fn checks(&self) -> Vec<Check> {
        checks::checks()
    }

    fn txns(&self) -> Vec<Txn> {
        txns::kinds()
    }

    fn statements(&self, _: &Capabilities) -> Vec<Statement> {
        procedures::statements()
    }

    fn new_order_count_query(&self) -> Option<&'static str> {
        Some("select sum(d_next_o_id) from district")
    }

    fn data_bytes(&self) -> u64 {
        schema::data_bytes(self.warehouses)
    }

    fn client(&self, context: &ClientContext) -> Box<dyn ClientScript> {
        let home = if self.all_warehouses {
            Home::share(context.id.0, context.clients, self.warehouses)
        } else {
            Home::fixed(context.id.0, self.warehouses)
        };
        Box::new(Terminal::new(home, self.warehouses, self.seed.run_constants(), context.rng.clone()))
    }

    fn advice(&self, clients: u32) -> Vec<String> {
        if !self.all_warehouses && clients > self.warehouses {
            vec![format!(
                "{clients} clients share {} home warehouse{}: they will wait for each other's row locks; \
                 use at least as many warehouses as clients (the field's rule is 4 to 5 for each)",
                self.warehouses,
                if self.warehouses == 1 { "" } else { "s" },
            )]
        } else {
            Vec::new()
        }
    }
}
