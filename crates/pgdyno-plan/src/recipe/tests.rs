use super::*;

const SMALL: &str = r#"
title = "mine"
workload = "tpcb-like"
time = "1h"
ramp = "5s"
clients = 8

[source]
publisher = "we"
title = "our machine"
date = "2026"

[fit]
rule = "our rule"
grows = { clients = "vcpus", scale = "memory", hot = "scale" }

[[size]]
name = "16vcpu"
vcpus = 16
memory = "128GB"
params = { scale = 1000, hot = 500 }
published = { tps = 5, note = "once" }

[[size]]
name = "2vcpu"
vcpus = 2
memory = "8GB"
params = { scale = 100, hot = 50 }
"#;

fn small() -> Recipe {
    read("mine.toml", SMALL).unwrap()
}

/// Returns the error of the recipe in which `from` is replaced by `to`.
fn reported(from: &str, to: &str) -> String {
    assert!(SMALL.contains(from), "{from}");
    read("mine.toml", &SMALL.replacen(from, to, 1)).unwrap_err().to_string()
}

fn refused(request: &RecipeRun<'_>) -> String {
    expand(&small(), request).unwrap_err().to_string()
}

#[test]
fn a_size_is_taken_as_it_is() {
    let run = expand(&small(), &RecipeRun { size: Some("16vcpu"), ..RecipeRun::default() }).unwrap();
    assert_eq!(
        (run.clients, run.params["scale"].as_str(), run.time_s, run.ramp_s),
        (Some(8), "1000", Some(3600.0), 5.0)
    );
    assert_eq!((run.recipe.machine.as_str(), run.recipe.published[0].value), ("16 vCPU, 128 GB", 5.0));
    assert_eq!((run.recipe.name.as_str(), run.recipe.source.as_str()), ("mine.toml", "we, \"our machine\", 2026"));
}

#[test]
fn numbers_grow_from_the_nearest_size() {
    let fit = |vcpus, memory_gb: u64| {
        let fit = Some(Machine { vcpus, memory_bytes: memory_gb << 30 });
        expand(&small(), &RecipeRun { fit, ..RecipeRun::default() }).unwrap()
    };
    let run = fit(3, 10);
    assert_eq!((run.clients, run.params["scale"].as_str(), run.params["hot"].as_str()), (Some(12), "125", "63"));
    let fitted = run.recipe.fitted.unwrap();
    assert_eq!((fitted.vcpus, fitted.memory_bytes), (3, 10 << 30));
    assert_eq!(
        fitted.rule,
        "our rule, from 2vcpu: clients 8 × 3/2 vCPUs = 12; scale 100 × 10/8 GB = 125; hot 50 × 125/100 of scale = 63"
    );
    assert_eq!((run.recipe.size.as_str(), run.recipe.machine.as_str()), ("2vcpu", "16 vCPU, 128 GB"));
    assert_eq!(run.recipe.published[0].value, 5.0);
    let run = fit(64, 512);
    assert_eq!((run.clients, run.params["scale"].as_str(), run.recipe.size.as_str()), (Some(32), "4000", "16vcpu"));
}

#[test]
fn numbers_that_were_made_for_another_machine_grow_from_that_one() {
    let made_for = "rule = \"our rule\"\nmade_for = { vcpus = 16, memory = \"128GB\" }";
    let text = SMALL
        .replace("rule = \"our rule\"", made_for)
        .replace("memory = \"128GB\"\nparams", "memory = \"104GB\"\nparams");
    let fit = Some(Machine { vcpus: 16, memory_bytes: 104 << 30 });
    let run = expand(&read("mine.toml", &text).unwrap(), &RecipeRun { fit, ..RecipeRun::default() }).unwrap();
    assert_eq!((run.clients, run.params["scale"].as_str()), (Some(8), "813"));
    assert!(run.recipe.fitted.unwrap().rule.contains("scale 1000 × 104/128 GB = 813"));
}

#[test]
fn times_are_cut_down_to_what_still_shows_something() {
    let short = |text: &str, by| {
        let recipe = read("mine.toml", text).unwrap();
        let run = expand(&recipe, &RecipeRun { size: Some("2vcpu"), short: Some(by), ..RecipeRun::default() }).unwrap();
        let shortened = run.recipe.shortened.unwrap();
        (run.time_s.unwrap(), run.ramp_s, shortened.time_s, shortened.ramp_s)
    };
    assert_eq!(short(SMALL, 20.0), (180.0, 1.0, 3600.0, 5.0));
    assert_eq!(short(SMALL, 2.0), (1800.0, 2.5, 3600.0, 5.0));
    assert_eq!(short(&SMALL.replace("\"1h\"", "\"6s\"").replace("ramp = \"5s\"", ""), 20.0), (6.0, 0.0, 6.0, 0.0));
    assert_eq!(
        refused(&RecipeRun { size: Some("2vcpu"), short: Some(0.5), ..RecipeRun::default() }),
        "the times of recipe mine.toml cannot be divided by 0.5: give a number of at least 1"
    );
}

#[test]
fn a_request_must_choose_one_run() {
    let none = RecipeRun::default();
    let here = Some(Machine { vcpus: 2, memory_bytes: 1 << 30 });
    assert_eq!(
        refused(&none),
        "recipe mine.toml has different numbers for each machine: choose one with --size; its sizes are 16vcpu (16 vCPU, 128 GB), \
         2vcpu (2 vCPU, 8 GB)"
    );
    assert_eq!(
        refused(&RecipeRun { size: Some("16cpu"), ..none }),
        "recipe mine.toml has no size '16cpu' (did you mean 16vcpu?); it has 16vcpu, 2vcpu"
    );
    assert_eq!(
        refused(&RecipeRun { size: Some("2vcpu"), variant: Some("hot"), ..none }),
        "recipe mine.toml of size 2vcpu has no variant 'hot'; it has none"
    );
    assert!(refused(&RecipeRun { size: Some("2vcpu"), fit: here, ..none }).contains("give one of the two"));
    let rigid = read("mine.toml", &SMALL.replace("[fit]\nrule = \"our rule\"\ngrows", "[settings]\nx = 1\n[steps]\n#"));
    let error = expand(&rigid.unwrap(), &RecipeRun { fit: here, ..none }).unwrap_err().to_string();
    assert!(
        error.contains("no rule to scale its numbers (--fit): choose a size with --size; its sizes are 16vcpu"),
        "{error}"
    );
}

#[test]
fn a_variant_counts_before_its_size() {
    let polar = find("polardb/ro").unwrap();
    let run = |variant| expand(polar, &RecipeRun { size: Some("polar.o.x4.large"), variant, ..RecipeRun::default() });
    let first = run(None).unwrap();
    assert_eq!((first.recipe.variant.as_str(), first.params["range"].as_str()), ("50M", "50000000"));
    let second = run(Some("100M")).unwrap();
    assert_eq!((second.recipe.published[0].value, second.params["scale"].as_str()), (69892.83, "5000"));
    assert_eq!((first.no_vacuum, second.no_vacuum), (false, true));
    assert_eq!(
        run(Some("1B")).unwrap_err().to_string(),
        "recipe polardb/ro of size polar.o.x4.large has no variant '1B'; it has 50M, 100M"
    );
    let fit = Some(Machine { vcpus: 2, memory_bytes: 1 << 30 });
    let fitted = expand(polar, &RecipeRun { fit, ..RecipeRun::default() }).unwrap();
    assert_eq!((fitted.params["scale"].as_str(), fitted.params["range"].as_str()), ("125", "6250000"));
}

#[test]
fn figures_are_the_runs_own_where_it_has_some() {
    let text =
        SMALL.replace("name = \"2vcpu\"", "name = \"2vcpu\"\nvariant = [{ name = \"a\", published = { tps = 7 } }]");
    let run = |text| {
        let recipe = read("mine.toml", text).unwrap();
        let run = expand(&recipe, &RecipeRun { size: Some("2vcpu"), ..RecipeRun::default() }).unwrap();
        (run.recipe.published[0].value, run.recipe.machine)
    };
    assert_eq!(run(&text), (7.0, "2 vCPU, 8 GB".to_owned()));
    assert_eq!(run(SMALL), (5.0, "16 vCPU, 128 GB".to_owned()));
}

#[test]
fn a_machine_may_be_exactly_one_of_the_guide() {
    let size = |vcpus, memory_bytes| small().size_of(Machine { vcpus, memory_bytes }).map(|size| size.name.clone());
    assert_eq!(size(2, 8 << 30).as_deref(), Some("2vcpu"));
    assert_eq!(size(2, 9 << 30), None);
}

#[test]
fn mistakes_are_reported_with_their_place_or_their_remedy() {
    insta::assert_snapshot!(reported("clients = 8", "cleints = 8"), @r"
    mine.toml: TOML parse error at line 6, column 1
      |
    6 | cleints = 8
      | ^^^^^^^
    unknown field `cleints`, expected one of `title`, `workload`, `time`, `ramp`, `mode`, `clients`, `threads`, `loaders`, `cached`, `params`, `settings`, `notes`, `no_vacuum`, `source`, `steps`, `fit`, `size`
    did you mean `clients`?
    ");
    for (from, to, words) in [
        ("time = \"1h\"", "time = 3600", "3600 could be seconds or minutes"),
        ("time = \"1h\"", "time = \"0s\"", "time must be above 0"),
        ("time = \"1h\"\n", "", "time is missing: only tproc-h and tproc-ds end when their work is done"),
        ("clients = 8", "clients = 0", "0 is not a whole number above 0"),
        ("clients = 8", "mode = \"prepard\"", "did you mean `prepared`?"),
        ("clients = 8", "cached = 0.3", "0.3 could be a share or a percentage"),
        ("clients = 8", "clients = 8\n[steps]\nrestrat = true", "did you mean `restart`?"),
        ("memory = \"128GB\"", "memory = 128", "128 of what?"),
        ("published = { tps", "published = { tsp", "did you mean `tps`?"),
        ("name = \"2vcpu\"", "name = \"16vcpu\"", "two sizes are called 16vcpu"),
        ("name = \"2vcpu\"", "name = \"\"", "one of the sizes has an empty name"),
        ("name = \"2vcpu\"", "", "missing field `name`"),
        ("memory = \"8GB\"", "", "scale grows with memory, and size 2vcpu does not say its memory"),
        ("memory = \"8GB\"", "memory = \"0GB\"", "size 2vcpu: memory must be above 0"),
        (
            "clients = \"vcpus\"",
            "clints = \"vcpus\"",
            "'clints' cannot grow: it is not a number of size 16vcpu (did you mean clients?)",
        ),
        ("clients = \"vcpus\"", "clients = \"cpus\"", "clients cannot grow with 'cpus' (did you mean vcpus?)"),
        ("hot = \"scale\"", "hot = \"hot\"", "hot cannot grow with 'hot'"),
        ("hot = 50 }", "hot = 0 }", "'hot' cannot grow: it is not a number of size 2vcpu"),
        ("hot = 50 }", "hot = \"much\" }", "'hot' cannot grow: it is not a number of size 2vcpu"),
    ] {
        let error = reported(from, to);
        assert!(error.contains(words), "{to}: {error}");
    }
    let without = SMALL.split("[[size]]").next().unwrap();
    assert!(read("mine.toml", without).unwrap_err().to_string().contains("it has no size: write [[size]]"));
}

#[test]
fn the_example_of_the_manual_is_a_recipe() {
    let manual = include_str!("../../../../docs/recipes.md");
    let example = manual.split("```toml\n").find(|text| text.starts_with("title")).unwrap();
    let recipe = read("nightly.toml", example.split("```").next().unwrap()).unwrap();
    let run =
        expand(&recipe, &RecipeRun { size: Some("db16"), variant: Some("large"), ..RecipeRun::default() }).unwrap();
    assert_eq!((run.clients, run.params["scale"].as_str(), run.fresh), (Some(64), "4000", true));
    assert!(run.cycle.prewarm && run.from_template.is_none());
    assert!(recipe.no_vacuum && !run.no_vacuum);
}
