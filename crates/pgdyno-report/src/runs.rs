//! A run in one line of a list.

use pgdyno_results::{RecordMetric, RunRecord};
use pgdyno_text::units;

/// Returns the line of a run with its result.
#[must_use]
pub fn line(record: &RunRecord) -> String {
    let plan = &record.plan;
    let mut words = vec![record.summary.as_ref().map_or_else(
        || "nothing measured".to_owned(),
        |summary| {
            let own = RecordMetric::of_workload(record).into_iter();
            let own =
                own.filter_map(|metric| Some(format!("{} {}, ", metric.listed(metric.value(record)?), metric.title())));
            format!("{}{} TPS", own.collect::<String>(), units::rate(summary.tps))
        },
    )];
    words.push(units::plural(plan.stage_clients().into(), "client"));
    if !plan.scale_name.is_empty() {
        words.push(units::sized(&plan.scale_name, &plan.size()));
    }
    words.extend(record.labels.iter().map(|(name, value)| format!("{name}={value}")));
    if let Some(recipe) = &plan.recipe {
        let size = [&recipe.name, &recipe.size, &recipe.variant].map(String::as_str);
        words.push(size.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" "));
    }
    if let Some(suite) = &plan.suite {
        words.push(format!("{} {} #{}", suite.suite, suite.run, suite.repetition));
    }
    format!("{:<11} {}", record.status.name(), words.join(" · "))
}
