//! Plans of the most expensive statements, as the server would make them now.

use pgdyno_net::AdminError;

use super::session::Session;
use super::traits::ServerTraits;

/// First words of statements that can be explained.
const EXPLAINED: [&str; 7] = ["SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "VALUES"];

/// Returns the plan of each of `statements` as text, one after the other, or why there is none.
pub(super) fn explain(
    session: &mut Session,
    traits: &ServerTraits,
    statements: &[String],
) -> Result<String, AdminError> {
    let mut text = String::new();
    for statement in statements {
        let plan = match order(statement, traits) {
            Some(PlanOrder::Explain(sql)) => session.run(&sql).map(lines),
            // A pooler may give each statement another session.
            Some(PlanOrder::Generic) if session.keeps() => generic_plan(session, statement),
            Some(PlanOrder::Generic) => Ok("no plan: it has parameters, and a pooler is in between".to_owned()),
            None => Ok("no plan: it has none".to_owned()),
        };
        let plan = match plan {
            Err(error) if error.is_lost() => return Err(error),
            plan => plan.unwrap_or_else(|error| format!("no plan: {error}")),
        };
        text += &format!("{}\n\n{plan}\n\n\n", statement.trim());
    }
    Ok(text)
}

fn lines(results: Vec<pgdyno_net::TextRows>) -> String {
    let cells = results.into_iter().flat_map(|rows| rows.rows).flatten().flatten();
    cells.collect::<Vec<_>>().join("\n")
}

/// How the plan of a statement is found.
#[derive(Clone, Debug, PartialEq, Eq)]
enum PlanOrder {
    /// By this query.
    Explain(String),
    /// By preparing it: before PostgreSQL 16 EXPLAIN takes no `$1`.
    Generic,
}

/// Returns how the plan of a statement of `pg_stat_statements` is found, which has `$1` for each of its constants; `None` if it has none.
fn order(statement: &str, traits: &ServerTraits) -> Option<PlanOrder> {
    let first = statement.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
    if !EXPLAINED.contains(&first.as_str()) {
        return None;
    }
    let has_parameters = statement.split('$').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    Some(match (has_parameters, traits.is_at_least(16)) {
        (true, false) => PlanOrder::Generic,
        // Harmless for a statement without parameters.
        (_, true) => PlanOrder::Explain(format!("EXPLAIN (GENERIC_PLAN) {statement}")),
        (false, false) => PlanOrder::Explain(format!("EXPLAIN {statement}")),
    })
}

/// The name of the prepared statement, for as long as it is explained.
const PREPARED: &str = "pgdyno_plan";

/// Returns the plan that a statement has for any values of its parameters.
fn generic_plan(session: &mut Session, statement: &str) -> Result<String, AdminError> {
    session.run("BEGIN; SET LOCAL plan_cache_mode = force_generic_plan")?;
    let plan = explain_prepared(session, statement);
    if plan.as_ref().is_err_and(AdminError::is_lost) {
        return plan;
    }
    session.run("ROLLBACK")?;
    match session.run(&format!("DEALLOCATE {PREPARED}")) {
        Err(error) if error.is_lost() => Err(error),
        // It could not be prepared.
        _ => plan,
    }
}

fn explain_prepared(session: &mut Session, statement: &str) -> Result<String, AdminError> {
    // A comment may end the text.
    session.run(&format!("PREPARE {PREPARED} AS {statement}\n"))?;
    let sql = format!("SELECT cardinality(parameter_types) FROM pg_prepared_statements WHERE name = '{PREPARED}'");
    let parameters = lines(session.run(&sql)?).parse().unwrap_or(0);
    let values = vec!["NULL"; parameters].join(", ");
    let values = if values.is_empty() { values } else { format!("({values})") };
    session.run(&format!("EXPLAIN EXECUTE {PREPARED}{values}")).map(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_explained_depends_on_the_version_and_on_the_statement() {
        let traits = |version| ServerTraits { version, ..ServerTraits::default() };
        let explain = |sql: &str| Some(PlanOrder::Explain(sql.to_owned()));
        assert_eq!(order("select 1", &traits(150_000)), explain("EXPLAIN select 1"));
        assert_eq!(order("select $1", &traits(150_000)), Some(PlanOrder::Generic));
        assert_eq!(order("select $1", &traits(160_000)), explain("EXPLAIN (GENERIC_PLAN) select $1"));
        assert_eq!(order("BEGIN", &traits(160_000)), None);
        assert_eq!(order("SELECT '$' || a FROM t", &traits(130_000)), explain("EXPLAIN SELECT '$' || a FROM t"));
    }
}
