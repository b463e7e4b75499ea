//! Definitions of tables: read from the catalog, kept in the stamp, compared.

mod read;

use std::collections::BTreeMap;
use std::fmt;

/// A column, an index, a constraint … of a table, or a table or routine itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SchemaPart {
    /// The table or partition that it belongs to; the table's own name for the table itself; empty for a routine.
    pub table: String,
    /// Its kind in SQL: `table`, `partition`, `column`, `primary key`, `index`, `procedure`.
    pub kind: String,
    /// Its name; for a routine with the types of its arguments.
    pub name: String,
}

impl SchemaPart {
    /// Returns a part with this name.
    #[must_use]
    pub fn new(table: &str, kind: &str, name: &str) -> Self {
        Self { table: table.to_owned(), kind: kind.to_owned(), name: name.to_owned() }
    }

    /// Returns true if it is a procedure, a function or an aggregate.
    #[must_use]
    pub fn is_routine(&self) -> bool {
        matches!(self.kind.as_str(), "procedure" | "function" | "aggregate")
    }

    /// Returns true if other parts are dropped with it.
    fn is_table(&self) -> bool {
        matches!(self.kind.as_str(), "table" | "partition")
    }
}

/// `index customer_i2 of customer`.
impl fmt::Display for SchemaPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, kind, name } = self;
        match kind.as_str() {
            "column" => write!(f, "column {table}.{name}"),
            _ if table.is_empty() || self.is_table() => write!(f, "{kind} {name}"),
            _ => write!(f, "{kind} {name} of {table}"),
        }
    }
}

/// Tables with their columns, indexes, constraints, partitions, triggers and sequences, and routines: each part with
/// its definition from the catalog.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schema {
    parts: BTreeMap<SchemaPart, String>,
}

impl Schema {
    /// Every part with its definition.
    pub fn parts(&self) -> impl Iterator<Item = (&SchemaPart, &str)> {
        self.parts.iter().map(|(part, definition)| (part, definition.as_str()))
    }

    /// Returns the definition of a part.
    #[must_use]
    pub fn get(&self, part: &SchemaPart) -> Option<&str> {
        self.parts.get(part).map(String::as_str)
    }

    /// Adds or replaces a part of an expected schema.
    pub fn insert(&mut self, part: SchemaPart, definition: &str) {
        self.parts.insert(part, definition.to_owned());
    }

    /// Keeps only the parts that `wanted` accepts.
    pub fn retain(&mut self, mut wanted: impl FnMut(&SchemaPart) -> bool) {
        self.parts.retain(|part, _| wanted(part));
    }

    /// Returns the differences of `found` from this schema. Parts of a table that is missing or new are left out.
    #[must_use]
    pub fn differences(&self, found: &Self) -> Vec<SchemaDifference> {
        let goes_with_its_table = |part: &SchemaPart, others: &Self| {
            let table = |kind| others.parts.contains_key(&SchemaPart::new(&part.table, kind, &part.table));
            !part.is_table() && !part.table.is_empty() && !table("table") && !table("partition")
        };
        let expected = self.parts.iter().filter_map(|(part, was)| {
            let is = found.parts.get(part);
            let is_different = is != Some(was) && !(is.is_none() && goes_with_its_table(part, found));
            is_different.then(|| SchemaDifference { part: part.clone(), was: Some(was.clone()), is: is.cloned() })
        });
        let superfluous = found.parts.iter().filter_map(|(part, is)| {
            let is_different = !self.parts.contains_key(part) && !goes_with_its_table(part, self);
            is_different.then(|| SchemaDifference { part: part.clone(), was: None, is: Some(is.clone()) })
        });
        expected.chain(superfluous).collect()
    }

    /// Returns the text for the stamp: a line for each part.
    pub(crate) fn to_text(&self) -> String {
        let line = |(part, definition): (&SchemaPart, &String)| {
            [&part.table, &part.kind, &part.name, definition].map(|field| escape(field)).join("\t")
        };
        self.parts.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// Parses the text of [`Schema::to_text`].
    pub(crate) fn from_text(text: &str) -> Self {
        let mut schema = Self::default();
        for line in text.lines() {
            let fields: Vec<_> = line.split('\t').map(unescape).collect();
            if let [table, kind, name, definition] = fields.as_slice() {
                schema.insert(SchemaPart::new(table, kind, name), definition);
            }
        }
        schema
    }
}

/// A part that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaDifference {
    /// The part.
    pub part: SchemaPart,
    /// The definition expected; `None` if there should be no such part.
    pub was: Option<String>,
    /// The definition found.
    pub is: Option<String>,
}

/// `index customer_i2 of customer is missing: unique btree (c_w_id, c_d_id, c_last, c_first, c_id)`.
impl fmt::Display for SchemaDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { part, was, is } = self;
        let defined = |definition: &str| match definition {
            "" => String::new(),
            definition => format!(": {definition}"),
        };
        match (was, is) {
            (Some(_), None) if part.is_routine() => write!(f, "{part} is missing"),
            (Some(was), None) => write!(f, "{part} is missing{}", defined(was)),
            (None, Some(is)) => write!(f, "{part} was not there after the load{}", defined(is)),
            // The definition of a routine is a hash.
            (Some(_), Some(_)) if part.is_routine() => write!(f, "{part} is not the one that was installed"),
            (was, is) => {
                let text = |definition: &Option<String>| definition.clone().unwrap_or_default();
                write!(f, "{part} is {}; it was {}", text(is), text(was))
            }
        }
    }
}

fn escape(field: &str) -> String {
    field.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n").replace('\r', "\\r")
}

fn unescape(field: &str) -> String {
    let mut text = String::with_capacity(field.len());
    let mut rest = field.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next() {
                Some('t') => text.push('\t'),
                Some('n') => text.push('\n'),
                Some('r') => text.push('\r'),
                other => text.extend(other),
            },
            c => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(parts: &[(&str, &str, &str, &str)]) -> Schema {
        let mut schema = Schema::default();
        for (table, kind, name, definition) in parts {
            schema.insert(SchemaPart::new(table, kind, name), definition);
        }
        schema
    }

    const STOCK: [(&str, &str, &str, &str); 4] = [
        ("stock", "table", "stock", "logged"),
        ("stock", "column", "s_i_id", "integer not null"),
        ("stock", "primary key", "stock_i1", "PRIMARY KEY (s_i_id)"),
        ("", "procedure", "take(integer)", "1f"),
    ];

    #[test]
    fn what_is_written_down_is_read_back() {
        let mut odd = schema(&STOCK);
        odd.insert(SchemaPart::new("a\tb", "index", "two\nlines"), "btree (\"\\x\")\r");
        assert_eq!(Schema::from_text(&odd.to_text()), odd);
        assert_eq!(Schema::from_text(""), Schema::default());
    }

    #[test]
    fn each_difference_is_reported_once_and_with_its_table() {
        let whole = schema(&STOCK);
        let shown = |found: &[(&str, &str, &str, &str)]| {
            let found = whole.differences(&schema(found));
            found.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(shown(&STOCK), [""; 0]);
        assert_eq!(shown(&STOCK[3..]), ["table stock is missing: logged"]);
        assert_eq!(
            shown(&STOCK[..2]),
            ["procedure take(integer) is missing", "primary key stock_i1 of stock is missing: PRIMARY KEY (s_i_id)"]
        );
        let mut other = STOCK;
        (other[1].3, other[3].3) = ("bigint not null", "2e");
        assert_eq!(
            shown(&other),
            [
                "procedure take(integer) is not the one that was installed",
                "column stock.s_i_id is bigint not null; it was integer not null",
            ]
        );
        let more = [&STOCK[..], &[("stock", "index", "mine", "btree (s_i_id)"), ("new", "table", "new", "logged")]];
        assert_eq!(
            shown(&more.concat()),
            [
                "table new was not there after the load: logged",
                "index mine of stock was not there after the load: btree (s_i_id)",
            ]
        );
    }
}
