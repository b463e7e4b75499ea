//! `pgdyno plan`: prints every step of a run, and does none. Reads what a given server contains.

use std::time::Duration;

use pgdyno_life::data::loaded::loaded;
use pgdyno_life::data::{self, disk::shortages};
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{Failure, OrFail, Result};
use pgdyno_life::plan::recipe_order;
use pgdyno_life::plan::resolve::{Draft, Resolved, without_effect};
use pgdyno_life::stage::is_null;
use pgdyno_life::target::{Target, room};
use pgdyno_load::{ServerSettings, steps};
use pgdyno_net::{Admin, ConnectOptions, Deadline};
use pgdyno_plan::{Facts, LoadChoice, Plan, RecipePlan};
use pgdyno_report::forms::{FORMAT_VERSION, PlanForm};
use pgdyno_workload::Workload;

use crate::cli::PlanCommand;

pub(crate) fn run(command: PlanCommand) -> Result<Code> {
    let request = super::request(command.run, false)?;
    let Draft { target, mut facts, resolved } = request.draft()?;
    let looked = match &request.order.from_template {
        Some(_) => Ok(None),
        None => look(&target, &resolved.workload, &mut facts),
    };
    let Resolved { plan, workload, mut notes } = request.resolve(&facts)?;
    let caps = facts.server.clone().unwrap_or_default();
    let mut warnings = Vec::new();
    let settings = match looked {
        Ok(Some(mut admin)) => {
            let further = Deadline::after(ALL_ANSWERS);
            warnings.extend(admin.until(further, |admin| impossible(admin, &plan, &facts))?);
            let read = admin.until(further, |admin| ServerSettings::read(admin, caps.major()));
            steps::LOAD_SETTINGS.decide(read).or_fail(Code::Start)?.or_warn(|warning| notes.push(warning))
        }
        Ok(None) => target.given().is_none().then(ServerSettings::of_private),
        Err(why) => {
            notes.push(format!("what the target holds is not known: {why}"));
            None
        }
    };
    if let Some(settings) = settings.filter(|_| is_loaded(&plan, &facts)) {
        let ways = workload.data.iter().filter_map(|data| data::way(&plan, data.as_ref(), &caps, settings));
        notes.extend(ways.map(|way| format!("load {way}")));
    }
    let loaded = workload.data.iter().filter(|data| data.meta().has_data());
    let before_run = workload.data.iter().flat_map(|data| data.before_run()).filter(|_| !plan.no_vacuum);
    if plan.load != LoadChoice::Never {
        warnings.extend(shortages(&workload, &target));
    }
    warnings.extend(workload.drive.advice(plan.clients));
    warnings.extend(without_effect(&plan));
    let form = PlanForm {
        format_version: FORMAT_VERSION,
        hash: plan.hash(),
        address: target.given().map(ToString::to_string).filter(|place| place != plan.target.as_str()),
        steps: pgdyno_plan::steps(&plan).into_iter().map(Into::into).collect(),
        creates: loaded.map(|data| pgdyno_life::data::created(data.as_ref(), &caps)).collect(),
        before_run: before_run.map(|statement| (*statement).to_owned()).collect(),
        undecided: request.left_to_server(&facts)?,
        notes,
        warnings,
        plan,
    };
    match command.format.is_json() {
        true => super::print_form(&form)?,
        false => super::print_text(&text(&form))?,
    }
    Ok(Code::Success)
}

/// Returns the plan as text.
fn text(form: &PlanForm) -> String {
    let plan = &form.plan;
    let mut text = format!("plan {} of {}\n", form.hash, plan.workload);
    if let Some(place) = &form.address {
        text += &format!("    target {}: {place}\n", plan.target);
    }
    for line in plan.recipe.iter().flat_map(pgdyno_report::guide::lines) {
        text += &format!("    {line}\n");
    }
    let width = form.steps.iter().map(|step| step.name.len()).max().unwrap_or_default().max(8);
    for (i, step) in form.steps.iter().enumerate() {
        let below = format!("\n{:width$}       ", "");
        text += &format!("{:>2}. {:<width$} {}\n", i + 1, step.name, step.what.replace('\n', &below));
    }
    for script in plan.scripts.iter().filter(|_| plan.scripts.len() > 1) {
        text += &format!("    {} weighs {}\n", script.file, script.weight);
    }
    for (name, value) in &plan.params {
        text += &format!("    {name} = {value}\n");
    }
    for created in &form.creates {
        text += &format!("the load {created}\n");
    }
    if !form.before_run.is_empty() {
        text += &format!(
            "before the run: {} (left out on a standby, where the role may not, and with --no-vacuum)\n",
            form.before_run.join("; ")
        );
    }
    if let Some(recipe) = &plan.recipe {
        text += &of_recipe(recipe);
    }
    if !form.undecided.is_empty() {
        text += &format!("note: decided when the server has answered: {}\n", form.undecided.join(", "));
    }
    for note in &form.notes {
        text += &format!("note: {note}\n");
    }
    for warning in &form.warnings {
        text += &format!("warning: {warning}\n");
    }
    text
}

/// How long to wait for a connection before the server is left out of the plan.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long to wait for an answer about its contents before they are left out.
const ANSWERING: Duration = Duration::from_secs(10);
/// How long to wait for all answers together.
const ALL_ANSWERS: Duration = Duration::from_secs(20);

/// Returns true if the run would load its data.
fn is_loaded(plan: &Plan, facts: &Facts) -> bool {
    match plan.load {
        LoadChoice::Never => false,
        LoadChoice::IfMissing => facts.loaded.is_none(),
        LoadChoice::Always => true,
    }
}

/// Returns why the run will be refused, as far as the server shows that, or what it will leave out.
fn impossible(admin: &mut Admin, plan: &Plan, facts: &Facts) -> Result<Vec<String>> {
    let mut warnings = Vec::new();
    // A pooler has more clients than connections.
    if facts.server.as_ref().is_some_and(|caps| caps.pooling.is_none()) {
        warnings.extend(room::shortage(admin, plan.links(), !plan.watch.off)?);
    }
    if is_loaded(plan, facts)
        && let Err(error) = pgdyno_load::admit(admin)
    {
        let hint = error.remedy().map_or_else(String::new, |remedy| format!("; {remedy}"));
        warnings.push(format!("the load will be refused: {error}{hint}"));
    }
    Ok(warnings)
}

/// Reads what a given server can do and contains, and returns the connection. Only reads. The error says why that failed.
fn look(target: &Target, workload: &Workload, facts: &mut Facts) -> std::result::Result<Option<Admin>, String> {
    let Some(options) = target.given().filter(|_| !workload.data.is_empty()) else { return Ok(None) };
    let options = options.with_connect_timeout_at_most(PATIENCE).with_answer_timeout(ANSWERING);
    let mut admin = Admin::connect(&options).map_err(|error| error.to_string())?;
    if is_null(&admin) {
        return Ok(None);
    }
    admin.until(Deadline::after(ALL_ANSWERS), |admin| look_by(admin, &options, workload, facts))?;
    Ok(Some(admin))
}

/// Does the same over a connection.
fn look_by(
    admin: &mut Admin,
    options: &ConnectOptions,
    workload: &Workload,
    facts: &mut Facts,
) -> std::result::Result<(), String> {
    facts.server = Some(pgdyno_server::capabilities(admin, options).map_err(|error| error.to_string())?);
    let with_remedy = |failure: Failure| match failure.remedy() {
        Some(remedy) => format!("{}; {remedy}", failure.text()),
        None => failure.text(),
    };
    facts.loaded = loaded(admin, workload).map_err(with_remedy)?.filter(|loaded| loaded.complete);
    Ok(())
}

/// Returns what the document says besides the numbers.
fn of_recipe(recipe: &RecipePlan) -> String {
    let mut text = String::new();
    if !recipe.published.is_empty() {
        let figures = pgdyno_report::guide::figures(&recipe.published);
        text += &format!("published for {}: {figures}\n", recipe.machine);
    }
    // A stored plan does not need the recipe's file.
    let Ok(document) = recipe_order::recipe(&recipe.name) else { return text };
    let size = document.sizes.iter().filter(|size| size.name == recipe.size);
    for note in document.notes.iter().chain(size.flat_map(|size| &size.notes)) {
        text += &format!("note: {note}\n");
    }
    text
}
