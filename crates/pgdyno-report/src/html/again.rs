//! The command line that a plan stands for.

use pgdyno_plan::{Arrivals, LoadChoice, Pace, Plan};
use pgdyno_results::RunRecord;

/// The arguments that make the same plan again, `pgdyno` first. What a run took from its surroundings, such as a password,
/// is not among them.
#[must_use]
pub fn command_line(record: &RunRecord) -> Vec<String> {
    let plan = &record.plan;
    let mut line = Line(vec!["pgdyno".to_owned(), "run".to_owned()]);
    match plan.recipe.as_ref().filter(|recipe| recipe.departures.is_empty()) {
        Some(recipe) => {
            line.word(&recipe.name);
            match &recipe.fitted {
                Some(_) => line.word("--fit"),
                None => line.option("--size", &recipe.size),
            }
            if !recipe.variant.is_empty() {
                line.option("--variant", &recipe.variant);
            }
            if let Some(cut) = &recipe.shortened {
                line.word(&format!("--short={}", cut.by));
            }
        }
        None => explicit(plan, &mut line),
    }
    target(record, &mut line);
    around(plan, &mut line);
    line.option("--random-seed", &plan.seed.to_string());
    line.0
}

/// The arguments as a POSIX shell takes them.
pub(super) fn shell(arguments: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    let quoted = |argument: &String| {
        let needless = !argument.is_empty() && argument.chars().all(plain);
        if needless { argument.clone() } else { format!("'{}'", argument.replace('\'', r"'\''")) }
    };
    arguments.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

struct Line(Vec<String>);

impl Line {
    fn word(&mut self, word: &str) {
        self.0.push(word.to_owned());
    }

    fn option(&mut self, name: &str, value: &str) {
        self.word(name);
        self.word(value);
    }

    fn given<T: ToString>(&mut self, name: &str, value: Option<T>) {
        if let Some(value) = value {
            self.option(name, &value.to_string());
        }
    }

    fn flag(&mut self, name: &str, wanted: bool) {
        if wanted {
            self.word(name);
        }
    }
}

/// What is run and how it is driven, word for word.
fn explicit(plan: &Plan, line: &mut Line) {
    if plan.scripts.is_empty() {
        line.word(&plan.workload);
    }
    for script in &plan.scripts {
        let weight = if plan.scripts.len() > 1 { format!("@{}", script.weight) } else { String::new() };
        line.word(&format!("{}{weight}", script.file));
    }
    for (name, value) in &plan.params {
        match name.as_str() {
            "warehouses" => line.option("-w", value),
            "scale" => line.option("-s", value),
            _ => line.option("-D", &format!("{name}={value}")),
        }
    }
    line.option("-c", &plan.clients.to_string());
    line.given("--connections", plan.connections);
    line.option("-j", &plan.threads.to_string());
    line.given("-T", plan.time_s);
    line.given("-t", plan.transactions);
    line.option("--ramp", &plan.ramp_s.to_string());
    line.option("-M", &plan.mode);
    if !plan.wire.is_native() {
        line.option("--wire", "libpq");
    }
    if let Some(cpus) = &plan.pin {
        line.word(&format!("--pin={cpus}"));
    }
    if let Pace::Rate { per_s, arrivals } = plan.pace {
        line.option("-R", &per_s.to_string());
        if arrivals == Arrivals::Uniform {
            line.option("--arrivals", "uniform");
        }
    }
    if plan.max_tries != 1 {
        line.option("--max-tries", &plan.max_tries.to_string());
    }
    line.given("-L", plan.latency_limit_ms);
    if plan.reconnect_s > 0.0 {
        line.option("--reconnect", &plan.reconnect_s.to_string());
    }
    line.flag("--restart", plan.cycle.restart);
    line.flag("--drop-caches", plan.cycle.drop_caches);
    line.flag("--prewarm", plan.cycle.prewarm);
    line.flag("--checkpoint", plan.cycle.checkpoint);
    line.flag("--provision", plan.cycle.provision);
    for (name, value) in &plan.settings {
        line.option("--set", &format!("{name}={value}"));
    }
}

fn target(record: &RunRecord, line: &mut Line) {
    match (&record.target, record.plan.target.as_str()) {
        (Some(target), _) => line.option("--target", &target.name),
        // A workload without a server takes no target.
        (None, "none") => {}
        (None, target) => line.option("--target", target),
    }
}

/// The data before the run, and what is written of it.
fn around(plan: &Plan, line: &mut Line) {
    if !plan.scale_name.is_empty() {
        line.option("--loaders", &plan.loaders.to_string());
    }
    line.flag("--resumable", plan.resumable);
    line.flag("--unlogged", plan.unlogged);
    line.flag("--replace", plan.load == LoadChoice::Always);
    line.flag("--no-load", plan.load == LoadChoice::Never);
    line.given("--from-template", plan.from_template.as_ref());
    line.flag("--no-check", !plan.checks && !plan.scale_name.is_empty());
    if !plan.percentiles.is_empty() {
        let list: Vec<_> = plan.percentiles.iter().map(f64::to_string).collect();
        line.word(&format!("--latency-percentiles={}", list.join(",")));
    }
    line.flag("--log", plan.log);
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_plan::{Fitted, RecipePlan, Shortened};
    use std::path::Path;

    fn record() -> RunRecord {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
        pgdyno_results::read_record(&path).unwrap()
    }

    #[test]
    fn a_plan_is_a_command_line() {
        assert_eq!(
            shell(&command_line(&record())),
            "pgdyno run tproc-c -D all-warehouses=false -D call=procedure -D seed=1 -w 1 -c 2 -j 1 -T 12 --ramp 1 \
             -M prepared --target embedded --loaders 2 --random-seed 2867917161118594"
        );
    }

    #[test]
    fn a_recipe_is_named_unless_it_was_departed_from() {
        let mut record = record();
        record.plan.recipe = Some(RecipePlan {
            name: "alloydb/tpcc-full".to_owned(),
            size: "16vcpu".to_owned(),
            fitted: Some(Fitted::default()),
            shortened: Some(Shortened { by: 20.0, ..Default::default() }),
            ..Default::default()
        });
        let line = shell(&command_line(&record));
        assert!(line.starts_with("pgdyno run alloydb/tpcc-full --fit --short=20 --target embedded"), "{line}");
        record.plan.recipe.iter_mut().for_each(|recipe| recipe.departures.push("-c 3".to_owned()));
        assert!(shell(&command_line(&record)).starts_with("pgdyno run tproc-c "));
    }

    #[test]
    fn a_shell_takes_words_as_they_are() {
        let words = ["host=db1 dbname=x", "it's", "", "$(rm)"].map(str::to_owned);
        assert_eq!(shell(&words), r"'host=db1 dbname=x' 'it'\''s' '' '$(rm)'");
    }
}
