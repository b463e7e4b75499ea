//! What the server is sent: its log of pgbench and of the drop-in, session by session.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use pgdyno_net::{Admin, ConnectOptions};

use super::cases::{Case, many, one};
use super::mask;
use super::stage::Stage;

const ALL_COMMANDS: &str = "\\set a random(1, 100)\n\\set n null\nselect :a as b, ':a', 'x' as c \\gset p_\n\
    select :p_b, :p_c, :n, :nope::text;\n\\if :a > 0\nselect 'yes';\n\\else\nselect 'no';\n\\endif\n\
    select 1 /* two */, -- three\n  2;\n";

const ALL_COMMANDS_BOUND: &str = "\\set a random(1, 100)\n\\set d 1.0 / 3\n\\set n null\n\
    select :a as b, 'x' as c \\gset p_\nselect :p_b::int, :p_c::text, :n::text, :nope::text, :d::float8;\n\
    \\if :a > 0\nselect 'yes';\n\\else\nselect 'no';\n\\endif\nselect 1 /* two */, -- three\n  2;\nselect :a::int;\n";

const PIPELINE: &str =
    "begin;\n\\startpipeline\nselect 1;\nselect 2;\n\\syncpipeline\nselect 3;\n\\endpipeline\nend;\n";

const RETRIED: &str = "\\set a random(1, 100)\nbegin;\nselect :a::int;\n\
    do $$ begin raise sqlstate '40001'; end $$;\nend;\n";

const CASES: &[Case] = &[
    // Every script that is built in, in every mode.
    many("-t 3 --random-seed=1", &[]),
    many("-t 3 --random-seed=1 -M extended", &[]),
    many("-t 3 --random-seed=1 -M prepared", &[]),
    many("-n -t 3 --random-seed=1 -N", &[]),
    many("-n -t 3 --random-seed=1 -N -M extended", &[]),
    many("-n -t 3 --random-seed=1 -N -M prepared", &[]),
    many("-n -t 3 --random-seed=1 -S", &[]),
    many("-v -t 3 --random-seed=1 -S -M extended", &[]),
    many("-n -t 3 --random-seed=1 -S -M prepared", &[]),
    many("-n -t 3 --random-seed=1 -S -M prepared -c 4 -j 2", &[]),
    many("-n -t 3 --random-seed=1 -C -M prepared -c 2", &[]),
    many("-n -t 9 --random-seed=1 -S -N -M prepared", &[]),
    // Scripts of one's own.
    one("-n -t 2 --random-seed=1", &[ALL_COMMANDS]),
    one("-n -t 2 --random-seed=1 -M extended", &[ALL_COMMANDS_BOUND]),
    one("-n -t 2 --random-seed=1 -M prepared", &[ALL_COMMANDS_BOUND]),
    one("-n -t 2 -M extended", &[PIPELINE]).since(17),
    one("-n -t 2 -M prepared", &[PIPELINE]).since(17),
    one("-n -t 2 --max-tries=2 --random-seed=1", &[RETRIED]),
    one("-n -t 2 --max-tries=2 --random-seed=1 -M extended", &[RETRIED]),
    one("-n -t 2 --max-tries=2 --random-seed=1 -M prepared", &[RETRIED]),
    one("-n -t 2 --max-tries=2 --random-seed=1 -C", &[RETRIED]),
    one("-n -t 2", &["select 1 \\; begin \\; select 1/0 \\; end;\n"]),
    one("-n -t 2 -M prepared", &["select 1;\nselec 2;\n"]),
    one("-n -t 2", &["begin;\nselect 1;\n"]),
    one("-n -t 2", &["copy t to stdout;\nselect 1;\n"]),
    one("-n -t 2", &["begin;\ncopy t from stdin;\nselect 1;\n"]),
    one("-n -t 2 -M extended", &["begin;\ncopy t from stdin;\nselect 1;\n"]),
    one("-n -t 2 -M prepared", &["copy t from stdin;\nselect 1;\n"]),
    one("-n -t 2", &["begin;\n\\set x 1/0\nend;\n"]),
    one("-n -t 2 -M extended", &["\\startpipeline\nselect 1;\nselect 1/0;\nselect 3;\n\\endpipeline\n"]),
    one("-n -t 2 -M extended", &["\\startpipeline\nselect 1;\n\\set x 1/0\n\\endpipeline\n"]),
    one(
        "-n -t 2 -M extended --max-tries=2",
        &["\\startpipeline\nbegin;\ndo $$ begin raise sqlstate '40001'; end $$;\nend;\n\\endpipeline\nselect 5;\n"],
    ),
    one(
        "-n -t 2 -M prepared --max-tries=2",
        &["begin;\n\\startpipeline\nselect 1;\ndo $$ begin raise sqlstate '40001'; end $$;\n\\endpipeline\nend;\n"],
    ),
];

/// A session's part of the server's log.
type Sessions = Vec<Vec<String>>;

/// The log of one run, of which `log` is the text since its start; nothing while a session has not ended.
fn sessions(log: &str) -> Option<Sessions> {
    let mut by_pid: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut pid = "";
    for line in log.lines() {
        let text = match line.strip_prefix('@').and_then(|line| line.split_once('@')) {
            Some((of, text)) => {
                pid = of;
                text
            }
            // A statement's second line.
            None => line,
        };
        let text = match text.split_once("duration: ") {
            Some((before, after)) => {
                let (_, what) = after.split_once(" ms").unwrap_or_default();
                format!("{before}duration: N ms{what}")
            }
            None if text.contains("disconnection: ") => mask::numbers(text),
            None => text.to_owned(),
        };
        // Whether a connection is closed while the server still speaks is chance.
        if !text.contains("could not send data to client") && !text.contains("connection to client lost") {
            by_pid.entry(pid).or_default().push(text);
        }
    }
    let is_ours = |session: &Vec<String>| session.iter().any(|line| line.contains("application_name=pgbench"));
    let has_ended = |session: &Vec<String>| session.iter().any(|line| line.contains("disconnection: "));
    let mut sessions: Vec<_> = by_pid.into_values().filter(is_ours).collect();
    sessions.sort();
    (!sessions.is_empty() && sessions.iter().all(has_ended)).then_some(sessions)
}

/// Before 18 prepared statements have other names, and are prepared at another time; what is left is common.
fn before_18(sessions: &mut Sessions) {
    for session in sessions.iter_mut() {
        let mut names: Vec<String> = Vec::new();
        session.retain(|line| !line.contains(" ms  parse P"));
        for line in session.iter_mut() {
            for verb in [" bind P", "LOG:  execute P"] {
                let Some((before, after)) = line.split_once(verb) else { continue };
                let Some((name, rest)) = after.split_once(": ") else { continue };
                let number = names.iter().position(|known| known == name).unwrap_or_else(|| {
                    names.push(name.to_owned());
                    names.len() - 1
                });
                *line = format!("{before}{verb}#{number}: {rest}");
                break;
            }
        }
    }
    sessions.sort();
}

#[test]
fn the_server_is_sent_the_same() {
    let Some(stage) = Stage::start("traffic") else { return };
    let options = ConnectOptions::for_socket(stage.server.dir(), stage.server.port, "postgres", "postgres");
    let mut admin = Admin::connect(&options).unwrap();
    for setting in [
        "log_line_prefix = '@%p@'",
        "log_statement = 'all'",
        "log_min_duration_statement = 0",
        "log_connections = on",
        "log_disconnections = on",
    ] {
        admin.execute(&format!("alter system set {setting}")).unwrap();
    }
    admin.execute("select pg_reload_conf()").unwrap();
    while admin.query_one("show log_min_duration_statement").unwrap() != "0" {}
    let log = stage.server.dir().join("log");
    let logged = |case: &Case, ours: bool| -> Sessions {
        let before = std::fs::metadata(&log).unwrap().len() as usize;
        stage.run_one(case, ours, "lane0");
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let text = std::fs::read(&log).unwrap();
            if let Some(mut sessions) = sessions(&String::from_utf8_lossy(&text[before..])) {
                if stage.version < 18 {
                    before_18(&mut sessions);
                }
                return sessions;
            }
            assert!(Instant::now() < deadline, "sessions do not end: {}", String::from_utf8_lossy(&text[before..]));
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let mut wrong = Vec::new();
    for case in CASES.iter().filter(|case| case.since <= stage.version) {
        let (ours, theirs) = (logged(case, true), logged(case, false));
        if ours != theirs {
            let text = |sessions: Sessions| -> String { sessions.join(&"----".to_owned()).join("\n") };
            wrong.push(format!("== {}\n{}", case.name(), super::stage::difference("log", &text(ours), &text(theirs))));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), CASES.len(), wrong.join("\n"));
}
