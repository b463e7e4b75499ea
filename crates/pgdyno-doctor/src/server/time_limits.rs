//! Settings that end statements, transactions or sessions after a time.

use pgdyno_server::ServerFacts;

use crate::finding::Finding;

const LIMITS: [&str; 5] = [
    "statement_timeout",
    "transaction_timeout",
    "lock_timeout",
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
];

pub(super) fn check(facts: &ServerFacts) -> Option<Finding> {
    // Those at their default, which is off, are not among the facts.
    let set = |name: &&str| facts.settings.get(*name).filter(|setting| setting.differs && setting.value != "0");
    let set: Vec<_> = LIMITS.iter().filter_map(|name| Some(format!("{name} = {}", set(name)?.value))).collect();
    if set.is_empty() {
        return Some(Finding::passed("time-limits", "none"));
    }
    Some(Finding::passed("time-limits", set.join(", ")).note(
        "The server cancels what takes longer: under load, transactions of a run fail that would have ended.",
        "Set them to 0 for the role that measures: ALTER ROLE … SET statement_timeout = 0.",
    ))
}

#[cfg(test)]
mod tests {
    use pgdyno_server::EffectiveSetting;

    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn a_limit_that_is_set_is_a_note() {
        let mut facts = ServerFacts::default();
        assert_eq!(check(&facts).unwrap().severity, FindingSeverity::Passed);
        let setting = EffectiveSetting { value: "30s".to_owned(), source: "database".to_owned(), differs: true };
        facts.settings.insert("statement_timeout".to_owned(), setting);
        let found = check(&facts).unwrap();
        assert_eq!((found.severity, found.figure.as_str()), (FindingSeverity::Note, "statement_timeout = 30s"));
    }
}
