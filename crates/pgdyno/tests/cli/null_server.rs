//! Driving a server that only answers: what the engine itself does and can.

use pgdyno_testing::directory::TestDirectory;

use crate::program::{Home, PATIENCE, Run, eventually, finish};

/// Runs against the null server and returns the record.
fn drive(home: &Home, args: &[&str]) -> Run {
    let args: Vec<_> = ["run", "select-only", "--target", "null"].iter().chain(args).copied().collect();
    home.run(&args).ok().says(&[]).prints(&["pgdyno null server", "the driver's ceiling"]);
    let run = home.runs().pop().unwrap();
    assert_eq!(run.text("/status"), "complete");
    run
}

/// Returns whether this user may open so many files; says that a test is skipped where not.
fn may_open(files: u64) -> bool {
    let most = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
    let may = most.is_none_or(|most| most >= files);
    if !may {
        crate::skipped::skipped(&format!("{files} open files: the hard limit is {}", most.unwrap_or_default()));
    }
    may
}

#[test]
fn five_thousand_clients_fit_in_one_process() {
    if !may_open(6000) {
        return;
    }
    let few = drive(&Home::new(), &["-c", "1", "-T", "500ms", "--ramp", "0"]);
    let home = Home::new();
    let many = drive(&home, &["-c", "5000", "-T", "2", "--ramp", "0"]);
    assert_eq!(many.number("/plan/clients"), 5000.0);
    // In a closed loop each client has had its turn.
    assert!(many.number("/summary/committed") >= 5000.0);
    assert_eq!(many.number("/summary/failed"), 0.0);
    // What one client needs is the base: the program, its threads and its histograms.
    let more = many.number("/client/rss_bytes_max") - few.number("/client/rss_bytes_max");
    assert!(more < 4999.0 * 64.0 * 1024.0, "{more} bytes for 4,999 clients");
    home.assert_clean();
}

#[test]
fn a_number_of_transactions_is_kept_to_the_one_in_every_query_mode() {
    for mode in ["simple", "extended", "prepared"] {
        let run = drive(&Home::new(), &["-c", "7", "-j", "2", "-t", "43", "-M", mode]);
        assert_eq!(run.number("/summary/committed"), 301.0, "{mode}");
        assert_eq!((run.text("/plan/mode"), run.number("/client/threads")), (mode, 2.0));
    }
    for workload in ["tpcb-like", "simple-update", "tproc-c"] {
        let home = Home::new();
        home.run(&["run", workload, "--target", "null", "-c", "3", "-t", "50", "-q"]).ok();
        assert_eq!(home.the_run().number("/summary/committed"), 150.0, "{workload}");
    }
}

#[test]
fn a_null_server_that_another_user_runs_keeps_no_data_and_is_asked_for_none() {
    let home = Home::new();
    let sockets = TestDirectory::new("null");
    let _server = home.start(&["server", "null", "--socket-dir", sockets.path().to_str().unwrap()]);
    eventually("it answers", PATIENCE, || sockets.path().join(".s.PGSQL.5432").exists());
    let target = format!("host={} user=u dbname=d", sockets.path().display());
    home.run(&["plan", "tproc-c", "-w", "1", "--target", &target]).ok();
    home.run(&["run", "tproc-c", "-w", "1", "-t", "5", "-q", "--target", &target]).ok();
    for command in ["load", "check", "drop"] {
        home.run(&[command, "tproc-c", "--target", &target]).ended(1).says(&["is a null server, which keeps no data"]);
    }
}

#[test]
fn libpqs_form_is_in_plan_and_record_and_the_usual_one_is_not() {
    for (args, wire) in [(&["-t", "5"][..], None), (&["-t", "5", "--wire", "libpq"], Some("libpq"))] {
        let run = drive(&Home::new(), &[&["-c", "3"], args].concat());
        assert_eq!(run.record.pointer("/plan/wire").and_then(|wire| wire.as_str()), wire);
        assert_eq!(run.number("/summary/committed"), 15.0);
    }
    Home::new().run(&["plan", "select-only", "--target", "null", "--wire", "libpq"]).ok().prints(&["in libpq's form"]);
}

#[cfg(target_os = "linux")]
#[test]
fn pinned_threads_are_in_plan_and_record() {
    let home = Home::new();
    let run = drive(&home, &["-c", "4", "-j", "1", "-t", "50", "--pin"]);
    let pinned = run.record.pointer("/client/pinned").and_then(|cpus| cpus.as_array()).map(Vec::len);
    assert_eq!((run.text("/plan/pin"), pinned, run.number("/summary/committed")), ("all", Some(1), 200.0));
    let refused = home.run(&["run", "select-only", "--target", "null", "-t", "1", "--pin=1023"]).ended(1);
    refused.says(&["--pin names CPU 1023", "it may use"]);
    let refused = home.run(&["run", "select-only", "--target", "null", "-t", "1", "-c", "900", "-j", "900", "--pin"]);
    refused.ended(1).says(&["for 900 engine threads", "lower --threads"]);
}

#[test]
fn a_rate_is_kept() {
    for arrivals in ["uniform", "poisson"] {
        let home = Home::new();
        let run = drive(&home, &["-c", "8", "-R", "500", "--arrivals", arrivals, "-T", "2", "--ramp", "0"]);
        let committed = run.number("/summary/committed");
        // Poisson: five standard deviations of 1000 arrivals. Uniform: a machine that stalls at the end misses a few.
        let spread = if arrivals == "poisson" { 160.0 } else { 50.0 };
        assert!((committed - 1000.0).abs() < spread, "{arrivals}: {committed}");
        let (response, service) = ("/summary/response_latency_ns/mean", "/summary/service_latency_ns/mean");
        assert!(run.number(response) >= run.number(service));
        // Every transaction of every client is done, however they arrive.
        let run = drive(&home, &["-c", "8", "-R", "2000", "--arrivals", arrivals, "-t", "20"]);
        assert_eq!(run.number("/summary/committed"), 160.0);
    }
}

/// Far more than a connection can do: clients that wait at the end are in the record and in the report.
#[test]
fn what_still_waits_at_the_end_is_reported() {
    let home = Home::new();
    let args = "run select-only --target null -c 8 --connections 1 -R 1000000 -T 1 --ramp 0";
    home.run(&args.split(' ').collect::<Vec<_>>()).ok().prints(&["still waiting at the end, for up to"]);
    let run = home.the_run();
    assert_ne!(run.text("/status"), "invalid");
    assert!(run.number("/summary/still_waiting") > 0.0 && run.number("/summary/still_waiting_s_max") > 0.0);
}

#[test]
fn the_same_seed_is_in_the_record_and_plans_that_differ_by_it_are_the_same() {
    let home = Home::new();
    drive(&home, &["-t", "1", "--random-seed", "7"]);
    drive(&home, &["-t", "1", "--random-seed", "8"]);
    let runs = home.runs();
    let seeds: std::collections::BTreeSet<_> = runs.iter().map(|run| run.number("/plan/seed") as u64).collect();
    assert_eq!(seeds, [7, 8].into());
    assert_eq!(runs[0].text("/plan_hash"), runs[1].text("/plan_hash"));
}

#[test]
fn a_low_limit_of_open_files_is_raised_or_reported() {
    if !may_open(1200) {
        return;
    }
    let home = Home::new();
    let run = "exec \"$0\" run select-only --target null -c 1000 -t 2";
    let raised = finish(home.shell(&format!("ulimit -Sn 256; {run}"))).ok();
    raised.says(&["raised the limit of open files from 256 to "]);
    assert_eq!(home.the_run().number("/summary/committed"), 2000.0);

    let refused = finish(home.shell(&format!("ulimit -n 256; {run}"))).ended(1);
    refused.says(&["1000 clients need", "the hard limit is 256", "ulimit -Hn", "--clients"]);
    assert_eq!(home.runs().len(), 1, "and nothing else is done");
}

#[test]
fn its_server_goes_however_the_run_ends() {
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::KILL] {
        let home = Home::new();
        let sockets = TestDirectory::new("null");
        let mut command =
            home.command(["run", "select-only", "--target", "null", "-R", "1000", "-T", "1h", "--ramp", "0"]);
        command.env("TMPDIR", sockets.path());
        let mut running = crate::program::Running::new(command);
        running.until_it_says("progress:", 1);
        let below = crate::program::descendants(running.pid());
        assert!(below.iter().any(|p| p.args.contains("server null")), "its server is a process of its own");
        running.signal(signal);
        if signal == rustix::process::Signal::INT {
            running.end().ended(130);
        } else {
            drop(running);
        }
        let pids: Vec<_> = below.iter().map(|p| p.pid).collect();
        crate::program::eventually("the null server is gone", std::time::Duration::from_secs(10), || {
            crate::program::processes().iter().all(|p| !pids.contains(&p.pid))
        });
        assert_eq!(std::fs::read_dir(sockets.path()).unwrap().count(), 0, "and its directory");
    }
}
