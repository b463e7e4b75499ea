//! The file cache of the server's operating system.

use std::time::Instant;

use pgdyno_results::CycleRecord;
use pgdyno_server::caches;
use pgdyno_text::units;

use super::record;
use crate::target::TargetServer;

const STEP: &str = "drop-caches";

/// Drops the server's files from the operating system's cache: all files if this process may do that, otherwise those
/// of a private server, which this process may read. The evidence says which, or why not.
pub(super) fn drop_for(server: &TargetServer) -> CycleRecord {
    let began = Instant::now();
    if !is_here(server) {
        let what =
            "not done: the server does not appear to run on this machine, and its target has no hook drop_caches";
        return record(STEP, false, what, began);
    }
    // Pages that are only in shared buffers are not in the file yet.
    let written = server
        .admin()
        .ok()
        .flatten()
        .is_some_and(|mut admin| admin.patiently(|admin| admin.execute("checkpoint")).is_ok());
    match (caches::drop_all(), server.data_dir()) {
        (Ok(()), _) => record(STEP, true, "this machine's file cache, all of it", began),
        (Err(_), Some(data)) if written => match caches::forget_files(data) {
            Ok(bytes) => {
                let what =
                    format!("{} of the private server's files (dropping everything needs root)", units::bytes(bytes));
                record(STEP, true, what, began)
            }
            Err(error) => record(STEP, false, format!("not done: {}: {error}", data.display()), began),
        },
        (Err(error), _) => {
            let what = format!("not done: this machine's file cache cannot be dropped by this user: {error}");
            record(STEP, false, what, began)
        }
    }
}

/// Returns true if the server's processes are on this machine: always for a private server, for others if the processes
/// are visible.
fn is_here(server: &TargetServer) -> bool {
    if server.data_dir().is_some() {
        return true;
    }
    let Some((options, mut admin)) = server.options().zip(server.admin().ok().flatten()) else { return false };
    pgdyno_server::os::is_here(&mut admin, options).unwrap_or(false)
}
