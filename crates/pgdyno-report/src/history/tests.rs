//! Histories of made-up runs.

use super::*;

/// A run of the fixture that began on a day of November, with this throughput.
fn run(day: usize, tps: f64) -> RunRecord {
    let mut record: RunRecord = serde_json::from_str(include_str!("../../../../fixtures/runs/v1/run.json")).unwrap();
    record.id = format!("2026-{day:03}-tproc-c-{day:04}");
    record.started_at = format!("2026-{:02}-{:02}T03:00:00Z", 1 + day / 28, 1 + day % 28);
    record.warnings.clear();
    let summary = record.summary.as_mut().unwrap();
    (summary.tps, summary.nopm) = (tps, None);
    record
}

/// Runs with about 1 % between them; the level of each is multiplied by what `level` says.
fn runs(n: usize, level: impl Fn(usize) -> f64) -> Vec<RunRecord> {
    let spread = [0.3, -1.1, 0.8, -0.2, 1.2, -0.9, 0.1];
    (0..n).map(|nth| run(nth, 1000.0 * level(nth) * (1.0 + spread[nth % spread.len()] / 100.0))).collect()
}

fn slower_from(at: usize) -> impl Fn(usize) -> f64 {
    move |nth| if nth < at { 1.0 } else { 0.9 }
}

fn found(records: &[RunRecord]) -> Histories {
    histories_of(records, &HistoryOptions::default()).unwrap()
}

fn histories_of(records: &[RunRecord], options: &HistoryOptions) -> Result<Histories, String> {
    histories(&records.iter().collect::<Vec<_>>(), options)
}

fn rendered(histories: &Histories, format: &str) -> String {
    let mut out = Vec::new();
    let (_, render) = FORMATS.iter().find(|(name, _)| *name == format).unwrap();
    render(histories, TextStyle::default(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn the_answer_comes_first_with_what_changed_there() {
    let mut records = runs(30, slower_from(20));
    for (nth, record) in records.iter_mut().enumerate() {
        record.labels.insert("commit".to_owned(), format!("c{nth:02}"));
        record.server.as_mut().unwrap().version = if nth < 20 { "18.0" } else { "18.1" }.to_owned();
    }
    let histories = found(&records);
    assert_eq!((histories.verdict(), histories.series[0].decisive), (HistoryVerdict::Slower, Some(0)));
    let text = rendered(&histories, "text");
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[2].starts_with("slower by 10."), "{text}");
    assert!(lines[2].ends_with("since commit c20, 9 runs ago"), "{text}");
    for part in ["between commit c19 and commit c20", "changed there: PostgreSQL 18.0 → 18.1", "-10."] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{text}");
    assert!(lines.len() <= 40, "{text}");
    let json: serde_json::Value = serde_json::from_str(&rendered(&histories, "json")).unwrap();
    let change = &json["series"][0]["changes"][0];
    assert_eq!((&json["verdict"], &change["at"], &change["is"]), (&"slower".into(), &20.into(), &"slower".into()));
    assert_eq!(change["after"], records[20].id);
    let csv = rendered(&histories, "csv");
    let columns: Vec<_> = csv.lines().map(|line| line.matches(',').count()).collect();
    // The name of the series is quoted, and has commas of its own.
    assert_eq!(csv.lines().count(), 31);
    assert!(columns[1..].iter().all(|n| *n == columns[1]), "{csv}");
    assert!(csv.lines().nth(21).unwrap().contains(",-10."), "{csv}");
}

/// Returns what the histories of runs that are slower from the twentieth on say of that change, after `edit` of each run.
fn reported(edit: impl Fn(usize, &mut RunRecord)) -> Vec<String> {
    let mut records = runs(30, slower_from(20));
    for (nth, record) in records.iter_mut().enumerate() {
        record.labels.insert("commit".to_owned(), format!("c{nth:02}"));
        // Noise: it changes with every run.
        set(record, "wal_segment_size", &format!("{}MB", 16 << (nth % 5)));
        record.labels.insert("host".to_owned(), format!("h{}", nth % 2));
        edit(nth, record);
    }
    let histories = found(&records);
    let [change] = histories.series[0].changes.as_slice() else { panic!("{:?}", histories.series[0].changes) };
    change_lines(&histories.series[0], change, 0.95).split_off(1)
}

fn set(record: &mut RunRecord, name: &str, value: &str) {
    let server = record.server.as_mut().unwrap();
    server.settings.insert(name.to_owned(), value.to_owned());
    server.settings_changed.insert(name.to_owned(), value.to_owned());
}

#[test]
fn a_change_names_what_changed_with_it_and_nothing_that_comes_and_goes() {
    assert_eq!(reported(|_, _| ()), ["nothing else recorded changed"]);
    let old_or_new = |nth: usize, old: &'static str, new: &'static str| if nth < 20 { old } else { new };
    let all = reported(|nth, record| {
        set(record, "work_mem", old_or_new(nth, "4MB", "64MB"));
        record.server.as_mut().unwrap().version =
            format!("PostgreSQL {} on x86_64", old_or_new(nth, "18.0", "18.1 (Debian)"));
        record.pgdyno_version = old_or_new(nth, "0.2.0", "0.3.0").to_owned();
        // These follow from the two versions.
        let server = record.server.as_mut().unwrap();
        server.origin = old_or_new(nth, "PATH", "a download").to_owned();
        server.synchronous_standbys = (nth >= 20).then_some(0);
        record.client.cpus = if nth < 20 { 4 } else { 8 };
    });
    assert_eq!(
        all,
        ["changed there: PostgreSQL 18.0 → 18.1; work_mem 4MB → 64MB; driver's CPUs 4 → 8; pgdyno 0.2.0 → 0.3.0"]
    );
    // Ten runs before, or back to what it was, or seen before, or noise until then.
    for value in [
        |nth: usize| if nth < 10 { "4MB" } else { "64MB" },
        |nth: usize| if (20..26).contains(&nth) { "64MB" } else { "4MB" },
        |nth: usize| if nth == 14 || nth >= 20 { "64MB" } else { "4MB" },
        |nth: usize| if nth >= 20 { "64MB" } else { ["4MB", "5MB"][nth % 2] },
    ] {
        assert_eq!(reported(|nth, record| set(record, "work_mem", value(nth))), ["nothing else recorded changed"]);
    }
    // The place of the change has the commits already.
    let commits = reported(|nth, record| {
        record.labels.insert("commit".to_owned(), old_or_new(nth, "a", "b").to_owned());
    });
    assert_eq!(commits, ["nothing else recorded changed"]);
    // A label that appears there for the first time.
    let first = reported(|nth, record| {
        if nth >= 20 {
            record.labels.insert("kernel".to_owned(), "6.18".to_owned());
        }
    });
    assert_eq!(first, ["changed there: label kernel - → 6.18"]);
}

#[test]
fn a_fact_that_changed_where_the_level_may_have_is_named_with_its_run() {
    let lines = reported(|nth, record| {
        if nth == 20 {
            // Like neither level.
            record.summary.as_mut().unwrap().tps = 952.0;
        }
        set(record, "work_mem", if nth < 20 { "4MB" } else { "64MB" });
    });
    assert_eq!(lines, ["changed there: work_mem 4MB → 64MB (from commit c20)"]);
}

#[test]
fn a_change_names_the_part_of_the_clients_time_that_grew() {
    let lines = reported(|nth, record| {
        let wal = if nth < 20 { 0.1 } else { 0.6 };
        let part = |(name, share): (&str, f64)| pgdyno_results::TimePartRecord { name: name.to_owned(), share };
        record.clients_time = [("WAL flush", wal), ("CPU", 1.0 - wal)].map(part).into();
    });
    assert_eq!(lines[1], "of the clients' time, WAL flush grew from 10 % to 60 %");
    assert_eq!(lines[0], "nothing else recorded changed");
}

#[test]
fn markdown_and_json_have_what_changed_and_escape_it() {
    let mut records = runs(30, slower_from(20));
    for (nth, record) in records.iter_mut().enumerate() {
        set(record, "work_mem", if nth < 20 { "4MB" } else { "<b>|x" });
    }
    let histories = found(&records);
    let markdown = rendered(&histories, "markdown");
    assert!(markdown.starts_with("### ") && markdown.contains("**slower by 10."), "{markdown}");
    assert!(markdown.contains("\n  - changed there: work_mem 4MB → &lt;b&gt;\\|x\n"), "{markdown}");
    let json: serde_json::Value = serde_json::from_str(&rendered(&histories, "json")).unwrap();
    let changed = serde_json::json!([
        { "group": "setting", "name": "work_mem", "before": "4MB", "after": "<b>|x", "at": 20 }
    ]);
    assert_eq!(json["series"][0]["changes"][0]["changed"], changed);
}

#[test]
fn a_change_is_between_two_commits_where_it_may_be() {
    let found_at = |slower_at: usize, loud: &[usize]| {
        let mut records = runs(30, slower_from(slower_at));
        for (nth, record) in records.iter_mut().enumerate() {
            record.labels.insert("commit".to_owned(), format!("c{:02}", nth / 3));
            if loud.contains(&nth) {
                record.summary.as_mut().unwrap().tps = 952.0;
            }
        }
        found(&records)
    };
    // The first run of the commit looks like neither level.
    let moved = found_at(18, &[18]);
    let [change] = moved.series[0].changes.as_slice() else { panic!("{:?}", moved.series[0].changes) };
    assert!(change.at == 18 && change.places.0 <= 18 && change.places.1 >= 19, "{change:?}");
    assert!(moved.series[0].runs[17].level > 1.05 * moved.series[0].runs[18].level);
    // One that can only be within a commit stays, and is said to be.
    let within = found_at(19, &[]);
    assert_eq!(within.series[0].changes[0].at, 19);
    assert!(rendered(&within, "text").contains("between two runs of commit c06, so not by it"));
}

#[test]
fn a_slowdown_counts_while_it_is_recent_and_nothing_made_it_good() {
    let verdict = |level: &dyn Fn(usize) -> f64| found(&runs(60, level)).series[0].verdict;
    assert_eq!(verdict(&slower_from(45)), HistoryVerdict::Slower);
    assert_eq!(verdict(&slower_from(20)), HistoryVerdict::NoChange, "forty runs ago");
    assert_eq!(verdict(&|nth| if nth < 45 { 1.0 } else { 1.1 }), HistoryVerdict::Faster);
    assert_eq!(verdict(&|nth| if (42..52).contains(&nth) { 0.9 } else { 1.0 }), HistoryVerdict::Faster, "made good");
    assert_eq!(
        verdict(&|nth| if (42..52).contains(&nth) { 0.8 } else { slower_from(42)(nth) }),
        HistoryVerdict::Slower
    );
    let margin = HistoryOptions { margin: 0.2, ..HistoryOptions::default() };
    assert_eq!(histories_of(&runs(60, slower_from(45)), &margin).unwrap().verdict(), HistoryVerdict::NoChange);
    let recent = HistoryOptions { within: 5, ..HistoryOptions::default() };
    assert_eq!(histories_of(&runs(60, slower_from(45)), &recent).unwrap().verdict(), HistoryVerdict::NoChange);
}

#[test]
fn of_latencies_more_is_slower() {
    let mut records = runs(30, |_| 1.0);
    for (nth, record) in records.iter_mut().enumerate() {
        let latency = record.summary.as_mut().unwrap().response_latency_ns.as_mut().unwrap();
        latency.p99 = (5e6 * slower_from(15)(nth).recip()) as u64 + 10_000 * (nth as u64 % 7);
    }
    let options = HistoryOptions { metric: Some("p99".to_owned()), ..HistoryOptions::default() };
    let histories = histories_of(&records, &options).unwrap();
    assert_eq!(histories.verdict(), HistoryVerdict::Slower);
    let answer = headline(&histories.series[0], 0.95);
    assert!(answer.starts_with("slower by 11.") || answer.starts_with("slower by 10."), "{answer}");
}

#[test]
fn runs_are_one_series_if_they_did_the_same_work_on_the_same_target() {
    let mut records = runs(21, |_| 1.0);
    for (nth, record) in records.iter_mut().enumerate() {
        record.plan.target = ["embedded", "embedded:17", "host=db1"][nth % 3].into();
        record.server.as_mut().unwrap().settings.insert("shared_buffers".to_owned(), format!("{nth}MB"));
    }
    let histories = found(&records);
    let names: Vec<_> = histories.series.iter().map(|h| (h.name.rsplit(", ").next().unwrap(), h.runs.len())).collect();
    assert_eq!(names, [("on host=db1", 7), ("on a private server", 14)]);
    records[0].plan.drive.clients += 1;
    assert_eq!(found(&records).series.len(), 3);
    // What titles do not have distinguishes series.
    let mut records = runs(4, |_| 1.0);
    records[3].plan.drive.mode = pgdyno_plan::QueryMode::Simple;
    let histories = found(&records);
    assert!(histories.series[0].name.contains("simple"), "{}", histories.series[0].name);
}

#[test]
fn settings_that_a_user_chose_make_a_series_of_their_own() {
    let mut records = runs(9, |_| 1.0);
    for record in &mut records[3..6] {
        record.server.as_mut().unwrap().settings.insert("synchronous_commit".to_owned(), "off".to_owned());
    }
    for record in &mut records[6..] {
        record.plan.settings.insert("work_mem".to_owned(), "64MB".to_owned());
    }
    let histories = found(&records);
    let names: Vec<_> = histories.series.iter().map(|h| h.name.as_str()).collect();
    let whole = names[2];
    assert_eq!(names[..2], [format!("{whole}, work_mem 64MB"), format!("{whole}, synchronous_commit off")]);
}

#[test]
fn runs_that_do_not_count_are_left_out_and_counted() {
    let mut records = runs(10, |_| 1.0);
    records[1].status = pgdyno_results::Status::Interrupted;
    let summary = records[2].summary.as_mut().unwrap();
    (summary.committed, summary.rolled_back) = (0, 0);
    records[3].plan.suite =
        Some(pgdyno_plan::SuitePlan { suite: "ab".to_owned(), ..pgdyno_plan::SuitePlan::default() });
    let histories = found(&records);
    assert_eq!(histories.series[0].runs.len(), 7);
    let line = left_out(&histories).unwrap();
    assert_eq!(line, "3 runs (1 interrupted, 1 not usable, 1 of A/B experiments)");
    let slices = HistoryOptions { slices: true, ..HistoryOptions::default() };
    assert_eq!(histories_of(&records, &slices).unwrap().series[0].runs.len(), 8);
}

#[test]
fn too_few_runs_say_so() {
    let histories = found(&runs(4, |_| 1.0));
    assert_eq!(histories.verdict(), HistoryVerdict::Undecided);
    let text = rendered(&histories, "text");
    assert!(text.contains("cannot tell: 6 comparable runs are the minimum, 2 more needed"), "{text}");
    assert!(rendered(&found(&[]), "text").contains("no run has a place in a history"));
    let missing = histories_of(
        &runs(4, |_| 1.0),
        &HistoryOptions { metric: Some("nopm".to_owned()), ..HistoryOptions::default() },
    );
    assert!(missing.unwrap_err().contains("no metric 'nopm'"));
}

#[test]
fn a_drift_is_reported_and_is_no_verdict() {
    let histories = found(&runs(60, |nth| 1.0 - 0.004 * nth as f64));
    assert_eq!((histories.verdict(), histories.series[0].drifts.len()), (HistoryVerdict::NoChange, 1));
    let text = rendered(&histories, "text");
    assert!(text.lines().nth(2).unwrap().starts_with("a slow drift of -2"), "{text}");
}

#[test]
fn the_run_before_is_of_the_same_series() {
    let mut records = runs(3, |_| 1000.0);
    records[1].plan.drive.clients += 1;
    let ids: Vec<_> = records.iter().map(|record| record.id.clone()).collect();
    let records: Vec<&RunRecord> = records.iter().collect();
    assert_eq!(before(&records, &ids[2]).as_ref(), Some(&ids[0]));
    assert_eq!([&ids[0], &ids[1], &"other".to_owned()].map(|id| before(&records, id)), [None, None, None]);
}
