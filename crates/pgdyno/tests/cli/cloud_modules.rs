//! The modules that make servers in clouds (`pgdyno-cloud/clouds`): what an engine finds wrong in them, what they would make with
//! values that no cloud has computed, and the programs in them. No test reaches a cloud or a registry.

mod contract;
mod emulated;
mod local;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

use crate::program::{Ran, finish};
use crate::python::{self, python};
use crate::skipped::skipped;

/// The modules, and what two of them share.
fn clouds() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../pgdyno-cloud/clouds")
}

/// Returns the engine, OpenTofu or else Terraform, if it is new enough.
fn engine() -> Option<&'static str> {
    static ENGINE: LazyLock<Option<&'static str>> = LazyLock::new(|| {
        ["tofu", "terraform"].into_iter().find(|program| {
            let version = engine_command(program, Path::new(".")).args(["version", "-json"]).output();
            let version =
                version.ok().and_then(|output| serde_json::from_slice::<serde_json::Value>(&output.stdout).ok());
            let text = version.and_then(|json| json["terraform_version"].as_str().map(str::to_owned));
            let mut parts = text.iter().flat_map(|text| text.split('.')).filter_map(|part| part.parse::<u32>().ok());
            (parts.next(), parts.next()) >= (Some(1), Some(11))
        })
    });
    if ENGINE.is_none() {
        skipped("neither tofu nor terraform 1.11, which check the modules of clouds, is installed");
    }
    *ENGINE
}

/// An engine that reads no configuration of the user's and asks no one.
fn engine_command(program: &str, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(directory).env("TF_CLI_CONFIG_FILE", "/dev/null").env("TF_IN_AUTOMATION", "1");
    command.env("CHECKPOINT_DISABLE", "1").env_remove("TF_DATA_DIR").stdin(Stdio::null());
    command
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_all(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A copy of the modules, with a server of a provider's schema if they need a provider.
struct Workbench {
    directory: tempfile::TempDir,
    engine: &'static str,
    provider: Option<(Child, String)>,
}

impl Workbench {
    /// Returns `None` where the engine is missing.
    fn without_provider() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        copy_all(&clouds(), &directory.path().join("clouds"));
        Some(Self { directory, engine: engine()?, provider: None })
    }

    /// Serves the schema of a provider; returns `None` where it, the engine or Python's packages are missing.
    fn new(provider: &str) -> Option<Self> {
        let mut made = Self::without_provider()?;
        let python = python(&["grpc", "tf.gen.tfplugin_pb2"], "serve the schemas of clouds' providers")?;
        let schema = schema(provider, &python, made.directory.path())?;
        let socket = made.directory.path().join("provider");
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/cloud_modules/schema_server.py");
        let mut command = python::program(python);
        command.arg(program).arg(&socket).arg(schema).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "listens\n", "the server of the schema of {provider}");
        let address = serde_json::json!({ "Network": "unix", "String": socket });
        let plugin = serde_json::json!({
            "Protocol": "grpc", "ProtocolVersion": 6, "Pid": child.id(), "Test": true, "Addr": address,
        });
        made.provider = Some((child, serde_json::json!({ provider: plugin }).to_string()));
        Some(made)
    }

    fn path(&self, module: &str) -> PathBuf {
        self.directory.path().join("clouds").join(module)
    }

    /// Runs the engine in a module.
    fn run(&self, module: &str, args: &[&str]) -> Ran {
        let mut command = engine_command(self.engine, &self.path(module));
        command.args(args);
        if let Some((_, plugins)) = &self.provider {
            command.env("TF_REATTACH_PROVIDERS", plugins);
        }
        finish(command)
    }

    /// Validates a module and runs its own tests.
    fn check(&self, module: &str) {
        self.run(module, &["init", "-no-color", "-backend=false"]).ok();
        self.run(module, &["validate", "-no-color"]).ok();
        let ran = self.run(module, &["test", "-no-color"]).ok();
        let runs = ran.stdout.matches("... pass\n").count();
        assert!(runs > 2, "{module} has tests: {}", ran.stdout);
        let unformatted = self.run(module, &["fmt", "-check", "-no-color"]);
        assert_eq!(unformatted.stdout, "", "tofu fmt writes {module} anew");
    }
}

impl Drop for Workbench {
    fn drop(&mut self) {
        if let Some((child, _)) = &mut self.provider {
            // The end of its standard input ends it.
            drop(child.stdin.take());
            drop(child.wait());
        }
    }
}

/// Returns the recorded schema of a provider, or one that is derived from its Pulumi package; skips aloud without either.
fn schema(provider: &str, python: &Path, directory: &Path) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let name = provider.rsplit('/').next().unwrap();
    let recorded =
        std::env::var_os("PGDYNO_CLOUD_SCHEMAS").map_or_else(|| root.join("../shared/cloud/schemas"), PathBuf::from);
    let begins =
        |path: &Path, start: &str| path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(start));
    let find = |directory: &Path, start: &str| {
        let files = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
        files.filter(|path| begins(path, start)).max()
    };
    if let Some(file) = find(&recorded, &format!("{name}-")) {
        return Some(file);
    }
    let Some(wheel) = find(&root.join("target/cloud/wheels"), &format!("pulumi_{name}-")) else {
        skipped(&format!(
            "modules of {name}: no schema of it, neither in {} nor in target/cloud/wheels",
            recorded.display()
        ));
        return None;
    };
    let mut command = python::program(python);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/cloud_modules/derive_schema.py"));
    command.arg(wheel).arg(name);
    let derived = directory.join("schema.json");
    fs::write(&derived, finish(command).ok().stdout).unwrap();
    Some(derived)
}

#[test]
fn modules_on_google_cloud_plan_and_apply_with_mocked_values() {
    let Some(bench) = Workbench::new("hashicorp/google") else { return };
    for module in ["alloydb", "cloudsql", "common/google"] {
        bench.check(module);
    }
}

#[test]
fn modules_on_azure_plan_and_apply_with_mocked_values() {
    let Some(bench) = Workbench::new("hashicorp/azurerm") else { return };
    for module in ["azure-flexible", "azure-citus-vms", "common/azure"] {
        bench.check(module);
    }
}

#[test]
fn the_module_on_aws_plans_and_applies_with_mocked_values() {
    let Some(bench) = Workbench::new("hashicorp/aws") else { return };
    bench.check("rds");
}

#[test]
fn the_module_on_alibaba_cloud_plans_and_applies_with_mocked_values() {
    let Some(bench) = Workbench::new("aliyun/alicloud") else { return };
    bench.check("polardb");
}

#[test]
fn the_module_of_this_machine_plans() {
    let Some(bench) = Workbench::without_provider() else { return };
    bench.check("local");
}

/// What a user says of where a lab is.
fn place(module: &str, variable: &str) -> &'static str {
    match (module, variable) {
        ("alloydb" | "cloudsql", "project") => "bench-project",
        ("alloydb" | "cloudsql", "region") => "us-central1",
        ("alloydb" | "cloudsql", "zone") => "us-central1-c",
        ("rds", "region") => "eu-central-1",
        ("rds", "zone") => "eu-central-1a",
        ("rds", "other_zone") => "eu-central-1b",
        ("polardb", "region") => "ap-southeast-1",
        ("polardb", "zone") => "ap-southeast-1b",
        (_, "subscription_id") => "00000000-0000-0000-0000-000000000000",
        (_, "location") => "westeurope",
        other => panic!("no example of {other:?}"),
    }
}

/// The directory of one size, as pgdyno writes it: a module with what the lab says, its password and its output.
fn size_as_written(module: &str) -> serde_json::Value {
    let facts = contract::facts(module);
    let mut given = serde_json::json!({
        "source": format!("../{module}"), "lab": "lab", "size": "first", "expires": 1_800_000_000, "password": "${var.password}",
        "ssh_public_key": "ssh-ed25519 AAAA me: my laptop", "client_cidr": "192.0.2.1/32", "root": "/tmp/lab",
    });
    if module != "local" {
        given.as_object_mut().unwrap().remove("root");
    }
    for variable in contract::tables(&facts, "variable") {
        let default = variable.get("default").map(|value| serde_json::to_value(value).unwrap());
        let name = variable["name"].as_str().unwrap();
        let required = variable.contains_key("required").then(|| place(module, name).into());
        if let Some(value) = default.or(required) {
            given[name] = value;
        }
    }
    for (name, value) in contract::tables(&facts, "size")[0].iter().filter(|(name, _)| *name != "name") {
        given[name] = serde_json::to_value(value).unwrap();
    }
    serde_json::json!({
        "variable": { "password": { "type": "string", "ephemeral": true, "sensitive": true, "default": null } },
        "module": { "size": given },
        "output": { "pgdyno": { "value": "${module.size.pgdyno}" } },
    })
}

/// What pgdyno writes of a lab is what the modules take.
#[test]
fn a_size_of_each_module_is_valid_as_pgdyno_writes_it() {
    let modules = [
        ("hashicorp/google", vec!["alloydb", "cloudsql"]),
        ("hashicorp/azurerm", vec!["azure-flexible", "azure-citus-vms"]),
        ("hashicorp/aws", vec!["rds"]),
        ("aliyun/alicloud", vec!["polardb"]),
        ("", vec!["local"]),
    ];
    for (provider, modules) in modules {
        let bench = if provider.is_empty() { Workbench::without_provider() } else { Workbench::new(provider) };
        let Some(bench) = bench else { continue };
        for module in modules {
            let directory = bench.path("size");
            drop(fs::remove_dir_all(&directory));
            fs::create_dir(&directory).unwrap();
            fs::write(directory.join("main.tf.json"), size_as_written(module).to_string()).unwrap();
            bench.run("size", &["init", "-no-color", "-backend=false"]).ok();
            bench.run("size", &["validate", "-no-color"]).ok();
        }
    }
}

/// The check would be worth nothing if it found nothing.
#[test]
fn mistakes_in_a_module_are_found() {
    let Some(bench) = Workbench::new("hashicorp/google") else { return };
    bench.run("alloydb", &["init", "-no-color", "-backend=false"]).ok();
    let file = bench.path("alloydb").join("main.tf");
    let right = fs::read_to_string(&file).unwrap();
    for (from, to, found) in [
        (
            "deletion_protection = false",
            "deletion_protecton = false",
            "An argument named \"deletion_protecton\" is not expected here",
        ),
        (
            "google_alloydb_cluster.server.name",
            "google_alloydb_cluster.sever.name",
            "A managed resource \"google_alloydb_cluster\" \"sever\" has not been declared",
        ),
        ("instance_type     = \"PRIMARY\"", "", "The argument \"instance_type\" is required"),
        ("password_wo         = var.password", "password = var.password", "Invalid use of ephemeral value"),
        ("cpu_count    = var.cpu", "cpu_count    = [var.cpu]", "number required"),
        (
            "var.availability\n",
            "var.avilability\n",
            "An input variable with the name \"avilability\" has not been declared",
        ),
    ] {
        assert!(right.contains(from), "{from}");
        fs::write(&file, right.replace(from, to)).unwrap();
        let ran = bench.run("alloydb", &["validate", "-no-color"]);
        let text = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ").replace("│ ", "");
        assert!(ran.code != Some(0) && text.contains(found), "{to}: {text}");
    }
    // What no schema knows is found by the module's own tests.
    fs::write(&file, right.replace("deletion_policy     = \"FORCE\"", "deletion_policy     = \"DEFAULT\"")).unwrap();
    let ran = bench.run("alloydb", &["test", "-no-color"]);
    assert!(
        ran.code != Some(0) && ran.stderr.contains("The cluster must be destroyable."),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
}

/// Returns the user data of the driver and of Citus nodes, as the modules make them.
fn user_data(bench: &Workbench) -> serde_json::Value {
    let text = r#"
output "data" {
  value = {
    driver  = templatefile("../common/driver.yaml.tftpl", { ssh_public_key = "ssh-ed25519 AAAA me: my laptop", powers_off = false, expires = 0 })
    ends    = templatefile("../common/driver.yaml.tftpl", { ssh_public_key = "ssh-ed25519 AAAA me: my laptop", powers_off = true, expires = 1800000000 })
    worker  = templatefile("../azure-citus-vms/cloud-init.yaml.tftpl", { ssh_public_key = "ssh-ed25519 AAAA me: my laptop", citus_version = "13.2.2", memory_mb = 65536, settings = { work_mem = "16MB" }, address = "10.13.1.11", workers = [], is_coordinator = false })
    first   = templatefile("../azure-citus-vms/cloud-init.yaml.tftpl", { ssh_public_key = "ssh-ed25519 AAAA me: my laptop", citus_version = "13.2.2", memory_mb = 65536, settings = {}, address = "10.13.1.10", workers = ["10.13.1.11"], is_coordinator = true })
  }
}
"#;
    fs::create_dir(bench.path("rendered")).unwrap();
    fs::write(bench.path("rendered").join("main.tf"), text).unwrap();
    bench.run("rendered", &["apply", "-no-color", "-auto-approve"]).ok();
    serde_json::from_str(&bench.run("rendered", &["output", "-json", "data"]).ok().stdout).unwrap()
}

#[test]
fn user_data_is_valid_and_its_scripts_are_too() {
    let Some(bench) = Workbench::without_provider() else { return };
    let rendered = user_data(&bench);
    for (name, text) in rendered.as_object().unwrap() {
        let text = text.as_str().unwrap();
        let yaml = &yaml_rust2::YamlLoader::load_from_str(text).unwrap()[0];
        assert!(text.starts_with("#cloud-config\n"), "{name}");
        for file in yaml["write_files"].as_vec().unwrap() {
            let script = bench.path("rendered").join("script");
            fs::write(&script, file["content"].as_str().unwrap()).unwrap();
            if file["path"].as_str().unwrap().ends_with(".sh") {
                let mut command = Command::new("bash");
                command.arg("-n").arg(&script);
                finish(command).ok();
            }
        }
        let ends = text.contains("systemctl poweroff");
        assert_eq!(ends, name == "ends", "{name}: {text}");
        // A coordinator takes no client before its cluster is whole.
        let (added, role) = (text.find("citus_add_node"), text.find("CREATE ROLE pgdyno"));
        assert_eq!((added.is_some(), role.is_some()), (name == "first", name == "first"), "{name}");
        assert!(added <= role);
    }
    let has_cloud_init = Command::new("cloud-init").arg("--version").output().is_ok();
    if !has_cloud_init {
        return skipped("cloud-init, which validates user data, is not installed");
    }
    let validate = |text: &str| {
        let file = bench.path("rendered").join("user-data");
        fs::write(&file, text).unwrap();
        let mut command = Command::new("cloud-init");
        command.args(["schema", "--config-file"]).arg(file);
        finish(command)
    };
    for (name, text) in rendered.as_object().unwrap() {
        let ran = validate(text.as_str().unwrap());
        assert_eq!(ran.code, Some(0), "{name}: {}{}", ran.stdout, ran.stderr);
    }
    let wrong = rendered["driver"].as_str().unwrap().replace("packages: [", "packages: [1.5, {}, ");
    assert_ne!(validate(&wrong).code, Some(0), "{wrong}");
}
