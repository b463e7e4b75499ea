//! Disks that fill: the server's while it is loaded and while it is driven, and the client's own.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::given_server::{Place, TRUST};
use crate::program::Home;
use crate::server::{self, TestServer};
use crate::skipped::skipped;

/// A small file system of its own; unmounted with its value.
pub(crate) struct Disk {
    dir: tempfile::TempDir,
}

impl Disk {
    /// `None`, aloud, where nothing may be mounted.
    pub(crate) fn new(test: &str, megabytes: u32) -> Option<Self> {
        let dir = tempfile::Builder::new().prefix("pgdyno-disk").tempdir().unwrap();
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={megabytes}m,mode=0777"), "tmpfs"])
            .arg(dir.path())
            .output();
        match mount {
            Ok(output) if output.status.success() => Some(Self { dir }),
            Ok(output) => {
                let why = String::from_utf8_lossy(&output.stderr).trim().to_owned();
                skipped(&format!("{test}: no file system can be mounted here: {why}"));
                None
            }
            Err(error) => {
                skipped(&format!("{test}: mount cannot be run: {error}"));
                None
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Fills it to the last byte, however much others write there meanwhile.
    pub(crate) fn fill(&self) {
        let mut file = std::fs::File::create(self.path().join("filling")).unwrap();
        for size in [1 << 20, 4096, 1] {
            let full = loop {
                if let Err(error) = file.write_all(&vec![0; size]) {
                    break error;
                }
            };
            assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
        }
    }

    /// Removes what filled it.
    pub(crate) fn make_room(&self) {
        std::fs::remove_file(self.path().join("filling")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: whatever still has a file open there lets go of it by itself.
        Command::new("umount").arg("--lazy").arg(self.path()).status().unwrap();
    }
}

/// A server whose database `small` is on a disk of its own, and its WAL is not.
fn place(test: &str, megabytes: u32) -> Option<(Place, Disk)> {
    if !server::available(test) {
        return None;
    }
    let disk = Disk::new(test, megabytes)?;
    let place = Place::new(test, "max_wal_size = 4GB\n", TRUST)?;
    let tables = disk.path().join("tables");
    std::fs::create_dir(&tables).unwrap();
    server::hand_over(&tables);
    place.execute(&format!("create tablespace small location '{}'", tables.display()));
    place.execute("create database small tablespace small");
    Some((place.into_database("small"), disk))
}

#[test]
fn a_load_that_does_not_fit_is_reported_and_leaves_room() {
    let Some((place, disk)) = place("a load that fills the server's disk", 128) else { return };
    for command in ["load", "run"] {
        let ran = place.run(&format!("{command} tpcb-like -s 40")).ended(11);
        ran.says(&["the server's disk is full: failed to", "SQLSTATE 53100", "smaller size", "pgdyno drop"]);
    }
    let run = place.home.the_run();
    assert_eq!((run.text("/status"), run.number("/exit_code")), ("failed", 11.0));
    assert!(run.text("/reason").contains("disk is full"), "{}", run.text("/reason"));
    // What cannot be finished is not taken for data, and with less of it the same disk does.
    place.run("run tpcb-like --no-load -t 1").ended(11).says(&["never finished"]);
    place.run("run tpcb-like -s 1 -c 2 -t 10").ok();
    drop(place);
    drop(disk);
}

#[test]
fn a_run_that_fills_the_servers_disk_keeps_what_it_measured() {
    let Some((place, disk)) = place("a run that fills the server's disk", 128) else { return };
    place.run("load simple-update -s 1").ok();
    let mut running = place.start("run simple-update -c 4 -T 5 --ramp 0");
    running.until_it_says("progress:", 1);
    disk.fill();
    let ran = running.end().ended(2);
    let run = place.home.the_run();
    assert!(["failed", "invalid"].contains(&run.text("/status")), "{}", ran.stdout);
    assert!(run.number("/summary/committed") > 0.0);
    assert_eq!(run.text("/errors/0/sqlstate"), "53100");
    assert_eq!(run.number("/summary/committed") as u64, run.committed_by_intervals());
    ran.prints(&["TRUST   not usable", "error 53100", "No space left", "TPS"]);
    drop(place);
    drop(disk);
}

#[test]
fn a_server_that_ends_by_its_full_disk_ends_the_run() {
    let test = "a server whose WAL fills its disk";
    if !server::available(test) {
        return;
    }
    let Some(disk) = Disk::new(test, 192) else { return };
    let conf = "max_wal_size = 64MB\nmin_wal_size = 32MB\nwal_recycle = off\n";
    let place =
        Place { home: Home::new(), server: TestServer::start_in(disk.path(), conf, TRUST), database: "postgres" };
    let mut running = place.start("run simple-update -s 1 -c 4 -T 1h --ramp 0");
    running.until_it_says("progress:", 1);
    disk.fill();
    // Whichever comes first: a table that cannot grow, or WAL that cannot be written, which ends the server.
    let ran = running.end().ended(2).prints(&["! failed", "TPS"]);
    assert!(ran.stdout.contains("No space left") || ran.stdout.contains("the server was lost"), "{}", ran.stdout);
    let run = place.home.the_run();
    assert!(run.number("/summary/committed") > 0.0);
    assert_eq!(run.number("/summary/committed") as u64, run.committed_by_intervals());
    drop(place);
    drop(disk);
}

#[test]
fn the_clients_own_full_disk_does_not_disturb_a_run() {
    let Some(disk) = Disk::new("the client's own full disk", 1) else { return };
    let home = Home::new();
    let out = disk.path().to_str().unwrap();
    let mut running = home.start(&["run", "noop", "-R", "1000", "-T", "4", "--ramp", "0", "--out", out]);
    running.until_it_says("progress:", 1);
    disk.fill();
    // The figures are on the terminal, and what was written before is whole.
    let ran = running
        .end()
        .ended(2)
        .prints(&["TPS", "  no page; the record is in "])
        .says(&["warning: failed to write", "run.json: No space left"]);
    assert!(!ran.stderr.contains("error:"), "{}", ran.stderr);
    ran.says(&["warning: the page of this run could not be written"]);
    let directory = std::fs::read_dir(disk.path()).unwrap().map(|e| e.unwrap().path()).find(|path| path.is_dir());
    let run = crate::program::Run::read(&directory.unwrap());
    assert_eq!(run.text("/status"), "interrupted", "the record of before");

    // A disk that is full from the beginning is refused.
    home.run(&["run", "noop", "-t", "5", "--out", out]).ended(1).says(&["No space left", "--out"]);
}
