//! Control groups with a limit, on the driver's machine: of the driver, and of the server if it runs there.

crate::source! { "cgroup":
    /// `server` or `driver`. If both are in one group, `server`.
    OF = key("of");
    /// CPUs that the group may use.
    LIMIT_CPUS = gauge("limit_cpus", Cpus);
    /// CPUs used since the sample before.
    USED_CPUS = gauge("used_cpus", Cpus);
    /// Share of the periods of the limit in which the group was stopped.
    THROTTLED = gauge("throttled", Share);
    /// Memory that the group may use.
    MEMORY_LIMIT_BYTES = gauge("memory_limit_bytes", Bytes);
    /// Memory that it uses, file cache included.
    MEMORY_BYTES = gauge("memory_bytes", Bytes);
    /// Times that the limit was reached and memory had to be freed.
    MEMORY_REACHED = counter("memory_reached", Count);
    /// Processes killed for lack of memory.
    OOM_KILLS = counter("oom_kills", Count);
}
