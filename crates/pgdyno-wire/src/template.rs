//! A Bind message in which only the values differ from one time to the next.

use crate::{ParamType, StmtId, Value};

/// The digits of a statement's number within its name.
const DIGITS: usize = 4;

/// A Bind of a prepared statement whose parameters all have a fixed length, and the Execute after it. It is copied as a
/// whole, and number and values are put into their places.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    bytes: Vec<u8>,
    /// Where the number of the statement stands.
    number: usize,
    /// Where the values stand, in order.
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    at: usize,
    /// Whether it is an `int8`.
    wide: bool,
}

impl Template {
    /// From a Bind whose name ends with the number of its statement at `number`, and whose parameters begin at `values`,
    /// with the Execute after it. `None` where a parameter has no fixed length.
    pub(crate) fn new(bytes: Vec<u8>, number: usize, values: usize, params: &[ParamType]) -> Option<Self> {
        let mut places = Vec::with_capacity(params.len());
        let mut at = values;
        for param in params {
            let wide = match param {
                ParamType::Int4 => false,
                ParamType::Int8 => true,
                _ => return None,
            };
            places.push(Place { at: at + 4, wide });
            at += if wide { 12 } else { 8 };
        }
        Some(Self { bytes, number, places })
    }

    /// Appends the messages; `false`, and nothing is appended, where a value does not fit its place.
    #[inline]
    pub(crate) fn fill(&self, id: StmtId, values: &[Value<'_>], out: &mut Vec<u8>) -> bool {
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        let message = &mut out[start..];
        message[self.number..self.number + DIGITS].copy_from_slice(&digits(id));
        for (value, place) in values.iter().zip(&self.places) {
            match (*value, place.wide) {
                (Value::Int4(v), false) => message[place.at..place.at + 4].copy_from_slice(&v.to_be_bytes()),
                (Value::Int4(v), true) => {
                    message[place.at..place.at + 8].copy_from_slice(&i64::from(v).to_be_bytes());
                }
                (Value::Int8(v), true) => message[place.at..place.at + 8].copy_from_slice(&v.to_be_bytes()),
                _ => {
                    out.truncate(start);
                    return false;
                }
            }
        }
        true
    }
}

/// The number of a statement in four hexadecimal digits.
#[inline]
pub(crate) fn digits(StmtId(id): StmtId) -> [u8; DIGITS] {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    [12, 8, 4, 0].map(|shift| HEX[(id >> shift & 15) as usize])
}
