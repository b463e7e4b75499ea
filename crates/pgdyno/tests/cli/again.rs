//! Runs that are made again from their records.

use crate::own::write;
use crate::program::{Home, Run};

/// The newest run.
fn newest(home: &Home) -> Run {
    home.runs().pop().unwrap()
}

/// The plan of a run as it is stored.
fn plan(run: &Run) -> serde_json::Value {
    run.at("/plan").clone()
}

#[test]
fn scripts_that_are_gone_run_again_with_the_same_random_choices() {
    let home = Home::new();
    // Too large for the record.
    let large = format!("-- {}\n\\set id random(1, 1000)\nSELECT :id;\n", "x".repeat(70_000));
    let small = "\\set id random(1, :range)\nSELECT :id;\nSELECT :id;\n";
    write(&home, "s", &[("large.sql", &large), ("small.sql", small)]);
    let run = ["s/large.sql@1", "s/small.sql@3", "-D", "range=9", "-c", "3", "-t", "50", "-M", "simple"];
    home.run(&[&["run", "--target", "null", "-q", "--max-tries", "2", "-L", "100"], &run[..]].concat()).ok();
    let first = newest(&home);
    assert_eq!(first.text("/plan/inputs/1/text"), small);
    assert!(first.at("/plan/inputs/0").get("text").is_none());
    std::fs::remove_dir_all(home.join("s")).unwrap();

    home.run(&["plan", "--again", first.text("/id")])
        .ok()
        .prints(&[&format!("plan {} ", first.text("/plan_hash")), "range = 9"]);
    home.run(&["run", "--again", first.text("/id"), "-q"]).ok();
    let second = newest(&home);
    assert_ne!(first.text("/id"), second.text("/id"));
    assert_eq!(plan(&first), plan(&second));
    assert_eq!(first.at("/transactions/0/committed"), second.at("/transactions/0/committed"), "the same choices");

    // The repetition is a run like any other, and can be repeated.
    std::fs::remove_dir_all(home.join("pgdyno-results").join(first.text("/id"))).unwrap();
    home.run(&["run", "--again", second.text("/id"), "-q", "--random-seed", "5"]).ok();
    let third = newest(&home);
    assert_eq!(third.number("/plan/seed"), 5.0);
    assert_eq!(second.text("/plan_hash"), third.text("/plan_hash"));
}

#[test]
fn a_built_in_workload_and_a_recipe_run_again_with_their_parameters() {
    let home = Home::new();
    home.run(&["run", "tproc-c", "-w", "3", "--partitions", "2", "--target", "null", "-c", "2", "-t", "5", "-q"]).ok();
    let first = newest(&home);
    home.run(&["run", "--again", first.text("/id"), "-q"]).ok();
    assert_eq!(plan(&first), plan(&newest(&home)));

    let recipe = ["run", "citus/tproc-c-250", "--size", "c4+2w8", "--target", "null", "-c", "2", "-t", "5", "-q"];
    home.run(&recipe).ok();
    let first = newest(&home);
    home.run(&["run", "--again", first.text("/id"), "-q"]).ok();
    let second = newest(&home);
    assert_eq!(plan(&first), plan(&second));
    assert_eq!(second.text("/plan/recipe/name"), "citus/tproc-c-250");
    assert!(second.at("/plan/recipe/departures").to_string().contains("clients 2"));
}

#[test]
fn what_cannot_be_beside_it_and_what_a_record_lacks_is_said() {
    let home = Home::new();
    write(&home, "s", &[("a.sql", "SELECT 1;\n")]);
    home.run(&["run", "s/a.sql", "--target", "null", "-t", "5", "-q"]).ok();
    let run = newest(&home);
    let id = run.text("/id");
    home.run(&["run", "--again", id, "-c", "3"]).ended(1).says(&["--again runs a plan as it is stored"]);
    home.run(&["run", "noop", "--again", id]).ended(1).says(&["it can only be combined with --target"]);
    home.run(&["run", "--again", "nobody"]).ended(1).says(&["nobody"]);
    home.run(&["search", "--again", id, "--slo", "p99 < 1s"]).ended(1).says(&["--again is for one"]);

    // As 0.1.0 wrote it.
    let path = home.join("pgdyno-results").join(id).join("run.json");
    let mut record: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    record["plan"].as_object_mut().unwrap().remove("inputs");
    std::fs::write(&path, record.to_string()).unwrap();
    std::fs::remove_dir_all(home.join("s")).unwrap();
    home.run(&["report", id]).ok();
    home.run(&["run", "--again", id]).ended(1).says(&["the record lacks the text of s/a.sql", "pgdyno run ./mine.sql"]);
}
