//! The first Ctrl-C or SIGTERM is answered in every phase, however silent the server is.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::given_server::{Place, TRUST};
use crate::program::{Home, Running, eventually};

/// Within this the program comes to where a test wants it.
const SOON: Duration = Duration::from_secs(60);

/// A server that lets nobody in and says nothing. Its connections stay open as long as this value.
fn mute() -> (u16, Arc<Mutex<Vec<TcpStream>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, held) = (listener.local_addr().unwrap().port(), Arc::new(Mutex::new(Vec::new())));
    let hold = Arc::clone(&held);
    std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| hold.lock().unwrap().push(stream)));
    (port, held)
}

/// A server that lets everybody in and answers nothing. Its connections stay open as long as this value.
fn deaf() -> (u16, Arc<Mutex<Vec<TcpStream>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (port, held) = (listener.local_addr().unwrap().port(), Arc::new(Mutex::new(Vec::new())));
    let hold = Arc::clone(&held);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut length = [0; 4];
            stream.read_exact(&mut length).unwrap();
            stream.read_exact(&mut vec![0; u32::from_be_bytes(length) as usize - 4]).unwrap();
            // AuthenticationOk, the version, and ReadyForQuery.
            stream.write_all(b"R\0\0\0\x08\0\0\0\0S\0\0\0\x18server_version\x0015.1\0Z\0\0\0\x05I").unwrap();
            hold.lock().unwrap().push(stream);
        }
    });
    (port, held)
}

/// Writes a suite of one run on a target, as `suite.toml`.
fn suite(home: &Home, target: &str) {
    let text =
        format!("name = 'one'\ntargets = [\"{target}\"]\n[[run]]\nwhat = 'tpcb-like'\nclients = 1\ntime = '1s'\n");
    std::fs::write(home.join("suite.toml"), text).unwrap();
}

/// The words of a command; those that name no suite get the target.
fn command<'a>(args: &'a str, target: &'a str) -> Vec<&'a str> {
    let more = if args.starts_with("suite") { vec![] } else { vec!["--target", target] };
    args.split(' ').chain(more).collect()
}

#[test]
fn a_server_that_lets_everybody_in_and_answers_nothing_is_left_at_the_first_signal() {
    for args in [
        "run select-only -s 1 -c 2 -T 1",
        "load tpcb-like -s 1",
        "check tpcb-like",
        "drop tpcb-like",
        "suite run suite.toml",
        "search tpcb-like --slo p99<10ms",
    ] {
        let (home, (port, held)) = (Home::new(), deaf());
        let target = format!("host=127.0.0.1 port={port} user=u dbname=d sslmode=disable");
        suite(&home, &target);
        let running = home.start(&command(args, &target));
        eventually(args, SOON, || !held.lock().unwrap().is_empty());
        running.signal(Signal::INT);
        let ran = running.end().ended(130);
        let said = ran.stderr.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
        // The signal may come before the first question is asked.
        let expected = [
            format!("error: interrupted during SELECT on 127.0.0.1:{port}"),
            format!("error: interrupted while connecting to 127.0.0.1:{port}"),
            "error: interrupted while connecting to 127.0.0.1".to_owned(),
        ];
        assert!(expected.iter().any(|line| line == said), "{args}: {}", ran.stderr);
    }
}

#[test]
fn a_statement_that_waits_for_a_lock_before_a_run_is_left_and_cancelled() {
    let Some(place) = Place::new("runs that wait for a lock", "", TRUST) else { return };
    place.run("load tpcb-like -s 1").ok();
    let mut other = place.server.admin();
    other.execute("begin; lock table pgbench_history in share mode").unwrap();
    let waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'";
    let target = place.target();
    suite(&place.home, &target);
    for args in ["run tpcb-like -c 1 -T 1", "suite run suite.toml", "search tpcb-like --slo p99<10ms"] {
        let running = place.home.start(&command(args, &target));
        eventually(args, SOON, || place.ask(waiting) == "1");
        running.signal(Signal::INT);
        let asked = Instant::now();
        let ran = running.end().ended(130);
        // A run of a suite or a search that is asked to end and does not is ended after a minute.
        assert!(asked.elapsed() < Duration::from_secs(30), "{args}: {}", ran.stderr);
        if args.starts_with("run") {
            ran.says(&["error: ", "interrupted during TRUNCATE"]);
        }
        // Nothing of it goes on once it gets the lock.
        eventually("nobody waits any more", SOON, || place.ask(waiting) == "0");
    }
}

#[test]
fn a_plan_does_without_a_server_that_answers_nothing() {
    let (home, (port, _held)) = (Home::new(), deaf());
    let target = format!("host=127.0.0.1 port={port} user=u dbname=d sslmode=disable");
    home.run(&["plan", "tpcb-like", "-s", "1", "--target", &target]).ok().prints(&[
        "note: what the target holds is not known: ",
        &format!("127.0.0.1:{port} accepted the connection and did not answer within 10 s when asked "),
    ]);
}

#[test]
fn a_server_that_never_lets_anybody_in_is_left_at_the_first_signal() {
    for (args, signal, code) in [
        ("run select-only -s 1 -c 2 -T 1 --quiet", Signal::INT, 130),
        ("load tpcb-like -s 1", Signal::TERM, 130),
        ("check tpcb-like", Signal::INT, 130),
        ("drop tpcb-like", Signal::INT, 130),
        ("pgbench -c 2 -T 1", Signal::TERM, 143),
        ("pgbench -n -f noop.sql -c 2 -T 1", Signal::INT, 130),
        ("pgbench -i", Signal::INT, 1),
    ] {
        let (home, (port, held)) = (Home::new(), mute());
        std::fs::write(home.join("noop.sql"), "select 1;\n").unwrap();
        // Nobody gives up by himself.
        let target = format!("host=127.0.0.1 port={port} user=u dbname=d sslmode=disable connect_timeout=3600");
        let mut words: Vec<&str> = args.split(' ').collect();
        match words[0] {
            "pgbench" => words.push(&target),
            _ => words.extend(["--target", &target]),
        }
        let running = home.start(&words);
        eventually(args, SOON, || !held.lock().unwrap().is_empty());
        running.signal(signal);
        let ran = running.end();
        assert_eq!(ran.code, Some(code), "{args}: {}", ran.stderr);
        assert!(ran.stderr.contains("interrupted") || code == 1, "{args}: {}", ran.stderr);
    }
}

/// Sessions of ours whose COPY is stopped by a signal, until this is dropped.
struct Stopped(Vec<Pid>);

impl Stopped {
    fn copying(place: &Place) -> Self {
        let copying =
            "select string_agg(pid::text, ' ') from pg_stat_activity where query ilike 'copy %' and state = 'active'";
        let mut pids = String::new();
        eventually("a COPY is under way", SOON, || {
            pids = place.server.admin().query_opt(copying).unwrap().unwrap_or_default();
            !pids.is_empty()
        });
        let stopped = pids.split(' ').map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap()).collect::<Vec<_>>();
        stopped.iter().for_each(|pid| kill_process(*pid, Signal::STOP).unwrap());
        Self(stopped)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // One that has ended meanwhile needs none.
        for pid in &self.0 {
            let _ = kill_process(*pid, Signal::CONT);
        }
    }
}

#[test]
fn a_server_that_stops_taking_rows_is_left_at_the_first_signal() {
    let Some(place) = Place::new("a server that stops taking rows", "", TRUST) else { return };
    let target = place.target();
    let drop_in = || place.home.start(&["pgbench", "-i", "-s", "100", &target]);
    let starts: [(&dyn Fn() -> Running, i32); 3] = [
        (&|| place.start("load tpcb-like -s 100 --loaders 1 --replace"), 130),
        (&|| place.start("run tpcb-like -s 100 -T 1 --loaders 1 --replace"), 130),
        (&drop_in, 1),
    ];
    for (start, code) in starts {
        let running = start();
        let stopped = Stopped::copying(&place);
        // It has filled what there is of buffers.
        std::thread::sleep(Duration::from_millis(300));
        running.signal(Signal::INT);
        let ran = running.end();
        assert_eq!(ran.code, Some(code), "{}", ran.stderr);
        drop(stopped);
        let ours = "select count(*) from pg_stat_activity where query ilike 'copy %' and state = 'active'";
        eventually("nothing of ours is at work", SOON, || place.ask(ours) == "0");
    }
}

#[test]
fn a_server_that_falls_silent_does_not_hold_up_the_end_of_a_run() {
    let Some(place) = Place::new("a server that falls silent", "", TRUST) else { return };
    place.run("load tpcb-like -s 1").ok();
    let mut running = place.start("run select-only -c 4 -R 200 -T 4 --ramp 0");
    running.until_it_says("progress:", 1);
    // The postmaster, too: a new session would answer.
    let sessions = place.ask(
        "select split_part(pg_read_file('postmaster.pid'), chr(10), 1) || ' ' || string_agg(pid::text, ' ') \
         from pg_stat_activity where application_name like 'pgdyno%'",
    );
    let stopped = Stopped(sessions.split(' ').map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap()).collect());
    for pid in &stopped.0 {
        let _ = kill_process(*pid, Signal::STOP);
    }
    let ran = running.end();
    assert!(ran.code.is_some_and(|code| code < 3), "{}", ran.stderr);
    ran.says(&["no longer answers"]).prints(&["cancelled at the end"]);
    assert!(place.home.runs().pop().unwrap().number("/summary/committed") > 0.0);
}
