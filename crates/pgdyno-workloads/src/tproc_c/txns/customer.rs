use super::Draw;
use crate::tproc_c::{
    CUSTOMERS,
    population::{last_name, number},
    strings::LastName,
};

/// Selection of a customer: 60 % by last name, 40 % by number (clauses 2.5.1.2, 2.6.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tproc_c) enum Customer {
    Id(i32),
    Name(LastName),
}

impl Customer {
    pub(super) fn draw(draw: &mut Draw<'_>) -> Self {
        if draw.percent(60) {
            Self::Name(last_name(draw.rng, draw.constants.c_last))
        } else {
            Self::Id(customer_id(draw))
        }
    }
}

/// Draws NURand(1023, 1, 3000), or a uniform number.
pub(super) fn customer_id(draw: &mut Draw<'_>) -> i32 {
    number(draw.rng, 1023, CUSTOMERS, draw.constants.c_id)
}
