use super::Draw;

/// The inputs of Delivery (clause 2.7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tproc_c) struct Delivery {
    pub(in crate::tproc_c) w_id: i32,
    pub(in crate::tproc_c) carrier_id: i32,
}

impl Delivery {
    pub(in crate::tproc_c) fn draw(w_id: i32, draw: &mut Draw<'_>) -> Self {
        Self { w_id, carrier_id: draw.uniform(1, 10) }
    }
}
