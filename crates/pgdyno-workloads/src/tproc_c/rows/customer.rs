use pgdyno_workload::{CopyBuf, RowSource};

use super::{LOADED_AT, place, warehouse::address};
use crate::tproc_c::{
    CUSTOMERS, DISTRICTS,
    population::{Seed, last_name},
    strings::{self, LastName, OneInTen},
};

/// 3000 customers for each district.
pub(in crate::tproc_c) struct Customers {
    pub(in crate::tproc_c) seed: Seed,
    pub(in crate::tproc_c) warehouses: u32,
}

impl RowSource for Customers {
    fn chunks(&self) -> u64 {
        u64::from(self.warehouses) * u64::from(DISTRICTS)
    }

    fn write(&self, chunk: u64, out: &mut CopyBuf) {
        let (w_id, d_id) = place(chunk);
        let mut rng = self.seed.rng("customer", &[chunk]);
        let c_load = self.seed.c_load();
        let mut bad_credit = OneInTen::of(CUSTOMERS);
        let mut phone = [0; 16];
        for c_id in 1..=CUSTOMERS {
            // The first thousand have every name once, so that each name exists.
            let name = if c_id <= 1000 { LastName::new(c_id - 1) } else { last_name(&mut rng, c_load) };
            let credit: &[u8] = if bad_credit.pick(&mut rng) { b"BC" } else { b"GC" };
            digits(rng.next_u64(), &mut phone);
            // c_since, c_id, c_w_id, c_d_id, c_payment_cnt, c_delivery_cnt, c_first, c_middle, c_last
            out.timestamp(LOADED_AT)
                .int(i64::from(c_id))
                .int(w_id)
                .int(d_id)
                .int(1)
                .int(0)
                .plain_with(|out| strings::push(&mut rng, 8, 16, out))
                .plain(b"OE")
                .plain(name.as_bytes());
            address(&mut rng, out);
            // c_phone, c_credit, c_credit_lim, c_discount, c_balance, c_ytd_payment, c_data
            out.plain(&phone)
                .plain(credit)
                .cents(5_000_000)
                .fixed(rng.uniform(0, 5000), 4)
                .cents(-1_000)
                .cents(1_000)
                .plain_with(|out| strings::push(&mut rng, 300, 500, out))
                .end_row();
        }
    }
}

/// Draws sixteen digits from 64 bits: 10^16 is below 2^54, so the bias is negligible.
#[inline]
fn digits(bits: u64, out: &mut [u8; 16]) {
    let mut number = bits % 10_000_000_000_000_000;
    for digit in out.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// One row of history for each customer.
pub(in crate::tproc_c) struct Histories {
    pub(in crate::tproc_c) seed: Seed,
    pub(in crate::tproc_c) warehouses: u32,
}

impl RowSource for Histories {
    fn chunks(&self) -> u64 {
        u64::from(self.warehouses) * u64::from(DISTRICTS)
    }

    fn write(&self, chunk: u64, out: &mut CopyBuf) {
        let (w_id, d_id) = place(chunk);
        let mut rng = self.seed.rng("history", &[chunk]);
        for c_id in 1..=CUSTOMERS {
            // h_date, h_c_id, h_c_w_id, h_w_id, h_c_d_id, h_d_id, h_amount, h_data
            out.timestamp(LOADED_AT)
                .int(i64::from(c_id))
                .int(w_id)
                .int(w_id)
                .int(d_id)
                .int(d_id)
                .cents(1_000)
                .plain_with(|out| strings::push(&mut rng, 12, 24, out))
                .end_row();
        }
    }
}
