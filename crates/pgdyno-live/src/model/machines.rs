//! The use of CPUs.

use pgdyno_samples::{SampleSource, machine, processes};

use super::frames::Frames;

/// What CPU time is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// The server's.
    Server,
    /// This program's.
    Driver,
    /// Another program, or an unknown one.
    Other,
    /// The kernel.
    System,
    /// Waiting for disks, or for the hypervisor.
    Waiting,
    /// Nothing.
    Idle,
}

/// CPUs that are used for one purpose.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Share {
    /// Its name.
    pub(crate) name: String,
    /// The purpose.
    pub(crate) by: Use,
    /// Number of CPUs.
    pub(crate) cpus: f64,
}

/// A machine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Machine {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its CPUs, if known.
    pub(crate) cpus: Option<f64>,
    /// The use of the CPUs, the idle ones last.
    pub(crate) shares: Vec<Share>,
    /// CPUs of the server's kinds of processes, the greatest first.
    pub(crate) kinds: Vec<(String, f64)>,
}

/// Fewer CPUs than this are not shown.
const LEAST_CPUS: f64 = 0.005;

/// Returns the sampled machines.
pub(crate) fn machines(frames: &Frames) -> Vec<Machine> {
    let server = shared(frames).or_else(|| divided(frames, machine::SOURCE, "server's machine"));
    server.into_iter().chain(divided(frames, machine::OF_DRIVER, "driver's machine")).collect()
}

fn share(name: &str, by: Use, cpus: f64) -> Share {
    Share { name: name.to_owned(), by, cpus }
}

/// Returns the machine by program, if processes are visible.
fn shared(frames: &Frames) -> Option<Machine> {
    let mut kinds = Vec::new();
    let (mut driver, mut other) = (0.0, 0.0);
    for row in frames.rows(processes::SOURCE) {
        let cpus = row.number(processes::CPUS).unwrap_or(0.0);
        match row.text(processes::KIND)? {
            "driver" => driver += cpus,
            "other" => other += cpus,
            kind => kinds.push((kind.to_owned(), cpus)),
        }
    }
    frames.rows(processes::SOURCE).next()?;
    kinds.sort_by(|one, other| other.1.total_cmp(&one.1));
    kinds.retain(|(_, cpus)| *cpus >= LEAST_CPUS);
    let server = kinds.iter().map(|(_, cpus)| cpus).sum::<f64>();
    let mut shares = vec![
        share("server", Use::Server, server),
        share("pgdyno", Use::Driver, driver),
        share("others", Use::Other, other),
    ];
    let cpus = frames.gauge(machine::CPUS);
    if let Some(cpus) = cpus {
        // The machine's own count includes processes that ended between two samples, and the kernel's threads.
        let busy = frames.gauge(machine::BUSY_CPUS).unwrap_or(0.0).max(server + driver + other);
        shares.push(share("idle", Use::Idle, (cpus - busy).max(0.0)));
    }
    Some(Machine { name: "CPUs", cpus, shares, kinds })
}

/// Returns the machine by the state of its CPUs.
fn divided(frames: &Frames, source: SampleSource, name: &'static str) -> Option<Machine> {
    let row = frames.rows(source).next()?;
    let cpus = row.number(machine::CPUS)?;
    let gauge = |column| row.number(column).unwrap_or(0.0);
    let (user, system) = (gauge(machine::USER_CPUS), gauge(machine::SYSTEM_CPUS));
    let waiting = gauge(machine::IOWAIT_CPUS) + gauge(machine::STEAL_CPUS);
    let busy = gauge(machine::BUSY_CPUS).max(user + system);
    let mut shares = vec![share("programs", Use::Server, busy - system), share("kernel", Use::System, system)];
    if waiting >= LEAST_CPUS {
        shares.push(share("waiting", Use::Waiting, waiting));
    }
    shares.push(share("idle", Use::Idle, (cpus - busy - waiting).max(0.0)));
    Some(Machine { name, cpus: Some(cpus), shares, kinds: Vec::new() })
}
