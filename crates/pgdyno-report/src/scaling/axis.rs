//! The axis of a scaling.

use pgdyno_plan::{Pace, Rate};
use pgdyno_results::RunRecord;
use pgdyno_text::parse;
use pgdyno_text::units::{count, rate};

use crate::compare::{FactDifference, FactGroup, settings};

/// The value in which runs differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Clients.
    Clients,
    /// Connections.
    Connections,
    /// Engine threads.
    Threads,
    /// The size of the data.
    Scale,
    /// Offered transactions per second.
    Rate,
    /// CPUs of the server, of all its nodes.
    Vcpus,
    /// A label of the run or its target.
    Label(String),
    /// A parameter of the workload.
    Param(String),
    /// A setting of the server, as the clients had it.
    Setting(String),
}

/// A position on the axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AxisPoint {
    /// The position as text.
    pub(crate) label: String,
    /// The position as a number, if it is one above zero.
    pub(super) at: Option<f64>,
}

impl Axis {
    /// The names of all axes, for a message.
    pub const NAMES: &str = "clients, connections, threads, scale, rate, vcpus, label:NAME, param:NAME, setting:NAME";

    /// Returns the axis of a name on the command line.
    #[must_use]
    pub fn named(text: &str) -> Option<Self> {
        match (text, text.split_once(':')) {
            ("clients", _) => Some(Self::Clients),
            ("connections", _) => Some(Self::Connections),
            ("threads", _) => Some(Self::Threads),
            ("scale", _) => Some(Self::Scale),
            ("rate", _) => Some(Self::Rate),
            ("vcpus", _) => Some(Self::Vcpus),
            (_, Some(("label", name))) if !name.is_empty() => Some(Self::Label(name.to_owned())),
            (_, Some(("param", name))) if !name.is_empty() => Some(Self::Param(name.to_owned())),
            (_, Some(("setting", name))) if !name.is_empty() => Some(Self::Setting(name.to_lowercase())),
            _ => None,
        }
    }

    /// Returns its title.
    pub(crate) fn title(&self) -> &str {
        match self {
            Self::Clients => "clients",
            Self::Connections => "connections",
            Self::Threads => "threads",
            Self::Scale => "scale",
            Self::Rate => "rate",
            Self::Vcpus => "vCPUs",
            Self::Label(name) | Self::Param(name) | Self::Setting(name) => name,
        }
    }

    /// Returns the position of a run.
    ///
    /// # Errors
    /// A message, when the run has no position there.
    pub(crate) fn place(&self, record: &RunRecord) -> Result<AxisPoint, String> {
        let plan = &record.plan;
        let whole = |n: u64| Ok(AxisPoint { label: count(n), at: (n > 0).then_some(n as f64) });
        match self {
            Self::Clients => whole(u64::from(plan.drive.clients)),
            Self::Connections => whole(u64::from(plan.links())),
            Self::Threads => whole(plan.drive.threads as u64),
            Self::Scale => plan.fraction().map_or_else(|| whole(plan.scale), |text| Ok(place_of_text(text))),
            Self::Rate => match plan.drive.pace {
                Pace::Rate(Rate { per_s, .. }) => Ok(AxisPoint { label: rate(per_s), at: Some(per_s) }),
                Pace::ClosedLoop => Err("has no rate".to_owned()),
            },
            Self::Vcpus => whole(u64::from(vcpus(record).ok_or_else(|| {
                "does not say how many CPUs the server has: give its target `vcpus` in pgdyno.toml".to_owned()
            })?)),
            Self::Label(name) => record.label(name).map(place_of_text).ok_or_else(|| format!("has no label {name}")),
            Self::Param(name) => {
                let value = plan.params.get(name);
                value.map(|value| place_of_text(value)).ok_or_else(|| format!("has no parameter {name}"))
            }
            Self::Setting(name) => {
                let value = settings(record).remove(name);
                value.map(|value| place_of_setting(&value)).ok_or_else(|| format!("does not say its {name}"))
            }
        }
    }

    /// Returns true if a figure could grow in proportion along the axis.
    pub(super) fn is_proportional(&self) -> bool {
        !matches!(self, Self::Setting(_))
    }

    /// Returns true if a fact is expected to differ along the axis. `scale_name` is the workload's name of its scale.
    pub(super) fn is_about(&self, difference: &FactDifference, scale_name: &str) -> bool {
        let name = difference.name.as_str();
        match (self, difference.group) {
            (Self::Clients, FactGroup::Plan) => name == "clients",
            (Self::Connections, FactGroup::Plan) => name == "connections" || name == "clients",
            (Self::Threads, FactGroup::Plan) => name == "threads",
            (Self::Scale, FactGroup::Plan) => name == "scale",
            (Self::Scale, FactGroup::Server) => name == "data",
            (Self::Rate, FactGroup::Plan) => name == "pace",
            (Self::Param(param), FactGroup::Plan) if param == scale_name => name == "scale",
            (Self::Param(param), FactGroup::Plan) => name.strip_prefix("-D ") == Some(param.as_str()),
            (Self::Label(label), FactGroup::Plan) if name.strip_prefix("label ") == Some(label.as_str()) => true,
            (Self::Setting(setting), FactGroup::Settings) => name == setting,
            (Self::Vcpus | Self::Label(_), FactGroup::Plan) => name == "target",
            // Another machine is another target in all of these.
            (Self::Vcpus | Self::Label(_), FactGroup::Server) => {
                matches!(name, "target" | "vCPUs" | "memory" | "price an hour" | "cluster")
                    || name.starts_with("label ")
            }
            _ => false,
        }
    }
}

fn place_of_text(text: &str) -> AxisPoint {
    let number = text.parse::<f64>().ok().or_else(|| cores(text).map(f64::from));
    AxisPoint { label: text.to_owned(), at: number.filter(|n| n.is_finite() && *n > 0.0) }
}

/// Returns the position of a value with PostgreSQL's units: `128MB`, `5min`, `0.9`.
fn place_of_setting(text: &str) -> AxisPoint {
    let number = || parse::bytes(text).map(|bytes| bytes as f64).or_else(|_| parse::duration(text)).ok();
    let at = text.parse().ok().or_else(number);
    AxisPoint { label: text.to_owned(), at: at.filter(|n: &f64| n.is_finite() && *n > 0.0) }
}

/// Returns the CPUs of the server: those of its target's entry, otherwise those of all nodes of a cluster, otherwise
/// those of this machine if the server is on it.
fn vcpus(record: &RunRecord) -> Option<u32> {
    let target = record.target.as_ref();
    let said = target.and_then(|target| target.vcpus);
    let labelled = || target.and_then(|target| target.labels.get("cluster")).and_then(|label| cores(label));
    let server = record.server.as_ref();
    let nodes = || server.and_then(|server| server.cluster.as_ref()).map(|cluster| cores(&cluster.label));
    let local = || server.filter(|server| server.local).and_then(|_| u32::try_from(record.client.cpus).ok());
    // If the nodes of a cluster do not report theirs, the driver's CPUs are no substitute.
    said.or_else(labelled).or_else(|| nodes().unwrap_or_else(local))
}

/// Returns the CPUs in a cluster's label: `c4+2w8` has 20.
fn cores(label: &str) -> Option<u32> {
    let part = |part: &str| {
        let at = part.find(['c', 'w'])?;
        let (nodes, cpus) = (&part[..at], &part[at + 1..]);
        let nodes = if nodes.is_empty() { 1 } else { nodes.parse::<u32>().ok()? };
        nodes.checked_mul(cpus.parse().ok()?)
    };
    label.split('+').try_fold(0_u32, |sum, text| sum.checked_add(part(text)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_has_the_cores_of_all_its_nodes() {
        let known = ["c4+2w8", "c4", "2w8", "c64+20w32", "c2+w4"].map(cores);
        assert_eq!(known, [Some(20), Some(4), Some(16), Some(704), Some(6)]);
        for unknown in ["", "c?+2w8", "large", "c4+", "4", "c4294967295+c1"] {
            assert_eq!(cores(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn settings_are_ordered_by_size_and_not_by_letters() {
        let at = ["64kB", "128MB", "4GB", "200ms", "5min", "0.9", "on", "-1"].map(|text| place_of_setting(text).at);
        assert!(at[0] < at[1] && at[1] < at[2] && at[3] < at[4] && at[5] == Some(0.9), "{at:?}");
        assert_eq!(at[6..], [None, None]);
    }

    #[test]
    fn axes_have_names() {
        assert_eq!(Axis::named("label:cluster"), Some(Axis::Label("cluster".to_owned())));
        for name in Axis::NAMES.split(", ") {
            assert!(Axis::named(name).is_some(), "{name}");
        }
        assert_eq!([Axis::named("label:"), Axis::named("cores"), Axis::named("")], [None, None, None]);
    }
}
