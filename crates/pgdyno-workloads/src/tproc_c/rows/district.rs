use pgdyno_workload::{CopyBuf, RowSource};

use super::warehouse::name_and_address;
use crate::tproc_c::{DISTRICTS, ORDERS, population::Seed};

const CHUNK_WAREHOUSES: u32 = 100;

/// Ten districts for each warehouse, those of a hundred warehouses in a chunk.
pub(in crate::tproc_c) struct Districts {
    pub(in crate::tproc_c) seed: Seed,
    pub(in crate::tproc_c) warehouses: u32,
}

impl RowSource for Districts {
    fn chunks(&self) -> u64 {
        u64::from(self.warehouses.div_ceil(CHUNK_WAREHOUSES))
    }

    fn write(&self, chunk: u64, out: &mut CopyBuf) {
        let first = chunk as u32 * CHUNK_WAREHOUSES + 1;
        for w_id in first..=self.warehouses.min(first + CHUNK_WAREHOUSES - 1) {
            let mut rng = self.seed.rng("district", &[u64::from(w_id)]);
            for d_id in 1..=DISTRICTS {
                // d_w_id, d_next_o_id, d_id, d_ytd, d_tax
                out.int(i64::from(w_id))
                    .int(i64::from(ORDERS + 1))
                    .int(i64::from(d_id))
                    .cents(3_000_000)
                    .fixed(rng.uniform(0, 2000), 4);
                name_and_address(&mut rng, out);
                out.end_row();
            }
        }
    }
}
