//! Agents and coordinators that meet in a real PostgreSQL.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use pgdyno_meet::postgres::{AgentNotice, AgentRow, Desk, MeetError, Seat, agents};
use pgdyno_meet::{Action, JobEnd, MeetingEvent, MemberEnd};
use pgdyno_net::ConnectOptions;
use pgdyno_testing::server::{TestServer, available};

const PATIENCE: Duration = Duration::from_millis(20);
const PROGRAM: &str = "1.0";

/// What a test's agent has done.
#[derive(Debug, Default)]
struct Done {
    /// Places of its tasks, and when they began by the meeting server's clock.
    began: Vec<(u8, u64)>,
    released: usize,
}

/// Ends the agents of a test, also of one that fails.
#[derive(Default)]
struct End(AtomicBool);

impl End {
    fn end_agents(&self) {
        self.0.store(true, Ordering::Release);
    }
}

struct AtLast<'a>(&'a End);

impl Drop for AtLast<'_> {
    fn drop(&mut self) {
        self.0.end_agents();
    }
}

/// Joins, and serves runs until asked to end: a task is its place, and how many batches it sends.
fn serve<'s>(
    scope: &'s Scope<'s, '_>,
    options: &ConnectOptions,
    program: &'s str,
    end: &'s End,
) -> ScopedJoinHandle<'s, Done> {
    let mut seat = Seat::join(options, program, 2).unwrap();
    scope.spawn(move || {
        let (mut done, mut task, mut begin) = (Done::default(), [0; 2], None);
        while !end.0.load(Ordering::Acquire) {
            match seat.step(PATIENCE).unwrap() {
                Some(Action::Do { nth, task: bytes }) => {
                    task.copy_from_slice(&bytes);
                    seat.ready(nth);
                }
                Some(Action::Begin { nth, at }) => begin = Some((nth, seat.instant(at))),
                Some(Action::Stop { nth, .. }) => {
                    begin = None;
                    seat.did(nth, Err("it was stopped".to_owned()));
                }
                Some(Action::Released) => done.released += 1,
                None => {}
            }
            if let Some((nth, _)) = begin.filter(|(_, at)| Instant::now() >= *at) {
                let (_, at) = begin.take().unwrap();
                done.began.push((task[0], seat.server_ns(at).unwrap()));
                (0..task[1]).for_each(|number| seat.batch(nth, vec![task[0], number]));
                seat.did(nth, Ok(vec![task[0]]));
            }
        }
        seat.leave();
        done
    })
}

/// Runs one job with a common start. Returns its end and its batches.
fn run(desk: &mut Desk, wanted: usize, batches: u8) -> (JobEnd, Vec<Vec<u8>>) {
    let mut all = Vec::new();
    loop {
        match desk.step(PATIENCE) {
            Some(MeetingEvent::Gathered(members)) => {
                let tasks: Vec<Arc<[u8]>> = (0..members.len()).map(|place| Arc::from([place as u8, batches])).collect();
                assert_eq!(tasks.len(), wanted);
                desk.begin(&tasks, true, false);
            }
            Some(MeetingEvent::Ready) => drop(desk.go_in(Duration::from_secs(3))),
            Some(MeetingEvent::Batch { place, batch }) => {
                assert_eq!(batch[0] as usize, place);
                all.push(batch.to_vec());
            }
            Some(MeetingEvent::Ended(end)) => return (end, all),
            Some(other) => panic!("{other:?}"),
            None => {}
        }
    }
}

fn server() -> Option<TestServer> {
    available("a meeting").then(|| TestServer::start("", "local all all trust\nhost all all all trust"))
}

/// Waits until the meeting lists agents of which this holds.
fn listed(options: &ConnectOptions, is_so: impl Fn(&[AgentRow]) -> bool) -> Vec<AgentRow> {
    loop {
        let rows = agents(options).unwrap();
        if is_so(&rows) {
            return rows;
        }
        std::thread::sleep(PATIENCE);
    }
}

#[test]
fn agents_serve_one_run_after_another_with_a_role_that_has_only_the_schema() {
    let Some(server) = server() else { return };
    server.admin().execute("CREATE ROLE meeter LOGIN; CREATE SCHEMA pgdyno_meet AUTHORIZATION meeter").unwrap();
    let options =
        server.resolve(&format!("host={} port={} user=meeter dbname=postgres", server.dir().display(), server.port));
    let end = End::default();
    std::thread::scope(|scope| {
        let _last = AtLast(&end);
        let joined: Vec<_> = (0..3).map(|_| serve(scope, &options, PROGRAM, &end)).collect();
        for batches in [5, 90] {
            let mut desk = Desk::announce(&options, PROGRAM, "a test", 3, Duration::from_secs(60)).unwrap();
            let (ended, all) = run(&mut desk, 3, batches);
            assert_eq!((ended.failure, ended.began), (None, true));
            assert_eq!(ended.members, [0, 1, 2].map(|place| MemberEnd::Did(vec![place])));
            for place in 0..3 {
                let mine = all.iter().filter(|batch| batch[0] == place).map(|batch| batch[1]);
                assert_eq!(mine.collect::<Vec<_>>(), (0..batches).collect::<Vec<_>>());
            }
            desk.close(Duration::from_secs(10));
        }
        let rows = listed(&options, |rows| rows.iter().all(|row| row.run.is_none()));
        assert_eq!(rows.len(), 3);
        assert!(
            rows.iter().all(|row| row.cpus == 2 && row.clock_error_us.is_some() && row.state == "idle"),
            "{rows:?}"
        );
        end.end_agents();
        let done: Vec<_> = joined.into_iter().map(|joined| joined.join().unwrap()).collect();
        for nth in 0..2 {
            let mut began: Vec<_> = done.iter().map(|done| done.began[nth]).collect();
            began.sort();
            assert_eq!(began.iter().map(|(place, _)| *place).collect::<Vec<_>>(), [0, 1, 2]);
            let at = || began.iter().map(|(_, at)| *at);
            // On one machine the clocks differ by what a round trip takes.
            assert!(at().max().unwrap() - at().min().unwrap() < 1_000_000_000, "{began:?}");
        }
        assert!(done.iter().all(|done| done.released == 2), "{done:?}");
    });
    assert_eq!(agents(&options).unwrap(), []);
    let left = "SELECT (SELECT count(*) FROM pgdyno_meet.runs) + (SELECT count(*) FROM pgdyno_meet.batches)";
    assert_eq!(server.admin().query_one(left).unwrap(), "0");
    server.admin().execute("DROP SCHEMA pgdyno_meet CASCADE").unwrap();
}

#[test]
fn a_meeting_survives_lost_connections_and_a_restart_of_its_server() {
    let Some(mut server) = server() else { return };
    let options = server.options();
    let end = End::default();
    std::thread::scope(|scope| {
        let _last = AtLast(&end);
        let joined: Vec<_> = (0..2).map(|_| serve(scope, &options, PROGRAM, &end)).collect();
        server
            .admin()
            .execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
            .unwrap();
        let mut desk = Desk::announce(&options, PROGRAM, "a test", 2, Duration::from_secs(60)).unwrap();
        while !matches!(desk.step(PATIENCE), Some(MeetingEvent::Gathered(_))) {}
        server.crash();
        server.restart();
        let tasks: Vec<Arc<[u8]>> = (0..2).map(|place| Arc::from([place, 3])).collect();
        desk.begin(&tasks, true, false);
        let (ended, all) = run(&mut desk, 2, 3);
        assert_eq!((ended.failure, all.len()), (None, 6));
        desk.close(Duration::from_secs(10));
        end.end_agents();
        joined.into_iter().for_each(|joined| drop(joined.join().unwrap()));
    });
}

/// Steps until an agent of this thread has something to report.
fn reported(seat: &mut Seat) -> AgentNotice {
    loop {
        if let Some(notice) = seat.notice() {
            return notice;
        }
        seat.step(PATIENCE).unwrap();
    }
}

#[test]
fn an_agent_whose_row_is_deleted_joins_again_and_one_whose_schema_is_gone_ends() {
    let Some(server) = server() else { return };
    let options = server.options();
    let mut seat = Seat::join(&options, PROGRAM, 2).unwrap();
    seat.step(PATIENCE).unwrap();
    server.admin().execute("DELETE FROM pgdyno_meet.agents").unwrap();
    assert_eq!(reported(&mut seat), AgentNotice::JoinedAgain(2));
    assert_eq!(agents(&options).unwrap().iter().map(|row| row.agent).collect::<Vec<_>>(), [2]);

    // It serves runs as before.
    let mut desk = Desk::announce(&options, PROGRAM, "a test", 1, Duration::from_secs(60)).unwrap();
    let gathered = loop {
        seat.step(PATIENCE).unwrap();
        if let Some(news) = desk.step(PATIENCE) {
            break news;
        }
    };
    assert!(matches!(gathered, MeetingEvent::Gathered(_)), "{gathered:?}");

    // In a run, too: the run has lost it.
    server.admin().execute("DELETE FROM pgdyno_meet.agents").unwrap();
    assert_eq!(reported(&mut seat), AgentNotice::JoinedAgain(3));
    assert_eq!(seat.run(), None);

    // A run whose own row is deleted ends.
    server.admin().execute("DELETE FROM pgdyno_meet.runs").unwrap();
    let failure = loop {
        desk.step(PATIENCE);
        if let Some(failure) = desk.failure() {
            break failure;
        }
    };
    assert!(matches!(failure, MeetError::RunDeleted { .. }), "{failure}");

    server.admin().execute("DROP SCHEMA pgdyno_meet CASCADE").unwrap();
    let ended = loop {
        if let Err(error) = seat.step(PATIENCE) {
            break error;
        }
    };
    assert!(matches!(&ended, MeetError::Unusable { .. }) && ended.remedy().is_some(), "{ended}");
}

#[test]
fn rows_of_others_in_any_table_neither_end_nor_hang_a_run() {
    let Some(server) = server() else { return };
    let options = server.options();
    let end = End::default();
    std::thread::scope(|scope| {
        let _last = AtLast(&end);
        let joined: Vec<_> = (0..2).map(|_| serve(scope, &options, PROGRAM, &end)).collect();
        // Agents of the future and of no time, with names and results of any size; runs that never end, with claims.
        server
            .admin()
            .execute(
                "INSERT INTO pgdyno_meet.agents (host, pid, program, protocol, cpus, state, task, result, failure, batches, seen_at)
                 SELECT repeat(E'\\x1b[2J', 100000), -1, 'x', -1, -1, 'done', -1, repeat('x', 30000000)::bytea, repeat('y', 1000000),
                        -1, seen_at
                 FROM unnest('{now, infinity, -infinity, 3000-01-01, 1000-01-01}'::timestamptz[]) AS seen_at;
                 INSERT INTO pgdyno_meet.agents (host, pid, program, protocol, cpus, seen_at)
                 SELECT 'h', 1, '1.0', 1, 2000000000, seen_at FROM unnest('{infinity, 3000-01-01}'::timestamptz[]) AS seen_at;
                 INSERT INTO pgdyno_meet.runs (what, host, pid, program, beat, seen_at)
                 SELECT 'w', 'h', -1, program, beat, 'infinity'
                 FROM unnest('{1.0, 0.1}'::text[]) AS program, unnest('{0, 9223372036854775807}'::bigint[]) AS beat;
                 INSERT INTO pgdyno_meet.orders (run, agent, step, task, payload, at_ns, acked)
                 SELECT run, agent, CASE WHEN program = '1.0' THEN 'hop' ELSE 'claim' END, -1, repeat('x', 100000)::bytea, -1, -1
                 FROM pgdyno_meet.runs, (SELECT agent FROM pgdyno_meet.agents) AS a",
            )
            .unwrap();
        // A coordinator that was lost while it claimed: an agent serves it for as long as it may be alive, once.
        server
            .admin()
            .execute(
                "INSERT INTO pgdyno_meet.runs (what, host, pid, program) VALUES ('w', 'h', 1, '1.0');
                 INSERT INTO pgdyno_meet.orders (run, agent, step) SELECT max(run), 1, 'claim' FROM pgdyno_meet.runs",
            )
            .unwrap();
        listed(&options, |rows| rows.iter().any(|row| row.agent == 1 && row.run.is_some()));
        let mut desk = Desk::announce(&options, PROGRAM, "a test", 2, Duration::from_secs(60)).unwrap();
        while !matches!(desk.step(PATIENCE), Some(MeetingEvent::Gathered(_))) {}
        // Batches of the run that its agents have not made, before and beside theirs.
        let run = server.admin().query_one("SELECT max(run) FROM pgdyno_meet.runs").unwrap();
        server
            .admin()
            .execute(&format!(
                "INSERT INTO pgdyno_meet.batches SELECT {run}, agent, n, 'nonsense'::bytea
                 FROM pgdyno_meet.agents, unnest('{{-1, 0, 1, 2, 3, 4, 5, 9223372036854775807}}'::bigint[]) AS n;
                 INSERT INTO pgdyno_meet.batches SELECT {run}, agent, 100 + n, repeat('x', 100000)::bytea
                 FROM pgdyno_meet.agents, generate_series(1, 50) AS n"
            ))
            .unwrap();
        let tasks: Vec<Arc<[u8]>> = (0..2).map(|place| Arc::from([place, 3])).collect();
        desk.begin(&tasks, true, false);
        // Another program changes what the run has ordered, and what its agents have said.
        server
            .admin()
            .execute(&format!("UPDATE pgdyno_meet.orders SET step = 'claim' WHERE run = {run}; DELETE FROM pgdyno_meet.orders WHERE agent = 1"))
            .unwrap();
        let mut batches = Vec::new();
        let mut is_ready = false;
        let ended = loop {
            match desk.step(PATIENCE) {
                Some(MeetingEvent::Ready) => {
                    is_ready = true;
                    desk.go_in(Duration::from_secs(3));
                    server
                        .admin()
                        .execute("UPDATE pgdyno_meet.agents SET batches = 9, state = 'preparing' WHERE run IS NOT NULL")
                        .unwrap();
                }
                Some(MeetingEvent::Batch { batch, .. }) => batches.push(batch.to_vec()),
                Some(MeetingEvent::Ended(ended)) => break ended,
                _ => {}
            }
        };
        assert!(is_ready);
        assert_eq!((ended.failure, ended.members.len()), (None, 2));
        batches.sort();
        assert_eq!(batches, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]);
        desk.close(Duration::from_secs(10));
        let listed = agents(&options).unwrap();
        assert!(
            listed.iter().all(|row| !row.host.contains('\u{1b}') && row.host.chars().count() < 2_000),
            "{listed:?}"
        );
        end.end_agents();
        joined.into_iter().for_each(|joined| drop(joined.join().unwrap()));
    });
    // A schema without a version is refused, and does not hang.
    server.admin().execute("DELETE FROM pgdyno_meet.version").unwrap();
    assert!(matches!(agents(&options).unwrap_err(), MeetError::NoVersion { .. }));
}

#[test]
fn what_cannot_meet_is_reported_with_the_remedy() {
    let Some(server) = server() else { return };
    let options = server.options();
    let of = |user: &str| {
        server.resolve(&format!("host={} port={} user={user} dbname=postgres", server.dir().display(), server.port))
    };
    server.admin().execute("CREATE ROLE stranger LOGIN").unwrap();
    let refused = agents(&of("stranger")).unwrap_err();
    assert!(matches!(&refused, MeetError::NotAllowed { role, .. } if role == "stranger"), "{refused}");
    assert!(refused.remedy().unwrap().contains("CREATE SCHEMA pgdyno_meet AUTHORIZATION \"stranger\""));

    // Several that create the schema at the same time.
    std::thread::scope(|scope| {
        let looks: Vec<_> = (0..4).map(|_| scope.spawn(|| agents(&options).unwrap())).collect();
        looks.into_iter().for_each(|look| assert_eq!(look.join().unwrap(), []));
    });

    let end = End::default();
    std::thread::scope(|scope| {
        let _last = AtLast(&end);
        let joined = [serve(scope, &options, "0.9", &end), serve(scope, &options, PROGRAM, &end)];
        let mut desk = Desk::announce(&options, PROGRAM, "a test", 2, Duration::from_secs(2)).unwrap();
        let found = loop {
            if let Some(news) = desk.step(PATIENCE) {
                break news;
            }
        };
        let MeetingEvent::TooFew(found) = found else { panic!("{found:?}") };
        assert_eq!((found.free, found.busy, found.unsuitable), (1, 0, 1));
        let mut programs: Vec<_> = desk.agents().map(|agent| agent.program.clone()).collect();
        programs.sort();
        assert_eq!(programs, ["0.9", "1.0"]);
        desk.close(Duration::from_secs(5));
        end.end_agents();
        joined.into_iter().for_each(|joined| drop(joined.join().unwrap()));
    });

    server.admin().execute("UPDATE pgdyno_meet.version SET version = 7").unwrap();
    let refused = agents(&options).unwrap_err();
    assert!(refused.to_string().contains("is of version 7; this program has version 1"), "{refused}");
}
