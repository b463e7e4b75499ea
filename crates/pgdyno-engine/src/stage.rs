//! The stages of a run, with the run's values where a stage does not say.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use pgdyno_wire::QueryMode;
use pgdyno_workload::{Ends, GroupWork, Pace, Rate, RateSteps, Rng, Stage};

use crate::pacer::Pacer;
use crate::{ClientRules, RunSpec};

/// A stage that can be run.
pub(crate) struct StageSpec {
    pub(crate) name: &'static str,
    pub(crate) groups: Vec<GroupSpec>,
    pub(crate) ramp_ns: u64,
    pub(crate) measure_ns: Option<u64>,
    pub(crate) grace_ns: u64,
    /// The group whose end is the end of the stage.
    pub(crate) ends_with: Option<usize>,
}

/// A group that can be run.
pub(crate) struct GroupSpec {
    pub(crate) name: &'static str,
    pub(crate) clients: u32,
    pub(crate) mode: QueryMode,
    pub(crate) rate: Option<Rate>,
    /// How it changes, if it does.
    pub(crate) rate_steps: Option<RateSteps>,
    pub(crate) rules: ClientRules,
    pub(crate) work: GroupWork,
}

/// The clients of a group that one thread runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ThreadShare {
    /// The number of its first client within the group.
    pub(crate) first: u32,
    pub(crate) count: u32,
    /// The thread's place among those that run clients of the group.
    turn: usize,
    /// The number of threads that run clients of the group.
    threads: usize,
}

impl StageSpec {
    /// Fills in the values that `stage` leaves to the run.
    ///
    /// # Errors
    /// Returns the reason if the stage cannot be run.
    pub(crate) fn new(stage: &Stage, spec: &RunSpec) -> Result<Self, String> {
        let failed = |why: &str| format!("stage '{}' of the workload {why}", stage.name);
        if stage.clients(spec.clients) == 0 {
            return Err(failed("has no clients"));
        }
        let groups: Vec<GroupSpec> = stage
            .groups
            .iter()
            .map(|group| GroupSpec {
                name: group.name,
                clients: group.clients.number(spec.clients),
                mode: group.mode.unwrap_or(spec.mode),
                rate: group.pace.map_or(spec.rate, Pace::rate),
                rate_steps: spec.rate_steps.clone().filter(|_| group.pace.is_none()),
                rules: ClientRules {
                    max_tries: group.max_tries.unwrap_or(spec.rules.max_tries),
                    latency_limit_ns: group.latency_limit_ns.or(spec.rules.latency_limit_ns),
                    transactions: group.transactions.or(spec.rules.transactions),
                    results: group.results,
                    // A standby may end the session of a query at any time.
                    lasts_while_replaced: spec.rules.lasts_while_replaced || group.work == GroupWork::Queries,
                    tries_all: group.work == GroupWork::Queries && stage.ends != Ends::After,
                    ..spec.rules
                },
                work: group.work,
            })
            .collect();
        if spec.connections.is_some() && groups.iter().any(|group| group.mode != groups[0].mode) {
            return Err(failed("has groups with different query modes, which cannot share connections"));
        }
        let ends_with = match stage.ends {
            Ends::After | Ends::WhenAllDone => None,
            Ends::WhenDone(name) => {
                let found = groups.iter().position(|group| group.name == name);
                Some(found.ok_or_else(|| failed(&format!("ends with the group '{name}', which it does not have")))?)
            }
        };
        let (ramp_ns, measure_ns) = match stage.ends {
            Ends::After => (spec.ramp_ns, spec.measure_ns),
            Ends::WhenDone(_) | Ends::WhenAllDone => (0, None),
        };
        let grace_ns = stage.grace_ns.unwrap_or(spec.grace_ns);
        Ok(Self { name: stage.name, groups, ramp_ns, measure_ns, grace_ns, ends_with })
    }

    /// Returns the number of clients in all groups.
    pub(crate) fn clients(&self) -> u32 {
        self.groups.iter().map(|group| group.clients).sum()
    }

    /// Returns the number of clients in the groups before this one.
    pub(crate) fn clients_before(&self, group: usize) -> u32 {
        self.groups[..group].iter().map(|group| group.clients).sum()
    }

    /// Returns true if a group has a rate.
    pub(crate) fn is_scheduled(&self) -> bool {
        self.groups.iter().any(|group| group.rate.is_some())
    }

    /// Returns for each group whether the figures of the stage include it.
    pub(crate) fn headline(&self) -> Vec<bool> {
        GroupWork::headline(self.groups.iter().map(|group| group.work))
    }

    /// Returns for each client of a thread, in the order in which it holds them, whether its group is not in the figures of the
    /// stage; empty if all groups are.
    pub(crate) fn beside(&self, thread: usize, threads: usize) -> Vec<bool> {
        let headline = self.headline();
        if headline.iter().all(|is_in| *is_in) {
            return Vec::new();
        }
        let of_group = |(group, is_in): (usize, bool)| {
            std::iter::repeat_n(!is_in, self.share(group, thread, threads).count as usize)
        };
        headline.into_iter().enumerate().flat_map(of_group).collect()
    }

    /// Returns the work of each client of some threads, thread by thread, in the order in which threads hold them.
    pub(crate) fn dealt(&self, own: Range<usize>, threads: usize) -> impl Iterator<Item = GroupWork> {
        own.flat_map(move |thread| {
            let of_group = move |(group, spec): (usize, &GroupSpec)| {
                std::iter::repeat_n(spec.work, self.share(group, thread, threads).count as usize)
            };
            self.groups.iter().enumerate().flat_map(of_group)
        })
    }

    /// Returns the clients of a group that this thread runs. Clients are dealt in blocks, the remainder to the first
    /// threads, as pgbench deals them. Each group starts where the one before it ended.
    pub(crate) fn share(&self, group: usize, thread: usize, threads: usize) -> ThreadShare {
        let clients = self.groups[group].clients as usize;
        let begin = self.clients_before(group) as usize % threads;
        let turn = (thread + threads - begin) % threads;
        let (each, rest) = (clients / threads, clients % threads);
        ThreadShare {
            first: (turn * each + turn.min(rest)) as u32,
            count: (each + usize::from(turn < rest)) as u32,
            turn,
            threads: threads.min(clients),
        }
    }
}

impl ThreadShare {
    /// Returns the schedule of these clients. The arrivals of all threads together make the group's rate.
    pub(crate) fn pacer(self, group: &GroupSpec, ramp_ns: u64, rng: Rng) -> Pacer {
        let rate = group.rate.filter(|_| self.count > 0);
        let pacer = Pacer::new(rate, self.turn, self.threads.max(1), rng);
        pacer.in_steps(rate.zip(group.rate_steps.as_ref()), ramp_ns)
    }
}

/// The end of a stage that lasts until every client of one group is done.
pub(crate) struct WhenDone {
    pub(crate) group: usize,
    /// Threads that still run clients of the group.
    threads: AtomicUsize,
}

impl WhenDone {
    pub(crate) fn new(group: usize, threads: usize) -> Self {
        Self { group, threads: AtomicUsize::new(threads) }
    }

    /// Notes that they are done on one more thread.
    pub(crate) fn thread_is_done(&self) {
        self.threads.fetch_sub(1, Ordering::AcqRel);
    }

    /// Returns true if they are done on all threads.
    pub(crate) fn is_over(&self) -> bool {
        self.threads.load(Ordering::Acquire) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_workload::{Clients, Group};

    fn stage(clients: &[u32]) -> StageSpec {
        let group = |&number| Group { clients: Clients::Number(number), ..Group::new("clients") };
        let stage = Stage::new("run", clients.iter().map(group).collect());
        StageSpec::new(&stage, &RunSpec::default()).unwrap()
    }

    #[test]
    fn every_client_runs_on_one_thread_and_no_thread_has_much_more_than_another() {
        for clients in [vec![10], vec![1, 1, 1], vec![3, 10, 1], vec![0, 5], vec![7, 7]] {
            let stage = stage(&clients);
            for threads in 1..=stage.clients() as usize {
                let shares = |group| (0..threads).map(move |thread| (group, thread));
                for (group, number) in clients.iter().enumerate() {
                    let mut dealt: Vec<u32> = shares(group)
                        .map(|(group, thread)| stage.share(group, thread, threads))
                        .flat_map(|share| share.first..share.first + share.count)
                        .collect();
                    dealt.sort_unstable();
                    assert_eq!(dealt, (0..*number).collect::<Vec<_>>(), "{clients:?} on {threads}");
                }
                let on = |thread| (0..clients.len()).map(|g| stage.share(g, thread, threads).count).sum::<u32>();
                let counts: Vec<u32> = (0..threads).map(on).collect();
                let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
                assert!(most - least <= 1, "{clients:?} on {threads}: {counts:?}");
            }
        }
        let first: Vec<u32> = (0..4).map(|thread| stage(&[10]).share(0, thread, 4).count).collect();
        assert_eq!(first, [3, 3, 2, 2], "as pgbench deals them");
    }

    #[test]
    fn clients_are_dealt_with_the_work_of_their_group() {
        let mut stage = stage(&[3, 2]);
        stage.groups[1].work = GroupWork::Queries;
        let (t, q) = (GroupWork::Transactions, GroupWork::Queries);
        assert_eq!(stage.dealt(0..1, 1).collect::<Vec<_>>(), [t, t, t, q, q]);
        assert_eq!(stage.dealt(0..2, 2).collect::<Vec<_>>(), [t, t, q, t, q]);
        assert_eq!(stage.dealt(1..2, 2).collect::<Vec<_>>(), [t, q]);
        assert_eq!(stage.headline(), [true, false]);
        assert_eq!(stage.beside(0, 2), [false, false, true]);
        assert_eq!(stage.beside(1, 2), [false, true]);
        stage.groups[0].work = GroupWork::Queries;
        assert_eq!(stage.headline(), [true, true]);
        assert!(stage.beside(0, 1).is_empty());
    }

    #[test]
    fn what_a_stage_leaves_open_is_as_the_run_says() {
        let rate = Rate { per_s: 5.0, arrivals: pgdyno_workload::Arrivals::Uniform };
        let spec = RunSpec { clients: 4, rate: Some(rate), ramp_ns: 7, grace_ns: 9, ..RunSpec::default() };
        let closed = Group { pace: Some(Pace::ClosedLoop), max_tries: Some(3), ..Group::new("closed") };
        let declared = Stage::new("both", vec![Group::new("open"), closed]);
        let stage = StageSpec::new(&declared, &spec).unwrap();
        assert_eq!(stage.groups.iter().map(|group| group.rate).collect::<Vec<_>>(), [Some(rate), None]);
        assert_eq!(stage.groups.iter().map(|group| group.rules.max_tries).collect::<Vec<_>>(), [1, 3]);
        assert_eq!((stage.clients(), stage.ramp_ns, stage.measure_ns, stage.grace_ns), (8, 7, spec.measure_ns, 9));
        let when_done = Stage { ends: Ends::WhenDone("closed"), grace_ns: Some(1), ..declared.clone() };
        let stage = StageSpec::new(&when_done, &spec).unwrap();
        assert_eq!((stage.ends_with, stage.ramp_ns, stage.measure_ns, stage.grace_ns), (Some(1), 0, None, 1));
    }

    #[test]
    fn a_stage_that_cannot_be_run_is_refused_with_the_reason() {
        let refused = |stage: Stage, spec: &RunSpec| StageSpec::new(&stage, spec).err().unwrap_or_default();
        let spec = RunSpec::default();
        assert_eq!(refused(Stage::new("s", vec![]), &spec), "stage 's' of the workload has no clients");
        let named = Stage { ends: Ends::WhenDone("x"), ..Stage::new("s", vec![Group::new("g")]) };
        assert!(refused(named, &spec).ends_with("ends with the group 'x', which it does not have"));
        let simple = Group { mode: Some(QueryMode::Simple), ..Group::new("h") };
        let modes = Stage::new("s", vec![Group::new("g"), simple]);
        assert!(refused(modes.clone(), &RunSpec { connections: Some(1), ..spec.clone() }).contains("query modes"));
        assert_eq!(refused(modes, &spec), "");
    }
}
