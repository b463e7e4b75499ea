//! Labs: modules, what a lab would create, and how far labs are.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// The modules, as `pgdyno cloud list --format json` prints them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CloudModulesForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// The modules by name.
    pub modules: Vec<CloudModuleForm>,
}

/// A module.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CloudModuleForm {
    /// Its name.
    pub name: String,
    /// What it is.
    pub title: String,
    /// What it creates for each size.
    pub creates: Vec<String>,
    /// How far it was verified.
    pub verified: VerifiedForm,
    /// The cloud's command line; null without a cloud.
    pub cli: Option<String>,
    /// Recipes of its guide.
    pub recipes: Vec<String>,
}

/// How far a module was verified, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerifiedForm {
    /// Against the provider's schema: provider, version and date.
    pub schema: String,
    /// With mocked values.
    pub mock: String,
    /// Against an emulator of the cloud.
    pub emulator: String,
    /// In the cloud itself.
    pub real_cloud: String,
}

/// What a lab would create, as `pgdyno cloud plan --format json` prints it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CloudPlanForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// Name of the lab.
    pub lab: String,
    /// Its module.
    pub module: CloudModuleForm,
    /// What runs on each size.
    pub runs: String,
    /// Sizes that exist at a time.
    pub parallel: usize,
    /// Time after which everything may be deleted.
    pub ttl_s: f64,
    /// The most that it costs; null if a size has no price.
    pub bound: Option<MoneyForm>,
    /// Variables of the module for all sizes.
    pub variables: BTreeMap<String, Value>,
    /// The sizes in their order.
    pub sizes: Vec<PlannedSizeForm>,
}

/// An amount in a currency.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MoneyForm {
    /// The amount.
    pub amount: f64,
    /// The currency, as USD.
    pub currency: String,
}

/// A size to come.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedSizeForm {
    /// Its name.
    pub name: String,
    /// Price of an hour of all that it creates; null if none was given.
    pub price_per_hour: Option<f64>,
    /// Its variables of the module.
    pub variables: BTreeMap<String, Value>,
}

/// Labs, as `pgdyno cloud status --format json` prints them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabsForm {
    /// [`super::FORMAT_VERSION`].
    pub format_version: u32,
    /// The labs by name.
    pub labs: Vec<LabForm>,
}

/// A lab.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabForm {
    /// Its name.
    pub name: String,
    /// `at work`, `interrupted` or `closed`.
    pub state: String,
    /// Process that works on it; null if none does.
    pub pid: Option<u32>,
    /// Name of its module.
    pub module: String,
    /// How far the module was verified.
    pub verified: VerifiedForm,
    /// Cost until now, by the prices in its file; null if a size has none.
    pub cost: Option<MoneyForm>,
    /// The most that it costs; null if a size has no price.
    pub bound: Option<MoneyForm>,
    /// Time until it expires; 0 if it has.
    pub left_s: u64,
    /// The sizes in their order.
    pub sizes: Vec<LabSizeForm>,
    /// Names of the runs that were fetched.
    pub runs: Vec<String>,
}

/// A size of a lab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LabSizeForm {
    /// Its name.
    pub name: String,
    /// The step that began last: `planned`, `applying`, `up`, `driving`, `ran`, `fetched`, `destroying`, `swept` or `closed`.
    pub step: String,
    /// What failed last; null if nothing did.
    pub failure: Option<String>,
}
