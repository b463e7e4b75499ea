//! pgbench's three built-in scripts, with draws and statements in pgbench's order.

use pgdyno_wire::{ParamType, ParamValue, Statement, StmtId};
use pgdyno_workload::{Batch, Begin, ClientScript, Next, Reply, Rng, TxnId, Verdict};

use super::{ACCOUNTS, BRANCHES, TELLERS};

/// A built-in script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Builtin {
    TpcbLike,
    SimpleUpdate,
    SelectOnly,
}

/// A statement of the scripts, named by its effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Begin,
    UpdateAccount,
    SelectBalance,
    UpdateTeller,
    UpdateBranch,
    InsertHistory,
    End,
}

impl Action {
    fn statement(self, aid: ParamType) -> Statement {
        let int = ParamType::Int4;
        match self {
            Self::Begin => Statement::new("BEGIN", &[]),
            Self::UpdateAccount => {
                Statement::new("UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2", &[int, aid])
            }
            Self::SelectBalance => Statement::new("SELECT abalance FROM pgbench_accounts WHERE aid = $1", &[aid]),
            Self::UpdateTeller => {
                Statement::new("UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2", &[int, int])
            }
            Self::UpdateBranch => {
                Statement::new("UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2", &[int, int])
            }
            Self::InsertHistory => Statement::new(
                "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) \
                 VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP)",
                &[int, int, aid, int],
            ),
            Self::End => Statement::new("END", &[]),
        }
    }

    fn is_query(self) -> bool {
        !matches!(self, Self::Begin | Self::End)
    }
}

impl Builtin {
    /// Returns the statements of one transaction, in order: a statement's id is its place here.
    fn actions(self) -> &'static [Action] {
        use Action::{Begin, End, InsertHistory, SelectBalance, UpdateAccount, UpdateBranch, UpdateTeller};
        match self {
            Self::TpcbLike => &[Begin, UpdateAccount, SelectBalance, UpdateTeller, UpdateBranch, InsertHistory, End],
            Self::SimpleUpdate => &[Begin, UpdateAccount, SelectBalance, InsertHistory, End],
            Self::SelectOnly => &[SelectBalance],
        }
    }

    /// Returns the number of SELECT, INSERT and UPDATE in one transaction: 5, 3, 1.
    pub(super) fn queries(self) -> u32 {
        self.actions().iter().filter(|a| a.is_query()).count() as u32
    }

    pub(super) fn statements(self, aid: ParamType) -> Vec<Statement> {
        self.actions().iter().map(|a| a.statement(aid)).collect()
    }

    pub(super) fn client(self, scale: u64, pipeline: bool, rng: Rng) -> Box<dyn ClientScript> {
        let (scale, draws) = (scale as i64, Draws::default());
        match self {
            Self::SelectOnly => Box::new(SelectOnly { rng, scale, aid: draws.aid }),
            _ => Box::new(Update { actions: self.actions(), rng, scale, pipeline, draws, next: 0 }),
        }
    }
}

/// Random inputs of a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Draws {
    aid: i64,
    bid: i32,
    tid: i32,
    delta: i32,
}

fn draw_aid(rng: &mut Rng, scale: i64) -> i64 {
    rng.uniform(1, ACCOUNTS as i64 * scale)
}

impl Draws {
    /// Draws `aid`, `bid`, `tid`, `delta`, in the order of the scripts' `\set` lines. With a scale of 1 `random(1,
    /// 1)` takes no number from the generator, as in pgbench.
    fn new(rng: &mut Rng, scale: i64) -> Self {
        // bid and tid are integers in pgbench's tables; MAX_SCALE keeps them in range.
        Self {
            aid: draw_aid(rng, scale),
            bid: rng.uniform(1, BRANCHES as i64 * scale) as i32,
            tid: rng.uniform(1, TELLERS as i64 * scale) as i32,
            delta: rng.uniform(-5000, 5000) as i32,
        }
    }
}

/// Returns `aid` in the type of its column: an integer below the scale at which pgbench uses bigint.
fn aid_value(aid: i64) -> ParamValue<'static> {
    i32::try_from(aid).map_or(ParamValue::Int8(aid), ParamValue::Int4)
}

/// `select-only`: one statement, so it needs no state.
struct SelectOnly {
    rng: Rng,
    scale: i64,
    aid: i64,
}

impl ClientScript for SelectOnly {
    #[inline]
    fn begin(&mut self) -> Option<Begin> {
        self.aid = draw_aid(&mut self.rng, self.scale);
        Some(Begin::now(TxnId(0)))
    }

    #[inline]
    fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        batch.execute(StmtId(0), &[aid_value(self.aid)]);
        Next::Finish(Verdict::Committed)
    }

    fn restart(&mut self) {}
}

/// `tpcb-like` and `simple-update`.
struct Update {
    actions: &'static [Action],
    rng: Rng,
    scale: i64,
    pipeline: bool,
    draws: Draws,
    /// Next action.
    next: usize,
}

impl Update {
    fn send(&self, index: usize, batch: &mut Batch<'_>) {
        let Draws { aid, bid, tid, delta } = self.draws;
        let (aid, bid, tid, delta) =
            (aid_value(aid), ParamValue::Int4(bid), ParamValue::Int4(tid), ParamValue::Int4(delta));
        // At most seven actions.
        let id = StmtId(index as u32);
        match self.actions[index] {
            Action::Begin | Action::End => batch.execute(id, &[]),
            Action::UpdateAccount => batch.execute(id, &[delta, aid]),
            Action::SelectBalance => batch.execute(id, &[aid]),
            Action::UpdateTeller => batch.execute(id, &[delta, tid]),
            Action::UpdateBranch => batch.execute(id, &[delta, bid]),
            Action::InsertHistory => batch.execute(id, &[tid, bid, aid, delta]),
        }
    }
}

impl ClientScript for Update {
    fn begin(&mut self) -> Option<Begin> {
        self.draws = Draws::new(&mut self.rng, self.scale);
        self.next = 0;
        Some(Begin::now(TxnId(0)))
    }

    #[inline]
    fn step(&mut self, _: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        let until = if self.pipeline { self.actions.len() } else { self.next + 1 };
        for index in self.next..until {
            self.send(index, batch);
        }
        self.next = until;
        if until == self.actions.len() { Next::Finish(Verdict::Committed) } else { Next::Await }
    }

    fn restart(&mut self) {
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_wire::{QueryMode, Session};

    fn sent(builtin: Builtin, pipeline: bool) -> (Vec<String>, usize) {
        let statements = builtin.statements(ParamType::Int4);
        let mut script = builtin.client(1, pipeline, Rng::new(7));
        let mut session = Session::new(QueryMode::Simple, statements.len());
        assert_eq!(script.begin(), Some(Begin::now(TxnId(0))));
        let (mut texts, mut batches) = (Vec::new(), 0);
        loop {
            let mut out = Vec::new();
            let mut notes = Vec::new();
            let mut batch = Batch::new(&mut session, &statements, &mut out, &mut notes);
            let next = script.step(Reply::default(), &mut batch);
            batch.close();
            batches += 1;
            let mut rest = out.as_slice();
            while let Some(message) = pgdyno_wire::backend::next_message(rest).unwrap() {
                let text = message.body.strip_suffix(b"\0").unwrap();
                texts.push(String::from_utf8(text.to_vec()).unwrap());
                rest = &rest[message.len..];
            }
            if next == Next::Finish(Verdict::Committed) {
                return (texts, batches);
            }
        }
    }

    #[test]
    fn statements_go_out_one_per_round_trip_and_in_pgbenchs_order() {
        let (texts, batches) = sent(Builtin::TpcbLike, false);
        assert_eq!(batches, 7);
        let words: Vec<_> = texts.iter().map(|t| t.split(' ').take(3).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(
            words,
            [
                "BEGIN",
                "UPDATE pgbench_accounts SET",
                "SELECT abalance FROM",
                "UPDATE pgbench_tellers SET",
                "UPDATE pgbench_branches SET",
                "INSERT INTO pgbench_history",
                "END"
            ]
        );
        assert_eq!(sent(Builtin::SimpleUpdate, false).1, 5);
        assert_eq!(sent(Builtin::SelectOnly, false).1, 1);
    }

    #[test]
    fn a_pipeline_holds_the_same_statements_in_one_batch() {
        let (texts, batches) = sent(Builtin::TpcbLike, true);
        assert_eq!(batches, 1);
        assert_eq!(texts, sent(Builtin::TpcbLike, false).0);
    }

    #[test]
    fn queries_are_counted_as_polardb_counts_them() {
        assert_eq!([Builtin::TpcbLike, Builtin::SimpleUpdate, Builtin::SelectOnly].map(Builtin::queries), [5, 3, 1]);
    }
}
