//! Multiplies the matrix of a suite file into cells.

use std::collections::BTreeSet;

use super::file::File;
use super::keys::Key;
use super::options::{Given, Run};
use super::what::What;
use super::{Cell, Suite};
use crate::Order;
use crate::mistake::Mistake;
use crate::options::{AnyOption, find};

/// More runs than this are a mistake: at one minute each they would take a week.
const MAX_RUNS: usize = 10_000;

/// A combination of the matrix, while it is built.
#[derive(Clone, Default)]
struct Combination {
    what: Option<What>,
    /// `.clients=4`, for the key.
    axes: String,
    given: Vec<Given>,
}

pub(super) fn expand<W>(
    name: &str,
    file: File<W>,
    base: &str,
    is_recipe: &dyn Fn(&str) -> bool,
) -> Result<Suite, Mistake> {
    let mistake = |what: String| Mistake::new(name, what);
    if !is_name(&file.name) {
        let rule = "write letters, digits, '.', '_' and '-', and begin with a letter or digit";
        return Err(mistake(format!("'{}' cannot be the name of a suite: {rule}", file.name)));
    }
    if file.run.is_empty() {
        return Err(mistake("there is nothing to run: write at least one [[run]] with what = \"…\"".to_owned()));
    }
    if file.repetitions == 0 {
        return Err(mistake("repetitions = 0 runs nothing: write 1 or more".to_owned()));
    }
    let mut cells = Vec::new();
    for (nth, run) in file.run.iter().enumerate() {
        let entry = nth + 1;
        let own =
            cells_of(run, entry, &file, base, is_recipe).map_err(|what| mistake(format!("run {entry}: {what}")))?;
        cells.extend(own);
        if cells.len().saturating_mul(file.repetitions as usize) > MAX_RUNS {
            return Err(mistake(format!(
                "run {entry}: with it there are more than {MAX_RUNS} runs; make the matrix smaller"
            )));
        }
    }
    let mut keys = BTreeSet::new();
    if let Some(cell) = cells.iter().find(|cell: &&Cell| !keys.insert(cell.key.clone())) {
        let remedy = "give one of them a name of its own: name = \"…\"";
        return Err(mistake(format!("run {}: another run is called {} too; {remedy}", cell.entry, cell.key)));
    }
    Ok(Suite {
        name: file.name,
        seed: file.seed,
        order: file.order,
        repetitions: file.repetitions,
        cool_down_s: file.cool_down.seconds(),
        budget_s: file.budget.map(|time| time.seconds()),
        run_timeout_s: file.run_timeout.map(|time| time.seconds()),
        on_failure: file.on_failure,
        provision: file.provision,
        cells,
    })
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// Returns the cells of one `[[run]]`, for each of its targets.
fn cells_of<W>(
    run: &Run<W>,
    entry: usize,
    file: &File<W>,
    base: &str,
    is_recipe: &dyn Fn(&str) -> bool,
) -> Result<Vec<Cell>, String> {
    let targets = run.targets.as_ref().unwrap_or(&file.targets);
    if targets.is_empty() {
        return Err(
            "it has no target: write targets = [\"embedded\"], or others, above the runs or in this one".to_owned()
        );
    }
    let mut cells = Vec::new();
    for Combination { what, axes, given } in combinations(run)? {
        let what = what.or_else(|| run.what.clone()).filter(|what| !what.0.is_empty());
        let what =
            what.ok_or("it does not say what is run: write what = \"tpcb-like\", a recipe, a directory or a script")?;
        let name = run.name.clone().unwrap_or_else(|| what.text());
        let mut given: Vec<_> = run.fixed.iter().cloned().chain(given).collect();
        admit(&given)?;
        if matches!(what.0.as_slice(), [one] if is_recipe(one)) {
            given.extend(of_suite(file, &given));
        }
        let (order, args) = order_of(what.names(base), &given)?;
        for target in targets {
            cells.push(Cell {
                key: format!("{name}{axes}@{target}"),
                entry,
                target: target.below(base),
                order: order.clone(),
                args: args.clone(),
                has_own_args: given.iter().any(|given| matches!(given.key, Key::Args)),
            });
        }
    }
    Ok(cells)
}

/// Returns the suite's `fit` and `short` for the run of a recipe that does not give them itself.
fn of_suite<W>(file: &File<W>, given: &[Given]) -> Vec<Given> {
    let is_given = |name: &str| given.iter().any(|given| given.key.name() == name);
    let fit = file.fit.filter(|fit| *fit && !is_given("fit") && !is_given("size")).map(|_| ("fit", String::new()));
    let short = file.short.filter(|_| !is_given("short")).map(|by| ("short", by.to_string()));
    let given = |(name, value): (&str, String)| {
        let key = Key::Option(AnyOption::Run(find(name)?));
        Some(Given { key, text: value.clone(), values: vec![value] })
    };
    fit.into_iter().chain(short).filter_map(given).collect()
}

/// Returns the order of a run, and the arguments that say the same.
fn order_of(names: Vec<String>, given: &[Given]) -> Result<(Order, Vec<String>), String> {
    let mut args = names.clone();
    let mut order = Order::default();
    order.workload.names = names;
    for Given { key, values, .. } in given {
        let Key::Option(option) = key else {
            args.extend_from_slice(values);
            continue;
        };
        for value in values {
            option.set(&mut order, value).map_err(|error| format!("`{}`: {error}", key.name()))?;
            args.push(option.argument(value));
        }
    }
    Ok((order, args))
}

/// Refuses options that cannot be given together.
fn admit(given: &[Given]) -> Result<(), String> {
    let options = || {
        let on = given.iter().filter(|given| !given.values.is_empty());
        on.filter_map(|given| match given.key {
            Key::Option(option) => Some((option.spec(), given.key)),
            Key::Args => None,
        })
    };
    let has_args = given.iter().any(|given| matches!(given.key, Key::Args));
    let named = |name: &str| options().find(|(spec, _)| spec.name == name).map(|(_, key)| key.name());
    for (spec, key) in options() {
        if let Some(other) = spec.conflicts.iter().find_map(|other| named(other)) {
            return Err(format!("`{}` cannot be used with `{other}`: leave one of them out", key.name()));
        }
        if let Some(other) = spec.requires.filter(|other| named(other).is_none() && !has_args) {
            return Err(format!("`{}` needs `{other}`", key.name()));
        }
    }
    Ok(())
}

/// Returns every combination of the axes, the last one changing fastest.
fn combinations<W>(run: &Run<W>) -> Result<Vec<Combination>, String> {
    let mut all = vec![Combination::default()];
    if let Some(choices) = &run.matrix.what {
        if run.what.is_some() {
            return Err("`what` is given, and in the matrix too: leave one of them out".to_owned());
        }
        if choices.is_empty() {
            return Err("`what` is empty in the matrix, so that nothing would be run".to_owned());
        }
        let axis = |what: &What| if run.name.is_some() { format!(".what={}", what.text()) } else { String::new() };
        let one = |what: &What| Combination { what: Some(what.clone()), axes: axis(what), given: Vec::new() };
        all = choices.iter().map(one).collect();
    }
    for (key, values) in &run.matrix.axes {
        let name = key.name();
        if run.fixed.iter().any(|given| given.key.name() == name) {
            return Err(format!("`{name}` is given, and in the matrix too: leave one of them out"));
        }
        if values.is_empty() {
            return Err(format!("`{name}` is empty in the matrix, so that nothing would be run"));
        }
        if all.len().saturating_mul(values.len()) > MAX_RUNS {
            return Err(format!("its matrix has more than {MAX_RUNS} cells"));
        }
        let with = |before: &Combination, value: &Given| Combination {
            what: before.what.clone(),
            axes: format!("{}.{name}={}", before.axes, value.text),
            given: before.given.iter().chain([value]).cloned().collect(),
        };
        all =
            all.iter().flat_map(|before| values.iter().map(|value| with(before, value)).collect::<Vec<_>>()).collect();
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::no_options::NoOptions;

    fn read(text: &str) -> Result<Suite, String> {
        let text = format!("name = 'n'\ntargets = ['embedded']\n{text}");
        Suite::read::<NoOptions>("n.toml", &text, "/base", &|name| name.starts_with("alloydb/"))
            .map_err(|error| error.to_string())
    }

    fn cells(text: &str) -> Vec<String> {
        let cells = read(text).unwrap().cells;
        cells.into_iter().map(|cell| format!("{}: {}", cell.key, cell.args.join(" "))).collect()
    }

    #[test]
    fn arrays_of_the_matrix_multiply_and_fixed_options_go_to_every_cell() {
        insta::assert_snapshot!(
            cells("[[run]]\nwhat = 'tpcb-like'\ntime = '30s'\nno_check = true\n\
                   matrix = { clients = [4, 8], settings = [{ work_mem = '4MB' }, { work_mem = '64MB', jit = 'off' }] }")
            .join("\n"),
            @r"
        tpcb-like.clients=4.settings=work_mem=4MB@embedded: tpcb-like --time=30s --no-check --clients=4 --set=work_mem=4MB
        tpcb-like.clients=4.settings=jit=off+work_mem=64MB@embedded: tpcb-like --time=30s --no-check --clients=4 --set=jit=off --set=work_mem=64MB
        tpcb-like.clients=8.settings=work_mem=4MB@embedded: tpcb-like --time=30s --no-check --clients=8 --set=work_mem=4MB
        tpcb-like.clients=8.settings=jit=off+work_mem=64MB@embedded: tpcb-like --time=30s --no-check --clients=8 --set=jit=off --set=work_mem=64MB
        "
        );
    }

    #[test]
    fn modes_forms_and_arrivals_are_known_when_the_file_is_read() {
        assert_eq!(
            cells(
                "[[run]]\nwhat = 'noop'\nrate = 10\nwire = 'libpq'\narrivals = 'uniform'\nmatrix.mode = ['simple', 'prepared']"
            ),
            [
                "noop.mode=simple@embedded: noop --rate=10 --arrivals=uniform --wire=libpq --mode=simple",
                "noop.mode=prepared@embedded: noop --rate=10 --arrivals=uniform --wire=libpq --mode=prepared",
            ]
        );
        let error = read("[[run]]\nwhat = 'noop'\nmode = 'portals'").unwrap_err();
        assert!(error.contains("line 5") && error.contains("`portals`, expected one of `simple`"), "{error}");
    }

    #[test]
    fn what_is_run_can_be_an_axis_and_paths_are_relative_to_the_file() {
        assert_eq!(
            cells(
                "[[run]]\nmatrix.what = ['./sensor-1', ['a.sql@2', '/b.sql'], 'noop']\nparams = { n = 5, x = 'y' }\n\
                   latency_limit = '5ms'\nargs = ['--quiet']"
            ),
            [
                "sensor-1@embedded: /base/sensor-1 --latency-limit=5 --param=n=5 --param=x=y --quiet",
                "a.sql@2+/b.sql@embedded: /base/a.sql@2 /b.sql --latency-limit=5 --param=n=5 --param=x=y --quiet",
                "noop@embedded: noop --latency-limit=5 --param=n=5 --param=x=y --quiet",
            ]
        );
        assert_eq!(
            cells("[[run]]\nname = 'model'\ntargets = ['a', 'b']\nmatrix.what = ['x', 'y']"),
            ["model.what=x@a: x", "model.what=x@b: x", "model.what=y@a: y", "model.what=y@b: y"]
        );
    }

    #[test]
    fn directories_of_private_servers_are_relative_to_the_file() {
        let suite = read(
            "[[run]]\nwhat = 'x'\ntargets = ['embedded:./pg17', 'embedded:/opt/pg', 'embedded:~/pg', 'embedded:18']",
        );
        let cells: Vec<_> = suite.unwrap().cells.into_iter().map(|cell| (cell.key, cell.target)).collect();
        let expected = [
            ("x@embedded:./pg17", "embedded:/base/pg17"),
            ("x@embedded:/opt/pg", "embedded:/opt/pg"),
            ("x@embedded:~/pg", "embedded:~/pg"),
            ("x@embedded:18", "embedded:18"),
        ];
        assert_eq!(cells, expected.map(|(key, target)| (key.to_owned(), target.into())));
    }

    #[test]
    fn fit_and_short_of_the_suite_are_for_recipes_that_say_nothing_themselves() {
        let text = "fit = true\nshort = 20\n[[run]]\nwhat = 'alloydb/a'\n[[run]]\nwhat = 'tpcb-like'\n\
                    [[run]]\nwhat = 'alloydb/b'\nsize = '16vcpu'\nshort = 2\n[[run]]\nwhat = 'alloydb/c'\nfit = false";
        assert_eq!(
            cells(text),
            [
                "alloydb/a@embedded: alloydb/a --fit --short=20",
                "tpcb-like@embedded: tpcb-like",
                "alloydb/b@embedded: alloydb/b --size=16vcpu --short=2",
                "alloydb/c@embedded: alloydb/c --short=20",
            ]
        );
    }

    #[test]
    fn mistakes_say_where_and_what_to_write() {
        for (text, words) in [
            ("", "there is nothing to run"),
            ("repetitions = 0\n[[run]]\nwhat = 'x'", "repetitions = 0 runs nothing"),
            ("[[run]]\nclients = 4", "run 1: it does not say what is run"),
            ("[[run]]\nwhat = []", "run 1: it does not say what is run"),
            ("[[run]]\nwhat = 'x'\ncleints = 4", "did you mean `clients`?"),
            ("[[run]]\nwhat = 'x'\nmatrix.cleints = [4]", "did you mean `clients`?"),
            ("[[run]]\nwhat = 'x'\ntime = 30", "30 could be seconds or minutes"),
            ("[[run]]\nwhat = 'x'\nmatrix.time = ['30s', 30]", "30 could be seconds or minutes"),
            ("cool_down = 5\n[[run]]\nwhat = 'x'", "5 could be seconds or minutes"),
            ("order = 'shuffled'\n[[run]]\nwhat = 'x'", "unknown variant `shuffled`"),
            ("on_failure = 'stopp'\n[[run]]\nwhat = 'x'", "did you mean `stop`?"),
            (
                "[[run]]\nwhat = 'x'\nclients = 4\nmatrix.clients = [8]",
                "run 1: `clients` is given, and in the matrix too",
            ),
            ("[[run]]\nwhat = 'x'\nmatrix.what = ['y']", "run 1: `what` is given, and in the matrix too"),
            ("[[run]]\nwhat = 'x'\nmatrix.clients = []", "run 1: `clients` is empty in the matrix"),
            ("[[run]]\nwhat = 'x'\n[[run]]\nwhat = 'x'", "run 2: another run is called x@embedded too"),
            ("[[run]]\nwhat = 'x'\nmatrix.clients = [4, 4]", "run 1: another run is called x.clients=4@embedded too"),
            ("[[run]]\nwhat = 'x'\ntargets = []", "run 1: it has no target"),
            ("repetitions = 10001\n[[run]]\nwhat = 'x'", "more than 10000 runs"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
        for name in ["", "a b", "../x", ".x", "a:b"] {
            let error =
                Suite::read::<NoOptions>("n.toml", &format!("name = '{name}'\n[[run]]\nwhat = 'x'"), "", &|_| false);
            assert!(error.unwrap_err().to_string().contains("cannot be the name of a suite"), "{name}");
        }
    }
}
