//! Evaluation of operators and functions on their arguments.

use pgdyno_workload::Rng;
use pgdyno_workload::dist::pgbench as distributions;

use crate::functions::Fun;
use crate::{EvalError, Value};

/// State that a function may use besides its arguments.
pub(crate) struct World<'a> {
    pub(crate) rng: &'a mut Rng,
    pub(crate) debug: &'a mut dyn FnMut(&str),
}

impl Fun {
    /// Returns true if it always gives the same value and has no side effects.
    pub(crate) fn is_pure(self) -> bool {
        !matches!(
            self,
            Self::Debug | Self::Random | Self::RandomExponential | Self::RandomGaussian | Self::RandomZipfian
        )
    }

    /// Returns the value of the most common functions without errors; [`Fun::apply`] handles the rest.
    #[inline]
    pub(crate) fn quick(self, a: i64, b: i64, rng: &mut Rng) -> Option<Value> {
        match self {
            Self::Add => a.checked_add(b).map(Value::Int),
            Self::Sub => a.checked_sub(b).map(Value::Int),
            Self::Mul => a.checked_mul(b).map(Value::Int),
            Self::Eq => Some(Value::Bool(a == b)),
            Self::Ne => Some(Value::Bool(a != b)),
            Self::Lt => Some(Value::Bool(a < b)),
            Self::Le => Some(Value::Bool(a <= b)),
            Self::Random if a <= b && b.checked_sub(a).is_some_and(|d| d < i64::MAX) => {
                Some(Value::Int(rng.uniform(a, b)))
            }
            _ => None,
        }
    }

    /// Returns its value. The parser has checked the number of arguments.
    pub(crate) fn apply(self, args: &[Value], world: &mut World<'_>) -> Result<Value, EvalError> {
        if args.iter().any(|v| matches!(v, Value::Null)) {
            return Ok(match (self, args) {
                (Self::Is, [a, b]) => Value::Bool(matches!((a, b), (Value::Null, Value::Null))),
                (Self::Debug, _) => debug(Value::Null, world),
                _ => Value::Null,
            });
        }
        match *args {
            [a, b] => self.binary(a, b, world),
            [a] => self.unary(a, world),
            _ => self.other(args, world),
        }
    }

    fn binary(self, a: Value, b: Value, world: &mut World<'_>) -> Result<Value, EvalError> {
        match self {
            Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Eq | Self::Ne | Self::Lt | Self::Le
                if matches!(a, Value::Double(_)) || matches!(b, Value::Double(_)) =>
            {
                Ok(self.of_doubles(a.double()?, b.double()?))
            }
            Self::Random => {
                let (low, high) = range(a, b)?;
                Ok(Value::Int(world.rng.uniform(low, high)))
            }
            Self::Pow => Ok(Value::Double(a.double()?.powf(b.double()?))),
            Self::Is => Ok(Value::Bool(match (a, b) {
                (Value::Bool(a), Value::Bool(b)) => a == b,
                _ => false,
            })),
            Self::Least | Self::Greatest => self.other(&[a, b], world),
            _ => self.of_ints(a.int()?, b.int()?),
        }
    }

    fn of_doubles(self, a: f64, b: f64) -> Value {
        match self {
            Self::Add => Value::Double(a + b),
            Self::Sub => Value::Double(a - b),
            Self::Mul => Value::Double(a * b),
            Self::Div => Value::Double(a / b),
            Self::Eq => Value::Bool(a == b),
            Self::Ne => Value::Bool(a != b),
            Self::Lt => Value::Bool(a < b),
            _ => Value::Bool(a <= b),
        }
    }

    fn of_ints(self, a: i64, b: i64) -> Result<Value, EvalError> {
        let checked = |result: Option<i64>, what| result.map(Value::Int).ok_or(EvalError::Overflow(what));
        match self {
            Self::Add => checked(a.checked_add(b), "add"),
            Self::Sub => checked(a.checked_sub(b), "sub"),
            Self::Mul => checked(a.checked_mul(b), "mul"),
            Self::Div | Self::Mod if b == 0 => Err(EvalError::DivisionByZero),
            Self::Div => checked(a.checked_div(b), "div"),
            // The least bigint modulo -1 is 0, not an overflow.
            Self::Mod => Ok(Value::Int(a.wrapping_rem(b))),
            Self::Eq => Ok(Value::Bool(a == b)),
            Self::Ne => Ok(Value::Bool(a != b)),
            Self::Lt => Ok(Value::Bool(a < b)),
            Self::Le => Ok(Value::Bool(a <= b)),
            Self::BitAnd => Ok(Value::Int(a & b)),
            Self::BitOr => Ok(Value::Int(a | b)),
            Self::BitXor => Ok(Value::Int(a ^ b)),
            // Counts are taken modulo 64, as the CPU does for pgbench.
            Self::Shl => Ok(Value::Int(a.wrapping_shl(b as u32))),
            Self::Shr => Ok(Value::Int(a.wrapping_shr(b as u32))),
            Self::HashFnv1a => Ok(Value::Int(distributions::fnv1a(a, b))),
            _ => Ok(Value::Int(distributions::murmur2(a, b))),
        }
    }

    fn unary(self, a: Value, world: &mut World<'_>) -> Result<Value, EvalError> {
        match self {
            Self::Debug => Ok(debug(a, world)),
            Self::Int => Ok(Value::Int(a.int()?)),
            Self::BitNot => Ok(Value::Int(!a.int()?)),
            Self::Not => Ok(Value::Bool(!a.bool()?)),
            // -x is 0 - x, also in its errors and in the sign of zero.
            Self::Neg => Self::Sub.binary(Value::Int(0), a, world),
            Self::Abs => match a {
                Value::Int(i) => Ok(Value::Int(i.wrapping_abs())),
                other => other.double().map(|d| Value::Double(if d < 0.0 { -d } else { d })),
            },
            Self::Double => Ok(Value::Double(a.double()?)),
            Self::Sqrt => Ok(Value::Double(a.double()?.sqrt())),
            Self::Ln => Ok(Value::Double(a.double()?.ln())),
            Self::Exp => Ok(Value::Double(a.double()?.exp())),
            _ => self.other(&[a], world),
        }
    }

    fn other(self, args: &[Value], world: &mut World<'_>) -> Result<Value, EvalError> {
        match (self, args) {
            (Self::Least | Self::Greatest, args) => self.extremum(args),
            (Self::Permute, [value, size, seed]) => {
                let (value, size, seed) = (value.int()?, size.int()?, seed.int()?);
                if size <= 0 {
                    return Err(EvalError::PermuteSize);
                }
                Ok(Value::Int(distributions::permute(value, size, seed)))
            }
            (_, [low, high, parameter]) => {
                let (low, high) = range(*low, *high)?;
                let parameter = parameter.double()?;
                let draw = match self {
                    Self::RandomGaussian if parameter < 2.0 => return Err(EvalError::Gaussian(parameter)),
                    Self::RandomGaussian => distributions::gaussian,
                    Self::RandomZipfian if !within_zipfian(parameter) => return Err(EvalError::Zipfian(parameter)),
                    Self::RandomZipfian => distributions::zipfian,
                    _ if parameter <= 0.0 => return Err(EvalError::Exponential(parameter)),
                    _ => distributions::exponential,
                };
                // pgbench only checks whether a parameter is too small or too large: NaN is neither, and then the
                // gaussian and the zipfian never find a number.
                if parameter.is_nan() {
                    return Err(match self {
                        Self::RandomGaussian => EvalError::Gaussian(parameter),
                        Self::RandomZipfian => EvalError::Zipfian(parameter),
                        _ => EvalError::Exponential(parameter),
                    });
                }
                Ok(Value::Int(draw(world.rng, low, high, parameter)))
            }
            _ => Ok(Value::Double(std::f64::consts::PI)),
        }
    }

    /// Computes `least` and `greatest`: a double if one argument is.
    fn extremum(self, args: &[Value]) -> Result<Value, EvalError> {
        let least = self == Self::Least;
        if args.iter().any(|v| matches!(v, Value::Double(_))) {
            let mut best = args[0].double()?;
            for value in &args[1..] {
                let d = value.double()?;
                // C's conditional: with NaN on either side the later one wins.
                let keep = if least { best < d } else { best > d };
                best = if keep { best } else { d };
            }
            return Ok(Value::Double(best));
        }
        let mut best = args[0].int()?;
        for value in &args[1..] {
            let i = value.int()?;
            best = if least { best.min(i) } else { best.max(i) };
        }
        Ok(Value::Int(best))
    }
}

fn within_zipfian(parameter: f64) -> bool {
    parameter.is_nan() || (1.001..=1000.0).contains(&parameter)
}

fn debug(value: Value, world: &mut World<'_>) -> Value {
    (world.debug)(&value.debug_text());
    value
}

/// Returns the bounds of a random number.
fn range(low: Value, high: Value) -> Result<(i64, i64), EvalError> {
    let (low, high) = (low.int()?, high.int()?);
    if low > high {
        return Err(EvalError::EmptyRange);
    }
    if high.checked_sub(low).and_then(|d| d.checked_add(1)).is_none() {
        return Err(EvalError::RangeTooLarge);
    }
    Ok((low, high))
}
