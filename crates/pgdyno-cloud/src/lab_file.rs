//! `lab.toml`: what the user wants to be created, and what runs there.

use std::path::{Path, PathBuf};

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_plan::mistake::{self, Mistake};
use pgdyno_plan::recipe;
use pgdyno_text::parse::Duration;
use serde::Deserialize;

use crate::cost::{Money, bound};
use crate::module::Module;

/// The target of every suite of a lab.
pub(crate) const TARGET: &str = "lab";

/// Letters of the names of labs and sizes, which are parts of names in the cloud.
const NAME_MAX: usize = 20;

/// Keys of a size that are for pgdyno and not for the module.
const OWN_KEYS: [&str; 2] = ["name", "price_per_hour"];

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    module: String,
    #[serde(default = "six_hours")]
    ttl: Duration,
    max_cost: Option<String>,
    #[serde(default = "one")]
    parallel: usize,
    run: RunTable,
    #[serde(default)]
    variables: toml::Table,
    #[serde(default)]
    size: Vec<toml::Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunTable {
    recipe: Option<String>,
    suite: Option<PathBuf>,
    command: Option<Vec<String>>,
    #[serde(default)]
    fit: bool,
    #[serde(default)]
    short: bool,
}

fn six_hours() -> Duration {
    Duration::from_seconds(6.0 * 3600.0)
}

fn one() -> usize {
    1
}

/// What the user wants.
#[derive(Clone, Debug)]
pub struct LabFile {
    /// The lab's name.
    pub name: String,
    /// What is created.
    pub module: &'static Module,
    /// How long it may exist.
    pub ttl_s: f64,
    /// What it may cost.
    pub max_cost: Option<Money>,
    /// How many sizes exist at a time.
    pub parallel: usize,
    /// What runs.
    pub work: Work,
    /// Variables of the module.
    pub variables: toml::Table,
    /// The sizes.
    pub sizes: Vec<LabSize>,
    /// Currency of the prices.
    pub currency: String,
}

/// What runs on each size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Work {
    /// A recipe.
    Recipe {
        /// Its name.
        name: String,
        /// Scaled to the size.
        fit: bool,
        /// Shortened.
        short: bool,
    },
    /// A suite's file, absolute, whose targets are `lab`.
    Suite(PathBuf),
    /// Arguments of `pgdyno`, of which the first is `run`.
    Command(Vec<String>),
}

/// A size.
#[derive(Clone, Debug)]
pub struct LabSize {
    /// Its name.
    pub name: String,
    /// Price of an hour of all that it creates.
    pub price_per_hour: Option<f64>,
    /// Variables of the module.
    pub variables: toml::Table,
}

impl LabFile {
    /// Reads a lab's file.
    ///
    /// # Errors
    /// When it cannot be read or contains a mistake.
    pub fn open(path: &Path) -> Result<(Self, String)> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            CommandError::new(Code::Start, format!("failed to read the lab {}: {error}", path.display()))
                .hint("`pgdyno cloud init MODULE -o lab.toml` writes one")
        })?;
        let base = std::path::absolute(path).or_fail(Code::Start)?;
        let base = base.parent().unwrap_or(Path::new("/"));
        let file = Self::read(&path.display().to_string(), &text, base)?;
        Ok((file, text))
    }

    /// Parses the content of `file`; a suite's path is relative to `base`.
    ///
    /// # Errors
    /// When it contains a mistake.
    pub fn read(file: &str, text: &str, base: &Path) -> Result<Self> {
        let wrong = |what: String| CommandError::new(Code::Start, Mistake::new(file, what));
        let parsed: File = mistake::read(file, text).or_fail(Code::Start)?;
        let max_cost = parsed.max_cost.as_deref().map(Money::parse).transpose().map_err(wrong)?;
        let lab = Self {
            module: Module::named(&parsed.module)?,
            ttl_s: parsed.ttl.seconds(),
            currency: max_cost.as_ref().map_or_else(|| "USD".to_owned(), |money| money.currency.clone()),
            max_cost,
            parallel: parsed.parallel,
            work: work(parsed.run, base).map_err(wrong)?,
            variables: parsed.variables,
            sizes: parsed.size.into_iter().map(size).collect::<std::result::Result<_, _>>().map_err(wrong)?,
            name: parsed.name,
        };
        lab.check().map_err(wrong)?;
        Ok(lab)
    }

    fn check(&self) -> std::result::Result<(), String> {
        if !is_name(&self.name) || !self.name.starts_with(|letter: char| letter.is_ascii_lowercase()) {
            return Err(format!(
                "name is '{}', and must be at most {NAME_MAX} lower-case letters, digits and single hyphens, and begin with a letter",
                self.name
            ));
        }
        if !self.ttl_s.is_finite() || self.ttl_s < 60.0 || self.ttl_s > 30.0 * 86_400.0 {
            return Err("ttl must be between 1min and 30 days".to_owned());
        }
        if self.parallel == 0 {
            return Err("parallel must be at least 1".to_owned());
        }
        if self.sizes.is_empty() {
            return Err("it has no [[size]]: name at least one".to_owned());
        }
        for (nth, size) in self.sizes.iter().enumerate() {
            if self.sizes.iter().take(nth).any(|other| other.name == size.name) {
                return Err(format!("two sizes have the name {}", size.name));
            }
        }
        let known = |name: &str| self.module.variables.iter().any(|variable| variable.name == name);
        if let Some(name) = self.variables.keys().find(|name| !known(name)) {
            let all: Vec<_> = self.module.variables.iter().map(|variable| variable.name.as_str()).collect();
            return Err(format!("[variables] has {name}, and module {} takes: {}", self.module.name, all.join(", ")));
        }
        let is_given = |name: &str| {
            self.variables.contains_key(name) || self.sizes.iter().all(|size| size.variables.contains_key(name))
        };
        let missing = self.module.variables.iter().find(|variable| variable.required && !is_given(&variable.name));
        match missing {
            Some(variable) => Err(format!("[variables] lacks {}: {}", variable.name, variable.about)),
            None => Ok(()),
        }
    }

    /// Returns what the lab costs at most; `None` if a price is missing.
    #[must_use]
    pub fn bound(&self, ttl_s: f64) -> Option<Money> {
        let prices: Option<Vec<f64>> = self
            .sizes
            .iter()
            .map(|size| size.price_per_hour.or_else(|| self.module.is_local().then_some(0.0)))
            .collect();
        Some(Money { amount: bound(prices?, ttl_s), currency: self.currency.clone() })
    }

    /// Refuses a lab that could cost more than `max`.
    ///
    /// # Errors
    /// When its bound is above, or a price is missing.
    pub fn admit_cost(&self, max: Option<&Money>, ttl_s: f64) -> Result<()> {
        let Some(max) = max else { return Ok(()) };
        let Some(bound) = self.bound(ttl_s) else {
            let error = format!("the cost of lab {} has no bound: a size has no price_per_hour", self.name);
            return Err(CommandError::new(Code::Start, error).hint(format!("look it up: {}", self.module.price)));
        };
        if bound.currency != max.currency {
            let error = format!("the lab's prices are in {}, and the limit is in {}", bound.currency, max.currency);
            return Err(CommandError::new(Code::Start, error));
        }
        if bound.amount > max.amount {
            let error = format!("lab {} could cost {bound}, which is above the limit of {max}", self.name);
            return Err(
                CommandError::new(Code::Start, error).hint("shorten --ttl, leave sizes out, or raise --max-cost")
            );
        }
        Ok(())
    }

    /// Returns the text of the suite that runs on a size; `None` if the user has a suite's file.
    #[must_use]
    pub fn suite_text(&self, size: &LabSize) -> Option<String> {
        let (what, mut args) = match &self.work {
            Work::Suite(_) => return None,
            Work::Command(words) => {
                (words.get(1).cloned().unwrap_or_default(), words.iter().skip(2).cloned().collect())
            }
            Work::Recipe { name, fit, short } => {
                let mut args = Vec::new();
                let sizes = recipe::find(name).map(|recipe| recipe.sizes.as_slice()).unwrap_or_default();
                let same = sizes.iter().find(|known| known.name.replace('+', "-").to_lowercase() == size.name);
                args.extend(same.map(|known| format!("--size={}", known.name)));
                args.extend(fit.then(|| "--fit".to_owned()));
                args.extend(short.then(|| "--short".to_owned()));
                (name.clone(), args)
            }
        };
        args.retain(|arg: &String| !arg.is_empty());
        let words: Vec<_> = args.iter().map(|arg| quoted(arg)).collect();
        Some(format!(
            "name = {}\ntargets = [\"{TARGET}\"]\n\n[[run]]\nwhat = {}\nargs = [{}]\n",
            quoted(&self.name),
            quoted(&what),
            words.join(", ")
        ))
    }
}

/// Returns a string of TOML.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

fn is_name(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    !name.is_empty()
        && name.len() <= NAME_MAX
        && name.bytes().all(|byte| letter(byte) || byte == b'-')
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

fn work(run: RunTable, base: &Path) -> std::result::Result<Work, String> {
    match (run.recipe, run.suite, run.command) {
        (Some(name), None, None) => match recipe::find(&name) {
            Some(_) => Ok(Work::Recipe { name, fit: run.fit, short: run.short }),
            None => Err(match recipe::nearest(&name) {
                Some(near) => format!("there is no recipe {name}; the nearest is {near}"),
                None => format!("there is no recipe {name}; `pgdyno list recipes` has all"),
            }),
        },
        (None, Some(path), None) => Ok(Work::Suite(base.join(path))),
        (None, None, Some(words)) if words.len() > 1 && words.first().is_some_and(|word| word == "run") => {
            Ok(Work::Command(words))
        }
        (None, None, Some(_)) => Err("command must be [\"run\", WORKLOAD, …]".to_owned()),
        _ => Err("[run] needs one of recipe, suite and command".to_owned()),
    }
}

fn size(mut table: toml::Table) -> std::result::Result<LabSize, String> {
    let Some(toml::Value::String(name)) = table.get("name").cloned() else {
        return Err("a [[size]] has no name".to_owned());
    };
    if !is_name(&name) {
        return Err(format!("size '{name}' must be at most {NAME_MAX} lower-case letters, digits and single hyphens"));
    }
    let price_per_hour = match table.get("price_per_hour") {
        None => None,
        Some(value) => {
            let price = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
            let price = price.filter(|price| price.is_finite() && *price >= 0.0);
            Some(price.ok_or_else(|| format!("size {name}: price_per_hour must be a number"))?)
        }
    };
    table.retain(|key, _| !OWN_KEYS.contains(&key));
    Ok(LabSize { name, price_per_hour, variables: table })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
name = "bulk"
module = "local"
ttl = "6h"
max_cost = "60USD"

[run]
command = ["run", "tproc-c", "-w", "1"]

[variables]
memory_mb = 256

[[size]]
name = "1cpu"
cpu = 1
price_per_hour = 2

[[size]]
name = "2cpu"
cpu = 2
price_per_hour = 4.5
"#;

    fn read(text: &str) -> Result<LabFile> {
        LabFile::read("lab.toml", text, Path::new("/lab"))
    }

    fn refused(text: &str) -> String {
        read(text).unwrap_err().text()
    }

    #[test]
    fn a_file_is_read_with_its_bound() {
        let lab = read(FILE).unwrap();
        assert_eq!(lab.bound(lab.ttl_s).unwrap().to_string(), "39.00 USD");
        lab.admit_cost(lab.max_cost.as_ref(), lab.ttl_s).unwrap();
        let error = lab.admit_cost(Money::parse("38USD").ok().as_ref(), lab.ttl_s).unwrap_err();
        assert!(error.text().contains("could cost 39.00 USD"), "{}", error.text());
        assert!(lab.admit_cost(Money::parse("380EUR").ok().as_ref(), lab.ttl_s).is_err());
        assert!(!lab.sizes[0].variables.contains_key("price_per_hour"));
        let text = lab.suite_text(&lab.sizes[0]).unwrap();
        assert!(text.contains("what = \"tproc-c\"\nargs = [\"-w\", \"1\"]"), "{text}");
    }

    #[test]
    fn mistakes_are_named() {
        assert!(refused(&FILE.replace("ttl =", "tll =")).contains("did you mean `ttl`?"));
        assert!(refused(&FILE.replace("\"bulk\"", "\"Bulk; rm\"")).contains("lower-case letters"));
        assert!(refused(&FILE.replace("\"2cpu\"", "\"1cpu\"")).contains("two sizes"));
        assert!(refused(&FILE.replace("\"2cpu\"", "\"../x\"")).contains("size '../x'"));
        assert!(refused(&FILE.replace("memory_mb", "memory")).contains("[variables] has memory"));
        assert!(refused(&FILE.replace("60USD", "sixty")).contains("is no amount"));
        assert!(refused(&FILE.replace("price_per_hour = 2", "price_per_hour = -2")).contains("must be a number"));
        assert!(refused(&FILE.replace("\"run\", ", "")).contains("command must be"));
        assert!(refused(&FILE.replace("ttl = \"6h\"", "ttl = \"1000h\"")).contains("30 days"));
    }
}
