//! The key for the drivers of a lab: one of its own, which leaves with the lab.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use pgdyno_life::exit_code::Code;
use pgdyno_life::failure::{CommandError, Result};

use crate::bounded;

const TIMEOUT: Duration = Duration::from_secs(60);

/// Makes the key pair at `path`, unless it is there.
pub(crate) fn provide(path: &Path, lab: &str) -> Result<()> {
    if path.with_extension("pub").exists() {
        return Ok(());
    }
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-C"]).arg(format!("pgdyno lab {lab}")).arg("-f").arg(path);
    let failed = |why: String| {
        CommandError::new(Code::Start, format!("failed to make the key of the drivers: {why}"))
            .hint("install OpenSSH's client")
    };
    match bounded::run(command, TIMEOUT) {
        Ok(printed) if printed.is_success => Ok(()),
        Ok(printed) => Err(failed(printed.said)),
        Err(error) => Err(failed(error.to_string())),
    }
}
