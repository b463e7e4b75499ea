//! Restarts a server on its data, perhaps with other settings: in its supervisor.

use std::path::PathBuf;
use std::sync::mpsc::Receiver;

use crate::private::instance::{self, Instance};
use crate::private::pipe::Spec;
use crate::private::postmaster::Postmaster;
use crate::private::server::{PrivateServer, Refused};
use crate::private::sizing::Setting;
use crate::private::startup::{self, Refusal};
use crate::private::wake::Wake;

/// Settings of ALTER SYSTEM at a successful start: the server is known to start with them.
pub(crate) struct Proven(Option<Vec<u8>>);

/// The file that ALTER SYSTEM writes.
fn auto_conf(instance: &Instance) -> PathBuf {
    instance.data().join("postgresql.auto.conf")
}

/// Settings of a server's last successful start.
pub(crate) fn proven(instance: &Instance) -> Proven {
    Proven(std::fs::read(auto_conf(instance)).ok())
}

/// Starts a server again after a shutdown. If it does not start with these settings, or with those of ALTER SYSTEM,
/// it is started with the earlier ones, and reports that: a setting that is too large must not cost the data of a
/// kept server.
pub(crate) fn restart(
    spec: &mut Spec,
    settings: Option<Vec<Setting>>,
    instance: &Instance,
    last: &PrivateServer,
    proven: &Proven,
    woken: &Receiver<Wake>,
) -> Result<(Postmaster, PrivateServer), Refusal> {
    let before = spec.settings.clone();
    spec.settings = settings.unwrap_or_else(|| before.clone());
    let what = match startup::start(spec, instance, woken, Some(last)) {
        Err(Some(what)) => what,
        started => return started,
    };
    let log = instance::log_tail(&instance.log());
    spec.settings = before;
    if let Proven(Some(text)) = proven {
        // Without it the next start fails in the same way.
        let _ = std::fs::write(auto_conf(instance), text);
    }
    let (server, mut running) = startup::start(spec, instance, woken, Some(last))?;
    running.refused = Some(Box::new(Refused { what, log }));
    Ok((server, running))
}
