//! Operators and their precedence.

use crate::functions::Fun;
use crate::tokens::Token;

/// Precedences, low to high.
const OR: u8 = 1;
const AND: u8 = 2;
const NOT: u8 = 3;
pub(crate) const IS: u8 = 4;
pub(crate) const COMPARISON: u8 = 5;
const BITS: u8 = 6;
const SUM: u8 = 7;
const PRODUCT: u8 = 8;
const SIGN: u8 = 9;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prefix {
    Plus,
    Minus,
    Tilde,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Infix {
    /// Computed from both sides.
    Call(Fun),
    /// Computed from both sides, the right one first: `a > b` is `b < a`, also in the order of evaluation.
    Swapped(Fun),
    And,
    Or,
}

impl Prefix {
    pub(crate) fn precedence(self) -> u8 {
        match self {
            Self::Plus | Self::Minus => SIGN,
            Self::Tilde => BITS,
            Self::Not => NOT,
        }
    }
}

/// A binary operator.
pub(crate) fn infix(token: Token<'_>) -> Option<Infix> {
    use Infix::{Call, Swapped};
    Some(match token {
        Token::Or => Infix::Or,
        Token::And => Infix::And,
        Token::Symbol(symbol) => match symbol {
            "<" => Call(Fun::Lt),
            ">" => Swapped(Fun::Lt),
            "<=" => Call(Fun::Le),
            ">=" => Swapped(Fun::Le),
            "=" => Call(Fun::Eq),
            "<>" | "!=" => Call(Fun::Ne),
            "|" => Call(Fun::BitOr),
            "&" => Call(Fun::BitAnd),
            "#" => Call(Fun::BitXor),
            "<<" => Call(Fun::Shl),
            ">>" => Call(Fun::Shr),
            "+" => Call(Fun::Add),
            "-" => Call(Fun::Sub),
            "*" => Call(Fun::Mul),
            "/" => Call(Fun::Div),
            "%" => Call(Fun::Mod),
            _ => return None,
        },
        _ => return None,
    })
}

impl Infix {
    pub(crate) fn precedence(self) -> u8 {
        match self {
            Self::Or => OR,
            Self::And => AND,
            Self::Swapped(_) => COMPARISON,
            Self::Call(fun) => match fun {
                Fun::Eq | Fun::Ne | Fun::Lt | Fun::Le => COMPARISON,
                Fun::Add | Fun::Sub => SUM,
                Fun::Mul | Fun::Div | Fun::Mod => PRODUCT,
                _ => BITS,
            },
        }
    }
}
