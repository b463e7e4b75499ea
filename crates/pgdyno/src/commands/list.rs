//! `pgdyno list`: workloads, runs.

use pgdyno_report::units;
use pgdyno_results::{list_runs, read_record};
use pgdyno_workload::Meta;
use pgdyno_workloads::own::embedded;
use pgdyno_workloads::registry;

use crate::cli::List;
use crate::exit_code::Code;
use crate::failure::{OrFail, Result};

pub(crate) fn run(what: &List) -> Result<Code> {
    let text = match what {
        List::Workloads => workloads()?,
        List::Runs { out } => runs(&out.out)?,
    };
    super::print(text.as_bytes())?;
    Ok(Code::Success)
}

fn workloads() -> Result<String> {
    let mut metas: Vec<&Meta> = registry::all().iter().map(|entry| entry.meta).collect();
    for directory in embedded::names().filter_map(embedded::find) {
        metas.push(directory.or_fail(Code::Start)?.meta());
    }
    let mut text = String::new();
    for meta in metas {
        text += &format!("{:<14} {}\n", meta.id, meta.summary);
        for param in meta.params {
            let value = if param.is_fixed() { "always" } else { "default:" };
            text += &format!("  {:<16} {} [{value} {}]\n", param.name, param.help, param.default);
        }
    }
    Ok(text)
}

fn runs(results: &std::path::Path) -> Result<String> {
    let mut text = String::new();
    for path in list_runs(results).or_fail(Code::Start)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        text += &match read_record(&path.join("run.json")) {
            Ok(record) => {
                let figures = record.summary.as_ref().map_or_else(String::new, |s| {
                    let nopm = s.nopm.map_or_else(String::new, |n| format!("{} NOPM, ", units::grouped(n)));
                    format!("{nopm}{} TPS", units::rate(s.tps))
                });
                let plan = &record.plan;
                let size = if plan.scale_name.is_empty() {
                    String::new()
                } else {
                    format!("{} {} · ", plan.scale_name, units::count(plan.scale))
                };
                let clients = units::count(u64::from(plan.clients));
                let plural = if plan.clients == 1 { "" } else { "s" };
                let figures = if figures.is_empty() { "nothing measured".to_owned() } else { figures };
                format!("{name:<44} {:<11} {size}{clients} client{plural} · {figures}\n", record.status.name())
            }
            Err(error) => format!("{name:<44} unreadable: {error}\n"),
        };
    }
    if text.is_empty() {
        text = format!("no runs in {}\n", results.display());
    }
    Ok(text)
}
