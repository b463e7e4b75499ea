//! Whom it answers, and what it never shows.

use std::os::unix::fs::symlink;

use super::{put, serve};
use crate::program::Home;

/// What lies beside the results, and must stay there.
const SECRET: &str = "hunter2-is-the-password";

#[test]
fn nothing_but_the_results_can_be_read() {
    let home = Home::new();
    let run = put(&home, "20260101T000000Z-a-111111", "2026-01-01T00:00:00Z");
    std::fs::write(home.join("secret.txt"), SECRET).unwrap();
    std::fs::write(home.join("pgdyno-results/secret.txt"), SECRET).unwrap();
    std::fs::create_dir(home.join("outside")).unwrap();
    let elsewhere = std::fs::read_to_string(run.join("run.json")).unwrap().replace("tproc-c", SECRET);
    std::fs::write(home.join("outside/run.json"), &elsewhere).unwrap();
    std::fs::write(home.join("outside/intervals.csv"), SECRET).unwrap();
    // A directory, a record and a file beside a record that are links; a record that calls itself another place.
    symlink(home.join("outside"), home.join("pgdyno-results/linked")).unwrap();
    let linked = put(&home, "20260102T000000Z-b-222222", "2026-01-02T00:00:00Z");
    std::fs::remove_file(linked.join("run.json")).unwrap();
    symlink(home.join("outside/run.json"), linked.join("run.json")).unwrap();
    let beside = put(&home, "20260103T000000Z-c-333333", "2026-01-03T00:00:00Z");
    symlink(home.join("secret.txt"), beside.join("intervals.csv")).unwrap();
    let named = put(&home, "20260104T000000Z-d-444444", "2026-01-04T00:00:00Z");
    let record = std::fs::read_to_string(named.join("run.json")).unwrap();
    let outside = home.join("outside").display().to_string();
    let record = record.replace("\"20260104T000000Z-d-444444\"", &format!("{outside:?}"));
    std::fs::write(named.join("run.json"), record).unwrap();

    let server = serve(&home);
    let absolute = home.join("outside").display().to_string();
    let cases = [
        ("/runs/linked", 403),
        ("/runs/linked/live.json", 403),
        ("/runs/20260102T000000Z-b-222222", 403),
        ("/runs/20260103T000000Z-c-333333", 403),
        ("/runs/20260103T000000Z-c-333333/live.json", 403),
        ("/compare?base=linked&new=linked", 403),
        // Its files are looked for in its own directory, whatever it calls itself.
        ("/runs/20260104T000000Z-d-444444", 200),
        ("/secret.txt", 404),
        ("/runs/secret.txt", 404),
        ("/runs/../secret.txt", 404),
        ("/../secret.txt", 404),
        ("/runs/..%2f..%2fsecret.txt", 404),
        ("/runs/%2e%2e/secret.txt", 404),
        ("/runs/..%2Foutside", 404),
        ("/runs/20260101T000000Z-a-111111%00", 404),
        ("/runs/20260101T000000Z-a-111111/../../outside", 404),
        ("/runs/20260101T000000Z-a-111111/run.json", 404),
        ("/assets/../secret.txt", 404),
        ("/assets/..%2f..%2fsecret.txt", 404),
        ("/searches/..%2f..%2fsecret", 404),
        ("/compare?base=..%2Foutside&new=20260101T000000Z-a-111111", 404),
    ];
    for (path, status) in cases.into_iter().chain([(&*format!("/runs/{absolute}"), 404), (&*absolute, 404)]) {
        let answer = server.get(path);
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        assert!(!answer.body.contains(SECRET), "{path}: {}", answer.body);
    }
    for page in ["/", "/suites", "/searches", "/?words=hunter2"] {
        let answer = server.get(page);
        assert_eq!(answer.status, 200);
        assert!(!answer.body.contains(SECRET), "{page}");
    }
    assert_eq!(server.get("/runs/20260101T000000Z-a-111111").status, 200);
}

#[test]
fn only_the_machines_own_names_are_answered_and_only_reading() {
    let home = Home::new();
    put(&home, "20260101T000000Z-a-111111", "2026-01-01T00:00:00Z");
    let server = serve(&home);
    let port = server.address.port();
    assert!(server.address.ip().is_loopback());
    for (host, status) in [
        (format!("127.0.0.1:{port}"), 200),
        (format!("localhost:{port}"), 200),
        (format!("[::1]:{port}"), 200),
        ("localhost".to_owned(), 403),
        (format!("evil.example:{port}"), 403),
        (format!("127.0.0.1.evil.example:{port}"), 403),
        (format!("127.0.0.1:{}", port ^ 1), 403),
    ] {
        let answer = server.say(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!(answer.status, status, "{host}");
        assert!(status == 200 || !answer.body.contains("111111"), "{host}");
    }
    assert_eq!(server.say("GET / HTTP/1.0\r\n\r\n").status, 403);
    let absolute = format!("GET http://evil.example/ HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n");
    assert_eq!(server.say(&absolute).status, 403);
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        let request = format!("{method} / HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Length: 2\r\n\r\n{{}}");
        let answer = server.say(&request);
        assert_eq!((answer.status, answer.header("allow")), (405, Some("get, head")), "{method}");
    }
    let head = server.say(&format!("HEAD / HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"));
    assert_eq!((head.status, &*head.body), (200, ""));
}

#[test]
fn every_answer_is_kept_by_nobody_and_read_by_no_other_page() {
    let home = Home::new();
    put(&home, "20260101T000000Z-a-111111", "2026-01-01T00:00:00Z");
    let server = serve(&home);
    let run = "/runs/20260101T000000Z-a-111111";
    let pages = ["/", run, &format!("{run}/live"), &format!("{run}/live.json"), "/assets/live.js", "/nothing", "/?x=y"];
    for page in pages {
        let answer = server.get(page);
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{page}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{page}");
        assert_eq!(answer.header("access-control-allow-origin"), None, "{page}");
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'") == (page != run), "{page}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{page}: {policy}");
    }
}
