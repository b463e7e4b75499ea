use super::*;
use crate::RunRecord;

fn signs() -> Vec<Sign> {
    vec![
        Sign::BusyThread { share: 0.95 },
        Sign::UnreadReplies { share: 0.06 },
        Sign::LateReads { delay_ns_p99: 1_100_000, share: 0.11 },
        Sign::LateArrivals { delay_ns_p99: 1_200_000, share: 0.12 },
    ]
}

/// Returns a warning of each kind, those about the driver with one and with several of them.
fn all() -> Vec<Warning> {
    let one = Some(Drivers { first: "driver 2 on b".to_owned(), number: 1, of: 3 });
    let several = Some(Drivers { first: "driver 1 on a".to_owned(), number: 2, of: 3 });
    let text = str::to_owned;
    vec![
        Warning::NothingEnded {
            stalled_s: 4.0,
            share: 0.5,
            from_s: 2.0,
            in_flight_max: 4,
            failed: 0,
            disconnected_max: 0,
            with_fault: false,
        },
        Warning::NothingEnded {
            stalled_s: 4.0,
            share: 0.5,
            from_s: 2.0,
            in_flight_max: 1,
            failed: 1_200,
            disconnected_max: 3,
            with_fault: true,
        },
        Warning::ThroughputStalled { stalled_s: 4.0, share: 0.5, from_s: 2.0 },
        Warning::DriverShortOfCpu {
            drivers: None,
            is_most: false,
            waited_share: 0.004,
            busy_share: 0.2,
            signs: signs(),
        },
        Warning::DriverShortOfCpu {
            drivers: several.clone(),
            is_most: true,
            waited_share: 0.6,
            busy_share: 0.2,
            signs: Vec::new(),
        },
        Warning::DriverBottleneck { drivers: None, signs: signs() },
        Warning::DriverBottleneck { drivers: one, signs: signs()[..1].to_vec() },
        Warning::RepliesLeftUnread { drivers: several.clone(), coalesce_us: 50.0, signs: signs()[1..2].to_vec() },
        Warning::SlowClock { drivers: None, clocksource: text("hpet"), read_ns: 812.4 },
        Warning::SlowClock { drivers: several, clocksource: text("hpet"), read_ns: 812.4 },
        Warning::RateMissed { group: None, reached_share: 0.74, rate_per_s: 500.0, with_fault: false },
        Warning::RateMissed { group: None, reached_share: 0.24, rate_per_s: 500.0, with_fault: true },
        Warning::RateMissed {
            group: Some(GroupOfStage { group: text("readers"), stage: text("day") }),
            reached_share: 0.74,
            rate_per_s: 500.0,
            with_fault: false,
        },
        Warning::ShortWindow { window_s: 5.0 },
        Warning::NotSettled { ramp_s: 40.0 },
        Warning::Drifts,
        Warning::LevelChanged { at_s: 20.0, tps_before: 1000.0, tps_after: 500.0 },
        Warning::UnsafeSetting { name: text("fsync") },
        Warning::ClientsLost { lost: 1, clients: 8 },
        Warning::ClientsAborted { aborted: 2, clients: 8 },
        Warning::TransactionError { sqlstate: text("42501"), advice: text("grant the right") },
        Warning::OtherPrograms { machine: text("this machine"), used_cpus: 0.81, cpus: 16.0 },
        Warning::CpuSteal { machine: text("the server's machine"), share: 0.025 },
        Warning::StageNotWhole {
            stage: text("power"),
            undone: vec![text("q2")],
            figures: vec![text("mean"), text("hour")],
        },
        Warning::RuleBroken { rule: text("5.2.5.6"), wanted: text("at most 5 s"), found: text("7 s") },
        Warning::UnevenNodes { skew: 1.5, unit: text("warehouses") },
        Warning::NotDelegated { why: text("no MX") },
        Warning::LowFidelity {
            time_percent: 62.5,
            scripts: vec![text("01-select-orders.sql"), text("04-update-t.sql")],
        },
        Warning::LowFidelity { time_percent: 62.5, scripts: Vec::new() },
        Warning::VacuumRan { share: 0.4, workers_max: 2, autovacuum_max_workers: Some(text("3")) },
        Warning::NoCheckpoint {
            window_s: 570.0,
            checkpoint_timeout_s: 300.0,
            max_wal_size: Some(text("1GB")),
            wal_bytes: 1e8,
            measured_s: 30.0,
        },
        Warning::FaultWithoutEffect { fault: text("./failover.sh"), at_s: 20.0 },
        Warning::FaultFailed {
            fault: text("./failover.sh"),
            at_s: 20.0,
            why: text("its program failed (exit status: 3)"),
        },
        Warning::TpmLeftOut { by_server: 10, sent: 12_000 },
        Warning::NotDiagnosed { why: text("no such file") },
        Warning::note("left out: marks"),
    ]
}

#[test]
fn every_warning_has_its_text_its_severity_and_its_remedy() {
    let line = |warning: Warning| {
        let remedy = warning.remedy().map_or_else(String::new, |remedy| format!("\n    → {remedy}"));
        format!("{:?}: {warning}{remedy}", warning.severity())
    };
    insta::assert_snapshot!(all().into_iter().map(line).collect::<Vec<_>>().join("\n"));
}

#[test]
fn a_record_keeps_the_figures_of_its_warnings_and_has_their_texts() {
    let mut record: RunRecord = serde_json::from_str(include_str!("../../../../fixtures/runs/v1/run.json")).unwrap();
    record.warnings = all().into();
    let written = serde_json::to_value(&record).unwrap();
    assert_eq!(written["warnings"].as_array().map(Vec::len), written["warning_details"].as_array().map(Vec::len));
    assert_eq!(written["warnings"][15], "throughput drifts over the window (longer --ramp or -T)");
    assert_eq!(written["warning_details"][15]["kind"], "drifts");
    assert_eq!(written["warning_details"][0]["stalled_s"], 4.0);
    assert_eq!(serde_json::from_value::<RunRecord>(written).unwrap(), record);
}

#[test]
fn texts_alone_are_notes() {
    let mut written: serde_json::Value =
        serde_json::from_str(include_str!("../../../../fixtures/runs/v1/run.json")).unwrap();
    written["warnings"] = serde_json::json!(["one", "two"]);
    let read = |value| serde_json::from_value::<RunRecord>(value).unwrap().warnings;
    assert_eq!(*read(written.clone()), [Warning::note("one"), Warning::note("two")]);
    // A program that knows only the texts has added one: the texts count.
    written["warning_details"] = serde_json::json!([{ "severity": "unsettled", "kind": "drifts" }]);
    assert_eq!(*read(written), [Warning::note("one"), Warning::note("two")]);
}
