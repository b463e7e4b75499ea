//! A Bind message in which only the values change.

use crate::{ParamType, ParamValue, StmtId};

/// A Bind of a prepared statement whose parameters all have a fixed length, and its Execute. It is copied as a whole,
/// and then the values are written into it.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    id: StmtId,
    bytes: Vec<u8>,
    /// Positions of the values, in order.
    places: Vec<ParamPlace>,
}

#[derive(Clone, Copy, Debug)]
struct ParamPlace {
    at: usize,
    /// Whether it is an `int8`.
    wide: bool,
}

impl Template {
    /// Returns the template of a Bind of statement `id` whose parameters begin at `values`, with its Execute; `None`
    /// if a parameter has no fixed length.
    pub(crate) fn new(id: StmtId, bytes: Vec<u8>, values: usize, params: &[ParamType]) -> Option<Self> {
        let mut places = Vec::with_capacity(params.len());
        let mut at = values;
        for param in params {
            let wide = match param {
                ParamType::Int4 => false,
                ParamType::Int8 => true,
                _ => return None,
            };
            places.push(ParamPlace { at: at + 4, wide });
            at += if wide { 12 } else { 8 };
        }
        Some(Self { id, bytes, places })
    }

    /// Appends the messages. Returns false, and appends nothing, if they belong to another statement or a value does
    /// not fit.
    #[inline]
    pub(crate) fn fill(&self, id: StmtId, values: &[ParamValue<'_>], out: &mut Vec<u8>) -> bool {
        if id != self.id {
            return false;
        }
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        let message = &mut out[start..];
        for (value, place) in values.iter().zip(&self.places) {
            match (*value, place.wide) {
                (ParamValue::Int4(v), false) => message[place.at..place.at + 4].copy_from_slice(&v.to_be_bytes()),
                (ParamValue::Int4(v), true) => {
                    message[place.at..place.at + 8].copy_from_slice(&i64::from(v).to_be_bytes());
                }
                (ParamValue::Int8(v), true) => message[place.at..place.at + 8].copy_from_slice(&v.to_be_bytes()),
                _ => {
                    out.truncate(start);
                    return false;
                }
            }
        }
        true
    }
}
