//! The directory of a fitted workload.

use std::collections::BTreeMap;

use pgdyno_script::{Collect, Command, CommandKind, ScriptText, Sql, VariableNames, parse_with_lists};
use pgdyno_text::{brief, units};
use pgdyno_workload::FIDELITY_FILE;
use serde::{Deserialize, Serialize};

use super::skew::{self, KeySkew};
use super::{Fitted, wording};
use crate::form::{ApplicationConnections, CaptureHead, CaptureRecord, CapturedStatement};
use crate::same::statement_key;
use crate::tokens::{Token, significant};

/// Version of the form.
const FORMAT_VERSION: u32 = 1;

/// The most sessions that a run has by default: applications keep many idle ones.
const SESSIONS_MAX: u64 = 100;

/// The lowest rate, in transactions a second.
const RATE_MIN: f64 = 0.001;

/// The most minutes whose pace is written: a week.
const MINUTES_MAX: usize = 7 * 24 * 60;

/// Steps of the rate in a line.
const STEPS_OF_LINE: usize = 15;

/// The greatest weight of a script.
const WEIGHT_MAX: f64 = 1e6;

/// How often a transaction of several statements is tried: with random values a deadlock may occur that the application avoids.
const TRIES_MAX: u32 = 10;

/// What a fitted workload represents: the statements of the capture, and what they do on the copy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fidelity {
    /// Version of this form.
    pub format_version: u32,
    /// The captured database.
    pub database: String,
    /// The version of the captured server.
    pub server_version: String,
    /// When the capture began, in UTC.
    pub captured_at: String,
    /// The length of its window.
    pub window_s: f64,
    /// `shared_buffers` of the captured server, as it prints them; absent if the capture does not have them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared_buffers: Option<String>,
    /// The share of the captured time that statements with rows and blocks within a factor of 2 have.
    pub representative_time_share: f64,
    /// The same share of the captured calls.
    pub representative_calls_share: f64,
    /// The statements that were tried, from the one that took most time.
    pub statements: Vec<FittedStatement>,
    /// The transactions of several statements that the log of the captured server has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transactions: Vec<FittedTransaction>,
}

/// A transaction of several statements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FittedTransaction {
    /// The file of its script.
    pub script: String,
    /// The files of its statements, in their order.
    pub statements: Vec<String>,
    /// Transactions a second.
    pub calls_per_s: f64,
}

/// A statement of the capture, and what it does on the copy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FittedStatement {
    /// The file of its script.
    pub script: String,
    /// Its text in the capture.
    pub text: String,
    /// Its share of the time of all captured statements but the ends of transactions and monitoring.
    pub time_share: f64,
    /// Its share of their calls.
    pub calls_share: f64,
    /// Captured calls a second.
    pub calls_per_s: f64,
    /// Captured time of a call, in milliseconds. Hardware differs: it is no measure of fidelity.
    pub captured_ms_per_call: f64,
    /// Captured rows of a call.
    pub captured_rows_per_call: f64,
    /// Captured blocks of a call.
    pub captured_blocks_per_call: f64,
    /// Captured blocks of a call that were read into shared buffers. They depend on the size of these.
    #[serde(default)]
    pub captured_read_blocks_per_call: f64,
    /// Captured blocks of temporary files that a call wrote.
    pub captured_temp_blocks_per_call: f64,
    /// Captured WAL of a call, in bytes.
    pub captured_wal_bytes_per_call: f64,
    /// Its text as scripts execute it; several if the keys of new rows come from elsewhere in transactions. None if it was left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub executed: Vec<String>,
    /// Rows of a call on the copy; absent if it was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_per_call: Option<f64>,
    /// Blocks of a call on the copy; absent if it was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks_per_call: Option<f64>,
    /// Whether rows and blocks of a call are within a factor of 2 of the captured ones.
    pub is_representative: bool,
    /// Where the values of its parameters come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<String>,
    /// How it uses the keys of a unique index, if it looks up one row by them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<KeySkew>,
    /// Why it was left out; absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

impl FittedStatement {
    pub(super) fn new(nth: usize, statement: &CapturedStatement) -> Self {
        Self {
            script: format!("{nth:02}-{}.sql", name(&statement.text)),
            text: statement.text.clone(),
            time_share: 0.0,
            calls_share: 0.0,
            calls_per_s: 0.0,
            captured_ms_per_call: statement.per_call(statement.exec_time_ms),
            captured_rows_per_call: statement.per_call(statement.rows),
            captured_blocks_per_call: statement.per_call(statement.blocks()),
            captured_read_blocks_per_call: statement.per_call(statement.shared_blks_read),
            captured_temp_blocks_per_call: statement.per_call(statement.temp_blks_written),
            captured_wal_bytes_per_call: statement.per_call(statement.wal_bytes),
            executed: Vec::new(),
            rows_per_call: None,
            blocks_per_call: None,
            is_representative: false,
            values: None,
            keys: None,
            left_out: None,
        }
    }

    /// Adds a text as which scripts execute it.
    pub(super) fn add_text(&mut self, text: String) {
        let key = statement_key(&text);
        if self.executed.iter().all(|known| statement_key(known) != key) {
            self.executed.push(text);
        }
    }
}

impl Fidelity {
    pub(super) fn new(capture: &CaptureRecord, statements: Vec<FittedStatement>) -> Self {
        let counted: Vec<_> = capture.statements.iter().filter(|statement| statement.kind.is_load()).collect();
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let time: f64 = counted.iter().map(|statement| statement.exec_time_ms).sum();
        let calls: f64 = counted.iter().map(|statement| statement.calls).sum();
        let with_shares = |fitted: FittedStatement| {
            let captured = counted.iter().find(|statement| statement.text == fitted.text);
            let of = |counter: fn(&CapturedStatement) -> f64| captured.map_or(0.0, |statement| counter(statement));
            FittedStatement {
                time_share: share(of(|statement| statement.exec_time_ms), time),
                calls_share: share(of(|statement| statement.calls), calls),
                calls_per_s: share(of(|statement| statement.calls), capture.head.window.seconds),
                ..fitted
            }
        };
        let statements: Vec<_> = statements.into_iter().map(with_shares).collect();
        let sum = |of: fn(&FittedStatement) -> f64| {
            statements
                .iter()
                .filter(|statement| statement.is_representative)
                .map(of)
                .fold(0.0, |sum, share| sum + share)
        };
        Self {
            format_version: FORMAT_VERSION,
            database: capture.head.server.database.clone(),
            server_version: capture.head.server.version.clone(),
            captured_at: capture.head.window.began_at.clone(),
            window_s: capture.head.window.seconds,
            shared_buffers: skew::shared_buffers(capture).map(str::to_owned),
            representative_time_share: sum(|statement| statement.time_share),
            representative_calls_share: sum(|statement| statement.calls_share),
            statements,
            transactions: Vec::new(),
        }
    }
}

/// Returns the name of a script: what it does, and with which table.
pub(crate) fn name(text: &str) -> String {
    let all = significant(text);
    let verb = ["insert", "update", "delete", "merge"].into_iter().find(|verb| all.first().is_some_and(|t| t.is(verb)));
    let verb = verb.unwrap_or("select");
    let after = table(&all).map_or(&all[..0], |at| &all[at..]);
    let named = after.iter().take_while(|t| matches!(t, Token::Word(_) | Token::Quoted(_) | Token::Other("."))).take(3);
    let names: Vec<_> = named.filter(|token| **token != Token::Other(".")).collect();
    // A schema is in front of the table.
    let is_qualified = after.get(1) == Some(&Token::Other("."));
    let table = names.get(usize::from(is_qualified)).map_or("", |token| token.text());
    let plain: String = table.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect();
    if plain.is_empty() { verb.to_owned() } else { format!("{verb}-{plain}") }
}

/// Returns where the first table is named that is not within parentheses.
fn table(all: &[Token<'_>]) -> Option<usize> {
    let mut depth = 0_i32;
    let at = all.iter().enumerate().position(|(at, token)| {
        match token {
            Token::Other("(") => depth += 1,
            Token::Other(")") => depth -= 1,
            _ => {}
        }
        let is_before = ["from", "into", "update"].iter().any(|word| token.is(word));
        // `is distinct from` compares.
        let compares = at > 0 && all[at - 1].is("distinct");
        depth == 0 && is_before && !compares
    })?;
    Some(at + 1 + usize::from(all.get(at + 1).is_some_and(|token| token.is("only"))))
}

/// Returns the script of a statement whose parameters are the columns of a list of values, or why it cannot be one. The text may come from
/// anyone, and the lexers of PostgreSQL, of this crate and of scripts may differ: the script is parsed as a run parses it, and must be one
/// statement with these parameters and nothing else.
pub(super) fn script(text: &str, list: &str) -> Result<String, String> {
    let has_values = wording::parameters(text) > 0;
    let draw = if has_values { format!("\\values {list}\n") } else { String::new() };
    let script = format!("{draw}{};\n", wording::with_variables(text, |number| format!(":p{number}")));
    let mut places = Vec::new();
    let wanted = wording::with_variables(text, |number| {
        places.push(format!("p{number}"));
        format!("${}", places.len())
    });
    let unlike = || "scripts have another meaning for a part of its text".to_owned();
    let mut names = VariableNames::new();
    let source = ScriptText { name: "script", text: script.as_bytes() };
    let parsed = parse_with_lists(&source, &mut names, &[list.to_owned()]).map_err(|_| unlike())?;
    let sql = match &parsed.commands[..] {
        [Command { kind: CommandKind::Values(_), .. }, Command { kind: CommandKind::Sql(sql), .. }] if has_values => {
            sql
        }
        [Command { kind: CommandKind::Sql(sql), .. }] if !has_values => sql,
        _ => return Err(unlike()),
    };
    if parsed.check_extended().is_err() {
        return Err("it has more parameters than a script may have (255)".to_owned());
    }
    if is_sent(sql, &names, &wanted, &places) { Ok(script) } else { Err(unlike()) }
}

/// Returns true if a run sends this one statement with these variables as its parameters, and nothing else.
fn is_sent(sql: &Sql, names: &VariableNames, wanted: &str, variables: &[String]) -> bool {
    let sent = sql.extended.text.trim_ascii_end();
    let is_text = sent.strip_suffix(b";").unwrap_or(sent) == wanted.as_bytes();
    let wanted = variables.iter().map(|name| names.find(name.as_bytes()));
    is_text && wanted.eq(sql.extended.params.iter().copied().map(Some)) && sql.statements == 1
}

/// A statement of a script, and what a run sends for it.
#[derive(Clone, Debug, Default)]
pub(super) struct ScriptSql {
    pub(super) text: String,
    /// The text with the places of its variables.
    pub(super) sent: String,
    /// These variables.
    pub(super) variables: Vec<String>,
    /// The prefix of the variables that its row sets, if it sets any (`\aset`).
    pub(super) collects: Option<String>,
}

impl ScriptSql {
    /// Returns true if a run sets these variables, and no others.
    fn collects(&self, sql: &Sql) -> bool {
        match (&sql.collect, &self.collects) {
            (Collect::Nothing, None) => true,
            (Collect::Aset { prefix }, Some(wanted)) => prefix == wanted.as_bytes(),
            _ => false,
        }
    }
}

/// What a script of several statements is: one draw from each of the lists, variables that are set, and these statements between BEGIN
/// and COMMIT.
pub(super) struct ScriptForm<'a> {
    pub(super) lists: &'a [String],
    /// The number of variables.
    pub(super) sets: usize,
    pub(super) begin: &'a str,
    pub(super) statements: &'a [ScriptSql],
}

impl ScriptForm<'_> {
    /// Returns true if a run reads this in the text, and nothing else.
    pub(super) fn matches(&self, text: &str) -> bool {
        let mut names = VariableNames::new();
        let source = ScriptText { name: "script", text: text.as_bytes() };
        let Ok(parsed) = parse_with_lists(&source, &mut names, self.lists) else { return false };
        let Some((draws, all)) = parsed.commands.split_at_checked(self.lists.len()) else { return false };
        let Some((sets, all)) = all.split_at_checked(self.sets) else { return false };
        let draws_all = draws.iter().all(|command| matches!(command.kind, CommandKind::Values(_)));
        let sets_all = sets.iter().all(|command| matches!(command.kind, CommandKind::Set(_)));
        let edge = |sent: &str| ScriptSql { sent: sent.to_owned(), ..ScriptSql::default() };
        let (begin, commit) = (edge(self.begin), edge("COMMIT"));
        let wanted: Vec<_> = [&begin].into_iter().chain(self.statements).chain([&commit]).collect();
        let is_wanted = |(command, wanted): (&Command, &&ScriptSql)| match &command.kind {
            CommandKind::Sql(sql) => is_sent(sql, &names, &wanted.sent, &wanted.variables) && wanted.collects(sql),
            _ => false,
        };
        let are_wanted = all.len() == wanted.len() && all.iter().zip(&wanted).all(is_wanted);
        draws_all && sets_all && are_wanted && parsed.check_extended().is_ok()
    }
}

/// A script of several statements.
#[derive(Debug)]
pub(super) struct TransactionScript {
    pub(super) text: String,
    /// Names and queries of the lists of values that it has beside those of its statements.
    pub(super) values: Vec<(String, String)>,
    pub(super) calls: f64,
    pub(super) about: FittedTransaction,
}

/// Returns the files of the directory.
pub(super) fn files(
    capture: &CaptureRecord,
    fitted: &[Fitted],
    transactions: &[TransactionScript],
    fidelity: &Fidelity,
) -> BTreeMap<String, String> {
    let statements: Vec<_> = fitted.iter().filter_map(|one| Some((&one.about.script, one.script.as_ref()?))).collect();
    let single = statements.iter().map(|(file, script)| (*file, &script.text, script.calls));
    let several = transactions.iter().map(|script| (&script.about.script, &script.text, script.calls));
    let scripts: Vec<_> = single.chain(several).collect();
    let mut files: BTreeMap<String, String> =
        scripts.iter().map(|(file, text, _)| ((*file).clone(), (*text).clone())).collect();
    let head = &capture.head;
    let calls: f64 = scripts.iter().map(|(_, _, calls)| calls).sum();
    let mut toml = format!(
        "# Made by `pgdyno fit` from {} of {} on {}. docs/capture.md describes it.\n\
         # The values of parameters are in the schema pgdyno_values of the copy.\n\
         summary = {}\n\n[data]\nexisting = true\n",
        brief::duration(head.window.seconds),
        one_line(&head.server.database),
        one_line(&head.window.began_at),
        quoted(&format!("{} of {}", units::plural(statements.len() as u64, "statement"), head.server.database)),
    );
    let values = statements.iter().filter_map(|(_, script)| script.values.as_ref());
    let further: BTreeMap<_, _> = transactions.iter().flat_map(|script| &script.values).cloned().collect();
    for (name, sql) in values.map(|(name, sql)| (name, sql)).chain(&further) {
        toml += &format!("\n[[values]]\nname = {}\nsql = {}\n", quoted(name), quoted(sql));
    }
    for (file, _, of_script) in &scripts {
        let weight = (of_script / calls.max(1.0) * WEIGHT_MAX).round();
        // A statement without calls of its own is executed in transactions alone.
        let weight = if *of_script > 0.0 { weight.max(1.0) } else { 0.0 };
        toml += &format!("\n[[script]]\nfile = {}\nweight = {weight:.0}\n", quoted(file));
    }
    toml += &format!(
        "\n# The captured number of sessions and the captured pace, as an open loop. -c, -M and -R replace them: -R 3x is three times the\n\
         # pace, and with -R none each client works as fast as it can.\n\
         [run]\nclients = {}\nmode = \"extended\"\nrate_per_s = {:.3}\n",
        sessions(&head.connections),
        (calls / head.window.seconds.max(1.0)).max(RATE_MIN)
    );
    toml += &rate_steps(head);
    if !transactions.is_empty() {
        toml += &format!("max_tries = {TRIES_MAX}\n");
    }
    files.insert("workload.toml".to_owned(), toml);
    let fidelity = serde_json::to_string_pretty(fidelity).unwrap_or_default();
    files.insert(FIDELITY_FILE.to_owned(), format!("{fidelity}\n"));
    files
}

/// Returns the pace of each captured minute, as far as it is known.
fn rate_steps(head: &CaptureHead) -> String {
    let minutes = &head.transactions_by_minute;
    let mean = minutes.iter().sum::<f64>() / minutes.len().max(1) as f64;
    if mean <= 0.0 || minutes.len() > MINUTES_MAX {
        return String::new();
    }
    let steps: Vec<_> = minutes.iter().map(|minute| format!("{:.3}", minute / mean)).collect();
    let lines: Vec<_> = steps.chunks(STEPS_OF_LINE).map(|line| line.join(", ")).collect();
    let mut toml = String::new();
    if let Some(peak) = head.peak() {
        toml += &format!("# The busiest minute had {peak:.1} times this pace: -R {peak:.1}x offers it all the time.\n");
    }
    toml += "# The pace of each captured minute, as times rate_per_s. A run offers the mean; with --rate-steps it follows the minutes, and with\n\
             # --rate-steps=10s it takes 10 s for each of them.\n";
    toml += &format!(
        "rate_steps = [\n    {},\n]\nrate_step = \"1min\"\nfollow_rate_steps = false\n",
        lines.join(",\n    ")
    );
    toml
}

/// Returns the number of sessions that a run has: those that the applications had, as far as a run needs them.
fn sessions(connections: &[ApplicationConnections]) -> u64 {
    connections.iter().map(|one| one.connections_max).fold(0, u64::saturating_add).clamp(1, SESSIONS_MAX)
}

/// Returns a text as a TOML string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out += &format!("\\u{:04X}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Returns a text for a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_named_by_what_they_do() {
        for (text, wanted) in [
            ("select * from shop.orders o where id = $1", "select-orders"),
            ("SELECT count(*) FROM \"Order Items\"", "select-OrderItems"),
            ("insert into orders values ($1)", "insert-orders"),
            ("update only orders set a = $1", "update-orders"),
            ("with a as (select 1) select * from a", "select-a"),
            ("select $1", "select"),
            ("select extract(year from at) from t where a is distinct from b", "select-t"),
            ("delete from t where id = $1", "delete-t"),
        ] {
            assert_eq!(name(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_script_draws_the_values_of_its_parameters() {
        let text = script("select * from t where a = $1 and b > $2::date or a = $1", "s1").unwrap();
        assert_eq!(text, "\\values s1\nselect * from t where a = :p1 and b > :p2::date or a = :p1;\n");
        assert_eq!(script("select 1", "s1").unwrap(), "select 1;\n");
        assert_eq!(script("select tags[$1:$2] from t", "s1").unwrap(), "\\values s1\nselect tags[:p1 : :p2] from t;\n");
    }

    #[test]
    fn a_text_that_scripts_read_otherwise_is_none() {
        for text in [
            "select length($a0$ $a:client_id$) -- $a0$), (array[1,2])[1:e'\\' \n\\shell touch x\n'::int] from kv",
            "select length($a0$ $a:client_id$) ; create table pwned(i int) ; -- $a0$)",
            "select \"Ord:Id\" from t",
            "select 'x:y', $1",
            "select 1; select 2",
            "select 1 \\gset",
            "select [x:p1$$ + length('$$ \n\\shell touch x')]",
        ] {
            assert!(script(text, "s1").is_err(), "{text}");
        }
        let many = (1..=300).map(|number| format!("${number}")).collect::<Vec<_>>().join(", ");
        assert!(script(&format!("select * from t where a in ({many})"), "s1").unwrap_err().contains("255"));
    }

    #[test]
    fn a_transaction_is_its_statements_and_nothing_else() {
        let of = |text: &str, sent: &str, variables: &[&str]| ScriptSql {
            text: text.to_owned(),
            sent: sent.to_owned(),
            variables: variables.iter().map(|name| (*name).to_owned()).collect(),
            collects: None,
        };
        let is = |statements: &[ScriptSql]| {
            let all: String = statements.iter().map(|sql| format!("{};\n", sql.text)).collect();
            let form = ScriptForm { lists: &["s1".to_owned()], sets: 1, begin: "BEGIN", statements };
            form.matches(&format!("\\values s1 t1_\n\\set r1_id :t1_p1\nBEGIN;\n{all}COMMIT;\n"))
        };
        let select = || of("select :t1_p1", "select $1", &["t1_p1"]);
        assert!(is(&[select(), of("select f(:t1_p2, :t1_p1)", "select f($1, $2)", &["t1_p2", "t1_p1"])]));
        assert!(!is(&[select(), of("select :t1_p2", "select $1", &["t1_p1"])]), "another variable");
        let row =
            ScriptSql { collects: Some("r1_".to_owned()), ..of("select 1 as id \\aset r1_", "select 1 as id", &[]) };
        let returns = |row: &ScriptSql| {
            let form = ScriptForm { lists: &[], sets: 0, begin: "BEGIN", statements: std::slice::from_ref(row) };
            form.matches(&format!("BEGIN;\n{}\nCOMMIT;\n", row.text))
        };
        assert!(returns(&row) && !returns(&ScriptSql { collects: None, ..row.clone() }));
        assert!(!returns(&ScriptSql { collects: Some("x".to_owned()), ..row }));
        // Each is one statement by itself, or none at all.
        for text in [
            "select 1; select 2",
            "select (1",
            "select 1 \\gset",
            "select 1\n\\shell touch x\n",
            "select '",
            "select :x",
        ] {
            assert!(!is(&[select(), of(text, text, &[]), select()]), "{text}");
        }
    }

    #[test]
    fn the_pace_of_each_minute_is_written() {
        let of = |minutes: &[f64]| {
            rate_steps(&CaptureHead { transactions_by_minute: minutes.to_vec(), ..CaptureHead::default() })
        };
        let toml = of(&[600.0, 1200.0, 0.0, 3000.0]);
        let keys: Vec<_> = toml.lines().filter(|line| !line.starts_with('#')).collect();
        let wanted = [
            "rate_steps = [",
            "    0.500, 1.000, 0.000, 2.500,",
            "]",
            "rate_step = \"1min\"",
            "follow_rate_steps = false",
        ];
        assert_eq!(keys, wanted);
        assert!(toml.contains("# The busiest minute had 2.5 times this pace: -R 2.5x"), "{toml}");
        assert_eq!(of(&[1.0; 40]).lines().filter(|line| line.ends_with("1.000,")).count(), 3);
        for none in [&[][..], &[0.0, 0.0], &[1.0; MINUTES_MAX + 1]] {
            assert_eq!(of(none), "");
        }
    }

    #[test]
    fn names_of_others_are_quoted() {
        assert_eq!(quoted("a\"b\\c\nd"), "\"a\\\"b\\\\c\\u000Ad\"");
    }
}
