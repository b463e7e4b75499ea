//! `workload.toml`.

use std::collections::BTreeMap;

use pgdyno_text::parse::duration;
use pgdyno_wire::QueryMode;
use pgdyno_workload::{ParamKind, RATE_MAX_PER_S, RateSteps, in_plain_words};
use serde::Deserialize;

use super::groups::{OwnGroup, StageEntry};
use super::script_entry::ScriptEntry;
use super::value_lists::ValuesEntry;

/// The file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    /// The name of the data set; the directory's name if absent.
    pub(super) name: Option<String>,
    /// One line of description.
    #[serde(default)]
    pub(super) summary: String,
    /// What a unit of scale means.
    #[serde(default)]
    pub(super) scale: String,
    /// Parameters: a default, or a table with `default` and `help`.
    #[serde(default)]
    pub(super) params: BTreeMap<String, toml::Value>,
    /// The built-in workload whose data it uses, if it has none of its own.
    pub(super) data: Option<DataEntry>,
    /// What a run does unless it is asked for something else.
    #[serde(default)]
    pub(super) run: RunDefaults,
    #[serde(default)]
    pub(super) script: Vec<ScriptEntry>,
    /// Groups of clients; empty if all clients run all scripts.
    #[serde(default)]
    pub(super) group: Vec<OwnGroup>,
    /// The stages in which groups run; one with all groups if empty.
    #[serde(default)]
    pub(super) stage: Vec<StageEntry>,
    #[serde(default)]
    pub(super) check: Vec<CheckEntry>,
    /// Lists of values that scripts draw from.
    #[serde(default)]
    pub(super) values: Vec<ValuesEntry>,
}

/// What a run of the workload does unless its options say otherwise.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunDefaults {
    /// Clients (`--clients`).
    pub clients: Option<u32>,
    /// Query mode (`--mode`).
    pub mode: Option<QueryMode>,
    /// Transactions a second over all clients (`--rate`).
    pub rate_per_s: Option<f64>,
    /// How many times `rate_per_s` is offered in each step of the measured window (`--rate-steps`).
    #[serde(default)]
    rate_steps: Vec<f64>,
    /// The length of a step.
    rate_step: Option<String>,
    /// Whether runs follow the steps unless `--rate-steps` says otherwise.
    pub follow_rate_steps: Option<bool>,
    /// Tries of a transaction that meets a serialization failure or a deadlock (`--max-tries`).
    pub max_tries: Option<u32>,
}

impl RunDefaults {
    /// Refuses values that no option takes.
    fn admit(&self) -> Result<(), String> {
        if self.clients == Some(0) {
            return Err("run: clients must be above 0".to_owned());
        }
        match self.rate_per_s {
            Some(rate) if !(rate > 0.0 && rate <= RATE_MAX_PER_S) => {
                return Err("run: rate_per_s must be above 0 and at most 1e9".to_owned());
            }
            _ => {}
        }
        let has_steps = !self.rate_steps.is_empty();
        match (&self.rate_step, self.rate_per_s) {
            (None, _) if has_steps => return Err("run: rate_steps needs rate_step, such as \"1min\"".to_owned()),
            (_, None) if has_steps => return Err("run: rate_steps needs rate_per_s".to_owned()),
            (Some(_), _) if !has_steps => return Err("run: rate_step needs rate_steps".to_owned()),
            _ => {}
        }
        if self.follow_rate_steps.is_some() && !has_steps {
            return Err("run: follow_rate_steps needs rate_steps".to_owned());
        }
        if let Some(Err(error)) = self.rate_step.as_deref().map(duration) {
            return Err(format!("run: rate_step: {error}"));
        }
        self.steps().map_or(Ok(()), |steps| steps.admit().map_err(|error| format!("run: rate_steps: {error}")))
    }

    /// Returns the steps of its rate, if it has any.
    #[must_use]
    pub fn steps(&self) -> Option<RateSteps> {
        let step_s = duration(self.rate_step.as_deref()?).ok()?;
        Some(RateSteps { per_s: self.rate_per_s?, step_s, steps: self.rate_steps.clone() })
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DataEntry {
    /// The built-in workload.
    pub(super) workload: Option<String>,
    /// Whether the tables are there, and are neither loaded nor checked nor dropped.
    #[serde(default)]
    pub(super) existing: bool,
    /// Values that its parameters must have.
    #[serde(default)]
    pub(super) params: BTreeMap<String, toml::Value>,
    /// Its checks that hold under the scripts; all of them if absent.
    pub(super) checks: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckEntry {
    pub(super) name: String,
    /// The condition, in words.
    #[serde(default)]
    pub(super) condition: String,
    /// A query that must return no row, or the same rows as before the run.
    pub(super) sql: String,
    /// Whether it must return the same rows as before the run.
    #[serde(default)]
    pub(super) unchanged: bool,
}

/// A parameter with its default.
#[derive(Debug)]
pub(super) struct ParamEntry {
    pub(super) name: String,
    pub(super) default: String,
    pub(super) help: String,
    pub(super) kind: ParamKind,
}

impl Manifest {
    /// Parses the file. The error names the place of the mistake.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let manifest: Self = toml::from_str(text).map_err(|error| {
            let words = in_plain_words(error.message());
            error.to_string().trim_end().replace(error.message(), &words)
        })?;
        manifest.run.admit()?;
        Ok(manifest)
    }

    /// Returns the parameters by name.
    pub(super) fn params(&self) -> Result<Vec<ParamEntry>, String> {
        self.params.iter().map(|(name, value)| param(name, value)).collect()
    }
}

fn param(name: &str, value: &toml::Value) -> Result<ParamEntry, String> {
    let is_variable = |name: &str| {
        !name.starts_with(|c: char| c.is_ascii_digit()) && name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_')
    };
    if name.is_empty() || !is_variable(name) {
        return Err(format!("params: '{name}' cannot be a variable: write letters, digits and underscores"));
    }
    let (default, help) = match value {
        toml::Value::Table(table) => {
            if let Some(unknown) = table.keys().find(|key| !matches!(key.as_str(), "default" | "help")) {
                return Err(format!("params: {name} has an unknown field '{unknown}'; it takes default and help"));
            }
            let help = table.get("help").and_then(toml::Value::as_str).unwrap_or_default();
            (table.get("default"), help)
        }
        value => (Some(value), ""),
    };
    let default = default.ok_or_else(|| format!("params: {name} needs a default"))?;
    let (default, kind) = plain(default)
        .ok_or_else(|| format!("params: the default of {name} must be a number, a text, true or false"))?;
    Ok(ParamEntry { name: name.to_owned(), default, help: help.to_owned(), kind })
}

/// Returns the text of a plain value, and the kind of its parameter.
pub(super) fn plain(value: &toml::Value) -> Option<(String, ParamKind)> {
    match value {
        toml::Value::Integer(n) => Some((n.to_string(), ParamKind::Integer(i64::MIN, i64::MAX))),
        toml::Value::Boolean(b) => Some((b.to_string(), ParamKind::Flag)),
        toml::Value::Float(x) => Some((x.to_string(), ParamKind::Text)),
        toml::Value::String(text) => Some((text.clone(), ParamKind::Text)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_a_default_of_any_plain_kind() {
        let manifest = Manifest::parse(
            "[params]\nrows = 5_000_000\nname = 'x y'\nfast = true\nskew = { default = 1.5, help = 'how uneven' }\n",
        )
        .unwrap();
        let params = manifest.params().unwrap();
        let shown: Vec<_> = params.iter().map(|p| (p.name.as_str(), p.default.as_str(), p.help.as_str())).collect();
        assert_eq!(
            shown,
            [("fast", "true", ""), ("name", "x y", ""), ("rows", "5000000", ""), ("skew", "1.5", "how uneven")]
        );
    }

    #[test]
    fn the_rate_may_have_steps() {
        let text =
            "[run]\nrate_per_s = 50\nrate_steps = [0.5, 1, 1.5]\nrate_step = '1min'\nfollow_rate_steps = false\n";
        let run = Manifest::parse(text).unwrap().run;
        let steps = RateSteps { per_s: 50.0, step_s: 60.0, steps: vec![0.5, 1.0, 1.5] };
        assert_eq!((run.steps(), run.follow_rate_steps), (Some(steps), Some(false)));
        assert_eq!(Manifest::parse("[run]\nrate_per_s = 50").unwrap().run.steps(), None);
    }

    #[test]
    fn what_is_wrong_is_reported_with_its_place() {
        for (text, words) in [
            ("summary = 1", &["line 1", "1 is not a text in quotes"][..]),
            ("sumary = ''", &["line 1", "unknown field `sumary`", "summary"]),
            ("[[script]]\nweight = 1", &["missing field `file`"]),
            ("[[script]]\nfile = 'a.sql'\nweight = -1", &["line 3", "-1"]),
            ("[[check]]\nname = 'a'", &["missing field `sql`"]),
            ("[[values]]\nname = 'a'", &["missing field `sql`"]),
            ("[run]\nclients = 0", &["clients must be above 0"]),
            ("[run]\nrate_per_s = -1.0", &["rate_per_s must be above 0"]),
            ("[run]\nrate = 1", &["unknown field `rate`"]),
            ("[run]\nrate_per_s = 1\nrate_steps = [1]", &["rate_steps needs rate_step"]),
            ("[run]\nrate_step = '1min'\nrate_steps = [1]", &["rate_steps needs rate_per_s"]),
            ("[run]\nrate_per_s = 1\nrate_step = '1min'", &["rate_step needs rate_steps"]),
            ("[run]\nfollow_rate_steps = true", &["follow_rate_steps needs rate_steps"]),
            ("[run]\nrate_per_s = 1\nrate_step = '1m'\nrate_steps = [1]", &["rate_step", "write min or ms"]),
            ("[run]\nrate_per_s = 1\nrate_step = '1min'\nrate_steps = [0, 0]", &["all steps are 0"]),
            ("[params]\n'a-b' = 1", &["'a-b' cannot be a variable"]),
            ("[params]\na = []", &["default of a must be"]),
            ("[params]\na = { help = '' }", &["a needs a default"]),
            ("[params]\na = { default = 1, hlep = '' }", &["a has an unknown field 'hlep'"]),
        ] {
            let error = Manifest::parse(text).and_then(|m| m.params().map(drop)).unwrap_err();
            assert!(words.iter().all(|word| error.contains(word)), "{text}: {error}");
        }
    }
}
