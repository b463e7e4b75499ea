//! Plans of `tproc-c` that must not depend on what the statistics say.

use crate::by_hand::FORMS;
use crate::support::{Connection, Server, tproc_c};
use pgdyno_workload::{Capabilities, Workload};

/// How Stock-Level of warehouse 1 is asked for in a call form: what is sent once, then what is sent for a district.
fn stock_level(form: &str) -> (String, impl Fn(u32) -> String) {
    let statements = tproc_c(&[("call", form)]).drive.statements(&Capabilities::default());
    let asked = statements.last().unwrap().sql().to_owned();
    let prepare = format!("prepare stock_level (int, int, int) as {asked}");
    let is_procedure = form == "procedure";
    // CALL cannot be prepared by SQL. The statement inside the procedure is, by PL/pgSQL.
    let once = if is_procedure { "select 1".to_owned() } else { prepare };
    let call = move |d_id: u32| match is_procedure {
        true => asked.replace("$1, $2, $3", &format!("1, {d_id}, 15")),
        false => format!("execute stock_level(1, {d_id}, 15)"),
    };
    (once, call)
}

/// Rows of a table and its partitions that the session has read, by index and by sequential scan.
fn read(sql: &mut Connection, table: &str) -> [u64; 2] {
    let rows = sql.rows(&format!(
        "select coalesce(sum(idx_tup_fetch), 0), sum(seq_tup_read) from pg_stat_xact_user_tables \
         where relid in (select relid from pg_partition_tree('{table}')) or relid = '{table}'::regclass"
    ));
    [0, 1].map(|column| rows[0][column].parse().unwrap())
}

/// While `district` bloats between two vacuums the planner expects several rows of it for each key. Stock-Level must read
/// the lines of the last twenty orders all the same, not those of the whole district.
#[test]
fn plans_do_not_depend_on_what_the_statistics_say() {
    let Some(server) = Server::with_warehouses("w2") else { return };
    for (database, layout) in [
        ("w2", [("partitions", "0"), ("foreign-keys", "false")]),
        ("laid_out", [("partitions", "3"), ("foreign-keys", "true")]),
    ] {
        // Two warehouses: of one the number of a district would be a key to the planner.
        let workload = tproc_c(&[&layout[..], &[("warehouses", "2")]].concat());
        let mut sql = if database == "w2" { server.connect(database) } else { server.load(database, &workload) };
        for key in workload.data[0].tables(&Capabilities::default()).iter().flat_map(|table| &table.foreign_keys) {
            sql.run(key);
        }
        if database == "w2" {
            no_condition_compares_each_order_with_its_whole_district(&mut sql, &workload);
        }
        // The districts have gone on, each at its own pace, as they do in a run.
        sql.run("update district set d_next_o_id = d_next_o_id + d_id");
        sql.run("vacuum full district");
        sql.run("analyze district");
        for tuples in [20, 60, 200, 2_000, 20_000] {
            sql.run(&format!("update pg_class set reltuples = {tuples} where oid = 'district'::regclass"));
            for mode in ["force_custom_plan", "force_generic_plan"] {
                for form in FORMS {
                    bounded(
                        &mut server.connect(database),
                        form,
                        mode,
                        &format!("{database}: {tuples} rows, {mode}, {form}"),
                    );
                }
            }
        }
    }
}

fn bounded(sql: &mut Connection, form: &str, mode: &str, context: &str) {
    let (once, call) = stock_level(form);
    sql.run(&format!("set plan_cache_mode = {mode}"));
    sql.run(&once);
    for d_id in [1, 7] {
        let expected = sql.rows(&format!(
            "select count(*), count(distinct ol_i_id), \
                    (select count(*) from stock where s_w_id = 1 and s_quantity < 15 and s_i_id = any (array_agg(ol_i_id))) \
               from order_line where ol_w_id = 1 and ol_d_id = {d_id} and ol_o_id between 2981 + {d_id} and 3000 + {d_id}"
        ));
        let [lines, items, low] = [0, 1, 2].map(|column| expected[0][column].parse::<u64>().unwrap());
        sql.run("begin");
        // Of the session, as long as the server has not gathered it.
        let before = [read(sql, "order_line"), read(sql, "stock")];
        let found = sql.value(&call(d_id));
        let [of_lines, of_stock] = [(0, "order_line"), (1, "stock")].map(|(nth, table)| {
            let now = read(sql, table);
            [0, 1].map(|column| now[column] - before[nth][column])
        });
        sql.run("rollback");
        assert_eq!(found, low.to_string(), "{context}");
        assert_eq!(of_lines, [lines, 0], "rows read of order_line, {context}");
        assert_eq!(of_stock, [items, 0], "rows read of stock, {context}");
    }
}

/// The planner may expect a few rows from an inner join on all three columns of an order's key, and then join by warehouse and district
/// alone: each order with all lines of its district. No condition may leave it that choice, for all warehouses or for some.
fn no_condition_compares_each_order_with_its_whole_district(sql: &mut Connection, workload: &Workload) {
    let checks = workload.data[0].checks();
    let parts: Vec<_> = checks.iter().filter_map(|check| Some((check.name, check.parts.as_ref()?))).collect();
    assert!(parts.iter().any(|(name, _)| *name == "3.3.2.12"));
    for (name, parts) in parts {
        for query in [parts.whole()].into_iter().chain(parts.queries(2)) {
            let plan = sql.rows(&format!("explain (costs off) {query}")).concat().join("\n");
            assert!(!plan.contains("Join Filter") && !plan.contains("Nested Loop"), "{name}: {query}\n{plan}");
        }
    }
}
