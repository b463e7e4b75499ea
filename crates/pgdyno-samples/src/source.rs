//! A source: columns that are sampled together.

use crate::Column;

/// A source of samples: an SQL statement or a look at a machine, repeated in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Name of its file in `samples/`.
    pub name: &'static str,
    /// Columns, in the order of the file.
    pub columns: &'static [Column],
    /// Names of the columns.
    pub names: &'static [&'static str],
}

impl Source {
    /// Returns the index of a column in a row.
    ///
    /// # Panics
    /// When the source has no such column.
    #[must_use]
    pub fn place(&self, column: Column) -> usize {
        let place = self.columns.iter().position(|known| known.name == column.name);
        place.unwrap_or_else(|| panic!("{} has no column {}", self.name, column.name))
    }
}

/// Declares a source: `SOURCE`, and a constant for each column. A line is `NAME = kind("name", Unit)`, followed by versions and
/// expressions where the column needs them.
macro_rules! source {
    ($source:literal: $(
        $(#[$about:meta])*
        $id:ident = $kind:ident($name:literal $(, $unit:ident)?) $(.$change:ident($($argument:expr),*))*;
    )*) => {
        /// The source.
        pub const SOURCE: $crate::Source =
            $crate::Source { name: $source, columns: &[$($id),*], names: &[$($name),*] };

        $(
            $(#[$about])*
            pub const $id: $crate::Column =
                $crate::Column::$kind($source, $name $(, $crate::Unit::$unit)?)$(.$change($($argument),*))*;
        )*
    };
}

pub(crate) use source;
