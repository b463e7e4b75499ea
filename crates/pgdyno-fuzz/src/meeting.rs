//! Any bytes as the rows of a meeting: agents, orders and batches, in any order, read by a coordinator and an agent.
//!
//! Each line is a row: its table, then its columns, separated by tabs; `\N` is NULL.

use std::sync::Arc;

use pgdyno_measure::{IntervalPart, ListBounds};
use pgdyno_meet::postgres::rows;
use pgdyno_meet::{Action, Agent, AgentId, Coordinator, LocalTime, MeetingEvent, RunId};

/// Time between two rows.
const STEP_NS: u64 = 100_000_000;
/// The longest that a lost agent keeps a coordinator waiting, and a lost coordinator an agent.
const PATIENCE_NS: u64 = 200_000_000_000;

pub(crate) fn run(input: &[u8]) {
    interval(input);
    let text = String::from_utf8_lossy(input);
    let mut coordinator = Coordinator::new(RunId(1), 1, LocalTime(PATIENCE_NS / 4));
    let (mut agent, mut task, mut working) = (Agent::new(AgentId(7)), None, None);
    let mut now = LocalTime(1);
    for line in text.lines() {
        now = now.after(STEP_NS);
        let mut columns = line.split('\t');
        let table = columns.next().unwrap_or_default();
        let row: Vec<_> = columns.map(|column| (column != "\\N").then(|| column.to_owned())).collect();
        match table {
            "agents" => {
                if let Some((shown, report)) = rows::report(&row) {
                    let texts = [&shown.host, &shown.program, &shown.state];
                    assert!(texts.iter().all(|text| !text.chars().any(char::is_control)), "{texts:?}");
                    coordinator.report(now, report, true);
                }
            }
            "batches" => {
                if let Some((agent, number, batch)) = rows::batch(&row) {
                    coordinator.batch(now, agent, number, batch);
                }
            }
            "orders" => {
                if let Some(order) = rows::order(&row, &mut task) {
                    agent.order(now, &order);
                }
            }
            _ => {}
        }
        coordinate(&mut coordinator, now);
        serve(&mut agent, &mut working);
    }
    // Without any more rows, the run ends and the agent is free.
    coordinator.stop(now, true);
    let until = now.after(PATIENCE_NS);
    while now < until {
        now = now.after(10 * STEP_NS);
        coordinator.tick(now);
        coordinate(&mut coordinator, now);
        agent.tick(now);
        serve(&mut agent, &mut working);
    }
    assert_eq!(agent.run(), None, "a lost coordinator keeps no agent");
    assert!(coordinator.is_released(now), "a lost agent keeps no coordinator");
}

/// Does what a coordinator's program does: one job with the agents that it has.
fn coordinate(coordinator: &mut Coordinator, now: LocalTime) {
    while let Some(news) = coordinator.news() {
        match news {
            MeetingEvent::Gathered(members) => {
                let tasks: Vec<Arc<[u8]>> = members.iter().map(|_| Arc::from([1])).collect();
                coordinator.begin(now, &tasks, true, false);
            }
            MeetingEvent::Ended(_) | MeetingEvent::TooFew(_) => coordinator.release(),
            MeetingEvent::Ready | MeetingEvent::Batch { .. } | MeetingEvent::Lost { .. } => {}
        }
    }
    assert!(coordinator.orders().len() <= coordinator.steps().count());
}

/// Does what an agent's program does: a task ends when it is stopped.
fn serve(agent: &mut Agent, working: &mut Option<u32>) {
    while let Some(action) = agent.action() {
        match action {
            Action::Do { nth, .. } => {
                assert!(working.replace(nth).is_none(), "one task at a time");
                agent.ready(nth);
            }
            Action::Stop { nth, .. } => {
                if working.take_if(|task| *task == nth).is_some() {
                    agent.did(nth, Ok(Vec::new()));
                }
            }
            Action::Begin { .. } => {}
            Action::Released => assert!(working.is_none(), "released in a task"),
        }
    }
}

/// Reads a batch's interval.
fn interval(input: &[u8]) {
    let shape = ListBounds { groups: 1, txns: 1, stmts: 1, tallies: 1, threads: 1, clients: 1 };
    if let Ok(part) = IntervalPart::from_bytes(input, &shape) {
        assert_eq!(IntervalPart::from_bytes(&part.to_bytes(), &shape).as_ref(), Ok(&part));
    }
}
