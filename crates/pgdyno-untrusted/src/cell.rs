//! Text of strangers in CSV.

use std::borrow::Cow;
use std::fmt;

/// Characters that make a formula of a cell (OWASP, "CSV Injection"), in ASCII and in full width.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// Displays a field of CSV (RFC 4180) that no spreadsheet takes for a formula: a text that begins like one gets a `'` before
/// it, and quotes. Numbers stay as they are. [`plain_cell`] returns the text.
#[derive(Clone, Copy, Debug)]
pub struct CsvField<'a>(pub &'a str);

impl fmt::Display for CsvField<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if is_formula(self.0) { "'" } else { "" };
        if mark.is_empty() && !self.0.contains([',', '"', '\n', '\r', ';', '\t']) {
            return f.write_str(self.0);
        }
        write!(f, "\"{mark}{}\"", self.0.replace('"', "\"\""))
    }
}

/// Returns the text of a cell that [`CsvField`] wrote, without the `'` before a formula.
#[must_use]
pub fn plain_cell(cell: Cow<'_, str>) -> Cow<'_, str> {
    match cell.strip_prefix('\'').is_some_and(is_formula) {
        true => Cow::Owned(cell[1..].to_owned()),
        false => cell,
    }
}

/// Returns true if a spreadsheet would compute the cell, or if it already has the mark of one that it would.
fn is_formula(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(FORMULA) && !is_number(text)
}

fn is_number(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E')) && text.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_no_formula_and_a_number_stays_one() {
        for (text, field) in [
            ("plain", "plain"),
            ("a,b \"c\"", "\"a,b \"\"c\"\"\""),
            ("-12.5", "-12.5"),
            ("+1e9", "+1e9"),
            ("-1+1", "\"'-1+1\""),
            ("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""),
            ("@SUM(1,1)", "\"'@SUM(1,1)\""),
            ("\t=1", "\"'\t=1\""),
            ("＝1", "\"'＝1\""),
            ("-- a comment", "\"'-- a comment\""),
            ("'=1", "\"''=1\""),
            ("it's", "it's"),
            ("a;=1", "\"a;=1\""),
            ("", ""),
        ] {
            assert_eq!(CsvField(text).to_string(), field);
            let cell = field.strip_prefix('"').and_then(|field| field.strip_suffix('"')).unwrap_or(field);
            assert_eq!(plain_cell(cell.replace("\"\"", "\"").into()), text);
        }
    }
}
