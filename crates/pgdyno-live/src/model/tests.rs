//! Tests of the model's data from intervals and frames.

use pgdyno_life::events::RunEvent;
use pgdyno_measure::Phase;

use super::example::{begun, frame, measuring, second};
use super::machines::{Use, machines};
use super::waits::waits;

#[test]
fn a_run_goes_through_its_stages() {
    let mut model = begun();
    model.connecting(3);
    let stage = model.stage(0.5);
    assert_eq!(
        (stage.name, stage.far.as_str(), stage.share),
        ("connecting", "3 of 16 clients connected", Some(3.0 / 16.0))
    );
    model.connecting(16);
    assert_eq!(model.stage(1.0).name, "starting");

    model.interval(2.0, &second(0, Phase::Ramp, 10));
    let stage = model.stage(2.5);
    assert_eq!((stage.name, stage.far.as_str()), ("warming up", "1 s of 3 s, 2 s left"));
    // Phases change by the clock: the interval of the new phase arrives a second later.
    let stage = model.stage(9.0);
    assert_eq!((stage.name, stage.far.as_str()), ("measuring", "5 s of 30 s, 25 s left"));
    assert!((stage.share.unwrap() - 8.0 / 33.0).abs() < 1e-9);
    assert_eq!((model.stage(40.0).name, model.stage(40.0).share), ("ending", Some(1.0)));
    model.event(0.0, &RunEvent::Ending { text: "ending" });
    assert!(model.stage(9.0).far.contains("press Ctrl-C again"));
}

#[test]
fn a_number_of_transactions_is_the_end_where_there_is_no_time() {
    let mut model = begun();
    (model.facts.time_s, model.facts.ramp_s, model.facts.transactions) = (None, 0.0, Some(80));
    model.interval(1.0, &second(0, Phase::Measure, 10));
    let stage = model.stage(1.5);
    assert_eq!((stage.far.as_str(), stage.share), ("20 transactions done", Some(0.25)));
}

#[test]
fn the_window_begins_anew_after_the_warm_up_and_the_drain_is_no_part_of_it() {
    let mut model = begun();
    for (nth, (phase, committed)) in
        [(Phase::Ramp, 100), (Phase::Measure, 10), (Phase::Measure, 30), (Phase::Drain, 7)].into_iter().enumerate()
    {
        model.interval(nth as f64, &second(nth as u64, phase, committed));
    }
    let totals = &model.totals;
    assert_eq!((totals.whole.tps, totals.now.as_ref().unwrap().tps, totals.ended()), (40.0, 60.0, 80));
    assert_eq!(totals.kinds.iter().map(|kind| kind.tps).collect::<Vec<_>>(), [20.0, 20.0]);
    assert_eq!(totals.whole.latency.unwrap().count, 80);
    assert_eq!(model.series.columns(80).points.len(), 3);
    assert_eq!(totals.troubles(), [("failed".to_owned(), 0)]);
}

#[test]
fn waits_are_sessions_on_average_over_all_looks() {
    let mut model = begun();
    assert_eq!(waits(&model.frames), None);
    let columns = &["backend_type", "wait_event_type", "wait_event", "samples", "looks"];
    let row: &[&[&str]] =
        &[&["client backend", "IO", "DataFileRead", "30", "10"], &["walwriter", "IO", "DataFileRead", "10", "10"]];
    model.sampled(1.0, &frame("waits", columns, row));
    // A second without active sessions counts, too.
    model.sampled(2.0, &frame("waits", columns, &[]));
    let found = waits(&model.frames).unwrap();
    assert_eq!(
        found.iter().map(|wait| (wait.event.as_str(), wait.sessions)).collect::<Vec<_>>(),
        [("DataFileRead", 2.0)]
    );
    for second in 3..9 {
        model.sampled(f64::from(second), &frame("waits", columns, &[]));
    }
    assert_eq!(waits(&model.frames), Some(Vec::new()), "what was long ago is not shown");
}

#[test]
fn processors_are_the_server_the_driver_and_the_rest() {
    let model = measuring();
    let found = machines(&model.frames);
    let cpus = |by| found[0].shares.iter().find(|share| share.by == by).unwrap().cpus;
    assert!((cpus(Use::Server) - 3.03).abs() < 1e-9 && cpus(Use::Driver) == 0.61 && cpus(Use::Other) == 0.35);
    assert!((cpus(Use::Idle) - 3.9).abs() < 1e-9, "the machine's own count has more than the processes: {found:?}");
    assert_eq!(found[0].kinds[0].0, "client backend");

    let mut remote = begun();
    let columns = &["cpus", "busy_cpus", "user_cpus", "system_cpus", "iowait_cpus", "steal_cpus"];
    remote.sampled(1.0, &frame("machine", columns, &[&["16", "6", "4", "2", "1", "0.5"]]));
    remote.sampled(1.0, &frame("driver_machine", columns, &[&["4", "1", "0.8", "0.2", "0", "0"]]));
    let found = machines(&remote.frames);
    assert_eq!(found.iter().map(|machine| machine.name).collect::<Vec<_>>(), ["server's machine", "driver's machine"]);
    let cpus: Vec<_> = found[0].shares.iter().map(|share| (share.name.as_str(), share.cpus)).collect();
    assert_eq!(cpus, [("programs", 4.0), ("kernel", 2.0), ("waiting", 1.5), ("idle", 8.5)]);
}

#[test]
fn the_server_is_reported_in_lines() {
    let model = measuring();
    let facts: Vec<_> = model.server().into_iter().map(|fact| (fact.name, fact.text)).collect();
    let text = |name: &str| facts.iter().find(|(known, _)| *known == name).map(|(_, text)| text.as_str());
    assert_eq!(text("WAL"), Some("17.2 MiB/s, 7.8 % full pages"));
    assert_eq!(text("checkpoint"), Some("1,200 buffers/s, 1 ended"));
    assert_eq!(text("vacuum"), Some("stock scanning heap 45 %"));
    assert_eq!(text("locks"), Some("3 wait ≤ 0.8 s: transactionid"));
    assert_eq!(text("cache"), Some("99.2 % of blocks hit, 400.0 read/s"));
    assert_eq!(text("disk"), Some("45 % busy, writes 39.1 MiB/s, reads 3.1 MiB/s"));
    assert_eq!((text("temporary"), text("standby")), (None, None));
}

#[test]
fn every_panel_reads_the_catalogue() {
    let mut model = begun();
    for at_s in [1.0_f64, 2.0] {
        for source in pgdyno_samples::SOURCES {
            let number = format!("{}", 10.0 * at_s);
            let cells: Vec<&str> =
                source.columns.iter().map(|column| column.unit().map_or("word", |_| number.as_str())).collect();
            model.sampled(at_s, &frame(source.name, source.names, &[cells.as_slice()]));
        }
    }
    let facts: Vec<_> = model.server().into_iter().map(|fact| fact.name).collect();
    assert_eq!(facts, ["WAL", "checkpoint", "vacuum", "locks", "cache", "disk", "temporary", "standby"]);
    let wait = &waits(&model.frames).unwrap()[0];
    assert_eq!((wait.kind.as_str(), wait.event.as_str(), wait.sessions), ("word", "word", 1.0));
    let shown = machines(&model.frames);
    assert_eq!((shown[0].cpus, shown[0].kinds.len(), shown[1].cpus), (Some(20.0), 1, Some(20.0)));
}

#[test]
fn what_has_not_been_seen_for_a_while_is_over() {
    let mut model = measuring();
    model.sampled(20.0, &frame("database", &["blks_hit", "blks_read"], &[&["900000", "9000"]]));
    let names: Vec<_> = model.server().into_iter().map(|fact| fact.name).collect();
    assert!(!names.contains(&"vacuum") && !names.contains(&"locks"), "{names:?}");
}
