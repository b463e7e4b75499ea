//! One client's variables.

use std::sync::Arc;

use crate::numbers::{self, is_space};
use crate::{EvalError, Slot, Value, VariableNames};

/// One client's variables, by slot. A text (of `-D` or `\gset`) keeps its spelling and becomes a value only when an
/// expression uses it; a value becomes text only when SQL uses it.
#[derive(Clone, Debug)]
pub struct Variables {
    names: Arc<VariableNames>,
    all: Vec<Variable>,
}

/// The key of a row, as a variable has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewKey<'a> {
    /// A whole number.
    Number(i64),
    /// A text, such as a UUID.
    Text(&'a [u8]),
}

#[derive(Clone, Debug, Default)]
struct Variable {
    /// Its spelling, while `spelled`.
    text: Vec<u8>,
    spelled: bool,
    /// Whether it was set since [`Variables::mark_old`].
    is_new: bool,
    value: Option<Value>,
}

impl Variables {
    /// Returns variables without values.
    #[must_use]
    pub fn new(names: &Arc<VariableNames>) -> Self {
        Self { names: Arc::clone(names), all: vec![Variable::default(); names.len()] }
    }

    /// Returns the names of these slots.
    #[must_use]
    pub fn names(&self) -> &Arc<VariableNames> {
        &self.names
    }

    /// Sets the text of a variable, up to the first zero byte, without interpreting it.
    pub fn set_text(&mut self, slot: Slot, text: &[u8]) {
        let variable = &mut self.all[slot.0 as usize];
        variable.text.clear();
        variable.text.extend_from_slice(text.split(|b| *b == 0).next().unwrap_or_default());
        variable.spelled = true;
        variable.is_new = true;
        variable.value = None;
    }

    /// Leaves a variable without text and value.
    #[inline]
    pub fn unset(&mut self, slot: Slot) {
        let variable = &mut self.all[slot.0 as usize];
        variable.spelled = false;
        variable.value = None;
    }

    /// Sets the value of a variable.
    #[inline]
    pub fn set_value(&mut self, slot: Slot, value: Value) {
        let variable = &mut self.all[slot.0 as usize];
        variable.spelled = false;
        variable.is_new = true;
        variable.value = Some(value);
    }

    /// Marks the value of a variable as one of before.
    pub fn mark_old(&mut self, slot: Slot) {
        self.all[slot.0 as usize].is_new = false;
    }

    /// Returns the whole number or the text to which a variable was set since [`Variables::mark_old`]; `None` if it was not set, is empty, or
    /// is another value. A text that is spelled as a whole number is one.
    #[must_use]
    pub fn new_key(&self, slot: Slot) -> Option<NewKey<'_>> {
        match &self.all[slot.0 as usize] {
            Variable { is_new: false, .. } => None,
            Variable { spelled: true, text, .. } if text.is_empty() => None,
            Variable { spelled: true, text, .. } => Some(match numbers::int(text) {
                Some(number) if number.to_string().as_bytes() == text => NewKey::Number(number),
                _ => NewKey::Text(text),
            }),
            Variable { value: Some(Value::Int(number)), .. } => Some(NewKey::Number(*number)),
            _ => None,
        }
    }

    /// Returns true if a variable has a text or a value.
    #[must_use]
    pub fn is_defined(&self, slot: Slot) -> bool {
        let variable = &self.all[slot.0 as usize];
        variable.spelled || variable.value.is_some()
    }

    /// Returns the value of a variable. A text is parsed once: `null`; the beginnings of `true` and `yes`, and `on`;
    /// the beginnings of `false` and `no`, `off` and `of`; an integer; else a double.
    ///
    /// # Errors
    /// When the variable has no value, or its text is none of these.
    #[inline]
    pub fn value(&mut self, slot: Slot) -> Result<Value, EvalError> {
        match self.all[slot.0 as usize].value {
            Some(value) => Ok(value),
            None => self.read(slot),
        }
    }

    #[cold]
    fn read(&mut self, slot: Slot) -> Result<Value, EvalError> {
        let name = || self.names.text(slot);
        let variable = &mut self.all[slot.0 as usize];
        if !variable.spelled {
            return Err(EvalError::Undefined(name()));
        }
        let text = &variable.text[..];
        let begins = |word: &str| word.len() >= text.len() && word.as_bytes()[..text.len()].eq_ignore_ascii_case(text);
        let lossy = || String::from_utf8_lossy(text).into();
        let value = if text.is_empty() {
            return Err(EvalError::Empty(name()));
        } else if text.eq_ignore_ascii_case(b"null") {
            Value::Null
        } else if begins("true") || begins("yes") || text.eq_ignore_ascii_case(b"on") {
            Value::Bool(true)
        } else if begins("false") || begins("no") || (begins("off") && text.len() > 1) {
            Value::Bool(false)
        } else if let Some(digits) = integer(text) {
            match numbers::int(text) {
                Some(value) => Value::Int(value),
                None if digits == 0 => return Err(EvalError::NoInteger(lossy())),
                None => return Err(EvalError::TooLarge(lossy())),
            }
        } else {
            match numbers::double(text) {
                Some(value) => Value::Double(value),
                None => return Err(EvalError::Malformed { name: name(), text: lossy() }),
            }
        };
        variable.value = Some(value);
        Ok(value)
    }

    /// Appends the text of a variable in SQL: as given, else of its value. Returns false, and appends nothing, if it
    /// has neither.
    #[inline]
    pub fn text(&self, slot: Slot, out: &mut Vec<u8>) -> bool {
        match &self.all[slot.0 as usize] {
            Variable { spelled: true, text, .. } => out.extend_from_slice(text),
            Variable { value: Some(value), .. } => value.write(out),
            _ => return false,
        }
        true
    }
}

/// Returns the number of digits of an integer of any size: spaces, a sign, digits. As in pgbench, a blank text or a
/// sign alone counts as an integer here, and the conversion refuses it.
fn integer(text: &[u8]) -> Option<usize> {
    let rest = &text[text.iter().take_while(|b| is_space(**b)).count()..];
    let digits = rest.strip_prefix(b"-").or(rest.strip_prefix(b"+")).unwrap_or(rest);
    digits.iter().all(u8::is_ascii_digit).then_some(digits.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one() -> (Variables, Slot) {
        let mut names = VariableNames::new();
        let slot = names.slot(b"x");
        (Variables::new(&Arc::new(names)), slot)
    }

    #[test]
    fn texts_are_read_as_pgbench_reads_them() {
        let (mut variables, x) = one();
        for (text, value) in [
            ("NULL", Value::Null),
            ("t", Value::Bool(true)),
            ("TRUE", Value::Bool(true)),
            ("ye", Value::Bool(true)),
            ("on", Value::Bool(true)),
            ("f", Value::Bool(false)),
            ("n", Value::Bool(false)),
            ("of", Value::Bool(false)),
            ("Off", Value::Bool(false)),
            ("0", Value::Int(0)),
            (" \t+12", Value::Int(12)),
            ("-9223372036854775808", Value::Int(i64::MIN)),
            ("007", Value::Int(7)),
            ("1.5", Value::Double(1.5)),
            ("1e3", Value::Double(1000.0)),
            ("0x10", Value::Double(16.0)),
            ("inf", Value::Double(f64::INFINITY)),
        ] {
            variables.set_text(x, text.as_bytes());
            assert_eq!(variables.value(x), Ok(value), "{text}");
            assert_eq!(variables.value(x), Ok(value), "{text}, again");
            let mut out = Vec::new();
            assert!(variables.text(x, &mut out));
            assert_eq!(out, text.as_bytes(), "the spelling stays");
        }
    }

    #[test]
    fn texts_that_are_no_value_say_so() {
        let (mut variables, x) = one();
        assert_eq!(variables.value(x).unwrap_err().to_string(), "undefined variable \"x\"");
        assert!(!variables.is_defined(x) && !variables.text(x, &mut Vec::new()));
        for (text, error) in [
            ("", "malformed variable \"x\" value: \"\""),
            ("o", "malformed variable \"x\" value: \"o\""),
            ("nul", "malformed variable \"x\" value: \"nul\""),
            ("truely", "malformed variable \"x\" value: \"truely\""),
            ("12 ", "malformed variable \"x\" value: \"12 \""),
            ("-", "invalid input syntax for type bigint: \"-\""),
            (" ", "invalid input syntax for type bigint: \" \""),
            ("99999999999999999999", "value \"99999999999999999999\" is out of range for type bigint"),
        ] {
            variables.set_text(x, text.as_bytes());
            assert_eq!(variables.value(x).unwrap_err().to_string(), error);
            assert!(variables.is_defined(x));
        }
        variables.set_text(x, b"7\0junk");
        assert_eq!(variables.value(x), Ok(Value::Int(7)));
    }

    #[test]
    fn a_key_is_new_until_it_is_marked_old() {
        let (mut variables, x) = one();
        variables.set_value(x, Value::Int(3));
        assert_eq!(variables.new_key(x), Some(NewKey::Number(3)));
        variables.mark_old(x);
        assert_eq!(variables.new_key(x), None);
        assert_eq!(variables.value(x), Ok(Value::Int(3)), "it keeps its value");
        for (text, number) in [("12", Some(12)), ("-9", Some(-9)), ("012", None), ("1.5", None), ("d9f0", None)] {
            variables.set_text(x, text.as_bytes());
            let key = number.map_or(NewKey::Text(text.as_bytes()), NewKey::Number);
            assert_eq!(variables.new_key(x), Some(key), "{text}");
        }
        variables.set_text(x, b"");
        assert_eq!(variables.new_key(x), None);
        variables.set_value(x, Value::Double(1.0));
        assert_eq!(variables.new_key(x), None);
    }

    #[test]
    fn a_new_value_replaces_the_text() {
        let (mut variables, x) = one();
        variables.set_text(x, b"1e1");
        variables.set_value(x, Value::Double(10.0));
        let mut out = Vec::new();
        variables.text(x, &mut out);
        assert_eq!(out, b"10");
        variables.set_text(x, b"a");
        assert!(variables.value(x).is_err(), "no value of before");
        for value in [None, Some(Value::Int(1))] {
            variables.set_text(x, b"1");
            value.into_iter().for_each(|value| variables.set_value(x, value));
            variables.unset(x);
            assert!(!variables.is_defined(x) && !variables.text(x, &mut Vec::new()));
            assert_eq!(variables.value(x).unwrap_err().to_string(), "undefined variable \"x\"");
        }
    }
}
