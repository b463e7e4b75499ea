//! The numbers of a size, scaled to another machine.

use super::numbers::Numbers;
use super::{Fit, Machine, Size};

/// What numbers can grow with.
pub(super) const VCPUS: &str = "vcpus";
/// The same.
pub(super) const MEMORY: &str = "memory";
/// Numbers that every recipe can have, beside the parameters of its workload.
pub(super) const NUMBERS: [&str; 3] = ["clients", "threads", "loaders"];

/// The size whose machine is most like this one, by the ratios of processors and, where both are known, memory; of two
/// that are equally like it the first.
pub(super) fn nearest<'a>(
    sizes: impl Iterator<Item = &'a Size>,
    vcpus: u32,
    memory_bytes: Option<u64>,
) -> Option<&'a Size> {
    let apart = |here: f64, there: f64| (here / there).ln().abs();
    let distance = |size: &Size| {
        let memory = memory_bytes.zip(size.memory).map_or(0.0, |(here, there)| apart(here as f64, there.0 as f64));
        apart(f64::from(vcpus), f64::from(size.vcpus.get())) + memory
    };
    sizes.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// Scales the numbers from the machine that they were made for to `machine`, and tells the rule and what came of it.
pub(super) fn fit(numbers: &mut Numbers, rule: &Fit, size: &Size, machine: Machine) -> String {
    let mut told = Vec::new();
    let own_vcpus = rule.made_for.map_or(size.vcpus, |made_for| made_for.vcpus);
    let own_memory = rule.made_for.map(|made_for| made_for.memory).or(size.memory).unwrap_or_default();
    let base = numbers.clone();
    let grown_by_machine = |by: &str| by == VCPUS || by == MEMORY;
    // Those that follow another number come after it.
    let (first, then): (Vec<_>, Vec<_>) = rule.grows.iter().partition(|(_, by)| grown_by_machine(by));
    for (name, by) in first.into_iter().chain(then) {
        let Some(own) = base.get(name) else { continue };
        let (here, there, unit) = match by.as_str() {
            VCPUS => (f64::from(machine.vcpus), f64::from(own_vcpus.get()), " vCPUs".to_owned()),
            MEMORY => (gib(machine.memory_bytes), gib(own_memory.0), " GB".to_owned()),
            other => {
                let of = |numbers: &Numbers| numbers.get(other).unwrap_or(1) as f64;
                (of(numbers), of(&base), format!(" of {other}"))
            }
        };
        let grown = ((own as f64 * here / there).round() as u64).max(1);
        numbers.set(name, grown);
        told.push(format!("{name} {own} × {}/{}{unit} = {grown}", short(here), short(there)));
    }
    let told = if told.is_empty() { "its numbers as they are".to_owned() } else { told.join("; ") };
    format!("{}, from {}: {told}", rule.rule, size.name)
}

/// Bytes in PostgreSQL's gigabytes.
pub(super) fn gigabytes(bytes: u64) -> String {
    format!("{} GB", short(gib(bytes)))
}

fn gib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

/// With two decimals at most.
fn short(number: f64) -> String {
    format!("{number:.2}").trim_end_matches('0').trim_end_matches('.').to_owned()
}
