//! The module `local` and its program, on this machine.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, lchown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Workbench, clouds};
use crate::postgres;
use crate::program::{PATIENCE, Ran, eventually, finish};

/// A directory that every user can enter, so that root's servers can run in it.
struct Root(PathBuf);

impl Root {
    fn new(name: &str) -> Self {
        let path = PathBuf::from(format!("/tmp/pgdyno-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// Runs the module's program for one size.
    fn server(&self, action: &str, with: &[(&str, &str)]) -> Ran {
        let mut command = self.command(action);
        command.envs(with.iter().copied());
        finish(command)
    }

    fn command(&self, action: &str) -> Command {
        let mut command = Command::new("sh");
        command.arg(clouds().join("local/server.sh")).arg(action).arg(self.0.join("1cpu")).stdin(Stdio::null());
        command.env("PGDYNO_CPUS", "1").env("PGDYNO_MEMORY_MB", "128").env("PGDYNO_LAB", self.0.file_name().unwrap());
        command.env("PGDYNO_BIN", postgres::bin());
        command
    }

    fn files(&self) -> Vec<String> {
        fs::read_dir(&self.0).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        drop(self.command("stop").output());
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Asks a server on a socket; returns what psql says.
fn psql(directory: &Path, password: &str, sql: &str) -> Ran {
    let mut command = Command::new(postgres::program("psql"));
    command
        .args(["-X", "-At", "-U", "pgdyno", "-c", sql, "-h"])
        .arg(directory)
        .arg("pgdyno")
        .env("PGPASSWORD", password);
    finish(command)
}

/// Returns the files below a directory that contain a text.
fn files_with(directory: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, text));
        } else if fs::read(&path).is_ok_and(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes())) {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_local_server_is_made_limited_and_destroyed() {
    if !postgres::available("a local server of the modules") {
        return;
    }
    let Some(bench) = Workbench::without_provider() else { return };
    let root = Root::new("lab");
    let size = serde_json::json!({
        "variable": { "password": { "type": "string", "ephemeral": true, "sensitive": true, "default": null } },
        "module": { "size": {
            "source": "../local", "lab": "lab", "size": "1cpu", "expires": 1_800_000_000, "cpu": 1, "memory_mb": 256,
            "root": root.0, "postgres_bin": postgres::bin(), "settings": { "work_mem": "8MB" }, "password": "${var.password}",
        } },
        "output": { "pgdyno": { "value": "${module.size.pgdyno}" } },
    });
    fs::create_dir(bench.path("size")).unwrap();
    fs::write(bench.path("size").join("main.tf.json"), size.to_string()).unwrap();
    bench.run("size", &["init", "-no-color"]).ok();
    let secret = "it's-geheim99";
    let applied = bench.run("size", &["apply", "-no-color", "-auto-approve", &format!("-var=password={secret}")]).ok();
    assert!(!applied.stdout.contains(secret) && !applied.stderr.contains(secret), "{}", applied.stdout);
    let output = bench.run("size", &["output", "-json", "pgdyno"]).ok().stdout;
    let output: serde_json::Value = serde_json::from_str(&output).unwrap();
    let directory = root.0.join("1cpu");
    let expected = serde_json::json!({
        "host": directory, "port": 5432, "user": "pgdyno", "database": "pgdyno", "driver": null, "cores": 1,
        "sslmode": "disable", "instance": directory,
    });
    assert_eq!(output, expected);
    let shown = psql(&directory, secret, "SELECT current_setting('shared_buffers'), current_setting('work_mem')").ok();
    assert_eq!(shown.stdout, "64MB|8MB\n");
    assert!(psql(&directory, "wrong", "SELECT 1").stderr.contains("password authentication failed"));
    let pid = fs::read_to_string(directory.join("data/postmaster.pid")).unwrap().lines().next().unwrap().to_owned();
    // Neither the state nor the server's files and environment have it.
    let environment = String::from_utf8_lossy(&fs::read(format!("/proc/{pid}/environ")).unwrap()).into_owned();
    assert!(!environment.contains("geheim99"), "{environment}");
    let written = [files_with(bench.directory.path(), "geheim99"), files_with(&root.0, "geheim99")].concat();
    assert!(written.is_empty(), "{written:?}");
    // Where a control group may not be made, the server is pinned to one CPU.
    let made = fs::read_to_string(directory.join("made-by-pgdyno")).unwrap();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let pinned = status.lines().any(|line| line == "Cpus_allowed_list:\t0");
    assert!(pinned || !made.ends_with("group=\n"), "{made}");
    bench.run("size", &["destroy", "-no-color", "-auto-approve"]).ok();
    assert_eq!(root.files(), Vec::<String>::new());
    // What has ended is in /proc until its parent, the system's first process, has seen it.
    let status = || fs::read_to_string(format!("/proc/{pid}/status"));
    let ended = || status().map_or(true, |text| text.contains("State:\tZ"));
    eventually("the server ends", PATIENCE, ended);
    let group = made.lines().find_map(|line| line.strip_prefix("group=")).unwrap();
    assert!(group.is_empty() || !Path::new(group).exists(), "{group}");
}

/// What another user puts where servers of labs are is not run.
#[test]
fn a_directory_of_another_user_is_refused() {
    if !rustix::process::geteuid().is_root() {
        crate::skipped::skipped("a lab's directory of another user: this user is not root");
        return;
    }
    let root = Root::new("strange");
    let directory = root.0.join("1cpu");
    let (bin, executed) = (root.0.join("evil"), root.0.join("executed"));
    for made in [&directory.join("data"), &bin] {
        fs::create_dir_all(made).unwrap();
    }
    fs::write(directory.join("data/postmaster.pid"), "1\n").unwrap();
    fs::write(bin.join("pg_ctl"), format!("#!/bin/sh\ntouch {}\n", executed.display())).unwrap();
    fs::set_permissions(bin.join("pg_ctl"), fs::Permissions::from_mode(0o755)).unwrap();
    let made = |user: &str| {
        fs::write(directory.join("made-by-pgdyno"), format!("bin={}\nuser={user}\n", bin.display())).unwrap();
    };
    let is_refused = |why: &str| {
        for action in ["start", "stop"] {
            let ran = root.server(action, &[]);
            assert!(ran.code == Some(1) && ran.stderr.contains(why) && !executed.exists(), "{}", ran.stderr);
        }
    };
    made("root");
    is_refused("names another user than the server's");
    made("postgres");
    lchown(&root.0, Some(65_534), None).unwrap();
    is_refused("belongs to another user");
    lchown(&root.0, Some(0), None).unwrap();
    fs::set_permissions(&root.0, fs::Permissions::from_mode(0o777)).unwrap();
    is_refused("other users can write to");
    // For the end of the test, which stops a server.
    fs::remove_file(directory.join("made-by-pgdyno")).unwrap();
}

#[test]
fn a_local_server_that_fails_to_start_leaves_nothing() {
    if !postgres::available("a local server of the modules that fails") {
        return;
    }
    let root = Root::new("fail");
    for (variable, value, said) in [
        ("PGDYNO_CPUS", "100000", "this machine has"),
        ("PGDYNO_BIN", "/nowhere", "there is no initdb in /nowhere; correct postgres_bin"),
        ("PGDYNO_SETTINGS", "work_mem = 'much'\n", "invalid value for parameter \"work_mem\""),
    ] {
        let ran = root.server("start", &[(variable, value)]);
        assert!(ran.code == Some(1) && ran.stderr.contains(said), "{variable}={value}: {}", ran.stderr);
        assert!(
            ran.stderr.starts_with(&format!("failed to start the server in {}", root.0.display())),
            "{}",
            ran.stderr
        );
        assert_eq!(root.files(), Vec::<String>::new(), "{variable}={value}");
    }
    // A directory of someone else's is not touched.
    fs::create_dir(root.0.join("1cpu")).unwrap();
    fs::write(root.0.join("1cpu/mine"), "").unwrap();
    for (action, code) in [("start", 1), ("stop", 0)] {
        let ran = root.server(action, &[]);
        assert_eq!(ran.code, Some(code), "{}", ran.stderr);
        assert!(root.0.join("1cpu/mine").exists());
    }
}

#[test]
fn a_local_server_starts_after_its_program_was_killed_at_any_time() {
    if !postgres::available("a local server of the modules that is killed") {
        return;
    }
    let root = Root::new("kill");
    for wait_ms in [30, 120, 350, 700, 1_100] {
        let mut child = root.command("start").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(wait_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        root.server("start", &[]).ok();
        assert_eq!(psql(&root.0.join("1cpu"), "", "SELECT 1").ok().stdout, "1\n", "killed after {wait_ms} ms");
    }
    // A server that was killed is removed too.
    let pid = fs::read_to_string(root.0.join("1cpu/data/postmaster.pid")).unwrap();
    let pid = rustix::process::Pid::from_raw(pid.lines().next().unwrap().parse().unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    root.server("stop", &[]).ok();
    assert_eq!(root.files(), Vec::<String>::new());
}
