//! One SQL statement with typed parameters, made ready once for every query mode.

use crate::{ParamType, Value, frontend};

/// How statements are sent: pgbench's `--protocol`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum QueryMode {
    /// One Query message with the values as literals in the text.
    Simple,
    /// Parse, Bind, Execute each time.
    Extended,
    /// Parse once a connection, then Bind, Execute.
    #[default]
    Prepared,
}

impl QueryMode {
    /// pgbench's word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Extended => "extended",
            Self::Prepared => "prepared",
        }
    }
}

impl std::str::FromStr for QueryMode {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        match s {
            "simple" => Ok(Self::Simple),
            "extended" => Ok(Self::Extended),
            "prepared" => Ok(Self::Prepared),
            other => Err(format!("'{other}' is not a query mode; known are simple, extended, prepared")),
        }
    }
}

/// Index of a statement in its workload's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StmtId(pub u32);

/// SQL with `$1`, `$2`, … and the types of these parameters.
#[derive(Clone, Debug)]
pub struct Statement {
    sql: String,
    params: Vec<ParamType>,
    /// The text between the parameters, each with the parameter that follows it.
    segments: Vec<(String, Option<usize>)>,
    /// Format codes and the number of parameters, as they stand in a Bind message.
    bind_formats: Vec<u8>,
    /// The text and the parameter types, as they stand in a Parse message.
    parse_tail: Vec<u8>,
}

impl Statement {
    /// Makes a statement ready.
    #[must_use]
    pub fn new(sql: impl Into<String>, params: &[ParamType]) -> Self {
        let sql = sql.into();
        let count = (params.len() as u16).to_be_bytes();
        let mut bind_formats = count.to_vec();
        for param in params {
            bind_formats.extend_from_slice(&param.format().to_be_bytes());
        }
        bind_formats.extend_from_slice(&count);
        let mut parse_tail = Vec::new();
        frontend::cstr(&mut parse_tail, &sql);
        parse_tail.extend_from_slice(&count);
        for param in params {
            parse_tail.extend_from_slice(&param.oid().to_be_bytes());
        }
        Self { segments: split(&sql), sql, params: params.to_vec(), bind_formats, parse_tail }
    }

    /// The text with its `$n`.
    #[must_use]
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// The types of the parameters.
    #[must_use]
    pub fn params(&self) -> &[ParamType] {
        &self.params
    }

    /// Appends a Parse message for it under the name of `id`, or unnamed.
    pub(crate) fn parse(&self, id: Option<StmtId>, out: &mut Vec<u8>) {
        frontend::message(out, b'P', |out| {
            name(id, out);
            out.extend_from_slice(&self.parse_tail);
        });
    }

    /// Appends a Bind message that makes the unnamed portal of it; results come in text.
    #[inline]
    pub(crate) fn bind(&self, id: Option<StmtId>, values: &[Value<'_>], out: &mut Vec<u8>) {
        debug_assert_eq!(values.len(), self.params.len(), "wrong number of values for: {}", self.sql);
        frontend::message(out, b'B', |out| {
            out.push(0);
            name(id, out);
            out.extend_from_slice(&self.bind_formats);
            for (value, ty) in values.iter().zip(&self.params) {
                value.bind(*ty, out);
            }
            out.extend_from_slice(&[0, 0]);
        });
    }

    /// Appends a Query message with the values as literals.
    pub(crate) fn query(&self, values: &[Value<'_>], out: &mut Vec<u8>) {
        frontend::message(out, b'Q', |out| {
            for (text, param) in &self.segments {
                out.extend_from_slice(text.as_bytes());
                if let Some(index) = param {
                    let value = values.get(*index).unwrap_or(&Value::Null);
                    value.write_literal(self.params.get(*index).copied().unwrap_or(ParamType::Unknown), out);
                }
            }
            out.push(0);
        });
    }
}

/// The name on the server of a prepared statement; unnamed without an id.
#[inline]
fn name(id: Option<StmtId>, out: &mut Vec<u8>) {
    if let Some(StmtId(id)) = id {
        let hex = b"0123456789abcdef";
        out.extend_from_slice(b"pgdyno_");
        for shift in [12, 8, 4, 0] {
            out.push(hex[(id >> shift & 15) as usize]);
        }
    }
    out.push(0);
}

/// Splits at `$n`, outside quotes, dollar quotes are not looked into: built-in statements have none.
fn split(sql: &str) -> Vec<(String, Option<usize>)> {
    let mut segments = Vec::new();
    let mut text = String::new();
    let mut chars = sql.chars().peekable();
    let mut quote: Option<char> = None;
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('$', None) if chars.peek().is_some_and(|c| ('1'..='9').contains(c)) => {
                let mut number = 0usize;
                while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                    number = number.saturating_mul(10).saturating_add(digit as usize);
                    chars.next();
                }
                segments.push((std::mem::take(&mut text), Some(number - 1)));
                continue;
            }
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(q)) if c == q => quote = None,
            _ => {}
        }
        text.push(c);
    }
    segments.push((text, None));
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_mode_puts_values_where_the_parameters_stand() {
        let statement =
            Statement::new("update t set a = a - $2, b = '$1' where c = $1", &[ParamType::Int4, ParamType::Int4]);
        let mut out = Vec::new();
        statement.query(&[Value::Int4(7), Value::Int4(-3)], &mut out);
        assert_eq!(&out[5..], b"update t set a = a - (-3), b = '$1' where c = 7\0");
    }

    #[test]
    fn a_bind_message_is_byte_for_byte_what_the_manual_says() {
        let statement = Statement::new("select $1", &[ParamType::Int4]);
        let mut out = Vec::new();
        statement.bind(Some(StmtId(26)), &[Value::Int4(1)], &mut out);
        let mut expected = vec![b'B', 0, 0, 0, 33];
        expected.extend_from_slice(b"\0pgdyno_001a\0");
        expected.extend_from_slice(&[0, 1, 0, 1, 0, 1, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0]);
        expected[4] = (expected.len() - 1) as u8;
        assert_eq!(out, expected);
    }
}
