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
            Ok(sql) => match session.run(&sql) {
                Ok(results) => lines(results),
                Err(error) if error.is_lost() => return Err(error),
                Err(error) => format!("no plan: {error}"),
            },
            Err(why) => format!("no plan: {why}"),
        };
        text += &format!("{}\n\n{plan}\n\n\n", statement.trim());
    }
    Ok(text)
}

fn lines(results: Vec<pgdyno_net::TextRows>) -> String {
    let cells = results.into_iter().flat_map(|rows| rows.rows).flatten().flatten();
    cells.collect::<Vec<_>>().join("\n")
}

/// Returns the query for the plan of a statement of `pg_stat_statements`, with `$1` for each of its constants.
fn order(statement: &str, traits: &ServerTraits) -> Result<String, &'static str> {
    let first = statement.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
    if !EXPLAINED.contains(&first.as_str()) {
        return Err("it has none");
    }
    let has_parameters = statement.split('$').skip(1).any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    match (has_parameters, traits.is_at_least(16)) {
        (true, false) => Err("before PostgreSQL 16 only statements without parameters can be explained"),
        // Harmless for a statement without parameters.
        (_, true) => Ok(format!("EXPLAIN (GENERIC_PLAN) {statement}")),
        (false, false) => Ok(format!("EXPLAIN {statement}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_explained_depends_on_the_version_and_on_the_statement() {
        let traits = |version| ServerTraits { version, ..ServerTraits::default() };
        assert_eq!(order("select 1", &traits(150_000)).unwrap(), "EXPLAIN select 1");
        assert!(order("select $1", &traits(150_000)).is_err());
        assert_eq!(order("select $1", &traits(160_000)).unwrap(), "EXPLAIN (GENERIC_PLAN) select $1");
        assert_eq!(order("BEGIN", &traits(160_000)), Err("it has none"));
        assert_eq!(order("SELECT '$' || a FROM t", &traits(130_000)).unwrap(), "EXPLAIN SELECT '$' || a FROM t");
    }
}
