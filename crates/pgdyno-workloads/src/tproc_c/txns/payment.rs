use super::{Customer, Draw};

/// The inputs of Payment (clause 2.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tproc_c) struct Payment {
    pub(in crate::tproc_c) w_id: i32,
    pub(in crate::tproc_c) d_id: i32,
    pub(in crate::tproc_c) c_w_id: i32,
    pub(in crate::tproc_c) c_d_id: i32,
    pub(in crate::tproc_c) customer: Customer,
    /// Hundredths: 1.00 to 5,000.00.
    pub(in crate::tproc_c) amount_cents: i32,
}

impl Payment {
    pub(in crate::tproc_c) fn draw(w_id: i32, draw: &mut Draw<'_>) -> Self {
        let d_id = draw.uniform(1, 10);
        // 85 % pay at their own warehouse, 15 % at another one (clause 2.5.1.2).
        let (c_w_id, c_d_id) = if draw.percent(85) || draw.warehouses == 1 {
            (w_id, d_id)
        } else {
            (draw.remote_warehouse(w_id), draw.uniform(1, 10))
        };
        Self { w_id, d_id, c_w_id, c_d_id, customer: Customer::draw(draw), amount_cents: draw.uniform(100, 500_000) }
    }
}
