//! Any text as each of the TOML files: a recipe, a suite, `pgdyno.toml`.

use std::collections::BTreeSet;

use pgdyno_net::fuzzing::conninfo;
use pgdyno_plan::recipe::{self, Machine, RecipeRun};
use pgdyno_plan::suite::Suite;
use pgdyno_plan::targets::Targets;
use pgdyno_workloads::options::Options;

pub(crate) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let named = |why: String| assert!(why.starts_with("file.toml: "), "an error names what it read: {why}");
    match recipe::read("file.toml", text) {
        Ok(found) => expanded(&found),
        Err(why) => named(why.to_string()),
    }
    match Suite::read::<Options>("file.toml", text, "/base", &|name| name.contains('/')) {
        Ok(suite) => turned(&suite, text),
        Err(why) => named(why.to_string()),
    }
    match Targets::read("file.toml", text) {
        Ok(targets) => targets.target.values().for_each(|target| without_password(&target.dsn)),
        Err(why) => named(why.to_string()),
    }
}

/// Calls every method of a recipe that parses.
fn expanded(found: &recipe::Recipe) {
    let machines = [(1, 1 << 30), (16, 128 << 30), (512, 4 << 40)];
    let fits = machines.map(|(vcpus, memory_bytes)| Some(Machine { vcpus, memory_bytes }));
    let sizes = found.sizes.iter().map(|size| Some(size.name.as_str()));
    let requests = fits.into_iter().map(|fit| RecipeRun { fit, ..RecipeRun::default() }).chain(
        sizes.chain([None, Some("none")]).map(|size| RecipeRun { size, short: Some(20.0), ..RecipeRun::default() }),
    );
    for request in requests {
        match recipe::expand(found, &request) {
            Ok(run) => {
                let is_time = |seconds: f64| seconds.is_finite() && seconds >= 0.0;
                assert!(run.time_s.is_none_or(is_time) && run.ramp_s.is_finite(), "{run:?}");
            }
            Err(why) => assert!(why.to_string().contains(&found.name), "{why}"),
        }
    }
}

fn turned(suite: &Suite, text: &str) {
    let turns = suite.turns();
    let all: BTreeSet<_> = turns.iter().map(|turn| (turn.cell, turn.repetition)).collect();
    assert_eq!((all.len(), turns.len()), (turns.len(), suite.cells.len() * suite.repetitions as usize));
    let keys: BTreeSet<_> = suite.cells.iter().map(|cell| &cell.key).collect();
    assert_eq!(keys.len(), suite.cells.len());
    assert_eq!(Suite::read::<Options>("file.toml", text, "/base", &|name| name.contains('/')).as_ref(), Ok(suite));
}

/// Checks that `pgdyno.toml` accepts no password.
fn without_password(dsn: &str) {
    let pairs = conninfo(dsn).unwrap_or_default();
    let secret = pairs.iter().find(|(key, value)| key.ends_with("password") && !value.is_empty());
    assert!(secret.is_none(), "a password in {dsn:?} was not noticed");
}
