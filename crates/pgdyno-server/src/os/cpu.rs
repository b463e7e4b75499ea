//! CPU time of a machine, by kind.

use super::proc::Malformed;

/// CPU time since the machine's start, in ticks. Source: proc_stat(5), the line `cpu`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuTimes {
    /// CPUs that are online.
    pub(crate) cpus: u32,
    /// User mode, niced included; with guests of this machine.
    user: u64,
    /// Kernel mode, for programs and kernel threads.
    system: u64,
    /// Kernel mode, for interrupts: no program is charged with it.
    interrupts: u64,
    idle: u64,
    iowait: u64,
    steal: u64,
}

/// CPU usage of a machine between two looks, in CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CpuUse {
    pub(crate) cpus: f64,
    pub(crate) user: f64,
    /// Kernel mode, interrupts included.
    pub(crate) system: f64,
    pub(crate) interrupts: f64,
    /// Idle because of pending I/O.
    pub(crate) iowait: f64,
    /// Time that the hypervisor gave to others.
    pub(crate) steal: f64,
    /// CPUs that one tick between the two looks is.
    pub(crate) cpus_of_tick: f64,
}

impl CpuTimes {
    /// Reads `/proc/stat`.
    ///
    /// # Errors
    /// When it has no line `cpu` with the ten values of Linux 2.6.33 and later, at least the first eight of them.
    pub(crate) fn parse(stat: &str) -> Result<Self, Malformed> {
        let malformed = || Malformed::new("stat", stat);
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu ")).ok_or_else(malformed)?;
        let times: Result<Vec<u64>, _> = line.split_whitespace().map(str::parse).collect();
        let [user, nice, system, idle, iowait, irq, softirq, steal, ..] = times.map_err(|_| malformed())?[..] else {
            return Err(malformed());
        };
        let cpus = stat.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")).count();
        // Another machine reports these: a sum that is too large is no reason to panic.
        let (interrupts, user) = (irq.saturating_add(softirq), user.saturating_add(nice));
        Ok(Self { cpus: cpus.max(1) as u32, user, system, interrupts, idle, iowait, steal })
    }

    /// Returns the usage since an earlier look; `None` if the kernel counted nothing, as in some sandboxes.
    pub(crate) fn since(&self, earlier: &Self) -> Option<CpuUse> {
        // The kernel's counts of iowait and idle may decrease a little.
        let grown = |of: fn(&Self) -> u64| of(self).saturating_sub(of(earlier));
        let times =
            [grown(|t| t.user), grown(|t| t.system), grown(|t| t.interrupts), grown(|t| t.iowait), grown(|t| t.steal)];
        let ticks = times.iter().fold(grown(|t| t.idle), |sum, time| sum.saturating_add(*time));
        if ticks == 0 {
            return None;
        }
        let cpus = f64::from(self.cpus);
        let cpus_of_tick = cpus / ticks as f64;
        let [user, system, interrupts, iowait, steal] = times.map(|time| time as f64 * cpus_of_tick);
        Some(CpuUse { cpus, user, system: system + interrupts, interrupts, iowait, steal, cpus_of_tick })
    }
}

impl CpuUse {
    /// Returns the busy CPUs.
    pub(crate) fn busy(&self) -> f64 {
        self.user + self.system
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(cpu: &str) -> String {
        format!("cpu  {cpu}\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu1 1 2 3 4 5 6 7 8 0 0\nintr 1 2\nctxt 9\n")
    }

    #[test]
    fn shares_of_the_ticks_are_cpus() {
        let before = CpuTimes::parse(&stat("1000 100 500 8000 50 10 20 30 7 0")).unwrap();
        let after = CpuTimes::parse(&stat("1060 120 550 8030 65 15 25 45 9 0")).unwrap();
        // 200 ticks on 2 CPUs: a tick is a hundredth of a CPU.
        let used = after.since(&before).unwrap();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(used.user, 0.8) && close(used.system, 0.6) && close(used.interrupts, 0.1), "{used:?}");
        assert!(close(used.busy(), 1.4) && close(used.iowait, 0.15) && close(used.steal, 0.15), "{used:?}");
        assert!(close(used.cpus, 2.0) && close(used.cpus_of_tick, 0.01), "{used:?}");
    }

    #[test]
    fn a_kernel_that_counts_nothing_says_nothing_and_one_that_counts_back_is_borne() {
        let still = CpuTimes::parse(&stat("0 0 0 0 0 0 0 0 0 0")).unwrap();
        assert_eq!(still.since(&still), None);
        let before = CpuTimes::parse(&stat("0 0 0 100 50 0 0 0 0 0")).unwrap();
        let after = CpuTimes::parse(&stat("100 0 0 200 49 0 0 0 0 0")).unwrap();
        assert_eq!(after.since(&before).map(|used| (used.user, used.iowait)), Some((1.0, 0.0)));
    }

    #[test]
    fn what_is_no_stat_is_refused() {
        for text in ["", "cpu0 1 2 3 4 5 6 7 8\n", "cpu  1 2 3\n", "cpu  a b c d e f g h\n", "cpu  1 2 3 4 5 6 7 -8\n"]
        {
            assert!(CpuTimes::parse(text).is_err(), "{text:?}");
        }
    }
}
