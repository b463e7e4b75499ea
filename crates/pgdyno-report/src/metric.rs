//! Values of metrics as text.

use pgdyno_results::{RecordMetric, RunRecord, Unit};
use pgdyno_text::units::{count, ms, rate, seconds};

/// Returns the value of a metric, in the unit of its title.
pub(crate) fn value_text(metric: &RecordMetric, value: f64) -> String {
    match metric.unit() {
        Unit::Nanoseconds => ms(value.round() as u64),
        Unit::Percent => format!("{value:.0}"),
        Unit::Seconds => seconds(value),
        Unit::PerSecond | Unit::PerMinute | Unit::PerHour => rate(value),
    }
}

/// Returns the unit in machine-readable output: that of a time, else the name of the metric.
pub(crate) fn unit_in_json(metric: &RecordMetric) -> &str {
    match metric.unit() {
        Unit::Nanoseconds => "ns",
        Unit::Seconds => "s",
        _ => metric.name(),
    }
}

/// Returns the text after a value in a line: `NOPM`, `ms p99`.
pub(crate) fn suffix(metric: &RecordMetric) -> String {
    if metric.unit() == Unit::Nanoseconds { format!("ms {}", metric.name()) } else { metric.title().to_owned() }
}

/// A figure at the top of a report.
pub(crate) struct Headline {
    /// The text after the value.
    pub(crate) name: String,
    /// The value as people read it.
    pub(crate) value: String,
    /// One line of explanation.
    pub(crate) meaning: String,
}

/// Returns the main figures of a run, with its latencies.
pub(crate) fn headline(record: &RunRecord) -> Vec<Headline> {
    let latencies = ["mean", "p99"].into_iter().filter_map(|name| figure(record, RecordMetric::common(name).as_ref()?));
    figures(record).into_iter().chain(latencies).collect()
}

fn figure(record: &RunRecord, metric: &RecordMetric) -> Option<Headline> {
    let value = metric.value(record)?;
    let value = if metric.unit() == Unit::PerMinute { count(value.round() as u64) } else { value_text(metric, value) };
    Some(Headline { name: suffix(metric), value, meaning: metric.meaning().to_owned() })
}

/// Returns how much was done: the workload's own metrics, and transactions a second.
pub(crate) fn figures(record: &RunRecord) -> Vec<Headline> {
    let Some(s) = &record.summary else { return Vec::new() };
    // A figure without the other side stands beside the one with it.
    let is_beside = |metric: &RecordMetric| {
        metric.name().strip_suffix("-alone").is_some_and(|name| record.metrics.contains_key(name))
    };
    let own: Vec<_> = RecordMetric::of_workload(record).into_iter().filter(|metric| !is_beside(metric)).collect();
    let common = |name: &str| RecordMetric::common(name).as_ref().and_then(|metric| figure(record, metric));
    let tpm = || {
        common("tpm").unwrap_or_else(|| Headline {
            name: "TPM (client)".to_owned(),
            value: count(s.tpm_client.round() as u64),
            meaning: "transactions a minute, as the client counts them".to_owned(),
        })
    };
    let tps = RecordMetric::tps();
    let is_qps_other = own.is_empty() && s.qps > 0.0 && (s.qps - s.tps).abs() > 1e-9;
    let mut figures: Vec<_> = own.iter().filter_map(|metric| figure(record, metric)).collect();
    // A run of each query once has no rate of its own.
    if own.iter().any(|metric| metric.unit() == Unit::Seconds) {
        return figures;
    }
    figures.extend((!own.is_empty()).then(tpm));
    figures.push(Headline { name: suffix(&tps), value: rate(s.tps), meaning: tps.meaning().to_owned() });
    figures.extend(is_qps_other.then(|| common("qps")).flatten());
    figures
}

/// Returns what both sides count in the whole run: the name, the client's count, and the count in the
/// server's tables.
pub(crate) fn server_counts(record: &RunRecord) -> Vec<(String, u64, u64)> {
    let own = record.metrics.values().filter_map(|metric| metric.workload.as_ref());
    let others = record.server_counts.iter().map(|count| (count.counted.clone(), count.by_client, count.by_server));
    let found: Vec<_> =
        own.filter_map(|own| Some((own.counted.clone(), own.by_client?, own.by_server?))).chain(others).collect();
    // A record of 0.1.0 has them only in its summary.
    let of_summary = || {
        let summary = record.summary.as_ref()?;
        Some(("New-Orders".to_owned(), summary.new_orders_by_client?, summary.new_orders_by_server?))
    };
    if found.is_empty() { of_summary().into_iter().collect() } else { found }
}
