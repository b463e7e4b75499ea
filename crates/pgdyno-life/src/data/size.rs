//! The size and the parameters of loaded data, and those that are asked for.

use pgdyno_load::{DataState, LoadError, Stamp};
use pgdyno_net::Admin;
use pgdyno_text::units;
use pgdyno_workload::{DataSet, Meta};

use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};

/// Refuses a size or parameters that differ from those of the data, as a run does.
pub fn admit_size(admin: &mut Admin, data: &dyn DataSet) -> Result<()> {
    let meta = data.meta();
    match pgdyno_load::state(admin, data).or_fail(Code::Load)? {
        DataState::Other(stamp) => Err(other(data, &stamp)),
        DataState::Taken(taken) => Err(CommandError::new(Code::Load, LoadError::Taken(Box::new(taken)))),
        DataState::Foreign { scale: Some(scale), maker } if !suits(meta, scale, data.scale()) => {
            Err(other_size_of_another(meta.scale_name, scale, data.scale(), maker))
        }
        _ => Ok(()),
    }
}

/// Returns true if data of another program has the size that is asked for. If that is a range of keys, there may be more.
pub(super) fn suits(meta: &Meta, there: u64, asked: u64) -> bool {
    asked == there || meta.is_key_range && asked < there
}

/// Returns the error for data of another program that has another size.
pub(super) fn other_size_of_another(name: &str, there: u64, asked: u64, maker: Option<&str>) -> CommandError {
    let whose = maker.unwrap_or("another program");
    let error = format!(
        "{whose} loaded {}; you asked for {}",
        units::sized(name, &there.to_string()),
        units::sized(name, &asked.to_string())
    );
    let hint = format!("leave out --{name} to drive what is there, or name another database in --target");
    CommandError::new(Code::Load, error).hint(hint)
}

/// Returns the error for complete data of pgdyno that differs from what is asked for.
pub(super) fn other(data: &dyn DataSet, found: &Stamp) -> CommandError {
    let meta = data.meta();
    let (name, asked) = (meta.scale_name, data.params().text(meta.scale_name));
    let there = found.load_params().find(|(param, _)| *param == name).map(|(_, value)| value);
    if let Some(there) = there.filter(|there| there != asked && meta.is_size_loaded()) {
        let error = format!(
            "the database holds data of {}; you asked for {}",
            units::sized(name, &there),
            units::sized(name, asked)
        );
        return CommandError::new(Code::Load, error).hint(format!(
            "leave out --{name} to use what is there, or load again with --replace, or drop it first with `pgdyno drop \
             {}`",
            meta.id
        ));
    }
    let asked = meta.params.iter().filter(|param| param.shapes_data());
    let differing: Vec<_> = asked
        .filter_map(|param| {
            let there = found.load_params().find(|(name, _)| *name == param.name).map(|(_, value)| value);
            let (asked, there) = (data.params().text(param.name), there.unwrap_or_else(|| param.default.to_owned()));
            (there != asked).then(|| (format!("{}={there}", param.name), format!("{}={asked}", param.name)))
        })
        .collect();
    if data.sql_data().is_none() && !differing.is_empty() {
        let (there, asked): (Vec<_>, Vec<_>) = differing.into_iter().unzip();
        let (there, asked) = (there.join(" "), asked.join(" "));
        let error = format!("the database holds data of {} with {there}; you asked for {asked}", found.dataset);
        return CommandError::new(Code::Load, error)
            .hint("leave that out to use what is there, or load again with --replace");
    }
    let error = match data.sql_data() {
        None => {
            format!("{} needs data with other parameters or of another version: the database holds {found}", meta.id)
        }
        Some(_) => {
            format!("{} or its parameters have changed since it was loaded: the database holds {found}", meta.id)
        }
    };
    CommandError::new(Code::Load, error).hint("load again with --replace")
}

/// Returns the size of the data: `1,000`, or a fraction as it was given.
pub(super) fn size(data: &dyn DataSet) -> String {
    let given = data.params().text(data.meta().scale_name);
    if given.contains('.') { given.to_owned() } else { units::count(data.scale()) }
}

/// Returns `205,999,000 of 500,000,000 rows`.
pub(super) fn rows_progress(rows: u64, all: u64) -> String {
    format!("{} of {} rows", units::count(rows), units::count(all))
}
