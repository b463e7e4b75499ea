//! Warnings before a run: which clients will wait for each other.

use super::{
    judge::{Rules, TERMINALS},
    profile::Profile,
};

/// Returns the warnings for so many clients, whose home warehouses are dealt out (`--all-warehouses`) or drawn.
pub(super) fn advice(rules: Rules, clients: u32, are_dealt: bool) -> Vec<String> {
    let mut all = Vec::new();
    let Rules { profile, warehouses, .. } = rules;
    let per_warehouse = if rules.waits { TERMINALS } else { 1 };
    if clients > warehouses.saturating_mul(per_warehouse) {
        let home = if warehouses == 1 { "home warehouse" } else { "home warehouses" };
        let rule = match rules.waits {
            true => "the standard has ten terminals for each warehouse",
            false => "the usual rule is 4 to 5 warehouses for each client",
        };
        all.push(format!(
            "{clients} clients share {warehouses} {home} (more -w): they wait for each other's row locks; {rule}"
        ));
    } else if profile == Profile::HammerDb && !are_dealt && warehouses > 1 && is_meeting_likely(clients, warehouses) {
        all.push(format!(
            "the {clients} clients draw their home warehouses (--all-warehouses deals them out): several may share one while \
             others idle, as HammerDB's virtual users do"
        ));
    }
    all
}

/// Returns true if two of the clients draw the same home at least every second time.
fn is_meeting_likely(clients: u32, warehouses: u32) -> bool {
    let warehouses = f64::from(warehouses);
    let mut apart = 1.0;
    for before in 0..clients {
        apart *= 1.0 - f64::from(before) / warehouses;
        if apart <= 0.5 {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(profile: Profile, waits: bool, warehouses: u32, clients: u32) -> String {
        advice(Rules { profile, waits, warehouses }, clients, false).join("\n")
    }

    #[test]
    fn clients_that_outnumber_their_warehouses_are_warned_of() {
        for profile in [Profile::HammerDb, Profile::Spec] {
            assert!(said(profile, false, 1, 2).starts_with("2 clients share 1 home warehouse (more -w"));
            assert!(said(profile, true, 1, 11).ends_with("the standard has ten terminals for each warehouse"));
            assert_eq!(said(profile, true, 1, 10), "");
            assert_eq!(said(profile, false, 1, 1), "");
        }
        assert_eq!(said(Profile::Spec, false, 4, 4), "");
    }

    #[test]
    fn drawn_homes_are_reported_where_two_probably_meet() {
        assert!(said(Profile::HammerDb, false, 4, 4).contains("several may share one"));
        assert!(said(Profile::HammerDb, false, 100, 13).contains("several may share one"));
        assert_eq!(said(Profile::HammerDb, false, 100, 12), "");
        // Dealing them out keeps clients apart, if there are enough.
        let dealt = |clients| advice(Rules { profile: Profile::HammerDb, waits: false, warehouses: 4 }, clients, true);
        assert_eq!((dealt(4).len(), dealt(5).len()), (0, 1));
    }
}
