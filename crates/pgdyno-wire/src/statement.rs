//! One SQL statement with typed parameters, encoded once for every query mode.

use serde::{Deserialize, Serialize};

use crate::template::Template;
use crate::{ParamType, ParamValue, Wire, frontend, push_int};

/// Query mode: pgbench's `--protocol`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum QueryMode {
    /// One Query message with the values as literals in the text.
    Simple,
    /// Parse, Bind, Execute each time.
    Extended,
    /// Parse once per connection, then Bind, Execute.
    #[default]
    Prepared,
}

impl QueryMode {
    /// Returns pgbench's word for it.
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
            other => Err(format!("'{other}' is not a query mode; use simple, extended or prepared")),
        }
    }
}

/// Prefix of the names of prepared statements.
const NAME: &[u8] = b"pgdyno_";

/// Index of a statement in its workload's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StmtId(pub u32);

/// SQL with `$1`, `$2`, … and the types of these parameters.
#[derive(Clone, Debug)]
pub struct Statement {
    sql: String,
    params: Vec<ParamType>,
    /// The text between the parameters, each part with the parameter that follows it.
    segments: Vec<(String, Option<usize>)>,
    /// Format codes and the number of parameters, as in a Bind message.
    bind_formats: Vec<u8>,
    /// The text and the parameter types, as in a Parse message.
    parse_tail: Vec<u8>,
    /// The same in libpq's form.
    libpq_parse_tail: Vec<u8>,
    /// Bind and Execute, if it has a number and all parameters have a fixed length.
    template: Option<Template>,
}

impl Statement {
    /// Encodes a statement.
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
        // The server infers the type of a number or a text, but not always that of an array.
        let libpq_parse_tail = if params.contains(&ParamType::Int4Array) {
            parse_tail.clone()
        } else {
            let mut tail = Vec::new();
            frontend::cstr(&mut tail, &sql);
            tail.extend_from_slice(&[0, 0]);
            tail
        };
        Self {
            segments: split(&sql),
            sql,
            params: params.to_vec(),
            bind_formats,
            parse_tail,
            libpq_parse_tail,
            template: None,
        }
    }

    /// Encodes the messages of statement `id`, so that sending it is little more than a copy.
    #[must_use]
    pub fn numbered(mut self, id: StmtId) -> Self {
        let mut bytes = Vec::new();
        name(Wire::Native, Some(id), &mut bytes);
        // The type byte, the length, and the empty name of the portal precede the name.
        let values = 6 + bytes.len() + self.bind_formats.len();
        bytes.clear();
        let zeroes = vec![ParamValue::Int4(0); self.params.len()];
        self.bind(Wire::Native, Some(id), &zeroes, &mut bytes);
        frontend::execute(&mut bytes);
        self.template = Template::new(id, bytes, values, &self.params);
        self
    }

    /// Returns the text with its `$n`.
    #[must_use]
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// Returns the types of the parameters.
    #[must_use]
    pub fn params(&self) -> &[ParamType] {
        &self.params
    }

    /// Appends a Parse message under the name of `id`, or unnamed.
    pub(crate) fn parse(&self, wire: Wire, id: Option<StmtId>, out: &mut Vec<u8>) {
        frontend::message(out, b'P', |out| {
            name(wire, id, out);
            out.extend_from_slice(match wire {
                Wire::Native => &self.parse_tail,
                Wire::Libpq => &self.libpq_parse_tail,
            });
        });
    }

    /// Appends Bind and Execute of the statement prepared under the name of `id`, in the native form and by the
    /// template. Returns false if the values do not fit.
    #[inline]
    pub(crate) fn by_template(&self, id: StmtId, values: &[ParamValue<'_>], out: &mut Vec<u8>) -> bool {
        debug_assert_eq!(values.len(), self.params.len(), "wrong number of values for: {}", self.sql);
        self.template.as_ref().is_some_and(|template| template.fill(id, values, out))
    }

    /// Appends a Bind message to the unnamed portal; results come in text.
    #[inline]
    pub(crate) fn bind(&self, wire: Wire, id: Option<StmtId>, values: &[ParamValue<'_>], out: &mut Vec<u8>) {
        debug_assert_eq!(values.len(), self.params.len(), "wrong number of values for: {}", self.sql);
        frontend::message(out, b'B', |out| {
            out.push(0);
            name(wire, id, out);
            match wire {
                Wire::Native => {
                    out.extend_from_slice(&self.bind_formats);
                    for (value, ty) in values.iter().zip(&self.params) {
                        value.bind(*ty, out);
                    }
                    out.extend_from_slice(&[0, 0]);
                }
                Wire::Libpq => {
                    out.extend_from_slice(&[0, 0]);
                    out.extend_from_slice(&(values.len() as u16).to_be_bytes());
                    values.iter().for_each(|value| value.bind_text(out));
                    out.extend_from_slice(&[0, 1, 0, 0]);
                }
            }
        });
    }

    /// Appends a Query message with the values as literals.
    pub(crate) fn query(&self, values: &[ParamValue<'_>], out: &mut Vec<u8>) {
        frontend::message(out, b'Q', |out| {
            for (text, param) in &self.segments {
                out.extend_from_slice(text.as_bytes());
                if let Some(index) = param {
                    let value = values.get(*index).unwrap_or(&ParamValue::Null);
                    value.write_literal(self.params.get(*index).copied().unwrap_or(ParamType::Unknown), out);
                }
            }
            out.push(0);
        });
    }
}

/// Returns the name of a prepared statement on the server; unnamed without an id.
#[inline]
fn name(wire: Wire, id: Option<StmtId>, out: &mut Vec<u8>) {
    match (id, wire) {
        (None, _) => {}
        (Some(id), Wire::Native) => {
            out.extend_from_slice(NAME);
            out.extend_from_slice(&digits(id));
        }
        // pgbench's names.
        (Some(StmtId(id)), Wire::Libpq) => {
            out.extend_from_slice(b"P_");
            push_int(out, i64::from(id));
        }
    }
    out.push(0);
}

/// Returns the number of a statement in four hexadecimal digits.
#[inline]
fn digits(StmtId(id): StmtId) -> [u8; 4] {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    [12, 8, 4, 0].map(|shift| HEX[(id >> shift & 15) as usize])
}

/// Splits at `$n`, outside quotes. Ignores dollar quotes, which built-in statements do not have.
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
        statement.query(&[ParamValue::Int4(7), ParamValue::Int4(-3)], &mut out);
        assert_eq!(&out[5..], b"update t set a = a - (-3), b = '$1' where c = 7\0");
    }

    #[test]
    fn a_bind_message_is_byte_for_byte_what_the_manual_says() {
        let statement = Statement::new("select $1", &[ParamType::Int4]);
        let mut out = Vec::new();
        statement.bind(Wire::Native, Some(StmtId(26)), &[ParamValue::Int4(1)], &mut out);
        let mut expected = vec![b'B', 0, 0, 0, 33];
        expected.extend_from_slice(b"\0pgdyno_001a\0");
        expected.extend_from_slice(&[0, 1, 0, 1, 0, 1, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0]);
        expected[4] = (expected.len() - 1) as u8;
        assert_eq!(out, expected);
    }

    /// The template equals the message that is built field by field, for values that fit; otherwise it leaves no
    /// trace.
    #[test]
    fn a_template_makes_the_same_bytes() {
        let params = [ParamType::Int8, ParamType::Int4, ParamType::Int8];
        let statement = Statement::new("select $1, $2, $3", &params).numbered(StmtId(0xabc));
        assert!(statement.template.is_some());
        assert!(Statement::new("select $1", &[ParamType::Text]).numbered(StmtId(0)).template.is_none());
        let mut other = b"before".to_vec();
        assert!(!statement.by_template(
            StmtId(0xabd),
            &[ParamValue::Int8(1), ParamValue::Int4(2), ParamValue::Int8(3)],
            &mut other
        ));
        assert_eq!(other, b"before");
        for values in [
            [ParamValue::Int8(i64::MIN), ParamValue::Int4(-7), ParamValue::Int4(-1)],
            [ParamValue::Int4(1), ParamValue::Int4(i32::MAX), ParamValue::Int8(5)],
            [ParamValue::Null, ParamValue::Int4(3), ParamValue::Int8(5)],
            [ParamValue::Int8(1), ParamValue::Int4(3), ParamValue::Null],
        ] {
            let (mut by_template, mut by_field) = (b"before".to_vec(), b"before".to_vec());
            if !statement.by_template(StmtId(0xabc), &values, &mut by_template) {
                assert!(values.contains(&ParamValue::Null));
                assert_eq!(by_template, b"before");
                continue;
            }
            statement.bind(Wire::Native, Some(StmtId(0xabc)), &values, &mut by_field);
            frontend::execute(&mut by_field);
            assert_eq!(by_template, by_field, "{values:?}");
        }
    }

    #[test]
    fn libpqs_form_has_values_in_text_of_no_declared_type() {
        let statement = Statement::new("select $1, $2, $3", &[ParamType::Int4, ParamType::Int8, ParamType::Text]);
        let mut out = Vec::new();
        statement.parse(Wire::Libpq, Some(StmtId(12)), &mut out);
        assert_eq!(out, b"P\0\0\0\x1dP_12\0select $1, $2, $3\0\0\0");
        out.clear();
        let values = [ParamValue::Int4(-7), ParamValue::Null, ParamValue::Text("x")];
        statement.bind(Wire::Libpq, Some(StmtId(12)), &values, &mut out);
        let bind = b"B\0\0\0\x21\0P_12\0\0\0\0\x03\0\0\0\x02-7\xff\xff\xff\xff\0\0\0\x01x\0\x01\0\0";
        assert_eq!(out, bind);
        let array = Statement::new("select unnest($1)", &[ParamType::Int4Array]);
        out.clear();
        array.parse(Wire::Libpq, None, &mut out);
        assert!(out.ends_with(&[0, 1, 0, 0, 3, 239]), "int4[] is declared: {out:?}");
    }
}
