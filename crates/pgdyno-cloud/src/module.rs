//! Modules: what can be created, as `module.toml` in each describes it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::OnceLock;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, OrFail, Result};
use pgdyno_plan::mistake;
use serde::Deserialize;

/// The files of all modules: path below `clouds/`, and content.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/modules.rs"));

/// The file that describes a module.
const DESCRIPTION: &str = "module.toml";
/// The folder that modules share.
const SHARED: &str = "common";
/// The module without a cloud.
pub(crate) const LOCAL: &str = "local";

/// A module.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    /// Its name: that of its directory.
    #[serde(skip)]
    pub name: String,
    /// What it is.
    pub title: String,
    /// Recipes of the guide that it follows.
    #[serde(default)]
    pub guide: Vec<String>,
    /// Other names for recipes of the guide: a name, and the recipe.
    #[serde(default)]
    pub(crate) alias: BTreeMap<String, String>,
    /// What it creates for each size.
    pub creates: Vec<String>,
    /// The cloud's own command line; empty without a cloud.
    #[serde(default)]
    pub cli: String,
    /// Where to look prices up.
    pub price: String,
    /// How far it was verified.
    pub verified: VerifiedLevels,
    #[serde(default)]
    pub(crate) sweep: SweepPlan,
    #[serde(default, rename = "metric")]
    pub(crate) metrics: Vec<CloudMetric>,
    #[serde(default, rename = "variable")]
    pub(crate) variables: Vec<ModuleVariable>,
    #[serde(default, rename = "size")]
    pub(crate) sizes: Vec<toml::Table>,
}

/// How far a module was verified, in words.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerifiedLevels {
    /// Against the provider's schema: provider, version and date.
    pub schema: String,
    /// With mocked values.
    pub mock: String,
    /// Against an emulator of the cloud.
    pub emulator: String,
    /// In the cloud itself.
    pub real_cloud: String,
}

/// How to find what a lab has left in the cloud.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SweepPlan {
    #[serde(default)]
    pub(crate) resource: Vec<SweptKind>,
}

/// A kind of resource: how to list and to delete those of a lab.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SweptKind {
    pub(crate) kind: String,
    pub(crate) list: Vec<String>,
    /// JSON pointer to the array in what `list` prints; without it, all of it is the array.
    pub(crate) items: Option<String>,
    /// JSON pointer to the id in an element.
    pub(crate) id: String,
    /// JSON pointer to the expiry in an element.
    pub(crate) expires: Option<String>,
    pub(crate) delete: Vec<String>,
}

/// A figure of the cloud's monitoring.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CloudMetric {
    pub(crate) name: String,
    pub(crate) command: Vec<String>,
    /// JSON pointer to the array of points.
    pub(crate) points: String,
    /// JSON pointers in a point.
    pub(crate) time: String,
    pub(crate) value: String,
    #[serde(default = "one")]
    pub(crate) scale: f64,
    /// Which end of its minute the time of a point is.
    pub(crate) at: PointTime,
}

/// Which end of its minute the time of a point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PointTime {
    Start,
    End,
    /// The cloud's manual does not say.
    Unknown,
}

fn one() -> f64 {
    1.0
}

/// What lab.toml may say in `[variables]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModuleVariable {
    pub(crate) name: String,
    pub(crate) default: Option<toml::Value>,
    pub(crate) about: String,
    #[serde(default)]
    pub(crate) required: bool,
}

impl VerifiedLevels {
    /// Returns all of them in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let Self { schema, mock, emulator, real_cloud } = self;
        format!("schema: {schema}; mock: {mock}; emulator: {emulator}; real cloud: {real_cloud}")
    }
}

impl Module {
    /// Returns all modules by name.
    ///
    /// # Errors
    /// When a description of this program is wrong.
    pub fn all() -> Result<&'static BTreeMap<String, Self>> {
        static ALL: OnceLock<BTreeMap<String, Module>> = OnceLock::new();
        if let Some(all) = ALL.get() {
            return Ok(all);
        }
        let mut all = BTreeMap::new();
        for (path, text) in FILES {
            let Some((name, file)) = path.split_once('/') else { continue };
            if file == DESCRIPTION {
                let module: Self = mistake::read(path, text).or_fail(Code::Start)?;
                all.insert(name.to_owned(), Self { name: name.to_owned(), ..module });
            }
        }
        Ok(ALL.get_or_init(|| all))
    }

    /// Returns the module of a name.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(name: &str) -> Result<&'static Self> {
        let all = Self::all()?;
        all.get(name).ok_or_else(|| {
            let error = CommandError::new(Code::Start, format!("there is no module {name}"));
            let names: Vec<_> = all.keys().map(String::as_str).collect();
            match mistake::nearest(name, names.iter().copied()) {
                Some(near) => error.hint(format!("the nearest is {near}; `pgdyno cloud list` shows all")),
                None => error.hint(format!("there are: {}", names.join(", "))),
            }
        })
    }

    /// Returns the recipe that a guide calls `name`: `citus/bulk` is `citus/tproc-c-250` on several clusters.
    ///
    /// # Errors
    /// When a description of this program is wrong.
    pub fn aliased(name: &str) -> Result<Option<&'static str>> {
        Ok(Self::all()?.values().find_map(|module| module.alias.get(name).map(String::as_str)))
    }

    /// Returns the module of the guide that a recipe is of.
    ///
    /// # Errors
    /// When a description of this program is wrong.
    pub fn of_recipe(recipe: &str) -> Result<Option<&'static Self>> {
        Ok(Self::all()?.values().find(|module| module.guide.iter().any(|known| known == recipe)))
    }

    /// Returns true if its servers are on this machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        self.name == LOCAL
    }

    /// Writes its files, and those that modules share, below `directory`. Replaces what an earlier version has written.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        for (path, text) in FILES {
            let of = path.split('/').next().unwrap_or_default();
            if of != self.name && of != SHARED {
                continue;
            }
            let to = directory.join(path);
            fs::DirBuilder::new().recursive(true).mode(0o700).create(to.parent().unwrap_or(directory))?;
            let mut options = fs::OpenOptions::new();
            let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&to)?;
            io::Write::write_all(&mut file, text.as_bytes())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_module_is_described_and_says_how_far_it_was_verified() {
        for module in Module::all().unwrap().values() {
            assert!(
                !module.title.is_empty() && !module.creates.is_empty() && !module.sizes.is_empty(),
                "{}",
                module.name
            );
            assert!(module.verified.line().contains("real cloud: "));
            assert!(module.sizes.iter().all(|size| size.contains_key("name")), "{}", module.name);
            // A cloud without a way to find what is left has no end.
            assert!(module.is_local() || !module.sweep.resource.is_empty(), "{}", module.name);
        }
    }

    #[test]
    fn an_unknown_module_is_answered_with_the_nearest() {
        let error = Module::named("lokal").unwrap_err();
        assert!(error.text().contains("no module lokal"));
    }
}
