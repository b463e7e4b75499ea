//! Labs whose drivers are reached by ssh: a real sshd on this machine, a real engine and a real server. What is a cloud's is
//! written after its manual: its list of what is left, and its monitoring.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use pgdyno_testing::directory::TestDirectory;
use rustix::process::Signal;
use serde_json::Value;

use crate::cloud::{SECRET, engine, files};
use crate::postgres;
use crate::program::{Home, PATIENCE, Ran, Running, eventually, finish, json, processes};
use crate::sshd::Sshd;

/// The size of the lab.
const SIZE: &str = "4cpu";

/// A home with a lab of one size, whose driver is a directory that is reached by ssh.
struct Place {
    home: Home,
    sshd: Sshd,
    /// The home of the driver's user.
    there: PathBuf,
    _keys: tempfile::TempDir,
    servers: TestDirectory,
}

impl Place {
    fn new(command: &str) -> Option<Self> {
        let real = engine()?;
        let home = Home::new();
        let keys = tempfile::tempdir().unwrap();
        let there = home.join("driver");
        fs::create_dir_all(there.join("bin")).unwrap();
        let path = there.display();
        let key = home.join("pgdyno-results/labs/drv/driver_key.pub");
        let config = format!(
            "AuthorizedKeysFile {}\nForceCommand cd '{path}' && export HOME='{path}' PATH='{path}/bin':\"$PATH\" && eval \"$SSH_ORIGINAL_COMMAND\"\n",
            key.display()
        );
        let sshd = Sshd::start(keys.path(), &config)?;
        // This machine was not begun by cloud-init, which would wait for ever: 2 is how it ends with warnings.
        program(&there.join("bin/cloud-init"), "exit 2");
        let place = Self { home, sshd, there, _keys: keys, servers: TestDirectory::new("lab") };
        place.write_module();
        let module = place.home.join("module");
        // The files of the module are in the place of those of the cloud, whose provider needs the cloud.
        program(
            &place.home.join("engine"),
            &format!(
                "[ \"$1\" != init ] || (cd ../../modules/azure-flexible && rm -f main.tf variables.tf outputs.tf versions.tf && cp '{}'/*.tf .) || exit 1\nexec {} \"$@\"",
                module.display(),
                real.display()
            ),
        );
        place.write_cloud();
        place.write_lab(command);
        Some(place)
    }

    /// Writes the module: a server of the module `local`, and the driver that the lab's file names.
    fn write_module(&self) {
        let local = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pgdyno-cloud/clouds/local").canonicalize().unwrap();
        let variables: String = ["subscription_id", "location", "root", "postgres_bin", "cpu", "driver_machine"]
            .map(|name| format!("variable \"{name}\" {{}}\n"))
            .concat();
        let text = format!(
            "{variables}module \"server\" {{\n  source = {local:?}\n  lab = var.lab\n  size = var.size\n  expires = var.expires\n  \
             password = var.password\n  root = var.root\n  cpu = var.cpu\n  memory_mb = 256\n  postgres_bin = var.postgres_bin\n}}\n\
             output \"pgdyno\" {{\n  value = merge(module.server.pgdyno, {{ driver = var.driver_machine, cores = 4, instance = \"/servers/drv\" }})\n}}\n"
        );
        fs::create_dir(self.home.join("module")).unwrap();
        fs::write(self.home.join("module/main.tf"), text).unwrap();
    }

    /// Writes the cloud's command line, which answers as its manual says: a resource group while there is a server, and means of
    /// minutes from the one in which the window begins: 10, 90, 90, 10, 10.
    fn write_cloud(&self) {
        let script = format!(
            r#"case "$1 $2" in
"group list") if [ -e '{}/{SIZE}' ]; then echo '[{{"name": "pgdyno-drv--{SIZE}", "tags": {{"pgdyno-expires": "1800000000"}}}}]'; else echo '[]'; fi ;;
"monitor metrics")
    while [ "$1" != --start-time ]; do shift; done
    first=$(date -u -d "$(echo "$2" | cut -c1-16)Z" +%s) points='' nth=0
    for value in 10 90 90 10 10; do
        at=$(date -u -d "@$((first + nth * 60))" +%Y-%m-%dT%H:%M:%SZ) nth=$((nth + 1))
        points="$points${{points:+, }}{{\"average\": $value.0, \"timeStamp\": \"$at\"}}"
    done
    echo "{{\"cost\": 0, \"interval\": \"PT1M\", \"value\": [{{\"timeseries\": [{{\"data\": [$points], \"metadatavalues\": []}}]}}]}}" ;;
*) echo "unknown: $*" >&2; exit 2 ;;
esac"#,
            self.servers().display()
        );
        fs::create_dir(self.home.join("bin")).unwrap();
        program(&self.home.join("bin/az"), &script);
    }

    fn write_lab(&self, command: &str) {
        let words: Vec<_> = command.split_whitespace().map(|word| format!("{word:?}")).collect();
        let mut whoami = Command::new("id");
        whoami.arg("-un");
        let user = finish(whoami).ok().stdout;
        let text = format!(
            "name = \"drv\"\nmodule = \"azure-flexible\"\nttl = \"1h\"\nmax_cost = \"10USD\"\n\n[run]\ncommand = [{}]\n\n[variables]\n\
             subscription_id = \"00000000-0000-0000-0000-000000000000\"\nlocation = \"westeurope\"\n\n[[size]]\nname = \"{SIZE}\"\ncpu = 1\n\
             price_per_hour = 2.5\nroot = {:?}\npostgres_bin = {:?}\ndriver_machine = {{ host = \"127.0.0.1\", user = {:?}, port = {} }}\n",
            words.join(", "),
            self.servers().display().to_string(),
            postgres::bin().display().to_string(),
            user.trim(),
            self.sshd.port()
        );
        fs::write(self.home.join("lab.toml"), text).unwrap();
    }

    /// The directory of the server.
    fn servers(&self) -> PathBuf {
        self.servers.path().join("servers")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(args);
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.home.join("bin").display()));
        command.env("PGDYNO_CLOUD_PASSWORD", SECRET).arg("--engine").arg(self.home.join("engine"));
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        finish(self.command(args))
    }

    fn begin(&self) -> Running {
        Running::new(self.command(&["cloud", "run", "lab.toml", "--yes", "--client-cidr", "127.0.0.1/32"]))
    }

    /// The directory of the size on the driver.
    fn of_size(&self) -> PathBuf {
        self.there.join(format!("pgdyno-lab-drv-{SIZE}"))
    }

    /// The record of the only run on the driver.
    fn record_there(&self) -> Option<PathBuf> {
        let entries = fs::read_dir(self.of_size().join("results")).ok()?;
        entries.flatten().map(|entry| entry.path().join("run.json")).find(|path| path.is_file())
    }

    /// Returns true while something runs on the driver.
    fn is_at_work(&self) -> bool {
        let there = self.of_size();
        let is_there =
            |process: fs::DirEntry| fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&there));
        fs::read_dir("/proc").unwrap().flatten().any(is_there)
    }

    fn steps(&self) -> Vec<String> {
        let text = fs::read_to_string(self.home.join("pgdyno-results/labs/drv/journal.jsonl")).unwrap_or_default();
        let entries = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        entries.filter(|entry| entry["size"] == SIZE).map(|entry| entry["step"].as_str().unwrap().to_owned()).collect()
    }

    /// The password is in no file but the driver's password file, which only its user can read.
    fn assert_no_secret(&self) {
        let mut all = Vec::new();
        files(self.home.path(), &mut all);
        let own = self.of_size().join("pgpass");
        assert!(all.contains(&own), "{all:?}");
        assert_eq!(fs::metadata(&own).unwrap().permissions().mode() & 0o777, 0o600);
        // The driver's copy of the program has a hundred megabytes, which grep reads faster than a loop here.
        let mut grep = Command::new("grep");
        grep.args(["-rlF", SECRET]).arg(self.home.path());
        assert_eq!(finish(grep).ok().stdout, format!("{}\n", own.display()), "the password is in these files");
    }

    /// Nothing runs, and there is no server.
    fn assert_gone(&self) {
        assert!(!self.servers().join(SIZE).exists() && !self.is_at_work());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // What a failed test leaves: the suite on the driver, and the server.
        if self.is_at_work() {
            let stop = Command::new("./pgdyno")
                .args(["suite", "stop", "--now"])
                .args(["--out", "results"])
                .current_dir(self.of_size())
                .output();
            drop(stop);
        }
        if self.servers().join(SIZE).exists() {
            let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../pgdyno-cloud/clouds/local/server.sh");
            drop(Command::new("sh").arg(program).arg("stop").arg(self.servers().join(SIZE)).output());
        }
    }
}

/// Writes a script by another process: what another test starts at this moment would inherit an open file of ours.
fn program(path: &Path, script: &str) {
    let mut command = Command::new("sh");
    command.arg("-c").arg("printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$0\" && chmod 755 \"$0\"").arg(path).arg(script);
    finish(command).ok();
}

#[test]
fn a_driver_goes_on_without_its_connection_and_what_it_has_is_fetched_whole() {
    let Some(mut place) = Place::new("run tproc-c -w 1 -c 2 -T 3 -R 50 --ramp 0") else { return };
    // The first archive is damaged on its way.
    program(
        &place.there.join("bin/tar"),
        "if mkdir \"$HOME/damaged\" 2>/dev/null; then cp -r . \"$HOME/damaged/results\"; cd \"$HOME/damaged/results\"; for f in */run.json; do echo >>\"$f\"; done; fi\nexec /usr/bin/tar \"$@\"",
    );
    let mut running = place.begin();
    eventually("a run has begun on the driver", PATIENCE, || place.record_there().is_some());
    let titles: Vec<_> = processes().into_iter().filter(|process| process.args.contains(SECRET)).collect();
    assert!(titles.is_empty(), "{:?}", titles.iter().map(|process| &process.args).collect::<Vec<_>>());
    place.sshd.stop();
    running.until_it_says("the connection is broken", 1);
    eventually("the suite ends", PATIENCE, || !place.is_at_work());
    let path = place.record_there().unwrap();
    let mut record = json(&path);
    assert_eq!(record["status"], "complete", "it went on without its connection");
    // As if it had measured for longer, for the minutes of a cloud are whole, and a server whose machine nobody sees.
    record["summary"]["duration_s"] = 179.0.into();
    record["server_machine"].take();
    fs::write(&path, record.to_string()).unwrap();
    place.sshd.start_again();
    let ran = running.end().ok();
    ran.says(&[
        "the driver answers again",
        "what was fetched is not what the driver has:",
        "trying again",
        "fetched 1 run",
    ])
    .prints(&["NOPM by vCPUs", "lab drv is closed: nothing is left"]);
    place.assert_gone();
    place.assert_no_secret();

    let run = place.home.the_run();
    let machine = run.at("/server_machine");
    assert_eq!(
        (machine["seen_by"].as_str(), machine["cpu_percent"].as_f64()),
        (Some("cloud"), Some(90.0)),
        "{machine}"
    );
    assert_eq!((run.number("/summary/server_cpu_percent"), machine["busy_cpus"].as_f64()), (90.0, Some(3.6)));
    assert!(run.text("/target/labels/verified").contains("real cloud: never"));
    let points = fs::read_to_string(run.path.join("cloud-metrics.csv")).unwrap();
    assert_eq!(points.lines().filter(|line| line.starts_with("cpu_percent,/servers/drv,")).count(), 5, "{points}");
    place.home.run(&["report", "last", "-v"]).ok().prints(&["by the cloud's monitoring", "mean CPU 90 %"]);
    let page = fs::read_to_string(run.path.join("report.html")).unwrap();
    assert!(
        page.contains("by the cloud&#39;s monitoring, mean CPU 90 %")
            || page.contains("by the cloud's monitoring, mean CPU 90 %")
    );
    let list = fs::read_to_string(place.home.join("pgdyno-results/results.csv")).unwrap();
    assert_eq!(list.lines().count(), 2, "{list}");
}

#[test]
fn down_fetches_what_the_driver_has_measured_and_keeps_what_it_cannot_fetch() {
    let Some(mut place) = Place::new("run select-only -s 1 -c 1 -T 60 -R 20 --ramp 0") else { return };
    let mut running = place.begin();
    eventually("a run has begun on the driver", PATIENCE, || place.record_there().is_some());
    running.until_it_says("driving", 1);
    running.signal(Signal::INT);
    running.end().ended(130);
    place.sshd.stop();
    let kept = place.run(&["cloud", "down", "drv"]).ended(15);
    kept.says(&["size 4cpu of lab drv was not destroyed", "pgdyno cloud down drv --discard-results"]);
    assert!(place.servers().join(SIZE).exists() && place.home.runs().is_empty());
    place.sshd.start_again();
    place.run(&["cloud", "down", "drv"]).ok().says(&["fetched 1 run"]).prints(&["nothing is left"]);
    assert_eq!(place.home.the_run().text("/status"), "interrupted");
    place.assert_gone();
}

#[test]
fn a_lab_with_a_driver_is_resumed_after_a_kill_in_each_step() {
    let Some(mut place) = Place::new("run select-only -s 1 -c 1 -T 2 -R 50 --ramp 0") else { return };
    // Ctrl-C while the driver does not answer yet: what was created stays.
    place.sshd.stop();
    let mut running = place.begin();
    running.until_it_says("waiting for the driver and the server", 1);
    running.signal(Signal::INT);
    running.end().ended(130).says(&["pgdyno cloud resume drv"]);
    assert!(place.servers().join(SIZE).exists());
    assert_eq!(place.steps(), ["planned", "applying"]);
    place.sshd.start_again();
    let mut running = Running::new(place.command(&["cloud", "resume", "drv"]));
    for step in ["applying", "up", "driving", "ran", "fetched", "destroying"] {
        eventually(step, PATIENCE, || place.steps().iter().any(|known| known == step));
        running.signal(Signal::KILL);
        drop(running);
        running = Running::new(place.command(&["cloud", "resume", "drv"]));
    }
    let _ = running.end();
    let last = place.run(&["cloud", "resume", "drv"]);
    assert_eq!(last.code, Some(0), "{}\n{}\n{:?}", last.stdout, last.stderr, place.steps());
    assert_eq!(place.steps().last().map(String::as_str), Some("closed"));
    assert_eq!(place.home.the_run().text("/status"), "complete");
    let list = fs::read_to_string(place.home.join("pgdyno-results/results.csv")).unwrap();
    assert_eq!(list.lines().count(), 2, "{list}");
    place.assert_gone();
    place.assert_no_secret();
}
