//! A source: columns that are sampled together.

use crate::SampleColumn;

/// A source of samples: an SQL statement or a look at a machine, repeated in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleSource {
    /// Name of its file in `samples/`.
    pub name: &'static str,
    /// Columns, in the order of the file.
    pub columns: &'static [SampleColumn],
    /// Names of the columns.
    pub names: &'static [&'static str],
}

impl SampleSource {
    /// Returns the index of a column in a row.
    ///
    /// # Panics
    /// When the source has no such column.
    #[must_use]
    pub fn place(&self, column: SampleColumn) -> usize {
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
        pub const SOURCE: $crate::SampleSource =
            $crate::SampleSource { name: $source, columns: &[$($id),*], names: &[$($name),*] };

        $(
            $(#[$about])*
            pub const $id: $crate::SampleColumn =
                $crate::SampleColumn::$kind($source, $name $(, $crate::SampleUnit::$unit)?)$(.$change($($argument),*))*;
        )*
    };
}

pub(crate) use source;
