//! `\sleep`.

use crate::numbers::leading_int;
use crate::{EvalError, Slot, Variables};

/// Duration of a client's pause.
#[derive(Clone, Debug, PartialEq)]
pub struct Sleep {
    /// The command as written, for messages.
    pub(crate) command: Box<str>,
    /// Number of units.
    pub amount: Amount,
    /// The unit in nanoseconds: 1000, 1000000 or 1000000000.
    pub unit_ns: u64,
}

/// A number in the script, or a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// `\sleep 5`
    Literal(i64),
    /// `\sleep :delay`
    Variable(Slot),
}

impl Sleep {
    /// Returns the pause in nanoseconds, at least 0. Of a variable's text the leading integer counts. pgbench
    /// computes in 32 bits and sleeps wrongly from 2148 s on; this does not.
    ///
    /// # Errors
    /// When the variable has no value, or its text does not begin with an integer.
    pub fn duration_ns(&self, variables: &Variables) -> Result<u64, EvalError> {
        let amount = match self.amount {
            Amount::Literal(amount) => amount,
            Amount::Variable(slot) => {
                let mut text = Vec::new();
                let name = || variables.names().text(slot);
                if !variables.text(slot, &mut text) {
                    return Err(EvalError::UndefinedIn { context: self.command.clone(), name: name() });
                }
                let (amount, _) = leading_int(&text);
                if amount == 0 && !text.first().is_some_and(u8::is_ascii_digit) {
                    let text = String::from_utf8_lossy(&text).into();
                    return Err(EvalError::SleepTime { command: self.command.clone(), text, name: name() });
                }
                amount
            }
        };
        Ok(u64::try_from(amount).unwrap_or(0).saturating_mul(self.unit_ns))
    }
}

/// Returns the unit of that name in nanoseconds.
pub(crate) fn unit_ns(name: &[u8]) -> Option<u64> {
    [("us", 1000), ("ms", 1_000_000), ("s", 1_000_000_000)]
        .into_iter()
        .find(|(unit, _)| unit.as_bytes().eq_ignore_ascii_case(name))
        .map(|(_, ns)| ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Value, VariableNames};
    use std::sync::Arc;

    #[test]
    fn the_pause_is_the_amount_in_its_unit() {
        let mut names = VariableNames::new();
        let v = names.slot(b"v");
        let mut variables = Variables::new(&Arc::new(names));
        let sleep = |amount| Sleep { command: "Sleep".into(), amount, unit_ns: 1_000_000 };
        assert_eq!(sleep(Amount::Literal(3)).duration_ns(&variables), Ok(3_000_000));
        assert_eq!(sleep(Amount::Literal(-3)).duration_ns(&variables), Ok(0));
        let by_variable = sleep(Amount::Variable(v));
        assert_eq!(by_variable.duration_ns(&variables).unwrap_err().to_string(), "Sleep: undefined variable \"v\"");
        for (text, ns) in [("12abc", 12_000_000), ("0.9", 0), (" 1", 1_000_000), ("-1", 0)] {
            variables.set_text(v, text.as_bytes());
            assert_eq!(by_variable.duration_ns(&variables), Ok(ns), "{text}");
        }
        variables.set_value(v, Value::Double(2.5));
        assert_eq!(by_variable.duration_ns(&variables), Ok(2_000_000));
        for text in ["abc", "", "-0", " 0"] {
            variables.set_text(v, text.as_bytes());
            assert_eq!(
                by_variable.duration_ns(&variables).unwrap_err().to_string(),
                format!("Sleep: invalid sleep time \"{text}\" for variable \"v\"")
            );
        }
        let hour = Sleep { command: "sleep".into(), amount: Amount::Literal(3600), unit_ns: 1_000_000_000 };
        assert_eq!(hour.duration_ns(&variables), Ok(3_600_000_000_000), "pgbench would not sleep at all");
    }
}
