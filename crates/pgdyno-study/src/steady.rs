//! Studies of a steady state take no faults.

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, Result};
use pgdyno_plan::Order;

/// Refuses a fault in the runs of a study: each would measure an outage beside the steady state that the study compares. `study` is its
/// name with an article, `remedy` says how to measure the fault instead.
///
/// # Errors
/// When the order has a fault.
pub fn admit(study: &str, order: &Order, remedy: &str) -> Result<()> {
    let Some(fault) = &order.fault.kind else { return Ok(()) };
    let error = format!("{study} compares steady states, and takes no --fault {fault}: a fault ends a steady state");
    Err(CommandError::new(Code::Start, error).hint(remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_study_without_a_fault_is_admitted() {
        let mut order = Order::of("tpcb-like");
        admit("a search", &order, "remedy").unwrap();
        order.fault.kind = Some("./failover.sh".parse().unwrap());
        let refused = admit("a search", &order, "remedy").unwrap_err();
        assert!(refused.text().contains("a search compares steady states, and takes no --fault ./failover.sh"));
    }
}
