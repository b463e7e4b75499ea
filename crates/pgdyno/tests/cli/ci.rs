//! The workflows in `examples/ci`: what their steps run, in order, as it stands in the file, with tiny sizes.

use std::collections::BTreeMap;
use std::path::Path;

use yaml_rust2::{Yaml, YamlLoader};

use crate::builds;
use crate::own;
use crate::postgres;
use crate::program::{Home, Ran, finish};

/// The marker above steps that need what only GitHub has.
const NOT_HERE: &str = "# Needs GitHub";

/// A workflow in a home with two builds of PostgreSQL.
struct Workflow {
    home: Home,
    text: String,
    yaml: Yaml,
    /// The variables of the file, with tiny sizes.
    variables: BTreeMap<String, String>,
}

impl Workflow {
    /// Reads a workflow whose variables are at `key`. Skips aloud without PostgreSQL.
    fn read(name: &str, key: &str) -> Option<Self> {
        if !postgres::available(&format!("the steps of examples/ci/{name}")) {
            return None;
        }
        let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/ci").join(name))
            .unwrap();
        let yaml = YamlLoader::load_from_str(&text).unwrap().remove(0);
        let home = Home::new();
        let variables = yaml[key].as_hash().unwrap();
        let mut variables: BTreeMap<_, _> =
            variables.iter().map(|(name, value)| (text_of(name), text_of(value))).collect();
        // Closed loops that rest leave the CPUs to others.
        let files = [
            ("workload.toml", "[[script]]\nfile = 'look.sql'\n"),
            ("schema.sql", "create table seen (n int);"),
            ("look.sql", "select n from seen;\n\\sleep 5 ms\n"),
        ];
        own::write(&home, "of-rows", &files);
        let builds = ["base", "candidate"].map(|side| format!("embedded:{}", builds::copy(&home.join(side)).display()));
        let [base, candidate] = &builds;
        for (name, tiny) in [
            ("WORKLOAD", "./of-rows --clients 2 --yes"),
            ("BASE", base),
            ("CANDIDATE", candidate),
            ("BUDGET", "1s"),
            ("SLICE", "500ms"),
            ("TIME", "1"),
        ] {
            assert!(variables.insert(name.to_owned(), tiny.to_owned()).is_some(), "{name} is no variable of the file");
        }
        Some(Self { home, text, yaml, variables })
    }

    /// Runs a script with further variables.
    fn script(&self, script: &str, more: &BTreeMap<String, String>) -> Ran {
        let mut command = self.home.bash(script);
        command.envs(&self.variables).envs(more);
        finish(command)
    }

    /// The records are where the file keeps them, and the comment says what was found.
    fn assert_measured(&self, label: &str) {
        let comment = std::fs::read_to_string(self.home.join("comment.md")).unwrap();
        assert!(comment.starts_with("### pgdyno ab ./of-rows: "), "{comment}");
        assert!(comment.contains("- A: target=") || comment.contains("- A: embedded:"), "{comment}");
        let runs = self.home.runs();
        assert!(runs.len() >= 4 && runs.iter().all(|run| run.text("/labels/commit") == label));
    }
}

/// A scalar as text.
fn text_of(yaml: &Yaml) -> String {
    yaml.as_str().map(str::to_owned).or_else(|| Some(yaml.as_i64()?.to_string())).unwrap_or_else(|| panic!("{yaml:?}"))
}

/// `${{ NAME }}` as GitHub has it for a pull request or a push.
fn expanded(text: &str, outputs: &BTreeMap<String, String>) -> String {
    let Some(name) = text.strip_prefix("${{ ").and_then(|rest| rest.strip_suffix(" }}")) else {
        return text.to_owned();
    };
    match name {
        "github.event.pull_request.head.sha" | "github.sha" => "abc123".to_owned(),
        "github.ref_name" => "main".to_owned(),
        name => outputs.get(name).unwrap_or_else(|| panic!("what is {name}?")).clone(),
    }
}

/// Runs the steps of a job that can run here; returns the names of the others.
fn steps(workflow: &Workflow, job: &str, mut ran: impl FnMut(&str, &Ran)) -> Vec<String> {
    let (mut left_out, mut outputs) = (Vec::new(), BTreeMap::new());
    for step in workflow.yaml["jobs"][job]["steps"].as_vec().unwrap() {
        let name = text_of(&step["name"]);
        if workflow.text.contains(&format!("{NOT_HERE}\n      - name: {name}\n")) {
            left_out.push(name);
            continue;
        }
        let script = step["run"].as_str().unwrap_or_else(|| panic!("{name} runs nothing, and is not marked"));
        let (output, summary) = (workflow.home.join("github-output"), workflow.home.join("github-summary"));
        std::fs::write(&output, "").unwrap();
        let mut variables: BTreeMap<_, _> = [("GITHUB_OUTPUT", &output), ("GITHUB_STEP_SUMMARY", &summary)]
            .map(|(name, path)| (name.to_owned(), path.display().to_string()))
            .into();
        for (name, value) in step["env"].as_hash().into_iter().flatten() {
            variables.insert(text_of(name), expanded(&text_of(value), &outputs));
        }
        ran(&name, &workflow.script(script, &variables));
        let id = step["id"].as_str().unwrap_or_default();
        for (name, value) in std::fs::read_to_string(&output).unwrap().lines().filter_map(|line| line.split_once('=')) {
            outputs.insert(format!("steps.{id}.outputs.{name}"), value.to_owned());
        }
    }
    left_out
}

#[test]
fn the_steps_of_the_github_workflow_run_in_their_order() {
    let Some(workflow) = Workflow::read("github.yml", "env") else { return };
    let mut seen = Vec::new();
    let left_out = steps(&workflow, "gate", |name, ran| {
        assert_eq!(ran.code, Some(0), "{name}: {}\n{}", ran.stdout, ran.stderr);
        seen.push(name.to_owned());
    });
    assert_eq!(seen, ["Look at the machine", "Measure", "Verdict"]);
    assert_eq!(left_out, ["Check out", "Install pgdyno", "Build both", "Post the comment", "Keep the records"]);
    workflow.assert_measured("abc123");
    let summary = std::fs::read_to_string(workflow.home.join("github-summary")).unwrap();
    assert_eq!(summary, std::fs::read_to_string(workflow.home.join("comment.md")).unwrap());

    // The verdict of the experiment is that of the check.
    let steps = workflow.yaml["jobs"]["gate"]["steps"].as_vec().unwrap();
    let verdict = steps.iter().find(|step| step["name"].as_str() == Some("Verdict")).unwrap()["run"].as_str().unwrap();
    for (code, unsure, expected) in
        [("0", "fail", 0), ("20", "pass", 20), ("21", "pass", 0), ("21", "fail", 21), ("2", "pass", 2)]
    {
        let variables = [("CODE", code), ("UNSURE", unsure)].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(workflow.script(verdict, &variables.into()).code, Some(expected), "{code} {unsure}");
    }
}

#[test]
fn the_history_of_the_github_workflow_is_measured_and_judged() {
    let Some(workflow) = Workflow::read("github.yml", "env") else { return };
    let mut seen = Vec::new();
    let left_out = steps(&workflow, "history", |name, ran| {
        assert_eq!(ran.code, Some(0), "{name}: {}\n{}", ran.stdout, ran.stderr);
        seen.push(name.to_owned());
    });
    assert_eq!(seen, ["Measure", "Has it become slower?"]);
    let elsewhere = ["Check out", "Install pgdyno", "Build", "Fetch earlier runs"];
    assert_eq!(left_out, [&elsewhere[..], &["Store the runs for the next commit", "Keep the records"]].concat());
    let run = workflow.home.the_run();
    assert_eq!((run.text("/labels/commit"), run.text("/labels/branch")), ("abc123", "main"));
    let summary = std::fs::read_to_string(workflow.home.join("github-summary")).unwrap();
    assert!(summary.contains("of-rows") && summary.contains("1 run"), "{summary}");
}

#[test]
fn the_scripts_of_the_gitlab_jobs_run_in_their_order() {
    let Some(workflow) = Workflow::read("gitlab.yml", "variables") else { return };
    let script = |job: &str| {
        let job = &workflow.yaml[job];
        assert_eq!(job["extends"].as_str(), Some(".benchmark"));
        let lines: Vec<_> = job["script"].as_vec().unwrap().iter().map(text_of).collect();
        let of_gitlab = [("CI_COMMIT_SHORT_SHA", "abc123"), ("CI_COMMIT_BRANCH", "main")];
        let of_gitlab = of_gitlab.map(|(name, value)| (name.to_owned(), value.to_owned()));
        workflow.script(&lines.join("\n"), &of_gitlab.into())
    };
    // What needs GitLab stands in sections of its own.
    for (job, section) in [(".benchmark", "before_script"), ("benchmark:gate", "after_script")] {
        assert!(workflow.yaml[job][section].as_vec().is_some_and(|lines| !lines.is_empty()), "{job}");
    }
    assert_eq!(workflow.yaml["benchmark:gate"]["allow_failure"]["exit_codes"][0].as_i64(), Some(21));
    script("benchmark:gate").ended(21).prints(&["### pgdyno ab ./of-rows: cannot tell"]);
    workflow.assert_measured("abc123");
    std::fs::remove_dir_all(workflow.home.join("pgdyno-results")).unwrap();
    script("benchmark:history").ok().prints(&["1 run"]);
    assert_eq!(workflow.home.the_run().text("/labels/branch"), "main");
}
