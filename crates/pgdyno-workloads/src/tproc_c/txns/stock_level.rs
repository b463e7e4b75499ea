use super::Draw;

/// The inputs of Stock-Level (clause 2.8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tproc_c) struct StockLevel {
    pub(in crate::tproc_c) w_id: i32,
    pub(in crate::tproc_c) d_id: i32,
    pub(in crate::tproc_c) threshold: i32,
}

impl StockLevel {
    /// `d_id` is the terminal's own.
    pub(in crate::tproc_c) fn draw(w_id: i32, d_id: i32, draw: &mut Draw<'_>) -> Self {
        Self { w_id, d_id, threshold: draw.uniform(10, 20) }
    }
}
