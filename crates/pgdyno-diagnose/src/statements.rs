//! The clients' statements: which share of their time concerns a table, and by which columns they look rows up.

use pgdyno_results::StatementRecord;
use pgdyno_samples::statements;

use crate::facts::Facts;
use crate::streams;

/// Columns of an index that is proposed, at most.
const COLUMNS_MAX: usize = 3;

/// Returns the share of the statements' time that statements on a table had; `None` if none names it.
pub(crate) fn share_of(facts: &Facts<'_>, table: &str) -> Option<f64> {
    let statements = of_clients(facts);
    let all: f64 = statements.iter().map(|statement| statement.time_ns()).sum();
    let own = statements.iter().filter(|statement| names(&statement.sql, table)).map(|statement| statement.time_ns());
    let own: f64 = own.sum();
    (own > 0.0).then(|| own / all)
}

/// Returns the rows that statements on a table returned or changed, by `pg_stat_statements`; 0 without it.
pub(crate) fn rows_of(facts: &Facts<'_>, table: &str) -> f64 {
    let samples = facts.samples.of(statements::SOURCE);
    let cell = |row: &[String], column| samples.cell(row, column).unwrap_or_default().to_owned();
    let on_table = samples.rows().iter().filter(|(_, row)| names(&cell(row, statements::QUERY), table));
    on_table.filter_map(|(_, row)| cell(row, statements::ROWS).parse::<f64>().ok()).sum()
}

/// Returns the columns by which the most expensive statement on a table looks rows up: those that are equal to something, or else
/// the first that is compared. `None` if that statement reads several tables: its text does not say whose the columns are.
pub(crate) fn filtered_columns(facts: &Facts<'_>, table: &str) -> Option<String> {
    let statements = of_clients(facts);
    let on_table = statements.iter().filter(|statement| names(&statement.sql, table));
    let worst = on_table.max_by(|a, b| a.time_ns().total_cmp(&b.time_ns()))?;
    if is_on_one_table(&worst.sql) { columns_of(&worst.sql) } else { None }
}

/// Returns true if a statement has no join, no subquery and no list of tables.
fn is_on_one_table(sql: &str) -> bool {
    let count = |wanted: &str| words(sql).filter(|word| word.eq_ignore_ascii_case(wanted)).count();
    let mut tables = words(sql)
        .skip_while(|word| !word.eq_ignore_ascii_case("from"))
        .take_while(|word| !word.eq_ignore_ascii_case("where"));
    let changes =
        words(sql).next().is_some_and(|first| ["insert", "update"].iter().any(|word| first.eq_ignore_ascii_case(word)));
    count("join") + count("using") == 0
        && count("select") <= 1
        && count("from") + usize::from(changes) <= 1
        && !tables.any(|word| word == ",")
}

fn of_clients<'a>(facts: &Facts<'a>) -> Vec<&'a StatementRecord> {
    let record = facts.record;
    record.statements.iter().filter(|statement| !streams::is_of_streams(record, statement)).collect()
}

/// Returns true if a statement has a name among its words.
fn names(sql: &str, table: &str) -> bool {
    words(sql).any(|word| word.eq_ignore_ascii_case(table))
}

/// Returns words, numbers and operators; what is quoted is one word.
fn words(sql: &str) -> impl Iterator<Item = &str> {
    let mut rest = sql;
    std::iter::from_fn(move || {
        rest = rest.trim_start();
        let first = rest.chars().next()?;
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | ':');
        let end = match first {
            '\'' => rest[1..].find('\'').map_or(rest.len(), |at| at + 2),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            '<' | '>' | '=' | '!' => rest.find(|c| !matches!(c, '<' | '>' | '=' | '!')).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (word, after) = rest.split_at(end);
        rest = after;
        Some(word)
    })
}

fn columns_of(sql: &str) -> Option<String> {
    let words: Vec<&str> = words(sql).skip_while(|word| !word.eq_ignore_ascii_case("where")).skip(1).collect();
    // A cast is no column, and so no index on one.
    let is_name = |word: &str| word.starts_with(|c: char| c.is_alphabetic() || c == '_') && !word.contains(':');
    let compared = |operators: &'static [&'static str]| {
        let pairs = words.windows(2).filter(move |pair| {
            is_name(pair[0]) && operators.iter().any(|operator| pair[1].eq_ignore_ascii_case(operator))
        });
        pairs.map(|pair| pair[0])
    };
    let mut columns: Vec<&str> = Vec::new();
    for column in compared(&["=", "in"]) {
        if !columns.contains(&column) && !column.eq_ignore_ascii_case("not") {
            columns.push(column);
        }
    }
    if columns.is_empty() {
        columns.extend(compared(&["<", ">", "<=", ">=", "between", "like"]).next());
    }
    columns.truncate(COLUMNS_MAX);
    (!columns.is_empty()).then(|| columns.join(", "))
}

#[cfg(test)]
mod tests {
    use pgdyno_results::LatencyRecord;

    use super::*;
    use crate::fixture::Run;

    fn statement(sql: &str, executed: u64, mean_ms: f64) -> StatementRecord {
        let latency_ns = Some(LatencyRecord { mean: mean_ms * 1e6, ..LatencyRecord::default() });
        StatementRecord { sql: sql.to_owned(), executed, latency_ns, ..StatementRecord::default() }
    }

    #[test]
    fn the_time_of_statements_on_a_table_is_a_share_of_all() {
        let mut run = Run::new();
        run.record.statements = vec![
            statement("UPDATE accounts SET n = n + :d WHERE aid = :aid", 100, 9.0),
            statement("SELECT 1 FROM accounts_old WHERE aid = 1", 100, 1.0),
        ];
        assert_eq!(run.ask(|facts| share_of(facts, "accounts")), Some(0.9));
        assert_eq!(run.ask(|facts| share_of(facts, "branches")), None);
        assert_eq!(run.ask(|facts| filtered_columns(facts, "accounts")).as_deref(), Some("aid"));
    }

    #[test]
    fn columns_of_another_table_are_not_proposed() {
        let columns = |sql: &str| {
            let mut run = Run::new();
            run.record.statements = vec![statement(sql, 100, 1.0)];
            run.ask(|facts| filtered_columns(facts, "t"))
        };
        for sql in [
            "UPDATE t SET n = 1 WHERE a = :a",
            "SELECT n, m FROM t WHERE a = 1 FOR UPDATE",
            "DELETE FROM t WHERE a = 1",
        ] {
            assert_eq!(columns(sql).as_deref(), Some("a"), "{sql}");
        }
        for sql in [
            "SELECT 1 FROM t JOIN u ON u_id = id WHERE b = 1",
            "SELECT 1 FROM t, u WHERE b = 1",
            "SELECT 1 FROM t WHERE a IN (SELECT b FROM u WHERE c = 1)",
            "UPDATE t SET n = 1 FROM u WHERE b = 1",
            "DELETE FROM t USING u WHERE b = 1",
        ] {
            assert_eq!(columns(sql), None, "{sql}");
        }
    }

    #[test]
    fn columns_are_those_of_conditions() {
        let columns = |sql| columns_of(sql).unwrap_or_default();
        assert_eq!(columns("SELECT a FROM t WHERE t.x = $1 AND y = 'a = b' AND z > 3"), "x, y");
        assert_eq!(columns("SELECT a FROM t WHERE made >= :from AND made < :to"), "made");
        assert_eq!(columns("DELETE FROM t WHERE id IN (1, 2)"), "id");
        assert_eq!(columns("SELECT a FROM t WHERE 7 < :x"), "");
        assert_eq!(columns("SELECT a FROM t WHERE id::text = :x"), "");
        assert_eq!(columns("SELECT a FROM t"), "");
    }
}
