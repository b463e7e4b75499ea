//! The faults of a run: from the order to the plan, and what is refused before anything is loaded.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use pgdyno_net::ConnectOptions;
use pgdyno_plan::{FaultKind, FaultPlan, Order, Plan, TargetName, TargetOrder};
use pgdyno_server::{PatroniMember, patroni_missing, power_loss_missing};

use crate::environment;
use crate::exit_code::Code;
use crate::failure::{CommandError, Result};
use crate::network_drop;
use crate::target::Target;

/// How long clients retry a lost connection in a run with a fault.
pub(super) const RECONNECT_S: f64 = 60.0;

/// The workloads that have a parameter of the name of `--repeat`.
const REPEATING: [&str; 2] = ["tproc-h", "tproc-ds"];

/// Returns the order with `--repeat` where it belongs: without `--fault-every` it is a parameter of tproc-h and tproc-ds.
///
/// # Errors
/// When another workload has it.
pub(super) fn settled(mut order: Order) -> Result<Order> {
    if order.fault.every.is_some() {
        return Ok(order);
    }
    let Some(repeat) = order.fault.repeat.take() else { return Ok(order) };
    if !REPEATING.contains(&order.workload.id()) {
        let error = format!(
            "--repeat counts faults (--fault-every) or sets of queries ({}), and this run has neither",
            REPEATING.join(", ")
        );
        return Err(CommandError::new(Code::Start, error).hint("leave --repeat out, or give --fault-every"));
    }
    order.workload.params.push(("repeat".to_owned(), repeat.to_string()));
    Ok(order)
}

/// Returns the faults of a run whose window has this length.
///
/// # Errors
/// When options are missing, or a fault would come after the window.
pub(super) fn planned(order: &Order, time_s: Option<f64>) -> Result<Option<FaultPlan>> {
    let failed = |error: String, hint: &str| Err(CommandError::new(Code::Start, error).hint(hint));
    let fault = &order.fault;
    let Some(kind) = fault.kind.clone() else {
        return match fault.at.or(fault.every) {
            Some(_) => {
                failed("--fault-at and --fault-every need a fault".to_owned(), "give --fault NAME or --fault FILE")
            }
            None => Ok(None),
        };
    };
    let Some(time_s) = time_s else {
        let error = "a fault needs a run with a length (--time): it is caused at a time";
        return failed(error.to_owned(), "give -T instead of -t");
    };
    let at_s = fault.at.unwrap_or(time_s / 2.0);
    let repeat = match (fault.every, fault.repeat) {
        (Some(every_s), _) if every_s <= 0.0 => return failed("--fault-every must be above 0".to_owned(), "raise it"),
        (Some(every_s), None) => room(time_s - at_s, every_s),
        (Some(_), Some(repeat)) => repeat,
        (None, _) => 1,
    };
    if kind.kind().is_final() && repeat > 1 {
        return failed(format!("{kind} cannot be repeated: what it kills stays down"), "leave --fault-every out");
    }
    let lasts =
        kind.lasts().filter(|lasts| repeat > 1 && fault.every.is_some_and(|every_s| every_s <= lasts.as_secs_f64()));
    if lasts.is_some() {
        return failed(format!("{kind} has not ended when it begins again"), "raise --fault-every");
    }
    let plan = FaultPlan { kind, at_s, every_s: fault.every, repeat };
    if plan.last_s() >= time_s {
        let error = format!("a fault at {} s comes after the measured window of {time_s} s", plan.last_s());
        return failed(error, "lower --fault-at, --fault-every or --repeat, or raise -T");
    }
    Ok(Some(plan))
}

/// Returns how many faults have room in a time when one begins at its start and one after each interval.
fn room(rest_s: f64, every_s: f64) -> u32 {
    (rest_s / every_s).ceil().clamp(1.0, 1000.0) as u32
}

/// Refuses a fault that cannot be caused on this target, with what it needs.
///
/// # Errors
/// When it is impossible here.
pub(crate) fn admit(plan: &Plan, target: &Target) -> Result<()> {
    let Some(fault) = &plan.fault else { return Ok(()) };
    let kind = fault.kind.kind();
    if kind == FaultKind::NetworkDrop && plan.drive.agents.is_some() {
        let error = format!("--fault {}: it drops packets of this machine, and agents run the clients", fault.kind);
        let hint = "leave --agents out, or give a program that drops packets of the server's machine (--fault ./FILE)";
        return Err(CommandError::new(Code::Start, error).hint(hint));
    }
    if let Some(missing) = missing(kind, fault.kind.member(), target, plan.tcp) {
        let hint = format!("{}; `pgdyno fault list` shows what is possible", missing.remedy);
        return Err(CommandError::new(Code::Start, format!("--fault {}: {}", fault.kind, missing.what)).hint(hint));
    }
    if kind == FaultKind::Program {
        admit_program(Path::new(fault.kind.as_str()))?;
    }
    Ok(())
}

/// A fault, and whether a target can have it.
pub struct PossibleFault {
    /// The fault.
    pub kind: FaultKind,
    /// Why it cannot be caused there, and what to do; none if nothing is known to be missing.
    pub missing: Option<(String, &'static str)>,
    /// What it needs that only another program knows; none if pgdyno sees all of it.
    pub unknown: Option<String>,
}

/// Returns all faults, and whether the target of an order can have them. Connects to no server.
///
/// # Errors
/// When the target cannot be read.
pub fn possible(order: &TargetOrder) -> Result<(TargetName, Vec<PossibleFault>)> {
    let target = Target::resolve(order)?;
    let faults = FaultKind::all().map(|kind| {
        let missing = missing(kind, None, &target, order.tcp).map(|missing| (missing.what, missing.remedy));
        let unknown = unknown(kind).filter(|_| missing.is_none());
        PossibleFault { kind, missing, unknown }
    });
    Ok((target.name(), faults.collect()))
}

/// Returns what a fault needs that only another program knows.
fn unknown(kind: FaultKind) -> Option<String> {
    let FaultKind::Failover(failover) = kind else { return None };
    Some(format!("pgdyno cannot check whether {} can fail over the server of this target", failover.program()))
}

/// Something that a fault needs and that is not there.
struct MissingForFault {
    /// What is missing.
    what: String,
    /// What to do.
    remedy: &'static str,
}

const KILL_THERE: &str = "run pgdyno on the member's machine as its account or as root, or give a program that kills it there by ssh \
     (--fault ./FILE)";

/// Returns what a fault needs and does not have on this target. `member` is the one that it names; `tcp`: a private server is reached by
/// TCP.
fn missing(kind: FaultKind, member: Option<&str>, target: &Target, tcp: bool) -> Option<MissingForFault> {
    let missing = |what: &str, remedy| Some(MissingForFault { what: what.to_owned(), remedy });
    if !target.is_postgres() {
        return missing("there is no PostgreSQL", "name a server, or give --target embedded");
    }
    if kind.needs_private_server() && !target.is_private() {
        let what = "pgdyno does this only to a server that the run itself starts";
        return missing(what, "give --target embedded, or a program of yours that does it (--fault ./FILE)");
    }
    match kind {
        FaultKind::Promote if !target.is_pair() => missing("the target has no standby", "give --target embedded:ha"),
        FaultKind::PowerLoss => match (power_loss_missing(), target.settings.get("wal_sync_method")) {
            (Some(why), _) => missing(&why, "install a C compiler on Linux (apt install gcc libc6-dev)"),
            (None, Some(method)) if method != "fdatasync" => {
                missing("it sees only what fdatasync syncs", "leave wal_sync_method out")
            }
            (None, _) => None,
        },
        FaultKind::NetworkDrop if !target.given().map_or(tcp, ConnectOptions::uses_tcp) => missing(
            "packets can be dropped only where the server is reached by TCP",
            "name the host, or give --tcp for a private server",
        ),
        FaultKind::NetworkDrop => network_drop::missing()
            .and_then(|why| missing(&why, "install nftables, and run pgdyno as root or with CAP_NET_ADMIN")),
        FaultKind::Failover(_) | FaultKind::PatroniKill if target.is_private() => {
            missing("a private server is part of no cluster", "name the cluster's servers in --target")
        }
        FaultKind::PatroniKill => {
            let why = member.map_or_else(patroni_missing, |member| PatroniMember::find(member).err());
            why.and_then(|why| missing(&why, KILL_THERE))
        }
        FaultKind::Failover(failover) if on_path(failover.program()).is_none() => {
            let what = format!("{} is not on the PATH", failover.program());
            Some(MissingForFault {
                what,
                remedy: "install it, or give a program of yours that does it (--fault ./FILE)",
            })
        }
        FaultKind::Kill
        | FaultKind::Promote
        | FaultKind::Restart
        | FaultKind::RestartImmediate
        | FaultKind::CrashBackend
        | FaultKind::Failover(_)
        | FaultKind::Program => None,
    }
}

/// Returns the path of a program of this name that can be executed.
fn on_path(program: &str) -> Option<PathBuf> {
    let path = environment::variable("PATH")?;
    let is_program = |file: &PathBuf| {
        std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    // An empty or relative entry means the working directory.
    let directories = std::env::split_paths(&path).filter(|directory| directory.is_absolute());
    directories.map(|directory| directory.join(program)).find(is_program)
}

/// Refuses a program that cannot be run.
fn admit_program(file: &Path) -> Result<()> {
    let failed = |error: String, hint: &str| Err(CommandError::new(Code::Start, error).hint(hint));
    match std::fs::metadata(file) {
        Err(error) => failed(format!("--fault {}: {error}", file.display()), "name the file of a program"),
        Ok(meta) if !meta.is_file() => {
            failed(format!("--fault {}: it is no file", file.display()), "name the file of a program")
        }
        Ok(meta) if meta.permissions().mode() & 0o111 == 0 => {
            failed(format!("--fault {}: it is not executable", file.display()), "make it executable with chmod +x")
        }
        Ok(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(kind: &str, at: f64) -> Order {
        let mut order = Order::of("tpcb-like");
        (order.fault.kind, order.fault.at) = (Some(kind.parse().unwrap()), Some(at));
        order
    }

    fn refused(order: &Order, time_s: Option<f64>) -> String {
        planned(order, time_s).unwrap_err().text()
    }

    #[test]
    fn a_fault_outside_of_the_window_is_refused() {
        assert_eq!(planned(&order("kill-9", 20.0), Some(30.0)).unwrap().unwrap().last_s(), 20.0);
        assert!(
            refused(&order("kill-9", 30.0), Some(30.0))
                .contains("a fault at 30 s comes after the measured window of 30 s")
        );
        assert!(refused(&order("kill-9", 3.0), None).contains("needs a run with a length"));
        let mut several = order("kill-9", 5.0);
        (several.fault.every, several.fault.repeat) = (Some(10.0), Some(3));
        assert_eq!(planned(&several, Some(30.0)).unwrap().unwrap().repeat, 3);
        assert!(refused(&several, Some(25.0)).contains("a fault at 25 s"));
        several.fault.repeat = None;
        assert_eq!(planned(&several, Some(30.0)).unwrap().unwrap().repeat, 3, "5, 15 and 25 s");
        several.fault.at = None;
        assert_eq!(planned(&several, Some(30.0)).unwrap().unwrap().at_s, 15.0);
        let mut promoted = order("promote", 5.0);
        (promoted.fault.every, promoted.fault.repeat) = (Some(1.0), Some(2));
        assert!(refused(&promoted, Some(30.0)).contains("cannot be repeated"));
        let mut dropped = order("network-drop:3s", 5.0);
        (dropped.fault.every, dropped.fault.repeat) = (Some(3.0), Some(2));
        assert!(refused(&dropped, Some(30.0)).contains("network-drop:3s has not ended when it begins again"));
        dropped.fault.every = Some(4.0);
        assert_eq!(planned(&dropped, Some(30.0)).unwrap().unwrap().repeat, 2);
    }

    #[test]
    fn repeat_is_a_parameter_of_tproc_h_where_nothing_is_repeated() {
        let of = |workload: &str| {
            let mut order = Order::of(workload);
            order.fault.repeat = Some(3);
            settled(order)
        };
        let order = of("tproc-h").unwrap();
        assert_eq!(order.workload.params, [("repeat".to_owned(), "3".to_owned())]);
        assert_eq!(order.fault.repeat, None);
        assert!(of("tpcb-like").unwrap_err().text().contains("this run has neither"));
    }
}
