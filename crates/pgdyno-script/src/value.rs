//! Values and their coercions.

use pgdyno_workload::push_int;

use crate::EvalError;
use crate::numbers;

/// Value of a variable or an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// SQL's NULL, without its logic: any function of it is null.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A bigint.
    Int(i64),
    /// A double precision number.
    Double(f64),
}

impl Value {
    /// Returns the type's name in error messages.
    pub(crate) fn type_name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Int(_) => "int",
            Self::Double(_) => "double",
        }
    }

    /// Returns its truth for `\if` and `CASE`: null and zero are false.
    #[must_use]
    pub fn truth(self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(b) => b,
            Self::Int(i) => i != 0,
            Self::Double(d) => d != 0.0,
        }
    }

    /// Returns it as an integer; a double is rounded, halves to even.
    #[inline]
    pub(crate) fn int(self) -> Result<i64, EvalError> {
        match self {
            Self::Int(i) => Ok(i),
            Self::Double(d) => {
                let rounded = d.round_ties_even();
                // Both bounds are powers of two, so exact.
                if rounded >= i64::MIN as f64 && rounded < -(i64::MIN as f64) {
                    Ok(rounded as i64)
                } else {
                    Err(EvalError::DoubleToInt(rounded))
                }
            }
            other => Err(EvalError::Coercion { from: other.type_name(), to: "int" }),
        }
    }

    /// Returns it as a double.
    #[inline]
    pub(crate) fn double(self) -> Result<f64, EvalError> {
        match self {
            Self::Double(d) => Ok(d),
            Self::Int(i) => Ok(i as f64),
            other => Err(EvalError::Coercion { from: other.type_name(), to: "double" }),
        }
    }

    /// Returns it as a boolean; a number is none.
    pub(crate) fn bool(self) -> Result<bool, EvalError> {
        match self {
            Self::Bool(b) => Ok(b),
            other => Err(EvalError::Coercion { from: other.type_name(), to: "boolean" }),
        }
    }

    /// Appends its text in SQL: `NULL`, `true`, `-5`, a double with 15 digits.
    #[inline]
    pub fn write(self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"NULL"),
            Self::Bool(b) => out.extend_from_slice(if b { b"true" } else { b"false" }),
            Self::Int(i) => push_int(out, i),
            Self::Double(d) => out.extend_from_slice(numbers::general(d).as_bytes()),
        }
    }

    /// Returns the output of `debug()` after `debug(script=N,command=M): `.
    pub(crate) fn debug_text(self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Bool(b) => format!("boolean {b}"),
            Self::Int(i) => format!("int {i}"),
            Self::Double(d) => format!("double {}", numbers::general(d)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_round_to_even_and_must_fit() {
        for (d, i) in [(0.5, 0), (1.5, 2), (2.5, 2), (-0.5, 0), (-1.5, -2), (-9_223_372_036_854_775_808.0, i64::MIN)] {
            assert_eq!(Value::Double(d).int().unwrap(), i, "{d}");
        }
        for (d, text) in [
            (9_223_372_036_854_775_808.0, "double to int overflow for 9223372036854775808.000000"),
            (f64::NAN, "double to int overflow for NaN"),
            (f64::NEG_INFINITY, "double to int overflow for -Infinity"),
        ] {
            assert_eq!(Value::Double(d).int().unwrap_err().to_string(), text);
        }
    }

    #[test]
    fn truth_is_not_coercion() {
        assert!(Value::Int(-1).truth() && Value::Double(0.1).truth() && Value::Double(f64::NAN).truth());
        assert!(!Value::Null.truth() && !Value::Int(0).truth() && !Value::Double(-0.0).truth());
        assert_eq!(Value::Int(1).bool().unwrap_err().to_string(), "cannot coerce int to boolean");
        assert_eq!(Value::Bool(true).int().unwrap_err().to_string(), "cannot coerce boolean to int");
        assert_eq!(Value::Null.double().unwrap_err().to_string(), "cannot coerce null to double");
    }

    #[test]
    fn values_write_what_pgbench_substitutes() {
        for (value, text) in [
            (Value::Null, "NULL"),
            (Value::Bool(true), "true"),
            (Value::Int(i64::MIN), "-9223372036854775808"),
            (Value::Int(0), "0"),
            (Value::Double(1e15), "1e+15"),
            (Value::Double(0.1), "0.1"),
        ] {
            let mut out = b">".to_vec();
            value.write(&mut out);
            assert_eq!(out, format!(">{text}").as_bytes());
        }
    }
}
