//! Data that is broken by SQL, one thing at a time: `check` names each, and holds again after its repair.

use crate::given_server::{Place, TRUST};

/// What breaks something, what `check` must print of it, and what repairs it.
struct Case {
    breaks: String,
    named: Vec<String>,
    repairs: String,
}

fn case(breaks: &str, named: &[&str], repairs: &str) -> Case {
    let named = named.iter().map(|word| (*word).to_owned()).collect();
    Case { breaks: breaks.to_owned(), named, repairs: repairs.to_owned() }
}

/// Breaks several things at once, each of which has a name of its own. What one of them breaks and nothing else is tested with the checks
/// of `pgdyno-load`.
fn together(cases: impl IntoIterator<Item = Case>) -> Case {
    let none = Case { breaks: String::new(), named: Vec::new(), repairs: String::new() };
    cases.into_iter().fold(none, |all, case| Case {
        breaks: format!("{}{};", all.breaks, case.breaks),
        named: [all.named, case.named].concat(),
        repairs: format!("{};{}", case.repairs, all.repairs),
    })
}

/// Rows that are gone, whatever refers to them.
fn missing(table: &str, which: &str, named: &str) -> Case {
    let breaks = format!(
        "set session_replication_role = replica; create table kept.gone_{table} as select * from {table} where {which}; \
         delete from {table} where {which}"
    );
    let repairs = format!(
        "set session_replication_role = replica; insert into {table} select * from kept.gone_{table}; \
         drop table kept.gone_{table}"
    );
    case(&breaks, &[&format!("BROKEN {named} ")], &repairs)
}

/// A row that is there twice, where the key that forbids that is dropped.
fn doubled(table: &str, key: &str, named: &str) -> Case {
    let drop =
        if key.is_empty() { String::new() } else { format!("alter table {table} drop constraint {key} cascade; ") };
    let breaks = format!(
        "{drop}set session_replication_role = replica; insert into {table} select * from {table} limit 1; \
         create table kept.twice_{table} as select (txid_current() % 4294967296)::text as x"
    );
    let repairs = format!(
        "set session_replication_role = replica; delete from {table} where xmin::text = (select x from kept.twice_{table}); \
         drop table kept.twice_{table}"
    );
    let mut case = case(&breaks, &[&format!("BROKEN {named} ")], &repairs);
    if !key.is_empty() {
        case.named.push(format!("primary key {key} of {table} is missing"));
    }
    case
}

/// Restores the dropped constraints after the repair.
fn restored(case: Case) -> Case {
    Case { repairs: format!("{}; reset session_replication_role; call kept.restore()", case.repairs), ..case }
}

/// Keeps what constraints there are, for those that are dropped with others.
const KEEP: &str = "create schema kept; \
    create table kept.con as select conrelid::regclass as of, conname, contype, pg_get_constraintdef(oid) as def \
    from pg_constraint where connamespace = 'public'::regnamespace and conparentid = 0 and contype in ('p', 'f'); \
    create procedure kept.restore() language plpgsql as $$ declare c record; begin \
    for c in select * from kept.con k where not exists (select from pg_constraint t where (t.conrelid, t.conname) = \
    (k.of, k.conname)) order by contype desc loop \
    execute format('alter table %s add constraint %I %s', c.of, c.conname, c.def); end loop; end $$";

fn all_are_named(place: &Place, workload: &str, cases: Vec<Case>) {
    let check = format!("check {workload}");
    place.run(&check).ok();
    for case in cases {
        place.execute(&case.breaks);
        let ran = place.run(&check).ended(12);
        for named in &case.named {
            let reported = format!("{}{}", ran.stdout, ran.stderr);
            assert!(reported.contains(named), "{}\nis not named: {named}\n{reported}", case.breaks);
        }
        place.execute(&case.repairs);
    }
    place.run(&check).ok();
}

#[test]
fn everything_that_is_broken_in_tproc_c_is_named() {
    let Some(place) = Place::new("broken TPROC-C data", "max_wal_size = 4GB\nautovacuum = off\n", TRUST) else {
        return;
    };
    place.run("load tproc-c -w 1 --partitions 2 --foreign-keys").ok();
    place.execute(KEEP);
    let mut cases = vec![
        together([
            missing("warehouse", "w_id = 1", "rows of warehouse"),
            missing("district", "d_id = 4", "rows of district"),
            missing("customer", "c_d_id = 3 and c_id = 7", "rows of customer"),
            missing("item", "i_id = 7", "rows of item"),
            missing("stock", "s_i_id <= 1000", "rows of stock"),
        ]),
        together([
            missing("history", "h_d_id = 2 and h_c_id = 5", "3.3.2.8"),
            missing("new_order", "no_d_id = 1 and no_o_id = 2500", "3.3.2.3"),
            missing("order_line", "ol_d_id = 1 and ol_o_id = 9 and ol_number = 2", "3.3.2.6"),
        ]),
        missing("orders", "o_d_id = 1 and o_id = 3", "orders"),
    ];
    let mut twice = [
        doubled("warehouse", "warehouse_i1", "rows of warehouse"),
        doubled("district", "district_i1", "rows of district"),
        doubled("customer", "customer_i1", "rows of customer"),
        doubled("item", "item_i1", "rows of item"),
        doubled("stock", "stock_i1", "rows of stock"),
        doubled("history", "", "3.3.2.9"),
        doubled("new_order", "new_order_i1", "3.3.2.3"),
        doubled("orders", "orders_i1", "orders"),
        doubled("order_line", "order_line_i1", "3.3.2.4"),
    ];
    // customer_i2 and orders_i2 forbid doubles too.
    for case in &mut twice {
        for (index, table, columns) in [
            ("customer_i2", "customer", "c_w_id, c_d_id, c_last, c_first, c_id"),
            ("orders_i2", "orders", "o_w_id, o_d_id, o_c_id, o_id"),
        ] {
            if case.breaks.starts_with(&format!("alter table {table} drop")) {
                case.breaks = format!("drop index {index}; {}", case.breaks);
                case.named.push(format!("index {index} of {table} is missing: unique btree ({columns})"));
                case.repairs = format!("{}; create unique index {index} on {table} ({columns})", case.repairs);
            }
        }
    }
    let [warehouse, district, customer, item, stock, history, new_order, orders, order_line] = twice;
    let twice =
        [together([warehouse, district, customer, item, stock]), together([history, new_order]), orders, order_line];
    cases.extend(twice.map(restored));
    let changed = |table: &str, set: &str, back: &str, which: &str, named: &str| {
        let update = |set: &str| format!("update {table} set {set} where {which}");
        case(&update(set), &[&format!("BROKEN {named} ")], &update(back))
    };
    cases.extend([
        together([changed("warehouse", "w_ytd = w_ytd + 0.01", "w_ytd = w_ytd - 0.01", "w_id = 1", "3.3.2.1"), changed("district", "d_next_o_id = 3002", "d_next_o_id = 3001", "d_id = 2", "3.3.2.2"), changed("customer", "c_ytd_payment = 10.01", "c_ytd_payment = 10", "c_id = 9", "3.3.2.12"), changed("orders", "o_carrier_id = 3", "o_carrier_id = null", "o_id = 2200", "3.3.2.5"), changed("customer", "c_delivery_cnt = 1", "c_delivery_cnt = 0", "c_id = 9 and c_d_id = 1", "3.3.2.11"), changed(
            "stock",
            "s_quantity = s_quantity - 200",
            "s_quantity = s_quantity + 200",
            "s_i_id = 5",
            "stock-quantity",
        )]),
        together([changed("district", "d_ytd = d_ytd - 0.01", "d_ytd = d_ytd + 0.01", "d_id = 2", "3.3.2.9"), changed("customer", "c_balance = c_balance + 0.01", "c_balance = c_balance - 0.01", "c_id = 8", "3.3.2.10"), changed("orders", "o_ol_cnt = o_ol_cnt + 1", "o_ol_cnt = o_ol_cnt - 1", "o_id = 5", "3.3.2.6"), changed("order_line", "ol_delivery_d = now()", "ol_delivery_d = null", "ol_o_id = 2200", "3.3.2.7"), changed("stock", "s_ytd = 1", "s_ytd = 0", "s_i_id = 5", "stock-sold")]),
        together([changed("history", "h_amount = 10.01", "h_amount = 10", "h_c_id = 5 and h_c_d_id = 5", "3.3.2.8"), changed("stock", "s_order_cnt = 1", "s_order_cnt = 0", "s_i_id = 5", "stock-sold"), case(
            "set session_replication_role = replica; insert into new_order values (1, 3001, 5)",
            &["BROKEN 3.3.2.5 ", "in_new_order=t"],
            "delete from new_order where no_o_id = 3001",
        )]),
        together([case(
            "update pg_index set indisvalid = false where indexrelid = 'orders_i2'::regclass",
            &["index orders_i2 of orders is unique btree (o_w_id, o_d_id, o_c_id, o_id), invalid"],
            "update pg_index set indisvalid = true where indexrelid = 'orders_i2'::regclass",
        ), case(
            "create index extra on history (h_w_id)",
            &["index extra of history was not there after the load: btree (h_w_id)"],
            "drop index extra",
        ), case(
            "alter table stock drop constraint stock_item_fk",
            &["foreign key stock_item_fk of stock is missing: FOREIGN KEY (s_i_id) REFERENCES item(i_id)"],
            "call kept.restore()",
        ), case(
            "alter table district disable trigger all",
            &["foreign key district_warehouse_fk of district is", ", disabled; it was"],
            "alter table district enable trigger all",
        ), case(
            "create function kept.f() returns trigger language plpgsql as 'begin return new; end'; \
             create trigger slow before update on stock for each row execute function kept.f()",
            &["trigger slow of stock was not there after the load"],
            "drop trigger slow on stock; drop function kept.f()",
        ), case(
            "alter table item alter i_price type numeric(7,3)",
            &["column item.i_price is numeric(7,3) not null; it was numeric(5,2) not null"],
            "alter table item alter i_price type numeric(5,2)",
        ), case(
            "alter table history set unlogged",
            &["table history is unlogged; it was logged"],
            "alter table history set logged",
        ), case(
            "alter table order_line detach partition order_line_2",
            &["partition order_line_2 is missing: logged, of order_line FOR VALUES WITH (modulus 2, remainder 1)"],
            "alter table order_line attach partition order_line_2 for values with (modulus 2, remainder 1)",
        ), case(
            "alter procedure pgdyno_delivery(int, int, int[], int[]) rename to hidden",
            &["procedure pgdyno_delivery(integer, integer, integer[], integer[]) is missing"],
            "alter procedure hidden(int, int, int[], int[]) rename to pgdyno_delivery",
        )]),
        together([case(
            "drop index customer_i2",
            &["BROKEN schema ", "index customer_i2 of customer is missing: unique btree (c_w_id, c_d_id, c_last,"],
            "create unique index customer_i2 on customer (c_w_id, c_d_id, c_last, c_first, c_id)",
        ), case(
            "alter table stock drop constraint stock_item_fk; alter table stock add constraint stock_item_fk \
             foreign key (s_i_id) references item (i_id) not valid",
            &["foreign key stock_item_fk of stock is FOREIGN KEY", "NOT VALID; it was"],
            "alter table stock validate constraint stock_item_fk",
        ), case(
            "alter table item alter i_data drop not null",
            &["column item.i_data is character varying(50); it was character varying(50) not null"],
            "alter table item alter i_data set not null",
        ), case(
            "alter table history add id bigint generated always as identity",
            &["column history.id was not there after the load", "sequence history_id_seq of history was not there"],
            "alter table history drop id",
        ), case(
            "create table kept.body as select prosrc from pg_proc where proname = 'pgdyno_delivery'; \
             update pg_proc set prosrc = 'begin end' where proname = 'pgdyno_delivery'",
            &["procedure pgdyno_delivery(integer, integer, integer[], integer[]) is not the one that was installed"],
            "update pg_proc set prosrc = (select prosrc from kept.body) where proname = 'pgdyno_delivery'; \
             drop table kept.body",
        )]),
        case(
            "update pgdyno_stamp set scale = 2",
            &["the stamp says warehouses 2 and warehouses 1"],
            "update pgdyno_stamp set scale = 1",
        ),
        case(
            "update pgdyno_stamp set scale = 2, params = replace(params, 'warehouses=1', 'warehouses=2')",
            &["the stamp names", "its identity belongs to other data"],
            "update pgdyno_stamp set scale = 1, params = replace(params, 'warehouses=2', 'warehouses=1')",
        ),
        case(
            "update pgdyno_stamp set rows[8] = rows[8] + 1",
            &["BROKEN rows of item ", "count=100000"],
            "update pgdyno_stamp set rows[8] = rows[8] - 1",
        ),
        case(
            "alter table item rename to hidden",
            &["damaged data of tproc-c: table item is missing", "`pgdyno load tproc-c --replace`"],
            "alter table hidden rename to item",
        ),
    ]);
    assert!(cases.iter().map(|case| case.named.len()).sum::<usize>() > 50);
    all_are_named(&place, "tproc-c", cases);
    place.run("check tproc-c -w 2").ended(11).says(&["data of 1 warehouse; you asked for 2 warehouses"]);
}

#[test]
fn everything_that_is_broken_in_pgbenchs_tables_is_named() {
    let Some(place) = Place::new("broken pgbench data", "autovacuum = off\n", TRUST) else { return };
    place.run("load tpcb-like -s 2 -D partitions=2 -D history-indexes=true").ok();
    place.execute(KEEP);
    let sum = |table: &str, column: &str, named: &str| {
        let update =
            |by| format!("update {table} set {column} = {column} {by} where ctid = (select min(ctid) from {table})");
        case(&update("+ 1"), &[&format!("BROKEN {named} ")], &update("- 1"))
    };
    let cases = vec![
        missing("pgbench_accounts", "aid = 77", "rows of pgbench_accounts"),
        missing("pgbench_tellers", "tid = 7", "rows of pgbench_tellers"),
        missing("pgbench_branches", "bid = 2", "rows of pgbench_branches"),
        restored(doubled("pgbench_accounts", "pgbench_accounts_pkey", "rows of pgbench_accounts")),
        restored(doubled("pgbench_tellers", "pgbench_tellers_pkey", "rows of pgbench_tellers")),
        restored(doubled("pgbench_branches", "pgbench_branches_pkey", "rows of pgbench_branches")),
        case(
            "update pgbench_accounts set abalance = 1 where aid = 5",
            &["BROKEN accounts-history ", "accounts_minus_history=1"],
            "update pgbench_accounts set abalance = 0 where aid = 5",
        ),
        sum("pgbench_tellers", "tbalance", "tellers-branches"),
        sum("pgbench_branches", "bbalance", "tellers-branches"),
        case(
            "insert into pgbench_history values (1, 1, 1, 5, now())",
            &["BROKEN accounts-history ", "accounts_minus_history=-5"],
            "delete from pgbench_history",
        ),
        case(
            "drop index pgbench_history_aid_idx",
            &["index pgbench_history_aid_idx of pgbench_history is missing: btree (aid)"],
            "create index pgbench_history_aid_idx on pgbench_history (aid)",
        ),
        case(
            "alter table pgbench_tellers alter tbalance type bigint",
            &["column pgbench_tellers.tbalance is bigint; it was integer"],
            "alter table pgbench_tellers alter tbalance type integer",
        ),
        case(
            "alter table pgbench_accounts detach partition pgbench_accounts_2",
            &["partition pgbench_accounts_2 is missing", "BROKEN rows of pgbench_accounts "],
            "alter table pgbench_accounts attach partition pgbench_accounts_2 for values from (100001) to (maxvalue)",
        ),
        case(
            "update pgdyno_stamp set scale = 3",
            &["the stamp says scale 3 and scale 2"],
            "update pgdyno_stamp set scale = 2",
        ),
        case(
            "set session_replication_role = replica; create table kept.gone as table pgbench_accounts; \
             create table kept.tellers as table pgbench_tellers; create table kept.branches as table pgbench_branches; \
             truncate pgbench_accounts, pgbench_tellers, pgbench_branches",
            &[
                "BROKEN rows of pgbench_accounts ",
                "BROKEN rows of pgbench_tellers ",
                "BROKEN rows of pgbench_branches ",
            ],
            "insert into pgbench_accounts table kept.gone; insert into pgbench_tellers table kept.tellers; \
             insert into pgbench_branches table kept.branches",
        ),
    ];
    all_are_named(&place, "tpcb-like", cases);
    // A run finds the same.
    place.execute("drop index pgbench_history_aid_idx");
    place.run("run tpcb-like -c 1 -t 10").ended(12).says(&["broken before the run", "pgbench_history_aid_idx"]);
}
