//! `pgdyno plan`: every step of a run, and nothing done.

use crate::cli::RunArgs;
use crate::exit_code::Code;
use crate::failure::Result;
use crate::life::choose;

pub(crate) fn run(args: &RunArgs) -> Result<Code> {
    let workload = choose::workload(&args.workload, Some(choose::default_size(args)))?;
    let target = choose::target(args, &*workload)?;
    let plan = choose::plan(args, &*workload, &target)?;
    let mut text = format!("plan {} of {}\n", choose::hash(&plan), plan.workload);
    for (i, step) in pgdyno_plan::steps(&plan).iter().enumerate() {
        text += &format!("{:>2}. {:<8} {}\n", i + 1, step.name, step.what);
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
