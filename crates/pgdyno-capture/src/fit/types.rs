//! Types of parameters that only the client knows: found by trial, with the server as the judge.
//!
//! A client that declares types may send `unnest($1)`; PREPARE without types refuses it. The columns that the elements belong to name the
//! types; where nothing does, common types are tried one after the other.

use std::collections::BTreeMap;

use super::copy::{Copy, FitError};
use super::measure::NAME;
use super::unnested;
use super::wording::{self, number};
use crate::refusal::Refusal;
use crate::tokens::{Token, significant};

/// Codes of the errors that a type may mend: an undetermined type, several functions, another type than expected, no such operator, two
/// types for one parameter, no such cast.
const MENDED: [&str; 6] = ["42P18", "42725", "42804", "42883", "42P08", "42846"];

/// The most trials for a statement.
const TRIALS: usize = 80;

/// Types that are tried, in this order.
const TYPES: [&str; 7] = ["bigint", "integer", "numeric", "text", "timestamp with time zone", "interval", "boolean"];

/// Words at which an operand ends.
const ENDS: [&str; 18] = [
    "and",
    "or",
    "where",
    "from",
    "group",
    "order",
    "having",
    "limit",
    "union",
    "then",
    "else",
    "end",
    "when",
    "set",
    "on",
    "join",
    "as",
    "returning",
];

/// Types of parameters, by their numbers.
pub(super) type Types = BTreeMap<u32, String>;

/// A statement that the server prepares, and the types of its parameters.
pub(super) struct Typed {
    /// The text, with casts where types were found.
    pub(super) text: String,
    pub(super) types: Vec<String>,
}

/// Prepares a statement. Where the server cannot determine types of parameters, these are found; `hints` are tried first.
pub(super) fn typed(copy: &mut Copy, text: &str, hints: &Types) -> Result<Result<Typed, Refusal>, FitError> {
    let refusal = match prepare(copy, text, &Types::new())? {
        Ok(types) => return Ok(Ok(Typed { text: text.to_owned(), types })),
        Err(refusal) => refusal,
    };
    let mut search = Search { copy, text, hints, left: TRIALS };
    let Some(found) = search.from(&Types::new(), &refusal)? else { return Ok(Err(refusal)) };
    let cast = |number: u32| match found.get(&number) {
        Some(data_type) => format!("${number}::{data_type}"),
        None => format!("${number}"),
    };
    let text = wording::replaced(text, cast);
    Ok(prepare(copy, &text, &Types::new())?.map(|types| Typed { text, types }))
}

/// Prepares the text with these types, and returns the types of all parameters.
pub(super) fn prepare(copy: &mut Copy, text: &str, types: &Types) -> Result<Result<Vec<String>, Refusal>, FitError> {
    let about = "prepare a statement";
    copy.ask_or_none(about, &format!("DEALLOCATE {NAME}"))?;
    let begin = begin(text, types);
    if let Err(refusal) = copy.try_one(about, &format!("{begin}{text}"))? {
        let position = refusal.position.and_then(|position| position.checked_sub(begin.chars().count()));
        return Ok(Err(Refusal { position, ..refusal }));
    }
    let sql = format!("SELECT unnest(parameter_types)::text FROM pg_prepared_statements WHERE name = '{NAME}'");
    Ok(Ok(copy.ask(about, &sql)?.into_iter().flatten().flatten().collect()))
}

/// Returns what is before the text in PREPARE.
fn begin(text: &str, types: &Types) -> String {
    if types.is_empty() {
        return format!("PREPARE {NAME} AS ");
    }
    let of = |number: u32| types.get(&number).map_or("unknown", String::as_str);
    let types: Vec<_> = (1..=wording::parameters(text)).map(of).collect();
    format!("PREPARE {NAME} ({}) AS ", types.join(", "))
}

struct Search<'a> {
    copy: &'a mut Copy,
    text: &'a str,
    hints: &'a Types,
    left: usize,
}

impl Search<'_> {
    /// Returns types with which the server prepares the statement, given some types and its refusal of these.
    fn from(&mut self, declared: &Types, refusal: &Refusal) -> Result<Option<Types>, FitError> {
        if !MENDED.iter().any(|code| refusal.is(code)) {
            return Ok(None);
        }
        for group in groups(self.text, refusal, declared) {
            for types in candidates(&group, self.hints) {
                if self.left == 0 {
                    return Ok(None);
                }
                self.left -= 1;
                let mut next = declared.clone();
                next.extend(group.parameters.iter().copied().zip(types));
                match prepare(self.copy, self.text, &next)? {
                    Ok(_) => return Ok(Some(next)),
                    Err(other)
                        if other == *refusal || (other.position.is_some() && other.position == refusal.position) => {}
                    Err(other) => {
                        if let Some(found) = self.from(&next, &other)? {
                            return Ok(Some(found));
                        }
                    }
                }
            }
        }
        Ok(None)
    }
}

/// Parameters that get types together.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    parameters: Vec<u32>,
    /// Whether they are arguments of `unnest`.
    are_arrays: bool,
}

/// Returns the parameters that the refusal may be about: the one that it names, the arguments of the function, the operands of the
/// operator; then each of the others.
fn groups(text: &str, refusal: &Refusal, declared: &Types) -> Vec<Group> {
    let all = significant(text);
    let mut groups: Vec<Group> = Vec::new();
    let mut push = |parameters: Vec<u32>, are_arrays: bool| {
        let parameters: Vec<_> = parameters.into_iter().filter(|number| !declared.contains_key(number)).collect();
        if !parameters.is_empty() && groups.iter().all(|group| group.parameters != parameters) {
            groups.push(Group { parameters, are_arrays });
        }
    };
    push(refusal.parameter.into_iter().collect(), false);
    if let Some(at) = refusal.position.and_then(|position| token_at(text, &all, position)) {
        match all[at] {
            Token::Word(_) | Token::Quoted(_) => {
                // `pg_catalog.unnest(…)`.
                let open = all[at..].iter().position(|token| *token == Token::Other("(")).map(|after| at + after);
                let arguments = open.and_then(|open| unnested::arguments(&all, open));
                let within = arguments.into_iter().flat_map(|(arguments, _)| arguments.concat());
                let is_unnest = open.is_some_and(|open| all[open - 1].is("unnest"));
                push(within.filter_map(number).collect(), is_unnest);
            }
            Token::Parameter(_) => push(number(all[at]).into_iter().collect(), false),
            _ => {
                let (left, right) = (operand(all[..at].iter().rev(), ")", "("), operand(all[at..].iter(), "(", ")"));
                push(right.clone(), false);
                push(left.clone(), false);
                push([left, right].concat(), false);
            }
        }
    }
    let mut others: Vec<_> = all.iter().copied().filter_map(number).collect();
    others.dedup();
    others.truncate(8);
    others.into_iter().for_each(|parameter| push(vec![parameter], false));
    groups
}

/// Returns the significant token that begins at this character of the text.
fn token_at(text: &str, all: &[Token<'_>], position: usize) -> Option<usize> {
    let byte = text.char_indices().nth(position)?.0;
    let begin = |token: &Token<'_>| token.text().as_ptr() as usize - text.as_ptr() as usize;
    all.iter().position(|token| begin(token) + token.text().len() > byte)
}

/// Returns the parameters of an operand that tokens begin with.
fn operand<'a>(tokens: impl Iterator<Item = &'a Token<'a>>, opens: &str, closes: &str) -> Vec<u32> {
    let mut depth = 0_i32;
    let is_within = |token: &&Token<'_>| {
        let text = token.text();
        depth += i32::from(text == opens) - i32::from(text == closes);
        depth >= 0 && !(depth == 0 && text == ",") && !ENDS.iter().any(|word| token.is(word))
    };
    tokens.take_while(is_within).copied().filter_map(number).collect()
}

/// Returns the types that a group is tried with: those of the hints, and common types for the others; then common types for all.
fn candidates(group: &Group, hints: &Types) -> Vec<Vec<String>> {
    let scalars = TYPES.iter().map(|data_type| (*data_type).to_owned());
    let arrays = TYPES.iter().map(|data_type| format!("{data_type}[]"));
    let common: Vec<String> = if group.are_arrays { arrays.collect() } else { scalars.chain(arrays).collect() };
    let known = |number: &u32| hints.get(number).cloned();
    let with = |data_type: &String, parameters: &[u32]| {
        parameters.iter().map(|number| known(number).unwrap_or_else(|| data_type.clone())).collect::<Vec<_>>()
    };
    let mut candidates: Vec<_> = common.iter().map(|data_type| with(data_type, &group.parameters)).collect();
    if group.parameters.iter().any(|number| hints.contains_key(number)) {
        candidates.extend(common.iter().map(|data_type| vec![data_type.clone(); group.parameters.len()]));
    }
    candidates.dedup();
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str, at: &str) -> Refusal {
        let refusal = Refusal::from(String::new());
        Refusal { position: text.find(at).map(|byte| text[..byte].chars().count()), ..refusal }
    }

    fn first(text: &str, at: &str) -> Vec<u32> {
        groups(text, &refused(text, at), &Types::new())[0].parameters.clone()
    }

    #[test]
    fn a_refusal_is_about_arguments_or_operands() {
        assert_eq!(first("select 'ä', $9 from pg_catalog.unnest($1, $2) as t (a)", "pg_catalog"), [1, 2]);
        assert_eq!(first("select $3 from t where a = any (array[$1, $2]) and b = $4", "= any"), [1, 2]);
        let text = "select 1 from t where f(d + $1) > current_date - $2";
        assert_eq!(first(text, "> "), [2]);
        let all = groups(text, &refused(text, "> "), &Types::from([(2, "integer".to_owned())]));
        assert_eq!(all.iter().map(|group| group.parameters.clone()).collect::<Vec<_>>(), [[1]]);
        let named = Refusal { parameter: Some(7), ..Refusal::from(String::new()) };
        assert_eq!(groups("select row($7), $1", &named, &Types::new())[0].parameters, [7]);
    }

    #[test]
    fn hints_are_tried_first() {
        let group = Group { parameters: vec![1, 2], are_arrays: true };
        let hints = Types::from([(2, "text[]".to_owned())]);
        let all = candidates(&group, &hints);
        assert_eq!(all[..2], [["bigint[]", "text[]"], ["integer[]", "text[]"]]);
        assert!(all.contains(&vec!["numeric[]".to_owned(); 2]) && all.len() <= 2 * TYPES.len());
    }
}
