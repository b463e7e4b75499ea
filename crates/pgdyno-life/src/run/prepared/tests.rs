use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use pgdyno_plan::{Facts, Order};
use pgdyno_results::RunRecord;
use pgdyno_testing::directory::TestDirectory;
use pgdyno_testing::postgres::available;
use pgdyno_testing::server::TestServer;

use super::{SessionPurpose, prepare};
use crate::Interrupt;
use crate::events::Silent;
use crate::plan::resolve::{PlanDraft, RunRequest};
use crate::record::sink::RecordSink;
use crate::run::context::RunContext;
use crate::target::Target;

/// Does `work` in the context of a run, and returns the record.
fn record_of(order: Order, work: impl FnOnce(&RunContext<'_>, Target, Facts)) -> RunRecord {
    let interrupt = Interrupt::default();
    let request = RunRequest::read(order).unwrap();
    let PlanDraft { target, facts, resolved } = request.draft().unwrap();
    let named = target.named.clone();
    let record = RecordSink::new(&request, &resolved, None);
    let context = RunContext {
        request: &request,
        draft: &resolved,
        named: named.as_ref(),
        team: None,
        interrupt: &interrupt,
        view: &Silent,
        record: &record,
        events: &record,
    };
    work(&context, target, facts);
    record.into_recording().unwrap().record
}

fn order(out: &Path, target: String) -> Order {
    let mut order = Order { out: Some(out.to_owned()), ..Order::of("select-only") };
    order.target.target = Some(target.into());
    order.drive.clients = Some(1);
    order
}

fn shown(server: &TestServer) -> String {
    server.admin().query_one("show checkpoint_timeout").unwrap()
}

/// Returns whether the settings of a record were restored, and the steps of its cycle that were done.
fn restored(record: &RunRecord) -> (Option<bool>, Vec<&str>) {
    let done = record.cycle.iter().filter(|step| step.done).map(|step| step.step.as_str());
    (record.settings_set[0].restored, done.collect())
}

#[test]
fn settings_are_restored_by_a_call_and_where_a_later_room_panics() {
    if !available("settings that are restored") {
        return;
    }
    let server = TestServer::start_unlike_others("checkpoint_timeout = 7min", "local all all trust");
    let results = TestDirectory::new("rooms");
    let mut order = order(results.path(), server.options().to_string());
    order.target.settings = vec![("checkpoint_timeout".to_owned(), "11min".to_owned())];

    let record = record_of(order.clone(), |context, target, facts| {
        let prepared = prepare(context, target, facts).unwrap();
        assert_eq!(shown(&server), "11min");
        let mut session = prepared.server.connect(SessionPurpose::Measure).unwrap().unwrap();
        assert_eq!(session.query_one("show checkpoint_timeout").unwrap(), "11min");
        prepared.restore().unwrap();
    });
    assert_eq!((shown(&server).as_str(), restored(&record)), ("7min", (Some(true), vec!["restore-settings"])));

    let record = record_of(order, |context, target, facts| {
        let room = catch_unwind(AssertUnwindSafe(|| {
            let _prepared = prepare(context, target, facts).unwrap();
            assert_eq!(shown(&server), "11min");
            panic!("a later room");
        }));
        assert!(room.is_err());
    });
    assert_eq!((shown(&server).as_str(), restored(&record)), ("7min", (Some(true), vec!["restore-settings"])));
}

#[test]
fn a_server_that_a_hook_has_made_is_removed_where_it_cannot_be_reached() {
    let directory = TestDirectory::new("rooms");
    let gone = directory.path().join("gone");
    let config = directory.path().join("pgdyno.toml");
    let text = format!(
        "[target.made]\ndsn = 'host={nowhere}'\n[target.made.hooks]\n\
         provision = {{ command = 'echo dsn=host={nowhere}' }}\nteardown = {{ command = 'touch {gone}' }}\n",
        nowhere = directory.path().display(),
        gone = gone.display()
    );
    std::fs::write(&config, text).unwrap();
    let mut order = order(directory.path(), "made".to_owned());
    order.target.config = Some(config);
    order.cycle.provision = true;
    let record = record_of(order, |context, target, facts| {
        assert!(prepare(context, target, facts).is_err());
        assert!(gone.exists());
    });
    let steps: Vec<_> = record.cycle.iter().map(|step| (step.step.as_str(), step.done)).collect();
    assert_eq!(steps, [("provision", true), ("teardown", true)]);
}
