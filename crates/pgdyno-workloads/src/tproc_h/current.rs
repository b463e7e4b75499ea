//! The rows of the tables after some pairs of refresh functions.

use pgdyno_workload::{CopyBuf, RowSource};
use tpchgen::generators::{LineItemGenerator, OrderGenerator};

use super::refresh::{PARTS, Set};
use super::rows::{self, Of, Rows};
use super::scale::ScaleFactor;

/// Tables by name.
pub(super) const TABLES: [(&str, Of); 8] = [
    ("region", Of::Region),
    ("nation", Of::Nation),
    ("part", Of::Part),
    ("supplier", Of::Supplier),
    ("partsupp", Of::PartSupplier),
    ("customer", Of::Customer),
    ("orders", Of::Orders),
    ("lineitem", Of::Lines),
];

/// The rows of a table after so many pairs, each of which has replaced one part of the orders and their lines.
pub(super) struct CurrentRows {
    loaded: Rows,
    pairs: u32,
}

impl CurrentRows {
    pub(super) fn of(of: Of, scale: ScaleFactor, pairs: u32) -> Self {
        let is_refreshed = matches!(of, Of::Orders | Of::Lines);
        Self { loaded: Rows { of, scale }, pairs: if is_refreshed { pairs } else { 0 } }
    }

    fn write_part(&self, part: u32, out: &mut CopyBuf) {
        let Rows { of, scale } = self.loaded;
        let set = Set::of(scale, part).filter(|_| part <= self.pairs);
        let (factor, parts) = (scale.factor(), PARTS as i32);
        match (set, of) {
            (Some(set), Of::Orders) => set.write_orders(out),
            (Some(set), _) => set.write_lines(out),
            (None, Of::Orders) => rows::orders(OrderGenerator::new(factor, part as i32, parts), out),
            (None, _) => rows::lines(LineItemGenerator::new(factor, part as i32, parts), out),
        }
    }
}

impl RowSource for CurrentRows {
    fn chunks(&self) -> u64 {
        if self.pairs > 0 { u64::from(PARTS) } else { self.loaded.chunks() }
    }

    fn write(&self, chunk: u64, out: &mut CopyBuf) {
        match self.pairs {
            0 => self.loaded.write(chunk, out),
            _ => self.write_part(chunk as u32 + 1, out),
        }
    }
}
