//! What `pgdyno cloud` shows.

use std::path::Path;

use pgdyno_cloud::{JournalEntry, Lab, LabFile, LabStep, Leftover, Module, Money, PASSWORD, Work};
use pgdyno_life::failure::Result;
use pgdyno_text::{units, wrap};

/// Columns before what belongs to a word.
const INDENT: usize = 12;

fn put(text: &mut Vec<u8>, word: &str, what: &str) {
    // Memory takes every line.
    let _ = wrap::hanging(text, &format!("{word:<INDENT$}"), INDENT, what);
}

fn string(text: Vec<u8>) -> String {
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns the list of modules.
pub(super) fn modules() -> Result<String> {
    let mut text = Vec::new();
    for (nth, module) in Module::all()?.values().enumerate() {
        if nth > 0 {
            text.push(b'\n');
        }
        text.extend(format!("{}\n", module.name).into_bytes());
        put(&mut text, "  is", &module.title);
        put(&mut text, "  creates", &module.creates.join("; "));
        put(&mut text, "  verified", &module.verified.line());
        if !module.cli.is_empty() {
            put(&mut text, "  needs", &format!("{}, logged in", module.cli));
        }
        if !module.guide.is_empty() {
            put(&mut text, "  recipes", &module.guide.join(", "));
        }
    }
    Ok(string(text))
}

/// Returns the most that a lab costs, in words.
pub(super) fn bound(file: &LabFile, ttl_s: f64) -> String {
    match file.bound(ttl_s) {
        Some(bound) => format!("at most {bound} in {}", units::duration(ttl_s)),
        None => "a cost without a bound, for a size has no price_per_hour".to_owned(),
    }
}

/// Returns a cost, in words.
pub(super) fn cost(money: Option<Money>) -> String {
    money.map_or_else(|| "unknown: a size has no price_per_hour".to_owned(), |money| money.to_string())
}

/// Returns what a lab would create.
pub(super) fn plan(file: &LabFile, ttl_s: f64, path: &Path) -> Result<String> {
    let module = file.module;
    let mut text =
        format!("lab {}: {}, {}\n", file.name, units::plural(file.sizes.len() as u64, "size"), bound(file, ttl_s))
            .into_bytes();
    put(&mut text, "module", &format!("{}: {}", module.name, module.title));
    put(&mut text, "verified", &module.verified.line());
    put(&mut text, "creates", &format!("for each size: {}", module.creates.join("; ")));
    let work = work(&file.work);
    put(&mut text, "runs", &format!("{work}; {} at a time", units::plural(file.parallel as u64, "size")));
    for size in &file.sizes {
        let variables: Vec<_> =
            size.variables.iter().map(|(name, value)| format!("{name} = {}", plain(value))).collect();
        let price = |price| format!("{price} {} an hour", file.currency);
        let price = size.price_per_hour.map_or_else(|| "no price_per_hour".to_owned(), price);
        let of = size.recipe_size.as_ref().map_or_else(String::new, |of| format!("; numbers of the recipe's {of}"));
        put(&mut text, "size", &format!("{}: {}{of}; {price}", size.name, variables.join(", ")));
    }
    let variables: Vec<_> = file.variables.iter().map(|(name, value)| format!("{name} = {}", plain(value))).collect();
    if !variables.is_empty() {
        put(&mut text, "variables", &variables.join(", "));
    }
    let run = format!("pgdyno cloud run {}", path.display());
    let next = match module.is_local() {
        true => format!("`{run}`"),
        false => format!(
            "put the database's password into {PASSWORD}, then `{run} --client-cidr ADDRESS/32` with this machine's public address"
        ),
    };
    put(&mut text, "next", &format!("{next}; nothing was created"));
    Ok(string(text))
}

/// Returns what runs on each size, in words.
pub(super) fn work(work: &Work) -> String {
    match work {
        Work::Recipe { name, fit, short, args } => {
            let scaled = if *fit { ", scaled to the size" } else { "" };
            let shortened = if *short { ", shortened" } else { "" };
            let with = if args.is_empty() { String::new() } else { format!(", with {}", args.join(" ")) };
            format!("recipe {name}{scaled}{shortened}{with}")
        }
        Work::Suite(path) => format!("suite {}", path.display()),
        Work::Command(words) => format!("pgdyno {}", words.join(" ")),
    }
}

/// Returns the word for where a lab is; `holder` is the process that works on it.
pub(super) fn state(is_closed: bool, holder: Option<u32>) -> &'static str {
    match (is_closed, holder) {
        (true, _) => "closed",
        (false, Some(_)) => "at work",
        (false, None) => "interrupted",
    }
}

fn plain(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Returns the state of a lab: the answer first.
pub(super) fn status(lab: &Lab) -> Result<String> {
    let name = &lab.file.name;
    let (standings, is_closed, holder) = (lab.standings()?, lab.is_closed()?, lab.holder());
    let process = holder.filter(|_| !is_closed).map_or_else(String::new, |pid| format!(" (process {pid})"));
    let how = format!("{}{process}", state(is_closed, holder));
    let left = lab.left_s()?;
    let time = match (is_closed, left) {
        (true, _) => String::new(),
        (false, 0) => "; it has EXPIRED".to_owned(),
        (false, left) => format!("; {} left", units::duration(left as f64)),
    };
    let of = lab.cost_bound()?.map_or_else(String::new, |bound| format!(" of at most {bound}"));
    let mut text = format!("lab {name}: {how}; cost {}{of}{time}\n", cost(lab.cost()?)).into_bytes();
    for size in &lab.file.sizes {
        let standing = standings.get(&size.name);
        let step = standing.and_then(|standing| standing.step).unwrap_or(LabStep::Planned);
        let failure = standing.and_then(|standing| standing.failure.as_deref());
        let failure = failure.map_or_else(String::new, |why| format!("; failed: {}", wrap::one_line(why)));
        put(&mut text, &format!("  {}", size.name), &format!("{}{failure}", step.word()));
    }
    let next = match (is_closed, holder) {
        (true, _) => format!("`pgdyno scaling --axis vcpus {}`", lab.runs()?.join(" ")),
        (false, Some(_)) => format!("`pgdyno cloud attach {name}`, or `pgdyno cloud down {name}` to end it"),
        (false, None) => format!("`pgdyno cloud resume {name}` goes on, `pgdyno cloud down {name}` destroys it"),
    };
    put(&mut text, "  next", &next);
    Ok(string(text))
}

/// Returns a line of the journal.
pub(super) fn entry(entry: &JournalEntry) -> String {
    let at = jiff::Timestamp::from_second(entry.at_s.cast_signed()).map(|at| at.to_string()).unwrap_or_default();
    let size = entry.size.as_deref().unwrap_or("lab");
    let text = entry.text.as_ref().filter(|text| !text.is_empty()).map_or_else(String::new, |text| format!(": {text}"));
    format!("{at}  {size}  {}{text}\n", entry.step.word())
}

/// Returns what labs have left, with the commands that delete it.
pub(super) fn left(left: &[(String, Leftover)], labs: usize) -> String {
    if left.is_empty() {
        return format!("nothing is left of {}\n", units::plural(labs as u64, "lab"));
    }
    let mut text = format!("{} left:\n", units::plural(left.len() as u64, "resource"));
    for (lab, it) in left {
        let expires = it.expires_s.and_then(|at| jiff::Timestamp::from_second(at.cast_signed()).ok());
        let expires = expires.map_or_else(String::new, |at| format!(", expires {at}"));
        text += &format!("  {} {} of lab {lab}{expires}\n    {}\n", it.kind, it.id, it.line());
    }
    text
}
