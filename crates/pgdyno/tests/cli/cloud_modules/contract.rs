//! What every module has, and what its `module.toml` says of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::clouds;

const MODULES: [&str; 7] = ["alloydb", "azure-citus-vms", "azure-flexible", "cloudsql", "local", "polardb", "rds"];

/// Words that commands of a module may have in braces; pgdyno replaces them.
const REPLACED: [&str; 8] =
    ["id", "lab", "project", "region", "subscription_id", "instance", "start_rfc3339", "end_rfc3339"];

fn read(module: &str, file: &str) -> String {
    let path = clouds().join(module).join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub(super) fn facts(module: &str) -> toml::Table {
    read(module, "module.toml").parse().unwrap_or_else(|error| panic!("{module}: {error}"))
}

/// The tables of a list in `module.toml`; none if it has none.
pub(super) fn tables<'a>(facts: &'a toml::Table, name: &str) -> Vec<&'a toml::Table> {
    facts.get(name).and_then(toml::Value::as_array).into_iter().flatten().map(|each| each.as_table().unwrap()).collect()
}

/// The variables of HCL: each with its default, as text, if it has one.
fn variables(hcl: &str) -> BTreeMap<String, Option<String>> {
    let parts = hcl
        .split("\nvariable \"")
        .skip(1)
        .chain(hcl.strip_prefix("variable \"").map(|text| text.split("\nvariable \"").next().unwrap()));
    parts
        .map(|part| {
            let (name, body) = part.split_once('"').unwrap();
            let default = body.lines().find_map(|line| line.strip_prefix("  default ")?.trim().strip_prefix("= "));
            (name.to_owned(), default.map(str::to_owned))
        })
        .collect()
}

#[test]
fn every_module_is_whole() {
    let entries = fs::read_dir(clouds()).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    let found: BTreeSet<_> = entries.filter(|name| name != "common").collect();
    assert_eq!(found, MODULES.map(str::to_owned).into());
    for module in MODULES {
        assert!(read(module, "contract.tf") == read("alloydb", "contract.tf"), "{module}/contract.tf is not alloydb's");
        for file in ["main.tf", "variables.tf", "outputs.tf", "versions.tf"] {
            read(module, file);
        }
        let readme = read(module, "README.md");
        let words = readme.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(readme.lines().count() <= 60, "{module}/README.md is more than a page");
        let verified = facts(module)["verified"].as_table().unwrap().clone();
        assert_eq!(verified.keys().collect::<Vec<_>>(), ["emulator", "mock", "real_cloud", "schema"], "{module}");
        // The page says what the machine-readable facts say.
        for how in verified.values() {
            assert!(words.contains(how.as_str().unwrap()), "{module}/README.md does not say: {how:?}");
        }
    }
}

#[test]
fn module_toml_says_what_the_module_takes() {
    for module in MODULES {
        let facts = facts(module);
        let (contract, own) = (variables(&read(module, "contract.tf")), variables(&read(module, "variables.tf")));
        assert_eq!(contract.len(), 6, "{contract:?}");
        let mut explained = BTreeSet::new();
        for variable in tables(&facts, "variable") {
            let name = variable["name"].as_str().unwrap();
            let Some(default) = own.get(name) else { panic!("{module} has no variable {name}") };
            let required = variable.get("required").is_some_and(|value| value.as_bool().unwrap());
            assert_eq!(required, default.is_none(), "{module}: {name}");
            let given = variable.get("default").map(|value| serde_json::to_string(value).unwrap());
            let null = default.as_deref() == Some("null") || required;
            assert_eq!(given.as_deref(), default.as_deref().filter(|_| !null), "{module}: {name}");
            explained.insert(name.to_owned());
        }
        // The directory is pgdyno's to give.
        explained.extend((module == "local").then(|| "root".to_owned()));
        let sizes = tables(&facts, "size");
        assert!(!sizes.is_empty(), "{module}");
        for size in &sizes {
            let given: BTreeSet<_> = size.keys().filter(|key| *key != "name").cloned().collect();
            assert!(given.iter().all(|name| own.contains_key(name)), "{module}: {size:?}");
            let needed: BTreeSet<_> =
                own.iter().filter(|(_, default)| default.is_none()).map(|(name, _)| name.clone()).collect();
            assert!(needed.difference(&explained).all(|name| given.contains(name)), "{module}: {size:?}");
            let name = size["name"].as_str().unwrap();
            assert!(
                name.len() <= 20 && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            );
            explained.extend(given);
        }
        assert!(
            own.keys().all(|name| explained.contains(name)),
            "{module}: {:?}",
            own.keys().filter(|name| !explained.contains(*name))
        );
    }
}

#[test]
fn guides_of_modules_are_recipes() {
    let recipes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes");
    for module in MODULES {
        for recipe in facts(module)["guide"].as_array().unwrap() {
            let file = recipes.join(format!("{}.toml", recipe.as_str().unwrap()));
            assert!(file.exists(), "{module}: there is no recipe {recipe:?}");
        }
    }
}

/// The commands of a module: each with the words of its table that follow from its answer.
fn commands(facts: &toml::Table) -> Vec<Vec<String>> {
    let sweep = facts.get("sweep").map(|sweep| tables(sweep.as_table().unwrap(), "resource")).unwrap_or_default();
    let lists = sweep.iter().flat_map(|each| [&each["list"], &each["delete"]]);
    let commands = lists.chain(tables(facts, "metric").into_iter().map(|each| &each["command"]));
    let words =
        |list: &toml::Value| list.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()).collect();
    commands.map(words).collect()
}

#[test]
fn commands_of_a_module_are_those_of_its_cloud() {
    for module in MODULES {
        let facts = facts(module);
        let cli = facts["cli"].as_str().unwrap();
        let commands = commands(&facts);
        assert_eq!(commands.is_empty(), cli.is_empty(), "{module}");
        for words in commands {
            let text = words.join(" ");
            assert!(words[0] == cli || words[0] == "sh" && text.contains(cli), "{text}");
            let braces = text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(word, _)| word);
            let names = braces.filter(|word| {
                !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
            });
            for name in names {
                assert!(REPLACED.contains(&name), "{module}: {{{name}}} in {text} is not replaced");
            }
            // A command that reads the whole account would delete what is not the lab's.
            assert!(text.contains("{lab}") || text.contains("{id}") || text.contains("{instance}"), "{module}: {text}");
        }
        let sweep = facts.get("sweep").map(|sweep| tables(sweep.as_table().unwrap(), "resource")).unwrap_or_default();
        assert_eq!(sweep.is_empty(), cli.is_empty(), "{module} has nothing to find what is left");
        for resource in sweep {
            for pointer in ["id", "expires"].into_iter().filter_map(|name| resource.get(name)) {
                assert!(pointer.as_str().unwrap().starts_with('/'), "{module}: {pointer:?}");
            }
        }
    }
}
