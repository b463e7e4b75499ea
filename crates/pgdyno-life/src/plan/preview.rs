//! What a run would do: its plan, and what can be known of its target without changing anything.

use std::time::Duration;

use pgdyno_load::{ServerSettings, steps};
use pgdyno_net::{Admin, ConnectOptions, Deadline};
use pgdyno_plan::{Facts, LoadWhen, Plan};
use pgdyno_report::forms::{FORMAT_VERSION, PlanForm};
use pgdyno_workload::Workload;

use super::recipe_order;
use super::resolve::{PlanDraft, Resolved, RunRequest, without_effect};
use crate::data::loaded::loaded;
use crate::data::{self, disk::shortages};
use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::target::reach::is_null;
use crate::target::{Target, room};

/// Returns the plan of a request and its steps. Reads what a given server contains, and does none of the steps.
///
/// # Errors
/// When the request cannot be carried out.
pub fn preview(request: &RunRequest) -> Result<PlanForm> {
    let PlanDraft { target, mut facts, resolved } = request.draft()?;
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
    let before_run = workload.data.iter().flat_map(|data| data.before_run()).filter(|_| !plan.load.no_vacuum);
    if plan.load.choice != LoadWhen::Never {
        warnings.extend(shortages(&workload, &target));
    }
    warnings.extend(workload.drive.advice(plan.drive.clients));
    warnings.extend(without_effect(&plan));
    Ok(PlanForm {
        format_version: FORMAT_VERSION,
        hash: plan.hash(),
        address: target.given().map(ToString::to_string).filter(|place| place != plan.target.as_str()),
        steps: pgdyno_plan::steps(&plan).into_iter().map(Into::into).collect(),
        creates: loaded.map(|data| data::created(data.as_ref(), &caps)).collect(),
        before_run: before_run.map(|statement| (*statement).to_owned()).collect(),
        undecided: request.left_to_server(&facts)?,
        notes,
        warnings,
        plan,
    })
}

/// Returns the notes of a plan's recipe, from its document.
#[must_use]
pub fn recipe_notes(plan: &Plan) -> Vec<String> {
    // A stored plan does not need the recipe's file.
    let Some(recipe) = &plan.recipe else { return Vec::new() };
    let Ok(document) = recipe_order::recipe(&recipe.name) else { return Vec::new() };
    let size = document.sizes.iter().filter(|size| size.name == recipe.size);
    document.notes.iter().chain(size.flat_map(|size| &size.notes)).cloned().collect()
}

/// How long to wait for a connection before the server is left out of the plan.
const PATIENCE: Duration = Duration::from_secs(3);
/// How long to wait for an answer about its contents before they are left out.
const ANSWERING: Duration = Duration::from_secs(10);
/// How long to wait for all answers together.
const ALL_ANSWERS: Duration = Duration::from_secs(20);

/// Returns true if the run would load its data.
fn is_loaded(plan: &Plan, facts: &Facts) -> bool {
    match plan.load.choice {
        LoadWhen::Never => false,
        LoadWhen::IfMissing => facts.loaded.is_none(),
        LoadWhen::Always => true,
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
    let with_remedy = |failure: CommandError| match failure.remedy() {
        Some(remedy) => format!("{}; {remedy}", failure.text()),
        None => failure.text(),
    };
    facts.loaded = loaded(admin, workload).map_err(with_remedy)?.filter(|loaded| loaded.complete);
    Ok(())
}
