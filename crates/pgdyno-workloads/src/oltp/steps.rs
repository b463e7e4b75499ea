//! The statements of a transaction, in order.

use pgdyno_wire::{ParamType, Statement, StmtId};

use super::schema::name;

/// A statement of sysbench's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sql {
    Begin,
    Commit,
    PointSelect,
    SimpleRange,
    SumRange,
    OrderRange,
    DistinctRange,
    IndexUpdate,
    NonIndexUpdate,
    Delete {
        /// Whether the same row is inserted again.
        insert: bool,
    },
    Insert,
    /// A row with the next key.
    NewRow,
    RandomPoints(usize),
    RandomRanges(usize),
}

impl Sql {
    fn is_query(self) -> bool {
        !matches!(self, Self::Begin | Self::Commit)
    }

    fn is_range(self) -> bool {
        matches!(self, Self::SimpleRange | Self::SumRange | Self::OrderRange | Self::DistinctRange)
    }

    fn is_read(self) -> bool {
        self.is_range() || matches!(self, Self::PointSelect | Self::RandomPoints(_) | Self::RandomRanges(_))
    }

    fn statement(self, table: &str) -> Statement {
        use ParamType::{Int4, Text};
        let range = |what: &str, rest: &str| {
            Statement::new(format!("SELECT {what} FROM {table} WHERE id BETWEEN $1 AND $2{rest}"), &[Int4, Int4])
        };
        let numbered = |part: &dyn Fn(usize) -> String, count: usize, between: &str| {
            (0..count).map(part).collect::<Vec<_>>().join(between)
        };
        match self {
            Self::Begin => Statement::new("BEGIN", &[]),
            Self::Commit => Statement::new("COMMIT", &[]),
            Self::PointSelect => Statement::new(format!("SELECT c FROM {table} WHERE id=$1"), &[Int4]),
            Self::SimpleRange => range("c", ""),
            Self::SumRange => range("SUM(k)", ""),
            Self::OrderRange => range("c", " ORDER BY c"),
            Self::DistinctRange => range("DISTINCT c", " ORDER BY c"),
            Self::IndexUpdate => Statement::new(format!("UPDATE {table} SET k=k+1 WHERE id=$1"), &[Int4]),
            Self::NonIndexUpdate => Statement::new(format!("UPDATE {table} SET c=$1 WHERE id=$2"), &[Text, Int4]),
            Self::Delete { .. } => Statement::new(format!("DELETE FROM {table} WHERE id=$1"), &[Int4]),
            Self::Insert => Statement::new(
                format!("INSERT INTO {table} (id, k, c, pad) VALUES ($1, $2, $3, $4)"),
                &[Int4, Int4, Text, Text],
            ),
            Self::NewRow => {
                Statement::new(format!("INSERT INTO {table} (k, c, pad) VALUES ($1, $2, $3)"), &[Int4, Text, Text])
            }
            Self::RandomPoints(count) => {
                let points = numbered(&|nth| format!("${}", nth + 1), count, ", ");
                Statement::new(format!("SELECT id, k, c, pad FROM {table} WHERE k IN ({points})"), &vec![Int4; count])
            }
            Self::RandomRanges(count) => {
                let part = |nth| format!("k BETWEEN ${} AND ${}", 2 * nth + 1, 2 * nth + 2);
                let ranges = numbered(&part, count, " OR ");
                Statement::new(format!("SELECT count(k) FROM {table} WHERE {ranges}"), &vec![Int4; 2 * count])
            }
        }
    }
}

/// One statement of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) sql: Sql,
    /// Whether a table is drawn for it and those that follow.
    pub(super) draws_table: bool,
    /// Its place in [`Steps::kinds`].
    kind: usize,
}

/// The statements of a transaction.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    is_block: bool,
    list: Vec<Step>,
    /// The statements that occur, each once: every table has all of them.
    kinds: Vec<Sql>,
}

impl Steps {
    pub(super) fn new(is_block: bool) -> Self {
        let mut steps = Self { is_block, list: Vec::new(), kinds: Vec::new() };
        if is_block {
            steps.push(Sql::Begin, false);
        }
        steps
    }

    fn push(&mut self, sql: Sql, draws_table: bool) {
        let known = self.kinds.iter().position(|kind| *kind == sql);
        let kind = known.unwrap_or(self.kinds.len());
        if known.is_none() {
            self.kinds.push(sql);
        }
        self.list.push(Step { sql, draws_table, kind });
    }

    /// Adds a statement so many times, all on the same table.
    pub(super) fn several(mut self, sql: Sql, times: usize) -> Self {
        for nth in 0..times {
            self.push(sql, nth == 0);
            if sql == (Sql::Delete { insert: true }) {
                self.push(Sql::Insert, false);
            }
        }
        self
    }

    /// Adds the end.
    pub(super) fn end(mut self) -> Self {
        if self.is_block {
            self.push(Sql::Commit, false);
        }
        self
    }

    pub(super) fn list(&self) -> &[Step] {
        &self.list
    }

    /// Returns the statement of a step on this table, from 1.
    pub(super) fn id(&self, step: Step, table: u32) -> StmtId {
        StmtId((table - 1) * self.kinds.len() as u32 + step.kind as u32)
    }

    /// Returns the statements of all tables, in the order of their ids.
    pub(super) fn statements(&self, tables: u32) -> Vec<Statement> {
        (1..=tables).flat_map(|table| self.kinds.iter().map(move |sql| sql.statement(name(table)))).collect()
    }

    pub(super) fn queries(&self) -> u32 {
        self.list.iter().filter(|step| step.sql.is_query()).count() as u32
    }

    pub(super) fn only_read(&self) -> bool {
        self.kinds.iter().all(|sql| sql.is_read() || !sql.is_query())
    }

    pub(super) fn has_ranges(&self) -> bool {
        self.kinds.iter().any(|sql| sql.is_range())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns true if no transaction changes the number of rows.
    pub(super) fn keeps_rows(&self) -> bool {
        let changes = |sql: &Sql| match sql {
            Sql::NewRow | Sql::Delete { insert: false } => true,
            Sql::Delete { insert: true } => !self.is_block,
            _ => false,
        };
        !self.kinds.iter().any(changes)
    }

    /// Returns true if each client has its own part of the values.
    pub(super) fn has_parts_of_clients(&self) -> bool {
        self.kinds.iter().any(|sql| matches!(sql, Sql::RandomPoints(_) | Sql::RandomRanges(_)))
    }
}
