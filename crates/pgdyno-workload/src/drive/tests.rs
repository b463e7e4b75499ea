use pgdyno_wire::StmtId;

use super::*;
use crate::{
    Batch, Begin, ClientScript, Next, Program, Reply, ScriptStatement, Statements, TxnFigures, TxnId, Verdict,
};

/// Sends nothing.
struct Idle;

impl ClientScript for Idle {
    fn begin(&mut self) -> Option<Begin> {
        Some(Begin::now(TxnId(0)))
    }

    fn step(&mut self, _: Reply<'_>, _: &mut Batch<'_>) -> Next {
        Next::Finish(Verdict::Committed)
    }

    fn restart(&mut self) {}
}

/// Returns scripts with one transaction of this name, a tally, and a rule. They have another statement on servers that
/// distribute tables.
fn scripts(name: &'static str) -> Scripts {
    let program = move |caps: &Capabilities| {
        let mut statements = Statements::new();
        if caps.distributed_tables {
            statements.add(Statement::new("begin", &[]));
        }
        let select = statements.add(ScriptStatement::of(TxnId(0), Statement::new(format!("select '{name}'"), &[])));
        assert_eq!(select, StmtId(u32::from(caps.distributed_tables)));
        Program::new(statements, |_| Box::new(Idle))
    };
    let judge = move |figures: &WindowFigures<'_>| {
        let found = format!("{} of {}", figures.tallies[0], figures.txns[0].committed);
        vec![Judgement { name, rule: String::new(), found, holds: None }]
    };
    Scripts {
        tallies: &["rows"],
        is_read_only: name == "read",
        judge: Some(Arc::new(judge)),
        ..Scripts::new(name, vec![Txn::new(name, 1.0, 1)], program)
    }
}

#[test]
fn numbers_go_on_over_all_scripts_with_the_abilities_of_the_server() {
    let drive = Drive::new(vec![scripts("write"), scripts("read")]);
    let numbers = |caps: &Capabilities| {
        let numbered = drive.numbered(caps);
        let txns: Vec<_> = numbered.statements.iter().map(|numbered| numbered.txn).collect();
        (numbered.scripts_of("read").unwrap().numbers.clone(), txns)
    };
    let plain = Capabilities::default();
    assert_eq!(numbers(&plain), (Numbers { txns: 1..2, statements: 1..2, tallies: 1..2 }, vec![Some(0), Some(1)]));
    let distributed = Capabilities { distributed_tables: true, ..plain };
    let (of_read, txns) = numbers(&distributed);
    assert_eq!((of_read.statements, txns), (2..4, vec![None, Some(0), None, Some(1)]));
    assert!(drive.numbered(&distributed).scripts_of("other").is_none());
    assert_eq!(drive.statements(&distributed).len(), 4);
}

#[test]
fn a_drive_is_what_the_scripts_of_its_groups_are() {
    let both = Drive::new(vec![scripts("write"), scripts("read")]);
    assert_eq!((both.is_read_only(), both.tallies().len(), both.txns().len()), (false, 2, 2));
    let reads = Drive { stages: vec![Stage::new("reads", vec![Group::new("read")])], ..both.clone() };
    assert_eq!((reads.is_read_only(), reads.tallies().len(), reads.txns().len()), (true, 2, 2));
    let only = Drive { stages: vec![Stage::new("any", vec![Group::new("any")])], ..Drive::new(vec![scripts("read")]) };
    assert!(only.is_read_only() && only.numbered(&Capabilities::default()).scripts_of("any").is_some());
}

#[test]
fn scripts_judge_the_figures_of_their_own_transactions_in_the_first_stage() {
    let drive = Drive::new(vec![scripts("write"), scripts("read")]);
    let txns = [3, 4].map(|committed| TxnFigures { committed, ..TxnFigures::default() });
    let figures = WindowFigures { seconds: 1.0, clients: 1, txns: &txns, tallies: &[10, 20] };
    let judged =
        |drive: &Drive| drive.judge(&figures).into_iter().map(|judged| (judged.name, judged.found)).collect::<Vec<_>>();
    assert_eq!(judged(&drive), [("write", "10 of 3".to_owned()), ("read", "20 of 4".to_owned())]);
    let [first, second] = ["read", "write"].map(|group| Stage::new(group, vec![Group::new(group)]));
    let one_by_one = Drive { stages: vec![first, second], ..drive };
    assert_eq!(judged(&one_by_one), [("read", "20 of 4".to_owned())]);
}

#[test]
fn clients_are_as_many_as_asked_for_or_as_suits() {
    let suited = ClientCounts { clients: Some(100), connections_max: Some(64) };
    assert_eq!([suited.clients(Some(3), 8), suited.clients(None, 8)], [3, 100]);
    assert_eq!([suited.connections(3), suited.connections(100)], [Some(3), Some(64)]);
    let any = ClientCounts::default();
    assert_eq!((any.clients(None, 8), any.connections(8)), (8, None));
}
