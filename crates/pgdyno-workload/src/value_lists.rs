//! Lists of values from which scripts draw rows. They are read from the server once, before the clients begin.

use std::error::Error;

/// Limit of the rows of a list.
pub const LIST_ROWS_MAX: usize = 1_000_000;
/// Limit of the memory of a list.
const LIST_BYTES_MAX: usize = 256 << 20;
/// Marks the end of a value as that of a NULL. All ends are below it.
const NULL: u32 = 1 << 31;

/// Lists of values, and the scripts that draw from them.
pub trait ValueLists: Send + Sync {
    /// Returns the lists to read.
    fn queries(&self) -> &[ValueQuery];
    /// Gives the scripts the rows of all lists, in the order of [`ValueLists::queries`]. It is called once, before the clients
    /// begin.
    ///
    /// # Errors
    /// When a column cannot be a variable, or nothing sets a variable of a script.
    fn provide(&self, rows: Vec<ValueRows>) -> Result<(), Box<dyn Error + Send + Sync>>;
}

/// A list before it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueQuery {
    /// The name by which scripts draw from it.
    pub name: String,
    /// A query that returns its rows.
    pub sql: String,
    /// Its place in messages: `mine/workload.toml, values orders`.
    pub place: String,
}

/// Rows of a list, as text. It has no `Debug`: values of a user belong in no message.
pub struct ValueRows {
    columns: Vec<String>,
    /// All values, row by row.
    bytes: Vec<u8>,
    /// The end of each value in `bytes`, with [`NULL`] if it is one.
    ends: Vec<u32>,
}

/// The error when rows cannot be a list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueRowsError {
    /// There are no columns.
    #[error("its query returns no columns")]
    NoColumns,
    /// Two columns have the same name.
    #[error("its query returns two columns with the name \"{0}\"")]
    SameName(String),
    /// There are no rows.
    #[error("its query returns no rows, and scripts would have nothing to draw")]
    NoRows,
    /// There are too many rows.
    #[error("its query returns more than 1,000,000 rows")]
    TooManyRows,
    /// The values take too much memory.
    #[error("its values take more than 256 MiB")]
    TooLarge,
}

impl ValueRowsError {
    /// Returns the remedy.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::NoColumns => "select the columns that scripts use as variables",
            Self::SameName(_) => "give one of them another name: AS name",
            Self::NoRows => "change its sql, or load the rows that it reads",
            Self::TooManyRows => "select fewer rows: … ORDER BY … LIMIT 1000000",
            Self::TooLarge => "select fewer rows, or only the columns that scripts use",
        }
    }
}

impl ValueRows {
    /// Returns a list without rows.
    ///
    /// # Errors
    /// When there are no columns, or two have the same name.
    pub fn new(columns: Vec<String>) -> Result<Self, ValueRowsError> {
        if columns.is_empty() {
            return Err(ValueRowsError::NoColumns);
        }
        if let Some((_, twice)) = columns.iter().enumerate().find(|(at, name)| columns[..*at].contains(name)) {
            return Err(ValueRowsError::SameName(twice.clone()));
        }
        Ok(Self { columns, bytes: Vec::new(), ends: Vec::new() })
    }

    /// Appends a row, whose values are as many as the columns.
    ///
    /// # Errors
    /// When the list would be too large.
    pub fn push(&mut self, row: &[Option<String>]) -> Result<(), ValueRowsError> {
        if self.rows() == LIST_ROWS_MAX {
            return Err(ValueRowsError::TooManyRows);
        }
        let new: usize = row.iter().map(|value| value.as_ref().map_or(0, String::len) + size_of::<u32>()).sum();
        if self.bytes.len() + self.ends.len() * size_of::<u32>() + new > LIST_BYTES_MAX {
            return Err(ValueRowsError::TooLarge);
        }
        for at in 0..self.columns.len() {
            let value = row.get(at).and_then(Option::as_deref);
            self.bytes.extend_from_slice(value.unwrap_or_default().as_bytes());
            self.ends.push(self.bytes.len() as u32 | if value.is_none() { NULL } else { 0 });
        }
        Ok(())
    }

    /// Returns the names of the columns.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.ends.len() / self.columns.len()
    }

    /// Returns a value; `None` for NULL.
    #[inline]
    #[must_use]
    pub fn value(&self, row: usize, column: usize) -> Option<&[u8]> {
        let at = row * self.columns.len() + column;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] & !NULL);
        let end = self.ends[at];
        (end & NULL == 0).then(|| &self.bytes[start as usize..end as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(columns: &[&str]) -> Result<ValueRows, ValueRowsError> {
        ValueRows::new(columns.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn values_are_read_as_they_were_given() {
        let mut list = rows(&["id", "name", "note"]).ok().unwrap();
        let given = [[Some("1"), None, Some("")], [None, Some("ä;'"), None], [Some("22"), Some("b"), Some("c")]];
        for row in &given {
            list.push(&row.map(|value| value.map(str::to_owned))).unwrap();
        }
        assert_eq!((list.rows(), list.columns().len()), (3, 3));
        for (row, values) in given.iter().enumerate() {
            for (column, value) in values.iter().enumerate() {
                assert_eq!(list.value(row, column), value.map(str::as_bytes), "row {row}, column {column}");
            }
        }
    }

    #[test]
    fn columns_have_names_of_their_own() {
        assert_eq!(rows(&[]).err(), Some(ValueRowsError::NoColumns));
        assert_eq!(rows(&["a", "b", "a"]).err(), Some(ValueRowsError::SameName("a".to_owned())));
    }

    #[test]
    fn a_list_has_at_most_a_million_rows_and_256_mib() {
        let mut list = rows(&["a"]).ok().unwrap();
        for _ in 0..LIST_ROWS_MAX {
            list.push(&[None]).unwrap();
        }
        assert_eq!(list.push(&[None]), Err(ValueRowsError::TooManyRows));
        let mut list = rows(&["a"]).ok().unwrap();
        let value = [Some("x".repeat((64 << 20) - 4))];
        (0..4).for_each(|_| list.push(&value).unwrap());
        assert_eq!((list.push(&[None]), list.rows()), (Err(ValueRowsError::TooLarge), 4));
    }
}
