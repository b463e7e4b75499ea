//! Stores that lie, and copies that a user has changed.

use std::os::unix::fs::symlink;

use super::{files, home_with_two_runs, mirror, place};

#[test]
fn a_store_that_lies_changes_nothing_outside_of_its_copies() {
    let Some(place) = place("a hostile store") else { return };
    let (target, home) = (place.target(), home_with_two_runs());
    let with = |args: &[&str]| home.run(&[args, &["--store", &target]].concat());
    with(&["store", "push"]).ok();
    std::fs::create_dir_all(home.join("victim/Documents")).unwrap();
    std::fs::write(home.join("victim/Documents/file"), "precious").unwrap();
    std::fs::create_dir_all(home.join("pulled/suites/x")).unwrap();
    std::fs::write(home.join("pulled/suites/x/state.json"), "precious").unwrap();
    let assert_untouched = || {
        assert_eq!(files(&home.join("victim")), [("Documents/file".to_owned(), b"precious".to_vec())]);
        assert_eq!(files(&home.join("pulled/suites")), [("x/state.json".to_owned(), b"precious".to_vec())]);
    };

    // Its identity is a path.
    let id = place.ask("SELECT id FROM pgdyno_results.store");
    place.execute("ALTER TABLE pgdyno_results.store ALTER id TYPE text");
    for path in [home.join("victim").display().to_string(), "../../../victim".to_owned(), "..".to_owned()] {
        place.execute(&format!("UPDATE pgdyno_results.store SET id = '{path}'"));
        with(&["list", "runs"]).ended(1).says(&["which is not a UUID"]);
        assert_untouched();
    }
    place.execute(&format!("UPDATE pgdyno_results.store SET id = '{id}'"));

    // Runs and files have names that lead elsewhere; all digests fit.
    let copy = |run: &str, path: &str| {
        place.execute(&format!(
            "INSERT INTO pgdyno_results.records (run, digest, started_at, clients_began_at, record, line, bytes)
             SELECT '{run}', '', started_at, started_at, record, line, 1 FROM pgdyno_results.records WHERE run = 'a'
             ON CONFLICT DO NOTHING;
             INSERT INTO pgdyno_results.files SELECT '{run}', path, bytes, sha256 FROM pgdyno_results.files
             WHERE run = 'a' AND path = 'run.json' ON CONFLICT DO NOTHING;
             INSERT INTO pgdyno_results.parts SELECT '{run}', path, part, content FROM pgdyno_results.parts
             WHERE run = 'a' AND path = 'run.json' ON CONFLICT DO NOTHING;
             INSERT INTO pgdyno_results.files SELECT '{run}', '{path}', bytes, sha256 FROM pgdyno_results.files
             WHERE run = 'a' AND path = 'intervals.csv';
             INSERT INTO pgdyno_results.parts SELECT '{run}', '{path}', part, content FROM pgdyno_results.parts
             WHERE run = 'a' AND path = 'intervals.csv';
             UPDATE pgdyno_results.records SET digest = encode(sha256(convert_to((SELECT
                 string_agg(sha256 || '  ' || path || E'\\n', '' ORDER BY path COLLATE \"C\")
                 FROM pgdyno_results.files WHERE run = '{run}'), 'UTF8')), 'hex') WHERE run = '{run}'"
        ));
    };
    for run in ["../victim", "..", "a/b", ".ssh", "suites", "ab"] {
        copy(run, "x/state.json");
    }
    let victim = home.join("victim/Documents/file").display().to_string();
    for (run, path) in [("up", "../../../../../victim/Documents/file"), ("root", &*victim), ("page", "report.html")] {
        copy(run, path);
    }
    let listed = with(&["list", "runs"]).ok();
    let names: Vec<_> = listed.stdout.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, ["a", "b", "page", "root", "up"], "{}", listed.stderr);
    for run in ["up", "root", "page"] {
        let refused = with(&["store", "pull", run, "--out", "pulled"]).ended(1);
        refused.says(&[&format!("the list of its files of the run {run} is damaged"), "a run has no file"]);
    }
    for run in ["suites", "../victim"] {
        with(&["store", "pull", run, "--out", "pulled"]).ended(1);
    }
    with(&["store", "pull", "a", "--out", "pulled"]).ok();
    assert_eq!(files(&home.join("pulled/a")), files(&home.join("pgdyno-results/a")));
    assert_untouched();
    assert!(!home.join("pulled/page").exists() && !home.join("pulled/ab").exists());

    // Nor can a study lead elsewhere, or text of the store reach the terminal as it is.
    let content = "convert_to('{}', 'UTF8')";
    place.execute(&format!(
        "INSERT INTO pgdyno_results.studies (study, kind, digest, started_at, status, workload, runs, record, content)
         VALUES ('../../victim/Documents/file', 'search', encode(sha256({content}), 'hex'), now(), E'\\033[2J', '', '{{}}', '{{}}',
                 {content})"
    ));
    with(&["list", "runs"]).ok();
    let listed = with(&["store", "list"]).ok();
    assert!(listed.stdout.contains("\\u{1b}[2J") && !listed.stdout.contains('\u{1b}'), "{}", listed.stdout);
    assert_untouched();
}

#[test]
fn a_copy_that_was_changed_is_fetched_again_and_no_link_is_followed() {
    let Some(place) = place("copies that were changed") else { return };
    let (target, home) = (place.target(), home_with_two_runs());
    let with = |args: &[&str]| home.run(&[args, &["--store", &target]].concat());
    with(&["store", "push"]).ok();
    let compared = with(&["compare", "a", "b"]).ok().stdout;
    let mirror = mirror(&home);
    let pull = |to: &str| {
        with(&["store", "pull", "a", "--out", to]).ok();
        assert_eq!(files(&home.join(to).join("a")), files(&home.join("pgdyno-results/a")), "{to}");
    };

    // Of the same length.
    let intervals = mirror.join("a/intervals.csv");
    let right = std::fs::read_to_string(&intervals).unwrap();
    std::fs::write(&intervals, right.replace("1000", "9000")).unwrap();
    assert_eq!(with(&["compare", "a", "b"]).ok().stdout, compared);
    std::fs::write(&intervals, right.replace("1000", "9000")).unwrap();
    pull("length");
    // A record that was cut, a file that the store does not have, and a run that it does not have.
    std::fs::write(mirror.join("b/run.json"), "{").unwrap();
    std::fs::write(mirror.join("a/executions.csv"), "x").unwrap();
    std::fs::create_dir(mirror.join("c")).unwrap();
    with(&["list", "runs"]).ok().prints(&["a ", "b "]);
    pull("stale");
    assert!(!mirror.join("c").exists() && !mirror.join("a/executions.csv").exists());

    // Links in place of a file and of directories.
    std::fs::create_dir(home.join("victim")).unwrap();
    std::fs::write(home.join("victim/run.json"), "x".repeat(right.len())).unwrap();
    let before = files(&home.join("victim"));
    std::fs::remove_file(&intervals).unwrap();
    symlink(home.join("victim/run.json"), &intervals).unwrap();
    pull("file");
    std::fs::remove_dir_all(mirror.join("b")).unwrap();
    symlink(home.join("victim"), mirror.join("b")).unwrap();
    symlink(home.join("victim"), mirror.join("searches")).unwrap();
    assert_eq!(with(&["compare", "a", "b"]).ok().stdout, compared);
    assert_eq!(files(&home.join("victim")), before);
}
