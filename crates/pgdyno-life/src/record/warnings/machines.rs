//! Warnings about CPU time of the machines that others used during the measurement.

use pgdyno_results::{MachineRecord, RunRecord, Warning};

/// If other programs used a greater share of a machine's CPUs than this, they affected the figures.
const SHARED: f64 = 0.05;
/// CPUs below this number are what any machine uses in the background.
const USUAL_CPUS: f64 = 0.1;
/// If a hypervisor gave a greater share of a machine's CPU time than this to others, that affected the figures.
const STOLEN: f64 = 0.02;

/// Returns the warnings that follow from the samples of the machines.
pub(super) fn warnings(record: &RunRecord) -> Vec<Warning> {
    let server = match &record.client_machine {
        None => "this machine",
        Some(_) => "the server's machine",
    };
    let server = record.server_machine.iter().flat_map(|machine| of(server, machine));
    server.chain(record.client_machine.iter().flat_map(|machine| of("the driver's machine", machine))).collect()
}

fn of(name: &str, machine: &MachineRecord) -> Vec<Warning> {
    let Some(cpus) = machine.cpus.filter(|cpus| *cpus > 0.0) else { return Vec::new() };
    let mut warnings = Vec::new();
    if let Some(other) = machine.other_cpus.filter(|other| *other > USUAL_CPUS.max(SHARED * cpus)) {
        warnings.push(Warning::OtherPrograms { machine: name.to_owned(), used_cpus: other, cpus });
    }
    if let Some(stolen) = machine.steal_cpus.filter(|stolen| *stolen > STOLEN * cpus) {
        warnings.push(Warning::CpuSteal { machine: name.to_owned(), share: stolen / cpus });
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(cpus: f64, other: f64, steal: f64) -> MachineRecord {
        MachineRecord { cpus: Some(cpus), other_cpus: Some(other), steal_cpus: Some(steal), ..MachineRecord::default() }
    }

    #[test]
    fn others_are_reported_above_a_tenth_of_a_cpu_and_a_twentieth_of_all() {
        assert_eq!(of("m", &machine(1.0, 0.1, 0.0)).len(), 0);
        assert_eq!(of("m", &machine(1.0, 0.11, 0.0)).len(), 1);
        assert_eq!(of("m", &machine(16.0, 0.79, 0.0)).len(), 0);
        let text = of("the driver's machine", &machine(16.0, 0.81, 0.0))[0].to_string();
        assert!(text.starts_with("other programs used 0.81 of the 16 CPUs of the driver's machine"), "{text}");
    }

    #[test]
    fn a_hypervisor_is_reported_above_a_fiftieth() {
        assert_eq!(of("m", &machine(4.0, 0.0, 0.08)).len(), 0);
        let text = of("m", &machine(4.0, 0.0, 0.1))[0].to_string();
        assert!(text.starts_with("CPU steal of 2.5 % on m: "), "{text}");
        assert_eq!(of("m", &MachineRecord { steal_cpus: Some(1.0), ..MachineRecord::default() }).len(), 0);
    }
}
