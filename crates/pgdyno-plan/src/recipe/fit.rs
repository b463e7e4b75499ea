//! Scales the numbers of a size to another machine.

use super::numbers::Numbers;
use super::{Fit, Machine, Size};

/// Something that numbers can grow with.
pub(super) const VCPUS: &str = "vcpus";
/// As [`VCPUS`].
pub(super) const MEMORY: &str = "memory";
/// Numbers that every recipe can have, in addition to the parameters of its workload.
pub(super) const NUMBERS: [&str; 3] = ["clients", "threads", "loaders"];

/// Returns the size with the most similar machine, by the ratios of CPUs and, if both are known, memory; the first of
/// several that are equally similar.
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

/// Scales the numbers from the machine that they were made for to `machine`; returns the rule and its result as text.
pub(super) fn fit(numbers: &mut Numbers, rule: &Fit, size: &Size, machine: Machine) -> String {
    let mut steps = Vec::new();
    let own_vcpus = rule.made_for.map_or(size.vcpus, |made_for| made_for.vcpus);
    let own_memory = rule.made_for.map(|made_for| made_for.memory).or(size.memory).unwrap_or_default();
    let base = numbers.clone();
    let grown_by_machine = |by: &str| by == VCPUS || by == MEMORY;
    // Numbers that depend on other numbers come after them.
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
        steps.push(format!("{name} {own} × {}/{}{unit} = {grown}", short(here), short(there)));
    }
    let steps = if steps.is_empty() { "its numbers as they are".to_owned() } else { steps.join("; ") };
    format!("{}, from {}: {steps}", rule.rule, size.name)
}

/// Returns bytes in PostgreSQL's gigabytes.
pub(super) fn gigabytes(bytes: u64) -> String {
    format!("{} GB", short(gib(bytes)))
}

fn gib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

/// Formats a number with at most two decimals.
fn short(number: f64) -> String {
    format!("{number:.2}").trim_end_matches('0').trim_end_matches('.').to_owned()
}
