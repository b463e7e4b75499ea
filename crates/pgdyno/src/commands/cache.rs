//! `pgdyno cache`: the data that private servers have loaded and kept.

use std::fmt::Write as _;
use std::time::SystemTime;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use pgdyno_life::target;
use pgdyno_life::target::cached::WORTH_KEEPING_S;
use pgdyno_report::units;
use pgdyno_server::{Cache, Entry};
use serde_json::json;

use crate::cli::CacheAction;

pub(crate) fn run(action: &CacheAction) -> Result<Code> {
    let places = target::places()?;
    let cache = Cache::at(&places);
    let text = match action {
        CacheAction::List { format } => {
            let entries = cache.list().or_fail(Code::Server)?;
            match format.as_str() {
                "json" => list_json(&entries)?,
                _ => list_text(&entries),
            }
        }
        CacheAction::Clear => format!("removed {}\n", units::bytes(cache.clear().or_fail(Code::Server)?)),
    };
    super::print(text.as_bytes())?;
    Ok(Code::Success)
}

fn list_text(entries: &[(Entry, SystemTime)]) -> String {
    if entries.is_empty() {
        return format!(
            "no data is kept: a run on a private server keeps what took {WORTH_KEEPING_S} s or more to load\n"
        );
    }
    let width = entries.iter().map(|(entry, _)| entry.about.chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for (entry, used) in entries {
        let ago = SystemTime::now().duration_since(*used).unwrap_or_default().as_secs_f64();
        // Writing to a String does not fail.
        let _ = writeln!(
            text,
            "{:width$}  {:>9}  used {} ago  {}",
            entry.about,
            units::bytes(entry.bytes),
            units::duration(ago),
            entry.build
        );
    }
    let sum = entries.iter().map(|(entry, _)| entry.bytes).sum();
    let _ = writeln!(text, "{} in all; `pgdyno cache clear` removes it", units::bytes(sum));
    text
}

fn list_json(entries: &[(Entry, SystemTime)]) -> Result<String> {
    let unix_s = |at: SystemTime| at.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let rows = entries.iter().map(|(entry, used)| {
        json!({
            "key": entry.key,
            "data": entry.about,
            "postgres": entry.build,
            "bytes": entry.bytes,
            "loaded_unix_s": entry.made_unix_s,
            "used_unix_s": unix_s(*used),
        })
    });
    let text = serde_json::to_string_pretty(&rows.collect::<Vec<_>>()).or_fail(Code::Server)?;
    Ok(text + "\n")
}
