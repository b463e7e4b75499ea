//! Rules of the house that no compiler keeps: which crate may know which, pages that must exist, links that
//! must lead somewhere.

mod functions;
mod links;
mod names;
mod phrases;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

mod circles;

/// Which crate may depend on which. An edge that is not here is a decision, and wants a reason in its commit.
const EDGES: &[(&str, &[&str])] = &[
    ("wire", &[]),
    ("poll", &[]),
    ("untrusted", &[]),
    ("text", &[]),
    ("null", &["poll", "wire"]),
    ("net", &["wire"]),
    ("workload", &["wire"]),
    ("script", &["workload"]),
    ("workloads", &["script", "text", "untrusted", "wire", "workload"]),
    ("measure", &["wire"]),
    ("engine", &["measure", "net", "poll", "wire", "workload"]),
    ("load", &["net", "text", "wire", "workload"]),
    ("meet", &["net", "untrusted", "wire"]),
    ("samples", &[]),
    ("server", &["net", "samples", "text", "untrusted", "workload"]),
    ("plan", &["text", "wire", "workload"]),
    ("results", &["measure", "plan", "samples", "text", "untrusted", "workload"]),
    ("store", &["net", "results", "text", "untrusted", "wire"]),
    ("diagnose", &["plan", "results", "samples", "text"]),
    ("capture", &["net", "script", "text", "wire", "workload"]),
    ("doctor", &["engine", "net", "server", "text", "workload"]),
    ("report", &["measure", "plan", "results", "samples", "text", "untrusted"]),
    ("serve", &["report", "results", "samples", "text"]),
    (
        "fuzz",
        &[
            "capture",
            "measure",
            "meet",
            "net",
            "null",
            "plan",
            "report",
            "results",
            "samples",
            "script",
            "serve",
            "server",
            "store",
            "text",
            "untrusted",
            "wire",
            "workload",
            "workloads",
        ],
    ),
    (
        "life",
        &[
            "capture",
            "diagnose",
            "engine",
            "load",
            "measure",
            "meet",
            "net",
            "null",
            "pgbench",
            "plan",
            "report",
            "results",
            "samples",
            "script",
            "server",
            "text",
            "untrusted",
            "wire",
            "workload",
            "workloads",
        ],
    ),
    (
        "study",
        &["life", "load", "measure", "net", "plan", "report", "results", "text", "untrusted", "workload", "workloads"],
    ),
    ("cloud", &["life", "net", "plan", "results", "text", "untrusted"]),
    ("live", &["life", "measure", "plan", "samples", "server", "text", "untrusted", "wire"]),
    // Of tests only: no crate may have it but as a dev-dependency.
    ("testing", &["net"]),
    ("pgbench", &["engine", "measure", "net", "script", "wire", "workload", "workloads"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn crates_know_only_those_that_they_may_know() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo metadata runs");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let mut found = BTreeMap::new();
    for package in metadata["packages"].as_array().expect("a list of packages") {
        let Some(name) = package["name"].as_str().and_then(|n| n.strip_prefix("pgdyno-")) else { continue };
        let edges: BTreeSet<&str> = package["dependencies"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|d| d["kind"].is_null())
            .filter_map(|d| d["name"].as_str()?.strip_prefix("pgdyno-"))
            .collect();
        found.insert(name, edges);
    }
    let allowed: BTreeMap<&str, BTreeSet<&str>> =
        EDGES.iter().map(|(name, edges)| (*name, edges.iter().copied().collect())).collect();
    assert_eq!(found, allowed);
}

/// What the figures mean is read before a decision, and how they are computed by few.
#[test]
fn the_page_of_figures_is_short() {
    let text = fs::read_to_string(root().join("docs/metrics.md")).expect("a readable page");
    let words = text.split_whitespace().count();
    assert!(words <= 2_500, "docs/metrics.md has {words} words: methods and sources belong in docs/measurement.md");
}

/// Environment, printing and the end of the program are the binary's; clippy knows it of each crate by its list.
#[test]
fn each_library_forbids_the_environment_printing_and_exit() {
    let directories = fs::read_dir(root().join("crates")).expect("a readable directory").flatten();
    for directory in directories.map(|entry| entry.path()) {
        // The binary, and programs that only tests use.
        if ["pgdyno", "pgdyno-fuzz", "pgdyno-testing"].iter().any(|name| directory.ends_with(name)) {
            continue;
        }
        let text = fs::read_to_string(directory.join("clippy.toml")).expect("a library has a clippy.toml");
        for method in ["std::env::var_os", "std::env::vars_os", "std::io::stdout", "std::process::exit"] {
            assert!(text.contains(&format!("\"{method}\"")), "{} allows {method}", directory.display());
        }
    }
}

/// Adds the Rust sources below a directory.
fn sources(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a readable directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn kubernetes_manifests_are_valid_for_its_api() {
    let directory = root().join("deploy/kubernetes");
    let files = fs::read_dir(&directory).expect("a readable directory").flatten().map(|entry| entry.path());
    let manifests: Vec<_> = files.filter(|file| file.extension().is_some_and(|ending| ending == "yaml")).collect();
    assert!(manifests.len() >= 4, "{manifests:?}");
    let own = root().join("target/kubernetes-validate/bin/kubernetes-validate");
    let program = if own.exists() { own } else { PathBuf::from("kubernetes-validate") };
    let validate = |file: &Path| Command::new(&program).arg("--strict").arg(file).output();
    if validate(&manifests[0]).is_err() {
        return pgdyno_testing::skipped::skipped("kubernetes-validate, which validates manifests, is not installed");
    }
    for file in &manifests {
        let output = validate(file).expect("it runs");
        let said = [&output.stdout[..], &output.stderr].concat();
        assert!(output.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&said));
    }
    // It is strict: a word that the API does not know is refused.
    let wrong =
        fs::read_to_string(directory.join("agents.yaml")).expect("a manifest").replace("parallelism:", "paralelism:");
    let file = std::env::temp_dir().join(format!("pgdyno-manifest-{}.yaml", std::process::id()));
    fs::write(&file, wrong).expect("a writable directory");
    let refused = validate(&file).expect("it runs");
    fs::remove_file(&file).expect("it was there");
    assert!(!refused.status.success());
}

#[test]
fn a_module_with_parts_is_a_file_beside_its_folder() {
    let listed = Command::new("git").args(["ls-files", "crates"]).current_dir(root()).output();
    // Sources without their history, as in a package, are as they were when they had one.
    let Some(listed) = listed.ok().filter(|output| output.status.success()) else { return };
    let files = String::from_utf8(listed.stdout).unwrap();
    // Cargo would take a file beside the folder for a benchmark of its own.
    let wrong: Vec<_> = files.lines().filter(|file| file.ends_with("/mod.rs") && !file.contains("/benches/")).collect();
    assert!(wrong.is_empty(), "write foo.rs beside foo/, not foo/mod.rs: {wrong:?}");
}

#[test]
fn a_plan_is_not_changed_once_it_is_resolved() {
    let listed = Command::new("git").args(["ls-files", "crates"]).current_dir(root()).output();
    let Some(listed) = listed.ok().filter(|output| output.status.success()) else { return };
    let files = String::from_utf8(listed.stdout).unwrap();
    let is_source = |file: &&str| file.ends_with(".rs") && file.contains("/src/");
    // Tests make plans that nobody has asked for.
    let is_test =
        |file: &&str| ["tests.rs", "fixture.rs", "again.rs"].iter().any(|name| file.ends_with(&format!("/{name}")));
    let mut wrong = Vec::new();
    for file in files.lines().filter(is_source).filter(|file| !is_test(file)) {
        let Ok(text) = fs::read_to_string(root().join(file)) else { continue };
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        wrong.extend(code.lines().filter(|line| changes_a_plan(line)).map(|line| format!("{file}: {}", line.trim())));
    }
    assert!(wrong.is_empty(), "resolve decides, and a plan with other values is `Plan {{ .., ..plan }}`: {wrong:#?}");
}

/// The file that knows the texts by which targets are named.
const TARGET_KINDS: &str = "crates/pgdyno-plan/src/target_kind.rs";

#[test]
fn only_one_file_knows_the_texts_of_targets() {
    let listed = Command::new("git").args(["ls-files", "crates"]).current_dir(root()).output();
    let Some(listed) = listed.ok().filter(|output| output.status.success()) else { return };
    let files = String::from_utf8(listed.stdout).unwrap();
    let is_source = |file: &&str| file.ends_with(".rs") && file.contains("/src/") && *file != TARGET_KINDS;
    let mut wrong = Vec::new();
    for file in files.lines().filter(is_source) {
        let Ok(text) = fs::read_to_string(root().join(file)) else { continue };
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        wrong.extend(compared_targets(code).map(|line| format!("{file}: {line}")));
    }
    assert!(wrong.is_empty(), "ask the kind of a target, `TargetName::kind`: {wrong:#?}");
}

/// Returns the lines that compare the text of a target with that of a kind.
fn compared_targets(code: &str) -> impl Iterator<Item = &str> {
    let lines: Vec<_> = code.lines().map(str::trim).filter(|line| !line.starts_with("//")).collect();
    let compares = |line: &str| {
        ["embedded", "null", "none"].iter().any(|word| {
            let comparisons = [
                format!("== \"{word}\""),
                format!("!= \"{word}\""),
                format!("\"{word}\" =>"),
                format!("\"{word}\") =>"),
                format!("\"{word}\" |"),
                format!("| \"{word}\""),
                format!("(\"{word}\"), _) =>"),
                format!("starts_with(\"{word}"),
                format!("strip_prefix(\"{word}"),
                format!("contains(\"{word}"),
            ];
            comparisons.iter().any(|comparison| line.contains(comparison.as_str()))
        })
    };
    // A `match` names its target some lines before.
    let of_target = |nth: usize, line: &str| {
        let before = lines[nth.saturating_sub(5)..=nth].join(" ");
        line.contains("embedded") || before.contains("target") || before.contains("dsn")
    };
    let found: Vec<_> =
        lines.iter().enumerate().filter(|(nth, line)| compares(line) && of_target(*nth, line)).collect();
    found.into_iter().map(|(_, line)| *line).collect::<Vec<_>>().into_iter()
}

#[test]
fn a_comparison_of_a_targets_text_is_known_by_its_words() {
    for code in [
        "if plan.target != \"null\" {",
        "matches!(plan.target.as_str(), \"none\" | \"null\")",
        "match plan.target.as_str() {\n\"none\" => 1,",
        "match asked.target {\n(None | Some(\"none\"), _) => 1,",
        "name.starts_with(\"embedded\")",
        "text.strip_prefix(\"embedded:\")",
    ] {
        assert_eq!(compared_targets(code).count(), 1, "{code}");
    }
    for code in [
        "default_value = \"embedded\"",
        "tracked != \"none\"",
        "// a target == \"null\"",
        "let target = TargetName::null();",
    ] {
        assert_eq!(compared_targets(code).count(), 0, "{code}");
    }
}

/// Whether the line takes a plan to change it, or changes a part of one.
fn changes_a_plan(line: &str) -> bool {
    let takes = [
        "&mut Plan,",
        "&mut Plan)",
        "mut plan:",
        "mut plan ",
        "&mut plan,",
        "&mut plan)",
        "&mut plan.",
        "&mut self.plan",
    ];
    let assigns = |rest: &str| {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len());
        let (place, after) = rest.split_at(end);
        let after = after.trim_start();
        let operator = after.trim_start_matches(['+', '-', '|', '&']);
        let is_assigned = operator.starts_with("= ") || after == "=";
        let method = place.rsplit('.').next().unwrap_or_default();
        let changes =
            ["push", "insert", "extend", "clear", "retain", "remove", "take", "iter_mut", "get_or_insert_with"];
        is_assigned || (after.starts_with('(') && changes.contains(&method))
    };
    takes.iter().any(|word| line.contains(word)) || line.split("plan.").skip(1).any(assigns)
}

#[test]
fn a_line_that_changes_a_plan_is_known_by_its_words() {
    for line in ["plan.clients = 3;", "self.plan.a.b += 1;", "plan.settings.insert(a, b);", "fn f(plan: &mut Plan) {}"]
    {
        assert!(changes_a_plan(line), "{line}");
    }
    for line in ["if plan.clients == 3 {", "let a = plan.clients;", "self.record.plan = plan.clone();", "plan.links()"]
    {
        assert!(!changes_a_plan(line), "{line}");
    }
}

/// The instructions of a Dockerfile: each with its arguments, lines that go on joined.
fn instructions(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n");
    let joined = lines.replace("\\\n", " ");
    let instruction = |line: &str| {
        let (name, arguments) = line.split_once(char::is_whitespace)?;
        Some((name.to_uppercase(), arguments.trim().to_owned()))
    };
    joined.lines().filter(|line| !line.trim().is_empty()).filter_map(instruction).collect()
}

#[test]
fn the_dockerfile_has_known_instructions_and_paths_that_are_there() {
    let text = fs::read_to_string(root().join("deploy/kubernetes/Dockerfile")).expect("a Dockerfile");
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    let rust = manifest.split("rust-version = \"").nth(1).and_then(|rest| rest.split('"').next()).expect("its Rust");
    let mut stages = Vec::new();
    for (name, arguments) in instructions(&text) {
        let words: Vec<_> = arguments.split_whitespace().collect();
        match name.as_str() {
            "FROM" => {
                if words[0].starts_with("rust:") {
                    assert!(words[0].starts_with(&format!("rust:{rust}-")), "{arguments}: Cargo.toml asks for {rust}");
                }
                stages.push(words.get(2).copied().unwrap_or_default().to_owned());
            }
            "COPY" => match words[0].strip_prefix("--from=") {
                Some(stage) => {
                    assert!(stages.iter().any(|known| known == stage), "COPY from an unknown stage: {stage}")
                }
                None => assert!(root().join(words[0]).exists(), "COPY of what is not there: {arguments}"),
            },
            "ENTRYPOINT" => {
                serde_json::from_str::<Vec<String>>(&arguments).expect("ENTRYPOINT in the form that needs no shell");
            }
            "USER" => assert!(!arguments.starts_with('0') && arguments != "root", "runs as root"),
            "RUN" | "WORKDIR" | "LABEL" | "ENV" => {}
            _ => panic!("unknown instruction {name} {arguments}"),
        }
    }
    assert_eq!(stages.len(), 2, "a stage that builds and one that runs");
}
