//! Agents and coordinators that meet in a real PostgreSQL.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use pgdyno_meet::postgres::{AgentRow, Desk, MeetError, Seat, agents};
use pgdyno_meet::{Action, JobEnd, MemberEnd, News};
use pgdyno_net::ConnectOptions;
use pgdyno_testing::server::{Server, available};

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

/// Joins, and serves runs until told to end: a task is its place, and how many batches it sends.
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
            match seat.step(PATIENCE) {
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
            Some(News::Gathered(members)) => {
                let tasks: Vec<Arc<[u8]>> = (0..members.len()).map(|place| Arc::from([place as u8, batches])).collect();
                assert_eq!(tasks.len(), wanted);
                desk.begin(&tasks, true, false);
            }
            Some(News::Ready) => drop(desk.go_in(Duration::from_secs(3))),
            Some(News::Batch { place, batch }) => {
                assert_eq!(batch[0] as usize, place);
                all.push(batch.to_vec());
            }
            Some(News::Ended(end)) => return (end, all),
            Some(other) => panic!("{other:?}"),
            None => {}
        }
    }
}

fn server() -> Option<Server> {
    available("a meeting").then(|| Server::start("", "local all all trust\nhost all all all trust"))
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
        while !matches!(desk.step(PATIENCE), Some(News::Gathered(_))) {}
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

#[test]
fn what_cannot_meet_is_told_with_the_remedy() {
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
        let News::TooFew(found) = found else { panic!("{found:?}") };
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
