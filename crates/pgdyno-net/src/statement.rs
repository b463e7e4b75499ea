//! Statements in messages.

/// Length of the part of a statement that an error shows.
const SQL_EXCERPT_CHARS: usize = 200;

/// Returns the beginning of a statement, on one line.
pub(crate) fn shorten(sql: &str) -> String {
    let line = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SQL_EXCERPT_CHARS) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// Returns the command of a statement, similar to its command tag: `VACUUM`, `CREATE TABLE`.
pub(crate) fn command(sql: &str) -> String {
    let mut words = sql.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default().to_ascii_uppercase();
    match (first.as_str(), words.next()) {
        ("WITH", _) => "SELECT".to_owned(),
        ("CREATE" | "ALTER" | "DROP" | "LOCK", Some(second)) => format!("{first} {}", second.to_ascii_uppercase()),
        ("", _) => "a statement".to_owned(),
        _ => first,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_statement_is_shown_by_its_beginning() {
        assert_eq!(shorten("select\n   1"), "select 1");
        let long = shorten(&"ü".repeat(300));
        assert_eq!(long.chars().count(), SQL_EXCERPT_CHARS + 1);
    }

    #[test]
    fn a_statement_is_named_by_its_command() {
        for (sql, name) in [
            ("vacuum pgbench_branches", "VACUUM"),
            ("create table pgbench_accounts (aid int)", "CREATE TABLE"),
            ("  select pg_advisory_lock(1, 2)", "SELECT"),
            ("with violation as materialized (select 1) select 2", "SELECT"),
            ("begin; lock table t", "BEGIN"),
            ("checkpoint", "CHECKPOINT"),
            ("", "a statement"),
        ] {
            assert_eq!(command(sql), name, "{sql}");
        }
    }
}
