//! SQL with variables, in the form of each query mode.

use std::ops::Range;

use pgdyno_workload::push_int;

use crate::names::{VariableNames, begins_name, continues_name};
use crate::{Slot, Variables};

/// SQL for the simple protocol: defined variables are replaced by their text everywhere, also in quotes and comments;
/// `::name` and undefined ones stay.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlTemplate {
    text: Box<[u8]>,
    /// Positions of variables, colon included.
    holes: Box<[(Range<u32>, Slot)]>,
}

/// SQL for the extended protocol: every `:name` is a parameter of its own, wherever it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Extended {
    /// With `$1`, `$2`, …
    pub text: Vec<u8>,
    /// The variable of each parameter. One without a value is sent as NULL, and a null value as the text `NULL`.
    pub params: Vec<Slot>,
}

impl SqlTemplate {
    /// Finds the variables in `text`.
    pub(crate) fn new(text: &[u8], names: &mut VariableNames) -> Self {
        let mut holes = Vec::new();
        let mut at = 0;
        while let Some(offset) = text[at..].iter().position(|b| *b == b':') {
            let colon = at + offset;
            let name = colon + 1;
            at = name;
            if text.get(name).is_some_and(|b| begins_name(*b)) {
                at += text[name..].iter().take_while(|b| continues_name(**b)).count();
                if let (Ok(start), Ok(end)) = (u32::try_from(colon), u32::try_from(at)) {
                    holes.push((start..end, names.slot(&text[name..at])));
                }
            } else {
                // After one colon, further ones are skipped as well.
                at += text[name..].iter().take_while(|b| **b == b':').count();
            }
        }
        Self { text: text.into(), holes: holes.into() }
    }

    /// Appends the SQL with the values of `variables`.
    pub fn render(&self, variables: &Variables, out: &mut Vec<u8>) {
        let mut done = 0;
        for (hole, slot) in &self.holes {
            out.extend_from_slice(&self.text[done..hole.start as usize]);
            done = hole.end as usize;
            if !variables.text(*slot, out) {
                out.extend_from_slice(&self.text[hole.start as usize..done]);
            }
        }
        out.extend_from_slice(&self.text[done..]);
    }

    /// Returns the SQL as in the script, without the comments before it and backslashes.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the SQL, if it has no variable and is always the same.
    #[must_use]
    pub fn constant(&self) -> Option<&[u8]> {
        self.holes.is_empty().then_some(&*self.text)
    }

    pub(crate) fn extended(&self) -> Extended {
        let mut text = Vec::with_capacity(self.text.len());
        let mut done = 0;
        for (n, (hole, _)) in (1..).zip(&self.holes) {
            text.extend_from_slice(&self.text[done..hole.start as usize]);
            text.push(b'$');
            push_int(&mut text, n);
            done = hole.end as usize;
        }
        text.extend_from_slice(&self.text[done..]);
        Extended { text, params: self.holes.iter().map(|(_, slot)| *slot).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Value;
    use std::sync::Arc;

    #[test]
    fn names_are_replaced_where_pgbench_replaces_them() {
        for (text, simple, extended, params) in [
            ("select :a;", "select 1;", "select $1;", 1),
            ("':a' /* :a */ $$:a$$", "'1' /* 1 */ $$1$$", "'$1' /* $2 */ $$$3$$", 3),
            ("x::a :::a :::: :a", "x::a :::a :::: 1", "x::a :::a :::: $1", 1),
            (":a:a:a_:1a", "11:a_:1a", "$1$2$3:1a", 3),
            (":é :nope :", "2 :nope :", "$1 $2 :", 2),
            ("'12:30'::time", "'12:30'::time", "'12:30'::time", 0),
        ] {
            let mut names = VariableNames::new();
            let template = SqlTemplate::new(text.as_bytes(), &mut names);
            assert_eq!(template.constant().is_some(), params == 0);
            let (a, e) = (names.slot(b"a"), names.slot("é".as_bytes()));
            let mut variables = Variables::new(&Arc::new(names));
            variables.set_value(a, Value::Int(1));
            variables.set_text(e, b"2");
            let mut out = Vec::new();
            template.render(&variables, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), simple, "{text}");
            let found = template.extended();
            assert_eq!(String::from_utf8(found.text).unwrap(), extended, "{text}");
            assert_eq!(found.params.len(), params, "{text}");
        }
    }
}
