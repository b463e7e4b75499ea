//! Name and parameters of a directory.

use pgdyno_workload::{Meta, Param, ParamKind, When};

use super::manifest::Manifest;
use super::source::Source;
use super::{SCALE, leak, sql};
use crate::registry;

/// Returns the workload's name in records: that of `workload.toml`, or the last part of its path.
pub(super) fn name(path: &str, manifest: &Manifest) -> Result<&'static str, String> {
    let name = match &manifest.name {
        Some(name) => name.clone(),
        None => path.rsplit('/').next().unwrap_or(path).to_owned(),
    };
    let is_name = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.');
    if !name.bytes().all(is_name) || !name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err(format!(
            "'{name}' cannot be its name: give one of letters, digits, '-', '_' and '.' (name = \"…\")"
        ));
    }
    if registry::all().iter().any(|entry| entry.meta.id == name || entry.meta.dataset == name) {
        return Err(format!("'{name}' is the name of a built-in workload; give another one (name = \"…\")"));
    }
    Ok(leak(name))
}

/// Returns the description of the workload, before its parameters have values.
pub(super) fn meta(path: &str, name: &'static str, manifest: &Manifest, source: &Source) -> Result<Meta, String> {
    let when = |variable: &str| match source {
        Source::Files(texts) if texts.iter().any(|(_, text)| uses(text, variable)) => When::Load,
        Source::Files(_) | Source::Tables(_) | Source::Existing => When::Run,
    };
    let mut params = match source {
        Source::Files(_) | Source::Existing => vec![scale(manifest, when(SCALE))],
        Source::Tables(_) if !manifest.scale.is_empty() => {
            return Err("scale: what a unit of it is, is said by the workload of [data]".to_owned());
        }
        Source::Tables(tables) => tables.params.clone(),
    };
    for entry in manifest.params()? {
        if params.iter().any(|param| param.name == entry.name) {
            let name = entry.name;
            return Err(match source {
                Source::Files(_) | Source::Existing => {
                    format!("params: {name} is always defined, and its default is 1")
                }
                Source::Tables(_) => {
                    format!("params: {name} comes with the workload of [data]: set its value there")
                }
            });
        }
        params.push(Param {
            when: when(&entry.name),
            name: leak(entry.name),
            help: leak(entry.help),
            default: leak(entry.default),
            kind: entry.kind,
        });
    }
    let own = Meta {
        id: leak(path.to_owned()),
        summary: leak(manifest.summary.clone()),
        version: 1,
        dataset: name,
        scale_name: SCALE,
        scale_query: None,
        is_key_range: false,
        params: leak(params),
    };
    Ok(match source {
        Source::Files(_) => own,
        // Any existing tables: they have no size that a run knows, and `:scale` is a number for scripts.
        Source::Existing => Meta { dataset: "scripts", scale_name: "", ..own },
        Source::Tables(tables) => {
            let Meta { version, dataset, scale_name, scale_query, is_key_range, .. } = *tables.entry.meta;
            Meta { version, dataset, scale_name, scale_query, is_key_range, ..own }
        }
    })
}

fn scale(manifest: &Manifest, when: When) -> Param {
    let help = if manifest.scale.is_empty() { "the value of :scale" } else { &manifest.scale };
    let kind = ParamKind::Integer(1, i64::MAX);
    Param { name: SCALE, help: leak(help.to_owned()), default: "1", kind, when }
}

/// Returns true if a text uses a variable outside of quotes and comments.
fn uses(text: &str, variable: &str) -> bool {
    let used = std::cell::Cell::new(false);
    // A text that cannot be parsed is refused later.
    let _ = sql::statements(text, &|name| {
        used.set(used.get() || name == variable);
        None
    });
    used.get()
}
