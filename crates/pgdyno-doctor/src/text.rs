//! An examination as text of 80 columns, and as JSON.

use std::io::{self, Write};

use pgdyno_text::TextStyle;
use pgdyno_text::paint::Paint;
use pgdyno_text::units::plain_plural;
use pgdyno_text::wrap::hanging;

use crate::examination::{Examination, Examined};
use crate::finding::{Finding, FindingSeverity};

/// Columns of a severity, and of the name of a check, with the space behind them.
const SEVERITY: usize = 9;
/// The same of what follows a finding.
const BELOW: usize = SEVERITY + 2;

/// The name of a format, and how it is written.
type Format = (&'static str, fn(&Examination, TextStyle, &mut dyn Write) -> io::Result<()>);

/// The formats, by name.
pub const FORMATS: &[Format] = &[("text", text), ("json", json)];

fn json(examination: &Examination, _: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, examination)?;
    writeln!(out)
}

fn text(examination: &Examination, look: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let paint = Paint(look.colour);
    writeln!(out, "{}", paint.bold(&verdict(examination)))?;
    for place in &examination.places {
        writeln!(out)?;
        let name = format!("{:<SEVERITY$}", place.name);
        hanging(out, &paint.bold(&name), SEVERITY, &place.description)?;
        write_place(place, look, &paint, out)?;
    }
    let passed = examination.count(FindingSeverity::Passed);
    if passed > 0 && !look.verbose {
        writeln!(out, "\n{} passed: -v shows them", plain_plural(passed as u64, "check"))?;
    }
    Ok(())
}

/// Returns the answer in a line.
fn verdict(examination: &Examination) -> String {
    let [errors, warnings, notes] = [FindingSeverity::Error, FindingSeverity::Warning, FindingSeverity::Note]
        .map(|severity| examination.count(severity));
    let counted = [(errors, "error"), (warnings, "warning"), (notes, "note")];
    let counted = counted.iter().filter(|(number, _)| *number > 0);
    let counted: Vec<_> = counted.map(|(number, name)| plain_plural(*number as u64, name)).collect();
    match examination.severity {
        FindingSeverity::Passed => "nothing found that would distort a measurement".to_owned(),
        FindingSeverity::Note => format!("nothing found that would distort a measurement; {}", counted.join(", ")),
        FindingSeverity::Warning => format!("a measurement here would be distorted: {}", counted.join(", ")),
        FindingSeverity::Error => format!("do not measure here before this is mended: {}", counted.join(", ")),
    }
}

fn write_place(place: &Examined, look: TextStyle, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    for finding in &place.findings {
        if finding.severity > FindingSeverity::Passed || look.verbose {
            write_finding(finding, paint, out)?;
        }
    }
    Ok(())
}

fn write_finding(finding: &Finding, paint: &Paint, out: &mut dyn Write) -> io::Result<()> {
    let label = match finding.severity {
        FindingSeverity::Passed => format!("{:<SEVERITY$}", "passed"),
        FindingSeverity::Note => format!("{:<SEVERITY$}", "note"),
        FindingSeverity::Warning => paint.yellow(&format!("{:<SEVERITY$}", "warning")),
        FindingSeverity::Error => paint.red(&format!("{:<SEVERITY$}", "ERROR")),
    };
    hanging(out, &label, SEVERITY, &format!("{}: {}", finding.check, finding.figure))?;
    let below = [finding.why.as_str(), finding.remedy.as_str()];
    for text in below.iter().filter(|text| !text.is_empty()) {
        hanging(out, &" ".repeat(BELOW), BELOW, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examined() -> Examination {
        let findings = vec![
            Finding::passed("swap", "none"),
            Finding::passed("steal", "3.0 % of CPU time").measured(3.0, "percent").warning("It varies.", "Move."),
        ];
        Examination::new(vec![Examined { name: "machine", description: "2 CPUs".to_owned(), findings }])
    }

    fn written(look: TextStyle) -> String {
        let mut out = Vec::new();
        text(&examined(), look, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_answer_comes_first_and_what_passed_only_if_asked() {
        let short = "a measurement here would be distorted: 1 warning\n\nmachine  2 CPUs\n\
                     warning  steal: 3.0 % of CPU time\n           It varies.\n           Move.\n";
        assert_eq!(written(TextStyle::default()), format!("{short}\n1 check passed: -v shows them\n"));
        let verbose = TextStyle { verbose: true, ..TextStyle::default() };
        assert_eq!(written(verbose), format!("{short}passed   swap: none\n"));
    }

    #[test]
    fn json_has_figures_as_numbers() {
        let mut out = Vec::new();
        json(&examined(), TextStyle::default(), &mut out).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!((&value["severity"], &value["places"][0]["findings"][0]["value"]), (&"warning".into(), &3.0.into()));
        assert_eq!(value["places"][0]["findings"][1].get("why"), None);
    }
}
