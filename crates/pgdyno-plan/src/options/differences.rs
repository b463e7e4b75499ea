//! The options in which two plans differ.

use super::{Bearing, KeptOption, OptionValue, RunOption, of_any_run};
use crate::Plan;

/// A value in which two plans differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The option's title, or the name of the parameter or setting.
    pub name: String,
    /// The value in the first plan, if it has one.
    pub first: Option<String>,
    /// The value in the second plan.
    pub second: Option<String>,
    /// Whether the option has a name only, so that the values say no more than that.
    pub is_flag: bool,
}

/// Returns the values that affect figures and in which two plans differ, in the order of the options.
#[must_use]
pub fn differences(first: &Plan, second: &Plan) -> Vec<Difference> {
    let mut found = Vec::new();
    for option in of_any_run().filter(|option| affects_figures(option, first, second)) {
        let (mine, theirs) = (option.kept.values(first), option.kept.values(second));
        let of = |values: &[OptionValue], name: &str| {
            values.iter().find(|value| value.name == name).map(|value| value.text.clone())
        };
        let only_theirs = theirs.iter().filter(|value| of(&mine, &value.name).is_none());
        for value in mine.iter().chain(only_theirs) {
            let (first, second) = (of(&mine, &value.name), of(&theirs, &value.name));
            if first != second {
                let is_flag = matches!(option.kept, KeptOption::Flag(..));
                found.push(Difference { name: value.name.clone(), first, second, is_flag });
            }
        }
    }
    found
}

fn affects_figures(option: &RunOption, first: &Plan, second: &Plan) -> bool {
    let bearing = |plan: &Plan| option.kept.reported().map(|reported| (reported.bearing)(plan));
    bearing(first).max(bearing(second)) > Some(Bearing::None)
}
