//! The plans of queries, in short.

use pgdyno_results::{QueryPlanRecord, RunRecord};
use pgdyno_text::units::count;

use super::markup::Html;

/// Writes the shape of each plan, folded, if the run kept plans.
pub(super) fn plans(record: &RunRecord, html: &mut Html) {
    if record.query_plans.is_empty() {
        return;
    }
    html.heading("Plans").raw("<p class=\"note\">Each query was explained once after the measured time. The join order has the outer table first, ");
    html.raw("and subplans after +; plans.json has the whole plans.</p>\n<details><summary>")
        .text(&format!("plans of {} queries", record.query_plans.len()))
        .raw("</summary>\n");
    let columns = [
        ("query", false),
        ("ms", true),
        ("join order", false),
        ("joins", false),
        ("scans", false),
        ("workers", true),
        ("temporary blocks", true),
    ];
    html.table(&columns, &record.query_plans.iter().map(row).collect::<Vec<_>>()).raw("</details>\n");
}

fn row(plan: &QueryPlanRecord) -> Vec<String> {
    let scans = plan.scans.iter().map(|scan| format!("{}: {}", scan.table, scan.scan)).collect::<Vec<_>>();
    let time = plan.execution_ms.map_or_else(|| "not executed".to_owned(), |ms| format!("{ms:.1}"));
    vec![
        plan.query.clone(),
        time,
        plan.error.clone().unwrap_or_else(|| plan.join_order.clone()),
        plan.joins.join(", "),
        scans.join("; "),
        plan.workers.to_string(),
        plan.temp_written_blocks.map_or_else(String::new, count),
    ]
}
