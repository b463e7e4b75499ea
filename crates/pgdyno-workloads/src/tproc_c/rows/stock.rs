use pgdyno_workload::{CopyBuf, RowSource};

use super::place;
use crate::tproc_c::{DISTRICTS, ITEMS, population::Seed, strings};

/// The stock of every item in every warehouse; a chunk holds a tenth of a warehouse's items.
pub(in crate::tproc_c) struct Stocks {
    pub(in crate::tproc_c) seed: Seed,
    pub(in crate::tproc_c) warehouses: u32,
}

/// Characters in each of the ten `S_DIST_xx`.
const DIST_LEN: usize = 24;

impl RowSource for Stocks {
    fn chunks(&self) -> u64 {
        u64::from(self.warehouses) * u64::from(DISTRICTS)
    }

    fn write(&self, chunk: u64, out: &mut CopyBuf) {
        let (w_id, tenth) = place(chunk);
        let rows = ITEMS / DISTRICTS;
        let first = (tenth - 1) * i64::from(rows) + 1;
        let mut rng = self.seed.rng("stock", &[chunk]);
        let mut original = strings::OneInTen::of(rows);
        let mut dists = [0; DIST_LEN * 10];
        for i_id in first..first + i64::from(rows) {
            let is_original = original.pick(&mut rng);
            strings::fill(&mut rng, &mut dists);
            // s_i_id, s_w_id, s_ytd, s_quantity, s_order_cnt, s_remote_cnt
            out.int(i_id).int(w_id).int(0).int(rng.uniform(10, 100)).int(0).int(0);
            for dist in dists.chunks(DIST_LEN) {
                out.plain(dist);
            }
            out.plain_with(|out| strings::push_data(&mut rng, 26, 50, is_original, out)).end_row();
        }
    }
}
