//! Who used the machines' CPUs: on this machine, over ssh, and by a command of the user's.

use std::os::unix::fs::PermissionsExt;
use std::time::Instant;

use pgdyno_testing::busy::Busy;

use crate::given_server::{Place, TRUST};
use crate::program::{Home, Run, finish};
use crate::server;

fn home() -> Option<Home> {
    server::available("the machines").then(Home::of_an_ordinary_user)
}

/// A short run, and what was said of it.
fn run(home: &Home, more: &[&str], path: Option<String>) -> (Run, String) {
    let args = ["run", "select-only", "-s", "1", "-c", "2", "-T", "4", "--ramp", "0", "--no-check"];
    let mut command = home.command(args.iter().chain(more));
    command.envs(path.map(|path| ("PATH", path)));
    let ran = finish(command).ok();
    (home.the_run(), ran.stdout)
}

fn left_out(run: &Run) -> String {
    run.record["samples"]["left_out"].to_string()
}

/// CPU time of a process, in seconds, by the kernel's count in ticks of a hundredth.
fn cpu_s(pid: u32) -> f64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

#[test]
#[cfg(target_os = "linux")]
fn cpu_is_shared_out_among_server_driver_and_other_programs() {
    let Some(home) = home() else { return };
    let program = Busy::start(1);
    let began = Instant::now();
    let (run, said) = run(&home, &[], None);
    let share = cpu_s(program.pid()) / began.elapsed().as_secs_f64();
    drop(program);
    assert_eq!(run.text("/server_machine/seen_by"), "local");
    let [cpus, busy, driver, other] =
        ["cpus", "busy_cpus", "driver_cpus", "other_cpus"].map(|name| run.number(&format!("/server_machine/{name}")));
    let backends = run.number("/server_machine/server_cpus/client backend");
    assert!(backends > 0.0 && driver > 0.0, "{backends} {driver}");
    assert!(other > 0.3 * share, "{other} of others, one of whom used {share}");
    assert!(backends + driver + other < 1.1 * busy + 0.1 && busy <= cpus, "{}", run.record["server_machine"]);
    let percent = run.number("/summary/server_cpu_percent");
    assert!((percent - busy / cpus * 100.0).abs() < 1.0, "{percent}");
    assert!(said.contains("CPU     ") && said.contains("server ") && said.contains("other programs "), "{said}");
    let warned = said.contains("! other programs used ");
    assert_eq!(warned, other > 0.1_f64.max(0.05 * cpus), "{other}\n{said}");
    let processes = std::fs::read_to_string(run.path.join("samples/processes.csv")).unwrap();
    for kind in ["checkpointer", "walwriter", "postmaster", "driver", "other"] {
        assert!(processes.contains(&format!(",{kind},")), "{kind}: {processes}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_of_another_user_is_found_among_the_processes() {
    let Some(place) = Place::new("a server of another user", "", TRUST) else { return };
    // Root runs it as the account postgres, and the program as nobody.
    let place = Place { home: Home::of_an_ordinary_user(), ..place };
    place.run("run select-only -s 1 -c 1 -R 500 -T 3 --ramp 0").ok().prints(&["CPU     ", "server "]);
    let run = place.home.the_run();
    assert!(run.number("/server_machine/server_cpus/client backend") > 0.0, "{}", run.record["server_machine"]);
}

#[test]
#[cfg(target_os = "linux")]
fn another_machine_is_looked_at_over_ssh() {
    let Some(home) = home() else { return };
    // What ssh does at the other end with its last argument, by the login shell there.
    let bin = home.join("bin");
    std::fs::create_dir(&bin).unwrap();
    let words = home.join("words");
    let ssh = format!("#!/bin/sh\necho \"$*\" > {}\nfor last; do :; done\neval \"$last\"\n", words.display());
    std::fs::write(bin.join("ssh"), ssh).unwrap();
    for (path, mode) in [(bin.join("ssh"), 0o755), (bin.clone(), 0o755), (home.path().to_owned(), 0o777)] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let (run, said) = run(&home, &["-R", "1000", "--os-metrics", "ssh -p 2222 me@db1"], Some(path));
    assert!(std::fs::read_to_string(&words).unwrap().contains(" -o BatchMode=yes "));
    assert!(std::fs::read_to_string(&words).unwrap().contains(" -p 2222 me@db1 exec sh -c "));
    assert_eq!(run.text("/plan/watch/os"), "ssh me@db1");
    assert_eq!(run.text("/server_machine/seen_by"), "ssh me@db1");
    // By titles that the shell at the other end has read.
    assert!(run.number("/server_machine/server_cpus/client backend") > 0.0);
    assert!(run.number("/server_machine/cpus") >= 1.0 && run.number("/client_machine/cpus") >= 1.0);
    assert!(said.contains("the server's machine: "), "{said}");
    assert!(!left_out(&run).contains("ssh"), "{}", left_out(&run));
}

#[test]
fn an_ssh_that_leads_nowhere_costs_nothing_but_a_word() {
    let Some(home) = home() else { return };
    let (run, _) = run(&home, &["-R", "1000", "--os-metrics", "ssh -o ProxyCommand=false me@db1.invalid"], None);
    assert!(run.record.get("server_machine").is_none());
    assert!(left_out(&run).contains("ssh me@db1.invalid: it "), "{}", left_out(&run));
}

#[test]
fn a_command_of_the_users_shows_the_machine_and_is_kept_nowhere() {
    let Some(home) = home() else { return };
    let command = "token=geheim; echo cpu_percent,disk_write_byte_per_s; while echo 50,7; do sleep 0.2; done";
    let (run, _) = run(&home, &["-R", "1000", "--os-metrics", command], None);
    assert_eq!((run.text("/plan/watch/os"), run.text("/server_machine/seen_by")), ("command", "command"));
    assert_eq!(run.number("/summary/server_cpu_percent"), 50.0);
    assert!(left_out(&run).contains("did you mean disk_write_bytes_per_s?"), "{}", left_out(&run));
    assert!(!run.record.to_string().contains("geheim"));
    home.assert_clean();
}

#[test]
fn a_target_names_how_its_machine_is_looked_at_and_no_samples_takes_none() {
    let Some(home) = home() else { return };
    let target =
        "[target.here]\ndsn = 'embedded'\nvcpus = 8\nos_metrics = 'echo busy_cpus; while echo 2; do sleep 0.2; done'\n";
    std::fs::write(home.join("pgdyno.toml"), target).unwrap();
    let (run, _) = run(&home, &["-R", "1000", "--target", "here"], None);
    assert_eq!((run.number("/summary/server_cpu_percent"), run.number("/server_machine/cpus")), (25.0, 8.0));
    home.run(&["run", "select-only", "-s", "1", "-T", "500ms", "--ramp", "0", "--no-samples", "--target", "here"]).ok();
    let last = home.runs().pop().unwrap();
    assert!(last.record.get("server_machine").is_none() && last.record.get("samples").is_none());
    assert_eq!(last.at("/plan/watch/off"), true);
}
