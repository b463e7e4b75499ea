//! Sessions wait for something that no other rule knows.

use pgdyno_results::FindingRecord;

use super::waited;
use crate::facts::Facts;
use crate::waits::Class;

pub(super) fn look(facts: &Facts<'_>) -> Option<FindingRecord> {
    let top = facts.waits.of_class(Class::Other).next().map(|(name, _)| name.to_owned())?;
    waited(facts, "other-waits", Class::Other, &format!("waiting for {top} and the like"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Run;

    #[test]
    fn what_is_not_known_is_reported_by_its_name() {
        let found = Run::new().waits(&[("Timeout", "PgSleep", 2.0), ("Extension", "Extension", 0.5)]).finds(look);
        assert!(found.text.contains("waiting for Timeout:PgSleep and the like"), "{found:?}");
    }

    #[test]
    fn what_is_known_is_not_reported_twice() {
        Run::new().waits(&[("Lock", "tuple", 2.0), ("CPU", "CPU", 1.0), ("IPC", "SyncRep", 1.0)]).finds_nothing(look);
    }
}
