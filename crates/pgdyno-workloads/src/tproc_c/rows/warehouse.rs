use pgdyno_workload::{CopyBuf, Rng, RowSource};

use crate::tproc_c::{population::Seed, strings};

const CHUNK_ROWS: u32 = 1_000;

/// The warehouses, a thousand in a chunk.
pub(in crate::tproc_c) struct Warehouses {
    pub(in crate::tproc_c) seed: Seed,
    pub(in crate::tproc_c) warehouses: u32,
}

impl RowSource for Warehouses {
    fn chunks(&self) -> u64 {
        u64::from(self.warehouses.div_ceil(CHUNK_ROWS))
    }

    fn write(&self, chunk: u64, out: &mut CopyBuf) {
        let first = chunk as u32 * CHUNK_ROWS + 1;
        for w_id in first..=self.warehouses.min(first + CHUNK_ROWS - 1) {
            let mut rng = self.seed.rng("warehouse", &[u64::from(w_id)]);
            out.int(i64::from(w_id));
            name_and_address(&mut rng, out);
            // w_tax, w_ytd
            out.fixed(rng.uniform(0, 2000), 4).cents(30_000_000).end_row();
        }
    }
}

/// Appends name, two streets, city, state and zip code of a warehouse or district.
pub(super) fn name_and_address(rng: &mut Rng, out: &mut CopyBuf) {
    out.plain_with(|out| strings::push(rng, 6, 10, out));
    address(rng, out);
}

/// Appends two streets, city, state and zip code.
#[inline]
pub(super) fn address(rng: &mut Rng, out: &mut CopyBuf) {
    out.plain_with(|out| strings::push(rng, 10, 20, out))
        .plain_with(|out| strings::push(rng, 10, 20, out))
        .plain_with(|out| strings::push(rng, 10, 20, out))
        .plain_with(|out| strings::push(rng, 2, 2, out))
        .plain_with(|out| strings::push_zip(rng, out));
}
