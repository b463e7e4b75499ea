use std::collections::BTreeMap;

use pgdyno_workload::{Capabilities, CopyBuf, RowSource};

use crate::registry;

type Rows = Vec<Vec<String>>;

fn bytes(source: &dyn RowSource, chunk: u64) -> Vec<u8> {
    let mut buf = CopyBuf::new();
    source.write(chunk, &mut buf);
    buf.bytes().to_vec()
}

fn sources(warehouses: &str, seed: &str) -> BTreeMap<&'static str, Box<dyn RowSource>> {
    registry::build("tproc-c", [("warehouses", warehouses), ("seed", seed)]).unwrap().data[0]
        .tables(&Capabilities::default())
        .into_iter()
        .map(|table| (table.name, table.source.unwrap()))
        .collect()
}

fn rows(source: &dyn RowSource, chunks: std::ops::Range<u64>) -> Rows {
    chunks
        .flat_map(|chunk| {
            String::from_utf8(bytes(source, chunk))
                .unwrap()
                .lines()
                .map(|line| line.split('\t').map(str::to_owned).collect())
                .collect::<Rows>()
        })
        .collect()
}

fn number(text: &str) -> f64 {
    text.parse().unwrap()
}

/// FNV-1a, 64 bits.
fn fingerprint(source: &dyn RowSource) -> u64 {
    (0..source.chunks())
        .flat_map(|chunk| bytes(source, chunk))
        .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

/// If this fails because rows were changed on purpose, increase `META.version` and update the numbers.
#[test]
fn the_rows_of_one_warehouse_are_what_they_were() {
    let found: Vec<(&str, u64)> =
        sources("1", "1").iter().map(|(name, source)| (*name, fingerprint(source.as_ref()))).collect();
    assert_eq!(
        found,
        [
            ("customer", 0x0a22_65c4_4236_1b19),
            ("district", 0x5553_921c_5957_2804),
            ("history", 0x154f_76e7_7642_a831),
            ("item", 0xbfd3_0329_334c_ba98),
            ("new_order", 0xa6b9_7471_d6e3_f1a3),
            ("order_line", 0x676d_eb03_1312_efab),
            ("orders", 0x6884_f53c_d99b_c0ad),
            ("stock", 0xc267_944e_c871_2bde),
            ("warehouse", 0x099b_a14a_0a00_e7c3),
        ],
        "\n{found:#018x?}"
    );
}

#[test]
fn a_chunk_depends_on_nothing_but_the_seed_and_its_number() {
    let (small, large, other) = (sources("1", "1"), sources("3", "1"), sources("1", "2"));
    for (name, source) in &small {
        let last = source.chunks() - 1;
        let alone = bytes(source.as_ref(), last);
        let mut after_others = CopyBuf::new();
        source.write(0, &mut after_others);
        let start = after_others.bytes().len();
        source.write(last, &mut after_others);
        assert!(after_others.bytes()[start..] == alone, "{name}: order of chunks");
        if !matches!(*name, "warehouse" | "district") {
            assert!(bytes(large[name].as_ref(), last) == alone, "{name}: warehouses");
        }
        if *name != "new_order" {
            assert!(bytes(other[name].as_ref(), last) != alone, "{name}: seed");
        }
    }
    // The small tables have several warehouses in a chunk; the first is the same in both.
    for name in ["warehouse", "district"] {
        let (one, three) = (bytes(small[name].as_ref(), 0), bytes(large[name].as_ref(), 0));
        assert!(three.starts_with(&one) && three.len() > one.len(), "{name}");
    }
}

#[test]
fn row_counts_are_the_promised_ones() {
    let workload = registry::build("tproc-c", [("warehouses", "2")]).unwrap();
    let mut total = 0;
    for table in workload.data[0].tables(&Capabilities::default()) {
        let source = table.source.unwrap();
        let mut written = 0;
        for chunk in 0..source.chunks() {
            let mut buf = CopyBuf::new();
            source.write(chunk, &mut buf);
            written += buf.rows();
        }
        assert!(table.rows.admits(written), "{}: {written}", table.name);
        total += table.bytes;
    }
    let estimate = workload.data_bytes();
    assert!(total.abs_diff(estimate) < 100_000, "{total} {estimate}");
}

#[test]
fn items_and_stock_follow_the_clause() {
    let all = sources("1", "1");
    let items = rows(all["item"].as_ref(), 0..10);
    assert_eq!(items.len(), 100_000);
    let stock = rows(all["stock"].as_ref(), 0..10);
    assert_eq!(stock.len(), 100_000);
    for (table, data) in [(&items, 4), (&stock, 16)] {
        let marked = table.iter().filter(|r| r[data].contains("ORIGINAL"));
        assert_eq!(marked.count(), 10_000);
        assert!(table.iter().all(|r| (26..=50).contains(&r[data].len())));
        let ids = table.iter().map(|r| r[0].parse::<usize>().unwrap());
        assert!(ids.eq(1..=100_000));
    }
    let prices: Vec<f64> = items.iter().map(|r| number(&r[3])).collect();
    assert!(prices.iter().all(|p| (1.0..=100.0).contains(p)));
    assert!(items.iter().all(|r| (14..=24).contains(&r[2].len())));
    assert!(items.iter().all(|r| (1.0..=10_000.0).contains(&number(&r[1]))));
    let quantities: std::collections::BTreeSet<i64> = stock.iter().map(|r| r[3].parse().unwrap()).collect();
    assert!(quantities.into_iter().eq(10..=100));
    assert!(stock.iter().all(|r| r[6..16].iter().all(|d| d.len() == 24)));
}

#[test]
fn warehouses_and_districts_follow_the_clause() {
    let all = sources("1000", "1");
    for (name, tax, ytd, ytd_value, count) in
        [("warehouse", 7, 8, "300000.00", 1_000), ("district", 4, 3, "30000.00", 10_000)]
    {
        let source = all[name].as_ref();
        let rows = rows(source, 0..source.chunks());
        assert_eq!(rows.len(), count);
        let taxes: Vec<f64> = rows.iter().map(|r| number(&r[tax])).collect();
        assert!(taxes.iter().all(|t| (0.0..=0.2).contains(t)));
        assert!(taxes.iter().any(|t| *t < 0.01) && taxes.iter().any(|t| *t > 0.19));
        assert!(rows.iter().all(|r| r[tax].len() == 6), "four decimals");
        assert!(rows.iter().all(|r| r[ytd] == ytd_value));
    }
    let warehouses = rows(all["warehouse"].as_ref(), 0..1);
    assert!(warehouses.iter().all(|r| r[6].len() == 9 && r[6].ends_with("11111")));
    assert!(warehouses.iter().all(|r| r[5].len() == 2));
}

#[test]
fn customers_follow_the_clause() {
    let all = sources("1", "1");
    let rows = rows(all["customer"].as_ref(), 2..3);
    assert_eq!(rows.len(), 3_000);
    let c_load = crate::tproc_c::Seed(1).c_load();
    for (n, row) in rows.iter().enumerate() {
        assert_eq!((row[1].as_str(), row[3].as_str()), (&*(n + 1).to_string(), "3"));
        if n < 1000 {
            let name = crate::tproc_c::strings::LastName::new(n as u32);
            assert_eq!(row[8], name.as_str());
        }
        assert!((8..=16).contains(&row[6].len()));
        assert!(row[14].len() == 16 && row[14].bytes().all(|b| b.is_ascii_digit()));
        assert!((0.0..=0.5).contains(&number(&row[17])));
        assert!((300..=500).contains(&row[20].len()));
        assert_eq!(
            [&row[4], &row[5], &row[7], &row[16], &row[18], &row[19]].map(String::as_str),
            ["1", "0", "OE", "50000.00", "-10.00", "10.00"]
        );
    }
    assert_eq!(rows.iter().filter(|r| r[15] == "BC").count(), 300);
    assert_eq!(rows.iter().filter(|r| r[15] == "GC").count(), 2_700);
    // NURand(255, …): the most frequent numbers have all of their low eight bits, less the constant, set.
    let hot =
        (0..4).map(|k| crate::tproc_c::strings::LastName::new((k * 256 + 255 + c_load) % 1000)).collect::<Vec<_>>();
    let drawn = rows[1000..].iter();
    let hits = drawn.filter(|r| hot.iter().any(|h| h.as_str() == r[8])).count();
    // (3/4)^8 = 10 % of 2000, where a uniform draw gives 0.4 %.
    assert!((130..280).contains(&hits), "{hits}");
}

#[test]
fn orders_follow_the_clause_and_agree_with_their_lines() {
    let all = sources("2", "1");
    let chunk = 14..15;
    let orders = rows(all["orders"].as_ref(), chunk.clone());
    let lines = rows(all["order_line"].as_ref(), chunk.clone());
    let new_orders = rows(all["new_order"].as_ref(), chunk);
    let mut customers: Vec<u32> = orders.iter().map(|r| r[3].parse().unwrap()).collect();
    assert!(!customers.is_sorted());
    customers.sort_unstable();
    assert!(customers.into_iter().eq(1..=3000), "a permutation");
    let mut at = 0;
    for (n, order) in orders.iter().enumerate() {
        let (o_id, delivered) = ((n + 1).to_string(), n < 2100);
        assert_eq!([&*order[1], &*order[2], &*order[4]], [&*o_id, "2", "5"]);
        assert_eq!(order[5] == "\\N", !delivered);
        let count: usize = order[6].parse().unwrap();
        assert!((5..=15).contains(&count));
        for (n, line) in (1..).zip(&lines[at..at + count]) {
            assert_eq!(
                [&*line[1], &*line[2], &*line[4], &*line[5], &*line[6], &*line[7]],
                [&*o_id, "2", "2", "5", &*i32::to_string(&n), "5"]
            );
            assert_eq!(line[0] == "\\N", !delivered);
            if delivered {
                assert_eq!(line[8], "0.00");
            } else {
                assert!((0.01..=9999.99).contains(&number(&line[8])));
            }
            assert!((1.0..=100_000.0).contains(&number(&line[3])));
            assert_eq!(line[9].len(), 24);
        }
        at += count;
    }
    assert_eq!(at, lines.len());
    let ids: Vec<u32> = new_orders.iter().map(|r| r[1].parse().unwrap()).collect();
    assert!(ids.into_iter().eq(2101..=3000));
    assert!(new_orders.iter().all(|r| r[0] == "2" && r[2] == "5"));
}
