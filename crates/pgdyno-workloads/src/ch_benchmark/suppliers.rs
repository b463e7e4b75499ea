//! The tables supplier, nation and region: a data set beside `tproc-c`'s, of the same size whatever the warehouses.
//!
//! No key leads to them. A row of stock has the supplier `mod(s_w_id * s_i_id, 10000)`, so suppliers are numbered from 0;
//! a customer has the nation of the first character of `c_state`.

use pgdyno_workload::{
    Capabilities, Changed, Check, CheckCost, CopyBuf, DataSet, Distribution, Expect, Maker, Meta, Param, ParamKind,
    Params, Partitions, Rng, Routines, RowCount, RowSource, SqlData, Table, When,
};

use super::markers;
use super::nations::{NATIONS, REGIONS};
use crate::tproc_c::strings;

/// Number of suppliers; their keys are 0 to 9,999.
const SUPPLIERS: u64 = 10_000;
/// One in so many suppliers has a comment with `bad`, which query 16 leaves out.
const BAD_ONE_IN: u64 = 200;

/// Seed of the rows: they do not depend on the user's, so that any `tproc-c` goes with them.
const SEED: u64 = 1;

/// Bytes of heap and index of all three tables, measured on PostgreSQL 15.
const BYTES: u64 = 2_500_000;

static META: Meta = Meta {
    id: "ch-benchmark",
    summary: "",
    version: 1,
    dataset: "ch-suppliers",
    scale_name: "suppliers",
    scale_query: Some("select count(*) from supplier"),
    is_key_range: false,
    params: &[Param {
        name: "suppliers",
        help: "number of suppliers",
        default: "10000",
        kind: ParamKind::Integer(SUPPLIERS as i64, SUPPLIERS as i64),
        when: When::Load,
    }],
};

/// The data set.
pub(super) struct Suppliers {
    params: Params,
    /// Whether the run writes markers.
    has_markers: bool,
}

impl Suppliers {
    pub(super) fn new(has_markers: bool) -> Self {
        // Defaults are valid.
        Self { params: Params::new(META.id, META.params, []).unwrap_or_default(), has_markers }
    }
}

/// A table of the data set.
#[derive(Clone, Copy, Debug)]
enum Of {
    Region,
    Nation,
    Supplier,
}

fn table(of: Of, name: &'static str, columns: &str, key: &str, rows: u64) -> Table {
    Table {
        name,
        ddl: format!("CREATE TABLE {name} ({columns})"),
        indexes: vec![format!("ALTER TABLE {name} ADD CONSTRAINT {name}_pkey PRIMARY KEY ({key})")],
        foreign_keys: Vec::new(),
        rows: RowCount::Exact(rows),
        grows: false,
        bytes: BYTES * rows / SUPPLIERS,
        partitions: Partitions::None,
        distribution: Some(Distribution::Everywhere),
        binary: Vec::new(),
        source: Some(Box::new(of)),
    }
}

impl DataSet for Suppliers {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn scale(&self) -> u64 {
        SUPPLIERS
    }

    fn tables(&self, _: &Capabilities) -> Vec<Table> {
        let region = "r_regionkey integer NOT NULL, r_name char(55) NOT NULL, r_comment char(152) NOT NULL";
        let nation = "n_nationkey integer NOT NULL, n_name char(25) NOT NULL, n_regionkey integer NOT NULL, \
                      n_comment char(152) NOT NULL";
        let supplier = "su_suppkey integer NOT NULL, su_name char(25) NOT NULL, su_address varchar(40) NOT NULL, \
                        su_nationkey integer NOT NULL, su_phone char(15) NOT NULL, su_acctbal numeric(12,2) NOT NULL, \
                        su_comment char(101) NOT NULL";
        vec![
            table(Of::Region, "region", region, "r_regionkey", REGIONS.len() as u64),
            table(Of::Nation, "nation", nation, "n_nationkey", NATIONS.len() as u64),
            table(Of::Supplier, "supplier", supplier, "su_suppkey", SUPPLIERS),
            markers::table(),
        ]
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
        let keys = "select 'nation' as table, n_nationkey as key, n_regionkey as refers_to from nation left join region on \
                    r_regionkey = n_regionkey where r_regionkey is null union all select 'supplier', su_suppkey, \
                    su_nationkey from supplier left join nation on n_nationkey = su_nationkey where n_nationkey is null or \
                    su_suppkey not between 0 and 9999";
        let rows = "select md5(string_agg(r::text, '' order by r_regionkey)) as rows from region r union all select \
                    md5(string_agg(n::text, '' order by n_nationkey)) from nation n union all select \
                    md5(string_agg(s::text, '' order by su_suppkey)) from supplier s";
        let check = |name, condition, sql: &str, expect| Check {
            name,
            condition,
            sql: sql.to_owned().into(),
            parts: None,
            screen: None,
            expect,
            cost: CheckCost::Cheap,
        };
        vec![
            check("ch-keys", "every supplier has a nation, every nation a region", keys, Expect::NoRow),
            check("ch-unchanged", "supplier, nation and region are as before the run", rows, Expect::UnchangedByRun),
        ]
    }

    fn changed(&self, _: &str) -> Changed {
        Changed { checks: self.checks(), repair: None }
    }

    fn before_run(&self) -> &'static [&'static str] {
        if self.has_markers { &[markers::EMPTY] } else { &[] }
    }

    fn bytes(&self) -> u64 {
        BYTES
    }
}

impl RowSource for Of {
    fn chunks(&self) -> u64 {
        1
    }

    fn write(&self, _: u64, out: &mut CopyBuf) {
        let mut rng = Rng::derive(SEED, "ch-suppliers", &[*self as u64]);
        match self {
            Self::Region => {
                for (nth, name) in REGIONS.iter().enumerate() {
                    out.int(nth as i64 + 1)
                        .text(name)
                        .plain_with(|out| strings::push(&mut rng, 31, 115, out))
                        .end_row();
                }
            }
            Self::Nation => {
                for (character, name, region) in NATIONS {
                    out.int(i64::from(character)).text(name).int(i64::from(region));
                    out.plain_with(|out| strings::push(&mut rng, 31, 114, out)).end_row();
                }
            }
            Self::Supplier => (0..SUPPLIERS).for_each(|key| supplier(key, &mut rng, out)),
        }
    }
}

fn supplier(key: u64, rng: &mut Rng, out: &mut CopyBuf) {
    let (nation, ..) = NATIONS[rng.up_to(NATIONS.len() as u64 - 1) as usize];
    out.int(key as i64).text(&format!("Supplier#{key:09}"));
    out.plain_with(|out| strings::push(rng, 10, 40, out)).int(i64::from(nation));
    out.plain_with(|out| strings::push_digits::<15>(rng, out)).cents(rng.uniform(-99_999, 999_999));
    out.plain_with(|out| comment(key % BAD_ONE_IN == BAD_ONE_IN / 2, rng, out)).end_row();
}

/// Appends a comment, with or without `bad`.
fn comment(is_bad: bool, rng: &mut Rng, out: &mut Vec<u8>) {
    const BAD: &[u8] = b"bad";
    let begin = out.len();
    loop {
        strings::push(rng, 25, 100, out);
        if !out[begin..].windows(BAD.len()).any(|part| part == BAD) {
            break;
        }
        out.truncate(begin);
    }
    if is_bad {
        let at = begin + rng.up_to((out.len() - begin - BAD.len()) as u64) as usize;
        out[at..at + BAD.len()].copy_from_slice(BAD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suppliers_are_numbered_from_0_and_one_in_200_is_bad() {
        let mut out = CopyBuf::new();
        Of::Supplier.write(0, &mut out);
        assert_eq!(out.rows(), SUPPLIERS);
        let text = String::from_utf8(out.bytes().to_vec()).unwrap();
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
        assert_eq!([rows[0][0], rows[9_999][0]], ["0", "9999"]);
        assert_eq!(rows.iter().filter(|row| row[6].contains("bad")).count() as u64, SUPPLIERS / BAD_ONE_IN);
        let germans = rows.iter().filter(|row| row[3] == b'6'.to_string()).count();
        assert!((120..210).contains(&germans), "{germans}");
        assert!(rows.iter().all(|row| row.len() == 7 && row[6].len() <= 101 && row[4].len() == 15));
    }
}
