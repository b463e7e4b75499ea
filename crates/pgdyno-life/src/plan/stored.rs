//! Rebuilds a workload from a stored plan: reads its files from the record, not from their original paths.

use std::collections::BTreeMap;
use std::path::Path;

use pgdyno_plan::{DriveOrder, InputFile, MeetingOrder, Order, Plan, ScriptPlan, TargetOrder, WatchOrder, sha256};
use pgdyno_results::{input_path, read_beside, read_ordinary};
use pgdyno_text::units;
use pgdyno_workloads::own::{WorkloadDirectory, embedded};
use pgdyno_workloads::registry;
use pgdyno_workloads::scripted::WeightedScript;

use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::plan::foreign_order::refuse_programs;
use crate::plan::recipe_order::FollowedRecipe;
use crate::plan::resolve::RunRequest;
use crate::plan::workload_source::WorkloadSource;

const OLD: &str = "records of 0.1.0 and of the drop-in name scripts but do not contain them; name the scripts or their \
                   directory \
                   instead, as in `pgdyno run ./mine.sql`";

impl RunRequest {
    /// Returns the request of a stored plan. `directory` is the run directory of its record, which contains the files
    /// that are too large for a plan.
    ///
    /// # Errors
    /// When the record lacks a file of the workload, or this program does not have the workload.
    pub fn of_plan(plan: &Plan, directory: &Path) -> Result<Self> {
        Ok(Self {
            order: Order::of_plan(plan),
            recipe: plan.recipe.clone().map(FollowedRecipe::stored),
            source: WorkloadSource::of_plan(plan, directory)?,
            seed: plan.seed,
            stored: Some(plan.clone()),
        })
    }

    /// Returns the same request with another target, seed and other output files, if `order` names them.
    ///
    /// # Errors
    /// As [`RunRequest::of_plan`], and when `order` contains anything else.
    pub fn again(plan: &Plan, directory: &Path, order: Order) -> Result<Self> {
        let (target, config) = (order.target.target.clone(), order.target.config.clone());
        let (random_seed, os_metrics) = (order.drive.random_seed, order.watch.os_metrics.clone());
        // The plan has the number of agents, and not where they meet, nor the machines on which they are started.
        admit_agents(plan, &order.meeting)?;
        let meeting = order.meeting.clone();
        let counts = Order {
            meeting: meeting.clone(),
            target: TargetOrder {
                target: target.clone(),
                config: config.clone(),
                cache_bytes: order.target.cache_bytes,
                ..TargetOrder::default()
            },
            drive: DriveOrder { random_seed, ..DriveOrder::default() },
            watch: WatchOrder { os_metrics: os_metrics.clone(), ..WatchOrder::default() },
            suite: order.suite.clone(),
            labels: order.labels.clone(),
            json: order.json.clone(),
            out: order.out.clone(),
            ..Order::default()
        };
        if counts != order {
            let error = "--again runs a plan as it is stored: it can only be combined with --target, --config, --os-metrics, \
                         --random-seed, --cache-size, --meet, --agents, --wait, --label, --out, --json, --slo, and \
                         options of the output";
            return Err(CommandError::new(Code::Start, error)
                .hint("leave the others out, or name the workload with the arguments that the run's page has"));
        }
        let request = Self::of_plan(plan, directory)?;
        refuse_programs(&request.order.target, &order.target)?;
        let stored = request.order;
        let order = Order {
            target: TargetOrder {
                // The private server was reached by TCP; another target has its own address.
                tcp: stored.target.tcp && target.is_none(),
                shown_as: stored.target.shown_as.filter(|_| target.is_none()),
                target: target.or(stored.target.target),
                config,
                cache_bytes: order.target.cache_bytes,
                ..stored.target
            },
            drive: DriveOrder { random_seed: random_seed.or(stored.drive.random_seed), ..stored.drive },
            watch: WatchOrder { os_metrics: os_metrics.or(stored.watch.os_metrics), ..stored.watch },
            meeting: MeetingOrder { agents: stored.meeting.agents, ..meeting },
            suite: counts.suite,
            labels: counts.labels,
            json: counts.json,
            out: counts.out,
            ..stored
        };
        Ok(Self { order, ..request })
    }
}

/// Refuses another number of agents than the plan has: each drives a share of its threads.
fn admit_agents(plan: &Plan, meeting: &MeetingOrder) -> Result<()> {
    let Some(asked) = meeting.agents.filter(|asked| plan.drive.agents != Some(*asked)) else { return Ok(()) };
    let plural = |number: u32| units::plain_plural(number.into(), "agent");
    let had = plan.drive.agents.map_or_else(|| "one driver and no agents".to_owned(), plural);
    let hint = match plan.drive.agents {
        None => "leave out --agents".to_owned(),
        Some(agents) => format!("give --agents {agents}, or ssh: and {agents} machines"),
    };
    let error = format!("--agents asks for {}, and the run had {had}", plural(asked));
    Err(CommandError::new(Code::Start, error).hint(hint))
}

impl WorkloadSource {
    /// Builds the workload that a stored plan names; `directory` as in [`RunRequest::of_plan`].
    ///
    /// # Errors
    /// When a file is missing or differs from the hash in the plan, or when there is no such workload.
    pub fn of_plan(plan: &Plan, directory: &Path) -> Result<Self> {
        if plan.inputs.is_empty() {
            return without_inputs(plan);
        }
        let contents = plan.inputs.iter().map(|input| content(input, directory).map(|bytes| (input, bytes)));
        let contents: Vec<_> = contents.collect::<Result<_>>()?;
        if let Some(path) = &plan.directory {
            let files: BTreeMap<_, _> =
                contents.into_iter().map(|(input, bytes)| (input.file.as_str(), bytes)).collect();
            let read = WorkloadDirectory::read(path, &mut |file| Ok(files.get(file).cloned()));
            return Ok(Self::Directory(Box::new(read.or_fail(Code::Start)?)));
        }
        let source = |script: &ScriptPlan| {
            let found = contents.iter().find(|(input, _)| input.sha256 == script.sha256);
            let source = |text: &Vec<u8>| WeightedScript {
                name: script.file.clone(),
                text: text.clone(),
                weight: script.weight,
                read_only: None,
            };
            found.map(|(_, text)| source(text)).ok_or_else(|| lacking(script, "the plan has no such file"))
        };
        plan.scripts.iter().map(source).collect::<Result<_>>().map(Self::Scripts)
    }
}

/// Returns the bytes of a file.
fn content(input: &InputFile, directory: &Path) -> Result<Vec<u8>> {
    let (bytes, place) = match &input.text {
        Some(text) => (text.clone().into_bytes(), "the plan".to_owned()),
        None => {
            let Some(name) = input_path(Path::new(""), &input.sha256) else {
                let error = format!("'{}' is not a hash of {}", input.sha256, input.file);
                return Err(CommandError::new(Code::Start, error));
            };
            let path = directory.join(&name);
            let bytes = read_beside(directory, &name.to_string_lossy()).map_err(|error| {
                let error = format!("the record lacks {}: failed to read {}: {error}", input.file, path.display());
                CommandError::new(Code::Start, error)
                    .hint("keep the run directory whole: it has what is too large for run.json")
            })?;
            (bytes, path.display().to_string())
        }
    };
    if sha256(&bytes) != input.sha256 {
        let error = format!("{} in {place} was changed: its SHA-256 is not {}", input.file, input.sha256);
        return Err(CommandError::new(Code::Start, error));
    }
    Ok(bytes)
}

/// A plan without file contents: that of a built-in workload, or one that 0.1.0 or the drop-in wrote. The files may
/// still be at their original paths.
fn without_inputs(plan: &Plan) -> Result<WorkloadSource> {
    if plan.scripts.is_empty() {
        return registry::find(&plan.workload).map(WorkloadSource::BuiltIn).or_fail(Code::Start);
    }
    if let Some(directory) = embedded::find(&plan.workload) {
        let source = WorkloadSource::Directory(Box::new(directory.or_fail(Code::Start)?));
        if source.scripts() == plan.scripts {
            return Ok(source);
        }
    }
    // The scripts of a directory without the rest would be another workload.
    if plan.directory.is_some() || !plan.scale_name.is_empty() {
        let error = format!("the record lacks the files of {}: it names its scripts only", plan.workload);
        return Err(CommandError::new(Code::Start, error).hint(OLD));
    }
    plan.scripts.iter().map(still_there).collect::<Result<_>>().map(WorkloadSource::Scripts)
}

/// Reads a script from its original path if it has not changed.
fn still_there(script: &ScriptPlan) -> Result<WeightedScript> {
    let text = read_ordinary(Path::new(&script.file)).map_err(|error| lacking(script, &error.to_string()))?;
    match sha256(&text) == script.sha256 {
        true => Ok(WeightedScript { name: script.file.clone(), text, weight: script.weight, read_only: None }),
        false => Err(lacking(script, "a different file is there now")),
    }
}

/// Returns the failure for a script whose text is not known.
fn lacking(script: &ScriptPlan, why: &str) -> CommandError {
    let error = format!(
        "the record lacks the text of {} (SHA-256 {:.16}…), and the original cannot be used: {why}",
        script.file, script.sha256
    );
    CommandError::new(Code::Start, error).hint(OLD)
}

#[cfg(test)]
mod tests {
    use pgdyno_plan::Facts;

    use super::*;

    fn planned(names: &[&Path]) -> (RunRequest, Plan) {
        let mut order = Order::default();
        order.workload.names = names.iter().map(|path| path.display().to_string()).collect();
        let request = RunRequest::read(order).unwrap_or_else(|failure| panic!("{}", failure.text()));
        let plan = request.resolve(&Facts::unknown()).unwrap_or_else(|failure| panic!("{}", failure.text())).plan;
        (request, plan)
    }

    fn again(plan: &Plan, directory: &Path) -> Result<Plan> {
        // Goes through JSON, as a plan that is read from a record does.
        let text = serde_json::to_string(plan).unwrap();
        let request = RunRequest::of_plan(&serde_json::from_str(&text).unwrap(), directory)?;
        Ok(request.resolve(&Facts::unknown())?.plan)
    }

    #[test]
    fn scripts_are_run_again_when_their_files_are_gone() {
        let place = tempfile::tempdir().unwrap();
        let (a, b) = (place.path().join("a.sql"), place.path().join("b.sql"));
        std::fs::write(&a, "SELECT 1;\n").unwrap();
        std::fs::write(&b, [b"SELECT 2; -- ".as_slice(), &[0xff]].concat()).unwrap();
        let (request, plan) = planned(&[&a, &b, &a]);
        assert_eq!((plan.scripts.len(), plan.inputs.len()), (3, 2));
        [&a, &b].into_iter().for_each(|file| std::fs::remove_file(file).unwrap());

        let refused = again(&plan, place.path()).unwrap_err().text();
        assert!(refused.contains("the record lacks") && refused.contains("b.sql"), "{refused}");
        std::fs::create_dir(place.path().join("inputs")).unwrap();
        for (hash, bytes) in request.source.files_beside_plan() {
            std::fs::write(place.path().join("inputs").join(hash), bytes).unwrap();
        }
        assert_eq!(again(&plan, place.path()).unwrap(), plan);
    }

    #[test]
    fn a_directory_is_run_again_when_it_is_gone() {
        let place = tempfile::tempdir().unwrap();
        let mine = place.path().join("mine");
        std::fs::create_dir(&mine).unwrap();
        for (file, text) in [
            ("workload.toml", "[params]\nrows = 3\n[[script]]\nfile = 'x.sql'\nweight = 2\n"),
            ("schema.sql", "CREATE TABLE t (a int);"),
            ("load.sql", "INSERT INTO t SELECT generate_series(1, :rows);"),
            ("x.sql", "SELECT count(*) FROM t;"),
        ] {
            std::fs::write(mine.join(file), text).unwrap();
        }
        let (_, plan) = planned(&[&mine]);
        assert_eq!(
            plan.inputs.iter().map(|input| input.file.as_str()).collect::<Vec<_>>(),
            ["load.sql", "schema.sql", "workload.toml", "x.sql"]
        );
        std::fs::remove_dir_all(&mine).unwrap();
        assert_eq!(again(&plan, place.path()).unwrap(), plan);
    }

    #[test]
    fn a_text_that_was_changed_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("a.sql");
        std::fs::write(&file, "SELECT 1;").unwrap();
        let (_, plan) = planned(&[&file]);
        let inputs = vec![InputFile { text: Some("SELECT 2;".to_owned()), ..plan.inputs[0].clone() }];
        let refused = again(&Plan { inputs, ..plan.clone() }, place.path()).unwrap_err().text();
        assert!(refused.contains("was changed"), "{refused}");
        let inputs = vec![InputFile { text: None, sha256: "../../x".to_owned(), ..plan.inputs[0].clone() }];
        assert!(again(&Plan { inputs, ..plan }, place.path()).unwrap_err().text().contains("is not a hash"));
    }

    #[test]
    fn a_plan_of_0_1_0_says_what_it_lacks() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("a.sql");
        std::fs::write(&file, "SELECT 1;").unwrap();
        let (_, plan) = planned(&[&file]);
        let old = Plan { inputs: Vec::new(), ..plan.clone() };
        assert_eq!(again(&old, place.path()).unwrap(), plan, "the same file is there still");
        std::fs::write(&file, "SELECT 2;").unwrap();
        let refused = again(&old, place.path()).unwrap_err().text();
        assert!(refused.contains("lacks the text of") && refused.contains("different file"), "{refused}");
        let (_, sensor) = planned(&[Path::new("sensor-1")]);
        let old = Plan { inputs: Vec::new(), directory: None, ..sensor.clone() };
        assert_eq!(again(&old, place.path()).unwrap().inputs, sensor.inputs);
    }
}
