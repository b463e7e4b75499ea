//! The columns of `intervals.csv`: header, lines, reading back and the table in docs/results.md follow from these.

use super::IntervalRecord;
use crate::table::cell::{Cell, CellKind};

/// A column of `intervals.csv`.
#[derive(Clone, Copy, Debug)]
pub struct IntervalColumn {
    /// Its name, with the unit last.
    pub name: &'static str,
    /// How its values are written.
    pub kind: CellKind,
    /// Unit of its values, for readers of docs/results.md.
    pub unit: &'static str,
    /// What it is, for readers of docs/results.md.
    pub meaning: &'static str,
    /// Whether a file without it is no table of intervals.
    pub is_required: bool,
    /// Whether it is known by group, and so in `intervals-by-group.csv` too.
    pub is_by_group: bool,
    field: Field,
}

/// The field of an interval that a column contains.
#[derive(Clone, Copy, Debug)]
struct Field {
    get: fn(&IntervalRecord) -> Cell,
    /// Sets it to a text that is not empty; returns `None` if that is no value.
    set: fn(&mut IntervalRecord, &str) -> Option<()>,
}

/// Returns a field, or a figure of a latency.
macro_rules! field {
    ($field:ident) => {
        Field {
            get: |interval| interval.$field.into(),
            set: |interval, text| {
                interval.$field = text.parse().ok()?;
                Some(())
            },
        }
    };
    ($latency:ident.$figure:ident) => {
        Field {
            get: |interval| interval.$latency.map(|latency| latency.$figure).into(),
            set: |interval, text| {
                interval.$latency.get_or_insert_default().$figure = text.parse().ok()?;
                Some(())
            },
        }
    };
}

/// The field of the phase.
const PHASE: Field = Field {
    get: |interval| interval.phase.as_str().into(),
    set: |interval, text| {
        text.clone_into(&mut interval.phase);
        Some(())
    },
};

/// The field of the mean service latency. That of the response latency has no column.
const SERVICE_MEAN: Field = Field {
    get: |interval| interval.service_latency_ns.and_then(|latency| latency.mean).into(),
    set: |interval, text| {
        interval.service_latency_ns.get_or_insert_default().mean = Some(text.parse().ok()?);
        Some(())
    },
};

/// The field of the offered rate.
const OFFERED: Field = Field {
    get: |interval| interval.offered_per_s.into(),
    set: |interval, text| {
        interval.offered_per_s = Some(text.parse().ok()?);
        Some(())
    },
};

/// The columns, in their order. New ones are added at the end.
pub const INTERVAL_COLUMNS: &[IntervalColumn] = &[
    count("interval", "number from 0, over all phases and stages", field!(interval)),
    required(column(
        "phase",
        CellKind::Text,
        "",
        "`ramp` (warm-up), `measure` (the measured window) or `drain` (after it)",
        PHASE,
    )),
    required(number("start_s", 6, "s", "start, since the clients began", field!(start_s))),
    required(number("end_s", 6, "s", "end, since the clients began", field!(end_s))),
    number("tps", 3, "1/s", "committed transactions a second", field!(tps)),
    count("started", "transactions that were begun", field!(started)),
    required(count("committed", "transactions whose work is committed", field!(committed))),
    count("rolled_back", "transactions that the workload itself rolled back", field!(rolled_back)),
    count("failed", "transactions that failed for good", field!(failed)),
    count("retried", "transactions that were tried more than once", field!(retried)),
    count("retries", "tries after the first", field!(retries)),
    count("skipped", "arrivals that were skipped for being later than the latency limit", field!(skipped)),
    count("late", "transactions above the latency limit", field!(late)),
    count("in_flight", "transactions in progress at the end", field!(in_flight)),
    number(
        "service_latency_ns_mean",
        0,
        "ns",
        "service latency (first byte sent to ReadyForQuery): mean",
        SERVICE_MEAN,
    ),
    ns("service_latency_ns_p50", "service latency: median", field!(service_latency_ns.p50)),
    ns("service_latency_ns_p95", "service latency: 95th percentile", field!(service_latency_ns.p95)),
    ns("service_latency_ns_p99", "service latency: 99th percentile", field!(service_latency_ns.p99)),
    ns("service_latency_ns_max", "service latency: maximum", field!(service_latency_ns.max)),
    ns(
        "response_latency_ns_p50",
        "response latency (intended start to ReadyForQuery): median",
        field!(response_latency_ns.p50),
    ),
    ns("response_latency_ns_p95", "response latency: 95th percentile", field!(response_latency_ns.p95)),
    ns("response_latency_ns_p99", "response latency: 99th percentile", field!(response_latency_ns.p99)),
    ns("response_latency_ns_max", "response latency: maximum", field!(response_latency_ns.max)),
    of_run(number(
        "client_cpu_s",
        6,
        "s",
        "CPU time of pgdyno's engine threads, user and kernel",
        field!(client_cpu_s),
    )),
    of_run(number(
        "offered_per_s",
        3,
        "1/s",
        "transactions a second that were offered, where the rate changes in steps; empty after the measured window, and where a group of clients has no rate",
        OFFERED,
    )),
];

impl IntervalColumn {
    /// Returns the text of its cell; empty without a value.
    pub(super) fn text(&self, interval: &IntervalRecord) -> String {
        (self.field.get)(interval).text(self.kind)
    }

    /// Sets its field to the text of a cell. An empty cell leaves it as it is. Returns `None` if the text is no value of the column.
    pub(super) fn read(&self, text: &str, interval: &mut IntervalRecord) -> Option<()> {
        if text.is_empty() { Some(()) } else { (self.field.set)(interval, text) }
    }
}

const fn column(
    name: &'static str,
    kind: CellKind,
    unit: &'static str,
    meaning: &'static str,
    field: Field,
) -> IntervalColumn {
    IntervalColumn { name, kind, unit, meaning, is_required: false, is_by_group: true, field }
}

const fn count(name: &'static str, meaning: &'static str, field: Field) -> IntervalColumn {
    column(name, CellKind::Count, "", meaning, field)
}

const fn ns(name: &'static str, meaning: &'static str, field: Field) -> IntervalColumn {
    column(name, CellKind::Count, "ns", meaning, field)
}

const fn number(
    name: &'static str,
    decimals: usize,
    unit: &'static str,
    meaning: &'static str,
    field: Field,
) -> IntervalColumn {
    column(name, CellKind::Number(decimals), unit, meaning, field)
}

/// Returns a column without which a file is no table of intervals.
const fn required(column: IntervalColumn) -> IntervalColumn {
    IntervalColumn { is_required: true, ..column }
}

/// Returns a column that is not known by group.
const fn of_run(column: IntervalColumn) -> IntervalColumn {
    IntervalColumn { is_by_group: false, ..column }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn row(column: &IntervalColumn) -> String {
        format!("| `{}` | {} | {} |\n", column.name, column.unit, column.meaning)
    }

    #[test]
    fn the_page_has_the_table() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results.md");
        let rows: String = INTERVAL_COLUMNS.iter().map(row).collect();
        let wanted = format!("\n| column | unit | what it is |\n| --- | --- | --- |\n{rows}\n");
        pgdyno_testing::pages::part_is(&page, "intervals", &wanted);
    }

    #[test]
    fn columns_have_names_of_their_own_with_the_unit_in_them() {
        for (nth, column) in INTERVAL_COLUMNS.iter().enumerate() {
            assert!(INTERVAL_COLUMNS[..nth].iter().all(|other| other.name != column.name), "{}", column.name);
            let is_named = ["", "1/s"].contains(&column.unit) || column.name.split('_').any(|part| part == column.unit);
            assert!(is_named, "{}: {}", column.name, column.unit);
        }
    }
}
