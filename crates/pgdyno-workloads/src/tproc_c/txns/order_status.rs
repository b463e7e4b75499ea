use super::{Customer, Draw};

/// The inputs of Order-Status (clause 2.6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tproc_c) struct OrderStatus {
    pub(in crate::tproc_c) w_id: i32,
    pub(in crate::tproc_c) d_id: i32,
    pub(in crate::tproc_c) customer: Customer,
}

impl OrderStatus {
    pub(in crate::tproc_c) fn draw(w_id: i32, draw: &mut Draw<'_>) -> Self {
        Self { w_id, d_id: draw.uniform(1, 10), customer: Customer::draw(draw) }
    }
}
