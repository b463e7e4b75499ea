//! Warnings before a run: which clients will wait for each other.

use super::{
    judge::{Rules, TERMINALS},
    profile::Profile,
};

/// Returns the warnings for so many clients with a home warehouse each.
pub(super) fn advice(rules: Rules, clients: u32) -> Vec<String> {
    let mut all = Vec::new();
    let (per_warehouse, rule) = match rules.waits {
        true => (TERMINALS, "the standard has ten terminals for each warehouse"),
        false => {
            (1, "use at least as many warehouses as clients (the field's rule is 4 to 5 for each), or --all-warehouses")
        }
    };
    let Rules { profile, warehouses, .. } = rules;
    if clients > warehouses.saturating_mul(per_warehouse) {
        all.push(format!(
            "{clients} clients share {warehouses} home warehouse{}: they will wait for each other's row locks; {rule}",
            if warehouses == 1 { "" } else { "s" },
        ));
    }
    if profile == Profile::HammerDb && warehouses > 1 && is_meeting_likely(clients, warehouses) {
        all.push(format!(
            "each of the {clients} clients draws its home warehouse, as HammerDB's virtual users do: several may share \
             one while others idle; --all-warehouses deals them out"
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
        advice(Rules { profile, waits, warehouses }, clients).join("\n")
    }

    #[test]
    fn clients_that_outnumber_their_warehouses_are_warned_of() {
        for profile in [Profile::HammerDb, Profile::Spec] {
            assert!(said(profile, false, 1, 2).starts_with("2 clients share 1 home warehouse: they"));
            assert!(said(profile, true, 1, 11).ends_with("the standard has ten terminals for each warehouse"));
            assert_eq!(said(profile, true, 1, 10), "");
            assert_eq!(said(profile, false, 1, 1), "");
        }
        assert_eq!(said(Profile::Spec, false, 4, 4), "");
    }

    #[test]
    fn drawn_homes_are_told_where_two_probably_meet() {
        assert!(said(Profile::HammerDb, false, 4, 4).contains("several may share one"));
        assert!(said(Profile::HammerDb, false, 100, 13).contains("several may share one"));
        assert_eq!(said(Profile::HammerDb, false, 100, 12), "");
    }
}
