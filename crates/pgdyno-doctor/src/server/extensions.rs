//! Extensions that a run can use, or that cost time of their own.

use pgdyno_net::{Admin, AdminError};
use pgdyno_server::ServerFacts;

use super::ask;
use crate::finding::Finding;

/// Libraries that do work for each statement.
const COSTLY: [&str; 5] = ["auto_explain", "pgaudit", "pg_stat_monitor", "pg_qualstats", "pg_show_plans"];

pub(super) fn check(admin: &mut Admin, facts: &ServerFacts) -> Result<Vec<Finding>, AdminError> {
    let libraries = "SELECT current_setting('shared_preload_libraries', true)";
    let row = ask::row(admin, libraries)?;
    let preloaded = row.as_ref().map(|row| ask::text(row, 0));
    let mut found = vec![statements(facts.extensions.contains_key("pg_stat_statements"), preloaded)];
    found.extend(preloaded.and_then(costly));
    Ok(found)
}

fn statements(created: bool, preloaded: Option<&str>) -> Finding {
    let found = |figure: &str| Finding::passed("pg_stat_statements", figure);
    let why = "A run cannot tell which statements took the server's time, buffers and WAL.";
    match (created, preloaded.map(|libraries| libraries.contains("pg_stat_statements"))) {
        (true, _) => found("there"),
        (false, Some(true)) => found("loaded, not in this database").note(why, "CREATE EXTENSION pg_stat_statements;"),
        (false, _) => found("missing").note(
            why,
            "Set shared_preload_libraries = 'pg_stat_statements', restart, then CREATE EXTENSION pg_stat_statements.",
        ),
    }
}

fn costly(preloaded: &str) -> Option<Finding> {
    let named: Vec<_> = preloaded.split(',').map(str::trim).filter(|library| COSTLY.contains(library)).collect();
    if named.is_empty() {
        return None;
    }
    Some(Finding::passed("libraries", named.join(", ")).note(
        "These do work for each statement, which counts as the server's.",
        "Keep them where production has them; leave them out to measure PostgreSQL itself.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FindingSeverity;

    #[test]
    fn the_remedy_is_the_next_step() {
        assert_eq!(statements(true, None).severity, FindingSeverity::Passed);
        assert_eq!(statements(false, Some("pg_stat_statements")).remedy, "CREATE EXTENSION pg_stat_statements;");
        assert!(statements(false, Some("")).remedy.starts_with("Set shared_preload_libraries"));
        assert_eq!(costly("citus, auto_explain").unwrap().figure, "auto_explain");
        assert_eq!(costly("citus"), None);
    }
}
