//! The protocol in virtual time, through everything that may fail: lost, repeated and late messages, agents that come
//! late, crash or start again, dead and competing coordinators, a meeting server that restarts or whose clock is set.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "simulated/world.rs"]
mod world;

use world::{Faults, Outcome, World};

const SCHEDULES: u64 = 3_000;

/// Runs a schedule, and checks what must hold in every one.
fn check(seed: u64, faults: Faults) -> World {
    let mut world = World::new(seed, faults);
    world.run();
    for (nth, coordinator) in world.coordinators.iter().enumerate() {
        assert!(coordinator.is_over() || coordinator.crashed, "seed {seed}: run {nth} hangs: {coordinator:?}");
        if let Some(Outcome::Complete { parts }) = &coordinator.outcome {
            world.check_complete(nth, parts).unwrap_or_else(|why| panic!("seed {seed}: run {nth} was none: {why}"));
        }
    }
    for agent in world.agents.iter().filter(|agent| !agent.crashed) {
        assert!(agent.is_free(), "seed {seed}: an agent is not free again: {agent:?}");
    }
    world
}

#[test]
fn nothing_hangs_and_no_run_is_reported_that_was_not_one() {
    let mut ends = std::collections::BTreeMap::<&str, u64>::new();
    for seed in 0..SCHEDULES {
        let world = check(seed, Faults::any(seed));
        for coordinator in &world.coordinators {
            *ends.entry(coordinator.word()).or_default() += 1;
        }
    }
    // Each kind of end comes up: the schedules are neither all hopeless nor all easy.
    for (word, least) in [("complete", 500), ("failed", 500), ("too few", 100), ("crashed", 100), ("interrupted", 50)] {
        assert!(ends.get(word).is_some_and(|count| *count >= least), "{word}: {ends:?}");
    }
}

#[test]
fn a_run_without_faults_is_complete() {
    for seed in 0..100 {
        let world = check(seed, Faults::none());
        let words: Vec<_> = world.coordinators.iter().map(|coordinator| coordinator.word()).collect();
        assert_eq!(words, ["complete"], "seed {seed}");
    }
}

#[test]
fn stages_without_faults_are_all_done_however_long_the_pauses_between_them() {
    for seed in 0..100 {
        let world = check(seed, Faults { stages: 4, pause_s: 90, ..Faults::none() });
        let words: Vec<_> = world.coordinators.iter().map(|coordinator| coordinator.word()).collect();
        assert_eq!(words, ["complete"], "seed {seed}");
    }
}

#[test]
fn messages_that_are_lost_between_stages_do_no_harm() {
    check_harmless(&Faults { stages: 3, pause_s: 20, loss: 0.2, repeat: 0.2, delay_ms: 900, ..Faults::none() });
}

#[test]
fn an_agent_that_is_lost_between_stages_ends_the_run_and_a_dead_coordinator_frees_its_agents() {
    let mut ends = std::collections::BTreeMap::<&str, u64>::new();
    for seed in 0..500 {
        let faults = Faults { agents: 2, wants_all: true, stages: 3, pause_s: 60, ..Faults::none() };
        let world = check(seed, Faults { crash: 0.4, coordinator_crash: 0.4, ..faults });
        *ends.entry(world.coordinators[0].word()).or_default() += 1;
    }
    for (word, least) in [("complete", 50), ("failed", 50), ("crashed", 50)] {
        assert!(ends.get(word).is_some_and(|count| *count >= least), "{word}: {ends:?}");
    }
}

#[test]
fn a_coordinator_that_is_lost_while_it_claims_has_its_agents_no_longer_and_the_next_one_does() {
    let mut ends = std::collections::BTreeMap::<&str, u64>::new();
    for seed in 0..300 {
        // The first run waits for an agent that comes late, and is often gone before; the second one wants all agents.
        let faults = Faults {
            coordinators: 2,
            wants_all: true,
            wait_s: 200,
            late: 0.5,
            coordinator_crash: 0.5,
            ..Faults::none()
        };
        let world = check(seed, faults);
        for coordinator in &world.coordinators {
            assert!(["complete", "crashed"].contains(&coordinator.word()), "seed {seed}: {:?}", world.coordinators);
            *ends.entry(coordinator.word()).or_default() += 1;
        }
    }
    assert!(ends["crashed"] >= 100 && ends["complete"] >= 200, "{ends:?}");
}

#[test]
fn rows_of_others_neither_hang_nor_change_a_run() {
    let mut ends = std::collections::BTreeMap::<&str, u64>::new();
    for seed in 0..500 {
        let faults = Faults { foreign: 0.3, wait_s: 200, stages: 2, ..Faults::none() };
        let world = check(seed, faults);
        *ends.entry(world.coordinators[0].word()).or_default() += 1;
    }
    // An agent that only claims to serve the run may be taken for one of the team: the run says so then.
    assert!(ends["complete"] >= 250, "{ends:?}");
}

/// Runs schedules in which only an order to begin may come too late, and that not often.
fn check_harmless(faults: &Faults) {
    let mut too_late = 0;
    for seed in 0..300 {
        let world = check(seed, faults.clone());
        let end = &world.coordinators[0];
        assert!(end.word() == "complete" || end.why().contains("after its moment"), "seed {seed}: {end:?}");
        too_late += u64::from(end.word() != "complete");
    }
    assert!(too_late < 60, "{too_late} of 300 began too late");
}

#[test]
fn lost_repeated_and_late_messages_do_no_harm() {
    check_harmless(&Faults { loss: 0.3, repeat: 0.2, delay_ms: 900, ..Faults::none() });
}

#[test]
fn a_meeting_server_that_restarts_ends_no_run() {
    check_harmless(&Faults { restarts: 2, ..Faults::none() });
}

#[test]
fn a_run_does_not_begin_while_the_meeting_servers_clock_is_set() {
    let mut noticed = 0;
    for seed in 0..500 {
        let world = check(seed, Faults { clock_steps: 8, ..Faults::none() });
        noticed += u64::from(world.coordinators[0].why().contains("clock was set"));
    }
    assert!(noticed >= 50, "noticed {noticed} of 500 times");
}

#[test]
fn of_two_runs_that_want_all_agents_the_first_has_them_and_then_the_second() {
    for seed in 0..300 {
        let faults = Faults { coordinators: 2, wants_all: true, wait_s: 400, ..Faults::none() };
        let world = check(seed, faults);
        let words: Vec<_> = world.coordinators.iter().map(|coordinator| coordinator.word()).collect();
        assert_eq!(words, ["complete", "complete"], "seed {seed}: {:?}", world.coordinators);
    }
}

#[test]
fn a_hundred_agents_are_one_run() {
    let world = check(1, Faults { agents: 100, wants_all: true, loss: 0.05, ..Faults::none() });
    assert_eq!(world.coordinators[0].word(), "complete");
    // What the meeting server must bear: messages a second of the whole run.
    let rate = world.messages as f64 / (world.now as f64 / 1e9) / 100.0;
    assert!(rate < 10.0, "{rate} messages a second and agent");
}
