//! Arguments of random functions that a script writes out. pgbench looks at them when a client comes to them, and aborts it.

use pgdyno_workload::Rng;

use crate::calls::World;
use crate::code::Op;
use crate::functions::{FUNCTIONS, Fun};
use crate::script_error::Site;
use crate::{CommandKind, EvalError, Expr, Script, ScriptError, ScriptText, Value};

impl Script {
    /// Checks the arguments of random functions that are numbers in the script.
    ///
    /// # Errors
    /// Returns the first that the function does not take, with its place.
    pub fn check_literals(&self, source: &ScriptText<'_>) -> Result<(), ScriptError> {
        for command in &self.commands {
            let expr = match &command.kind {
                CommandKind::Set(set) => &set.expr,
                CommandKind::If { condition, .. } | CommandKind::Elif { condition, .. } => condition,
                _ => continue,
            };
            let Some((fun, error)) = refused(expr) else { continue };
            let site = Site { source: &self.name, text: source.text, line: 1 };
            let message = error.to_string();
            return Err(site.other(message.clone(), &message, "", place(source.text, command.line, fun)));
        }
        Ok(())
    }
}

/// Returns the first call of a random function that fails whatever its other arguments are.
fn refused(expr: &Expr) -> Option<(Fun, EvalError)> {
    let ops = expr.ops();
    ops.iter().enumerate().find_map(|(at, op)| {
        let (fun, args) = match *op {
            Op::Call(fun, n) => (fun, arguments(ops, at, usize::from(n))?),
            Op::Left(fun, a) => (fun, vec![Value::Int(a), *arguments(ops, at, 1)?.first()?]),
            Op::Right(fun, b) => (fun, vec![*arguments(ops, at, 1)?.first()?, Value::Int(b)]),
            _ => return None,
        };
        let is_random = matches!(fun, Fun::Random | Fun::RandomExponential | Fun::RandomGaussian | Fun::RandomZipfian);
        let mut world = World { rng: &mut Rng::new(0), debug: &mut |_| {} };
        let error = if is_random { fun.apply(&args, &mut world).err()? } else { return None };
        Some((fun, error))
    })
}

/// Returns the arguments of a call with so many. Of those that are not written out only the last, a parameter, must be known:
/// the others become 1 and 2, which every function takes.
fn arguments(ops: &[Op], at: usize, count: usize) -> Option<Vec<Value>> {
    let is_target = |at: usize| {
        ops.iter().any(|op| match op {
            Op::And(to) | Op::Or(to) | Op::Unless(to) | Op::Jump(to) => *to as usize == at,
            _ => false,
        })
    };
    let literal = |back: usize| match ops.get(at.checked_sub(back)?)? {
        Op::Const(value) if !is_target(at - back + 1) => Some(*value),
        _ => None,
    };
    let known: Vec<Value> = (1..=count).map_while(literal).collect();
    match (known.len(), count) {
        (n, _) if n == count => Some(known.into_iter().rev().collect()),
        (1.., 3) => Some(vec![Value::Int(1), Value::Int(2), known[0]]),
        _ => None,
    }
}

/// Returns the place of a function's name in the command that begins in this line.
fn place(text: &[u8], line: u32, fun: Fun) -> Option<std::ops::Range<usize>> {
    let name = FUNCTIONS.iter().find(|function| function.fun == fun)?.name.as_bytes();
    let before: usize =
        text.split_inclusive(|b| *b == b'\n').take(line.saturating_sub(1) as usize).map(<[u8]>::len).sum();
    let found = text.get(before..)?.windows(name.len()).position(|word| word.eq_ignore_ascii_case(name))?;
    Some(before + found..before + found + name.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{VariableNames, parse};

    fn check(text: &str) -> Result<(), String> {
        let source = ScriptText { name: "a.sql", text: text.as_bytes() };
        let script = parse(&source, &mut VariableNames::new()).unwrap();
        script.check_literals(&source).map_err(|error| error.to_string())
    }

    #[test]
    fn a_parameter_that_a_random_function_does_not_take_is_named_with_its_place() {
        let error = check("select 1;\n\\set i 1\n\\set k Random_Zipfian(1, 1000, 0.99)\n").unwrap_err();
        let text = "a.sql:3:8: zipfian parameter must be in range [1.001, 1000] (not 0.990000)\n 3 | ";
        assert!(error.starts_with(text), "{error}");
        let cases = [
            ("random_zipfian(:a, :b * 2, 1001)", "zipfian parameter"),
            ("1 + random_gaussian(1, :b, 1.5)", "gaussian parameter"),
            ("random_exponential(1, 9, -1)", "exponential parameter"),
            ("random(5, 1)", "empty range"),
            ("random_gaussian(5, 1, 2.5)", "empty range"),
        ];
        for (expr, words) in cases {
            let error = check(&format!("\\set x {expr}\n")).unwrap_err();
            assert!(error.starts_with("a.sql:1:") && error.contains(words), "{expr}: {error}");
        }
        assert!(check("\\if random_zipfian(1, 2, 1) > 1\n\\endif\nselect 1;").is_err());
    }

    #[test]
    fn what_may_succeed_is_left_to_the_run() {
        for expr in [
            "random_zipfian(1, 1000, 1.01)",
            "random_zipfian(1, 1000, :theta)",
            "random(1, :high)",
            "random(:low, 5)",
            "random_zipfian(1, 9, case when :a > 1 then 1.5 else 0.5 end)",
            "random_exponential(1, 9, null)",
            "1 / 0",
        ] {
            check(&format!("\\set x {expr}\n")).unwrap_or_else(|error| panic!("{expr}: {error}"));
        }
    }
}
