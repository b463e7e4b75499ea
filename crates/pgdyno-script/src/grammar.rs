//! The grammar of expressions: a shift-reduce parser with a stack of its own. It keeps the same symbols on it as
//! pgbench's parser, so that both refuse the same texts at the same token.

use std::ops::Range;

use crate::Value;
use crate::code::Expr;
use crate::functions::{self, Arity, FUNCTIONS, Fun, Function};
use crate::names::VariableNames;
use crate::operators::{COMPARISON, IS, Infix, Prefix, infix};
use crate::script_error::Mistake;
use crate::tokens::{Cursor, Token};
use crate::tree::{NodeId, Tree};

/// pgbench's parser has room for 10000 states, the first of which is not a symbol.
const MAX_SYMBOLS: usize = 9998;

/// A symbol on the stack.
#[derive(Clone, Debug)]
enum Symbol {
    Expr(NodeId),
    /// A prefix operator.
    Prefix(Prefix),
    /// An operator after its left operand.
    Infix(Infix),
    Open,
    Function(Function),
    /// Arguments of a call so far.
    Arguments(Vec<NodeId>),
    Comma,
    Case,
    /// Branches of a CASE so far.
    Branches(Vec<NodeId>),
    When,
    Then,
    Else,
    /// A token that is reduced at once; it only takes its place.
    Token,
}

const VALUE: &str = "a value is missing here: a number, :variable, function(…), (…) or CASE";

struct Parser<'a, 'n> {
    cursor: Cursor<'a>,
    names: &'n mut VariableNames,
    tree: Tree,
    stack: Vec<Symbol>,
    /// Position of the last token.
    span: Range<usize>,
}

/// Parses an expression up to the end of its line, which it consumes, also after a mistake.
pub(crate) fn expression(cursor: &mut Cursor<'_>, names: &mut VariableNames) -> Result<Expr, Mistake> {
    let mut parser =
        Parser { cursor: cursor.clone(), names, tree: Tree::default(), stack: Vec::new(), span: cursor.at..cursor.at };
    let mut result = parser.run();
    // pgbench reads the rest of the line to show it, and reports a mistake in it.
    while let Err(mistake) = &mut result {
        if mistake.ends_line {
            break;
        }
        match parser.cursor.token() {
            Ok((Token::EndOfLine, _)) => break,
            Ok(_) => {}
            Err(later) => *mistake = later,
        }
    }
    cursor.at = parser.cursor.at;
    result
}

impl<'a> Parser<'a, '_> {
    fn next(&mut self) -> Result<Token<'a>, Mistake> {
        let (token, span) = self.cursor.token()?;
        self.span = span;
        Ok(token)
    }

    fn mistake(&self, message: &'static str) -> Mistake {
        let mut mistake = Mistake::at(self.span.clone(), message);
        mistake.ends_line = self.cursor.text[self.span.clone()] == *b"\n";
        mistake
    }

    fn unexpected<T>(&self, hint: &str) -> Result<T, Mistake> {
        Err(self.mistake("syntax error").hint(hint))
    }

    fn push(&mut self, symbol: Symbol) -> Result<(), Mistake> {
        if self.stack.len() == MAX_SYMBOLS {
            return Err(self
                .mistake("memory exhausted")
                .hint("the expression nests too deeply; split it over several \\set"));
        }
        self.stack.push(symbol);
        Ok(())
    }

    fn run(&mut self) -> Result<Expr, Mistake> {
        loop {
            self.operand()?;
            if let Some(root) = self.operators()? {
                return Ok(self.tree.compile(root));
            }
        }
    }

    /// Parses from the start of a value to its end.
    fn operand(&mut self) -> Result<(), Mistake> {
        loop {
            let token = self.next()?;
            let symbol = match token {
                Token::Symbol("(") => Symbol::Open,
                Token::Symbol("+") => Symbol::Prefix(Prefix::Plus),
                Token::Symbol("-") => Symbol::Prefix(Prefix::Minus),
                Token::Symbol("~") => Symbol::Prefix(Prefix::Tilde),
                Token::Not => Symbol::Prefix(Prefix::Not),
                Token::Case => {
                    self.push(Symbol::Case)?;
                    match self.next()? {
                        Token::When => Symbol::When,
                        _ => return self.unexpected("CASE is followed by WHEN: CASE WHEN :x > 1 THEN 2 ELSE 3 END"),
                    }
                }
                Token::Word(name) => {
                    if self.call(name)? {
                        return Ok(());
                    }
                    continue;
                }
                _ => {
                    let node = self.leaf(token)?;
                    return self.push(Symbol::Expr(node));
                }
            };
            self.push(symbol)?;
        }
    }

    fn leaf(&mut self, token: Token<'_>) -> Result<NodeId, Mistake> {
        let value = match token {
            Token::Int(i) => Value::Int(i),
            Token::Double(d) => Value::Double(d),
            Token::Null => Value::Null,
            Token::Bool(b) => Value::Bool(b),
            Token::Variable(name) => {
                let slot = self.names.slot(name);
                return Ok(self.tree.load(slot));
            }
            Token::IntTooLargeByOne => {
                if !matches!(self.stack.last(), Some(Symbol::Prefix(Prefix::Minus))) {
                    return self.unexpected("the largest integer is 9223372036854775807");
                }
                // The token takes its place, and then the minus is part of the number.
                self.push(Symbol::Token)?;
                self.stack.truncate(self.stack.len() - 2);
                Value::Int(i64::MIN)
            }
            _ => return self.unexpected(VALUE),
        };
        Ok(self.tree.constant(value))
    }

    /// Parses a function's name and parenthesis. Returns true if the call is complete: `pi()`.
    fn call(&mut self, name: &[u8]) -> Result<bool, Mistake> {
        // Its place first, then its name.
        let function = functions::find(name);
        self.push(function.map_or(Symbol::Token, Symbol::Function))?;
        let Some(function) = function else {
            let nearest = functions::nearest(name, FUNCTIONS.iter().map(|f| f.name));
            let hint = match (nearest, self.names.find(name)) {
                (_, Some(_)) => format!("a variable needs a colon: :{}", String::from_utf8_lossy(name)),
                (Some(nearest), _) => format!("did you mean {nearest}?"),
                _ => "a variable needs a colon, :name; functions are abs, debug, greatest, hash, int, least, mod, \
                      permute, random and others"
                    .to_owned(),
            };
            return Err(self.mistake("unexpected function name").more(name).hint(&hint));
        };
        if self.next()? != Token::Symbol("(") {
            return self.unexpected(&format!("a function needs its parentheses: {}(…)", function.name));
        }
        self.push(Symbol::Open)?;
        let ahead = self.cursor.clone().token();
        match ahead {
            Ok((Token::Symbol(")"), span)) => {
                (self.cursor.at, self.span) = (span.end, span);
                self.push(Symbol::Arguments(Vec::new()))?;
                self.push(Symbol::Token)?;
                self.end_of_call()?;
                Ok(true)
            }
            // pgbench allows a list to begin with a comma: least(, 1).
            Ok((Token::Symbol(","), span)) => {
                (self.cursor.at, self.span) = (span.end, span);
                self.push(Symbol::Arguments(Vec::new()))?;
                self.push(Symbol::Comma)?;
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    /// Parses the operators after a value, until one needs another value. Returns the whole expression, if it ends
    /// here.
    fn operators(&mut self) -> Result<Option<NodeId>, Mistake> {
        loop {
            let token = self.next()?;
            if let Some(operator) = infix(token) {
                self.reduce(operator.precedence())?;
                self.push(Symbol::Infix(operator))?;
                return Ok(None);
            }
            match token {
                Token::Is | Token::IsNull | Token::NotNull => {
                    self.reduce(IS)?;
                    self.is(token)?;
                }
                Token::Symbol(")") => {
                    self.reduce(0)?;
                    self.close()?;
                }
                Token::Symbol(",") => {
                    self.reduce(0)?;
                    if !self.argument() {
                        return self.unexpected("a comma only separates the arguments of a function");
                    }
                    self.push(Symbol::Comma)?;
                    return Ok(None);
                }
                Token::When | Token::Then | Token::Else => {
                    self.reduce(0)?;
                    self.branch(token)?;
                    return Ok(None);
                }
                Token::EndCase => {
                    self.reduce(0)?;
                    self.end_of_case()?;
                }
                Token::EndOfLine => {
                    self.reduce(0)?;
                    return match self.stack[..] {
                        [Symbol::Expr(root)] => Ok(Some(root)),
                        _ => self.unexpected(self.unfinished()),
                    };
                }
                _ => return self.unexpected("an operator is missing here, or this is one value too many"),
            }
        }
    }

    /// Checks that nothing is missing at the end of the line.
    fn unfinished(&self) -> &'static str {
        let opened = self.stack.iter().rev().find(|s| matches!(s, Symbol::Open | Symbol::Case));
        match opened {
            Some(Symbol::Case) => "CASE goes on to its END on the same line, or on one that a final \\ continues",
            _ => "a parenthesis is not closed; a backslash at the very end of a line continues it",
        }
    }

    /// Applies the operators that bind the last value tighter than one of `level` does.
    fn reduce(&mut self, level: u8) -> Result<(), Mistake> {
        loop {
            let [.., operator, Symbol::Expr(right)] = &self.stack[..] else { return Ok(()) };
            let right = *right;
            let (bound, arity) = match operator {
                Symbol::Prefix(prefix) => (prefix.precedence(), 1),
                Symbol::Infix(infix) => (infix.precedence(), 2),
                _ => return Ok(()),
            };
            if bound < level {
                return Ok(());
            }
            if bound == level && bound == COMPARISON {
                return self.unexpected("comparisons do not chain: write :a < :b AND :b < :c, or use parentheses");
            }
            let operator = operator.clone();
            let left = match self.stack[self.stack.len().saturating_sub(3)] {
                Symbol::Expr(left) => left,
                _ => right,
            };
            let node = match operator {
                Symbol::Infix(Infix::And) => self.tree.and(left, right),
                Symbol::Infix(Infix::Or) => self.tree.or(left, right),
                Symbol::Infix(Infix::Call(fun)) => self.tree.call(fun, &[left, right]),
                Symbol::Infix(Infix::Swapped(fun)) => self.tree.call(fun, &[right, left]),
                Symbol::Prefix(Prefix::Minus) => self.tree.call(Fun::Neg, &[right]),
                Symbol::Prefix(Prefix::Tilde) => self.tree.call(Fun::BitNot, &[right]),
                Symbol::Prefix(Prefix::Not) => self.tree.call(Fun::Not, &[right]),
                _ => right,
            };
            self.replace(arity + 1, Symbol::Expr(node));
        }
    }

    /// Replaces the last `n` symbols by one.
    fn replace(&mut self, n: usize, symbol: Symbol) {
        self.stack.truncate(self.stack.len().saturating_sub(n));
        self.stack.push(symbol);
    }

    /// Returns the value on top of the stack.
    fn top(&mut self) -> Option<NodeId> {
        match self.stack.last() {
            Some(Symbol::Expr(node)) => Some(*node),
            _ => None,
        }
    }

    /// `IS [NOT] NULL|TRUE|FALSE`, ISNULL, NOTNULL.
    fn is(&mut self, first: Token<'_>) -> Result<(), Mistake> {
        let length = self.stack.len();
        self.push(Symbol::Token)?;
        let (value, negated) = match first {
            Token::IsNull => (Value::Null, false),
            Token::NotNull => (Value::Null, true),
            _ => {
                let mut token = self.next()?;
                let negated = token == Token::Not;
                if negated {
                    self.push(Symbol::Token)?;
                    token = self.next()?;
                }
                let value = match token {
                    Token::Null => Value::Null,
                    Token::Bool(b) => Value::Bool(b),
                    _ => return self.unexpected("IS asks for NULL, TRUE or FALSE, or for NOT one of them"),
                };
                self.push(Symbol::Token)?;
                (value, negated)
            }
        };
        self.stack.truncate(length);
        let Some(tested) = self.top() else { return self.unexpected(VALUE) };
        let value = self.tree.constant(value);
        let mut node = self.tree.call(Fun::Is, &[tested, value]);
        if negated {
            node = self.tree.call(Fun::Not, &[node]);
        }
        self.replace(1, Symbol::Expr(node));
        Ok(())
    }

    /// Makes the value on top the next argument of its call; returns false if there is no call.
    fn argument(&mut self) -> bool {
        let Some(value) = self.top() else { return false };
        match &mut self.stack[..] {
            [.., Symbol::Arguments(list), Symbol::Comma, Symbol::Expr(_)] => {
                list.push(value);
                self.stack.truncate(self.stack.len() - 2);
            }
            [.., Symbol::Function(_), Symbol::Open, Symbol::Expr(_)] => {
                self.replace(1, Symbol::Arguments(vec![value]));
            }
            _ => return false,
        }
        true
    }

    fn close(&mut self) -> Result<(), Mistake> {
        if self.argument() {
            self.push(Symbol::Token)?;
            return self.end_of_call();
        }
        match (self.top(), &self.stack[..]) {
            (Some(value), [.., Symbol::Open, _]) => {
                self.push(Symbol::Token)?;
                self.replace(3, Symbol::Expr(value));
                Ok(())
            }
            _ => self.unexpected("nothing is open that this parenthesis could close"),
        }
    }

    /// Reduces a function, its parentheses, and the arguments between them.
    fn end_of_call(&mut self) -> Result<(), Mistake> {
        let at = self.stack.len().saturating_sub(4);
        let [Symbol::Function(function), _, Symbol::Arguments(arguments), _] = &mut self.stack[at..] else {
            return self.unexpected(VALUE);
        };
        let (function, mut arguments) = (*function, std::mem::take(arguments));
        match function.arity {
            Arity::Any if arguments.is_empty() => {
                return Err(self.mistake("at least one argument expected").more(function.name.as_bytes()));
            }
            Arity::Seeded(n) if arguments.len() == n - 1 => {
                let seed = self.names.slot(b"default_seed");
                arguments.push(self.tree.load(seed));
            }
            Arity::Exactly(n) | Arity::Seeded(n) if arguments.len() != n => {
                let hint = format!("{} takes {}", function.name, function.arity.describe());
                return Err(self.mistake("unexpected number of arguments").more(function.name.as_bytes()).hint(&hint));
            }
            _ => {}
        }
        let node = self.tree.call(function.fun, &arguments);
        self.replace(4, Symbol::Expr(node));
        Ok(())
    }

    /// Handles WHEN, THEN or ELSE after a value.
    fn branch(&mut self, token: Token<'_>) -> Result<(), Mistake> {
        let symbol = match token {
            Token::Then if matches!(self.stack[..], [.., Symbol::When, Symbol::Expr(_)]) => Symbol::Then,
            Token::When if self.end_of_branch() => Symbol::When,
            Token::Else if self.end_of_branch() => Symbol::Else,
            Token::Then => return self.unexpected("THEN follows the condition of a WHEN"),
            _ => return self.unexpected("WHEN and ELSE follow CASE WHEN … THEN …"),
        };
        self.push(symbol)
    }

    /// Reduces `WHEN condition THEN value`; returns false if the stack does not end so.
    fn end_of_branch(&mut self) -> bool {
        let [.., Symbol::When, Symbol::Expr(condition), Symbol::Then, Symbol::Expr(value)] = self.stack[..] else {
            return false;
        };
        self.stack.truncate(self.stack.len() - 4);
        if let Some(Symbol::Branches(branches)) = self.stack.last_mut() {
            branches.extend([condition, value]);
        } else {
            self.stack.push(Symbol::Branches(vec![condition, value]));
        }
        true
    }

    fn end_of_case(&mut self) -> Result<(), Mistake> {
        let mut otherwise = None;
        if let [.., Symbol::Else, Symbol::Expr(value)] = self.stack[..] {
            otherwise = Some(value);
        } else if !self.end_of_branch() {
            return self.unexpected("END closes CASE WHEN … THEN …");
        }
        self.push(Symbol::Token)?;
        // CASE branches END, or CASE branches ELSE value END.
        let length = if otherwise.is_some() { 5 } else { 3 };
        let at = self.stack.len().saturating_sub(length);
        let Some(Symbol::Branches(branches)) = self.stack.get_mut(at + 1) else { return self.unexpected(VALUE) };
        let mut items = std::mem::take(branches);
        items.push(otherwise.unwrap_or_else(|| self.tree.constant(Value::Null)));
        let node = self.tree.case(&items);
        self.replace(length, Symbol::Expr(node));
        Ok(())
    }
}
