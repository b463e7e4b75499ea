//! What the sizes of a lab have given: throughput against CPUs.

use std::fs;
use std::path::PathBuf;

use pgdyno_cloud::Lab;
use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use pgdyno_report::scaling::{Axis, FORMATS, scaling};
use pgdyno_results::{RECORD, RunRecord, read_record};

use crate::commands::scaling::{PAGE_FILE, rendered};
use crate::commands::{look, print_lines, print_rendered};

const TEXT: &str = "text";

/// Prints the table of the lab's complete runs by the server's CPUs, and writes its page into the lab's directory.
pub(super) fn show(lab: &Lab) -> Result<()> {
    let mut named: Vec<(PathBuf, RunRecord)> = Vec::new();
    for run in lab.runs()? {
        let path = lab.results.join(run).join(RECORD);
        // The user may have removed it since.
        let Ok(record) = read_record(&path) else { continue };
        if record.status == pgdyno_results::Status::Complete {
            named.push((path, record));
        }
    }
    let records: Vec<_> = named.iter().map(|(_, record)| record.clone()).collect();
    let Ok(scaling) = scaling(records, &Axis::Vcpus, None) else { return Ok(()) };
    if let Some((_, render)) = FORMATS.iter().find(|(name, _)| *name == TEXT) {
        let mut bytes = b"\n".to_vec();
        render(&scaling, look(), &mut bytes).or_fail(Code::Start)?;
        print_rendered(TEXT, &bytes)?;
    }
    for (_, record) in &named {
        let Some(cost) = &record.cost else { continue };
        let size = record.label("size").unwrap_or(&record.id);
        let nopm = cost.nopm_per_price.map_or_else(String::new, |nopm| {
            format!(", {} NOPM for each {} an hour", pgdyno_text::units::rate(nopm), cost.currency)
        });
        print_lines(&format!(
            "{size}: {:.4} {} a million transactions{nopm}\n",
            cost.per_million_transactions, cost.currency
        ))?;
    }
    let path = lab.directory.join(PAGE_FILE);
    fs::write(&path, rendered(&scaling, named, &lab.results)?).or_fail(Code::Run)?;
    let here = std::env::current_dir().ok();
    let relative = here.and_then(|here| path.strip_prefix(here).map(PathBuf::from).ok());
    print_lines(&format!("\nopen {}\n", relative.unwrap_or(path).display()))
}
