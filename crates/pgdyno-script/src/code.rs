//! Expressions as a list of steps over a stack of values, so that neither their depth nor their length can exhaust
//! memory or the stack.

use pgdyno_workload::Rng;

use crate::calls::World;
use crate::functions::Fun;
use crate::{EvalError, Slot, Value, Variables};

/// One step. Targets of jumps are indices of steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Op {
    Const(Value),
    Load(Slot),
    /// Pops so many values and pushes one.
    Call(Fun, u8),
    /// A call with an integer of the script as its first argument, and the top of the stack as its second.
    Left(Fun, i64),
    /// The same with the arguments swapped.
    Right(Fun, i64),
    /// The left side of AND: true continues with the right side; false and null are the result, at the target.
    And(u32),
    /// The left side of OR: false continues.
    Or(u32),
    /// The right side of AND or OR must be a boolean or null.
    Logical,
    /// The condition of a WHEN; the target is the next WHEN or ELSE.
    Unless(u32),
    Jump(u32),
    TooManyArguments,
}

/// Size of a stack without allocation.
const SHALLOW: usize = 4;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    ops: Box<[Op]>,
    /// Largest depth of the stack.
    depth: usize,
}

impl Expr {
    /// Returns the steps, which leave one value on the stack.
    pub(crate) fn new(ops: Vec<Op>) -> Self {
        let (mut depth, mut now) = (0, 0usize);
        for op in &ops {
            // The depth if a step does not jump; at the target of a jump there is one more value.
            now = match op {
                Op::Const(_) | Op::Load(_) => now + 1,
                Op::Call(_, n) => (now + 1).saturating_sub(usize::from(*n)),
                Op::And(_) | Op::Or(_) | Op::Unless(_) | Op::Jump(_) => now.saturating_sub(1),
                Op::Left(..) | Op::Right(..) | Op::Logical | Op::TooManyArguments => now,
            };
            depth = depth.max(now);
        }
        Self { ops: ops.into(), depth }
    }

    /// Returns its value. Calls `debug` with the output of `debug(x)` after `debug(script=N,command=M): `, without a
    /// line end.
    ///
    /// # Errors
    /// Returns the message that pgbench would print before it aborts the client.
    #[inline]
    pub fn eval(
        &self,
        variables: &mut Variables,
        rng: &mut Rng,
        debug: &mut dyn FnMut(&str),
    ) -> Result<Value, EvalError> {
        if let [Op::Const(value)] = *self.ops {
            return Ok(value);
        }
        let world = &mut World { rng, debug };
        if self.depth <= SHALLOW {
            run(&self.ops, &mut [Value::Null; SHALLOW], variables, world)
        } else {
            run(&self.ops, &mut vec![Value::Null; self.depth], variables, world)
        }
    }

    /// Returns its steps.
    pub(crate) fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// Returns its value, if it is constant.
    #[must_use]
    pub fn constant(&self) -> Option<Value> {
        match *self.ops {
            [Op::Const(value)] => Some(value),
            _ => None,
        }
    }
}

/// Runs the steps. `stack` is as deep as they need, and `top` is the number of values on it.
fn run(ops: &[Op], stack: &mut [Value], variables: &mut Variables, world: &mut World<'_>) -> Result<Value, EvalError> {
    let (mut at, mut top) = (0, 0);
    while let Some(op) = ops.get(at) {
        at += 1;
        match *op {
            Op::Const(value) => {
                stack[top] = value;
                top += 1;
            }
            Op::Load(slot) => {
                stack[top] = variables.value(slot)?;
                top += 1;
            }
            Op::Call(fun, 2) => {
                let (a, b) = (stack[top - 2], stack[top - 1]);
                top -= 1;
                stack[top - 1] = binary(fun, a, b, world)?;
            }
            Op::Left(fun, a) => stack[top - 1] = binary(fun, Value::Int(a), stack[top - 1], world)?,
            Op::Right(fun, b) => stack[top - 1] = binary(fun, stack[top - 1], Value::Int(b), world)?,
            Op::Call(fun, n) => {
                let base = top - usize::from(n);
                let value = fun.apply(&stack[base..top], world)?;
                stack[base] = value;
                top = base + 1;
            }
            Op::And(target) | Op::Or(target) => {
                let decides = matches!(op, Op::Or(_));
                let left = stack[top - 1];
                if left == Value::Null || left.bool()? == decides {
                    at = target as usize;
                } else {
                    top -= 1;
                }
            }
            Op::Logical => {
                let right = stack[top - 1];
                if right != Value::Null {
                    right.bool()?;
                }
            }
            Op::Unless(target) => {
                top -= 1;
                if !stack[top].truth() {
                    at = target as usize;
                }
            }
            Op::Jump(target) => at = target as usize,
            Op::TooManyArguments => return Err(EvalError::TooManyArguments),
        }
    }
    Ok(stack[0])
}

#[inline(always)]
fn binary(fun: Fun, a: Value, b: Value, world: &mut World<'_>) -> Result<Value, EvalError> {
    if let (Value::Int(a), Value::Int(b)) = (a, b)
        && let Some(value) = fun.quick(a, b, world.rng)
    {
        return Ok(value);
    }
    fun.apply(&[a, b], world)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CommandKind, ScriptText, VariableNames, parse};
    use std::sync::Arc;

    /// Evaluates as client 0 of `pgbench --random-seed=5432 -D t=yes` does. Returns the value and the output of
    /// `debug`.
    fn eval(expr: &str) -> (Result<Value, EvalError>, Vec<String>) {
        let mut names = VariableNames::new();
        let slots = [("i", Value::Int(7)), ("d", Value::Double(2.5)), ("b", Value::Bool(true)), ("z", Value::Null)]
            .map(|(name, value)| (names.slot(name.as_bytes()), value));
        let (seed, text) = (names.slot(b"default_seed"), names.slot(b"t"));
        let source = ScriptText { name: "-", text: format!("\\set x {expr}").as_bytes().to_vec().leak() };
        let script = parse(&source, &mut names).unwrap_or_else(|e| panic!("{e}"));
        let mut variables = Variables::new(&Arc::new(names));
        for (slot, value) in slots {
            variables.set_value(slot, value);
        }
        let mut base = Rng::new(5432);
        let mut rng = Rng::new(base.next_u64());
        variables.set_value(seed, Value::Int(base.next_u64() as i64));
        variables.set_text(text, b"yes");
        let CommandKind::Set(set) = &script.commands[0].kind else { panic!("{expr}") };
        let mut said = Vec::new();
        let value = set.expr.eval(&mut variables, &mut rng, &mut |text| said.push(text.to_owned()));
        (value, said)
    }

    fn text(expr: &str) -> String {
        match eval(expr).0 {
            Ok(value) => value.debug_text(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn values_and_errors_are_pgbenchs() {
        for (expr, expected) in [
            ("1 + 2 * 3", "int 7"),
            ("(1 + 2) * 3", "int 9"),
            ("7 - 2 - 1", "int 4"),
            ("-7 / 2", "int -3"),
            ("-7 % 3", "int -1"),
            ("7.5 % 2", "int 0"),
            ("1.0 / 4", "double 0.25"),
            ("1.0 / 0", "double Infinity"),
            ("0.0 / 0.0", "double NaN"),
            ("1 / 0", "division by zero"),
            ("1 % 0", "division by zero"),
            ("-9223372036854775808 / -1", "bigint div out of range"),
            ("-9223372036854775808 % -1", "int 0"),
            ("9223372036854775807 + 1", "bigint add out of range"),
            ("-9223372036854775808 - 1", "bigint sub out of range"),
            ("9223372036854775807 * 2", "bigint mul out of range"),
            ("- -9223372036854775808", "bigint sub out of range"),
            ("-(0.0)", "double 0"),
            ("+5", "int 5"),
            ("~ 1 + 2", "int -4"),
            ("6 & 3 << 1", "int 4"),
            ("1 | 2 # 3", "int 0"),
            ("1 << 65", "int 2"),
            ("-8 >> 1", "int -4"),
            ("1 < 2", "boolean true"),
            ("1 > 2", "boolean false"),
            ("2 >= 2.0", "boolean true"),
            ("1 <> 1", "boolean false"),
            ("1 != 2 and not 1 = 2", "boolean true"),
            ("true = true", "cannot coerce boolean to int"),
            ("true = 1.0", "cannot coerce boolean to double"),
            ("not 1", "cannot coerce int to boolean"),
            ("1 and true", "cannot coerce int to boolean"),
            ("true and 1.5", "cannot coerce double to boolean"),
            ("false and 1", "boolean false"),
            ("true or 1", "boolean true"),
            ("null and false", "null"),
            ("false or null", "null"),
            ("true and null", "null"),
            ("null + 1/0", "division by zero"),
            ("null is null", "boolean true"),
            ("1 is null is null", "boolean false"),
            ("1 is true", "boolean false"),
            ("true is true", "boolean true"),
            ("true is not false", "boolean true"),
            ("1 notnull and null isnull", "boolean true"),
            ("not null is null", "boolean false"),
            ("case when 0 then 1/0 when 0.5 then 2 else 3 end", "int 2"),
            ("case when null then 1 end", "null"),
            ("case when false then 1 else case when true then 4 end end + 1", "int 5"),
            ("abs(-5)", "int 5"),
            ("abs(-5.5)", "double 5.5"),
            ("int(2.5) + int(3.5)", "int 6"),
            ("int(1e300 * 1e10)", "double to int overflow for Infinity"),
            ("double(3) / 2", "double 1.5"),
            ("sqrt(2)", "double 1.4142135623731"),
            ("ln(exp(1))", "double 1"),
            ("pow(2, 10) + power(2, -1)", "double 1024.5"),
            ("pi()", "double 3.14159265358979"),
            ("mod(7, 4)", "int 3"),
            ("least(3, 1, 2)", "int 1"),
            ("greatest(3, 1.5, 2)", "double 3"),
            ("least(,4)", "int 4"),
            ("least(true)", "cannot coerce boolean to int"),
            ("greatest(1, null)", "null"),
            ("random(2, 1)", "empty range given to random"),
            ("random(-9223372036854775807, 1)", "random range is too large"),
            ("random_gaussian(1, 9, 1.9)", "gaussian parameter must be at least 2.000000 (not 1.900000)"),
            ("random_exponential(1, 9, -1)", "exponential parameter must be greater than zero (not -1.000000)"),
            ("random_zipfian(1, 9, 1)", "zipfian parameter must be in range [1.001, 1000] (not 1.000000)"),
            ("permute(3, 0)", "permute size parameter must be greater than zero"),
            ("permute(3, 1)", "int 0"),
            (":i + :d", "double 9.5"),
            (":t and :b", "boolean true"),
            (":z + 1", "null"),
            (":nope + 1", "undefined variable \"nope\""),
            (":1x", "undefined variable \"1x\""),
            ("debug(1) + debug(2)", "int 3"),
        ] {
            assert_eq!(text(expr), expected, "{expr}");
        }
    }

    #[test]
    fn draws_come_in_pgbenchs_order() {
        assert_eq!(text("random(10, 19)"), "int 17");
        assert_eq!(eval("debug(random(10, 19)) * debug(random_exponential(100, 199, 10.0))").1, ["int 17", "int 104"]);
        // The right side of a greater-than is evaluated first.
        let said = eval("debug(random_exponential(100, 199, 10.0)) > debug(random(10, 19))").1;
        assert_eq!(said, ["int 17", "int 104"]);
    }

    #[test]
    fn what_is_not_needed_is_not_evaluated() {
        for (expr, said) in [
            ("false and debug(true)", &[][..]),
            ("null and debug(true)", &[]),
            ("debug(true) or debug(false)", &["boolean true"]),
            (
                "case when debug(true) then debug(1) when debug(2) then debug(3) else debug(4) end",
                &["boolean true", "int 1"],
            ),
            (
                "case when debug(0) then debug(1) when debug(0.0) then debug(3) else debug(4) end",
                &["int 0", "double 0", "int 4"],
            ),
        ] {
            assert_eq!(eval(expr).1, said, "{expr}");
        }
    }

    #[test]
    fn the_seventeenth_argument_is_too_many_once_sixteen_are_evaluated() {
        let list = |n: usize| (1..=n).map(|i| format!("debug({i})")).collect::<Vec<_>>().join(", ");
        assert_eq!(eval(&format!("least({})", list(16))).0, Ok(Value::Int(1)));
        let (value, said) = eval(&format!("least({})", list(17)));
        assert_eq!((value, said.len()), (Err(EvalError::TooManyArguments), 16));
        assert!(eval(&format!("least({})", ["1"; 300].join(","))).0.is_err());
    }

    #[test]
    fn constants_are_folded_but_errors_and_draws_are_not() {
        let ops = |expr: &str| {
            let text = format!("\\set x {expr}");
            let script = parse(&ScriptText { name: "-", text: text.as_bytes() }, &mut VariableNames::new()).unwrap();
            let CommandKind::Set(set) = &script.commands[0].kind else { panic!("{expr}") };
            (set.expr.constant(), set.expr.ops.len())
        };
        assert_eq!(ops("1 + 2 * 3 - -4"), (Some(Value::Int(11)), 1));
        assert_eq!(ops("pi() is null"), (Some(Value::Bool(false)), 1));
        assert_eq!(ops("1 / 0"), (None, 2));
        assert_eq!(ops("random(1, 10 * 10)"), (None, 2));
        assert_eq!(ops("debug(1)"), (None, 2));
        assert_eq!(ops("random(1, 100000 * :scale)"), (None, 3));
    }
}
