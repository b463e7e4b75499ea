//! Every built-in workload by its name.

use pgdyno_workload::{Meta, ParamError, Params, Workload};

use crate::{noop, pgbench, tproc_c};

/// One workload that can be built.
#[derive(Debug)]
pub struct Entry {
    /// Its name and parameters.
    pub meta: &'static Meta,
    /// Makes it, from parameters that were checked against `meta`.
    pub build: fn(&Params) -> Box<dyn Workload>,
}

/// Why a workload could not be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// No such workload.
    #[error("unknown workload '{id}'; {}", suggestion(.nearest))]
    Unknown {
        /// What was given.
        id: String,
        /// The known ones that look most like it, best first; empty when none does.
        nearest: Vec<&'static str>,
    },
    /// A parameter that it does not have, or a value that it cannot have.
    #[error(transparent)]
    Param(#[from] ParamError),
}

static ALL: [Entry; 5] = [
    Entry { meta: &pgbench::TPCB_LIKE, build: pgbench::tpcb_like },
    Entry { meta: &pgbench::SIMPLE_UPDATE, build: pgbench::simple_update },
    Entry { meta: &pgbench::SELECT_ONLY, build: pgbench::select_only },
    Entry { meta: &tproc_c::META, build: tproc_c::build },
    Entry { meta: &noop::META, build: noop::build },
];

/// All workloads, in the order in which they are listed.
#[must_use]
pub fn all() -> &'static [Entry] {
    &ALL
}

/// The workload `id`.
///
/// # Errors
/// When there is none; the error says which ones look like it.
pub fn find(id: &str) -> Result<&'static Entry, BuildError> {
    ALL.iter()
        .find(|entry| entry.meta.id == id)
        .ok_or_else(|| BuildError::Unknown { id: id.to_owned(), nearest: nearest(id) })
}

/// Makes the workload `id` with the parameters that were given; the others have their defaults.
///
/// # Errors
/// When there is no such workload or parameter, or the value is impossible. Each error says what there is.
pub fn build<'a>(
    id: &str,
    given: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Box<dyn Workload>, BuildError> {
    let entry = find(id)?;
    let params = Params::new(entry.meta.id, entry.meta.params, given)?;
    Ok((entry.build)(&params))
}

fn suggestion(nearest: &[&str]) -> String {
    match nearest {
        [] => format!("known are {}", ALL.iter().map(|entry| entry.meta.id).collect::<Vec<_>>().join(", ")),
        nearest => format!("did you mean {}?", nearest.join(" or ")),
    }
}

/// Known names that begin with `id`, or differ from it in at most a third of their letters.
fn nearest(id: &str) -> Vec<&'static str> {
    // Case and the kind of dash are the commonest slips.
    let id = id.to_lowercase().replace(['_', ' '], "-");
    let mut near: Vec<(usize, &'static str)> = ALL
        .iter()
        .filter_map(|entry| {
            let known = entry.meta.id;
            let distance = if !id.is_empty() && known.starts_with(&id) { 0 } else { edit_distance(&id, known) };
            (distance <= known.len() / 3).then_some((distance, known))
        })
        .collect();
    near.sort_unstable();
    near.into_iter().map(|(_, known)| known).take(3).collect()
}

/// Levenshtein's distance: insertions, deletions and replacements of one letter.
fn edit_distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, to) in b.chars().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or_default()
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
        assert_eq!(
            refusal("tpcc", &[]),
            "unknown workload 'tpcc'; known are tpcb-like, simple-update, select-only, tproc-c, noop"
        );
        assert_eq!(refusal("tproc_c", &[]), "unknown workload 'tproc_c'; did you mean tproc-c?");
        assert_eq!(refusal("select", &[]), "unknown workload 'select'; did you mean select-only?");
        assert_eq!(refusal("tpcb-liek", &[]), "unknown workload 'tpcb-liek'; did you mean tpcb-like?");
        assert_eq!(
            refusal("", &[]),
            "unknown workload ''; known are tpcb-like, simple-update, select-only, tproc-c, noop"
        );
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
            assert_eq!(workload.meta().id, meta.id);
            assert_eq!(workload.scale() > 0, meta.needs_server(), "{}", meta.id);
            assert!(
                meta.scale_name.is_empty() || meta.params.iter().any(|p| p.name == meta.scale_name),
                "{} has no parameter {}",
                meta.id,
                meta.scale_name
            );
        }
    }
}
