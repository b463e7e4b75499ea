//! The nine tables: columns and types as HammerDB has them, in its order.
//!
//! Unlike there, primary keys come after the rows, and columns that a row always fills are NOT NULL.

use pgdyno_workload::{RowCount, RowSource, Table};

use super::{CUSTOMERS, DISTRICTS, FIRST_NEW_ORDER, ITEMS, ORDERS, population::Seed, rows};

/// Average number of lines of an order, for estimates.
const LINES: u64 = 10;

/// Bytes of heap and of indexes for a row right after the load, measured on PostgreSQL 15.
const ITEM: u64 = 130;
const WAREHOUSE: u64 = 160;
const DISTRICT: u64 = 140;
const STOCK: u64 = 365;
const CUSTOMER: u64 = 698;
const HISTORY: u64 = 81;
const ORDER: u64 = 124;
const NEW_ORDER: u64 = 77;
const ORDER_LINE: u64 = 125;

pub(super) fn tables(warehouses: u32, seed: Seed) -> Vec<Table> {
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
            "h_date timestamptz NOT NULL, h_c_id integer NOT NULL, h_c_w_id integer NOT NULL, \
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
            rows: RowCount::Exact(rows::order_line_count(seed, warehouses)),
            ..table(
                "order_line",
                "ol_delivery_d timestamptz, ol_o_id integer NOT NULL, ol_w_id integer NOT NULL, \
                 ol_i_id integer NOT NULL, ol_supply_w_id integer NOT NULL, ol_d_id smallint NOT NULL, \
                 ol_number smallint NOT NULL, ol_quantity smallint NOT NULL, \
                 ol_amount numeric(6,2) NOT NULL, ol_dist_info char(24) NOT NULL",
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
        partitioned: false,
        distribution: None,
        rows: RowCount::Exact(rows),
        bytes: rows * row_bytes,
        source: Some(source),
    }
}

/// Tables and indexes right after the load.
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
