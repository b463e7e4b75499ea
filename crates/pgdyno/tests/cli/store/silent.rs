//! Stores whose server is silent, or gone.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use super::{home_with_two_runs, place};
use crate::program::{Home, PATIENCE, eventually};
use crate::serve::serve_with;

/// AuthenticationOk and ReadyForQuery.
const WELCOME: &[u8] = b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I";

/// A server that lets everyone in and then does as `then` does. Returns its connection string.
fn server(then: fn(TcpStream)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            std::thread::spawn(move || {
                // Its startup message, in one packet.
                let _ = stream.read(&mut [0; 4096]);
                if stream.write_all(WELCOME).is_ok() {
                    then(stream);
                }
            });
        }
    });
    format!("host=127.0.0.1 port={port} user=bench dbname=results sslmode=disable gssencmode=disable")
}

/// Sends a notice each second and never an answer.
fn notices(mut stream: TcpStream) {
    while stream.write_all(b"N\0\0\0\x1aSNOTICE\0C00000\0Mwait\0\0").is_ok() {
        std::thread::sleep(Duration::from_secs(1));
    }
}

#[test]
fn a_run_does_not_wait_for_a_store_that_hangs_or_drops_its_connections() {
    let silent: fn(TcpStream) = |mut stream| {
        let _ = stream.read_to_end(&mut Vec::new());
    };
    // All at once: two of them wait.
    let runs: Vec<_> = [silent, notices, drop as fn(TcpStream)]
        .map(|then| {
            let (home, store) = (Home::new(), server(then));
            let running = home.start(&["run", "noop", "-t", "5", "-q", "--store", &store]);
            (home, running)
        })
        .into_iter()
        .collect();
    for (nth, (home, running)) in runs.into_iter().enumerate() {
        let ran = running.end().ok();
        let why = if nth < 2 { "the store of results took longer than 10 s" } else { "lost the connection" };
        ran.says(&[why, "the run is kept here", "push it with `pgdyno store push pgdyno-results/"]);
        assert_eq!(home.the_run().text("/status"), "complete");
    }
}

#[test]
fn served_pages_say_since_when_the_store_is_gone_and_go_on_when_it_is_back() {
    let Some(mut place) = place("a store that comes back") else { return };
    let (target, home) = (place.target(), home_with_two_runs());
    home.run(&["store", "push", "a", "--store", &target]).ok();
    let serving = serve_with(&home, &["--store", &target]);
    let page = |has: &str| serving.get("/").body.contains(has);
    assert!(page("/runs/a") && !page("could not be read"));
    place.server.crash();
    eventually("the page says it", PATIENCE, || page("could not be read since 20"));
    assert!(page("/runs/a") && serving.get("/suites").body.contains("could not be read since 20"));
    assert_eq!(serving.get("/runs/a").status, 500, "its files cannot be compared with their digests");
    place.server.restart();
    home.run(&["store", "push", "b", "--store", &target]).ok();
    eventually("the page is of now", PATIENCE, || page("/runs/b") && !page("could not be read"));
    assert_eq!(serving.get("/runs/a").status, 200);
}
