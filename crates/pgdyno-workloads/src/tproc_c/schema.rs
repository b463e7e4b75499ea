//! The nine tables: columns and types of HammerDB, in its order.
//!
//! Unlike HammerDB's, primary keys are created after the rows. Columns that HammerDB's routines may leave NULL are
//! nullable, so that they work on these tables.

use pgdyno_workload::{
    Capabilities, ColumnType, Distribution, Maker, Partition, Partitions, RowCount, RowSource, Table, hash_partition,
};

use super::{CUSTOMERS, DISTRICTS, FIRST_NEW_ORDER, ITEMS, Layout, ORDERS, population::Seed, rows};

/// HammerDB makes tables of the same names and columns, and five routines.
pub(super) static HAMMERDB: Maker = Maker {
    name: "HammerDB",
    routines: &["neword", "payment", "delivery", "ostat", "slev"],
    drive: "pgdyno run tproc-c",
    routine_schema: super::ROUTINE_SCHEMA,
    remedy: "restore what is missing (an interrupted build makes its indexes last), or drive it as it is with --no-check",
    deviations: &[
        (
            "3.3.2.10",
            "its load gives an order's amounts to other customers than it charges (o_c_id is no permutation, and amounts \
             of delivered and new orders are exchanged), and its Payment may change a wrong balance",
        ),
        ("3.3.2.11", "its Delivery does not count in c_delivery_cnt"),
        ("3.3.2.12", "as condition 10, and its Payment does not add to c_ytd_payment"),
        ("stock-sold", "its New-Order adds neither to s_ytd nor to s_order_cnt"),
    ],
};

/// Average number of lines of an order, for estimates.
const LINES: u64 = 10;

/// Bytes of heap and of indexes per row right after the load, measured on PostgreSQL 15.
const ITEM: u64 = 130;
const WAREHOUSE: u64 = 160;
const DISTRICT: u64 = 140;
const STOCK: u64 = 365;
const CUSTOMER: u64 = 698;
const HISTORY: u64 = 81;
const ORDER: u64 = 124;
const NEW_ORDER: u64 = 77;
const ORDER_LINE: u64 = 125;

/// Returns the nine tables of `layout`, with the foreign keys that the server supports.
pub(super) fn tables(warehouses: u32, seed: Seed, layout: Layout, caps: &Capabilities) -> Vec<Table> {
    let mut tables = plain(warehouses, seed);
    for table in &mut tables {
        table.distribution = Some(match table.name {
            "item" => Distribution::Everywhere,
            name => Distribution::Column { name: warehouse_column(name), shards: layout.shards, is_scale: true },
        });
        if table.name == "order_line" && layout.partitions > 0 {
            partition(table, warehouses, layout.partitions, caps);
        }
        if layout.foreign_keys {
            table.foreign_keys = foreign_keys(table.name, caps);
        }
    }
    tables
}

/// Returns the column with the warehouse of a row. A row of the history belongs to the warehouse that was paid, which
/// is not always the customer's.
fn warehouse_column(table: &str) -> &'static str {
    match table {
        "warehouse" => "w_id",
        "district" => "d_w_id",
        "customer" => "c_w_id",
        "history" => "h_w_id",
        "new_order" => "no_w_id",
        "orders" => "o_w_id",
        "order_line" => "ol_w_id",
        _ => "s_w_id",
    }
}

/// Adds hash partitions by warehouse, `order_line_1` and so on.
fn partition(table: &mut Table, warehouses: u32, partitions: u32, caps: &Capabilities) {
    let name = table.name;
    table.ddl += &format!(" PARTITION BY HASH ({})", warehouse_column(name));
    for n in 0..partitions {
        table.ddl += &format!(
            "; CREATE TABLE {name}_{} PARTITION OF {name} FOR VALUES WITH (MODULUS {partitions}, REMAINDER {n})",
            n + 1
        );
    }
    table.partitions = match caps.distributed_tables {
        true => Partitions::Routed,
        false => Partitions::Known(known(table, warehouses, partitions)),
    };
}

/// Returns the partitions with the chunks of their warehouses, one for each district.
fn known(table: &Table, warehouses: u32, partitions: u32) -> Vec<Partition> {
    let districts = u64::from(DISTRICTS);
    let key = |name: &str| {
        let columns = table.indexes.first().and_then(|sql| sql.split_once("PRIMARY KEY"));
        columns.map(|(_, columns)| format!("ALTER TABLE {name} ADD PRIMARY KEY{columns}")).into_iter().collect()
    };
    let none = |n| {
        let name = format!("{}_{n}", table.name);
        Partition { indexes: key(&name), name, chunks: Vec::new() }
    };
    let mut known: Vec<_> = (1..=partitions).map(none).collect();
    for warehouse in 1..=warehouses {
        let first = u64::from(warehouse - 1) * districts;
        known[hash_partition(warehouse as i32, partitions) as usize].chunks.push(first..first + districts);
    }
    known
}

/// A foreign key of clause 1.3: table, columns, their target, and whether both rows always belong to the same
/// warehouse or the target is on every node, so that a server which distributes tables supports it.
type ForeignKey = (&'static str, &'static str, &'static str, &'static str, bool);

const FOREIGN_KEYS: [ForeignKey; 10] = [
    ("district", "d_w_id", "warehouse", "w_id", true),
    ("customer", "c_w_id, c_d_id", "district", "d_w_id, d_id", true),
    ("history", "h_c_w_id, h_c_d_id, h_c_id", "customer", "c_w_id, c_d_id, c_id", false),
    ("history", "h_w_id, h_d_id", "district", "d_w_id, d_id", true),
    ("new_order", "no_w_id, no_d_id, no_o_id", "orders", "o_w_id, o_d_id, o_id", true),
    ("orders", "o_w_id, o_d_id, o_c_id", "customer", "c_w_id, c_d_id, c_id", true),
    ("order_line", "ol_w_id, ol_d_id, ol_o_id", "orders", "o_w_id, o_d_id, o_id", true),
    // Columns in the order of the key of stock.
    ("order_line", "ol_i_id, ol_supply_w_id", "stock", "s_i_id, s_w_id", false),
    ("stock", "s_w_id", "warehouse", "w_id", true),
    ("stock", "s_i_id", "item", "i_id", true),
];

/// Returns the statements that add those of one table. With names, because Citus has not always generated them.
fn foreign_keys(table: &str, caps: &Capabilities) -> Vec<String> {
    let of_table = FOREIGN_KEYS.iter().filter(|key| key.0 == table && (key.4 || !caps.distributed_tables));
    let sql = |(table, columns, parent, keys, _): &ForeignKey| {
        format!(
            "ALTER TABLE {table} ADD CONSTRAINT {table}_{parent}_fk FOREIGN KEY ({columns}) REFERENCES {parent} ({keys})"
        )
    };
    of_table.map(sql).collect()
}

fn plain(warehouses: u32, seed: Seed) -> Vec<Table> {
    let w = u64::from(warehouses);
    let districts = w * u64::from(DISTRICTS);
    vec![
        table(
            "warehouse",
            "w_id integer NOT NULL, w_name varchar(10) NOT NULL, w_street_1 varchar(20) NOT NULL, \
             w_street_2 varchar(20) NOT NULL, w_city varchar(20) NOT NULL, w_state char(2) NOT NULL, \
             w_zip char(9) NOT NULL, w_tax numeric(4,4) NOT NULL, w_ytd numeric(16,2) NOT NULL",
            &[("PRIMARY KEY", "warehouse_i1", "w_id")],
            w,
            WAREHOUSE,
            Box::new(rows::Warehouses { seed, warehouses }),
        ),
        table(
            "district",
            "d_w_id integer NOT NULL, d_next_o_id integer NOT NULL, d_id smallint NOT NULL, \
             d_ytd numeric(12,2) NOT NULL, d_tax numeric(4,4) NOT NULL, d_name varchar(10) NOT NULL, \
             d_street_1 varchar(20) NOT NULL, d_street_2 varchar(20) NOT NULL, \
             d_city varchar(20) NOT NULL, d_state char(2) NOT NULL, d_zip char(9) NOT NULL",
            &[("PRIMARY KEY", "district_i1", "d_w_id, d_id")],
            districts,
            DISTRICT,
            Box::new(rows::Districts { seed, warehouses }),
        ),
        table(
            "customer",
            "c_since timestamptz NOT NULL, c_id integer NOT NULL, c_w_id integer NOT NULL, \
             c_d_id smallint NOT NULL, c_payment_cnt smallint NOT NULL, \
             c_delivery_cnt smallint NOT NULL, c_first varchar(16) NOT NULL, \
             c_middle char(2) NOT NULL, c_last varchar(16) NOT NULL, c_street_1 varchar(20) NOT NULL, \
             c_street_2 varchar(20) NOT NULL, c_city varchar(20) NOT NULL, c_state char(2) NOT NULL, \
             c_zip char(9) NOT NULL, c_phone char(16) NOT NULL, c_credit char(2) NOT NULL, \
             c_credit_lim numeric(12,2) NOT NULL, c_discount numeric(4,4) NOT NULL, \
             c_balance numeric(12,2) NOT NULL, c_ytd_payment numeric(12,2) NOT NULL, \
             c_data varchar(500) NOT NULL",
            &[
                ("PRIMARY KEY", "customer_i1", "c_w_id, c_d_id, c_id"),
                ("UNIQUE", "customer_i2", "c_w_id, c_d_id, c_last, c_first, c_id"),
            ],
            districts * u64::from(CUSTOMERS),
            CUSTOMER,
            Box::new(rows::Customers { seed, warehouses }),
        ),
        table(
            "history",
            "h_date timestamptz NOT NULL, h_c_id integer, h_c_w_id integer NOT NULL, \
             h_w_id integer NOT NULL, h_c_d_id smallint NOT NULL, h_d_id smallint NOT NULL, \
             h_amount numeric(6,2) NOT NULL, h_data varchar(24) NOT NULL",
            &[],
            districts * u64::from(CUSTOMERS),
            HISTORY,
            Box::new(rows::Histories { seed, warehouses }),
        ),
        table(
            "new_order",
            "no_w_id integer NOT NULL, no_o_id integer NOT NULL, no_d_id smallint NOT NULL",
            &[("PRIMARY KEY", "new_order_i1", "no_w_id, no_d_id, no_o_id")],
            districts * u64::from(ORDERS + 1 - FIRST_NEW_ORDER),
            NEW_ORDER,
            Box::new(rows::NewOrders { warehouses }),
        ),
        table(
            "orders",
            "o_entry_d timestamptz NOT NULL, o_id integer NOT NULL, o_w_id integer NOT NULL, \
             o_c_id integer NOT NULL, o_d_id smallint NOT NULL, o_carrier_id smallint, \
             o_ol_cnt smallint NOT NULL, o_all_local smallint NOT NULL",
            &[
                ("PRIMARY KEY", "orders_i1", "o_w_id, o_d_id, o_id"),
                ("UNIQUE", "orders_i2", "o_w_id, o_d_id, o_c_id, o_id"),
            ],
            districts * u64::from(ORDERS),
            ORDER,
            Box::new(rows::Orders { seed, warehouses }),
        ),
        Table {
            rows: rows::order_lines(seed, warehouses),
            ..table(
                "order_line",
                "ol_delivery_d timestamptz, ol_o_id integer NOT NULL, ol_w_id integer NOT NULL, \
                 ol_i_id integer NOT NULL, ol_supply_w_id integer NOT NULL, ol_d_id smallint NOT NULL, \
                 ol_number smallint NOT NULL, ol_quantity smallint NOT NULL, \
                 ol_amount numeric(6,2), ol_dist_info char(24)",
                &[("PRIMARY KEY", "order_line_i1", "ol_w_id, ol_d_id, ol_o_id, ol_number")],
                districts * u64::from(ORDERS) * LINES,
                ORDER_LINE,
                Box::new(rows::OrderLines { seed, warehouses }),
            )
        },
        table(
            "item",
            "i_id integer NOT NULL, i_im_id integer NOT NULL, i_name varchar(24) NOT NULL, \
             i_price numeric(5,2) NOT NULL, i_data varchar(50) NOT NULL",
            &[("PRIMARY KEY", "item_i1", "i_id")],
            u64::from(ITEMS),
            ITEM,
            Box::new(rows::Items { seed }),
        ),
        table(
            "stock",
            "s_i_id integer NOT NULL, s_w_id integer NOT NULL, s_ytd integer NOT NULL, \
             s_quantity smallint NOT NULL, s_order_cnt smallint NOT NULL, \
             s_remote_cnt smallint NOT NULL, s_dist_01 char(24) NOT NULL, \
             s_dist_02 char(24) NOT NULL, s_dist_03 char(24) NOT NULL, s_dist_04 char(24) NOT NULL, \
             s_dist_05 char(24) NOT NULL, s_dist_06 char(24) NOT NULL, s_dist_07 char(24) NOT NULL, \
             s_dist_08 char(24) NOT NULL, s_dist_09 char(24) NOT NULL, s_dist_10 char(24) NOT NULL, \
             s_data varchar(50) NOT NULL",
            &[("PRIMARY KEY", "stock_i1", "s_i_id, s_w_id")],
            w * u64::from(ITEMS),
            STOCK,
            Box::new(rows::Stocks { seed, warehouses }),
        ),
    ]
}

/// `keys`: kind, name and columns of each constraint that needs an index.
fn table(
    name: &'static str,
    columns: &str,
    keys: &[(&str, &str, &str)],
    rows: u64,
    row_bytes: u64,
    source: Box<dyn RowSource>,
) -> Table {
    Table {
        name,
        ddl: format!("CREATE TABLE {name} ({columns})"),
        indexes: keys
            .iter()
            .map(|(kind, index, columns)| match *kind {
                "PRIMARY KEY" => {
                    format!("ALTER TABLE {name} ADD CONSTRAINT {index} PRIMARY KEY ({columns})")
                }
                _ => format!("CREATE {kind} INDEX {index} ON {name} ({columns})"),
            })
            .collect(),
        foreign_keys: Vec::new(),
        partitions: Partitions::None,
        binary: columns.split(", ").filter_map(column_type).collect(),
        distribution: None,
        rows: RowCount::Exact(rows),
        grows: matches!(name, "history" | "new_order" | "orders" | "order_line"),
        bytes: rows * row_bytes,
        source: Some(source),
    }
}

/// Returns the type of a column, which follows its name.
fn column_type(column: &str) -> Option<ColumnType> {
    ColumnType::of_sql(column.split_whitespace().nth(1)?)
}

/// Returns the bytes of tables and indexes right after the load, without the few blocks that each partition adds.
pub(super) fn data_bytes(warehouses: u32) -> u64 {
    let districts = u64::from(DISTRICTS);
    let customers = districts * u64::from(CUSTOMERS);
    let orders = districts * u64::from(ORDERS);
    let warehouse = WAREHOUSE
        + districts * DISTRICT
        + customers * (CUSTOMER + HISTORY)
        + orders * (ORDER + LINES * ORDER_LINE)
        + districts * u64::from(ORDERS + 1 - FIRST_NEW_ORDER) * NEW_ORDER
        + u64::from(ITEMS) * STOCK;
    u64::from(ITEMS) * ITEM + u64::from(warehouses) * warehouse
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(layout: Layout, distributed_tables: bool) -> Vec<String> {
        let caps = Capabilities { distributed_tables, ..Capabilities::default() };
        tables(2, Seed(1), layout, &caps).into_iter().flat_map(|table| table.foreign_keys).collect()
    }

    #[test]
    fn foreign_keys_are_those_of_the_clauses_that_the_server_can_hold() {
        let layout = Layout { foreign_keys: true, ..Layout::default() };
        assert_eq!(keys(Layout::default(), false), [""; 0]);
        assert_eq!(keys(layout, false).len(), 10);
        let distributed = keys(layout, true);
        assert_eq!(distributed.len(), 8);
        // Both may refer to another warehouse.
        assert!(distributed.iter().all(|sql| !sql.contains("ol_supply_w_id") && !sql.contains("h_c_w_id")));
    }

    #[test]
    fn the_type_of_every_column_is_known() {
        for table in tables(1, Seed(1), Layout::default(), &Capabilities::default()) {
            assert_eq!(table.binary.len(), table.ddl.split(", ").count(), "{}", table.name);
        }
    }

    #[test]
    fn only_order_line_has_partitions_and_every_table_a_place() {
        let layout = Layout { partitions: 3, shards: 32, ..Layout::default() };
        let tables = tables(2, Seed(1), layout, &Capabilities::default());
        for table in &tables {
            assert_eq!(table.partitions.known().len(), if table.name == "order_line" { 3 } else { 0 });
            match table.distribution {
                Some(Distribution::Everywhere) => assert_eq!(table.name, "item"),
                Some(Distribution::Column { name, shards, .. }) => {
                    assert_eq!(shards, 32);
                    assert!(table.ddl.contains(&format!("{name} integer NOT NULL")), "{name} of {}", table.name);
                }
                None => panic!("{}", table.name),
            }
        }
        let lines = tables.iter().find(|table| table.name == "order_line").unwrap();
        assert_eq!(lines.ddl.matches("PARTITION OF order_line").count(), 3);
        let first = &lines.partitions.known()[0];
        assert_eq!(first.indexes, ["ALTER TABLE order_line_1 ADD PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)"]);
        let chunks = lines.partitions.known().iter().flat_map(|partition| &partition.chunks);
        assert_eq!(chunks.map(|range| range.end - range.start).sum::<u64>(), lines.source.as_ref().unwrap().chunks());
        assert!(lines.relation_of(&(0..10)).starts_with("order_line_"), "a warehouse is in one partition");
        assert_eq!(lines.relation_of(&(0..20)), "order_line", "two warehouses need not be");
        assert!(lines.ddl.ends_with("order_line_3 PARTITION OF order_line FOR VALUES WITH (MODULUS 3, REMAINDER 2)"));
    }
}
