//! The facts of a run, and those in which runs differ.

use std::collections::BTreeMap;

use pgdyno_plan::options::{self, Bearing, OptionValue};
use pgdyno_plan::{Plan, ScriptPlan};
use pgdyno_results::RunRecord;
use pgdyno_text::units::{bytes, count};

/// The subject of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FactGroup {
    /// The plan.
    Plan,
    /// The recipe that it followed.
    Recipe,
    /// The server and its machine.
    Server,
    /// The driver's machine.
    Client,
    /// Settings of the server.
    Settings,
}

impl FactGroup {
    /// The word in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Recipe => "recipe",
            Self::Server => "server",
            Self::Client => "client",
            Self::Settings => "setting",
        }
    }
}

/// A fact in which runs differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactDifference {
    /// The subject.
    pub group: FactGroup,
    /// Its name.
    pub name: String,
    /// The values of the base, or of all runs where there is one side only; several where its runs differ.
    pub base: Vec<String>,
    /// The values of the other side.
    pub new: Vec<String>,
    /// True if runs that differ in it did different work.
    pub is_decisive: bool,
}

/// Settings that say where a server is, and nothing of how it works.
const WHEREABOUTS: &[&str] = &[
    "application_name",
    "cluster_name",
    "config_file",
    "data_directory",
    "external_pid_file",
    "hba_file",
    "ident_file",
    "listen_addresses",
    "log_directory",
    "log_filename",
    "port",
    "unix_socket_directories",
];

/// Sizes of less than this ratio are nearly alike.
const NEARLY: f64 = 1.02;

/// A fact by group and name.
type Key = (FactGroup, String);

/// Returns the facts of a run: values in words, and whether they are decisive.
fn facts(record: &RunRecord) -> BTreeMap<Key, (String, bool)> {
    let mut facts = BTreeMap::new();
    let mut add = |group, name: &str, value: String, is_decisive| {
        if !value.is_empty() {
            facts.insert((group, name.to_owned()), (value, is_decisive));
        }
    };
    let plan = &record.plan;
    for (name, value, is_decisive) in subject(plan) {
        add(FactGroup::Plan, name, value, is_decisive);
    }
    for (name, value, is_decisive) in chosen(plan) {
        add(FactGroup::Plan, &name, value, is_decisive);
    }
    for (name, value) in &record.labels {
        add(FactGroup::Plan, &format!("label {name}"), value.clone(), false);
    }
    if let Some(recipe) = &plan.recipe {
        let cut = recipe.shortened.as_ref().map_or_else(String::new, |s| format!("times divided by {}", s.by));
        let fitted = recipe.fitted.as_ref().map_or_else(String::new, |f| f.rule.clone());
        for (name, value) in [
            ("name", recipe.name.clone()),
            ("size", recipe.size.clone()),
            ("variant", recipe.variant.clone()),
            ("short", cut),
            ("fit", fitted),
        ] {
            add(FactGroup::Recipe, name, value, false);
        }
    }
    for (name, value) in server(record) {
        add(FactGroup::Server, &name, value, false);
    }
    let client = &record.client;
    add(FactGroup::Client, "system", client.os.clone(), false);
    add(FactGroup::Client, "processor", client.cpu.clone(), false);
    add(FactGroup::Client, "CPUs", client.cpus.to_string(), false);
    add(FactGroup::Client, "memory", bytes(client.memory_bytes), false);
    add(FactGroup::Client, "pgdyno", record.pgdyno_version.clone(), false);
    for (name, value) in settings(record) {
        add(FactGroup::Settings, &name, value, false);
    }
    facts
}

/// Returns the facts that decide what work a run did, by name.
pub(crate) fn work(record: &RunRecord) -> BTreeMap<String, String> {
    let decisive = facts(record).into_iter().filter(|(_, (_, is_decisive))| *is_decisive);
    decisive.map(|((_, name), (value, _))| (name, value)).collect()
}

/// Returns workload, scripts, scale and target: the value, and whether runs that differ in it did different work.
fn subject(plan: &Plan) -> Vec<(&'static str, String, bool)> {
    let script = |script: &ScriptPlan| {
        // The same script may be called by another path.
        let name = script.file.rsplit('/').next().unwrap_or(&script.file);
        format!("{name}@{} {:.8}", script.weight, script.sha256)
    };
    vec![
        ("workload", plan.workload.clone(), true),
        ("scripts", plan.scripts.iter().map(script).collect::<Vec<_>>().join(", "), true),
        ("scale", plan.size(), true),
        ("target", plan.target.to_string(), false),
    ]
}

/// The options that bear on the figures, as [`subject`] has it. Settings are among the server's.
fn chosen(plan: &Plan) -> Vec<(String, String, bool)> {
    let mut facts = Vec::new();
    let options = options::of_any_run().filter(|option| option.spec.name != "set");
    for (option, reported) in options.filter_map(|option| Some((option, option.kept.reported()?))) {
        let bearing = (reported.bearing)(plan);
        let is_parameter = option.spec.name == "param";
        for OptionValue { name, text } in option.kept.values(plan) {
            // The seed of the data makes other rows of the same kind; the size is the scale.
            if bearing == Bearing::None || is_parameter && (name == "seed" || name == plan.scale_name) {
                continue;
            }
            facts.push((if is_parameter { format!("-D {name}") } else { name }, text, bearing == Bearing::Work));
        }
    }
    facts
}

fn server(record: &RunRecord) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    if let Some(server) = &record.server {
        let size = server.database_bytes.map_or_else(String::new, bytes);
        facts.extend([
            ("version".to_owned(), server.version.clone()),
            ("origin".to_owned(), server.origin.clone()),
            ("place".to_owned(), if server.local { "the driver's machine" } else { "another machine" }.to_owned()),
            ("standby".to_owned(), if server.standby { "yes" } else { "no" }.to_owned()),
            ("pooling".to_owned(), server.pooling.clone().unwrap_or_else(|| "none".to_owned())),
            ("TLS".to_owned(), server.tls.clone().unwrap_or_else(|| "off".to_owned())),
            ("data".to_owned(), size),
            ("synchronous standbys".to_owned(), server.synchronous_standbys.map_or_else(String::new, count)),
        ]);
        if let Some(build) = &server.build {
            facts.push(("programs".to_owned(), build.bindir.clone()));
            facts.push(("configure".to_owned(), build.configure.clone()));
        }
        if let Some(cluster) = &server.cluster {
            let delegated = cluster.delegated.map_or("not shown", |yes| if yes { "yes" } else { "no" });
            facts.extend([
                ("cluster".to_owned(), cluster.label.clone()),
                ("Citus".to_owned(), cluster.version.clone()),
                ("delegated".to_owned(), delegated.to_owned()),
            ]);
        }
    }
    if let Some(target) = &record.target {
        let price = target.price_per_hour.map_or_else(String::new, |price| format!("{price} {}", target.currency));
        facts.extend([
            ("target".to_owned(), target.name.clone()),
            ("kind".to_owned(), target.kind.clone()),
            ("vCPUs".to_owned(), target.vcpus.map_or_else(String::new, |n| n.to_string())),
            ("memory".to_owned(), target.memory_bytes.map_or_else(String::new, bytes)),
            ("price an hour".to_owned(), price),
        ]);
        facts.extend(target.labels.iter().map(|(name, value)| (format!("label {name}"), value.clone())));
    }
    facts
}

/// Returns settings as the clients had them, as far as that is known.
pub(crate) fn settings(record: &RunRecord) -> BTreeMap<String, String> {
    let mut settings: BTreeMap<_, _> = record.plan.settings.clone();
    if let Some(server) = &record.server {
        settings.extend(server.settings_changed.clone());
        settings.extend(server.settings.clone());
    }
    settings.extend(record.settings_set.iter().map(|set| (set.name.clone(), set.shown.clone())));
    settings.retain(|name, _| !WHEREABOUTS.contains(&name.as_str()));
    settings
}

/// Stands for a value that a run does not have.
const NONE: &str = "-";

/// The facts in which runs differ: between the sides, or within one of them.
pub(crate) fn differences(base_runs: &[&RunRecord], new_runs: &[&RunRecord]) -> Vec<FactDifference> {
    let of_side = |records: &[&RunRecord]| records.iter().map(|record| facts(record)).collect::<Vec<_>>();
    let (base, new) = (of_side(base_runs), of_side(new_runs));
    let mut keys = BTreeMap::new();
    for (key, (_, is_decisive)) in base.iter().chain(&new).flatten() {
        *keys.entry(key).or_insert(false) |= is_decisive;
    }
    let values = |side: &[BTreeMap<Key, (String, bool)>], key: &Key| {
        let mut values: Vec<_> =
            side.iter().map(|facts| facts.get(key).map_or(NONE, |(value, _)| value).to_owned()).collect();
        values.sort();
        values.dedup();
        values
    };
    keys.into_iter()
        .map(|(key, is_decisive)| FactDifference {
            group: key.0,
            name: key.1.clone(),
            base: values(&base, key),
            new: values(&new, key),
            is_decisive,
        })
        .filter(|d| d.base.len() > 1 || d.new.len() > 1 || (d.base != d.new && !d.new.is_empty()))
        .filter(|d| !matches!(d.group, FactGroup::Settings | FactGroup::Server) || !are_nearly_one_size(d))
        .filter(|d| d.group != FactGroup::Settings || !is_default_that_some_lack(d, base_runs.iter().chain(new_runs)))
        .collect()
}

/// Returns true if the setting is at its default in all runs that have it: which defaults a record has depends on the version of
/// pgdyno.
fn is_default_that_some_lack<'a>(
    difference: &FactDifference,
    mut runs: impl Iterator<Item = &'a &'a RunRecord>,
) -> bool {
    let name = &difference.name;
    let lacks = difference.base.iter().chain(&difference.new).any(|value| value == NONE);
    let is_changed = |run: &RunRecord| {
        run.plan.settings.contains_key(name)
            || run.settings_set.iter().any(|set| set.name == *name)
            || run.server.as_ref().is_some_and(|server| server.settings_changed.contains_key(name))
    };
    lacks && !runs.any(|run| is_changed(run))
}

/// Returns true if all values are sizes that are nearly alike: a private server's room for WAL follows the disk.
fn are_nearly_one_size(difference: &FactDifference) -> bool {
    let sizes: Option<Vec<u64>> =
        difference.base.iter().chain(&difference.new).map(|value| pgdyno_text::parse::bytes(value).ok()).collect();
    let ends = sizes.and_then(|sizes| sizes.iter().min().copied().zip(sizes.iter().max().copied()));
    ends.is_some_and(|(least, most)| most as f64 <= least as f64 * NEARLY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_that_only_newer_records_have_is_no_difference() {
        let run: RunRecord = serde_json::from_str(include_str!("../../../../fixtures/runs/v1/run.json")).unwrap();
        let (mut old, mut new) = (run.clone(), run);
        old.server.get_or_insert_default();
        new.server.get_or_insert_default().settings.insert("jit_above_cost".to_owned(), "100000".to_owned());
        let names = |new: &RunRecord| differences(&[&old], &[new]).into_iter().map(|d| d.name).collect::<Vec<_>>();
        assert_eq!(names(&new), [""; 0]);
        new.server.get_or_insert_default().settings_changed.insert("jit_above_cost".to_owned(), "5".to_owned());
        assert_eq!(names(&new), ["jit_above_cost"]);
    }
}
