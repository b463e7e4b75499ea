//! How busy the CPUs are, and with what. Source: proc_stat(5), proc_pid_stat(5).

use std::collections::HashMap;
use std::time::Duration;

use super::files::Files;

/// CPU time since the start of the machine, in ticks.
#[derive(Clone, Debug, Default, PartialEq)]
struct CpuTicks {
    /// Of all CPUs together.
    all: u64,
    /// Of them idle, or waiting for a disk.
    idle: u64,
    /// Taken by the hypervisor.
    stolen: u64,
    /// Number of CPUs.
    cpus: usize,
    /// Of each process, by its number and its start, with its name at this moment: the kernel's workers change theirs.
    processes: HashMap<(u32, u64), (String, u64)>,
}

/// Usage of the CPUs during a time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Usage {
    /// Number of CPUs.
    pub(super) cpus: usize,
    /// CPUs in use, in all: 1.5 of 2.
    pub(super) busy: f64,
    /// Share of the CPU time that the hypervisor kept for others.
    pub(super) stolen: f64,
    /// The programs that used most, in CPUs; several processes of the same name are one.
    pub(super) programs: Vec<(String, f64)>,
}

impl Usage {
    /// Watches the CPUs for `interval`; `None` without `/proc`.
    pub(super) fn watch(files: &Files, interval: Duration) -> Option<Self> {
        let before = look(files)?;
        std::thread::sleep(interval);
        between(&before, &look(files)?)
    }
}

fn look(files: &Files) -> Option<CpuTicks> {
    let text = files.text("proc/stat")?;
    let mut look = total(&text)?;
    let own = std::process::id();
    let numbers = files.names("proc").into_iter().filter_map(|name| name.parse::<u32>().ok());
    let others = numbers.filter(|number| *number != own);
    look.processes = others.filter_map(|number| process(&files.text(&format!("proc/{number}/stat"))?)).collect();
    Some(look)
}

/// Returns the totals of `/proc/stat`.
fn total(text: &str) -> Option<CpuTicks> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    // user nice system idle iowait irq softirq steal; guest time is contained in user time.
    let ticks: Vec<u64> = line.split_whitespace().take(8).map(|n| n.parse().unwrap_or_default()).collect();
    let at = |nth: usize| ticks.get(nth).copied().unwrap_or_default();
    let is_cpu = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
    Some(CpuTicks {
        all: ticks.iter().sum(),
        idle: at(3) + at(4),
        stolen: at(7),
        cpus: text.lines().filter(is_cpu).count(),
        processes: HashMap::new(),
    })
}

/// Returns number and start, name and CPU time of a process.
fn process(line: &str) -> Option<((u32, u64), (String, u64))> {
    // The name is in parentheses and may contain anything, also parentheses.
    let (begin, rest) = line.rsplit_once(')')?;
    let (number, name) = begin.split_once('(')?;
    let fields: Vec<u64> = rest.split_whitespace().skip(11).map(|field| field.parse().unwrap_or_default()).collect();
    let [user, system, .., start] = fields.get(..9)? else { return None };
    Some(((number.trim().parse().ok()?, *start), (name.to_owned(), user + system)))
}

fn between(before: &CpuTicks, after: &CpuTicks) -> Option<Usage> {
    let all = after.all.saturating_sub(before.all);
    if all == 0 || after.cpus == 0 {
        return None;
    }
    let share = |ticks: u64| ticks as f64 / all as f64;
    let cpus = |ticks: u64| share(ticks) * after.cpus as f64;
    let stolen = after.stolen.saturating_sub(before.stolen);
    let idle = after.idle.saturating_sub(before.idle);
    let mut programs = HashMap::<&str, u64>::new();
    for (process, (name, ticks)) in &after.processes {
        let begun_with = before.processes.get(process).map_or(0, |(_, ticks)| *ticks);
        *programs.entry(name).or_default() += ticks.saturating_sub(begun_with);
    }
    let mut programs: Vec<_> = programs.into_iter().map(|(name, ticks)| (name.to_owned(), cpus(ticks))).collect();
    programs.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    Some(Usage { cpus: after.cpus, busy: cpus(all.saturating_sub(idle + stolen)), stolen: share(stolen), programs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_the_difference_of_two_looks() {
        let stat =
            |user: u64, idle: u64, steal: u64| format!("cpu  {user} 0 0 {idle} 0 0 0 {steal} 0 0\ncpu0 1\ncpu1 1\n");
        let mut before = total(&stat(100, 1000, 0)).unwrap();
        let mut after = total(&stat(190, 1090, 20)).unwrap();
        before.processes = [process("7 (a (b) x) R 1 1 1 0 -1 0 0 0 0 0 10 5 0 0 20 0 1 0 99").unwrap()].into();
        after.processes = [
            process("7 (a (b) c) R 1 1 1 0 -1 0 0 0 0 0 60 5 0 0 20 0 1 0 99").unwrap(),
            process("8 (make) R 1 1 1 0 -1 0 0 0 0 0 20 10 0 0 20 0 1 0 150").unwrap(),
        ]
        .into();
        let usage = between(&before, &after).unwrap();
        assert_eq!((usage.cpus, usage.busy, usage.stolen), (2, 0.9, 0.1));
        assert_eq!(usage.programs, [("a (b) c".to_owned(), 0.5), ("make".to_owned(), 0.3)]);
        assert_eq!(between(&after, &after), None);
    }

    #[test]
    fn this_machine_can_be_watched() {
        let usage = Usage::watch(&Files::of_this_machine(), Duration::from_millis(50));
        assert!(!cfg!(target_os = "linux") || usage.is_some_and(|usage| usage.cpus > 0));
    }
}
