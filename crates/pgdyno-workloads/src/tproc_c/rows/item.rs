use pgdyno_workload::{CopyBuf, RowSource};

use crate::tproc_c::{ITEMS, population::Seed, strings};

const CHUNKS: u64 = 10;

/// 100,000 items, whatever the number of warehouses.
pub(in crate::tproc_c) struct Items {
    pub(in crate::tproc_c) seed: Seed,
}

impl RowSource for Items {
    fn chunks(&self) -> u64 {
        CHUNKS
    }

    fn write(&self, chunk: u64, out: &mut CopyBuf) {
        let rows = ITEMS / CHUNKS as u32;
        let first = chunk as u32 * rows + 1;
        let mut rng = self.seed.rng("item", &[chunk]);
        let mut original = strings::OneInTen::of(rows);
        for i_id in first..first + rows {
            let is_original = original.pick(&mut rng);
            out.int(i64::from(i_id))
                .int(rng.uniform(1, 10_000))
                .plain_with(|out| strings::push(&mut rng, 14, 24, out))
                .cents(rng.uniform(100, 10_000))
                .plain_with(|out| strings::push_data(&mut rng, 26, 50, is_original, out))
                .end_row();
        }
    }
}
