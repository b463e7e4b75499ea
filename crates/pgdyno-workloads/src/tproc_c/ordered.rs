//! A terminal in a run with a ledger: it remembers the number of its order, which is the marker of a New-Order.

use pgdyno_workload::{
    Batch, Begin, ClientScript, Failure, FailureAction, Marks, Next, Note, Reply, ShellOutcome, Verdict,
};

use super::call::Call;
use super::terminal::Terminal;

/// A terminal that remembers its orders.
pub(super) struct Ordered {
    terminal: Terminal,
    call: Call,
    /// The order of the present transaction, once the server has numbered it.
    order: Option<[i32; 3]>,
}

impl Ordered {
    pub(super) fn new(terminal: Terminal, call: Call) -> Self {
        Self { terminal, call, order: None }
    }
}

impl ClientScript for Ordered {
    fn begin(&mut self) -> Option<Begin> {
        self.order = None;
        self.terminal.begin()
    }

    fn step(&mut self, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        if let Some([w_id, d_id]) = self.terminal.numbered_district() {
            // Both forms answer with the number in the first column: of the procedure's row, and of the district's.
            let number = reply.first().and_then(|row| row.text(0)).and_then(|text| text.parse().ok());
            self.order = number.map(|o_id| [w_id, d_id, o_id]);
        }
        self.terminal.step(reply, batch)
    }

    fn restart(&mut self) {
        self.order = None;
        self.terminal.restart();
    }

    fn shell(&self) -> &[u8] {
        self.terminal.shell()
    }

    fn shell_done(&mut self, outcome: ShellOutcome) {
        self.terminal.shell_done(outcome);
    }

    fn tally(&self, verdict: Verdict, counts: &mut [u64]) {
        self.terminal.tally(verdict, counts);
    }

    fn marks(&self) -> Marks<'_> {
        self.order.map_or(Marks::None, Marks::Ordered)
    }

    /// Only procedures and functions commit by themselves; the client's own statements begin a block.
    fn may_commit_early(&self) -> bool {
        self.call != Call::Client
    }

    fn on_failure(&mut self, failure: &Failure<'_>, notes: &mut Vec<Note>) -> FailureAction {
        self.terminal.on_failure(failure, notes)
    }
}
