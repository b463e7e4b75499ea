//! The refresh functions: the orders of each set, and what the stamp says about them.
//!
//! Set *u* inserts as many orders as a thousandth of those loaded, with their lines, and deletes the *u*-th thousandth of
//! the loaded ones. Clauses 2.5 to 2.8 and 4.2.

use std::fmt;
use std::ops::RangeInclusive;

use pgdyno_workload::{Check, CheckCost, CopyBuf, Expect, Repair, STAMP_TABLE};
use tpchgen::generators::{LineItem, LineItemGenerator, LineItemGeneratorIterator, Order, OrderGenerator};

use super::META;
use super::rows;
use super::scale::ScaleFactor;

/// Parts of the orders, each deleted by one set.
pub(super) const PARTS: u32 = 1_000;

/// Sets that pgdyno has: the next one would insert keys with other bits.
pub(super) const SETS: u32 = PARTS - 1;

/// How far a pair of refresh functions has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RefreshProgress {
    /// No pair has begun.
    #[default]
    Whole,
    /// Some orders of the next set were inserted.
    Inserting,
    /// All orders of the next set were inserted, and some were deleted.
    Deleting,
}

/// What the stamp says about refresh functions: `refresh 3`, `refresh 3 inserting`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// Pairs that are complete.
    pub(super) pairs: u32,
    pub(super) progress: RefreshProgress,
}

impl State {
    /// Reads the note in the stamp; empty before the first pair.
    pub(super) fn read(note: &str) -> Option<Self> {
        let mut words = note.split(' ');
        if note.is_empty() {
            return Some(Self::default());
        }
        let ("refresh", Some(pairs)) = (words.next()?, words.next()?.parse().ok()) else { return None };
        let progress = match words.next() {
            None => RefreshProgress::Whole,
            Some("inserting") => RefreshProgress::Inserting,
            Some("deleting") => RefreshProgress::Deleting,
            Some(_) => return None,
        };
        Some(Self { pairs, progress })
    }

    /// Returns SQL that notes it in the stamp.
    fn note(self) -> String {
        format!("update {STAMP_TABLE} set changes = '{self}' where dataset = '{}'", META.dataset)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refresh {}", self.pairs)?;
        match self.progress {
            RefreshProgress::Whole => Ok(()),
            RefreshProgress::Inserting => f.write_str(" inserting"),
            RefreshProgress::Deleting => f.write_str(" deleting"),
        }
    }
}

/// Returns SQL for the note in the stamp.
pub(super) fn read_sql() -> String {
    format!("select coalesce(changes, '') from {STAMP_TABLE} where dataset = '{}' and complete", META.dataset)
}

/// Returns the key of order `nth`, from 1, in one of the four slots of each eight keys (clause 4.2.3).
fn key(nth: u64, slot: u64) -> u64 {
    nth / 8 * 32 + slot * 8 + nth % 8
}

/// Returns the number of the order that has this key, whatever its slot.
fn number(key: i64) -> i64 {
    key / 32 * 8 + key % 8
}

/// Slot of the keys of loaded orders.
const LOADED: u64 = 0;
/// Slot of the keys of inserted orders.
const INSERTED: u64 = 1;

/// The orders that one pair of refresh functions inserts and deletes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Set {
    scale: ScaleFactor,
    /// From 1.
    number: u32,
}

impl Set {
    /// Returns set `number`, 1 to [`SETS`], if the scale factor has whole ones.
    pub(super) fn of(scale: ScaleFactor, number: u32) -> Option<Self> {
        (scale.refreshed_orders().is_some() && (1..=SETS).contains(&number)).then_some(Self { scale, number })
    }

    /// Returns the orders that each set inserts and deletes.
    fn orders(self) -> u64 {
        self.scale.refreshed_orders().unwrap_or_default()
    }

    /// Returns the numbers of its orders.
    fn numbers(self) -> RangeInclusive<u64> {
        let before = u64::from(self.number - 1) * self.orders();
        before + 1..=before + self.orders()
    }

    /// Returns the condition that a key is one of this set in a slot.
    fn has(self, column: &str, slot: u64) -> String {
        let numbers = self.numbers();
        let (first, last) = (key(*numbers.start(), slot), key(*numbers.end(), slot));
        format!("{column} between {first} and {last} and {column} / 8 % 4 = {slot}")
    }

    /// Returns the key that tpchgen's order of this set, which continues behind the loaded ones, has in the database.
    fn key_of_inserted(self, key_generated: i64) -> i64 {
        key(number(key_generated).unsigned_abs() - self.scale.orders(), INSERTED) as i64
    }

    fn generated(self) -> (OrderGenerator<'static>, LineItemGenerator<'static>) {
        let (factor, part) = (self.scale.factor(), (PARTS + self.number) as i32);
        (OrderGenerator::new(factor, part, PARTS as i32), LineItemGenerator::new(factor, part, PARTS as i32))
    }

    /// Writes the inserted orders.
    pub(super) fn write_orders(self, out: &mut CopyBuf) {
        self.generated().0.iter().for_each(|row| rows::order(&row, self.key_of_inserted(row.o_orderkey), out));
    }

    /// Writes the lines of the inserted orders.
    pub(super) fn write_lines(self, out: &mut CopyBuf) {
        self.generated().1.iter().for_each(|row| rows::line(&row, self.key_of_inserted(row.l_orderkey), out));
    }

    /// Returns by how many lines it lets the table grow.
    fn lines_added(self) -> i64 {
        let deleted = LineItemGenerator::new(self.scale.factor(), self.number as i32, PARTS as i32);
        self.generated().1.iter().count() as i64 - deleted.iter().count() as i64
    }

    /// Returns the state before it.
    fn state(self, progress: RefreshProgress) -> State {
        State { pairs: self.number - 1, progress }
    }

    /// Returns SQL that notes the end of the pair, and the rows that the tables have then.
    fn note_end(self) -> String {
        let after = State { pairs: self.number, progress: RefreshProgress::Whole };
        format!(
            "update {STAMP_TABLE} set changes = '{after}', rows[array_position(tables, 'lineitem')] = \
             rows[array_position(tables, 'lineitem')] + ({}) where dataset = '{}'",
            self.lines_added(),
            META.dataset
        )
    }

    /// Returns the transactions of RF1, one for each order. The first and the last one also note the state.
    pub(super) fn inserts(self) -> Inserts {
        let (orders, lines) = self.generated();
        Inserts { set: self, orders: orders.iter(), lines: lines.iter(), line: None, done: 0, out: CopyBuf::new() }
    }

    /// Returns the transactions of RF2, one for each order. The last one also notes the end.
    pub(super) fn deletes(self) -> impl Iterator<Item = String> + Send {
        let last = *self.numbers().end();
        self.numbers().map(move |nth| {
            let key = key(nth, LOADED);
            let delete =
                format!("delete from lineitem where l_orderkey = {key};\ndelete from orders where o_orderkey = {key}");
            if nth == last { format!("{delete};\n{}", self.note_end()) } else { delete }
        })
    }

    /// Returns SQL that deletes its orders in a slot.
    fn delete_all(self, slot: u64) -> [String; 2] {
        [
            format!("delete from lineitem where {}", self.has("l_orderkey", slot)),
            format!("delete from orders where {}", self.has("o_orderkey", slot)),
        ]
    }
}

/// Makes what the first row takes a second for.
pub(super) fn prepare(scale: ScaleFactor) {
    if let Some(set) = Set::of(scale, 1) {
        drop(set.inserts().next());
    }
}

/// Returns what undoes or completes the pair that was interrupted.
pub(super) fn repair(scale: ScaleFactor, state: State) -> Option<Repair> {
    let set = Set::of(scale, state.pairs + 1)?;
    // Sessions of a killed run may still write.
    let alone = "lock table orders in share row exclusive mode".to_owned();
    let (what, slot, note) = match state.progress {
        RefreshProgress::Whole => return None,
        RefreshProgress::Inserting => ("undoing", INSERTED, set.state(RefreshProgress::Whole).note()),
        RefreshProgress::Deleting => ("completing", LOADED, set.note_end()),
    };
    let sql = std::iter::once(alone).chain(set.delete_all(slot)).chain([note]).collect();
    Some(Repair { what: format!("{what} refresh {}, which was interrupted", state.pairs + 1), sql })
}

/// Returns the check that the orders are those after so many pairs, by their keys.
pub(super) fn check(scale: ScaleFactor, state: State) -> Check {
    let pairs = u64::from(state.pairs);
    let refreshed = pairs * scale.refreshed_orders().unwrap_or_default();
    let loaded = scale.orders() - refreshed;
    let last = key(refreshed, INSERTED);
    let sql = format!(
        "select {pairs} as pairs, {loaded} as loaded_expected, loaded as loaded_found, {refreshed} as inserted_expected, \
         inserted as inserted_found{}\n  from (select count(*) filter (where o_orderkey / 8 % 4 = {LOADED} and o_orderkey > \
         {}) as loaded,\n               count(*) filter (where o_orderkey / 8 % 4 = {INSERTED} and o_orderkey <= {last}) as \
         inserted, count(*) as orders from orders) as o\n where (loaded, inserted, orders) is distinct from ({loaded}, \
         {refreshed}, {})",
        match state.progress {
            RefreshProgress::Whole => "",
            _ => ", 'interrupted: the next run repairs it' as refresh",
        },
        key(refreshed, LOADED),
        scale.orders(),
    );
    Check {
        name: "refresh",
        condition: "the orders are those that the refresh functions noted in the stamp leave; answers, which are those of \
                    loaded data, are not compared",
        sql: sql.into(),
        parts: None,
        screen: None,
        expect: Expect::NoRow,
        cost: CheckCost::Expensive,
    }
}

/// The transactions of RF1.
pub(super) struct Inserts {
    set: Set,
    orders: <OrderGenerator<'static> as IntoIterator>::IntoIter,
    lines: LineItemGeneratorIterator<'static>,
    /// The first line of the next order.
    line: Option<LineItem<'static>>,
    done: u64,
    out: CopyBuf,
}

impl Iterator for Inserts {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let order: Order<'static> = self.orders.next()?;
        self.done += 1;
        let key = self.set.key_of_inserted(order.o_orderkey);
        self.out.clear();
        rows::order(&order, key, &mut self.out);
        let order_row = values(self.out.bytes());
        self.out.clear();
        while let Some(line) = self.line.take().or_else(|| self.lines.next()) {
            if line.l_orderkey != order.o_orderkey {
                self.line = Some(line);
                break;
            }
            rows::line(&line, key, &mut self.out);
        }
        let mut sql =
            format!("insert into orders values {order_row};\ninsert into lineitem values {}", values(self.out.bytes()));
        if self.done == 1 {
            sql = format!("{};\n{sql}", self.set.state(RefreshProgress::Inserting).note());
        }
        if self.done == self.set.orders() {
            sql = format!("{sql};\n{}", self.set.state(RefreshProgress::Deleting).note());
        }
        Some(sql)
    }
}

/// Returns rows of COPY's text format as rows of VALUES.
fn values(rows: &[u8]) -> String {
    let text = String::from_utf8_lossy(rows).replace('\'', "''");
    let row = |row: &str| format!("('{}')", row.replace('\t', "', '"));
    text.lines().map(row).collect::<Vec<_>>().join(",\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(thousandths: u64, number: u32) -> Set {
        Set::of(ScaleFactor::of_thousandths(thousandths), number).unwrap()
    }

    #[test]
    fn keys_are_those_of_dbgen_s_sets() {
        let keys = |set: Set| {
            let mut out = CopyBuf::new();
            set.write_orders(&mut out);
            let text = String::from_utf8(out.bytes().to_vec()).unwrap();
            text.lines().map(|row| row.split('\t').next().unwrap().parse::<u64>().unwrap()).collect::<Vec<_>>()
        };
        // Set 1 inserts 9, 10, 11 ... and deletes 1, 2, 3 ...
        let first = keys(set(10, 1));
        assert_eq!((first.len(), &first[..8]), (15, &[9, 10, 11, 12, 13, 14, 15, 40][..]));
        let second = keys(set(10, 2));
        assert_eq!((second.len(), second[0]), (15, key(16, INSERTED)));
        let deleted: Vec<_> = set(10, 1).deletes().collect();
        assert!(deleted.len() == 15 && deleted[0].starts_with("delete from lineitem where l_orderkey = 1;\n"));
        assert!(deleted[14].contains("changes = 'refresh 1'"), "{}", deleted[14]);
    }

    #[test]
    fn an_order_and_its_lines_are_one_transaction_and_the_state_is_part_of_the_first_and_the_last() {
        let inserts: Vec<_> = set(10, 3).inserts().collect();
        assert_eq!(inserts.len(), 15);
        assert!(inserts[0].starts_with("update pgdyno_stamp set changes = 'refresh 2 inserting'"), "{}", inserts[0]);
        assert!(inserts[14].ends_with("changes = 'refresh 2 deleting' where dataset = 'tproc-h'"), "{}", inserts[14]);
        assert!(inserts[1].starts_with("insert into orders values ('"), "{}", inserts[1]);
        let lines: usize =
            inserts.iter().map(|sql| sql.split("lineitem values").nth(1).unwrap().matches("('").count()).sum();
        let mut out = CopyBuf::new();
        set(10, 3).write_lines(&mut out);
        assert_eq!(lines as u64, out.rows());
    }

    #[test]
    fn an_interrupted_pair_is_undone_while_it_inserts_and_completed_while_it_deletes() {
        let repair = |note: &str| repair(ScaleFactor::of_thousandths(10), State::read(note).unwrap());
        assert_eq!(repair("refresh 3"), None);
        let undone = repair("refresh 3 inserting").unwrap();
        assert_eq!(undone.what, "undoing refresh 4, which was interrupted");
        assert!(undone.sql[2].ends_with("% 4 = 1") && undone.sql[3].contains("'refresh 3'"), "{undone:?}");
        let completed = repair("refresh 3 deleting").unwrap();
        assert!(completed.sql[2].ends_with("% 4 = 0") && completed.sql[3].contains("'refresh 4'"), "{completed:?}");
    }

    #[test]
    fn a_state_is_read_as_it_was_noted() {
        for progress in [RefreshProgress::Whole, RefreshProgress::Inserting, RefreshProgress::Deleting] {
            let state = State { pairs: 7, progress };
            assert_eq!(State::read(&state.to_string()), Some(state));
        }
        assert_eq!([State::read(""), State::read("else")], [Some(State::default()), None]);
        assert!(Set::of(ScaleFactor::of_thousandths(1), 1).is_none());
        assert!(Set::of(ScaleFactor::ONE, 0).is_none() && Set::of(ScaleFactor::ONE, 1_000).is_none());
    }
}
