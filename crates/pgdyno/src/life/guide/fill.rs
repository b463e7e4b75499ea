//! What the user left open, filled in; and what the user said instead of the recipe, told.

use std::fmt::Display;

use pgdyno_plan::RecipePlan;
use pgdyno_plan::recipe::{Expanded, Mode};
use pgdyno_wire::QueryMode;

use crate::cli::RunArgs;
use crate::life::choice;

/// The arguments with all that the recipe says, and the recipe with what departs from it.
pub(super) fn fill(mut args: RunArgs, run: Expanded) -> (RunArgs, RecipePlan) {
    let mut told = Vec::new();
    params(&mut args, &run, &mut told);
    settings(&mut args, &run, &mut told);
    drive(&mut args, &run, &mut told);
    data(&mut args, &run, &mut told);
    args.workload.workload = vec![run.workload];
    args.cycle.restart |= run.cycle.restart;
    args.cycle.drop_caches |= run.cycle.drop_caches;
    args.cycle.prewarm |= run.cycle.prewarm;
    args.cycle.checkpoint |= run.cycle.checkpoint;
    (args, RecipePlan { departures: told, ..run.recipe })
}

fn params(args: &mut RunArgs, run: &Expanded, told: &mut Vec<String>) {
    let given: Vec<(String, String)> =
        choice::given(&args.workload).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    for (name, own) in &given {
        match run.params.get(name) {
            Some(recipe) if recipe == own => {}
            Some(recipe) => told.push(format!("{name} {own} (the recipe: {recipe})")),
            None => told.push(format!("{name} {own}")),
        }
    }
    let open = run.params.iter().filter(|(name, _)| !given.iter().any(|(known, _)| known == *name));
    args.workload.params.extend(open.map(|(name, value)| (name.clone(), value.clone())));
}

fn settings(args: &mut RunArgs, run: &Expanded, told: &mut Vec<String>) {
    for (name, recipe) in &run.settings {
        let given = args.target.settings.iter().rev().find(|(known, _)| known.eq_ignore_ascii_case(name));
        match given {
            Some((_, own)) if own == recipe => {}
            Some((_, own)) => told.push(format!("setting {name} = {own} (the recipe: {recipe})")),
            None => args.target.settings.push((name.clone(), recipe.clone())),
        }
    }
}

fn drive(args: &mut RunArgs, run: &Expanded, told: &mut Vec<String>) {
    let drive = &mut args.drive;
    keep(&mut drive.clients, run.clients, "clients", told);
    keep(&mut drive.threads, run.threads, "threads", told);
    keep(&mut args.loading.loaders, run.loaders, "loaders", told);
    let mode = run.mode.map(|mode| match mode {
        Mode::Simple => QueryMode::Simple,
        Mode::Extended => QueryMode::Extended,
        Mode::Prepared => QueryMode::Prepared,
    });
    if let (Some(own), Some(recipe)) = (drive.mode.filter(|own| mode != Some(*own)), mode) {
        told.push(format!("query mode {} (the recipe: {})", own.name(), recipe.name()));
    }
    drive.mode = drive.mode.or(mode);
    if let Some(n) = drive.transactions {
        told.push(format!("{n} transactions of each client (the recipe: {} s)", run.time_s));
    } else {
        keep(&mut drive.time, Some(run.time_s), "s measured", told);
        keep(&mut drive.ramp, Some(run.ramp_s), "s of warm-up", told);
    }
    if let Some(rate) = drive.rate {
        told.push(format!("{rate} transactions a second (the recipe: as fast as the server answers)"));
    }
    if let Some(shared) = drive.connections {
        told.push(format!("{shared} connections that the clients share (the recipe: one each)"));
    }
}

fn data(args: &mut RunArgs, run: &Expanded, told: &mut Vec<String>) {
    if args.no_load && run.fresh {
        told.push("the data that is there (the recipe: loaded anew)".to_owned());
    }
    args.replace |= run.fresh && !args.no_load;
    let name = |name: &str| if name.is_empty() { "the target's own database".to_owned() } else { name.to_owned() };
    match (&args.from_template, &run.from_template) {
        (Some(own), Some(recipe)) if own == recipe => {}
        (Some(own), Some(recipe)) => told.push(format!("a copy of {} (the recipe: of {})", name(own), name(recipe))),
        (Some(own), None) => told.push(format!("a copy of {}", name(own))),
        (None, recipe) => args.from_template.clone_from(recipe),
    }
}

/// What is given stays, and is told where it is something else than the recipe's.
fn keep<T: Copy + PartialEq + Display>(given: &mut Option<T>, recipe: Option<T>, what: &str, told: &mut Vec<String>) {
    match (*given, recipe) {
        (Some(own), Some(recipe)) if own != recipe => told.push(format!("{own} {what} (the recipe: {recipe})")),
        (None, recipe) => *given = recipe,
        _ => {}
    }
}
