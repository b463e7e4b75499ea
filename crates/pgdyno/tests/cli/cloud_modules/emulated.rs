//! Commands and programs of modules against emulators: AWS's by moto, Google Cloud's by gcplocal, Alibaba Cloud's by a few lines
//! here.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use pgdyno_testing::port::Port;

use super::clouds;
use super::contract::{facts, tables};
use crate::program::{PATIENCE, Ran, eventually, finish};
use crate::python::{self, python};
use crate::skipped::skipped;

/// A program that answers as a cloud does.
struct Emulator {
    child: Child,
    port: Port,
}

impl Emulator {
    /// Starts it; the words are those of its command, without the port.
    fn start(program: &Path, words: &[&str]) -> Self {
        let port = Port::reserve();
        let mut command = python::program(program);
        command.args(words).arg(port.number().to_string()).stdin(Stdio::null());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let emulator = Self { child, port };
        let answers = || TcpStream::connect(("127.0.0.1", emulator.port.number())).is_ok();
        eventually("the emulator answers", PATIENCE, answers);
        emulator
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port.number())
    }

    /// Runs a command line of AWS.
    fn aws(&self, mut command: Command) -> Ran {
        command.env("AWS_ENDPOINT_URL", self.url());
        command.env("AWS_ACCESS_KEY_ID", "emulated").env("AWS_SECRET_ACCESS_KEY", "emulated").env("AWS_PAGER", "");
        finish(command)
    }

    /// Runs a command line of Google Cloud, with a configuration in `home`.
    fn gcloud(&self, command: Command, home: &Path) -> Ran {
        gcloud(command, home, &self.url())
    }
}

/// Runs a command line of Google Cloud, whose services are at `url`, with a configuration in `home`.
fn gcloud(mut command: Command, home: &Path, url: &str) -> Ran {
    fs::write(home.join("token"), "emulated").unwrap();
    command.env("CLOUDSDK_CONFIG", home).env("CLOUDSDK_AUTH_ACCESS_TOKEN_FILE", home.join("token"));
    command.env("CLOUDSDK_CORE_DISABLE_PROMPTS", "1").env("CLOUDSDK_CORE_CHECK_GCE_METADATA", "0");
    command.env("CLOUDSDK_API_ENDPOINT_OVERRIDES_SQL", url).env("CLOUDSDK_API_ENDPOINT_OVERRIDES_ALLOYDB", url);
    command.env("CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE", format!("{url}compute/v1/"));
    finish(command)
}

impl Drop for Emulator {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A module's command with its words in braces replaced.
fn command(words: &toml::Value, values: &[(&str, &str)]) -> Command {
    let words = words.as_array().unwrap().iter().map(|word| {
        let replace = |word: String, (name, value): &(&str, &str)| word.replace(&format!("{{{name}}}"), value);
        values.iter().fold(word.as_str().unwrap().to_owned(), replace)
    });
    let words: Vec<_> = words.collect();
    let mut command = python::program(&words[0]);
    command.args(&words[1..]).stdin(Stdio::null());
    // Where `.ci/run` installed the command line of AWS.
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/cloud/bin");
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", own.display()));
    command
}

#[test]
fn the_sweep_of_rds_finds_one_lab_and_removes_it() {
    let Some(python) = python(&["moto.server", "boto3"], "emulates AWS") else { return };
    let cli = toml::Value::from(vec!["aws", "--version"]);
    if command(&cli, &[]).output().is_err() {
        return skipped("aws, the command line of AWS, is not installed");
    }
    let emulator = Emulator::start(&python, &["-m", "moto.server", "-H", "127.0.0.1", "-p"]);
    let mut make = python::program(&python);
    make.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/cloud_modules/rds_lab.py")).args(["lab", "lab-2"]);
    emulator.aws(make).ok();
    let facts = facts("rds");
    let resources = tables(facts["sweep"].as_table().unwrap(), "resource");
    let list = |resource: &toml::Table, lab: &str| {
        let ran = emulator.aws(command(&resource["list"], &[("region", "eu-central-1"), ("lab", lab)])).ok();
        let found: Vec<serde_json::Value> = serde_json::from_str(&ran.stdout).unwrap();
        found
    };
    // Its monitoring has the metric of the module, by minutes.
    let metric = tables(&facts, "metric")[0];
    let of = [("region", "eu-central-1"), ("instance", "pgdyno-lab"), ("start_rfc3339", "2026-11-25T10:00:00Z")];
    let asked = command(&metric["command"], &[&of[..], &[("end_rfc3339", "2026-11-25T10:03:00Z")]].concat());
    let answer: serde_json::Value = serde_json::from_str(&emulator.aws(asked).ok().stdout).unwrap();
    let points = answer.pointer(metric["points"].as_str().unwrap()).unwrap().as_array().unwrap();
    let value = |point: &serde_json::Value| point.pointer(metric["value"].as_str().unwrap()).unwrap().as_f64().unwrap();
    assert_eq!(points.iter().map(value).sum::<f64>(), 270.0, "{answer}");
    // A number or text, as the version of the command line has it.
    let first = points.iter().map(|point| point.pointer(metric["time"].as_str().unwrap()).unwrap().to_string()).min();
    let first = first.unwrap();
    assert!(first.starts_with("\"2026-11-25T10:00") || first.starts_with("1795600800"), "{answer}");
    let mut removed = BTreeMap::new();
    for resource in &resources {
        let kind = resource["kind"].as_str().unwrap();
        for found in list(resource, "lab") {
            let id = found.pointer(resource["id"].as_str().unwrap()).unwrap().as_str().unwrap();
            let expires = resource.get("expires").map(|pointer| found.pointer(pointer.as_str().unwrap()).unwrap());
            assert!(expires.is_none_or(|expires| expires == "1800000000"), "{kind}: {found}");
            // The order is one in which nothing still needs what is removed: the emulator, as AWS, refuses otherwise.
            emulator.aws(command(&resource["delete"], &[("region", "eu-central-1"), ("id", id)])).ok();
            *removed.entry(kind).or_insert(0) += 1;
        }
    }
    let expected = [
        ("RDS instance", 1),
        ("driver", 1),
        ("internet gateway", 1),
        ("network", 1),
        ("parameter group", 1),
        ("route table", 1),
        ("security group", 2),
        ("subnet", 2),
        ("subnet group", 1),
    ];
    assert_eq!(removed.into_iter().collect::<Vec<_>>(), expected);
    // Nothing is left of it, and the other lab's server is there.
    let last = resources.last().unwrap();
    assert_eq!((list(last, "lab").len(), list(last, "lab-2").len()), (0, 1));
    assert_eq!((list(resources[0], "lab").len(), list(resources[0], "lab-2").len()), (0, 1));
}

/// Sends a request with a JSON body.
fn post(url: &str, path: &str, body: &serde_json::Value) {
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).unwrap();
    let body = body.to_string();
    let head =
        format!("POST /{path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nConnection: close\r\n");
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[test]
fn the_sweep_of_cloud_sql_finds_one_lab_and_fails_where_it_cannot_look() {
    let Some(python) = python(&["gcplocal"], "emulates Google Cloud") else { return };
    let cli = toml::Value::from(vec!["gcloud", "--version"]);
    if command(&cli, &[]).output().is_err() {
        return skipped("gcloud, the command line of Google Cloud, is not installed");
    }
    let home = tempfile::tempdir().unwrap();
    let start = "import gcplocal.cli; gcplocal.cli.main()";
    let emulator = Emulator::start(&python, &["-c", start, "start", "--host", "127.0.0.1", "--port"]);
    for lab in ["lab", "lab-2"] {
        let labels = serde_json::json!({ "pgdyno-lab": lab, "pgdyno-expires": "1800000000" });
        let server = serde_json::json!({
            "name": format!("pgdyno-{lab}--16vcpu-0a1b2c3d"), "region": "us-central1", "databaseVersion": "POSTGRES_14",
            "settings": { "tier": "db-custom-16-106496", "userLabels": labels },
        });
        post(&emulator.url(), "sql/v1beta4/projects/bench-project/instances", &server);
    }
    let facts = facts("cloudsql");
    let resources = tables(facts["sweep"].as_table().unwrap(), "resource");
    let list = |kind: &str, lab: &str| {
        let resource = resources.iter().find(|resource| resource["kind"].as_str() == Some(kind)).unwrap();
        emulator.gcloud(command(&resource["list"], &[("project", "bench-project"), ("lab", lab)]), home.path())
    };
    let found = |lab: &str| -> Vec<serde_json::Value> {
        serde_json::from_str(&list("Cloud SQL instance", lab).ok().stdout).unwrap()
    };
    let servers = found("lab");
    assert_eq!(servers.len(), 1, "a lab whose name begins like this one is another: {servers:?}");
    let id = servers[0].pointer(resources[0]["id"].as_str().unwrap()).unwrap().as_str().unwrap();
    assert_eq!(servers[0].pointer(resources[0]["expires"].as_str().unwrap()).unwrap(), "1800000000");
    let delete = command(&resources[0]["delete"], &[("project", "bench-project"), ("id", id)]);
    emulator.gcloud(delete, home.path()).ok();
    assert_eq!((found("lab").len(), found("lab-2").len()), (0, 1));
    // The emulator has no list of machines: an answer in part is not an empty one.
    let failed = list("driver", "lab").ended(1);
    assert!(failed.stderr.contains("Some requests did not succeed"), "{}", failed.stderr);
}

/// Answers requests one after the other with these bodies; returns the first line of each.
fn replay(listener: &TcpListener, bodies: &[String]) -> Vec<String> {
    let mut requests = Vec::new();
    for body in bodies {
        let (stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
        requests.push(lines.next().unwrap());
        lines.find(String::is_empty);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n";
        (&stream).write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap();
    }
    requests
}

#[test]
fn the_sweep_of_alloydb_finds_one_lab_and_fails_where_it_cannot_look() {
    let cli = toml::Value::from(vec!["gcloud", "--version"]);
    if command(&cli, &[]).output().is_err() {
        return skipped("gcloud, the command line of Google Cloud, is not installed");
    }
    let home = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let place = "projects/bench-project/locations/us-central1";
    let cluster = |lab: &str| {
        let labels = serde_json::json!({ "pgdyno-lab": lab, "pgdyno-expires": "1800000000" });
        serde_json::json!({ "name": format!("{place}/clusters/pgdyno-{lab}--16vcpu"), "labels": labels })
    };
    let clusters = serde_json::json!({ "clusters": [cluster("lab"), cluster("lab-2")] });
    let mut in_part = clusters.clone();
    in_part["unreachable"] = serde_json::json!(["projects/bench-project/locations/asia-east1"]);
    let done = serde_json::json!({ "name": format!("{place}/operations/delete"), "done": true, "response": {} });
    let bodies = [&clusters, &in_part, &done, &done].map(ToString::to_string);
    let serve = std::thread::spawn(move || replay(&listener, &bodies));
    let facts = facts("alloydb");
    let resource = tables(facts["sweep"].as_table().unwrap(), "resource")[0];
    let list =
        || gcloud(command(&resource["list"], &[("project", "bench-project"), ("lab", "lab")]), home.path(), &url);
    let found: Vec<serde_json::Value> = serde_json::from_str(&list().ok().stdout).unwrap();
    assert_eq!(found.len(), 1, "a lab whose name begins like this one is another: {found:?}");
    let id = found[0].pointer(resource["id"].as_str().unwrap()).unwrap().as_str().unwrap();
    assert_eq!(found[0].pointer(resource["expires"].as_str().unwrap()).unwrap(), "1800000000");
    // A region that does not answer may have a cluster.
    let failed = list().ended(1);
    assert!(failed.stderr.contains("asia-east1"), "{}", failed.stderr);
    let delete = command(&resource["delete"], &[("project", "bench-project"), ("id", id)]);
    gcloud(delete, home.path(), &url).ok();
    let requests = serve.join().unwrap();
    let expected = format!("DELETE /v1/{place}/clusters/pgdyno-lab--16vcpu?alt=json&force=True HTTP/1.1");
    assert_eq!(requests[2], expected, "{requests:?}");
}

/// Answers requests one after the other; returns the parameters of each.
fn answer(listener: &TcpListener, answers: &[(u16, &str)]) -> Vec<BTreeMap<String, String>> {
    let mut requests = Vec::new();
    for (status, body) in answers {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(&stream);
        let (mut line, mut length) = (String::new(), 0);
        while reader.read_line(&mut line).unwrap() > 2 {
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
            assert!(!line.contains("Geheim"), "the password is in the header: {line}");
            line.clear();
        }
        let mut request = vec![0; length];
        reader.read_exact(&mut request).unwrap();
        let request = String::from_utf8(request).unwrap();
        let pairs = request.split('&').map(|pair| pair.split_once('=').unwrap());
        requests.push(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect());
        let head = format!("HTTP/1.1 {status} said\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        (&stream).write_all(format!("{head}{body}").as_bytes()).unwrap();
    }
    requests
}

/// The program that makes PolarDB's account, with a password and keys of the test's.
fn account(python: &Path, endpoint: &str) -> Command {
    let mut command = Command::new(python);
    command.arg("-B").arg(clouds().join("polardb/account.py")).env("PGDYNO_POLARDB_ENDPOINT", endpoint);
    command.env("PGDYNO_POLARDB_PAUSE_S", "0.01").env("PGDYNO_REGION", "ap-southeast-1").env("PGDYNO_CLUSTER", "pc-1");
    command.env("PGDYNO_PASSWORD", "Geheim99!").env("ALICLOUD_ACCESS_KEY", "key").env("ALICLOUD_SECRET_KEY", "secret");
    command.stdin(Stdio::null());
    command
}

#[test]
fn the_account_of_polardb_is_made_when_the_cluster_takes_it() {
    let Some(python) = python(&["hmac"], "makes PolarDB's account") else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}/", listener.local_addr().unwrap());
    let not_yet = (403, r#"{"Code":"OperationDenied.DBClusterStatus","Message":"it is being created"}"#);
    let exists = (400, r#"{"Code":"InvalidAccountName.Duplicate","Message":"it exists"}"#);
    let answers = [not_yet, exists, (200, "{}")];
    let serve = std::thread::spawn(move || answer(&listener, &answers));
    finish(account(&python, &endpoint)).ok();
    let requests = serve.join().unwrap();
    let actions: Vec<_> = requests.iter().map(|request| request["Action"].as_str()).collect();
    assert_eq!(actions, ["CreateAccount", "CreateAccount", "ResetAccount"]);
    for request in &requests {
        assert_eq!((request["AccountPassword"].as_str(), request["AccountName"].as_str()), ("Geheim99%21", "pgdyno"));
        assert_eq!((request["DBClusterId"].as_str(), request["AccessKeyId"].as_str()), ("pc-1", "key"));
    }
    assert_eq!(requests[0]["AccountType"], "Super");
    assert_ne!(requests[0]["SignatureNonce"], requests[1]["SignatureNonce"]);
}

#[test]
fn a_refused_account_of_polardb_says_why_and_not_the_password() {
    let Some(python) = python(&["hmac"], "makes PolarDB's account") else { return };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}/", listener.local_addr().unwrap());
    let refused = [(400, r#"{"Code":"InvalidAccountPassword.Malformed","Message":"Geheim99! is too plain"}"#)];
    let serve = std::thread::spawn(move || answer(&listener, &refused));
    let ran = finish(account(&python, &endpoint)).ended(1);
    serve.join().unwrap();
    let said = "failed to make account pgdyno of pc-1: InvalidAccountPassword.Malformed: *** is too plain\n";
    assert_eq!(ran.stderr, said);
    let mut without = account(&python, &endpoint);
    without.env_remove("ALICLOUD_SECRET_KEY").env_remove("ALIBABA_CLOUD_ACCESS_KEY_SECRET");
    assert!(finish(without).ended(1).stderr.contains("set ALICLOUD_ACCESS_KEY and ALICLOUD_SECRET_KEY"));
}

/// The signature of the request that Alibaba Cloud's manual has as its example.
#[test]
fn requests_to_alibaba_cloud_are_signed_as_its_manual_says() {
    let Some(python) = python(&["hmac"], "makes PolarDB's account") else { return };
    let program = r#"
import account
print(account.signature("GET", {
    "AccessKeyId": "testid", "Action": "DescribeRegions", "Format": "XML", "SignatureMethod": "HMAC-SHA1",
    "SignatureNonce": "3ee8c1b8-83d3-44af-a94f-4e0ad82fd6cf", "SignatureVersion": "1.0",
    "Timestamp": "2016-02-23T12:46:24Z", "Version": "2014-05-26",
}, "testsecret"))"#;
    let mut command = Command::new(python);
    command.args(["-B", "-c", program]).current_dir(clouds().join("polardb"));
    assert_eq!(finish(command).ok().stdout, "OLeaidS1JvxuMvnyHOwuJ+uX5qY=\n");
}
