//! All built-in workloads by name. Those that are directories of files are in [`crate::own::embedded`].

use pgdyno_workload::{Meta, Metric, ParamError, ParamKind, Params, Workload};

use crate::own::embedded;
pub use crate::refused::ParamsRefused;
use crate::{ch_benchmark, ledger, noop, oltp, pgbench, tproc_c, tproc_ds, tproc_h, ycsb};

/// A built-in workload.
#[derive(Debug)]
pub struct BuiltinWorkload {
    /// Its name and parameters.
    pub meta: &'static Meta,
    /// Builds it from parameters that were checked against `meta`.
    pub build: fn(&Params) -> Workload,
}

impl BuiltinWorkload {
    /// Refuses parameters that are valid each by itself, but name what is not there.
    ///
    /// # Errors
    /// When there are no texts for queries.
    pub fn admit(&self, params: &Params) -> Result<(), ParamsRefused> {
        if self.meta.id == tproc_ds::META.id { tproc_ds::admit(params) } else { Ok(()) }
    }
}

/// The error when a workload could not be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// Unknown workload.
    #[error("unknown workload '{id}'; {meant}")]
    Unknown {
        /// The name given.
        id: String,
        /// Similar names as a question, or all names.
        meant: String,
    },
    /// Unknown parameter, or impossible value.
    #[error(transparent)]
    Param(#[from] ParamError),
}

/// Returns the entry of one of a family of workloads.
macro_rules! of {
    ($family:ident::$meta:ident) => {
        BuiltinWorkload { meta: &$family::$meta, build: |params| $family::build(&$family::$meta, params) }
    };
}

static ALL: [BuiltinWorkload; 25] = [
    BuiltinWorkload { meta: &pgbench::TPCB_LIKE, build: pgbench::tpcb_like },
    BuiltinWorkload { meta: &pgbench::SIMPLE_UPDATE, build: pgbench::simple_update },
    BuiltinWorkload { meta: &pgbench::SELECT_ONLY, build: pgbench::select_only },
    BuiltinWorkload { meta: &tproc_c::META, build: tproc_c::build },
    BuiltinWorkload { meta: &ch_benchmark::META, build: ch_benchmark::build },
    BuiltinWorkload { meta: &tproc_h::META, build: tproc_h::build },
    BuiltinWorkload { meta: &tproc_ds::META, build: tproc_ds::build },
    of!(ycsb::A),
    of!(ycsb::B),
    of!(ycsb::C),
    of!(ycsb::D),
    of!(ycsb::E),
    of!(ycsb::F),
    of!(oltp::READ_WRITE),
    of!(oltp::READ_ONLY),
    of!(oltp::WRITE_ONLY),
    of!(oltp::POINT_SELECT),
    of!(oltp::UPDATE_INDEX),
    of!(oltp::UPDATE_NON_INDEX),
    of!(oltp::INSERT),
    of!(oltp::DELETE),
    of!(oltp::SELECT_RANDOM_POINTS),
    of!(oltp::SELECT_RANDOM_RANGES),
    BuiltinWorkload { meta: &ledger::META, build: ledger::build },
    BuiltinWorkload { meta: &noop::META, build: noop::build },
];

/// Returns all workloads, in the order of lists.
#[must_use]
pub fn all() -> &'static [BuiltinWorkload] {
    &ALL
}

/// Returns the metrics that workloads declare, with their default parameters and with each flag the other way.
#[must_use]
pub fn metrics() -> Vec<&'static Metric> {
    let mut known: Vec<&'static Metric> = Vec::new();
    for entry in &ALL {
        let flags = entry.meta.params.iter().filter(|param| param.kind == ParamKind::Flag && !param.is_fixed());
        let reversed = flags.map(|flag| vec![(flag.name, if flag.default == "true" { "false" } else { "true" })]);
        let built = std::iter::once(Vec::new()).chain(reversed).filter_map(|given| build(entry.meta.id, given).ok());
        for metric in built.flat_map(|workload| workload.drive.metrics) {
            if known.iter().all(|other| other.name != metric.name) {
                known.push(metric);
            }
        }
    }
    known
}

/// Returns the names of all workloads, directories included.
fn names() -> impl Iterator<Item = &'static str> {
    ALL.iter().map(|entry| entry.meta.id).chain(embedded::names())
}

/// Returns the workload `id`.
///
/// # Errors
/// When there is none; the error has similar names.
pub fn find(id: &str) -> Result<&'static BuiltinWorkload, BuildError> {
    ALL.iter()
        .find(|entry| entry.meta.id == id)
        .ok_or_else(|| BuildError::Unknown { id: id.to_owned(), meant: suggestion(id, names()) })
}

/// Builds the workload `id` with the given parameters; the others have their defaults.
///
/// # Errors
/// When there is no such workload or parameter, or the value is impossible. Each error lists the alternatives.
pub fn build<'a>(id: &str, given: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Workload, BuildError> {
    let entry = find(id)?;
    let params = Params::new(entry.meta.id, entry.meta.params, given)?;
    Ok((entry.build)(&params))
}

/// Returns the `known` names that `id` may have meant: similar ones, or all of them.
pub(crate) fn suggestion(id: &str, known: impl Iterator<Item = &'static str>) -> String {
    let known: Vec<_> = known.collect();
    match nearest(id, &known).as_slice() {
        [] => format!("choose from {}", known.join(", ")),
        nearest => format!("did you mean {}?", nearest.join(" or ")),
    }
}

/// Names that other benchmarks have for the same.
const ELSEWHERE: [(&str, &str); 17] = [
    ("ch", "ch-benchmark"),
    ("chbench", "ch-benchmark"),
    ("chbenchmark", "ch-benchmark"),
    ("ch-bench", "ch-benchmark"),
    ("tpch", "tproc-h"),
    ("tpc-h", "tproc-h"),
    ("tpcds", "tproc-ds"),
    ("tpc-ds", "tproc-ds"),
    ("tpcc", "tproc-c"),
    ("tpc-c", "tproc-c"),
    ("tpcb", "tpcb-like"),
    ("tpc-b", "tpcb-like"),
    ("pgbench", "tpcb-like"),
    ("readonly", "select-only"),
    ("read-only", "select-only"),
    ("sysbench", "oltp-read-write"),
    ("oltp", "oltp-read-write"),
];

/// Returns names that begin with `id`, or differ from it in at most a third of their letters; at most three, best
/// first.
fn nearest(id: &str, all: &[&'static str]) -> Vec<&'static str> {
    // Case and the kind of dash are the most common mistakes.
    let id = id.to_lowercase().replace(['_', ' '], "-");
    if let Some((_, known)) = ELSEWHERE.iter().find(|(name, known)| *name == id && all.contains(known)) {
        return vec![known];
    }
    let distance = |known: &str| match !id.is_empty() && known.starts_with(&id) {
        true => 0,
        false => strsim::damerau_levenshtein(&id, known),
    };
    let near = all.iter().map(|known| (distance(known), *known));
    let mut near: Vec<_> = near.filter(|(distance, known)| *distance <= known.len() / 3).collect();
    near.sort_unstable();
    near.into_iter().map(|(_, known)| known).take(3).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(id: &str, given: &[(&str, &str)]) -> String {
        match build(id, given.iter().copied()) {
            Ok(_) => panic!("{id} was built"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn an_unknown_workload_is_answered_with_the_nearest_known_ones() {
        let all = "choose from tpcb-like, simple-update, select-only, tproc-c, ch-benchmark, tproc-h, tproc-ds, ycsb-a, ycsb-b, \
                   ycsb-c, ycsb-d, ycsb-e, ycsb-f, oltp-read-write, oltp-read-only, oltp-write-only, oltp-point-select, \
                   oltp-update-index, oltp-update-non-index, oltp-insert, oltp-delete, select-random-points, \
                   select-random-ranges, ledger, noop, index-insert, mixed, polardb-ro, polardb-rw, sensor-1, sensor-2";
        assert_eq!(refusal("orders", &[]), format!("unknown workload 'orders'; {all}"));
        assert_eq!(refusal("TPCC", &[]), "unknown workload 'TPCC'; did you mean tproc-c?");
        assert_eq!(refusal("TPC-H", &[]), "unknown workload 'TPC-H'; did you mean tproc-h?");
        assert_eq!(refusal("tproc_c", &[]), "unknown workload 'tproc_c'; did you mean tproc-c or tproc-h or tproc-ds?");
        assert_eq!(refusal("TPC-DS", &[]), "unknown workload 'TPC-DS'; did you mean tproc-ds?");
        let selects = "did you mean select-only or select-random-points or select-random-ranges?";
        assert_eq!(refusal("select", &[]), format!("unknown workload 'select'; {selects}"));
        assert_eq!(refusal("tpcb-liek", &[]), "unknown workload 'tpcb-liek'; did you mean tpcb-like?");
        assert_eq!(refusal("", &[]), format!("unknown workload ''; {all}"));
        assert_eq!(refusal("oltp_insert", &[]), "unknown workload 'oltp_insert'; did you mean oltp-insert?");
        assert_eq!(refusal("ycsb", &[]), "unknown workload 'ycsb'; did you mean ycsb-a or ycsb-b or ycsb-c?");
        assert_eq!(refusal("sysbench", &[]), "unknown workload 'sysbench'; did you mean oltp-read-write?");
        assert_eq!(refusal("sensor_1", &[]), "unknown workload 'sensor_1'; did you mean sensor-1 or sensor-2?");
    }

    #[test]
    fn impossible_sizes_are_refused() {
        for (id, name, value, limit) in [
            ("tpcb-like", "scale", "0", "between 1 and 2619930"),
            ("tpcb-like", "scale", "-1", "between 1 and 2619930"),
            ("select-only", "scale", "2619931", "between 1 and 2619930"),
            ("tproc-c", "warehouses", "0", "between 1 and"),
            ("tproc-c", "warehouses", "2147483648", "between 1 and"),
            ("tproc-c", "warehouses", "ten", "between 1 and"),
        ] {
            let error = refusal(id, &[(name, value)]);
            assert!(error.contains(limit) && error.contains(value), "{error}");
        }
        assert!(build("tpcb-like", [("scale", "2619930")]).is_ok());
    }

    #[test]
    fn the_metrics_of_all_workloads_are_known_without_their_data() {
        assert_eq!(
            metrics().iter().map(|metric| metric.name).collect::<Vec<_>>(),
            [
                "nopm",
                "analytics-per-hour",
                "analytics-time",
                "analytics-per-hour-alone",
                "analytics-time-alone",
                "nopm-alone",
                "geometric-mean-with-refresh",
                "set-time-with-refresh",
                "queries-per-hour-with-refresh",
                "geometric-mean",
                "set-time",
                "queries-per-hour"
            ]
        );
    }

    #[test]
    fn a_parameter_of_another_workload_is_refused() {
        assert_eq!(refusal("noop", &[("scale", "1")]), "workload noop has no parameter 'scale'; it has none");
    }

    #[test]
    fn names_are_unique_and_defaults_are_valid() {
        let mut ids: Vec<_> = all().iter().map(|entry| entry.meta.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all().len());
        for entry in all() {
            let meta = entry.meta;
            let defaults = meta.params.iter().map(|p| (p.name, p.default));
            let workload =
                build(meta.id, defaults).unwrap_or_else(|e| panic!("{}: a default is invalid: {e}", meta.id));
            assert_eq!(workload.meta.id, meta.id);
            assert_eq!(workload.scale > 0, meta.needs_server(), "{}", meta.id);
            assert!(
                meta.scale_name.is_empty() || meta.params.iter().any(|p| p.name == meta.scale_name),
                "{} has no parameter {}",
                meta.id,
                meta.scale_name
            );
        }
    }
}
