//! Whether transactions may write.

use pgdyno_workload::Capabilities;

use crate::finding::Finding;

pub(super) fn check(caps: &Capabilities) -> Option<Finding> {
    let remedy = caps.read_only.as_ref()?;
    Some(Finding::passed("read-only", "default_transaction_read_only is on").warning(
        "Loads, drops and workloads that write are refused; those that only read run.",
        format!("For the others, {remedy}."),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn a_session_that_may_not_write_is_a_warning() {
        assert_eq!(check(&Capabilities::default()), None);
        let read_only = Some("ALTER ROLE \"app\" RESET default_transaction_read_only".to_owned());
        let found = check(&Capabilities { read_only, ..Capabilities::default() }).unwrap();
        assert_eq!(found.severity, FindingSeverity::Warning);
        assert!(found.remedy.contains("ALTER ROLE"), "{}", found.remedy);
    }
}
