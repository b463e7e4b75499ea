//! `pgdyno agent` and `pgdyno agents`: drivers on other machines, and who is there.

use std::sync::Arc;

use pgdyno_life::agents::AgentOrder;
use pgdyno_life::agents::AgentRow;
use pgdyno_life::agents::serve::serve;
use pgdyno_life::events::EventSink;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::Result;
use pgdyno_live::ProgressView;
use pgdyno_report::forms::{AgentForm, AgentsForm, FORMAT_VERSION};

use crate::cli::{AgentArgs, AgentsArgs};
use crate::interrupt;

pub(crate) fn run(args: AgentArgs) -> Result<Code> {
    let AgentArgs { meet, once, allow_target, target, allow_shell, config, quiet, reserved, until_eof } = args;
    let interrupt = interrupt::listen()?;
    if until_eof {
        interrupt::end_with_input(&interrupt)?;
    }
    let progress = Arc::new(ProgressView::new(quiet));
    // Set once, just after it was created.
    let _ = interrupt.events.set(Arc::clone(&progress) as Arc<dyn EventSink>);
    let order = AgentOrder { meet, once, allow_targets: allow_target, allow_shell, target, config, reserved };
    interrupt.attribute_to_signal(serve(&order, &interrupt, &*progress))
}

pub(crate) fn list(args: &AgentsArgs) -> Result<Code> {
    let agents = pgdyno_life::agents::list(&args.meet)?;
    if args.format.is_json() {
        let agents = agents.into_iter().map(form).collect();
        super::print_form(&AgentsForm { format_version: FORMAT_VERSION, agents })?;
        return Ok(Code::Success);
    }
    let mut rows =
        vec![["agent", "host", "process", "version", "CPUs", "run", "state", "clock ±", "heard"].map(str::to_owned)];
    for agent in agents {
        let clock = agent.clock_error_us.map(|us| format!("{:.1} ms", us as f64 / 1e3));
        rows.push([
            agent.agent.to_string(),
            agent.host,
            agent.pid.to_string(),
            agent.program,
            agent.cpus.to_string(),
            agent.run.map_or_else(|| "-".to_owned(), |run| run.to_string()),
            agent.state,
            clock.unwrap_or_else(|| "-".to_owned()),
            format!("{:.0} s ago", agent.silent_s),
        ]);
    }
    if rows.len() == 1 {
        super::print_lines("no agent: start one by `pgdyno agent --meet …`\n")?;
        return Ok(Code::Success);
    }
    let widths: Vec<_> =
        (0..rows[0].len()).map(|n| rows.iter().map(|row| row[n].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &[String; 9]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    super::print_lines(&rows.iter().map(line).collect::<String>())?;
    Ok(Code::Success)
}

fn form(agent: AgentRow) -> AgentForm {
    let AgentRow { agent, host, pid, program, cpus, run, state, clock_error_us, silent_s, .. } = agent;
    AgentForm { agent, host, pid, version: program, cpus, run, state, clock_error_us, silent_s }
}
