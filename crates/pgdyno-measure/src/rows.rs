//! Counts and digests of statements' rows.

/// Rows of one statement, over any number of executions. Merging adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatementRows {
    /// Number of rows.
    pub count: u64,
    /// Their digest, if they were hashed.
    pub digest: Option<Digest>,
    /// Executions that returned a row, unless rows are kept.
    pub answered: u64,
    /// The sum of the times until their first row was read.
    pub first_row_ns: u64,
}

/// A digest of rows in 128 bits: equal for equal results. Each part is a sum modulo 2^64 over the executions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Digest {
    /// The sum of the rows' hashes: the same in any order of the rows.
    pub unordered: u64,
    /// The polynomial of the rows' hashes in [`BASE`], the first row with the highest power: it changes if two rows
    /// of an execution change places.
    pub ordered: u64,
}

/// An odd number without a pattern: the golden ratio in 64 bits.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

impl Digest {
    /// Adds the next row of an execution in the server's form: the body of its DataRow message.
    pub fn row(&mut self, body: &[u8]) {
        let hash = hash(body);
        self.unordered = self.unordered.wrapping_add(hash);
        self.ordered = self.ordered.wrapping_mul(BASE).wrapping_add(hash);
    }
}

impl StatementRows {
    /// Adds other rows of the same statement.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.answered += other.answered;
        self.first_row_ns += other.first_row_ns;
        if let Some(other) = other.digest {
            let mine = self.digest.get_or_insert_default();
            mine.unordered = mine.unordered.wrapping_add(other.unordered);
            mine.ordered = mine.ordered.wrapping_add(other.ordered);
        }
    }
}

/// FNV-1a in 64 bits, mixed once more, so that sums of its values do not hide differences.
fn hash(bytes: &[u8]) -> u64 {
    let fnv = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h: u64, b| (h ^ u64::from(*b)).wrapping_mul(0x0100_0000_01b3));
    let mixed = (fnv ^ (fnv >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(rows: &[&str]) -> Digest {
        let mut digest = Digest::default();
        rows.iter().for_each(|row| digest.row(row.as_bytes()));
        digest
    }

    #[test]
    fn one_part_knows_the_order_of_rows_and_the_other_does_not() {
        let (there, back) = (digest(&["a", "b", "c"]), digest(&["c", "b", "a"]));
        assert!(there.unordered == back.unordered && there.ordered != back.ordered);
        for other in [&["a", "b"][..], &["a", "b", "d"], &["a", "b", "c", "c"], &["ab", "c"], &[]] {
            assert!(digest(other).unordered != there.unordered && digest(other).ordered != there.ordered, "{other:?}");
        }
        assert_eq!(digest(&["a"]), Digest { unordered: hash(b"a"), ordered: hash(b"a") });
    }

    #[test]
    fn executions_add_up_in_any_order() {
        let execution = |rows| StatementRows { count: 2, digest: Some(digest(rows)), ..StatementRows::default() };
        let (mut one, mut other) = (execution(&["a", "b"]), execution(&["c", "d"]));
        let (first, second) = (one, other);
        one.merge(&second);
        other.merge(&first);
        assert_eq!((one, one.count), (other, 4));
        let counted = StatementRows { count: 1, ..StatementRows::default() };
        one.merge(&counted);
        assert_eq!((one.count, one.digest), (5, other.digest));
    }
}
