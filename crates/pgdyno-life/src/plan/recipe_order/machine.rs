//! The machine of the target, as far as it is known.

use std::path::Path;

use pgdyno_net::{Admin, ConnectOptions};
use pgdyno_plan::recipe::{Machine, Recipe};
use pgdyno_plan::{TargetOrder, targets};
use pgdyno_server::os::is_here;
use pgdyno_server::sizing::{self, Purpose, SizingFacts};
use pgdyno_server::{Want, kept};
use pgdyno_text::parse;

use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};
use crate::target::{Access, Named, Target, places, private_version};

const SHARED_BUFFERS: &str = "shared_buffers";
/// PostgreSQL's usual setting is a quarter of the memory: a private server with less stands for a smaller machine.
const MEMORY_OF_SHARED_BUFFERS: u64 = 4;
/// The unit of a setting that is written without one.
const BLOCK_BYTES: u64 = 8192;

/// Returns the machine of a target with a name, if the file describes it.
pub(super) fn in_file(order: &TargetOrder) -> Result<Option<Machine>> {
    let entry = entry(order)?;
    Ok(entry.and_then(|entry| Some(Machine { vcpus: entry.vcpus?, memory_bytes: entry.memory?.0 })))
}

/// Returns the machine that the numbers of a recipe are fitted to.
pub(super) fn of_target(order: &TargetOrder, recipe: &Recipe) -> Result<Machine> {
    let entry = entry(order)?;
    let (vcpus, memory) = entry.as_ref().map_or((None, None), |entry| (entry.vcpus, entry.memory));
    if let (Some(vcpus), Some(memory)) = (vcpus, memory) {
        return Ok(Machine { vcpus, memory_bytes: memory.0 });
    }
    let here = pgdyno_server::MachineFacts::look();
    let ram_bytes = here.usable_ram_bytes().unwrap_or_default();
    let local = |memory_bytes| Machine {
        vcpus: vcpus.unwrap_or_else(|| here.usable_cpus()),
        memory_bytes: memory.map_or(memory_bytes, |memory| memory.0),
    };
    match access(order, entry.as_ref())? {
        Access::Private(want) => {
            let asked = |name: &str, value: &str| (name.eq_ignore_ascii_case(SHARED_BUFFERS)).then(|| value.to_owned());
            let given = order.settings.iter().rev().find_map(|(name, value)| asked(name, value));
            let of_entry = || entry.iter().flat_map(|e| &e.settings).find_map(|(name, value)| asked(name, value));
            let of_recipe = || recipe.settings.iter().find_map(|(name, value)| asked(name, &value.0));
            let value = match given.or_else(of_entry).or_else(of_recipe) {
                Some(value) => value,
                None => of_kept(&want, order)?.unwrap_or_else(|| default(ram_bytes, here.usable_cpus())),
            };
            Ok(local(in_bytes(&value)?.saturating_mul(MEMORY_OF_SHARED_BUFFERS)))
        }
        Access::None | Access::Null | Access::Pair { .. } => Ok(local(ram_bytes)),
        Access::Given(options) => {
            let why = match elsewhere(&options) {
                None => return Ok(local(ram_bytes)),
                Some(why) => why,
            };
            let error =
                format!("--fit needs the number of CPUs and the memory of the server, and those of {options} {why}");
            let hint = format!(
                "write them into {}, as in [target.NAME] dsn = '…' vcpus = 16 memory = '128GB', and give --target NAME; or \
                 take a size of the recipe as it is, with --size",
                order.config().display()
            );
            Err(CommandError::new(Code::Start, error).hint(hint))
        }
    }
}

/// Returns why a given server may be on another machine; none if its processes are visible here.
fn elsewhere(options: &ConnectOptions) -> Option<String> {
    if !options.is_local() {
        return Some("are not known".to_owned());
    }
    let here = Admin::connect(options).map_err(|error| error.to_string());
    match here.and_then(|mut admin| is_here(&mut admin, options).map_err(|error| error.to_string())) {
        Ok(true) => None,
        Ok(false) => Some(
            "are not known: its address is on this machine, but its processes are not visible here (a tunnel or a \
             container?)"
                .to_owned(),
        ),
        Err(error) => Some(format!("are not known: it cannot be asked: {error}")),
    }
}

/// Returns the file's entry for the target, if the target is a name in it.
fn entry(order: &TargetOrder) -> Result<Option<targets::NamedTarget>> {
    Ok(Named::find(order)?.map(|named| named.entry))
}

/// Returns the kind of server. A suite knows the kind of the servers that it holds.
fn access(order: &TargetOrder, entry: Option<&targets::NamedTarget>) -> Result<Access> {
    match (&order.shown_as, entry) {
        (Some(_), Some(entry)) => {
            Access::of(&entry.dsn.as_str().into(), order.config().parent().unwrap_or(Path::new("")))
        }
        (Some(name), None) => Access::of(name, Path::new("")),
        (None, _) => Ok(Target::resolve(order)?.access),
    }
}

/// Returns the setting of the kept private server, if the run would use that one.
fn of_kept(want: &Want, order: &TargetOrder) -> Result<Option<String>> {
    if !order.settings.is_empty() || order.tcp || order.shown_as.is_some() {
        return Ok(None);
    }
    match kept::status(&places()?).or_fail(Code::Server)? {
        kept::KeptServerStatus::Running(server) if private_version(want)?.is(server.installation()) => {
            Ok(server.settings().iter().find(|s| s.name == SHARED_BUFFERS).map(|s| s.value.clone()))
        }
        _ => Ok(None),
    }
}

/// Returns the default setting of a private server of this machine.
fn default(ram_bytes: u64, cpus: u32) -> String {
    let facts = SizingFacts {
        ram_bytes,
        cpus,
        disk_free_bytes: 0,
        shm_bytes: None,
        connections: 0,
        has_pg_stat_statements: false,
        purpose: Purpose::Transactions,
    };
    let settings = sizing::settings(&facts);
    settings.into_iter().find(|s| s.name == SHARED_BUFFERS).map_or_else(String::new, |s| s.value)
}

/// Returns the value as PostgreSQL reads it.
fn in_bytes(value: &str) -> Result<u64> {
    let blocks = value.trim().parse::<u64>().ok().map(|blocks| blocks.saturating_mul(BLOCK_BYTES));
    let bytes = blocks.map_or_else(|| parse::bytes(value), Ok);
    match bytes {
        Ok(bytes) if bytes > 0 => Ok(bytes),
        Ok(_) => Err(CommandError::new(Code::Start, "--fit needs a shared_buffers above 0")),
        Err(what) => Err(CommandError::new(Code::Start, format!("shared_buffers = {value}: {what}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_buffers_are_read_as_postgresql_reads_them() {
        let read = |value: &str| in_bytes(value).map_err(|failure| failure.text());
        assert_eq!([read("256MB"), read("1 GB"), read("16384")], [Ok(256 << 20), Ok(1 << 30), Ok(128 << 20)]);
        assert!(read("much").unwrap_err().starts_with("shared_buffers = much: "));
        assert!(read("0").is_err());
    }

    #[test]
    fn a_target_that_has_a_name_may_have_its_machine_in_the_file() {
        let directory = tempfile::tempdir().unwrap();
        let config = directory.path().join("pgdyno.toml");
        let text = "[target.db16]\ndsn = 'host=db16'\nvcpus = 16\nmemory = '128GB'\n\
                    [target.db8]\ndsn = 'host=db8'\nvcpus = 8\n\
                    [target.here]\ndsn = 'embedded:18'\nvcpus = 3\nsettings = { shared_buffers = '1GB' }\n";
        std::fs::write(&config, text).unwrap();
        let order = |name: &str, settings: &[(&str, &str)]| TargetOrder {
            target: Some(name.into()),
            config: Some(config.clone()),
            settings: settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            ..TargetOrder::default()
        };
        let recipe = pgdyno_plan::recipe::find("alloydb/tpcb-full").unwrap();
        let machine = |vcpus, memory_gb: u64| Machine { vcpus, memory_bytes: memory_gb << 30 };
        let fit = |name, settings: &[_]| of_target(&order(name, settings), recipe).map_err(|failure| failure.text());
        assert_eq!(in_file(&order("db16", &[])).unwrap(), Some(machine(16, 128)));
        assert_eq!(fit("db16", &[]), Ok(machine(16, 128)));
        assert_eq!(in_file(&order("db8", &[])).unwrap(), None);
        assert!(fit("db8", &[]).unwrap_err().contains("host=db8"), "its memory is not known");
        assert_eq!(fit("here", &[]), Ok(machine(3, 4)));
        assert_eq!(fit("here", &[("Shared_Buffers", "512MB")]), Ok(machine(3, 2)));
    }

    #[test]
    fn without_a_word_a_quarter_of_the_memory_is_meant() {
        assert_eq!(default(16 << 30, 8), "4GB");
    }
}
