//! CPU usage by kind of process.
//!
//! A process takes its CPU time with it when it ends, and leaves it to its parent, which waits for it. So the time of
//! a whole tree, including inherited time, never decreases, and its growth between two looks misses nothing, not even
//! of processes that came and went in between.

use std::collections::{BTreeMap, HashMap};

use super::kind::{DRIVER, ENDED, KERNEL, NODE, POSTMASTER, STARTING, kind_of};
use super::process::Process;
use super::server::ServerSession;

/// Parent of the kernel's own threads.
const KERNEL_THREADS: i32 = 2;

/// The kinds whose processes are not distinguished.
const WHOLE: [(Tree, &str); 3] = [(Tree::Driver, DRIVER), (Tree::Node, NODE), (Tree::Kernel, KERNEL)];

/// Usage of a kind of process between two looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) ticks: u64,
    /// Number at the second look.
    pub(crate) count: usize,
}

/// Processes, from look to look.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    session: Option<ServerSession>,
    /// Whether the processes are this machine's.
    here: bool,
    driver: Option<i32>,
    postmaster: Option<i32>,
    /// Postmasters of other nodes of the server's cluster, on this machine.
    nodes: Vec<i32>,
    /// The server's processes at the last look, by number and start.
    seen: HashMap<(i32, u64), Seen>,
    /// Largest CPU time of each tree so far.
    trees: HashMap<Tree, u64>,
    /// Every kind seen so far, so that none is missing while it is idle.
    kinds: BTreeMap<&'static str, ()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    kind: &'static str,
    ticks: u64,
    /// It was missing at the last look: it has ended, or was skipped while others came and went.
    missed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Tree {
    Driver,
    Server,
    Node,
    Kernel,
}

impl Tally {
    /// Returns a tally of this machine, with pgdyno, and the server of `session` if given.
    pub(crate) fn here(session: Option<ServerSession>) -> Self {
        let postmaster = session.as_ref().and_then(ServerSession::postmaster_here);
        let nodes = session.as_ref().map(ServerSession::nodes_here).unwrap_or_default();
        Self { session, here: true, driver: Some(std::process::id() as i32), postmaster, nodes, ..Self::default() }
    }

    /// Returns a tally of another machine, with the server of `session`.
    pub(crate) fn elsewhere(session: Option<ServerSession>) -> Self {
        Self { session, ..Self::default() }
    }

    /// Notes that the machine is this one.
    pub(crate) fn is_here(&mut self) {
        self.driver = Some(std::process::id() as i32);
    }

    /// Returns true if there is a server to find.
    pub(crate) fn seeks_server(&self) -> bool {
        self.session.is_some()
    }

    /// Returns true if the processes of the server were found.
    pub(crate) fn has_server(&self) -> bool {
        self.postmaster.is_some()
    }

    /// Returns the server's first process, if it was found.
    pub(crate) fn postmaster(&self) -> Option<i32> {
        self.postmaster
    }

    /// Returns the processes whose titles [`Tally::look`] wants; it works without missing ones.
    pub(crate) fn wanted(&self, processes: &[Process]) -> Vec<i32> {
        let Some(postmaster) = self.postmaster else {
            return self.session.iter().filter(|_| !self.here).map(|session| session.pid).collect();
        };
        let untitled = |process: &&Process| {
            let seen = self.seen.get(&(process.pid, process.started));
            process.parent == postmaster && seen.is_none_or(|seen| seen.kind == STARTING)
        };
        processes.iter().filter(untitled).map(|process| process.pid).collect()
    }

    /// Returns the usage of each kind since the last look; nothing for the first one.
    pub(crate) fn look(
        &mut self,
        processes: &[Process],
        titles: &HashMap<i32, String>,
    ) -> BTreeMap<&'static str, Share> {
        self.find_postmaster(processes, titles);
        let by_pid: HashMap<i32, &Process> = processes.iter().map(|process| (process.pid, process)).collect();
        let mut shares: BTreeMap<&'static str, Share> =
            self.kinds.keys().map(|kind| (*kind, Share::default())).collect();
        let mut sums: HashMap<Tree, u64> = HashMap::new();
        let mut alive = HashMap::new();
        for process in processes {
            let Some((tree, top)) = self.tree_of(process.pid, &by_pid) else { continue };
            *sums.entry(tree).or_default() += process.ticks();
            let kind = match tree {
                Tree::Driver => DRIVER,
                Tree::Node => NODE,
                Tree::Kernel => KERNEL,
                Tree::Server if Some(process.pid) == self.postmaster => POSTMASTER,
                Tree::Server => self.kind(by_pid.get(&top).copied(), titles),
            };
            self.kinds.insert(kind, ());
            let share = shares.entry(kind).or_default();
            share.count += 1;
            if tree == Tree::Server {
                // The postmaster's inherited time belongs to processes that ended.
                let ticks = if kind == POSTMASTER { process.own_ticks } else { process.ticks() };
                let key = (process.pid, process.started);
                let before = self.seen.get(&key).map_or(0, |seen| seen.ticks);
                share.ticks += ticks.saturating_sub(before);
                alive.insert(key, Seen { kind, ticks, missed: false });
            }
        }
        let mut grown = |tree: Tree| -> Option<u64> {
            let now = sums.get(&tree).copied()?;
            let Some(before) = self.trees.get_mut(&tree) else {
                self.trees.insert(tree, now);
                return None;
            };
            let grown = now.saturating_sub(*before);
            *before = now.max(*before);
            Some(grown)
        };
        for (tree, kind) in WHOLE {
            let ticks = grown(tree).unwrap_or_default();
            if let Some(share) = shares.get_mut(kind) {
                share.ticks = ticks;
            }
        }
        match grown(Tree::Server) {
            Some(all) => self.inherit(all, |key| !alive.contains_key(key), &mut shares),
            // Work of processes before the first look is not assigned.
            None => shares.iter_mut().filter(|(kind, _)| is_of_server(kind)).for_each(|(_, s)| s.ticks = 0),
        }
        // Keeps it for one more look, in case it was skipped.
        let missed =
            self.seen.iter().filter(|(_, seen)| !seen.missed).map(|(key, seen)| (*key, Seen { missed: true, ..*seen }));
        let missed: Vec<_> = missed.filter(|(key, _)| !alive.contains_key(key)).collect();
        alive.extend(missed);
        self.seen = alive;
        shares
    }

    /// On another machine the session's process leads to the postmaster, once.
    fn find_postmaster(&mut self, processes: &[Process], titles: &HashMap<i32, String>) {
        let (None, Some(session), false) = (self.postmaster, &self.session, self.here) else { return };
        let is_its = titles.get(&session.pid).is_some_and(|title| session.is(title));
        let process = processes.iter().find(|process| process.pid == session.pid);
        self.postmaster = process.filter(|_| is_its).map(|process| process.parent);
    }

    /// Returns the tree of a process, with its ancestor below the root; `None` for other programs.
    fn tree_of(&self, pid: i32, by_pid: &HashMap<i32, &Process>) -> Option<(Tree, i32)> {
        let (mut top, mut at) = (pid, pid);
        // A chain of parents may mix several times, and may be a loop.
        for _ in 0..64 {
            if Some(at) == self.postmaster {
                return Some((Tree::Server, top));
            }
            if Some(at) == self.driver {
                return Some((Tree::Driver, top));
            }
            if self.nodes.contains(&at) {
                return Some((Tree::Node, top));
            }
            let process = by_pid.get(&at)?;
            if at == KERNEL_THREADS && process.parent == 0 {
                return Some((Tree::Kernel, top));
            }
            (top, at) = (at, process.parent);
        }
        None
    }

    /// Returns the kind of a child of the postmaster.
    fn kind(&self, child: Option<&Process>, titles: &HashMap<i32, String>) -> &'static str {
        let Some(child) = child else { return STARTING };
        let cluster_name = self.session.as_ref().map_or("", |session| &session.cluster_name);
        let kind = titles.get(&child.pid).and_then(|title| kind_of(title, cluster_name));
        kind.or_else(|| Some(self.seen.get(&(child.pid, child.started))?.kind)).unwrap_or(STARTING)
    }

    /// Assigns the growth of the server's tree beyond that of living processes to those that ended: to their kind, if
    /// all that were seen before have the same.
    fn inherit(&mut self, all: u64, is_gone: impl Fn(&(i32, u64)) -> bool, shares: &mut BTreeMap<&'static str, Share>) {
        let of_living: u64 = shares.iter().filter(|(kind, _)| is_of_server(kind)).map(|(_, s)| s.ticks).sum();
        let rest = all.saturating_sub(of_living);
        if rest == 0 {
            return;
        }
        let mut gone = self.seen.iter().filter(|(key, _)| is_gone(key)).map(|(_, seen)| seen.kind);
        let first = gone.next().filter(|kind| *kind != STARTING);
        let kind = first.filter(|first| gone.all(|kind| kind == *first)).unwrap_or(ENDED);
        self.kinds.insert(kind, ());
        shares.entry(kind).or_default().ticks += rest;
    }
}

/// Returns true if it is a kind of the server's own processes.
fn is_of_server(kind: &str) -> bool {
    WHOLE.iter().all(|(_, whole)| *whole != kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSTGRES: i32 = 100;

    fn process(pid: i32, parent: i32, own_ticks: u64, reaped_ticks: u64) -> Process {
        Process { pid, parent, own_ticks, reaped_ticks, started: pid as u64 }
    }

    fn titles() -> HashMap<i32, String> {
        [
            (101, "postgres: walwriter"),
            (102, "postgres: me bench [local] idle"),
            (103, "postgres: me bench [local] SELECT"),
        ]
        .map(|(pid, title)| (pid, title.to_owned()))
        .into()
    }

    fn tally() -> Tally {
        Tally { driver: Some(50), ..Tally::elsewhere(Some(ServerSession::sample(102))) }
    }

    fn ticks(shares: &BTreeMap<&'static str, Share>) -> Vec<(&'static str, u64)> {
        shares.iter().filter(|(_, share)| share.ticks > 0).map(|(kind, share)| (*kind, share.ticks)).collect()
    }

    #[test]
    fn the_session_leads_to_the_server_and_titles_to_the_kinds() {
        let mut tally = tally();
        let look = |walwriter, client, other| {
            vec![
                process(1, 0, 7, 0),
                process(2, 0, 0, 0),
                process(9, 2, walwriter, 0),
                process(50, 1, 10 * client, 0),
                process(51, 50, 5, 0),
                process(60, 1, other, 0),
                process(POSTGRES, 51, 30, 40),
                process(101, POSTGRES, walwriter, 0),
                process(102, POSTGRES, client, 0),
                process(103, POSTGRES, client, 3),
            ]
        };
        assert_eq!(tally.wanted(&look(1, 1, 1)), [102]);
        let first = tally.look(&look(1, 10, 1), &titles());
        assert!(tally.has_server() && ticks(&first).is_empty(), "{first:?}");
        assert_eq!(tally.wanted(&look(1, 1, 1)), [0_i32; 0]);
        let second = tally.look(&look(4, 15, 1000), &HashMap::new());
        assert_eq!(ticks(&second), [("client backend", 10), (DRIVER, 50), (KERNEL, 3), ("walwriter", 3)]);
        assert_eq!((second["client backend"].count, second[DRIVER].count, second[POSTMASTER].count), (2, 2, 1));
    }

    #[test]
    fn other_nodes_of_its_cluster_are_no_other_programs() {
        let mut tally = Tally { nodes: vec![POSTGRES, 200], ..tally() };
        let look = |ticks| {
            let node = [process(200, 1, 5, ticks), process(201, 200, ticks, 0)];
            let server = [process(POSTGRES, 1, 30, 40), process(102, POSTGRES, ticks, 0)];
            [&node[..], &server, &[process(60, 1, ticks, 0)]].concat()
        };
        tally.look(&look(10), &titles());
        let shares = tally.look(&look(15), &titles());
        assert_eq!((ticks(&shares), shares[NODE].count), (vec![("client backend", 5), (NODE, 10)], 2));
    }

    #[test]
    fn nothing_is_lost_with_a_process_that_ends() {
        let mut tally = tally();
        let base = vec![process(POSTGRES, 1, 0, 0), process(101, POSTGRES, 5, 0), process(102, POSTGRES, 10, 0)];
        tally.look(&base, &titles());
        // A process came, worked and was seen.
        let mut more = base.clone();
        more.push(process(103, POSTGRES, 4, 0));
        assert_eq!(ticks(&tally.look(&more, &titles())), [("client backend", 4)]);
        // It did 6 more before its end.
        let mut less = base.clone();
        less[0].reaped_ticks = 10;
        assert_eq!(ticks(&tally.look(&less, &HashMap::new())), [("client backend", 6)]);
        assert_eq!(ticks(&tally.look(&less, &HashMap::new())), []);
        // Others came and went unseen.
        less[0].reaped_ticks = 30;
        assert_eq!(ticks(&tally.look(&less, &HashMap::new())), [(ENDED, 20)]);
        assert_eq!(ticks(&tally.look(&less, &HashMap::new())), []);
        // Two of different kinds: the owner is unknown.
        let last = [process(POSTGRES, 1, 0, 30 + 5 + 10 + 8)];
        assert_eq!(ticks(&tally.look(&last, &HashMap::new())), [(ENDED, 8)]);
    }

    #[test]
    fn one_that_is_missed_once_does_not_count_twice() {
        let mut tally = tally();
        let all = [process(POSTGRES, 1, 0, 0), process(101, POSTGRES, 500, 0), process(102, POSTGRES, 10, 0)];
        tally.look(&all, &titles());
        tally.look(&[all[0], all[2]], &titles());
        let again = tally.look(&all, &titles());
        assert_eq!((again["walwriter"].ticks, again["walwriter"].count), (0, 1));
    }

    #[test]
    fn a_process_without_a_title_is_starting_and_asked_for_again() {
        let mut tally = tally();
        let mut all = vec![process(POSTGRES, 1, 0, 0), process(102, POSTGRES, 10, 0)];
        tally.look(&all, &titles());
        all.push(process(103, POSTGRES, 2, 0));
        assert_eq!(tally.wanted(&all), [103]);
        let of_postmaster = HashMap::from([(103, "/usr/bin/postgres -D /data".to_owned())]);
        assert_eq!(ticks(&tally.look(&all, &of_postmaster)), [(STARTING, 2)]);
        assert_eq!(tally.wanted(&all), [103]);
        all[2].own_ticks = 5;
        assert_eq!(ticks(&tally.look(&all, &titles())), [("client backend", 3)]);
    }

    #[test]
    fn a_session_elsewhere_leads_nowhere() {
        let mut tally = tally();
        let title = HashMap::from([(102, "postgres: you bench [local] idle".to_owned())]);
        let shares = tally.look(&[process(50, 1, 5, 0), process(102, 99, 10, 0)], &title);
        assert!(!tally.has_server());
        assert_eq!(shares.keys().collect::<Vec<_>>(), [&DRIVER]);
    }
}
