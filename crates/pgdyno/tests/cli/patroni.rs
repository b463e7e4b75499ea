//! Failovers of a real cluster: three servers under Patroni, with etcd, on this machine.

use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use pgdyno_testing::directory::TestDirectory;
use pgdyno_testing::port::Port;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::program::{Home, Run, Running, eventually};
use crate::serve;
use crate::server;
use crate::skipped::skipped;

const PATRONI: &str = "/usr/bin/patroni";
const PATRONICTL: &str = "/usr/bin/patronictl";
const ETCD: &str = "/usr/bin/etcd";
const NODES: usize = 3;
/// Three servers are made, and two processors may be shared with other tests.
const BOOTSTRAP: Duration = Duration::from_secs(120);

/// A node: the ports of its server and of its Patroni, and the latter's process.
struct Node {
    server: Port,
    api: Port,
    config: PathBuf,
    data: PathBuf,
    patroni: Child,
}

/// A cluster, which ends with this value.
struct Cluster {
    dir: TestDirectory,
    _ports: [Port; 2],
    etcd: Child,
    nodes: Vec<Node>,
}

/// Returns a command of the servers' account, with its output in a file.
fn daemon(program: &str, log: &Path) -> Command {
    let mut command = Command::new(program);
    if let Some((uid, gid)) = server::account() {
        command.uid(uid).gid(gid);
    }
    let log = std::fs::File::create(log).unwrap();
    command.env_clear().env("LC_ALL", "C.UTF-8").env("PATH", std::env::var_os("PATH").unwrap()).current_dir("/");
    command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
    command
}

impl Cluster {
    /// Returns a cluster that waits for a synchronous standby at each commit; none where a program is missing.
    fn new(test: &str) -> Option<Self> {
        if let Some(missing) = [PATRONI, PATRONICTL, ETCD].iter().find(|program| !Path::new(program).exists()) {
            skipped(&format!("{test}: no {missing}"));
            return None;
        }
        if !server::available(test) {
            return None;
        }
        let dir = TestDirectory::new("pgdyno-patroni");
        server::hand_over(dir.path());
        let ports = [Port::reserve(), Port::reserve()];
        let [client, peer] = ports.each_ref().map(|port| format!("http://127.0.0.1:{}", port.number()));
        let mut etcd = daemon(ETCD, &dir.path().join("etcd.log"));
        etcd.arg("--data-dir").arg(dir.path().join("etcd")).args(["--listen-client-urls", &client]);
        etcd.args(["--advertise-client-urls", &client, "--listen-peer-urls", &peer]);
        etcd.args(["--initial-advertise-peer-urls", &peer, "--initial-cluster", &format!("default={peer}")]);
        let etcd = etcd.spawn().unwrap();
        let mut cluster = Self { dir, _ports: ports, etcd, nodes: Vec::new() };
        for number in 1..=NODES {
            let node = cluster.node(number);
            cluster.nodes.push(node);
        }
        eventually("three members run, one of them in synchrony", BOOTSTRAP, || {
            std::thread::sleep(Duration::from_millis(200));
            let roles = cluster.roles();
            let of = |role: &str| roles.iter().filter(|(_, known)| known == role).count();
            (of("leader"), of("sync_standby"), roles.len()) == (1, 1, NODES)
        });
        Some(cluster)
    }

    fn node(&self, number: usize) -> Node {
        let (server, api) = (Port::reserve(), Port::reserve());
        let path = |name: &str| self.dir.path().join(format!("{name}{number}"));
        let (data, config) = (path("data"), path("patroni.yml"));
        let bin = pgdyno_testing::postgres::bin();
        let text = format!(
            "scope: pgdyno\nname: node{number}\nrestapi: {{listen: '127.0.0.1:{api}', connect_address: '127.0.0.1:{api}'}}\n\
             etcd3: {{hosts: '127.0.0.1:{etcd}'}}\n\
             bootstrap:\n  dcs: {{ttl: 20, loop_wait: 1, retry_timeout: 3, synchronous_mode: true, synchronous_mode_strict: true}}\n  \
             initdb: [encoding: UTF8, no-sync, {{auth: trust}}]\n  pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 trust', \
             'host replication all 127.0.0.1/32 trust']\n\
             postgresql:\n  listen: '127.0.0.1:{port}'\n  connect_address: '127.0.0.1:{port}'\n  data_dir: '{data}'\n  bin_dir: '{bin}'\n  \
             pgpass: '{pass}'\n  authentication: {{superuser: {{username: postgres, password: none}}, replication: {{username: copy, \
             password: none}}}}\n  parameters: {{unix_socket_directories: '{socket}', shared_buffers: 16MB, dynamic_shared_memory_type: mmap}}\n",
            api = api.number(),
            etcd = self._ports[0].number(),
            port = server.number(),
            data = data.display(),
            bin = bin.display(),
            pass = path("pgpass").display(),
            socket = self.dir.path().display(),
        );
        std::fs::write(&config, text).unwrap();
        server::hand_over(&config);
        let patroni = daemon(PATRONI, &path("log")).arg(&config).spawn().unwrap();
        Node { server, api, config, data, patroni }
    }

    /// Returns the names and roles of the members that run, from the first Patroni that answers. patronictl would start Python each time.
    fn roles(&self) -> Vec<(String, String)> {
        let ask = |node: &Node| serve::ask(SocketAddr::from(([127, 0, 0, 1], node.api.number())), "/cluster").ok();
        let listed = self.nodes.iter().find_map(|node| serde_json::from_str::<Value>(&ask(node)?.body).ok());
        let runs = |member: &&Value| matches!(member["state"].as_str(), Some("running" | "streaming"));
        let text = |member: &Value, name: &str| member[name].as_str().unwrap_or_default().to_owned();
        let members = listed.as_ref().and_then(|listed| listed["members"].as_array()).into_iter().flatten();
        members.filter(runs).map(|member| (text(member, "name"), text(member, "role"))).collect()
    }

    /// Returns the member with a role.
    fn member(&self, role: &str) -> String {
        self.roles().into_iter().find(|(_, known)| known == role).map(|(name, _)| name).unwrap()
    }

    /// Runs the ledger over all servers for a time with a fault, to its end.
    fn run(&self, home: &Home, time_s: u32, fault: &str) -> Run {
        let ports: Vec<_> = self.nodes.iter().map(|node| node.server.number().to_string()).collect();
        let hosts = ["127.0.0.1"; NODES].join(",");
        let target = format!(
            "host={hosts} port={} user=postgres dbname=postgres target_session_attrs=read-write",
            ports.join(",")
        );
        let args =
            format!("run ledger -c 4 -T {time_s} --ramp 0 -R 100 --commit-timeout 5s --fault {fault} --fault-at 3s");
        let args: Vec<_> = args.split(' ').chain(["--target", &target]).collect();
        let mut command = home.command(args);
        command.env("PATRONICTL_CONFIG_FILE", &self.nodes[0].config);
        let ran = Running::new(command).end();
        let run = home.runs().pop().unwrap();
        let output = std::fs::read_to_string(run.path.join("fault.log")).unwrap_or_default();
        assert_eq!(ran.code, Some(0), "{}\n{}\n{output}", ran.stdout, ran.stderr);
        run
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            // Without its Patroni a server stays.
            let _ = node.patroni.kill();
            let _ = node.patroni.wait();
            let pid = std::fs::read_to_string(node.data.join("postmaster.pid")).unwrap_or_default();
            if let Some(pid) = pid.lines().next().and_then(|pid| pid.parse().ok()).and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::QUIT);
            }
        }
        let _ = self.etcd.kill();
        let _ = self.etcd.wait();
    }
}

#[test]
fn a_synchronous_cluster_under_patroni_loses_no_commit_by_its_failovers() {
    let Some(cluster) = Cluster::new("failovers of Patroni") else { return };
    let home = Home::new();
    let leader = cluster.member("leader");
    let switched = cluster.run(&home, 16, "patroni:switchover");
    let candidate = cluster.member("sync_standby");
    let forced = cluster.run(&home, 16, &format!("patroni:failover:{candidate}"));
    assert_eq!(cluster.member("leader"), candidate);
    // The others take over when the leader's key has expired (ttl).
    let killed = cluster.run(&home, 50, &format!("patroni:kill:{candidate}"));
    assert_ne!(cluster.member("leader"), candidate);
    for run in [&switched, &forced, &killed] {
        let ledger = run.at("/ledger");
        assert_eq!(
            (run.text("/status"), &ledger["lost"], &ledger["is_promised"]),
            ("complete", &0.into(), &true.into()),
            "{ledger}"
        );
        assert_eq!(run.text("/faults/0/outcome"), "done", "{}", run.at("/faults/0"));
        assert_ne!(ledger["timeline_before"], ledger["timeline_after"], "{ledger}");
        assert!(ledger["outage_s"].as_f64().unwrap() > 0.5 && ledger["is_over"] == true, "{ledger}");
        assert!(
            ledger["acknowledged"].as_u64().unwrap() > 500 && ledger["endpoints"].as_array().unwrap().len() >= 2,
            "{ledger}"
        );
    }
    assert_eq!(forced.text("/faults/0/kind"), format!("patroni:failover:{candidate}"));
    assert!(
        switched.text("/ledger/endpoints/0/address") != forced.text("/ledger/endpoints/0/address"),
        "not {leader} again"
    );
    // Its processes are gone, and it is not found again.
    let again = home.run(&[
        "run",
        "ledger",
        "-T",
        "5",
        "--target",
        "host=127.0.0.1 port=1",
        "--fault",
        &format!("patroni:kill:{candidate}"),
    ]);
    again
        .ended(1)
        .says(&[&format!("no Patroni of this machine has the member {candidate}: there is node"), "--fault ./FILE"]);
    // What patronictl refuses is not taken for a failover.
    let unknown = home.command(["fault", "list", "--target", "host=db1"]).output().unwrap();
    let listed = String::from_utf8(unknown.stdout).unwrap();
    assert!(listed.contains("patronictl failover --candidate MEMBER --force"), "{listed}");
}
