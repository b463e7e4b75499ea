//! Any bytes as a workload's directory: `workload.toml`, `schema.sql`, `load.sql` and a script, separated by zero bytes.

use pgdyno_untrusted::RelativePath;
use pgdyno_workloads::own::{OwnError, WorkloadDirectory};

pub(crate) fn run(input: &[u8]) {
    let mut parts = input.splitn(4, |byte| *byte == 0);
    let [manifest, schema, load, script] = std::array::from_fn(|_| parts.next().map(<[u8]>::to_vec));
    let mut read = |name: &str| {
        RelativePath::parse(name).expect("a directory reads files of its own");
        Ok(match name {
            "workload.toml" => manifest.clone(),
            "schema.sql" => schema.clone(),
            "load.sql" => load.clone(),
            _ => Some(script.clone().unwrap_or_else(|| b"SELECT 1;".to_vec())),
        })
    };
    match WorkloadDirectory::read("dir", &mut read) {
        Ok(directory) => {
            assert!(!directory.name().is_empty());
            assert!(directory.scripts().iter().any(|script| script.weight > 0));
            for param in directory.meta().params {
                assert!(!param.name.is_empty());
            }
        }
        Err(why @ OwnError::Sql { .. }) => assert!(why.to_string().contains("line "), "{why}"),
        Err(why) => assert!(why.to_string().contains("dir"), "an error names what it read: {why}"),
    }
}
