//! Tables of a built-in workload, under scripts of a user.

use std::sync::Arc;

use pgdyno_workload::{Check, DataSet, Param, ParamError, ParamKind, Params, When};

use super::leak;
use super::manifest::{self, DataEntry};
use crate::registry::{self, BuiltinWorkload};

/// Tables of a built-in workload, and the conditions on them.
#[derive(Debug)]
pub(super) struct Tables {
    /// The built-in workload.
    pub(super) entry: &'static BuiltinWorkload,
    /// Its parameters that shape them. Those that the directory fixes have one value.
    pub(super) params: Vec<Param>,
    /// Its checks that hold under these scripts.
    pub(super) checks: Vec<&'static str>,
}

impl Tables {
    /// Checks `[data]`. The error is about `workload.toml`.
    pub(super) fn read(workload: &str, data: &DataEntry) -> Result<Self, String> {
        let entry = find(workload)?;
        let meta = entry.meta;
        let mut params: Vec<_> = meta.params.iter().filter(|param| param.shapes_data()).copied().collect();
        for (name, value) in &data.params {
            let (text, _) = manifest::plain(value)
                .ok_or_else(|| format!("data: {name} must be a number, a text, true or false"))?;
            let given = [(name.as_str(), text.as_str())];
            let checked = Params::new(meta.id, meta.params, given).map_err(|error| format!("data: {error}"))?;
            let Some(param) = params.iter_mut().find(|param| param.name == name) else {
                return Err(format!("data: {name} is a parameter of the runs of {}, not of its data", meta.id));
            };
            *param = fixed(param, checked.text(name));
        }
        let by_default = Params::new(meta.id, meta.params, []).map_err(|error| error.to_string())?;
        let mut checks: Vec<_> = (entry.build)(&by_default).data[0].checks().iter().map(|check| check.name).collect();
        if let Some(chosen) = &data.checks {
            if let Some(unknown) = chosen.iter().find(|name| !checks.contains(&name.as_str())) {
                return Err(format!("data: {} has no check '{unknown}'; it has {}", meta.id, checks.join(", ")));
            }
            checks.retain(|name| chosen.iter().any(|chosen| chosen == name));
        }
        Ok(Self { entry, params, checks })
    }

    /// Builds the data, with those of `params` that shape it.
    ///
    /// # Errors
    /// When a value is missing or impossible.
    pub(super) fn build(&self, params: &Params) -> Result<Arc<dyn DataSet>, ParamError> {
        let meta = self.entry.meta;
        let given = self.params.iter().map(|param| (param.name, params.text(param.name)));
        // A built-in workload with tables has one data set.
        Ok((self.entry.build)(&Params::new(meta.id, meta.params, given)?).data.swap_remove(0))
    }

    /// Returns its checks that hold under these scripts.
    pub(super) fn checks(&self, data: &dyn DataSet) -> Vec<Check> {
        data.checks().into_iter().filter(|check| self.checks.contains(&check.name)).collect()
    }
}

fn find(id: &str) -> Result<&'static BuiltinWorkload, String> {
    let with_tables = || registry::all().iter().filter(|entry| entry.meta.has_data());
    with_tables().find(|entry| entry.meta.id == id).ok_or_else(|| {
        let meant = registry::suggestion(id, with_tables().map(|entry| entry.meta.id));
        format!("data: '{id}' is not a built-in workload with tables; {meant}")
    })
}

/// Returns the parameter with this value alone. A value other than the default is part of the data's identity.
fn fixed(param: &Param, value: &str) -> Param {
    let when = if param.identifies_data(value) { When::Load } else { param.when };
    let value: &'static str = String::leak(value.to_owned());
    Param { default: value, kind: ParamKind::Choice(leak([value])), when, ..*param }
}
