//! Rows of `pgbench -i`: balances of zero, fillers blank (accounts) or NULL (the others).

use std::ops::Range;

use pgdyno_workload::{CopyBuf, RowSource};

use super::{ACCOUNTS, BRANCHES, TELLERS};

/// Rows of the small tables in one chunk.
const SMALL_CHUNK: u64 = 100_000;

/// Appends accounts, counted from 0.
pub fn write_accounts(rows: Range<u64>, out: &mut CopyBuf) {
    for k in rows {
        // The server pads an empty filler with blanks.
        out.int((k + 1) as i64).int((k / ACCOUNTS + 1) as i64).int(0).plain(b"").end_row();
    }
}

/// Appends tellers, counted from 0.
pub fn write_tellers(rows: Range<u64>, out: &mut CopyBuf) {
    for k in rows {
        out.int((k + 1) as i64).int((k / TELLERS + 1) as i64).int(0).null().end_row();
    }
}

/// Appends branches, counted from 0.
pub fn write_branches(rows: Range<u64>, out: &mut CopyBuf) {
    for k in rows {
        out.int((k + 1) as i64).int(0).null().end_row();
    }
}

/// Chunks with the accounts of a unit of scale; the last one of a partition may have fewer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accounts {
    pub(super) scale: u64,
    /// Accounts of a partition; the last ones may have fewer.
    pub(super) rows_each: u64,
}

impl Accounts {
    /// Returns all accounts as one partition.
    pub(super) fn whole(scale: u64) -> Self {
        Self { scale, rows_each: ACCOUNTS * scale }
    }

    fn chunks_each(&self) -> u64 {
        self.rows_each.div_ceil(ACCOUNTS)
    }

    /// Returns the accounts of a partition, counted from 1; none beyond the last account.
    pub(super) fn chunks_of(&self, partition: u32) -> Range<u64> {
        let (end, all) = (u64::from(partition) * self.chunks_each(), self.chunks());
        (end - self.chunks_each()).min(all)..end.min(all)
    }
}

impl RowSource for Accounts {
    fn chunks(&self) -> u64 {
        (ACCOUNTS * self.scale).div_ceil(self.rows_each) * self.chunks_each()
    }

    fn write(&self, chunk: u64, out: &mut CopyBuf) {
        let (partition, nth) = (chunk / self.chunks_each(), chunk % self.chunks_each());
        let from = partition * self.rows_each;
        let all = (from + self.rows_each).min(ACCOUNTS * self.scale);
        let first = from + nth * ACCOUNTS;
        write_accounts(first..(first + ACCOUNTS).min(all), out);
    }
}

pub(super) struct Tellers {
    pub(super) scale: u64,
}

impl RowSource for Tellers {
    fn chunks(&self) -> u64 {
        (TELLERS * self.scale).div_ceil(SMALL_CHUNK)
    }

    fn write(&self, chunk: u64, out: &mut CopyBuf) {
        write_tellers(small_chunk(chunk, TELLERS * self.scale), out);
    }
}

pub(super) struct Branches {
    pub(super) scale: u64,
}

impl RowSource for Branches {
    fn chunks(&self) -> u64 {
        (BRANCHES * self.scale).div_ceil(SMALL_CHUNK)
    }

    fn write(&self, chunk: u64, out: &mut CopyBuf) {
        write_branches(small_chunk(chunk, BRANCHES * self.scale), out);
    }
}

fn small_chunk(chunk: u64, rows: u64) -> Range<u64> {
    let first = chunk * SMALL_CHUNK;
    first..(first + SMALL_CHUNK).min(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(source: &dyn RowSource, chunk: u64) -> String {
        let mut buf = CopyBuf::new();
        source.write(chunk, &mut buf);
        String::from_utf8(buf.bytes().to_vec()).unwrap()
    }

    #[test]
    fn accounts_go_on_where_the_last_chunk_ended() {
        let rows = text(&Accounts::whole(3), 2);
        assert_eq!(rows.lines().next(), Some("200001\t3\t0\t"));
        assert_eq!(rows.lines().last(), Some("300000\t3\t0\t"));
    }

    #[test]
    fn chunks_of_partitions_cover_all_accounts_in_order() {
        for (scale, partitions) in [(1, 1), (3, 2), (2, 7), (1, 60_000), (1, 100_000)] {
            let rows_each = (ACCOUNTS * scale).div_ceil(partitions);
            let accounts = Accounts { scale, rows_each };
            let mut next = 1;
            for number in 1..=partitions {
                for chunk in accounts.chunks_of(u32::try_from(number).unwrap()) {
                    for line in text(&accounts, chunk).lines() {
                        let aid: u64 = line.split('\t').next().unwrap().parse().unwrap();
                        assert_eq!((aid, (aid - 1) / rows_each + 1), (next, number), "scale {scale}");
                        next += 1;
                    }
                }
            }
            assert_eq!(next, ACCOUNTS * scale + 1, "{partitions} partitions");
        }
    }

    #[test]
    fn small_tables_hold_ten_and_one_rows_for_each_unit() {
        assert_eq!(text(&Branches { scale: 2 }, 0), "1\t0\t\\N\n2\t0\t\\N\n", "branches");
        let tellers = text(&Tellers { scale: 2 }, 0);
        assert_eq!(tellers.lines().nth(9), Some("10\t1\t0\t\\N"));
        assert_eq!(tellers.lines().nth(10), Some("11\t2\t0\t\\N"));
        assert_eq!(tellers.lines().count(), 20);
    }

    #[test]
    fn chunks_of_a_small_table_cover_it_without_overlap() {
        let source = Tellers { scale: 25_001 };
        let rows: usize = (0..source.chunks()).map(|chunk| text(&source, chunk).lines().count()).sum();
        assert_eq!(rows, 250_010);
    }
}
