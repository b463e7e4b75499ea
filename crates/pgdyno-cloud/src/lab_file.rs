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
const OWN_KEYS: [&str; 4] = ["name", "price_per_hour", "memory", "recipe_size"];
/// The variable of a module that has the server's memory.
const MEMORY_MB: &str = "memory_mb";

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
    #[serde(default)]
    args: Vec<String>,
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
        /// Options that depart from it.
        args: Vec<String>,
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
    /// Memory of the server, as `128GB`.
    pub memory: Option<String>,
    /// The size of the recipe whose numbers are taken as they are.
    pub recipe_size: Option<String>,
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
        check_ttl(self.ttl_s)?;
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
        if let (Work::Recipe { fit: true, .. }, Some(size)) =
            (&self.work, self.sizes.iter().find(|size| self.memory(size).is_none()))
        {
            return Err(format!(
                "fit needs the memory of the server: write memory = \"128GB\" into the [[size]] of {}",
                size.name
            ));
        }
        let known = |name: &str| self.module.variables.iter().any(|variable| variable.name == name);
        if let Some(name) = self.variables.keys().find(|name| !known(name)) {
            let all: Vec<_> = self.module.variables.iter().map(|variable| variable.name.as_str()).collect();
            return Err(format!("[variables] has {name}, and module {} takes: {}", self.module.name, all.join(", ")));
        }
        // `pgdyno cloud init` leaves them empty.
        let is_filled = |value: Option<&toml::Value>| value.is_some_and(|value| value.as_str() != Some(""));
        let is_given = |name: &str| {
            is_filled(self.variables.get(name)) || self.sizes.iter().all(|size| is_filled(size.variables.get(name)))
        };
        let missing = self.module.variables.iter().find(|variable| variable.required && !is_given(&variable.name));
        match missing {
            Some(variable) => Err(format!("fill in {} in [variables]: {}", variable.name, variable.about)),
            None => Ok(()),
        }
    }

    /// Checks what holds for new labs: what a sweep looks by is the same for all sizes.
    ///
    /// # Errors
    /// When a size has a variable of its own that a sweep names.
    pub(crate) fn admit_new(&self) -> Result<()> {
        let swept = self.module.sweep.resource.iter().flat_map(|kind| kind.list.iter().chain(&kind.delete));
        let swept: Vec<_> = swept.filter(|word| word.contains('{')).collect();
        let is_asked = |name: &&String| swept.iter().any(|word| word.contains(&format!("{{{name}}}")));
        for size in &self.sizes {
            if let Some(name) = size.variables.keys().find(is_asked) {
                let of_size = &size.name;
                let error = format!(
                    "move {name} from the [[size]] of {of_size} to [variables]: a sweep looks for what is left in one {name}"
                );
                return Err(CommandError::new(Code::Start, error));
            }
        }
        Ok(())
    }

    /// Returns the memory of a size's server, where it is known before there is a server.
    pub(crate) fn memory(&self, size: &LabSize) -> Option<String> {
        let default = || self.module.variables.iter().find(|it| it.name == MEMORY_MB)?.default.as_ref();
        let of_module = || size.variables.get(MEMORY_MB).or_else(|| self.variables.get(MEMORY_MB)).or_else(default);
        size.memory.clone().or_else(|| Some(format!("{}MB", of_module()?.as_integer()?)))
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
            Work::Recipe { name, fit, short, args: departures } => {
                let mut args = Vec::new();
                let of_recipe = size.recipe_size.clone().or_else(|| size_of_recipe(name, size));
                args.extend(of_recipe.filter(|_| !fit).map(|known| format!("--size={known}")));
                args.extend(fit.then(|| "--fit".to_owned()));
                args.extend(short.then(|| "--short".to_owned()));
                args.extend(departures.iter().cloned());
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

/// Refuses a time to live that is none.
///
/// # Errors
/// A message, when it is below a minute or above 30 days.
pub fn check_ttl(ttl_s: f64) -> std::result::Result<(), String> {
    match (60.0..=30.0 * 86_400.0).contains(&ttl_s) {
        true => Ok(()),
        false => Err("ttl must be between 1min and 30 days".to_owned()),
    }
}

/// Returns the size of a recipe that a size of a lab is.
fn size_of_recipe(recipe: &str, size: &LabSize) -> Option<String> {
    let sizes = &recipe::find(recipe)?.sizes;
    sizes.iter().map(|known| known.name.clone()).find(|known| is_size(known, &size.name, &size.variables))
}

/// Returns true if a size of a lab is one of a recipe: by its name (`c4-2w8` is `c4+2w8`, for names have no `+`), or by one of its
/// variables, such as a class.
pub(crate) fn is_size(of_recipe: &str, name: &str, variables: &toml::Table) -> bool {
    name_of_size(of_recipe) == name || variables.values().any(|value| value.as_str() == Some(of_recipe))
}

/// Returns a recipe's name of a size as labs have it.
pub(crate) fn name_of_size(recipe_size: &str) -> String {
    recipe_size.replace('+', "-").to_lowercase()
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
    let RunTable { recipe, suite, command, fit, short, args } = run;
    if recipe.is_none() && (fit || short || !args.is_empty()) {
        return Err("fit, short and args of [run] are for a recipe".to_owned());
    }
    match (recipe, suite, command) {
        (Some(name), None, None) => {
            let name = Module::aliased(&name).map_err(|error| error.text())?.map_or(name, str::to_owned);
            match recipe::find(&name) {
                Some(_) => Ok(Work::Recipe { name, fit, short, args }),
                None => Err(match recipe::nearest(&name) {
                    Some(near) => format!("there is no recipe {name}; the nearest is {near}"),
                    None => format!("there is no recipe {name}; `pgdyno list recipes` has all"),
                }),
            }
        }
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
    let text = |key: &str| match table.get(key) {
        None => Ok(None),
        Some(toml::Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("size {name}: {key} must be text, in quotes")),
    };
    let (memory, recipe_size) = (text("memory")?, text("recipe_size")?);
    table.retain(|key, _| !OWN_KEYS.contains(&key));
    Ok(LabSize { name, price_per_hour, memory, recipe_size, variables: table })
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
    fn where_a_sweep_looks_is_one_place_for_all_sizes() {
        let elsewhere = FILE
            .replace("\"local\"", "\"rds\"")
            .replace("memory_mb = 256", "region = \"r\"\nzone = \"a\"\nother_zone = \"b\"");
        let elsewhere = elsewhere.replace("cpu = 2", "region = \"eu-west-1\"");
        let error = read(&elsewhere).unwrap().admit_new().unwrap_err().text();
        assert!(error.contains("move region from the [[size]] of 2cpu to [variables]"), "{error}");
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
    fn a_recipe_has_other_names_and_departures() {
        let run = "recipe = \"citus/bulk\"\nfit = true\nargs = [\"-w\", \"1\"]";
        let lab = read(&FILE.replace("command = [\"run\", \"tproc-c\", \"-w\", \"1\"]", run)).unwrap();
        let text = lab.suite_text(&lab.sizes[0]).unwrap();
        assert!(text.contains("what = \"citus/tproc-c-250\"\nargs = [\"--fit\", \"-w\", \"1\"]"), "{text}");
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
        assert!(refused(&FILE.replace("[variables]", "short = true\n[variables]")).contains("are for a recipe"));
        let fit =
            FILE.replace("command = [\"run\", \"tproc-c\", \"-w\", \"1\"]", "recipe = \"citus/bulk\"\nfit = true");
        let fit = fit.replace("\"local\"", "\"rds\"").replace("memory_mb = 256", "");
        assert!(refused(&fit).contains("fit needs the memory"), "{}", refused(&fit));
        let unfilled = FILE.replace("\"local\"", "\"rds\"").replace("memory_mb = 256", "region = \"\"");
        assert!(refused(&unfilled).contains("fill in region in [variables]"), "{}", refused(&unfilled));
    }
}
