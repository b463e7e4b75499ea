//! The options of a run in a suite file, fixed or as axes of the matrix, and their arguments.

use std::collections::BTreeMap;
use std::fmt;

use pgdyno_text::parse::Duration;
use pgdyno_wire::{QueryMode, Wire};
use pgdyno_workload::Arrivals;
use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

use crate::TargetName;

/// The value of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Value {
    /// For the key of a cell.
    pub(super) text: String,
    /// For `pgdyno run`.
    pub(super) args: Vec<String>,
}

/// The type of an option's value.
trait Kind {
    /// Returns the value as text, and as arguments of the option `flag` on the command line.
    fn value(&self, flag: &str) -> Value;
}

fn plain(flag: &str, text: String) -> Value {
    Value { args: vec![format!("--{flag}={text}")], text }
}

impl Kind for u64 {
    fn value(&self, flag: &str) -> Value {
        plain(flag, self.to_string())
    }
}

impl Kind for f64 {
    fn value(&self, flag: &str) -> Value {
        plain(flag, self.to_string())
    }
}

impl Kind for String {
    fn value(&self, flag: &str) -> Value {
        plain(flag, self.clone())
    }
}

impl Kind for bool {
    fn value(&self, flag: &str) -> Value {
        Value { text: self.to_string(), args: self.then(|| format!("--{flag}")).into_iter().collect() }
    }
}

impl Kind for Duration {
    fn value(&self, flag: &str) -> Value {
        plain(flag, format!("{}s", self.seconds()))
    }
}

impl Kind for Arrivals {
    fn value(&self, flag: &str) -> Value {
        plain(flag, self.name().to_owned())
    }
}

impl Kind for QueryMode {
    fn value(&self, flag: &str) -> Value {
        plain(flag, self.name().to_owned())
    }
}

impl Kind for Wire {
    fn value(&self, flag: &str) -> Value {
        plain(flag, self.name().to_owned())
    }
}

/// A time that the command line takes in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(transparent)]
pub(super) struct Milliseconds(Duration);

impl Kind for Milliseconds {
    fn value(&self, flag: &str) -> Value {
        let ms = self.0.seconds() * 1e3;
        Value { text: format!("{ms}ms"), args: vec![format!("--{flag}={ms}")] }
    }
}

/// Settings or parameters: each becomes a separate argument.
impl Kind for BTreeMap<String, Word> {
    fn value(&self, flag: &str) -> Value {
        let pairs: Vec<String> = self.iter().map(|(name, Word(value))| format!("{name}={value}")).collect();
        Value { text: pairs.join("+"), args: pairs.iter().map(|pair| format!("--{flag}={pair}")).collect() }
    }
}

/// Arguments, unchanged.
impl Kind for Vec<String> {
    fn value(&self, _: &str) -> Value {
        Value { text: self.join(" "), args: self.clone() }
    }
}

/// A string, a number or a Boolean, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word(String);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Word;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, a number, true or false")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Word, E> {
                Ok(Word(text.to_owned()))
            }

            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Word, E> {
                Ok(Word(number.to_string()))
            }

            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Word, E> {
                Ok(Word(number.to_string()))
            }

            fn visit_bool<E: de::Error>(self, truth: bool) -> Result<Word, E> {
                Ok(Word(truth.to_string()))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// The workload: a name, or several script files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct What(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for What {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMore;
        impl<'de> Visitor<'de> for OneOrMore {
            type Value = What;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a workload, a recipe, a directory, or script files")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<What, E> {
                Ok(What(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<What, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = list.next_element()? {
                    names.push(name);
                }
                Ok(What(names))
            }
        }
        deserializer.deserialize_any(OneOrMore)
    }
}

impl What {
    /// Returns the text for the key of a cell: paths without their directories.
    pub(super) fn text(&self) -> String {
        self.0.iter().map(|name| name.strip_prefix("./").unwrap_or(name)).collect::<Vec<_>>().join("+")
    }

    /// Returns the arguments: paths become relative to `base`, names stay.
    pub(super) fn args(&self, base: &str) -> Vec<String> {
        let is_path = |name: &str| {
            let file = name.rsplit_once('@').map_or(name, |(file, _)| file);
            name.starts_with("./")
                || name.starts_with("../")
                || [name, file].iter().any(|f| f.ends_with(".sql"))
                || name.ends_with(".toml")
        };
        let place = |name: &String| match name.strip_prefix("./").unwrap_or(name) {
            rest if base.is_empty() || rest.starts_with('/') || !is_path(name) => name.clone(),
            rest => format!("{base}/{rest}"),
        };
        self.0.iter().map(place).collect()
    }
}

/// Defines [`Run`] and [`Matrix`] from one list, so that every fixed option can be an axis.
macro_rules! options {
    ($($name:ident: $kind:ty => $flag:literal,)*) => {
        /// A `[[run]]`.
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct Run {
            pub(super) what: Option<What>,
            pub(super) name: Option<String>,
            pub(super) targets: Option<Vec<TargetName>>,
            #[serde(default)]
            pub(super) matrix: Matrix,
            $(pub(super) $name: Option<$kind>,)*
        }

        /// Its `matrix`.
        #[derive(Clone, Debug, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct Matrix {
            pub(super) what: Option<Vec<What>>,
            $($name: Option<Vec<$kind>>,)*
        }

        /// The flags of the options of a suite.
        #[cfg(test)]
        pub(super) const FLAGS: &[&str] = &[$($flag),*];

        impl Run {
            /// Returns the options that are the same in every cell.
            pub(super) fn fixed(&self) -> Vec<(&'static str, Value)> {
                let mut found = Vec::new();
                $(found.extend(self.$name.iter().map(|value| (stringify!($name), value.value($flag))));)*
                found
            }
        }

        impl Matrix {
            /// Returns the options that differ.
            pub(super) fn axes(&self) -> Vec<(&'static str, Vec<Value>)> {
                let mut found = Vec::new();
                $(found.extend(self.$name.iter().map(|values| {
                    (stringify!($name), values.iter().map(|value| value.value($flag)).collect::<Vec<_>>())
                }));)*
                found
            }
        }
    };
}

options! {
    size: String => "size",
    variant: String => "variant",
    fit: bool => "fit",
    short: f64 => "short",
    scale: f64 => "scale",
    warehouses: u64 => "warehouses",
    clients: u64 => "clients",
    connections: u64 => "connections",
    threads: u64 => "threads",
    agents: u64 => "agents",
    time: Duration => "time",
    transactions: u64 => "transactions",
    ramp: Duration => "ramp",
    grace: Duration => "grace",
    rate: f64 => "rate",
    arrivals: Arrivals => "arrivals",
    mode: QueryMode => "mode",
    wire: Wire => "wire",
    pin: String => "pin",
    max_tries: u64 => "max-tries",
    latency_limit: Milliseconds => "latency-limit",
    reconnect: Duration => "reconnect",
    coalesce: Duration => "coalesce",
    random_seed: u64 => "random-seed",
    call: String => "call",
    profile: String => "profile",
    all_warehouses: bool => "all-warehouses",
    pipeline: bool => "pipeline",
    keying_time: bool => "keying-time",
    no_think: bool => "no-think",
    partitions: u64 => "partitions",
    foreign_keys: bool => "foreign-keys",
    shard_count: u64 => "shard-count",
    indexes: String => "indexes",
    records: u64 => "records",
    fields: u64 => "fields",
    field_bytes: u64 => "field-bytes",
    schema: String => "schema",
    distribution: String => "distribution",
    tables: u64 => "tables",
    streams: u64 => "streams",
    repeat: u64 => "repeat",
    queries: String => "queries",
    timeout: Duration => "timeout",
    no_refresh: bool => "no-refresh",
    validation: bool => "validation",
    query_form: String => "query-form",
    alone: bool => "alone",
    params: BTreeMap<String, Word> => "param",
    settings: BTreeMap<String, Word> => "set",
    analytics_target: String => "analytics-target",
    analytics_set: BTreeMap<String, Word> => "analytics-set",
    from_template: String => "from-template",
    no_load: bool => "no-load",
    replace: bool => "replace",
    no_check: bool => "no-check",
    no_vacuum: bool => "no-vacuum",
    allow_schema_changes: bool => "allow-schema-changes",
    loaders: u64 => "loaders",
    resumable: bool => "resumable",
    unlogged: bool => "unlogged",
    restart: bool => "restart",
    drop_caches: bool => "drop-caches",
    prewarm: bool => "prewarm",
    checkpoint: bool => "checkpoint",
    latency_percentiles: String => "latency-percentiles",
    log: bool => "log",
    no_samples: bool => "no-samples",
    os_metrics: String => "os-metrics",
    statement_plans: u64 => "statement-plans",
    plans: bool => "plans",
    perf: bool => "perf",
    args: Vec<String> => "",
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::OPTIONS;

    #[test]
    fn a_suite_has_every_option_that_a_plan_keeps() {
        // A suite provisions a target once for all of its runs, and connects to its private servers by their sockets.
        let own = ["provision", "tcp"];
        let kept = OPTIONS.iter().flat_map(|option| option.flags);
        let missing: Vec<_> = kept.filter(|flag| !FLAGS.contains(flag) && !own.contains(flag)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn the_manual_names_every_option_of_a_suite() {
        let manual = include_str!("../../../../docs/suites.md");
        let named = |flag: &str| manual.contains(&flag.replace('-', "_"));
        let missing: Vec<_> = FLAGS.iter().filter(|flag| !named(flag)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
