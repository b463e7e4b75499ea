//! Warnings about the figures of a run: what is known against them, with its figures, its severity and its remedy.
//!
//! The rules that decide whether a warning applies are `pgdyno-life`'s and `pgdyno-diagnose`'s.

mod list;
mod sign;
#[cfg(test)]
mod tests;
mod text;

use serde::{Deserialize, Serialize};

pub use list::Warnings;
pub use sign::Sign;

/// What a warning means for the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// They are what was measured; the text says what else to know.
    Note,
    /// They are right, and may be others in another run or a longer one.
    Unsettled,
    /// They show less, or something else, than the server at work.
    Distorted,
}

/// The drivers that a warning is about, where several drove.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Drivers {
    /// The first of them: its number from 1 and its machine. The figures are its.
    pub first: String,
    /// How many of them the warning is about.
    pub number: u32,
    /// How many drove.
    pub of: u32,
}

/// A warning about the figures of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case", rename_all_fields = "snake_case")]
pub enum Warning {
    /// No transaction ended without an error for a part of the window.
    NothingEnded {
        /// For how long, in all.
        stalled_s: f64,
        /// The share of the window, 0 to 1.
        share: f64,
        /// When it began first, since the clients began.
        from_s: f64,
        /// Transactions in flight meanwhile, at most.
        in_flight_max: u64,
        /// Transactions that failed meanwhile.
        #[serde(default)]
        failed: u64,
        /// Connections that were lost, and not opened again, meanwhile, at most.
        #[serde(default)]
        disconnected_max: u64,
        /// Whether the run caused a fault in its window.
        #[serde(default)]
        with_fault: bool,
    },
    /// Next to nothing was committed for a part of the window.
    ThroughputStalled {
        /// For how long, in all.
        stalled_s: f64,
        /// The share of the window, 0 to 1.
        share: f64,
        /// When it began first, since the clients began.
        from_s: f64,
    },
    /// The driver's threads waited for a CPU.
    DriverShortOfCpu {
        /// The drivers, where several drove.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        drivers: Option<Drivers>,
        /// Whether that was most of the time.
        is_most: bool,
        /// The share of time that they waited, 0 to 1.
        waited_share: f64,
        /// The share of time that they were on a CPU, 0 to 1.
        busy_share: f64,
        /// What was late because of it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        signs: Vec<Sign>,
    },
    /// The driver was slower than the server.
    DriverBottleneck {
        /// The drivers, where several drove.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        drivers: Option<Drivers>,
        /// What shows it.
        signs: Vec<Sign>,
    },
    /// Replies lay unread, as `--coalesce` asked for.
    RepliesLeftUnread {
        /// The drivers, where several drove.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        drivers: Option<Drivers>,
        /// For how long they may lie there.
        coalesce_us: f64,
        /// What it made late.
        signs: Vec<Sign>,
    },
    /// Reading the driver's clock takes long.
    SlowClock {
        /// The drivers, where several drove.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        drivers: Option<Drivers>,
        /// The kernel's name of the clock.
        clocksource: String,
        /// A reading of it.
        read_ns: f64,
    },
    /// An open loop did not reach its rate.
    RateMissed {
        /// The group of clients and its stage, if there are several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<GroupOfStage>,
        /// The share of the rate that was reached, 0 to 1.
        reached_share: f64,
        /// The rate, in transactions a second.
        rate_per_s: f64,
        /// Whether a fault was caused meanwhile, which explains it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        with_fault: bool,
    },
    /// The window is short.
    ShortWindow {
        /// Its length.
        window_s: f64,
    },
    /// Throughput had not settled when the window began.
    NotSettled {
        /// The proposed warm-up.
        ramp_s: f64,
    },
    /// Throughput drifts over the window.
    Drifts,
    /// Throughput changed from one level to another.
    LevelChanged {
        /// When, since the clients began.
        at_s: f64,
        /// Transactions a second before.
        tps_before: f64,
        /// Transactions a second after.
        tps_after: f64,
    },
    /// A setting without which a crash loses data is off.
    UnsafeSetting {
        /// Its name.
        name: String,
    },
    /// Clients had no connection at the end.
    ClientsLost {
        /// How many.
        lost: u64,
        /// Of how many.
        clients: u32,
    },
    /// Clients ended before the run did.
    ClientsAborted {
        /// How many.
        aborted: u64,
        /// Of how many.
        clients: u32,
    },
    /// An error of transactions has a remedy.
    TransactionError {
        /// Its SQLSTATE.
        sqlstate: String,
        /// The remedy.
        advice: String,
    },
    /// Other programs used a machine's CPUs.
    OtherPrograms {
        /// The machine.
        machine: String,
        /// The CPUs that they used.
        used_cpus: f64,
        /// The CPUs of the machine.
        cpus: f64,
    },
    /// A hypervisor gave CPU time of a machine to others.
    CpuSteal {
        /// The machine.
        machine: String,
        /// The share of its CPU time, 0 to 1.
        share: f64,
    },
    /// A stage did not do all of its work, so that figures of it are left out.
    StageNotWhole {
        /// The stage.
        stage: String,
        /// The transactions that not every client ended.
        undone: Vec<String>,
        /// The figures.
        figures: Vec<String>,
    },
    /// A rule of the workload's standard does not hold.
    RuleBroken {
        /// Its name.
        rule: String,
        /// What it asks for.
        wanted: String,
        /// What was found.
        found: String,
    },
    /// One node of a cluster has more of the data than the others.
    UnevenNodes {
        /// How many times as much as the mean.
        skew: f64,
        /// The unit of the data.
        unit: String,
    },
    /// Calls are not delegated to the nodes with the data.
    NotDelegated {
        /// Why.
        why: String,
    },
    /// Vacuum ran for a large part of the window.
    VacuumRan {
        /// The share of the window, 0 to 1.
        share: f64,
        /// How many at once, at most.
        workers_max: u64,
        /// The setting that limits them, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        autovacuum_max_workers: Option<String>,
    },
    /// The window has no checkpoint, though much was written.
    NoCheckpoint {
        /// The window that would have one.
        window_s: f64,
        /// The setting.
        checkpoint_timeout_s: f64,
        /// The setting, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_wal_size: Option<String>,
        /// WAL that was written.
        wal_bytes: f64,
        /// The length of the window.
        measured_s: f64,
    },
    /// A fitted workload does too little of the captured load.
    LowFidelity {
        /// The percentage of the captured time whose statements are representative.
        time_percent: f64,
        /// Scripts of the others, from the one that took most time where they were captured.
        scripts: Vec<String>,
    },
    /// A fault was caused, and neither clients nor server show it.
    FaultWithoutEffect {
        /// The fault.
        fault: String,
        /// When it was caused, since the window began.
        at_s: f64,
    },
    /// A fault was not caused, or not in full.
    FaultFailed {
        /// The fault.
        fault: String,
        /// When it was to be caused, since the window began.
        at_s: f64,
        /// Why.
        why: String,
    },
    /// Server and clients do not agree on the number of transactions.
    TpmLeftOut {
        /// What the server counted.
        by_server: u64,
        /// What the clients sent.
        sent: u64,
    },
    /// What held the server back is unknown.
    NotDiagnosed {
        /// Why.
        why: String,
    },
    /// A step was left out that changes none of the figures: the record or the diagnosis has less.
    LeftOut {
        /// Its name, why, and what that costs.
        text: String,
    },
    /// What a step, the server or the file system reported.
    Note {
        /// Its text.
        text: String,
    },
}

/// A group of clients and its stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupOfStage {
    /// The group.
    pub group: String,
    /// The stage.
    pub stage: String,
}

impl Warning {
    /// Returns the warning without figures that a step, the server or the file system reported.
    #[must_use]
    pub fn note(text: impl Into<String>) -> Self {
        Self::Note { text: text.into() }
    }

    /// Returns what it means for the figures.
    #[must_use]
    pub fn severity(&self) -> Severity {
        match self {
            Self::NothingEnded { .. }
            | Self::ThroughputStalled { .. }
            | Self::DriverShortOfCpu { .. }
            | Self::DriverBottleneck { .. }
            | Self::RepliesLeftUnread { .. }
            | Self::SlowClock { .. }
            | Self::OtherPrograms { .. }
            | Self::CpuSteal { .. }
            | Self::RuleBroken { .. }
            | Self::ClientsLost { .. }
            | Self::ClientsAborted { .. }
            | Self::UnevenNodes { .. }
            | Self::NotDelegated { .. }
            | Self::LowFidelity { .. }
            | Self::FaultWithoutEffect { .. }
            | Self::FaultFailed { .. } => Severity::Distorted,
            Self::RateMissed { .. }
            | Self::ShortWindow { .. }
            | Self::NotSettled { .. }
            | Self::Drifts
            | Self::LevelChanged { .. }
            | Self::UnsafeSetting { .. }
            | Self::VacuumRan { .. }
            | Self::NoCheckpoint { .. } => Severity::Unsettled,
            Self::TransactionError { .. }
            | Self::StageNotWhole { .. }
            | Self::TpmLeftOut { .. }
            | Self::NotDiagnosed { .. }
            | Self::LeftOut { .. }
            | Self::Note { .. } => Severity::Note,
        }
    }

    /// Returns what to do, as an imperative; `None` if the reader can do nothing, or the text says it.
    #[must_use]
    pub fn remedy(&self) -> Option<String> {
        Some(match self {
            Self::NothingEnded { with_fault: false, .. } => {
                "look at the server's log, its locks and its machine at that time".to_owned()
            }
            Self::DriverShortOfCpu { .. } => "use a second machine, or taskset".to_owned(),
            Self::DriverBottleneck { .. } => "raise --threads, or take a larger machine".to_owned(),
            Self::RepliesLeftUnread { .. } => "leave out --coalesce".to_owned(),
            Self::SlowClock { .. } => "use a machine whose clocksource is tsc".to_owned(),
            Self::RateMissed { with_fault: false, .. } => "lower --rate or add clients".to_owned(),
            Self::ShortWindow { .. } => "measure for -T 1min or more".to_owned(),
            Self::NotSettled { ramp_s } => format!("give --ramp {ramp_s:.0}"),
            Self::Drifts => "give a longer --ramp or -T".to_owned(),
            Self::UnsafeSetting { name } => format!("set {name} to on"),
            Self::OtherPrograms { .. } => "stop the other programs".to_owned(),
            Self::CpuSteal { .. } => "use a virtual machine with CPUs of its own (not burstable)".to_owned(),
            Self::UnevenNodes { unit, .. } => format!("use many more {unit} than nodes, or another --shard-count"),
            Self::NoCheckpoint { window_s, .. } => format!("measure for {}", text::time_option(*window_s)),
            Self::TransactionError { advice, .. } => advice.clone(),
            Self::LowFidelity { scripts, .. } if scripts.is_empty() => {
                "see REFUSED in `pgdyno capture show` for what the workload cannot have".to_owned()
            }
            Self::LowFidelity { .. } => {
                "edit these scripts or their values; CAPTURE in the report shows how far they are off".to_owned()
            }
            Self::FaultWithoutEffect { .. } => {
                "make sure that the fault reaches the server that the clients use".to_owned()
            }
            Self::NothingEnded { with_fault: true, .. }
            | Self::RateMissed { with_fault: true, .. }
            | Self::ThroughputStalled { .. }
            | Self::FaultFailed { .. }
            | Self::LevelChanged { .. }
            | Self::ClientsLost { .. }
            | Self::ClientsAborted { .. }
            | Self::StageNotWhole { .. }
            | Self::RuleBroken { .. }
            | Self::NotDelegated { .. }
            | Self::VacuumRan { .. }
            | Self::TpmLeftOut { .. }
            | Self::NotDiagnosed { .. }
            | Self::LeftOut { .. }
            | Self::Note { .. } => return None,
        })
    }

    /// Returns the drivers that it is about, where several drove.
    #[must_use]
    pub fn drivers_mut(&mut self) -> Option<&mut Option<Drivers>> {
        match self {
            Self::DriverShortOfCpu { drivers, .. }
            | Self::DriverBottleneck { drivers, .. }
            | Self::RepliesLeftUnread { drivers, .. }
            | Self::SlowClock { drivers, .. } => Some(drivers),
            _ => None,
        }
    }
}
