//! The data of private servers that is kept for later runs.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use jiff::Timestamp;
use pgdyno_plan::{LoadWhen, Plan};
use pgdyno_results::CachedDataRecord;
use pgdyno_server::{KeptData, WantedData};
use pgdyno_text::units;
use pgdyno_workload::DataSet;

/// Maximum size of all kept data in bytes, unless the order says otherwise.
const CACHE_BYTES_MAX: u64 = 20 << 30;

/// Data that was loaded in less time than this is not kept: it takes longer to shut the server down and to start it again.
pub const WORTH_KEEPING_S: f64 = 5.0;

/// Returns the data that a private server is to have for a run; `None` for one that has to find it there, or uses none.
#[must_use]
pub(crate) fn wanted(plan: &Plan, data: &[Arc<dyn DataSet>], cache_bytes: Option<u64>) -> Option<WantedData> {
    let sets: Vec<_> = data.iter().filter(|set| set.meta().has_data()).collect();
    if sets.is_empty() || plan.load.choice == LoadWhen::Never {
        return None;
    }
    let named = |set: &&Arc<dyn DataSet>| {
        let meta = set.meta();
        format!("{}, {}", meta.dataset, units::sized(meta.scale_name, set.params().text(meta.scale_name)))
    };
    let mut identity: Vec<_> =
        sets.iter().map(|set| format!("{} {}", set.meta().dataset, pgdyno_load::identity(set.as_ref()))).collect();
    // They may shape the pages of tables.
    identity.extend(plan.settings.iter().map(|(name, value)| format!("{name}={value}")));
    Some(WantedData {
        about: sets.iter().map(named).collect::<Vec<_>>().join("; "),
        identity: identity.join("\n"),
        cache_bytes_max: cache_bytes.unwrap_or(CACHE_BYTES_MAX),
        is_loaded_anew: plan.load.choice == LoadWhen::Always,
    })
}

/// Returns what the record says of kept data.
pub(crate) fn record(entry: &KeptData) -> CachedDataRecord {
    let made = UNIX_EPOCH + Duration::from_secs(entry.made_unix_s);
    let loaded_at = Timestamp::try_from(made).map_or_else(|_| String::new(), |at| at.to_string());
    CachedDataRecord { loaded_at, bytes: entry.bytes }
}
