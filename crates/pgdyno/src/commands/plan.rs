//! `pgdyno plan`: every step of a run, and nothing done.

use crate::cli::RunArgs;
use crate::exit_code::Code;
use crate::failure::Result;
use crate::life::choice::Choice;
use crate::life::choose;

pub(crate) fn run(args: &RunArgs) -> Result<Code> {
    let choice = Choice::read(&args.workload)?;
    let target = choose::target(args, &choice)?;
    let mut crew = choose::crew(args, &choice, &target)?;
    let workload = choice.build(&args.workload, Some(choose::default_size(args)), None, &crew)?;
    choose::settle(args, &*workload, target.is_local(), &mut crew)?;
    let plan = choose::plan(args, &choice, &*workload, &target, &crew)?;
    let mut text = format!("plan {} of {}\n", choose::hash(&plan), plan.workload);
    for (i, step) in pgdyno_plan::steps(&plan).iter().enumerate() {
        text += &format!("{:>2}. {:<8} {}\n", i + 1, step.name, step.what);
    }
    for script in plan.scripts.iter().filter(|_| plan.scripts.len() > 1) {
        text += &format!("    {} weighs {}\n", script.file, script.weight);
    }
    for (name, value) in &plan.params {
        text += &format!("    {name} = {value}\n");
    }
    for advice in workload.advice(plan.clients) {
        text += &format!("warning: {advice}\n");
    }
    super::print(text.as_bytes())?;
    Ok(Code::Success)
}
