//! The labels of the run, the name of the target, and the steps on the server around the run.

use pgdyno_results::{CycleRecord, RunRecord, SettingRecord};
use pgdyno_text::units::{bytes, duration};

/// Returns lines for the labels, the target, the completed steps, and the settings, if there are any. A step that was not done is a
/// warning, and listed there.
pub(crate) fn lines(record: &RunRecord) -> Vec<String> {
    [labels(record), target(record), steps(record), settings(record)].into_iter().flatten().collect()
}

fn labels(record: &RunRecord) -> Option<String> {
    let all: Vec<_> = record.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
    (!all.is_empty()).then(|| format!("labels: {}", all.join(", ")))
}

fn target(record: &RunRecord) -> Option<String> {
    let target = record.target.as_ref()?;
    let kind = (!target.kind.is_empty()).then(|| target.kind.clone());
    let vcpus = target.vcpus.map(|n| format!("{n} vCPU"));
    let memory = target.memory_bytes.map(bytes);
    let labels = target.labels.iter().map(|(name, value)| format!("{name} {value}"));
    let facts: Vec<_> = kind.into_iter().chain(vcpus).chain(memory).chain(labels).collect();
    Some(format!(
        "target {}{}",
        target.name,
        if facts.is_empty() { String::new() } else { format!(": {}", facts.join(", ")) }
    ))
}

fn steps(record: &RunRecord) -> Option<String> {
    let step = |step: &CycleRecord| {
        let time = if step.seconds >= 0.0005 { format!(" in {}", duration(step.seconds)) } else { String::new() };
        format!("{}{time} ({})", step.step, step.what)
    };
    let done: Vec<_> = record.cycle.iter().filter(|step| step.done).map(step).collect();
    (!done.is_empty()).then(|| format!("around the run: {}", done.join("; ")))
}

fn settings(record: &RunRecord) -> Option<String> {
    let setting = |setting: &SettingRecord| {
        let before = match (&setting.before, setting.restored) {
            (Some(before), Some(true)) => format!(", {before} again now"),
            (Some(before), _) => format!(", {before} before, NOT put back"),
            (None, _) => String::new(),
        };
        format!("{} = {} ({}{before})", setting.name, setting.shown, setting.by)
    };
    let all: Vec<_> = record.settings_set.iter().map(setting).collect();
    (!all.is_empty()).then(|| format!("settings of the run: {}", all.join(", ")))
}
