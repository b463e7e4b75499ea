//! `pgdyno cache`: the data that private servers have loaded and kept.

use std::time::SystemTime;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{OrFail, Result};
use pgdyno_life::target;
use pgdyno_life::target::cached::WORTH_KEEPING_S;
use pgdyno_server::{Cache, KeptData};
use pgdyno_text::units;
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
                _ => list_text(&entries, super::columns()),
            }
        }
        CacheAction::Clear => format!("removed {}\n", units::bytes(cache.clear().or_fail(Code::Server)?)),
    };
    super::print_lines(&text)?;
    Ok(Code::Success)
}

/// Returns the list. Where lines would be wider than `columns`, what the data is has a line of its own.
fn list_text(entries: &[(KeptData, SystemTime)], columns: Option<usize>) -> String {
    if entries.is_empty() {
        return format!(
            "no data is kept: a run on a private server keeps what took {WORTH_KEEPING_S} s or more to load\n"
        );
    }
    let width = entries.iter().map(|(entry, _)| entry.about.chars().count()).max().unwrap_or_default();
    let facts = |(entry, used): &(KeptData, SystemTime)| {
        let ago = SystemTime::now().duration_since(*used).unwrap_or_default().as_secs_f64();
        format!("{:>9}  used {} ago  {}", units::bytes(entry.bytes), units::duration(ago), entry.build)
    };
    let facts: Vec<_> = entries.iter().map(facts).collect();
    let is_wide = columns.is_some_and(|columns| facts.iter().any(|facts| width + 2 + facts.chars().count() > columns));
    let lines = entries.iter().zip(&facts).map(|((entry, _), facts)| match is_wide {
        true => format!("{}\n  {}\n", entry.about, facts.trim_start()),
        false => format!("{:width$}  {facts}\n", entry.about),
    });
    let sum = entries.iter().map(|(entry, _)| entry.bytes).sum();
    lines.collect::<String>() + &format!("{} in all; `pgdyno cache clear` removes it\n", units::bytes(sum))
}

fn list_json(entries: &[(KeptData, SystemTime)]) -> Result<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_long_data_is_has_a_line_of_its_own_on_a_terminal() {
        let about = "tproc-c, 100 warehouses; ch-suppliers, 10000 suppliers";
        let build = "PostgreSQL 15.20 in /usr/lib/postgresql/15/bin";
        let entry =
            json!({"key": "k", "about": about, "build": build, "bytes": 1 << 20, "made_unix_s": 0, "files": ""});
        let entry: KeptData = serde_json::from_value(entry).unwrap();
        let entries = [(entry, SystemTime::now())];
        assert_eq!(list_text(&entries, None).lines().count(), 2);
        let text = list_text(&entries, Some(80));
        assert!(text.lines().count() == 3 && text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(text.contains("10000 suppliers\n  1.0 MiB  used "), "{text}");
    }
}
