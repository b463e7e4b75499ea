//! Several drivers as one, against scripted servers in virtual time.

use std::cell::RefCell;
use std::ops::Range;

use pgdyno_measure::{GroupInterval, IntervalPart, ListBounds};
use pgdyno_net::Stop;
use pgdyno_workload::{Arrivals, Capabilities, Rate};

use super::*;
use crate::sim::{SimAnswer, Simulation};
use crate::{RunShare, Tick};

const CLIENTS: u32 = 8;
const SECOND_NS: u64 = 1_000_000_000;
const SECONDS: u64 = 5;

/// The reports of one thread, and what its clients sent: client within the thread, time, and text.
struct Thread {
    parts: Vec<IntervalPart>,
    statements: Vec<(usize, u64, String)>,
}

/// Runs the clients of these threads, of all threads of the run. The server takes `service_ns` at a time.
fn threads(
    drive: &Drive,
    spec: &RunSpec,
    own: Range<usize>,
    service_ns: fn(u64) -> u64,
    is_logged: bool,
) -> Vec<Thread> {
    let stop = Stop::new();
    let scripts = RunScripts::new(drive, &Capabilities::default());
    let run = StagedRun { scripts, backend: Backend::None, spec, stop: &stop };
    let stage = StageSpec::new(&drive.stages[0], spec).unwrap();
    own.map(|thread| {
        let sent = RefCell::new(Vec::new());
        let parts = RefCell::new(Vec::new());
        let close = |fleet: &mut Fleet, at: Tick| {
            let index = parts.borrow().len() as u64;
            let phase = if index < SECONDS { Phase::Measure } else { Phase::Drain };
            parts.borrow_mut().push(IntervalPart {
                phase,
                index,
                start_ns: at.0 - SECOND_NS,
                end_ns: at.0,
                groups: vec![GroupInterval {
                    part: fleet.recorder(0).take(),
                    in_flight: fleet.recorder(0).in_flight(),
                }],
                workers: vec![pgdyno_measure::WorkerUsage { user_ns: 7, ..Default::default() }],
            });
        };
        let fleet = run.fleet(&stage, 0, thread, spec.threads).unwrap();
        let mut simulation = Simulation::new(fleet, |request| {
            if is_logged {
                sent.borrow_mut().push((request.client, request.at.0, request.sql.to_owned()));
            }
            SimAnswer::Complete { service_ns: service_ns(request.at.0) }
        })
        .closing(SECOND_NS, close);
        simulation.run(Tick(SECONDS * SECOND_NS));
        // Transactions that were in flight have ended.
        let end = Tick((SECONDS + 1) * SECOND_NS);
        close(simulation.fleet(), end);
        drop(simulation);
        Thread { parts: parts.into_inner(), statements: sent.into_inner() }
    })
    .collect()
}

/// Merges parts of drivers with so many threads each.
fn merged(parts: Vec<Vec<IntervalPart>>) -> String {
    let counts: Vec<_> = parts.iter().map(|parts| parts[0].workers.len()).collect();
    let mut merger = Merger::new(&counts, &[true], StagePlace::default());
    let longest = parts.iter().map(Vec::len).max().unwrap();
    let mut intervals = Vec::new();
    for index in 0..longest {
        for (driver, parts) in parts.iter().enumerate() {
            intervals.extend(parts.get(index).into_iter().flat_map(|part| merger.add(driver, part.clone())));
        }
    }
    intervals.extend(merger.finish());
    format!("{intervals:?} {:?}", merger.phases())
}

/// Returns the intervals of one driver, as it reports them.
fn driver(threads: Vec<Thread>) -> Vec<IntervalPart> {
    let mut merger = Merger::new(&vec![1; threads.len()], &[true], StagePlace::default());
    let mut intervals = Vec::new();
    let mut queues: Vec<_> = threads.into_iter().map(|thread| thread.parts.into_iter()).collect();
    while queues.iter().any(|queue| queue.len() > 0) {
        for (nth, queue) in queues.iter_mut().enumerate() {
            intervals.extend(queue.next().into_iter().flat_map(|part| merger.add(nth, part)));
        }
    }
    intervals.extend(merger.finish());
    intervals.iter().map(IntervalPart::from).collect()
}

#[test]
fn four_drivers_do_what_one_does_and_their_figures_are_the_same_to_the_last_digit() {
    let rate = Rate { per_s: 400.0, arrivals: Arrivals::Poisson };
    for (workload, rate) in [("tproc-c", None), ("tpcb-like", None), ("select-only", Some(rate))] {
        let workload = pgdyno_workloads::registry::build(workload, []).unwrap();
        let drive = &*workload.drive;
        drive.prepare();
        let spec = RunSpec { clients: CLIENTS, threads: 8, rate, seed: 42, ..RunSpec::default() };
        // The time of a request decides, and nothing that depends on the driver.
        let service_ns = |at| 1_000_000 + at % 977_000 * 50;
        let one = threads(drive, &spec, 0..spec.threads, service_ns, true);
        let drivers: Vec<_> = (0..4).map(|driver| RunShare { driver, drivers: 4 }.threads(spec.threads)).collect();
        let several: Vec<_> = drivers.iter().map(|own| threads(drive, &spec, own.clone(), service_ns, true)).collect();

        let logs = |threads: &[Thread]| threads.iter().map(|thread| thread.statements.clone()).collect::<Vec<_>>();
        let log = logs(&one);
        assert!(
            log.iter().all(|statements| statements.len() > 50),
            "{:?}",
            log.iter().map(Vec::len).collect::<Vec<_>>()
        );
        assert_eq!(log, several.iter().flat_map(|threads| logs(threads)).collect::<Vec<_>>());

        let of_one = merged(vec![driver(one)]);
        assert!(of_one.contains("committed"), "{of_one}");
        assert_eq!(of_one, merged(several.into_iter().map(driver).collect()));
    }
}

#[test]
fn a_hundred_drivers_with_a_hundred_thousand_clients_are_one() {
    const DRIVERS: usize = 100;
    let workload = pgdyno_workloads::registry::build("select-only", []).unwrap();
    let spec = RunSpec { clients: 100_000, threads: DRIVERS, ..RunSpec::default() };
    let drive = &*workload.drive;
    let (txns, stmts) = (drive.txns().len(), drive.statements(&Capabilities::default()).len());
    let shape = ListBounds { groups: 1, txns, stmts, tallies: 0, threads: 1, clients: 100_000 };
    let mut merger = Merger::new(&[1; DRIVERS], &[true], StagePlace::default());
    let mut intervals = Vec::new();
    for driver in 0..DRIVERS {
        let own = RunShare { driver, drivers: DRIVERS }.threads(spec.threads);
        let mut threads = threads(&workload.drive, &spec, own, |_| 1_700_000_000, false);
        for part in threads.remove(0).parts {
            let sent = IntervalPart::from_bytes(&part.to_bytes(), &shape).unwrap();
            assert_eq!(sent, part);
            intervals.extend(merger.add(driver, sent));
        }
    }
    assert_eq!(intervals.len() as u64, SECONDS + 1);
    assert!(intervals.iter().all(|interval| interval.workers.len() == DRIVERS));
    // Two transactions of each client end within five seconds, and a third one after them.
    let (measured, drain) = (&merger.phases().measured, &merger.phases().drain);
    assert_eq!((measured.part.all().committed, measured.in_flight_at_end), (200_000, 100_000));
    assert_eq!((drain.part.all().committed, drain.in_flight_at_end), (100_000, 0));
    assert_eq!(pgdyno_measure::broken_identities(measured, &["select-only"]), []);
}
