//! Commands as users write them, good and bad, run by a real shell.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use super::*;

/// Returns the reports of this command until `enough`, and after it was stopped.
fn reported(command: &str, enough: impl Fn(&[MachineReport]) -> bool) -> Vec<MachineReport> {
    let (own, wake) = channel();
    let (reported, received) = channel();
    let stop = own.clone();
    let report: Sink = Arc::new(move |what| reported.send(what).unwrap());
    let command = command.to_owned();
    let thread = std::thread::spawn(move || watch(&command, Some(4.0), &own, &wake, &report));
    let mut all = Vec::new();
    while !enough(&all) {
        all.push(received.recv_timeout(Duration::from_secs(60)).unwrap());
    }
    // After a failure there are no more reports.
    let _ = stop.send(Wake::Stop);
    thread.join().unwrap();
    all.extend(received.try_iter());
    all
}

fn left_out(reported: &[MachineReport]) -> Vec<&str> {
    reported
        .iter()
        .filter_map(
            |reported| if let MachineReport::LeftOut { why, .. } = reported { Some(why.as_str()) } else { None },
        )
        .collect()
}

fn frames(reported: &[MachineReport]) -> Vec<&Frame> {
    reported
        .iter()
        .filter_map(|reported| if let MachineReport::Frame(frame) = reported { Some(frame) } else { None })
        .collect()
}

#[test]
fn rows_come_as_they_are_printed_and_stand_at_their_own_time() {
    let command = "echo at,cpu_percent; echo $(( $(date +%s) - 60 )),50; echo ,75; exec sleep 600";
    let all = reported(command, |reported| reported.len() == 2);
    let [first, second] = frames(&all)[..] else { panic!("{all:?}") };
    assert_eq!((first.rows[0][1].as_deref(), second.rows[0][1].as_deref()), (Some("2"), Some("3")));
    let apart = second.at.duration_since(first.at).as_secs();
    assert!((59..600).contains(&apart), "{apart}");
    assert_eq!(left_out(&all), [""; 0]);
}

#[test]
fn what_is_wrong_is_reported_and_the_rest_is_taken() {
    let all = reported("echo busy_cpus,bussy; echo 1,2; echo 1; echo 2; echo 3,4; exec sleep 600", |reported| {
        reported.len() == 4
    });
    assert_eq!(frames(&all).len(), 2);
    assert_eq!(
        left_out(&all),
        [
            "the command of --os-metrics: column \"bussy\" is not known",
            "the command of --os-metrics: line 3: 1 values for 2 columns; such lines are skipped"
        ]
    );
}

#[test]
fn one_that_ends_early_prints_garbage_or_nothing_is_reported() {
    let any = |reported: &[MachineReport]| !left_out(reported).is_empty();
    let all = reported("echo busy_cpus; echo 1; echo token expired >&2; exit 3", any);
    let why = "the command of --os-metrics: it ended after 1 rows: exit status: 3; it said: token expired";
    assert_eq!(left_out(&all), [why]);
    let all = reported("head -c 100000 /dev/urandom; exec sleep 600", any);
    assert!(left_out(&all)[0].contains("names no column that is known"), "{all:?}");
    let all = reported("no-such-program-here", any);
    assert!(left_out(&all)[0].contains("it ended after 0 rows: exit status: 127"), "{all:?}");
    let all = reported("exec sleep 600", |_| true);
    assert!(left_out(&all)[0].contains("it printed no row within"), "{all:?}");
}

/// Returns true if a process is gone, or a zombie.
#[cfg(target_os = "linux")]
fn is_gone(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with('Z'))
}

#[cfg(target_os = "linux")]
fn wait_for_end(pid: &str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_gone(pid) {
        assert!(Instant::now() < deadline, "process {pid} still runs");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn it_ends_with_the_run_and_all_that_it_started() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("pids");
    let command = format!("trap \"\" TERM; sleep 600 & echo $$ $! > {}; echo cpus; echo 1; wait", file.display());
    reported(&command, |reported| !reported.is_empty());
    let pids = std::fs::read_to_string(&file).unwrap();
    assert_eq!(pids.split_whitespace().count(), 2);
    pids.split_whitespace().for_each(wait_for_end);
}

#[test]
#[cfg(target_os = "linux")]
fn it_ends_where_we_are_killed() {
    let mut shell = Command::new("sh");
    shell.args(["-c", GUARDED, "sh", "echo $$; exec sleep 600"]);
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    let mut shell = shell.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut pid = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(shell.stdout.take().unwrap()), &mut pid).unwrap();
    assert!(!is_gone(pid.trim()));
    // As the kernel does for a process that was killed.
    drop(shell.stdin.take());
    assert!(!shell.wait().unwrap().success());
    wait_for_end(pid.trim());
}
