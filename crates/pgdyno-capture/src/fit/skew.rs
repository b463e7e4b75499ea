//! Skew over keys: how often statements that look up one row by a unique key use each key.
//!
//! Two things show it. A log has the draws of each parameter ([`profile`]). Without one there are the blocks that were read into
//! shared buffers ([`reads`]): the more the keys are alike, the fewer. Neither shows which keys are frequent: sampled ones take the
//! ranks.

mod clock;
mod draws;
mod key;
mod pages;
mod profile;
mod reads;

use std::collections::BTreeMap;

use pgdyno_text::{brief, units};
use serde::{Deserialize, Serialize};

use super::{Fitted, READ_SHARE};
use crate::form::{CaptureRecord, CapturedStatement, ValueProfile};
use draws::Draws;
pub(super) use key::{Lookup, UniqueKey};
use pages::Placement;
use reads::{Explained, Lookups, OtherUse};

/// `shared_buffers` where a capture does not have it, in bytes: PostgreSQL's default.
const SHARED_BUFFERS: f64 = 134_217_728.0;

/// Bytes of a block, unless the server was built otherwise.
const BLOCK: f64 = 8192.0;

/// Calls of another statement from which on its blocks are taken as being there all the time.
const OFTEN: f64 = 10.0;

/// Rows of a list of values: so many for each page of the table and its index, and within these limits. With fewer the rarely used pages
/// would not be there.
const ROWS_OF_PAGE: f64 = 10.0;
const ROWS: (f64, f64) = (10_000.0, 1_000_000.0);

/// How a statement uses the keys of a unique index.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeySkew {
    /// The table and its columns: `public.orders(id)`.
    pub key: String,
    /// Rows of the table on the copy; absent if the key is not unique.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<f64>,
    /// What shows the skew; absent if it is not determined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<KeySkewSource>,
    /// The exponent of the zipfian distribution that explains it; 0 for uniform keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theta: Option<f64>,
    /// The number of hot keys, where some explain it and no zipfian distribution does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_keys: Option<f64>,
    /// Their share of the executions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hot_share: Option<f64>,
    /// Executions in the log; absent if their blocks show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draws: Option<u64>,
    /// Blocks that a call reads with this distribution and the captured `shared_buffers`; absent if a log shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_read_blocks_per_call: Option<f64>,
    /// Why it is not determined; absent if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undetermined: Option<String>,
}

/// What shows the skew over keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum KeySkewSource {
    /// The values in a log.
    Log,
    /// The blocks that were read into shared buffers.
    Reads,
}

impl KeySkew {
    fn draws(&self) -> Option<Draws> {
        match (self.theta, self.hot_keys, self.hot_share) {
            (Some(theta), ..) => Some(Draws::Zipfian { theta }),
            (_, Some(hot), Some(share)) => Some(Draws::HotKeys { hot, share }),
            _ => None,
        }
    }

    fn with(self, draws: Draws, source: KeySkewSource) -> Self {
        let of = match draws {
            Draws::Zipfian { theta } => Self { theta: Some((theta * 100.0).round() / 100.0), ..self },
            Draws::HotKeys { hot, share } => Self { hot_keys: Some(hot), hot_share: Some(share), ..self },
        };
        Self { source: Some(source), ..of }
    }

    /// Returns the distribution in words; `None` if it is not determined. `captured` is the number of blocks that a call read.
    pub(super) fn words(&self, captured: f64) -> Option<String> {
        let keys = match (self.theta, self.hot_keys, self.hot_share) {
            (Some(theta), ..) if theta > 0.0 => format!("keys as if zipfian with theta {theta}"),
            (Some(_), ..) => "uniform keys".to_owned(),
            (_, Some(hot), Some(share)) => {
                format!("{} of the keys from {} hot ones", brief::percent(share), units::grouped(hot))
            }
            _ => return None,
        };
        let why = match (self.draws, self.expected_read_blocks_per_call) {
            (Some(draws), _) => format!("{} in the log", units::plural(draws, "execution")),
            (None, Some(expected)) => {
                format!("{} blocks read a call, {} expected", brief::number(captured), brief::number(expected))
            }
            (None, None) => return Some(keys),
        };
        Some(format!("{keys} ({why})"))
    }

    /// Returns how often each of the keys is in the list of values, the most frequent first; `None` if the skew is not determined.
    pub(super) fn times(&self, key: &UniqueKey) -> Option<Vec<u32>> {
        Some(self.draws()?.times(key.keys, key.rows()))
    }
}

impl UniqueKey {
    /// Returns the rows of a list that has enough of its keys.
    pub(super) fn rows(&self) -> usize {
        ((self.table_pages + self.index_pages) * ROWS_OF_PAGE).clamp(ROWS.0, ROWS.1) as usize
    }
}

/// Statements that look up rows by one key.
struct OfKey<'a> {
    key: &'a UniqueKey,
    /// The places among the fitted statements.
    fitted: Vec<usize>,
    calls: f64,
    /// Those that read the table, too.
    of_table: f64,
    blocks: f64,
    reads: f64,
}

impl OfKey<'_> {
    fn lookups(&self) -> Lookups {
        let placement = |pages: f64| Placement { keys: self.key.keys, pages };
        let (table, index) = (placement(self.key.table_pages), placement(self.key.index_pages));
        Lookups { calls: self.calls, of_table: self.of_table, reads: self.reads, table, index }
    }

    fn is_cached(&self) -> bool {
        self.reads <= self.blocks * READ_SHARE
    }
}

/// Determines the skew of each statement that finds its rows by keys; `None` for the others.
pub(super) fn determine(capture: &CaptureRecord, fitted: &[Fitted]) -> Vec<Option<KeySkew>> {
    let place = |one: &Fitted| capture.statements.iter().position(|statement| statement.text == one.about.text);
    let places: Vec<_> = fitted.iter().map(place).collect();
    let mut by_key: BTreeMap<(&str, &[String]), OfKey<'_>> = BTreeMap::new();
    for (at, one) in fitted.iter().enumerate() {
        let (Some(key), Some(place)) = (one.sampled.as_ref().and_then(|sampled| sampled.key()), places[at]) else {
            continue;
        };
        let statement = &capture.statements[place];
        let new = || OfKey { key, fitted: Vec::new(), calls: 0.0, of_table: 0.0, blocks: 0.0, reads: 0.0 };
        let of = by_key.entry((&key.source.table, &key.columns)).or_insert_with(new);
        of.fitted.push(at);
        of.calls += statement.calls;
        of.of_table += if key.is_index_only { 0.0 } else { statement.calls };
        of.blocks += statement.blocks();
        of.reads += statement.shared_blks_read;
    }
    let all: Vec<_> = by_key.into_values().collect();
    let unknown = |one: &Fitted| match one.sampled.as_ref()?.lookup() {
        Lookup::Unknown { key, why } => {
            Some(KeySkew { key: key.clone(), undetermined: Some((*why).to_owned()), ..KeySkew::default() })
        }
        Lookup::Unique(_) | Lookup::None => None,
    };
    let mut skews: Vec<_> = fitted.iter().map(unknown).collect();
    for (of, found) in all.iter().zip(from_reads(capture, &all, &places)) {
        for at in &of.fitted {
            let logged = places[*at].and_then(|place| profile(capture, place, of.key));
            skews[*at] = Some(logged.map_or_else(|| found.clone(), |profile| from_log(of.key, profile)));
        }
    }
    skews
}

fn new(key: &UniqueKey) -> KeySkew {
    KeySkew { key: key.words(), keys: Some(key.keys), ..KeySkew::default() }
}

/// Returns the profile of the parameter that a key is compared with, if the log has its values.
fn profile<'a>(capture: &'a CaptureRecord, statement: usize, key: &UniqueKey) -> Option<&'a ValueProfile> {
    let [parameter] = key.parameters[..] else { return None };
    let mut all = capture.transactions.iter().flat_map(|transactions| &transactions.profiles);
    let is_such = |profile: &&ValueProfile| profile.statement == statement && profile.parameter == parameter;
    all.find(is_such)
}

fn from_log(key: &UniqueKey, profile: &ValueProfile) -> KeySkew {
    let found = new(key).with(profile::draws(profile, key.keys), KeySkewSource::Log);
    KeySkew { draws: Some(profile.draws), ..found }
}

/// Returns the skew of each key that explains the blocks read into shared buffers, or why it is not determined.
fn from_reads(capture: &CaptureRecord, all: &[OfKey<'_>], places: &[Option<usize>]) -> Vec<KeySkew> {
    let is_of_key = |place: usize| all.iter().flat_map(|of| &of.fitted).any(|at| places[*at] == Some(place));
    let others = capture.statements.iter().enumerate().filter(|(place, _)| !is_of_key(*place));
    let mut other = other_use(others.map(|(_, statement)| statement));
    for of in all.iter().filter(|of| of.is_cached()) {
        other.resident += (of.key.table_pages + of.key.index_pages).min(2.0 * of.calls);
    }
    let blocks = shared_buffers(capture).and_then(bytes).unwrap_or(SHARED_BUFFERS) / BLOCK;
    let readers: Vec<_> = all.iter().filter(|of| !of.is_cached()).collect();
    let lookups: Vec<_> = readers.iter().map(|of| of.lookups()).collect();
    let mut explained = explained(blocks, &lookups, other).map(Vec::into_iter);
    let undetermined = |of: &OfKey<'_>, why: &str| KeySkew { undetermined: Some(why.to_owned()), ..new(of.key) };
    let of = |of: &OfKey<'_>| match &mut explained {
        _ if of.is_cached() => undetermined(of, "all blocks were cached"),
        Err(why) => undetermined(of, why),
        Ok(found) => match found.next() {
            Some(Explained::Theta { theta, reads }) => KeySkew {
                expected_read_blocks_per_call: Some(reads / of.calls.max(1.0)),
                ..new(of.key).with(Draws::Zipfian { theta }, KeySkewSource::Reads)
            },
            _ => undetermined(of, "more blocks were read than with uniform keys"),
        },
    };
    all.iter().map(of).collect()
}

/// Returns what explains the reads of each key, or why they say nothing.
fn explained(blocks: f64, lookups: &[Lookups], other: OtherUse) -> Result<Vec<Explained>, String> {
    let reads: f64 = lookups.iter().map(|of| of.reads).sum();
    if other.reads > reads {
        return Err("other statements read most of the blocks".to_owned());
    }
    if other.resident > blocks / 2.0 {
        return Err("other statements use most of shared buffers".to_owned());
    }
    // Until then they are filled, or changed over from another load.
    if reads + other.reads < blocks {
        let (read, all) = (units::grouped(reads + other.reads), units::grouped(blocks));
        return Err(format!("in the window fewer blocks were read ({read}) than shared buffers have ({all})"));
    }
    reads::explain(blocks, lookups, other).ok_or_else(|| "the tables fit into shared buffers".to_owned())
}

/// Returns what other statements used of shared buffers. Monitoring reads catalogs.
fn other_use<'a>(statements: impl Iterator<Item = &'a CapturedStatement>) -> OtherUse {
    let mut other = OtherUse::default();
    for statement in statements.filter(|statement| statement.kind.is_load()) {
        other.reads += statement.shared_blks_read;
        if statement.calls >= OFTEN {
            other.resident += statement.per_call(statement.shared_blks_hit);
        }
    }
    other
}

/// Returns `shared_buffers` of the captured server, as it prints them.
pub(super) fn shared_buffers(capture: &CaptureRecord) -> Option<&str> {
    let setting = capture.head.settings.iter().find(|setting| setting.name == "shared_buffers");
    setting.map(|setting| setting.value.as_str())
}

/// Returns the bytes of a setting as SHOW prints it: `128MB`.
fn bytes(value: &str) -> Option<f64> {
    let end = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let unit = match &value[end..] {
        "" => BLOCK,
        "kB" => 1024.0,
        "MB" => 1024.0 * 1024.0,
        "GB" => 1024.0 * 1024.0 * 1024.0,
        "TB" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    value[..end].parse::<f64>().ok().map(|number| number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_is_named_with_what_shows_it() {
        let key = KeySkew::default;
        let zipfian = KeySkew {
            expected_read_blocks_per_call: Some(0.23),
            ..key().with(Draws::Zipfian { theta: 0.9012 }, KeySkewSource::Reads)
        };
        let words = "keys as if zipfian with theta 0.9 (0.21 blocks read a call, 0.23 expected)";
        assert_eq!(zipfian.words(0.21).unwrap(), words);
        let hot = Draws::HotKeys { hot: 700.0, share: 0.8 };
        let hot = KeySkew { draws: Some(4000), ..key().with(hot, KeySkewSource::Log) };
        assert_eq!(hot.words(0.0).unwrap(), "80 % of the keys from 700 hot ones (4,000 executions in the log)");
        assert_eq!(key().with(Draws::UNIFORM, KeySkewSource::Log).words(0.0).unwrap(), "uniform keys");
        assert_eq!(key().words(0.0), None);
    }

    #[test]
    fn reads_that_say_nothing_are_left_with_the_reason() {
        let placement = |pages| Placement { keys: 1e5, pages };
        let (table, index) = (placement(5000.0), placement(300.0));
        let lookups = |reads| Lookups { calls: 1e5, of_table: 1e5, reads, table, index };
        let why = |reads, other| explained(1000.0, &[lookups(reads)], other).map(drop).unwrap_err();
        let other = |reads, resident| OtherUse { reads, resident };
        assert!(why(1e4, other(1e5, 0.0)).contains("other statements read most"));
        assert!(why(1e4, other(0.0, 600.0)).contains("use most of shared buffers"));
        assert!(why(600.0, other(0.0, 0.0)).contains("fewer blocks were read (600) than shared buffers have (1,000)"));
        assert!(explained(6000.0, &[lookups(1e4)], other(0.0, 0.0)).unwrap_err().contains("fit into shared buffers"));
        assert!(explained(1000.0, &[lookups(3e4)], other(1e3, 100.0)).is_ok());
    }

    #[test]
    fn a_setting_is_read_as_the_server_prints_it() {
        assert_eq!(
            ["8MB", "16kB", "2", "1GB"].map(bytes),
            [8_388_608.0, 16_384.0, 16_384.0, 1_073_741_824.0].map(Some)
        );
        assert_eq!(["", "on", "5 MB"].map(bytes), [None; 3]);
        assert_eq!(shared_buffers(&crate::tests::capture()), None);
    }
}
