//! The rows of the eight tables, from tpchgen. A chunk is a part of tpchgen's, which is a pure function of its number.

use std::hint::black_box;
use std::io::Write as _;

use pgdyno_workload::{CopyBuf, RowSource};
use tpchgen::dates::TPCHDate;
use tpchgen::generators::{
    CustomerGenerator, LineItem, LineItemGenerator, NationGenerator, Order, OrderGenerator, PartGenerator, PartSupp,
    PartSuppGenerator, RegionGenerator, SupplierGenerator,
};

use super::scale::ScaleFactor;

/// Rows of a chunk, or orders of a chunk of lines: about a megabyte.
const CHUNK_ROWS: u64 = 4_000;

/// Rows that are made before the first of them is written.
const BATCH: usize = 32;
/// Bytes that the CPU fetches from memory at once.
const CACHE_LINE: usize = 64;

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Region,
    Nation,
    Part,
    Supplier,
    PartSupplier,
    Customer,
    Orders,
    Lines,
}

/// The rows of a table.
pub(super) struct Rows {
    pub(super) of: Of,
    pub(super) scale: ScaleFactor,
}

impl Rows {
    /// Returns the number of what tpchgen divides into parts: parts for `partsupp`, orders for `lineitem`.
    fn units(&self) -> u64 {
        match self.of {
            Of::Region => 5,
            Of::Nation => 25,
            Of::Part => self.scale.parts(),
            Of::PartSupplier => self.scale.parts(),
            Of::Supplier => self.scale.suppliers(),
            Of::Customer => self.scale.customers(),
            Of::Orders | Of::Lines => self.scale.orders(),
        }
    }

    fn unit_rows(&self) -> u64 {
        if self.of == Of::PartSupplier { CHUNK_ROWS / 4 } else { CHUNK_ROWS }
    }
}

impl RowSource for Rows {
    fn chunks(&self) -> u64 {
        // A multiple of the scale factor, where it is a whole number: a resumable load commits chunks together that
        // belong to one unit of it.
        let scale = self.scale.rounded_up();
        (self.units() / scale / self.unit_rows()).max(1) * if self.units() < self.unit_rows() { 1 } else { scale }
    }

    fn write(&self, chunk: u64, out: &mut CopyBuf) {
        // tpchgen counts parts from 1; there are at most 3,750,000.
        let (factor, part, parts) = (self.scale.factor(), chunk as i32 + 1, self.chunks() as i32);
        match self.of {
            Of::Region => regions(out),
            Of::Nation => nations(out),
            Of::Part => part_rows(PartGenerator::new(factor, part, parts), out),
            Of::Supplier => suppliers(SupplierGenerator::new(factor, part, parts), out),
            Of::PartSupplier => part_suppliers(PartSuppGenerator::new(factor, part, parts), out),
            Of::Customer => customers(CustomerGenerator::new(factor, part, parts), out),
            Of::Orders => orders(OrderGenerator::new(factor, part, parts), out),
            Of::Lines => lines(LineItemGenerator::new(factor, part, parts), out),
        }
    }
}

/// Appends what has only a form as text.
fn shown(out: &mut CopyBuf, value: impl std::fmt::Display) -> &mut CopyBuf {
    // A vector takes everything.
    out.plain_with(|bytes| drop(write!(bytes, "{value}")))
}

/// Writes rows a few at a time. Comments are parts of 300 MB of text, anywhere in it: they are looked at first, all of a batch, so
/// that the CPU fetches several from memory at once instead of waiting for one in the middle of each row.
fn batched<T>(mut rows: impl Iterator<Item = T>, comment: impl Fn(&T) -> &str, mut write: impl FnMut(&T)) {
    let mut batch = Vec::with_capacity(BATCH);
    loop {
        batch.extend(rows.by_ref().take(BATCH));
        if batch.is_empty() {
            return;
        }
        let look = |row: &T| comment(row).as_bytes().chunks(CACHE_LINE).fold(0, |sum, line| sum ^ line[0]);
        black_box(batch.iter().fold(0, |sum, row| sum ^ look(row)));
        batch.drain(..).for_each(|row| write(&row));
    }
}

fn date(out: &mut CopyBuf, date: TPCHDate) -> &mut CopyBuf {
    out.date(date.to_unix_epoch())
}

fn regions(out: &mut CopyBuf) {
    for row in RegionGenerator::new(1.0, 1, 1).iter() {
        out.int(row.r_regionkey).plain(row.r_name.as_bytes()).plain(row.r_comment.as_bytes()).end_row();
    }
}

fn nations(out: &mut CopyBuf) {
    for row in NationGenerator::new(1.0, 1, 1).iter() {
        out.int(row.n_nationkey).plain(row.n_name.as_bytes()).int(row.n_regionkey);
        out.plain(row.n_comment.as_bytes()).end_row();
    }
}

fn part_rows(rows: PartGenerator<'_>, out: &mut CopyBuf) {
    for row in rows.iter() {
        shown(out.int(row.p_partkey), &row.p_name);
        shown(out, row.p_mfgr);
        shown(out, row.p_brand).plain(row.p_type.as_bytes()).int(i64::from(row.p_size));
        out.plain(row.p_container.as_bytes()).cents(row.p_retailprice.0).plain(row.p_comment.as_bytes()).end_row();
    }
}

fn suppliers(rows: SupplierGenerator<'_>, out: &mut CopyBuf) {
    for row in rows.iter() {
        shown(out.int(row.s_suppkey), row.s_name);
        shown(out, &row.s_address).int(row.s_nationkey);
        shown(out, &row.s_phone).cents(row.s_acctbal.0).plain(row.s_comment.as_bytes()).end_row();
    }
}

fn part_suppliers(rows: PartSuppGenerator<'_>, out: &mut CopyBuf) {
    let write = |row: &PartSupp<'_>| {
        out.int(row.ps_partkey).int(row.ps_suppkey).int(i64::from(row.ps_availqty)).cents(row.ps_supplycost.0);
        out.plain(row.ps_comment.as_bytes()).end_row();
    };
    batched(rows.iter(), |row| row.ps_comment, write);
}

fn customers(rows: CustomerGenerator<'_>, out: &mut CopyBuf) {
    for row in rows.iter() {
        shown(out.int(row.c_custkey), row.c_name);
        shown(out, &row.c_address).int(row.c_nationkey);
        shown(out, &row.c_phone).cents(row.c_acctbal.0).plain(row.c_mktsegment.as_bytes());
        out.plain(row.c_comment.as_bytes()).end_row();
    }
}

pub(super) fn orders(rows: OrderGenerator<'_>, out: &mut CopyBuf) {
    batched(rows.iter(), |row| row.o_comment, |row| order(row, row.o_orderkey, out));
}

/// Writes an order with another key.
pub(super) fn order(row: &Order<'_>, key: i64, out: &mut CopyBuf) {
    out.int(key).int(row.o_custkey).plain(row.o_orderstatus.as_str().as_bytes());
    date(out.cents(row.o_totalprice.0), row.o_orderdate).plain(row.o_orderpriority.as_bytes());
    shown(out, row.o_clerk).int(i64::from(row.o_shippriority)).plain(row.o_comment.as_bytes()).end_row();
}

pub(super) fn lines(rows: LineItemGenerator<'_>, out: &mut CopyBuf) {
    batched(rows.iter(), |row| row.l_comment, |row| line(row, row.l_orderkey, out));
}

/// Writes a line of an order with another key.
pub(super) fn line(row: &LineItem<'_>, order_key: i64, out: &mut CopyBuf) {
    out.int(order_key).int(row.l_partkey).int(row.l_suppkey).int(i64::from(row.l_linenumber));
    out.cents(row.l_quantity * 100).cents(row.l_extendedprice.0).cents(row.l_discount.0).cents(row.l_tax.0);
    out.plain(row.l_returnflag.as_bytes()).plain(row.l_linestatus.as_bytes());
    date(date(date(out, row.l_shipdate), row.l_commitdate), row.l_receiptdate);
    out.plain(row.l_shipinstruct.as_bytes()).plain(row.l_shipmode.as_bytes()).plain(row.l_comment.as_bytes());
    out.end_row();
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    /// Returns the rows of some chunks as text.
    fn text(of: Of, thousandths: u64, chunks: Range<u64>) -> String {
        let rows = Rows { of, scale: ScaleFactor::of_thousandths(thousandths) };
        let mut out = CopyBuf::new();
        chunks.for_each(|chunk| rows.write(chunk, &mut out));
        String::from_utf8(out.bytes().to_vec()).unwrap()
    }

    #[test]
    fn rows_are_dbgen_s() {
        let first = |of| text(of, 10, 0..1).lines().next().unwrap().replace('\t', "|");
        assert_eq!(
            first(Of::Lines),
            "1|1552|93|1|17.00|24710.35|0.04|0.02|N|O|1996-03-13|1996-02-12|1996-03-22|DELIVER IN PERSON|TRUCK|egular \
             courts above the"
        );
        assert_eq!(
            first(Of::Orders),
            "1|370|O|172799.49|1996-01-02|5-LOW|Clerk#000000951|0|nstructions sleep furiously among "
        );
        assert_eq!(
            first(Of::Part),
            "1|goldenrod lavender spring chocolate lace|Manufacturer#1|Brand#13|PROMO BURNISHED COPPER|7|JUMBO PKG|901.00\
             |ly. slyly ironi"
        );
        assert!(first(Of::Customer).starts_with("1|Customer#000000001|IVhzIApeRb ot,c,E|15|25-989-741-2988|711.56|"));
        assert!(first(Of::Supplier).starts_with("1|Supplier#000000001| N kD4on9OM Ipw3,gf0JBoQDd7tgrzrddZ|17|27-918-"));
        assert!(first(Of::PartSupplier).starts_with("1|2|3325|771.64|"));
        assert_eq!(text(Of::Nation, 10, 0..1).lines().count(), 25);
        assert!(text(Of::Region, 10, 0..1).starts_with("0\tAFRICA\t"));
    }

    #[test]
    fn chunks_are_the_whole_table_without_gaps() {
        for (of, rows) in [(Of::Orders, 45_000), (Of::PartSupplier, 24_000), (Of::Supplier, 300)] {
            let source = Rows { of, scale: ScaleFactor::of_thousandths(30) };
            let whole = text(of, 30, 0..source.chunks());
            assert_eq!(whole.lines().count(), rows, "{of:?}");
            let mut keys: Vec<_> = whole.lines().map(|l| l.split('\t').take(2).collect::<Vec<_>>()).collect();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), rows, "{of:?}");
        }
    }

    #[test]
    fn a_unit_of_the_scale_factor_has_a_whole_number_of_chunks() {
        for thousandths in [1, 10, 100, 1_000, 3_000, 300_000] {
            for of in [Of::Part, Of::Supplier, Of::PartSupplier, Of::Customer, Of::Orders, Of::Lines] {
                let scale = ScaleFactor::of_thousandths(thousandths);
                let chunks = Rows { of, scale }.chunks();
                assert!(
                    chunks >= 1 && (chunks == 1 || chunks.is_multiple_of(scale.rounded_up())),
                    "{of:?} {thousandths}"
                );
            }
        }
    }
}
