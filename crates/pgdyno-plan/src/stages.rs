//! The stages of a plan, if there is more than one stage or group of clients.

use std::fmt;

use pgdyno_text::units::rate;
use pgdyno_wire::QueryMode;
use pgdyno_workload::{Ends, FIDELITY_FILE, Pace, Rate, Stage, has_groups};
use serde::{Deserialize, Serialize};

use crate::Plan;

/// A stage of a run, with everything filled in that its workload leaves to the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StagePlan {
    /// Its name.
    pub name: String,
    /// The groups of clients that run at the same time.
    pub groups: Vec<GroupPlan>,
    /// The group that ends the stage when it is done; absent if the stage has the run's warm-up and time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_with: Option<String>,
    /// Whether the stage ends when all of its groups are done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ends_with_all: bool,
    /// How long transactions in flight at its end may take, in seconds.
    pub grace_s: f64,
}

/// A group of clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupPlan {
    /// Its name.
    pub name: String,
    /// How many clients it has.
    pub clients: u32,
    /// The scripts that they run, in a workload of scripts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripts: Vec<String>,
    /// Whether each client runs each of these scripts once, in their order, and then ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub once: bool,
    /// Think time before each transaction of scripts, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think_ms: Option<f64>,
    /// When transactions start.
    pub pace: Pace,
    /// The query mode.
    pub mode: QueryMode,
    /// Tries of a transaction that meets 40001 or 40P01; 0 means no limit.
    pub max_tries: u32,
    /// A transaction with a greater latency counts as late; with a rate, late ones are skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_limit_ms: Option<f64>,
    /// Transactions of each client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<u64>,
}

/// What is offered to all clients of a stage together.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedRate {
    /// Transactions a second, over all groups that have a rate.
    pub per_s: f64,
    /// How it changes, as text that follows it; empty if it does not.
    stepped: String,
    /// The groups that it is offered to, if others have no rate.
    groups: Vec<String>,
}

impl fmt::Display for OfferedRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s offered{}", rate(self.per_s), self.stepped)?;
        match self.groups.as_slice() {
            [] => Ok(()),
            groups => write!(f, " to {}", groups.join(" and ")),
        }
    }
}

impl StagePlan {
    /// Returns the stages with the rules of `plan` as their defaults; empty if there is only one group.
    #[must_use]
    pub fn all(stages: &[Stage], plan: &Plan) -> Vec<Self> {
        if !has_groups(stages) {
            return Vec::new();
        }
        stages.iter().map(|stage| Self::new(stage, plan)).collect()
    }

    fn new(stage: &Stage, plan: &Plan) -> Self {
        let group = |group: &pgdyno_workload::Group| GroupPlan {
            name: group.name.to_owned(),
            clients: group.clients.number(plan.drive.clients),
            scripts: Vec::new(),
            once: false,
            think_ms: None,
            pace: group.pace.unwrap_or(plan.drive.pace),
            mode: group.mode.unwrap_or(plan.drive.mode),
            max_tries: group.max_tries.unwrap_or(plan.drive.max_tries),
            latency_limit_ms: group.latency_limit_ns.map(|ns| ns as f64 / 1e6).or(plan.drive.latency_limit_ms),
            transactions: group.transactions.or(plan.drive.transactions),
        };
        Self {
            name: stage.name.to_owned(),
            groups: stage.groups.iter().map(group).collect(),
            ends_with: match stage.ends {
                Ends::After | Ends::WhenAllDone => None,
                Ends::WhenDone(name) => Some(name.to_owned()),
            },
            ends_with_all: stage.ends == Ends::WhenAllDone,
            grace_s: stage.grace_ns.map_or(plan.drive.grace_s, |ns| ns as f64 / 1e9),
        }
    }

    /// Returns true if it ends when its clients have done their work, and not after a time.
    #[must_use]
    pub fn ends_with_work(&self) -> bool {
        self.ends_with.is_some() || self.ends_with_all
    }

    /// Returns the number of clients in all groups.
    #[must_use]
    pub fn clients(&self) -> u32 {
        self.groups.iter().map(|group| group.clients).sum()
    }
}

impl Plan {
    /// Returns true if its workload was fitted to a capture.
    #[must_use]
    pub fn is_fitted(&self) -> bool {
        self.inputs.iter().any(|input| input.file == FIDELITY_FILE)
    }

    /// Returns the scale factor as text if it is a fraction, such as `0.01`; [`Plan::scale`] is rounded up then.
    #[must_use]
    pub fn fraction(&self) -> Option<&str> {
        let size = self.params.get(&self.scale_name).filter(|size| size.contains('.'))?;
        size.parse::<f64>().is_ok_and(|size| size.ceil() == self.scale as f64).then_some(size)
    }

    /// Returns what is offered to the clients of the first stage, over all of its groups; `None` if none of them has a rate.
    #[must_use]
    pub fn offered(&self) -> Option<OfferedRate> {
        let Some(stage) = self.drive.stages.first() else {
            let rate = self.drive.pace.rate()?;
            return Some(OfferedRate { per_s: rate.per_s, stepped: self.drive.stepped(), groups: Vec::new() });
        };
        let has_rate = |group: &&GroupPlan| group.pace.rate().is_some();
        let per_s: f64 = stage.groups.iter().filter_map(|group| group.pace.rate()).map(|rate| rate.per_s).sum();
        let groups = match stage.groups.iter().all(|group| has_rate(&group)) {
            true => Vec::new(),
            false => stage.groups.iter().filter(has_rate).map(|group| group.name.clone()).collect(),
        };
        let stepped = if self.rate().is_some() { self.drive.stepped() } else { String::new() };
        (per_s > 0.0).then_some(OfferedRate { per_s, stepped, groups })
    }

    /// Returns the offered rate of a group that has none of its own, if any client follows it: groups may have a pace of their own.
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        let mut groups = self.drive.stages.iter().flat_map(|stage| &stage.groups);
        self.drive
            .pace
            .rate()
            .filter(|_| self.drive.stages.is_empty() || groups.any(|group| group.pace == self.drive.pace))
    }

    /// Returns the number of clients of the first stage, which the run's main figures are of.
    #[must_use]
    pub fn stage_clients(&self) -> u32 {
        self.drive.stages.first().map_or(self.drive.clients, StagePlan::clients)
    }

    /// Returns the number of clients of the largest stage.
    #[must_use]
    pub fn most_clients(&self) -> u32 {
        self.drive.stages.iter().map(StagePlan::clients).max().unwrap_or(self.drive.clients)
    }

    /// Returns the number of connections that the clients of the largest stage open.
    #[must_use]
    pub fn links(&self) -> u32 {
        self.drive.connections.unwrap_or_else(|| self.most_clients())
    }

    /// Returns the warm-up and the measured window of the first stage in seconds. The window is absent if the stage
    /// ends when its clients are done.
    #[must_use]
    pub fn window(&self) -> (f64, Option<f64>) {
        match self.drive.stages.first() {
            Some(stage) if stage.ends_with_work() => (0.0, None),
            _ => (self.drive.ramp_s, self.drive.time_s),
        }
    }
}

#[cfg(test)]
mod tests {
    use pgdyno_workload::{Clients, Group, Rate, RateSteps};

    use super::*;
    use crate::plan::example;

    #[test]
    fn one_group_is_no_list_of_groups() {
        let plan = example();
        assert_eq!(StagePlan::all(&[Stage::new("run", vec![Group::new("clients")])], &plan), []);
        assert_eq!((plan.links(), plan.stage_clients(), plan.window()), (16, 16, (5.0, Some(30.0))));
    }

    #[test]
    fn a_plan_says_what_a_stage_leaves_to_the_run() {
        let rate = Pace::Rate(Rate { per_s: 9.0, arrivals: Default::default() });
        let readers = Group { clients: Clients::Number(3), pace: Some(rate), ..Group::new("readers") };
        let queries =
            Group { clients: Clients::Number(30), latency_limit_ns: Some(7_000_000), ..Group::new("queries") };
        let stages = [
            Stage { ends: Ends::WhenDone("readers"), ..Stage::new("mix", vec![Group::new("writers"), readers]) },
            Stage { grace_ns: Some(60_000_000_000), ..Stage::new("each-once", vec![queries]) },
        ];
        let mut plan = example();
        plan.drive.stages = StagePlan::all(&stages, &plan);
        let groups: Vec<_> =
            plan.drive.stages.iter().flat_map(|s| &s.groups).map(|g| (g.clients, g.pace, g.max_tries)).collect();
        assert_eq!(groups, [(16, Pace::ClosedLoop, 3), (3, rate, 3), (30, Pace::ClosedLoop, 3)]);
        assert_eq!(plan.drive.stages[1].groups[0].latency_limit_ms, Some(7.0));
        assert_eq!(plan.drive.stages.iter().map(|s| s.grace_s).collect::<Vec<_>>(), [plan.drive.grace_s, 60.0]);
        assert_eq!((plan.stage_clients(), plan.most_clients(), plan.links()), (19, 30, 30));
        assert_eq!(plan.window(), (0.0, None), "a stage that ends with its clients has neither warm-up nor time");
        plan.drive.connections = Some(2);
        assert_eq!(plan.links(), 2);
    }

    #[test]
    fn what_is_offered_is_the_sum_over_the_groups_that_have_a_rate() {
        let rate = |per_s| Pace::Rate(Rate { per_s, arrivals: Default::default() });
        let group = |name, pace| Group { clients: Clients::Number(2), pace, ..Group::new(name) };
        let mut plan = example();
        let offered = |plan: &Plan| plan.offered().map(|offered| offered.to_string());
        assert_eq!(offered(&plan), None);
        plan.drive.pace = rate(100.0);
        assert_eq!(offered(&plan).as_deref(), Some("100.0/s offered"));
        let of = |plan: &Plan, groups| StagePlan::all(&[Stage::new("run", groups)], plan);
        plan.drive.stages = of(&plan, vec![group("a", None), group("b", None)]);
        assert_eq!(offered(&plan).as_deref(), Some("200.0/s offered"), "each group follows it");
        plan.drive.stages = of(&plan, vec![group("a", None), group("b", Some(rate(7.0)))]);
        assert_eq!((offered(&plan).as_deref(), plan.offered().unwrap().per_s), (Some("107.0/s offered"), 107.0));
        plan.drive.stages = of(&plan, vec![group("a", None), group("b", Some(Pace::ClosedLoop))]);
        assert_eq!(offered(&plan).as_deref(), Some("100.0/s offered to a"));
        plan.drive.pace = Pace::ClosedLoop;
        plan.drive.stages = of(&plan, vec![group("a", None), group("b", None)]);
        assert_eq!(offered(&plan), None);
    }

    #[test]
    fn the_steps_of_a_rate_are_offered_to_each_group_that_follows_them() {
        let group = |name, pace| Group { clients: Clients::Number(2), pace, ..Group::new(name) };
        let own = Pace::Rate(Rate { per_s: 7.0, arrivals: Default::default() });
        let mut plan = example();
        plan.drive.ramp_s = 5.0;
        plan.drive.pace = Pace::Rate(Rate { per_s: 100.0, arrivals: Default::default() });
        plan.drive.rate_steps = Some(RateSteps { per_s: 100.0, step_s: 10.0, steps: vec![0.5, 1.5] });
        let offered = |plan: &Plan, groups| {
            let mut plan = plan.clone();
            plan.drive.stages = StagePlan::all(&[Stage::new("run", groups)], &plan);
            let of = |(from_s, until_s)| plan.drive.offered_per_s(from_s, until_s).map(f64::round);
            [(5.0, 6.0), (16.0, 17.0)].map(of)
        };
        assert_eq!(offered(&plan, vec![group("a", None)]), [Some(50.0), Some(150.0)]);
        assert_eq!(offered(&plan, vec![group("a", None), group("b", None)]), [Some(100.0), Some(300.0)]);
        assert_eq!(offered(&plan, vec![group("a", None), group("b", Some(own))]), [Some(57.0), Some(157.0)]);
        assert_eq!(offered(&plan, vec![group("a", None), group("b", Some(Pace::ClosedLoop))]), [None, None]);
    }
}
