//! What each parameter of a statement is compared with or written to: its column and how.
//!
//! Conditions are read from the generic plan, which names each column with its table and alias, also through views and whatever the
//! search path is. What a statement writes is read from its text: a plan does not show it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::unnested::{arguments, items, nesting, whole_parameter};
use super::wording::number;
use crate::tokens::{Token, significant};

/// A table in a statement: one alias.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Source {
    /// Schema and table, as in SQL.
    pub(super) table: String,
    /// Its alias in the plan.
    pub(super) alias: String,
}

/// How a parameter is used with a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// It is equal to the column, or one element of a list that is.
    Equal,
    /// It is an array of which one element is equal to the column.
    AnyOf,
    /// The column is greater, or not less.
    Above,
    /// The column is less, or not greater.
    Below,
    /// The column is like it.
    Like,
    /// A row that is written has it in the column.
    Written,
}

/// What a parameter is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// It belongs to a column.
    Column(How, Source, String),
    /// It is the number of rows.
    Limit,
    /// It is the number of rows that are skipped.
    Offset,
    /// It is a number or an interval in an expression: added to a value, or subtracted from one.
    Added,
    /// It is combined with a value, which it leaves as it is: a value of its type with this text.
    Neutral(&'static str),
    /// It is an array that is unnested, whose elements belong to no known column, or the number of rows of a series.
    Elements,
    /// It is something else.
    Other,
}

impl Role {
    /// Returns true if it has as many elements as the sampling says.
    pub(super) fn has_elements(&self) -> bool {
        *self == Self::Elements || self.is(How::AnyOf)
    }

    /// Returns true if it belongs to a column in this way.
    pub(super) fn is(&self, wanted: How) -> bool {
        matches!(self, Self::Column(how, ..) if *how == wanted)
    }
}

/// Roles of parameters, by their numbers.
pub(super) type Roles = BTreeMap<u32, Role>;

/// Returns the roles of parameters that the generic plan shows.
pub(super) fn of_plan(plan: &Value) -> Roles {
    let mut sources = BTreeMap::new();
    aliases(plan, &mut sources);
    let mut roles = BTreeMap::new();
    conditions(plan, &sources, &mut roles);
    roles
}

/// Returns the tables of a plan, each alias once.
pub(super) fn sources(plan: &Value) -> Vec<Source> {
    let mut sources = BTreeMap::new();
    aliases(plan, &mut sources);
    sources.into_values().collect()
}

/// Returns all nodes of a plan.
pub(super) fn nodes(plan: &Value) -> Vec<&Value> {
    let mut all = vec![plan];
    let mut at = 0;
    while let Some(node) = all.get(at).copied() {
        all.extend(children(node));
        at += 1;
    }
    all
}

/// Returns the columns in the result of a plan that are those of tables, with these.
pub(super) fn returned(plan: &Value) -> Vec<(String, String)> {
    let mut sources = BTreeMap::new();
    aliases(plan, &mut sources);
    let of_table = |text: &Value| {
        let all = significant(text.as_str()?);
        let (alias, column) = match all[..] {
            [alias, Token::Other("."), column] => (alias.name()?, column.name()?),
            [column] if sources.len() == 1 => (sources.keys().next()?.clone(), column.name()?),
            _ => return None,
        };
        Some((sources.get(&alias)?.table.clone(), column))
    };
    plan["Output"].as_array().into_iter().flatten().filter_map(of_table).collect()
}

/// Keys of a plan's node that are conditions.
const CONDITIONS: [&str; 8] =
    ["Index Cond", "Filter", "Recheck Cond", "Join Filter", "Hash Cond", "Merge Cond", "TID Cond", "One-Time Filter"];

fn aliases(node: &Value, sources: &mut BTreeMap<String, Source>) {
    if let (Some(table), Some(alias)) = (node["Relation Name"].as_str(), node["Alias"].as_str()) {
        let identifier = pgdyno_net::quote::identifier;
        let table = match node["Schema"].as_str() {
            Some(schema) => format!("{}.{}", identifier(schema), identifier(table)),
            None => identifier(table),
        };
        sources.insert(alias.to_owned(), Source { table, alias: alias.to_owned() });
    }
    for child in children(node) {
        aliases(child, sources);
    }
}

fn children(node: &Value) -> impl Iterator<Item = &Value> {
    node["Plans"].as_array().into_iter().flatten()
}

fn conditions(node: &Value, sources: &BTreeMap<String, Source>, roles: &mut Roles) {
    for text in CONDITIONS.iter().filter_map(|key| node[key].as_str()) {
        let found = compared(text, node["Alias"].as_str(), sources);
        found.into_iter().for_each(|(parameter, role)| {
            // An index condition says more than the filter above it, and comes first.
            roles.entry(parameter).or_insert(role);
        });
    }
    for child in children(node) {
        conditions(child, sources, roles);
    }
}

/// Returns the roles of the parameters of a condition.
fn compared(condition: &str, alias: Option<&str>, sources: &BTreeMap<String, Source>) -> Vec<(u32, Role)> {
    let all = significant(condition);
    let role = |at: usize| {
        let parameter = number(all[at])?;
        let before = before_operand(&all, at);
        let operator = operator(&all, before)?;
        if let Some(role) = operator.arithmetic() {
            return Some((parameter, role));
        }
        let (name, of) = column(&all, before - operator.length)?;
        let source = sources.get(of.as_deref().or(alias)?)?.clone();
        Some((parameter, operator.role(source, name, is_any(&all, at, before))))
    };
    (0..all.len()).filter_map(role).collect()
}

/// Returns where the operand that a parameter is in begins: `$1`, `($1)::text`, `ANY ($1)`, `ANY (ARRAY[$1, $2])`.
fn before_operand(all: &[Token<'_>], parameter: usize) -> usize {
    let is_of_operand = |token: Token<'_>| match token {
        Token::Other("(" | "[" | ",") | Token::Parameter(_) => true,
        word => word.is("any") || word.is("array") || word.is("unnest"),
    };
    let mut at = parameter;
    while at > 0 && is_of_operand(all[at - 1]) {
        at -= 1;
    }
    at
}

/// Returns true if the operand is an array that is one parameter.
fn is_any(all: &[Token<'_>], parameter: usize, before: usize) -> bool {
    let within = &all[before..parameter];
    within.iter().any(|token| token.is("any") || token.is("unnest")) && !within.iter().any(|token| token.is("array"))
}

struct Operator {
    text: String,
    /// Tokens that it has.
    length: usize,
}

impl Operator {
    fn role(&self, source: Source, column: String, is_any: bool) -> Role {
        let how = match self.text.as_str() {
            "=" if is_any => How::AnyOf,
            "=" => How::Equal,
            ">" | ">=" => How::Above,
            "<" | "<=" => How::Below,
            "~~" | "~~*" => How::Like,
            _ => return Role::Other,
        };
        Role::Column(how, source, column)
    }
}

impl Operator {
    /// Returns the role of its right side, if it computes a value.
    fn arithmetic(&self) -> Option<Role> {
        match self.text.as_str() {
            "||" => Some(Role::Neutral("")),
            "+" | "-" => Some(Role::Added),
            "*" | "/" => Some(Role::Neutral("1")),
            _ => None,
        }
    }
}

/// Returns the operator whose last character is before `end`.
fn operator(all: &[Token<'_>], end: usize) -> Option<Operator> {
    let is_sign = |token: &&Token<'_>| matches!(token, Token::Other(sign) if "=<>~!*@#%&|?+-/^".contains(*sign));
    let signs: Vec<_> = all[..end].iter().rev().take_while(is_sign).map(|token| token.text()).collect();
    let length = signs.len();
    (length > 0).then(|| Operator { text: signs.into_iter().rev().collect(), length })
}

/// Returns the column that ends before `end`, and its alias: `t.a`, `a`, `(a)::text`.
fn column(all: &[Token<'_>], end: usize) -> Option<(String, Option<String>)> {
    let mut at = end;
    // A cast: `)::character varying`.
    let words = all[..at].iter().rev().take_while(|token| matches!(token, Token::Word(_))).count();
    if all[..at - words].ends_with(&[Token::Other(":"), Token::Other(":")]) {
        at -= words + 2;
    }
    while at > 0 && all[at - 1] == Token::Other(")") {
        at -= 1;
    }
    let name = all.get(at.checked_sub(1)?)?.name()?;
    let of = match at.checked_sub(3).map(|from| &all[from..at - 1]) {
        Some([alias, Token::Other(".")]) => alias.name(),
        _ => None,
    };
    Some((name, of))
}

/// What a statement writes into a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    /// The table, as in the statement.
    pub(super) table: String,
    /// The columns that a new row gives values to, in order; empty for all of them.
    pub(super) columns: Vec<String>,
    /// The parameters that are whole values of a new row, by their places; each row of VALUES has its own.
    pub(super) values: Vec<(usize, u32)>,
    /// Columns of other rows that are inserted, by their places.
    pub(super) names: Vec<(usize, String)>,
    /// Arrays whose elements are inserted, by their places.
    pub(super) arrays: Vec<(usize, u32)>,
    /// Columns that get a parameter as their value.
    pub(super) assigned: Vec<(String, u32)>,
    /// Whether a row that exists is updated or left instead.
    pub(super) on_conflict: bool,
    /// Whether such a row is left.
    pub(super) does_nothing: bool,
}

/// Returns what the text writes, as far as parameters are whole values: each INSERT and UPDATE, also within CTEs.
pub(super) fn written(text: &str) -> Vec<Written> {
    let all = significant(text);
    let begins = |at: &usize| {
        let is_first = *at == 0 || matches!(all[at - 1], Token::Other("(" | ")"));
        is_first && (all[*at].is("update") || all[*at].is("insert"))
    };
    let of = |at: usize| {
        let is_insert = all[at].is("insert");
        let (table, end) = table(&all, at + 1 + usize::from(is_insert));
        let mut written = Written { table, ..Written::default() };
        if is_insert {
            inserted(&all[end..], &mut written);
        }
        written.assigned = assigned(&all[end..end + end_of(&all[end..], &[])]);
        written
    };
    (0..all.len()).filter(begins).map(of).collect()
}

/// Returns the table that is named at this place, as in the statement, and where its name has ended.
fn table(all: &[Token<'_>], from: usize) -> (String, usize) {
    let (mut table, mut at) = (String::new(), from);
    while let Some(token @ (Token::Word(_) | Token::Quoted(_) | Token::Other("."))) = all.get(at) {
        let ends = table.is_empty() || table.ends_with('.') || *token == Token::Other(".");
        if token.is("only") {
            at += 1;
            continue;
        }
        if !ends {
            break;
        }
        table += token.text();
        at += 1;
    }
    (table, at)
}

/// Reads what an INSERT inserts: what follows its table.
fn inserted(after: &[Token<'_>], written: &mut Written) {
    let mut at = 0;
    if let Some((columns, end)) = arguments(after, 0) {
        written.columns = columns.iter().filter_map(|column| column.first()?.name()).collect();
        at = end;
    }
    let end = end_of(&after[at..], &[]);
    let body = &after[at..at + end];
    written.on_conflict = body.windows(2).any(|pair| pair[0].is("on") && pair[1].is("conflict"));
    written.does_nothing = body.windows(2).any(|pair| pair[0].is("do") && pair[1].is("nothing"));
    match body.first() {
        Some(token) if token.is("select") => selected(&body[1..], written),
        _ => {
            if let Some(values) = body.iter().position(|token| token.is("values")) {
                written.values = whole_values(&body[values + 1..]);
            }
        }
    }
}

/// Returns where the first of these words is, or where the parenthesis that tokens are in is closed.
fn end_of(all: &[Token<'_>], words: &[&str]) -> usize {
    let mut depth = 0;
    let is_end = |token: &Token<'_>| {
        depth += nesting(token);
        depth < 0 || (depth == 0 && words.iter().any(|word| token.is(word)))
    };
    all.iter().position(is_end).unwrap_or(all.len())
}

/// Reads what an INSERT selects: what follows SELECT.
fn selected(after: &[Token<'_>], written: &mut Written) {
    let end = end_of(after, &["from", "where", "union", "limit", "order", "on", "returning"]);
    let is_all = after[..end] == [Token::Other("*")];
    let rows = (is_all && after.get(end + 1).is_some_and(|token| token.is("unnest"))).then_some(end + 2);
    if let Some((arrays, _)) = rows.and_then(|open| arguments(after, open)) {
        let array = |(place, argument): (usize, &&[Token<'_>])| Some((place, whole_parameter(argument)?));
        written.arrays = arrays.iter().enumerate().filter_map(array).collect();
        return;
    }
    for (place, item) in items(&after[..end]).into_iter().enumerate() {
        match item {
            [word, ..] if word.is("unnest") => {
                let array = arguments(item, 1).and_then(|(arguments, _)| whole_parameter(arguments.first()?));
                written.arrays.extend(array.map(|parameter| (place, parameter)));
            }
            [name] | [_, Token::Other("."), name] if name.name().is_some() => {
                written.names.extend(name.name().map(|name| (place, name)));
            }
            _ => written.values.extend(whole_parameter(item).map(|parameter| (place, parameter))),
        }
    }
}

/// Returns the parameters that are whole values of the first rows of VALUES, by their places in a row.
fn whole_values(all: &[Token<'_>]) -> Vec<(usize, u32)> {
    let (mut depth, mut place, mut found) = (0, 0, Vec::new());
    for (at, token) in all.iter().enumerate() {
        match token {
            Token::Other("(") => {
                depth += 1;
                if depth == 1 {
                    place = 0;
                }
            }
            Token::Other(")") => depth -= 1,
            Token::Other(",") if depth == 1 => place += 1,
            Token::Other(",") => {}
            _ if depth == 0 => break,
            token => {
                let is_whole = matches!(all.get(at + 1), Some(Token::Other("," | ")" | ":")))
                    && matches!(all.get(at.wrapping_sub(1)), Some(Token::Other("," | "(")));
                if let Some(parameter) = number(*token).filter(|_| depth == 1 && is_whole) {
                    found.push((place, parameter));
                }
            }
        }
    }
    found
}

/// Returns what follows SET in an UPDATE, up to its conditions.
fn assignments<'a, 't>(all: &'a [Token<'t>]) -> &'a [Token<'t>] {
    let Some(set) = all.iter().position(|token| token.is("set")) else { return &[] };
    let until = all[set..].iter().position(|token| token.is("where") || token.is("from") || token.is("returning"));
    &all[set + 1..until.map_or(all.len(), |until| set + until)]
}

/// Returns the columns of `SET column = $1`.
fn assigned(all: &[Token<'_>]) -> Vec<(String, u32)> {
    let of = |three: &[Token<'_>]| match three {
        [name, Token::Other("="), parameter] => Some((name.name()?, number(*parameter)?)),
        _ => None,
    };
    assignments(all).windows(3).filter_map(of).collect()
}

/// Returns the parameters behind LIMIT, FETCH FIRST and OFFSET.
pub(super) fn limits(text: &str) -> Vec<(u32, Role)> {
    let all = significant(text);
    let of = |pair: &[Token<'_>]| {
        let role = match pair[0] {
            word if word.is("limit") || word.is("first") || word.is("next") => Role::Limit,
            word if word.is("offset") => Role::Offset,
            _ => return None,
        };
        Some((number(pair[1])?, role))
    };
    all.windows(2).filter_map(of).collect()
}

/// Functions of texts whose further numbers are lengths and places.
const CUTTING: [&str; 6] = ["left", "lpad", "repeat", "right", "rpad", "substr"];

/// Returns the parameters that are lengths of texts, or places in them, that an UPDATE gives to columns. A longer text may not fit there.
pub(super) fn lengths(text: &str) -> Vec<u32> {
    let all = significant(text);
    let all = assignments(&all);
    let of = |at: usize| {
        let (arguments, _) = arguments(all, at + 1).filter(|_| CUTTING.iter().any(|name| all[at].is(name)))?;
        Some(arguments.into_iter().skip(1).filter_map(whole_parameter).collect::<Vec<_>>())
    };
    (0..all.len()).filter_map(of).flatten().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn source(table: &str, alias: &str) -> Source {
        Source { table: format!("\"public\".\"{table}\""), alias: alias.to_owned() }
    }

    #[test]
    fn conditions_of_a_plan_name_the_columns() {
        let plan = json!({
            "Node Type": "Nested Loop", "Join Filter": "(i.order_id = o.id)",
            "Plans": [
                { "Relation Name": "orders", "Schema": "public", "Alias": "o", "Index Cond": "(o.id = $1)",
                  "Filter": "((o.placed >= $2) AND (o.placed < $3) AND ((o.status)::text = $4) AND (o.id = $1))" },
                { "Relation Name": "items", "Schema": "public", "Alias": "i",
                  "Filter": "((i.\"Name\" ~~ $5) AND (i.kind = ANY (ARRAY[$6, $7])) AND (i.size = ANY ($8)) AND (i.n <> $9))" },
            ],
        });
        let (o, i) = (source("orders", "o"), source("items", "i"));
        let roles = of_plan(&plan);
        let wanted = [
            (1, Role::Column(How::Equal, o.clone(), "id".to_owned())),
            (2, Role::Column(How::Above, o.clone(), "placed".to_owned())),
            (3, Role::Column(How::Below, o.clone(), "placed".to_owned())),
            (4, Role::Column(How::Equal, o, "status".to_owned())),
            (5, Role::Column(How::Like, i.clone(), "Name".to_owned())),
            (6, Role::Column(How::Equal, i.clone(), "kind".to_owned())),
            (7, Role::Column(How::Equal, i.clone(), "kind".to_owned())),
            (8, Role::Column(How::AnyOf, i, "size".to_owned())),
            (9, Role::Other),
        ];
        assert_eq!(roles, BTreeMap::from(wanted));
    }

    #[test]
    fn what_is_combined_with_a_value_leaves_it_as_it_is() {
        let condition = "(((email)::text = (($1 || $2) || $3)) AND (n > ($4 + ($5 * $6))))";
        let plan = json!({ "Relation Name": "t", "Schema": "public", "Alias": "t", "Filter": condition });
        let t = || source("t", "t");
        let wanted = [
            (1, Role::Column(How::Equal, t(), "email".to_owned())),
            (2, Role::Neutral("")),
            (3, Role::Neutral("")),
            (4, Role::Column(How::Above, t(), "n".to_owned())),
            (5, Role::Added),
            (6, Role::Neutral("1")),
        ];
        assert_eq!(of_plan(&plan), BTreeMap::from(wanted));
    }

    #[test]
    fn one_table_needs_no_alias() {
        let plan = json!({ "Relation Name": "t", "Schema": "public", "Alias": "t", "Index Cond": "(id = $1)" });
        assert_eq!(of_plan(&plan), BTreeMap::from([(1, Role::Column(How::Equal, source("t", "t"), "id".to_owned()))]));
    }

    fn only(text: &str) -> Written {
        let [written] = written(text).try_into().unwrap();
        written
    }

    #[test]
    fn what_is_written_is_in_the_text() {
        let insert = only(
            "INSERT INTO shop.orders (id, \"User\", at, n) VALUES ($1, $2, now(), $3 + 1) ON CONFLICT (id) DO UPDATE SET n = $4",
        );
        assert_eq!((insert.table.as_str(), insert.on_conflict), ("shop.orders", true));
        assert_eq!(insert.columns, ["id", "User", "at", "n"]);
        assert_eq!((insert.values, insert.assigned), (vec![(0, 1), (1, 2)], vec![("n".to_owned(), 4)]));
        let several = only("insert into t values ($1, $2), ($3, $4)");
        assert_eq!((several.table.as_str(), several.values), ("t", vec![(0, 1), (1, 2), (0, 3), (1, 4)]));
        let update = only("update t set a = $1, b = b + $2, c = $3 where id = $4");
        assert_eq!((update.table.as_str(), update.assigned), ("t", vec![("a".to_owned(), 1), ("c".to_owned(), 3)]));
        let [before, behind] =
            written("with a as (update s set b = $2 returning 1) update t set c = $1").try_into().unwrap();
        assert_eq!((before.table.as_str(), before.assigned), ("s", vec![("b".to_owned(), 2)]));
        assert_eq!((behind.table.as_str(), behind.assigned), ("t", vec![("c".to_owned(), 1)]));
        for text in [
            "select 1",
            "select * from t for update skip locked",
            "merge into t using s on a = b when matched then update set c = $1",
        ] {
            assert_eq!(written(text), [], "{text}");
        }
    }

    #[test]
    fn what_is_selected_is_inserted() {
        let text = "with a as (insert into s (a, b, c, d) select NULL, $3, l.x, coalesce($2, 1) from l where y = $1) select * from a";
        let nested = only(text);
        assert_eq!((nested.table.as_str(), nested.values), ("s", vec![(1, 3)]));
        assert_eq!(nested.names, [(0, "null".to_owned()), (2, "x".to_owned())]);
        let all = only("insert into t (a, b) select * from unnest($1::int[], $2) on conflict do nothing");
        assert_eq!((all.arrays, all.on_conflict), (vec![(0, 1), (1, 2)], true));
        assert!(
            all.does_nothing && !only("insert into t values ($1) on conflict (a) do update set b = 1").does_nothing
        );
        assert_eq!(only("insert into t select unnest($1), $2::int").arrays, [(0, 1)]);
        assert_eq!(only("insert into t select unnest($1), $2::int").values, [(1, 2)]);
        assert_eq!(only("insert into t").values, []);
    }

    #[test]
    fn lengths_are_arguments_of_what_cuts_texts_for_columns() {
        let text = "update t set a = left($1 || substr(b, $2, $3::int), $4), c = length($5, $6) where left(a, $7) = $8";
        assert_eq!(lengths(text), [4, 2, 3]);
        assert_eq!(lengths("select left(a, $1) from t left join u on u.id = ($2)"), [0; 0]);
    }

    #[test]
    fn limits_are_in_the_text() {
        assert_eq!(limits("select * from t limit $1 offset $2"), [(1, Role::Limit), (2, Role::Offset)]);
        assert_eq!(limits("select * from t fetch first $3 rows only"), [(3, Role::Limit)]);
    }
}
