//! The eight tables: columns and types of clause 1.4, keys and indexes by profile.

use pgdyno_workload::{ColumnType, Distribution, Partitions, RowCount, Table};

use super::months;
use super::rows::{Of, Rows};
use super::scale::ScaleFactor;

/// Bytes of heap and indexes for each row with profile `keys`, measured at scale factor 1 on PostgreSQL 15.
const PART: u64 = 191;
const SUPPLIER: u64 = 220;
const PART_SUPPLIER: u64 = 209;
const CUSTOMER: u64 = 227;
const ORDER: u64 = 174;
const LINE: u64 = 194;
/// Bytes of the tables `region` and `nation`.
const FIXED: u64 = 64 << 10;

/// Order keys are sparse: the largest one is six million times the scale factor, which a bigint takes above this one.
const INTEGER_ORDERS: u64 = 300_000;

/// Indexes of the tables (clause 1.5.7 allows no others).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Profile {
    /// No keys and no indexes.
    None,
    /// Primary keys, foreign keys, and an index on the columns of each foreign key.
    Keys,
    /// As `Keys`, and an index on each date.
    Dates,
    /// Those of HammerDB 6: eight foreign keys, an index for each, and a primary key of `lineitem` that begins with the
    /// line's number.
    HammerDb,
}

impl Profile {
    /// Names of the profiles; the first is the default.
    pub(super) const NAMES: &[&str] = &["keys", "dates", "none", "hammerdb"];

    /// Returns the profile of this name.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "none" => Self::None,
            "dates" => Self::Dates,
            "hammerdb" => Self::HammerDb,
            _ => Self::Keys,
        }
    }
}

/// The table whose primary key two columns of lineitem refer to.
const PART_SUPPLIERS: &str = "partsupp";

/// What a table has in each profile.
struct Keys {
    table: &'static str,
    primary: &'static str,
    /// Indexes on columns of foreign keys that the primary key does not begin with.
    foreign: &'static [&'static str],
    dates: &'static [&'static str],
    /// Columns, and the table that they refer to with its columns.
    references: &'static [(&'static str, &'static str)],
}

impl Keys {
    /// Returns the columns of the primary key in a profile.
    fn primary_of(&self, profile: Profile) -> &'static str {
        match (profile, self.table) {
            (Profile::HammerDb, "lineitem") => "l_linenumber, l_orderkey",
            _ => self.primary,
        }
    }

    /// Returns the foreign keys in a profile. HammerDB has none to part and supplier, which that to partsupp implies.
    fn references_of(&self, profile: Profile) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
        let implied = move |columns: &str| profile == Profile::HammerDb && matches!(columns, "l_partkey" | "l_suppkey");
        self.references.iter().filter(move |(columns, _)| !implied(columns))
    }
}

/// All ten foreign keys of clause 1.4.2.3, and the indexes for them.
const KEYS: [Keys; 8] = [
    Keys { table: "region", primary: "r_regionkey", foreign: &[], dates: &[], references: &[] },
    Keys {
        table: "nation",
        primary: "n_nationkey",
        foreign: &["n_regionkey"],
        dates: &[],
        references: &[("n_regionkey", "region (r_regionkey)")],
    },
    Keys { table: "part", primary: "p_partkey", foreign: &[], dates: &[], references: &[] },
    Keys {
        table: "supplier",
        primary: "s_suppkey",
        foreign: &["s_nationkey"],
        dates: &[],
        references: &[("s_nationkey", "nation (n_nationkey)")],
    },
    Keys {
        table: PART_SUPPLIERS,
        primary: "ps_partkey, ps_suppkey",
        foreign: &["ps_suppkey"],
        dates: &[],
        references: &[("ps_partkey", "part (p_partkey)"), ("ps_suppkey", "supplier (s_suppkey)")],
    },
    Keys {
        table: "customer",
        primary: "c_custkey",
        foreign: &["c_nationkey"],
        dates: &[],
        references: &[("c_nationkey", "nation (n_nationkey)")],
    },
    Keys {
        table: "orders",
        primary: "o_orderkey",
        foreign: &["o_custkey"],
        dates: &["o_orderdate"],
        references: &[("o_custkey", "customer (c_custkey)")],
    },
    // Without an index that begins with l_partkey, queries 17 and 20 take hours at scale factor 1.
    Keys {
        table: "lineitem",
        primary: "l_orderkey, l_linenumber",
        foreign: &["l_partkey, l_suppkey", "l_suppkey"],
        dates: &["l_shipdate", "l_commitdate", "l_receiptdate"],
        references: &[
            ("l_orderkey", "orders (o_orderkey)"),
            ("l_partkey", "part (p_partkey)"),
            ("l_suppkey", "supplier (s_suppkey)"),
            ("l_partkey, l_suppkey", "partsupp (ps_partkey, ps_suppkey)"),
        ],
    },
];

/// Returns the tables.
pub(super) fn tables(scale: ScaleFactor, profile: Profile, by_month: bool, shards: u32) -> Vec<Table> {
    let mut tables: Vec<_> = KEYS.iter().map(|keys| table(keys, scale, profile, shards)).collect();
    if by_month {
        tables.iter_mut().for_each(months::partition);
    }
    tables
}

fn table(keys: &Keys, scale: ScaleFactor, profile: Profile, shards: u32) -> Table {
    let (of, rows, row_bytes) = shape(keys.table, scale);
    let order_key = if scale.thousandths() > INTEGER_ORDERS { "bigint" } else { "integer" };
    let columns: Vec<_> = columns(keys.table).map(|(name, kind)| (name, kind.replace("ORDERKEY", order_key))).collect();
    // Sorted strings come in the order of the standard's answers, in any locale.
    let collation = |kind: &str| if kind.contains("char(") { " COLLATE \"C\"" } else { "" };
    let ddl = columns.iter().map(|(name, kind)| format!("{name} {kind}{} NOT NULL", collation(kind)));
    let ddl = ddl.collect::<Vec<_>>().join(", ");
    let name = keys.table;
    let distribution = match name {
        "orders" => Distribution::Column { name: "o_orderkey", shards, is_scale: false },
        "lineitem" => Distribution::Column { name: "l_orderkey", shards, is_scale: false },
        _ => Distribution::Everywhere,
    };
    Table {
        name,
        ddl: format!("CREATE TABLE {name} ({ddl})"),
        indexes: indexes(keys, profile, scale),
        foreign_keys: foreign_keys(keys, profile, scale),
        rows,
        grows: false,
        bytes: if row_bytes == 0 { FIXED / 2 } else { rows.expected() * row_bytes },
        partitions: Partitions::None,
        distribution: Some(distribution),
        binary: columns.iter().filter_map(|(_, kind)| ColumnType::of_sql(kind)).collect(),
        source: Some(Box::new(Rows { of, scale })),
    }
}

fn indexes(keys: &Keys, profile: Profile, scale: ScaleFactor) -> Vec<String> {
    if profile == Profile::None {
        return Vec::new();
    }
    let name = keys.table;
    let index = |columns: &str| {
        let words = columns.replace(", ", "_");
        format!("CREATE INDEX {words}_idx ON {name} ({columns})")
    };
    let primary = keys.primary_of(profile);
    let primary = match name == PART_SUPPLIERS && !scale.has_distinct_suppliers() {
        true => index(primary),
        false => format!("ALTER TABLE {name} ADD CONSTRAINT {name}_pkey PRIMARY KEY ({primary})"),
    };
    let more: Vec<_> = match profile {
        Profile::HammerDb => keys.references_of(profile).map(|(columns, _)| index(columns)).collect(),
        Profile::Dates => keys.foreign.iter().chain(keys.dates).copied().map(index).collect(),
        Profile::Keys | Profile::None => keys.foreign.iter().copied().map(index).collect(),
    };
    std::iter::once(primary).chain(more).collect()
}

fn foreign_keys(keys: &Keys, profile: Profile, scale: ScaleFactor) -> Vec<String> {
    if profile == Profile::None {
        return Vec::new();
    }
    let name = keys.table;
    let sql = |(columns, target): &(&str, &str)| {
        let words = columns.replace(", ", "_");
        format!("ALTER TABLE {name} ADD CONSTRAINT {words}_fkey FOREIGN KEY ({columns}) REFERENCES {target}")
    };
    let is_possible =
        |(_, target): &&(&str, &str)| scale.has_distinct_suppliers() || !target.starts_with(PART_SUPPLIERS);
    keys.references_of(profile).filter(is_possible).map(sql).collect()
}

/// Columns of each table. The type ORDERKEY depends on the scale factor.
const COLUMNS: [(&str, &str); 8] = [
    ("region", "r_regionkey integer, r_name char(25), r_comment varchar(152)"),
    ("nation", "n_nationkey integer, n_name char(25), n_regionkey integer, n_comment varchar(152)"),
    (
        "part",
        "p_partkey integer, p_name varchar(55), p_mfgr char(25), p_brand char(10), p_type varchar(25), p_size integer, \
         p_container char(10), p_retailprice numeric(12,2), p_comment varchar(23)",
    ),
    (
        "supplier",
        "s_suppkey integer, s_name char(25), s_address varchar(40), s_nationkey integer, s_phone char(15), \
         s_acctbal numeric(12,2), s_comment varchar(101)",
    ),
    (
        "partsupp",
        "ps_partkey integer, ps_suppkey integer, ps_availqty integer, ps_supplycost numeric(12,2), \
         ps_comment varchar(199)",
    ),
    (
        "customer",
        "c_custkey integer, c_name varchar(25), c_address varchar(40), c_nationkey integer, c_phone char(15), \
         c_acctbal numeric(12,2), c_mktsegment char(10), c_comment varchar(117)",
    ),
    (
        "orders",
        "o_orderkey ORDERKEY, o_custkey integer, o_orderstatus char(1), o_totalprice numeric(12,2), o_orderdate date, \
         o_orderpriority char(15), o_clerk char(15), o_shippriority integer, o_comment varchar(79)",
    ),
    (
        "lineitem",
        "l_orderkey ORDERKEY, l_partkey integer, l_suppkey integer, l_linenumber integer, l_quantity numeric(12,2), \
         l_extendedprice numeric(12,2), l_discount numeric(12,2), l_tax numeric(12,2), l_returnflag char(1), \
         l_linestatus char(1), l_shipdate date, l_commitdate date, l_receiptdate date, l_shipinstruct char(25), \
         l_shipmode char(10), l_comment varchar(44)",
    ),
];

/// Returns the rows of a table, their number and their size.
fn shape(table: &str, scale: ScaleFactor) -> (Of, RowCount, u64) {
    let exact = RowCount::Exact;
    match table {
        "region" => (Of::Region, exact(5), 0),
        "nation" => (Of::Nation, exact(25), 0),
        "part" => (Of::Part, exact(scale.parts()), PART),
        "supplier" => (Of::Supplier, exact(scale.suppliers()), SUPPLIER),
        "partsupp" => (Of::PartSupplier, exact(scale.part_suppliers()), PART_SUPPLIER),
        "customer" => (Of::Customer, exact(scale.customers()), CUSTOMER),
        "orders" => (Of::Orders, exact(scale.orders()), ORDER),
        _ => (Of::Lines, scale.lines(), LINE),
    }
}

/// Returns name and type of each column of a table.
pub(super) fn columns(table: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    COLUMNS
        .iter()
        .find(|(name, _)| *name == table)
        .into_iter()
        .flat_map(|(_, columns)| columns.split(", "))
        .filter_map(|column| column.split_once(' '))
}

/// Returns names and types of the columns of a table, with order keys that are wide enough for any scale factor.
pub(super) fn wide_columns(table: &str) -> String {
    let column = |(name, kind): (&str, &str)| format!("{name} {}", kind.replace("ORDERKEY", "bigint"));
    columns(table).map(column).collect::<Vec<_>>().join(", ")
}

/// Returns the bytes of tables and indexes right after the load. Keys and indexes are a third of them.
pub(super) fn data_bytes(scale: ScaleFactor, profile: Profile) -> u64 {
    let with_keys = FIXED
        + scale.parts() * PART
        + scale.suppliers() * SUPPLIER
        + scale.part_suppliers() * PART_SUPPLIER
        + scale.customers() * CUSTOMER
        + scale.orders() * (ORDER + 4 * LINE);
    match profile {
        Profile::None => with_keys * 3 / 4,
        Profile::Keys | Profile::HammerDb => with_keys,
        Profile::Dates => with_keys + scale.orders() * (7 + 4 * 3 * 7),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(thousandths: u64, profile: Profile) -> Vec<Table> {
        tables(ScaleFactor::of_thousandths(thousandths), profile, false, 32)
    }

    #[test]
    fn the_type_of_every_column_is_known() {
        for table in all(10, Profile::Keys) {
            assert_eq!(table.binary.len(), table.ddl.matches(" NOT NULL").count(), "{}", table.name);
        }
    }

    #[test]
    fn a_profile_has_all_keys_or_none() {
        let count = |thousandths, profile| {
            let tables = all(thousandths, profile);
            let indexes: usize = tables.iter().map(|table| table.indexes.len()).sum();
            let foreign_keys: usize = tables.iter().map(|table| table.foreign_keys.len()).sum();
            (indexes, foreign_keys)
        };
        let counts = [Profile::None, Profile::Keys, Profile::Dates].map(|profile| count(10, profile));
        assert_eq!(counts, [(0, 0), (15, 10), (19, 10)]);
        // Where a part has a supplier twice, partsupp has an index in place of its primary key.
        assert_eq!(count(1, Profile::Keys), (15, 9));
        let part_suppliers = &all(1, Profile::Keys)[4].indexes[0];
        assert_eq!(part_suppliers, "CREATE INDEX ps_partkey_ps_suppkey_idx ON partsupp (ps_partkey, ps_suppkey)");
    }

    #[test]
    fn hammerdb_has_eight_foreign_keys_and_an_index_for_each() {
        let tables = all(10, Profile::HammerDb);
        let of = |list: fn(&Table) -> &Vec<String>| tables.iter().flat_map(list).collect::<Vec<_>>();
        let (indexes, foreign_keys) = (of(|table| &table.indexes), of(|table| &table.foreign_keys));
        assert_eq!((indexes.len(), foreign_keys.len()), (16, 8));
        assert!(indexes.iter().any(|sql| sql.ends_with("PRIMARY KEY (l_linenumber, l_orderkey)")), "{indexes:?}");
        assert!(indexes.iter().any(|sql| sql.ends_with("ON lineitem (l_orderkey)")), "{indexes:?}");
    }

    #[test]
    fn months_are_in_the_primary_keys_and_there_are_no_foreign_keys() {
        let tables = tables(ScaleFactor::of_thousandths(10), Profile::Keys, true, 32);
        assert!(tables.iter().all(|table| table.foreign_keys.is_empty()));
        let partitioned: Vec<_> = tables.iter().filter(|table| table.partitions == Partitions::Routed).collect();
        assert_eq!(partitioned.iter().map(|table| table.name).collect::<Vec<_>>(), ["orders", "lineitem"]);
        assert_eq!(partitioned[0].ddl.matches("CREATE TABLE orders_").count(), 84);
        let last =
            "CREATE TABLE lineitem_1998_12 PARTITION OF lineitem FOR VALUES FROM ('1998-12-01') TO ('1999-01-01')";
        assert!(partitioned[1].ddl.ends_with(last), "{}", partitioned[1].ddl);
        assert!(partitioned[1].indexes[0].ends_with("PRIMARY KEY (l_orderkey, l_linenumber, l_shipdate)"));
        assert_eq!(partitioned[1].indexes[2], "CREATE INDEX l_suppkey_idx ON lineitem (l_suppkey)");
    }

    #[test]
    fn order_keys_are_as_wide_as_they_must_be() {
        let key = |thousandths| all(thousandths, Profile::None)[6].binary[0];
        assert_eq!(key(10), ColumnType::Int4);
        let keys = KEYS.iter().find(|keys| keys.table == "orders").unwrap();
        let wide = table(keys, ScaleFactor::of_thousandths(300_001), Profile::None, 32);
        assert_eq!(wide.binary[0], ColumnType::Int8);
    }
}
