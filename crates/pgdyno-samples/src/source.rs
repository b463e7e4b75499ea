//! A source: columns that are looked at together.

use crate::Column;

/// A source of samples: one statement of SQL, or one look at a machine, again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// The name of its file in `samples/`.
    pub name: &'static str,
    /// Its columns, in the order of the file.
    pub columns: &'static [Column],
    /// Their names.
    pub names: &'static [&'static str],
}

impl Source {
    /// Returns the place of a column in a row.
    ///
    /// # Panics
    /// When the source has no such column.
    #[must_use]
    pub fn place(&self, column: Column) -> usize {
        let place = self.columns.iter().position(|known| known.name == column.name);
        place.unwrap_or_else(|| panic!("{} has no column {}", self.name, column.name))
    }
}

/// Declares a source: `SOURCE`, and a constant for each column. A line is `NAME = kind("name", Unit)`, followed by the versions
/// and expressions of the column where it needs any.
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
