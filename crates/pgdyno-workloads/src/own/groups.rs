//! `[[group]]` and `[[stage]]`: clients with scripts, pace and rules of their own, and when they run.

use pgdyno_wire::QueryMode;
use pgdyno_workload::{Arrivals, Clients, Ends, Group, Pace, RATE_MAX_PER_S, Rate, Results, Stage};
use serde::Deserialize;

use super::script_entry::ScriptEntry;
use crate::scripted::{GroupScripts, Groups};

/// A group in `workload.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnGroup {
    /// Its name.
    pub name: String,
    /// Files of its scripts, in the order in which they are named.
    pub scripts: Vec<String>,
    /// Whether each client runs each of them once, in this order, and is finished.
    #[serde(default)]
    pub once: bool,
    /// Think time before each transaction.
    pub think_ms: Option<f64>,
    /// Number of its clients.
    clients: Option<u32>,
    /// Its share of the run's clients, above 0, up to 1.
    share: Option<f64>,
    rate_per_s: Option<f64>,
    arrivals: Option<Arrivals>,
    mode: Option<QueryMode>,
    max_tries: Option<u32>,
    latency_limit_ms: Option<f64>,
    transactions: Option<u64>,
    #[serde(default)]
    results: Rows,
}

/// Treatment of rows.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Rows {
    #[default]
    Discard,
    Count,
    Digest,
}

/// A stage in `workload.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StageEntry {
    name: String,
    groups: Vec<String>,
    ends_with: Option<String>,
    grace_s: Option<f64>,
}

/// The groups of a directory and the stages in which they run.
#[derive(Debug)]
pub(super) struct OwnGroups {
    pub(super) groups: Vec<OwnGroup>,
    /// The name of each stage, and its groups by their places.
    stages: Vec<OwnStage>,
    /// The scripts of each group.
    scripts: Vec<GroupScripts>,
}

#[derive(Debug)]
struct OwnStage {
    name: &'static str,
    groups: Vec<usize>,
    ends: Ends,
    grace_ns: Option<u64>,
}

impl OwnGroups {
    /// Checks the entries of `workload.toml`. Returns `None` if there are no groups.
    ///
    /// # Errors
    /// Describes the first mistake.
    pub(super) fn new(
        groups: Vec<OwnGroup>,
        stages: Vec<StageEntry>,
        scripts: &[ScriptEntry],
    ) -> Result<Option<Self>, String> {
        if groups.is_empty() {
            return if stages.is_empty() { Ok(None) } else { Err("it has [[stage]] but no [[group]]".to_owned()) };
        }
        unlike("groups", groups.iter().map(|group| &group.name))?;
        unlike("stages", stages.iter().map(|stage| &stage.name))?;
        let mut mixes = Vec::new();
        for group in &groups {
            mixes.push(mix(group, scripts).map_err(|what| format!("group {}: {what}", group.name))?);
        }
        if let Some(unused) = (0..scripts.len()).find(|at| mixes.iter().all(|mix| !mix.scripts.contains(at))) {
            return Err(format!("script {} is in no group", scripts[unused].file));
        }
        let all =
            || OwnStage { name: Stage::ONLY, groups: (0..groups.len()).collect(), ends: Ends::After, grace_ns: None };
        let mut in_order = Vec::new();
        for stage in &stages {
            in_order.push(own_stage(stage, &groups, &mixes).map_err(|what| format!("stage {}: {what}", stage.name))?);
        }
        if in_order.is_empty() {
            in_order.push(all());
        }
        if let Some(unused) = (0..groups.len()).find(|at| in_order.iter().all(|stage| !stage.groups.contains(at))) {
            return Err(format!("group {} is in no stage", groups[unused].name));
        }
        Ok(Some(Self { groups, stages: in_order, scripts: mixes }))
    }

    /// Returns the stages of a run with so many clients.
    ///
    /// # Errors
    /// When a group would have no clients.
    pub(super) fn for_clients(&self, given: u32) -> Result<Groups, String> {
        let mut stages = Vec::new();
        for stage in &self.stages {
            let mut before = 0.0;
            let mut groups = Vec::new();
            for at in &stage.groups {
                let (entry, name) = (&self.groups[*at], self.scripts[*at].group);
                let clients = match (entry.clients, entry.share) {
                    (Some(number), _) => Clients::Number(number),
                    (None, None) => Clients::Given,
                    (None, Some(share)) => {
                        // Rounded so that shares that add up to 1 are all clients.
                        let end = |share: f64| (share * f64::from(given)).round() as u32;
                        let number = end(before + share) - end(before);
                        before += share;
                        Clients::Number(number)
                    }
                };
                if clients.number(given) == 0 {
                    return Err(format!("group {name} has no client of {given}: give more, with --clients"));
                }
                groups.push(Group { clients, ..entry.rules(name) });
            }
            stages.push(Stage { name: stage.name, groups, ends: stage.ends, grace_ns: stage.grace_ns });
        }
        Ok(Groups { stages, scripts: self.scripts.clone() })
    }
}

impl OwnGroup {
    /// Returns its pace and rules.
    fn rules(&self, name: &'static str) -> Group {
        let rate = |per_s| Pace::Rate(Rate { per_s, arrivals: self.arrivals.unwrap_or_default() });
        Group {
            pace: self.rate_per_s.map(rate),
            mode: self.mode,
            max_tries: self.max_tries,
            latency_limit_ns: self.latency_limit_ms.map(nanoseconds),
            transactions: self.transactions,
            results: match self.results {
                Rows::Discard => Results::Discard,
                Rows::Count => Results::Count,
                Rows::Digest => Results::Digest,
            },
            ..Group::new(name)
        }
    }
}

fn nanoseconds(ms: f64) -> u64 {
    (ms * 1e6) as u64
}

/// Checks names, which stand in CSV files and identify figures.
fn unlike<'a>(of: &str, names: impl Iterator<Item = &'a String>) -> Result<(), String> {
    let mut names: Vec<_> = names.collect();
    let is_name = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.');
    if let Some(name) = names.iter().find(|name| name.is_empty() || !name.bytes().all(is_name)) {
        return Err(format!("'{name}' cannot be a name of {of}: write letters, digits, '-', '_' and '.'"));
    }
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => Err(format!("two {of} are called '{}'", twice[0])),
        None => Ok(()),
    }
}

/// Checks a group, and finds its scripts.
fn mix(group: &OwnGroup, scripts: &[ScriptEntry]) -> Result<GroupScripts, String> {
    let positive = |name: &str, value: Option<f64>, most: f64| match value {
        Some(value) if !(value > 0.0 && value <= most) => Err(format!("{name} must be above 0 and at most {most}")),
        _ => Ok(()),
    };
    positive("share", group.share, 1.0)?;
    positive("rate_per_s", group.rate_per_s, RATE_MAX_PER_S)?;
    positive("think_ms", group.think_ms, 1e9)?;
    positive("latency_limit_ms", group.latency_limit_ms, 1e9)?;
    if group.clients.is_some() && group.share.is_some() {
        return Err("it has clients and a share: remove one of them".to_owned());
    }
    if group.clients == Some(0) || group.transactions == Some(0) {
        return Err("clients and transactions must be above 0".to_owned());
    }
    if group.arrivals.is_some() && group.rate_per_s.is_none() {
        return Err("it has arrivals but no rate_per_s".to_owned());
    }
    let find = |file: &String| {
        let at = scripts.iter().position(|script| script.file == *file);
        at.ok_or_else(|| format!("there is no [[script]] with file = \"{file}\""))
    };
    let found: Vec<usize> = group.scripts.iter().map(find).collect::<Result<_, _>>()?;
    if found.is_empty() {
        return Err("it names no scripts".to_owned());
    }
    if !group.once && found.iter().all(|at| scripts[*at].weight == 0) {
        return Err("all its scripts have weight 0".to_owned());
    }
    Ok(GroupScripts {
        group: String::leak(group.name.clone()),
        scripts: found,
        once: group.once,
        think_ns: group.think_ms.map_or(0, nanoseconds),
    })
}

/// Checks a stage, and finds its groups.
fn own_stage(stage: &StageEntry, groups: &[OwnGroup], mixes: &[GroupScripts]) -> Result<OwnStage, String> {
    let find = |name: &String| {
        let at = groups.iter().position(|group| group.name == *name);
        at.ok_or_else(|| format!("there is no [[group]] with name = \"{name}\""))
    };
    let found: Vec<usize> = stage.groups.iter().map(find).collect::<Result<_, _>>()?;
    if found.is_empty() {
        return Err("it names no groups".to_owned());
    }
    unlike("groups", stage.groups.iter())?;
    let ends = match &stage.ends_with {
        None => Ends::After,
        Some(name) => {
            let at = find(name)?;
            if !found.contains(&at) {
                return Err(format!("it ends with {name}, which is not one of its groups"));
            }
            if !groups[at].once && groups[at].transactions.is_none() {
                return Err(format!("it ends with {name}, whose clients never end: give it once or transactions"));
            }
            Ends::WhenDone(mixes[at].group)
        }
    };
    if stage.grace_s.is_some_and(|seconds| !(0.0..=1e9).contains(&seconds)) {
        return Err("grace_s must be 0 or more".to_owned());
    }
    let grace_ns = stage.grace_s.map(|seconds| nanoseconds(seconds * 1e3));
    Ok(OwnStage { name: String::leak(stage.name.clone()), groups: found, ends, grace_ns })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::own::manifest::Manifest;

    const SCRIPTS: &str = "[[script]]\nfile = 'a.sql'\nweight = 3\n[[script]]\nfile = 'b.sql'\n";
    const GROUPS: &str = "[[group]]\nname = 'w'\nscripts = ['a.sql']\nshare = 0.5\nthink_ms = 2\n\
        [[group]]\nname = 'r'\nscripts = ['b.sql', 'a.sql']\nshare = 0.5\nrate_per_s = 7\nmode = 'prepared'\n\
        [[group]]\nname = 'q'\nscripts = ['b.sql', 'a.sql']\nclients = 2\nonce = true\nresults = 'digest'\n";

    fn read(text: &str) -> Result<Option<OwnGroups>, String> {
        let manifest = Manifest::parse(&format!("{SCRIPTS}{text}"))?;
        OwnGroups::new(manifest.group, manifest.stage, &manifest.script)
    }

    fn clients(groups: &Groups, given: u32) -> Vec<Vec<u32>> {
        let of = |stage: &Stage| stage.groups.iter().map(|group| group.clients.number(given)).collect();
        groups.stages.iter().map(of).collect()
    }

    #[test]
    fn without_stages_all_groups_run_side_by_side() {
        assert!(read("").unwrap().is_none());
        let own = read(GROUPS).unwrap().unwrap();
        let groups = own.for_clients(5).unwrap();
        assert_eq!(clients(&groups, 5), [[3, 2, 2]], "shares of 1 are all clients");
        let [stage] = &groups.stages[..] else { panic!("{:?}", groups.stages) };
        let rate = Pace::Rate(Rate { per_s: 7.0, arrivals: Arrivals::Poisson });
        assert_eq!(stage.groups.iter().map(|group| group.pace).collect::<Vec<_>>(), [None, Some(rate), None]);
        assert_eq!((stage.groups[1].mode, stage.groups[2].results), (Some(QueryMode::Prepared), Results::Digest));
        let mixes: Vec<_> =
            groups.scripts.iter().map(|m| (m.group, m.scripts.as_slice(), m.once, m.think_ns)).collect();
        assert_eq!(mixes, [("w", &[0][..], false, 2_000_000), ("r", &[1, 0], false, 0), ("q", &[1, 0], true, 0)]);
        let error = own.for_clients(0).unwrap_err();
        assert!(error.contains("group w has no client of 0"), "{error}");
    }

    #[test]
    fn stages_run_in_their_order_and_may_share_groups() {
        let stages = "[[stage]]\nname = 'mix'\ngroups = ['w', 'r']\n\
            [[stage]]\nname = 'all'\ngroups = ['q', 'w']\nends_with = 'q'\ngrace_s = 60\n";
        let groups = read(&format!("{GROUPS}{stages}")).unwrap().unwrap().for_clients(4).unwrap();
        assert_eq!(clients(&groups, 4), [[2, 2], [2, 2]]);
        let ends: Vec<_> = groups.stages.iter().map(|stage| (stage.name, stage.ends, stage.grace_ns)).collect();
        assert_eq!(ends, [("mix", Ends::After, None), ("all", Ends::WhenDone("q"), Some(60_000_000_000))]);
    }

    #[test]
    fn what_is_wrong_is_reported() {
        let group = |rest: &str| format!("[[group]]\nname = 'g'\nscripts = ['a.sql', 'b.sql']\n{rest}\n");
        let stage = |rest: &str| format!("{GROUPS}[[stage]]\nname = 's'\n{rest}\n");
        for (text, words) in [
            ("[[stage]]\nname = 's'\ngroups = []".to_owned(), "it has [[stage]] but no [[group]]"),
            ("[[group]]\nname = 'g'\nscripts = ['a.sql']".to_owned(), "script b.sql is in no group"),
            ("[[group]]\nname = 'g'\nscripts = []".to_owned(), "group g: it names no scripts"),
            ("[[group]]\nname = 'g'\nscripts = ['c.sql']".to_owned(), "no [[script]] with file = \"c.sql\""),
            ("[[group]]\nname = 'a,b'\nscripts = ['a.sql']".to_owned(), "'a,b' cannot be a name"),
            (group("") + &group(""), "two groups are called 'g'"),
            (group("share = 0.5\nclients = 1"), "remove one of them"),
            (group("share = 1.5"), "share must be above 0 and at most 1"),
            (group("clients = 0"), "must be above 0"),
            (group("rate_per_s = 0"), "rate_per_s must be above 0"),
            (group("arrivals = 'uniform'"), "arrivals but no rate_per_s"),
            (group("mode = 'fast'"), "unknown variant `fast`"),
            (group("rate = 5"), "unknown field `rate`"),
            (stage("groups = []"), "stage s: it names no groups"),
            (stage("groups = ['x']"), "no [[group]] with name = \"x\""),
            (stage("groups = ['w', 'w']"), "two groups are called 'w'"),
            (stage("groups = ['w', 'r']"), "group q is in no stage"),
            (stage("groups = ['w', 'r', 'q']\nends_with = 'w'"), "whose clients never end"),
            (stage("groups = ['w', 'r']\nends_with = 'q'"), "not one of its groups"),
            (stage("groups = ['w', 'r', 'q']\ngrace_s = -1"), "grace_s must be 0 or more"),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
