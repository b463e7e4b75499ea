//! All findings of a machine, and of a server if one was given.

use serde::Serialize;

use crate::finding::{Finding, FindingSeverity};

/// Version of the JSON form.
const FORMAT_VERSION: u32 = 1;

/// What was examined: this machine, or a server.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Examined {
    /// `machine` or `server`.
    pub name: &'static str,
    /// What it is: `2 CPUs, 23.4 GiB, Linux 6.1.0`, or the server's name and version.
    pub description: String,
    /// Its findings.
    pub findings: Vec<Finding>,
}

/// All findings.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Examination {
    /// Version of this form.
    pub format_version: u32,
    /// The greatest severity of all findings.
    pub severity: FindingSeverity,
    /// The machine first, then the server.
    pub places: Vec<Examined>,
}

impl Examination {
    /// Returns an examination of these places. The findings of each are sorted by severity, the most severe first.
    #[must_use]
    pub fn new(mut places: Vec<Examined>) -> Self {
        for place in &mut places {
            place.findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        }
        let severity = places.iter().flat_map(|place| &place.findings).map(|finding| finding.severity).max();
        Self { format_version: FORMAT_VERSION, severity: severity.unwrap_or(FindingSeverity::Passed), places }
    }

    /// Returns the number of findings of a severity.
    #[must_use]
    pub fn count(&self, severity: FindingSeverity) -> usize {
        let all = self.places.iter().flat_map(|place| &place.findings);
        all.filter(|finding| finding.severity == severity).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_severe_finding_comes_first_and_decides() {
        let passed = Finding::passed("swap", "none");
        let note = Finding::passed("jit", "on").note("why", "");
        let warning = Finding::passed("steal", "3 %").warning("why", "remedy");
        let place = |findings| Examined { name: "machine", description: String::new(), findings };
        let examined = Examination::new(vec![place(vec![passed.clone(), note, warning.clone()])]);
        assert_eq!((examined.severity, &examined.places[0].findings[0]), (FindingSeverity::Warning, &warning));
        assert_eq!(
            [FindingSeverity::Passed, FindingSeverity::Note, FindingSeverity::Error].map(|s| examined.count(s)),
            [1, 1, 0]
        );
        assert_eq!(Examination::new(vec![place(vec![passed])]).severity, FindingSeverity::Passed);
    }
}
