//! The shell's part by a real shell, and `ssh` by a script that runs its last argument.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::*;
use crate::os::tally::Tally;

#[test]
fn lines_become_looks() {
    let mut stream = Stream::default();
    let lines = "Welcome to db1\n== stat\ncpu  1\ncpu0 1\n== net/dev\n== unknown\nx\n== processes\n1 (a) S\n== titles\n1 init x";
    for line in lines.lines() {
        assert_eq!(stream.take(line), None, "{line}");
    }
    let look = stream.take("== end").unwrap();
    assert_eq!((look.file("stat"), look.file("net/dev")), ("cpu  1\ncpu0 1\n", ""));
    assert_eq!(look.processes.as_deref(), Some("1 (a) S\n"));
    assert_eq!(digested(look).titles, HashMap::from([(1, "init x".to_owned())]));
    assert_eq!(stream.take("== stat"), None);
    assert_eq!(stream.take("== end").unwrap().processes, None);
}

#[test]
fn any_login_shell_can_be_handed_the_script() {
    assert!(!script().contains(['\'', '\n', '!']), "{}", script());
}

/// A program in place of `ssh`.
fn fake(directory: &Path, script: &str) -> Command {
    let path = directory.join("ssh");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::os::unix::fs::PermissionsExt::set_mode(&mut std::fs::metadata(&path).unwrap().permissions(), 0o755);
    let mut command = Command::new("sh");
    command.arg(path);
    command
}

/// Returns the reports of a watch over this program, and its stop.
fn watched(program: Command) -> (Receiver<MachineReport>, Sender<Wake>, std::thread::JoinHandle<()>) {
    let (reported, received) = channel();
    let (own, wake) = channel();
    let stop = own.clone();
    let report: Sink = Arc::new(move |what| reported.send(what).unwrap());
    let thread = std::thread::spawn(move || {
        let observer = Observer::of_server(Tally::elsewhere(None));
        watch(program, &["me@db1".to_owned()], observer, &own, &wake, &report);
    });
    (received, stop, thread)
}

fn left_out(received: &Receiver<MachineReport>) -> String {
    loop {
        match received.recv_timeout(Duration::from_secs(60)).unwrap() {
            MachineReport::LeftOut { source: MACHINE, why } => return why,
            MachineReport::LeftOut { .. } | MachineReport::Frame(_) => {}
        }
    }
}

/// Does what a login shell there would do: all options, the host, and the command.
const LOGIN: &str =
    "case \"$*\" in *BatchMode=yes*\" me@db1 \"*) ;; *) exit 9;; esac; for last; do :; done; eval \"$last\"";

#[test]
#[cfg(target_os = "linux")]
fn a_shell_at_the_other_end_shows_its_machine() {
    let directory = tempfile::tempdir().unwrap();
    let (received, stop, thread) = watched(fake(directory.path(), &format!("echo Welcome; {LOGIN}")));
    let (mut machine, mut driver) = (None, None);
    while machine.is_none() || driver.is_none() {
        match received.recv_timeout(Duration::from_secs(60)).unwrap() {
            MachineReport::Frame(frame) if frame.source == MACHINE => machine = Some(frame.rows[0].clone()),
            // It is this machine, recognised by the id of its start.
            MachineReport::Frame(frame) => {
                driver = frame.rows.into_iter().find(|row| row[0].as_deref() == Some("driver"))
            }
            other => panic!("{other:?}"),
        }
    }
    let cpus = std::fs::read_to_string("/proc/stat").unwrap().matches("\ncpu").count();
    assert_eq!(machine.unwrap()[0], Some(cpus.to_string()));
    assert_ne!(driver.unwrap()[2].as_deref(), Some("0"));
    stop.send(Wake::Stop).unwrap();
    thread.join().unwrap();
}

#[test]
fn what_does_not_work_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let denied = "echo \"me@db1: Permission denied (publickey).\" >&2; exit 255";
    let (received, _stop, _) = watched(fake(directory.path(), denied));
    assert_eq!(
        left_out(&received),
        "ssh me@db1: it returned nothing: exit status: 255; it said: me@db1: Permission denied (publickey)."
    );
    let (received, _stop, _) = watched(Command::new("/nonexistent/ssh"));
    assert!(left_out(&received).starts_with("ssh me@db1: it could not be started: No such file"));
    // Another system, without /proc.
    let (received, _stop, _) =
        watched(fake(directory.path(), "read -r asked; echo \"== stat\"; echo \"== end\"; read -r asked"));
    let why = left_out(&received);
    assert!(why.ends_with("/proc/stat has an unexpected format: \"\"; is that machine Linux?"), "{why}");
    let (received, stop, thread) = watched(fake(directory.path(), "sleep 600"));
    stop.send(Wake::Stop).unwrap();
    assert!(left_out(&received).starts_with("ssh me@db1: no answer within"));
    thread.join().unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn one_that_dies_in_the_middle_leaves_what_it_showed() {
    let directory = tempfile::tempdir().unwrap();
    // It forwards two requests.
    let script =
        format!("{{ read -r a; echo \"$a\"; read -r a; echo \"$a\"; }} | {{ {LOGIN}; }}; echo lost >&2; exit 255");
    let (received, _stop, thread) = watched(fake(directory.path(), &script));
    thread.join().unwrap();
    let reported: Vec<MachineReport> = received.try_iter().collect();
    assert!(
        reported.iter().any(|reported| matches!(reported, MachineReport::Frame(frame) if frame.source == MACHINE)),
        "{reported:?}"
    );
    let last = MachineReport::LeftOut {
        source: MACHINE,
        why: "ssh me@db1: it ended after 2 samples: exit status: 255; it said: lost".to_owned(),
    };
    assert_eq!(reported.last(), Some(&last));
}
