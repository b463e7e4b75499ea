//! Fills in orders from recipes.

mod fill;
mod machine;

use std::collections::BTreeMap;
use std::path::Path;

use pgdyno_plan::recipe::{self, Expanded, Recipe, RecipeError, RecipeRun, expand};
use pgdyno_plan::{DrivePlan, Order, Plan, RecipePlan};
use pgdyno_text::units;
use pgdyno_workloads::registry;

use crate::drive::cpus::cpus;
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::plan::workload_source::{ClientSetup, WorkloadSource};

/// The recipe that a run follows.
pub struct FollowedRecipe {
    recipe: RecipePlan,
    /// The order of the recipe alone; absent for a stored plan, which contains its departures.
    alone: Option<Alone>,
}

/// A recipe without the user's options.
struct Alone {
    /// The order with everything that the recipe says, and nothing else.
    order: Order,
    /// The recipe's settings of the server.
    settings: BTreeMap<String, String>,
    /// Settings that the user gave.
    given: Vec<String>,
}

/// Returns the order with the values of its recipe wherever the user gave none, and the recipe; the unchanged order if
/// it names no recipe.
pub fn apply(order: Order) -> Result<(Order, Option<FollowedRecipe>)> {
    let Some(recipe) = named_recipe(&order.workload.names)? else {
        refuse_options(&order)?;
        return Ok((order, None));
    };
    let fit = if order.recipe.fit { Some(machine::of_target(&order.target, &recipe)?) } else { None };
    // If the server is known to have one of the guide's sizes, that size is used.
    let same = if fit.is_none() { machine::in_file(&order.target)? } else { None };
    let same = same.and_then(|machine| recipe.size_of(machine)).map(|size| size.name.as_str());
    let request = RecipeRun {
        size: order.recipe.size.as_deref().or(same),
        variant: order.recipe.variant.as_deref(),
        fit,
        short: order.recipe.short,
    };
    let mut run = expand(&recipe, &request).map_err(|error| refusal(&recipe, error))?;
    spare(&mut run);
    let given = order.target.settings.iter().map(|(name, _)| name.to_lowercase()).collect();
    let alone = fill::fill(Order::default(), &run);
    let order = fill::fill(order, &run);
    let source = WorkloadSource::read(&order.workload).map_err(|failure| {
        let error = format!("recipe {} needs a workload that does not exist: {}", recipe.name, failure.text());
        CommandError::new(Code::Start, error).hint("`pgdyno list workloads` lists the workloads")
    })?;
    weigh(&order, &source, &mut run.recipe);
    Ok((
        order,
        Some(FollowedRecipe { recipe: run.recipe, alone: Some(Alone { order: alone, settings: run.settings, given }) }),
    ))
}

impl FollowedRecipe {
    /// Returns the recipe of a stored plan.
    pub(crate) fn stored(recipe: RecipePlan) -> Self {
        Self { recipe, alone: None }
    }

    /// Returns the recipe with the departures of `plan`: its differences from the plan of the recipe alone, which
    /// `resolve` makes.
    pub(crate) fn beside(&self, plan: &Plan, resolve: impl Fn(&Order) -> Result<Plan>) -> Result<RecipePlan> {
        let Some(Alone { order, settings, given }) = &self.alone else { return Ok(self.recipe.clone()) };
        let alone = resolve(order)?;
        // Options that the recipe leaves open are the same in both; threads are at most the number of clients.
        let spared = if order.drive.threads.is_none() { plan.drive.threads } else { usize::MAX };
        let of_target = alone.settings.iter().filter(|(name, _)| !given.contains(&name.to_lowercase()));
        let settings = of_target.chain(settings).map(|(name, value)| (name.clone(), value.clone())).collect();
        let drive = DrivePlan { threads: alone.drive.threads.min(spared), ..alone.drive };
        let alone = Plan { drive, settings, ..alone };
        Ok(RecipePlan { departures: recipe::departures(plan, &alone), ..self.recipe.clone() })
    }
}

/// Returns the recipe of this name, or of this file of the user's.
pub fn recipe(name: &str) -> Result<Recipe> {
    if let Some(recipe) = recipe::find(name) {
        return Ok(recipe.clone());
    }
    if !is_file(name) {
        return Err(unknown(name));
    }
    let text = std::fs::read_to_string(name)
        .map_err(|error| CommandError::new(Code::Start, format!("failed to read recipe {name}: {error}")))?;
    let mut recipe = recipe::read(name, &text).or_fail(Code::Start)?;
    let beside = Path::new(name).with_file_name(&recipe.workload);
    if registry::find(&recipe.workload).is_err() && beside.exists() {
        recipe.workload = beside.to_string_lossy().into_owned();
    }
    Ok(recipe)
}

/// Returns the recipe that the order names as its workload, if it does.
fn named_recipe(names: &[String]) -> Result<Option<Recipe>> {
    let is_recipe = |name: &str| recipe::find(name).is_some() || is_file(name);
    let recipes: Vec<&String> = names.iter().filter(|name| is_recipe(name)).collect();
    match (recipes.as_slice(), names) {
        ([], [name]) if looks_like_recipe(name) => Err(unknown(name)),
        ([], _) => Ok(None),
        ([_], [name]) => recipe(name).map(Some),
        ([one], _) => {
            let error = format!("recipe {one} has a workload of its own, and takes no scripts or workloads beside it");
            Err(CommandError::new(Code::Start, error))
        }
        ([one, other, ..], _) => {
            let error = format!("a run follows one recipe, and {one} and {other} are named");
            Err(CommandError::new(Code::Start, error).hint("run them one after the other: `pgdyno suite run` does so"))
        }
    }
}

fn is_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "toml")
}

/// Returns true if the name is neither a file nor a script, and has the form of a recipe's name.
fn looks_like_recipe(name: &str) -> bool {
    let is_path = name.ends_with(".sql") || Path::new(name).exists();
    !is_path && name.contains('/') && recipe::nearest(name).is_some()
}

fn unknown(name: &str) -> CommandError {
    let hint = recipe::nearest(name).map_or_else(String::new, |nearest| format!("; did you mean {nearest}?"));
    CommandError::new(Code::Start, format!("unknown recipe '{name}'{hint}"))
        .hint("`pgdyno list recipes` lists them; your own recipe is a file that ends in .toml")
}

/// Returns the options of the order that only recipes have.
fn refuse_options(order: &Order) -> Result<()> {
    let of = &order.recipe;
    let options = [
        ("--size", of.size.is_some()),
        ("--variant", of.variant.is_some()),
        ("--fit", of.fit),
        ("--short", of.short.is_some()),
    ];
    match options.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => {
            let error = format!("{option} is for recipes, and {} is not a recipe", order.workload.id());
            Err(CommandError::new(Code::Start, error).hint("`pgdyno list recipes` lists them"))
        }
    }
}

/// Returns the error with its remedy.
fn refusal(recipe: &Recipe, error: RecipeError) -> CommandError {
    let name = &recipe.name;
    let size = recipe.sizes.first().map_or("NAME", |size| size.name.as_str());
    let hint = match (&error, &recipe.fit) {
        (RecipeError::NoSize { .. }, Some(_)) => format!(
            "--size {size} takes the numbers of that machine as they are, --fit scales them to this server; \
             `pgdyno show {name}` shows them"
        ),
        (RecipeError::NoSize { .. } | RecipeError::NoRule { .. }, _) => {
            format!("--size {size} takes the numbers of that machine as they are; `pgdyno show {name}` shows them")
        }
        (RecipeError::Unknown { .. }, _) => format!("`pgdyno show {name}` shows its sizes and variants"),
        (RecipeError::SizeAndFit { .. } | RecipeError::Short { .. }, _) => {
            return CommandError::new(Code::Start, error);
        }
    };
    CommandError::new(Code::Start, error).hint(hint)
}

/// Leaves the threads of a fitted run to pgdyno if they exceed this machine's CPUs: pgbench wants one job per client,
/// but one thread here drives many clients, and beside a local server further threads would only take its CPU time.
fn spare(run: &mut Expanded) {
    if let (Some(fitted), Some(threads)) = (&mut run.recipe.fitted, run.threads)
        && usize::from(threads) > cpus()
    {
        fitted.rule += "; of these threads as many as this machine can spare";
        run.threads = None;
    }
}

/// Adds to the rule of a fitted recipe what the workload's own formula says about the data. The guide's rule stays in
/// force if the two disagree.
fn weigh(order: &Order, source: &WorkloadSource, recipe: &mut RecipePlan) {
    let Some(fitted) = &mut recipe.fitted else { return };
    // A workload that cannot be built is refused when the run builds it.
    let Ok(workload) = source.build(&order.workload, None, None, &ClientSetup::NONE) else { return };
    let data = workload.data_bytes();
    if data > 0 {
        let share = |share: f64| format!("{:.0} %", share * 100.0);
        let goal = recipe.cached.map_or_else(String::new, |goal| format!(" (the guide: {})", share(goal)));
        let fits = (fitted.memory_bytes as f64 / data as f64).min(1.0);
        let (data, memory) = (units::bytes(data), units::bytes(fitted.memory_bytes));
        fitted.rule += &format!("; about {data} of data, of which {} fit in {memory}{goal}", share(fits));
    }
    let clients = order.drive.clients.unwrap_or_default();
    if workload.meta.scale_name == "warehouses" && u64::from(clients) > workload.scale {
        fitted.rule += &format!("; {clients} users share {} warehouses", workload.scale);
    }
}
