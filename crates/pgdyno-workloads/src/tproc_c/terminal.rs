//! One terminal, or virtual user: draws a transaction and its inputs, and calls the server.

use pgdyno_workload::{Batch, Begin, ClientScript, Failure, FailureAction, Next, Note, Reply, Rng, Verdict};

use super::{
    call::{Call, ROLLED_BACK},
    home::Home,
    population::RunConstants,
    profile::Mix,
    tally::Tally,
    txns::{Delivery, Draw, Inputs, TxnKind},
    waits::Waits,
};

/// Input of a terminal.
#[derive(Clone, Debug)]
pub(super) struct Setup {
    pub(super) home: Home,
    pub(super) warehouses: u32,
    pub(super) constants: RunConstants,
    pub(super) mix: Mix,
    pub(super) call: Call,
    pub(super) waits: Waits,
}

/// One terminal.
pub(super) struct Terminal {
    setup: Setup,
    rng: Rng,
    /// Kind of the present transaction, or of the last one.
    kind: Option<TxnKind>,
    inputs: Inputs,
    /// Number of its steps that are done.
    step: u8,
}

impl Terminal {
    pub(super) fn new(setup: Setup, rng: Rng) -> Self {
        Self { setup, rng, kind: None, inputs: Inputs::Delivery(Delivery { w_id: 1, carrier_id: 1 }), step: 0 }
    }
}

impl Terminal {
    /// Returns warehouse and district of a New-Order whose number the next step reads.
    pub(super) fn numbered_district(&self) -> Option<[i32; 2]> {
        match &self.inputs {
            Inputs::NewOrder(inputs) if self.step == 1 => Some([inputs.w_id, inputs.d_id]),
            _ => None,
        }
    }
}

impl ClientScript for Terminal {
    fn begin(&mut self) -> Option<Begin> {
        let Self { setup, rng, .. } = self;
        let kind = setup.mix.draw(rng);
        let (wait_ns, since) = setup.waits.draw(self.kind, kind, rng);
        let (w_id, d_id) = setup.home.draw(rng);
        let draw = &mut Draw { rng, constants: setup.constants, warehouses: setup.warehouses };
        self.inputs = Inputs::draw(kind, w_id, d_id, draw);
        self.kind = Some(kind);
        self.step = 0;
        Some(Begin { txn: kind.id(), wait_ns, since })
    }

    #[inline]
    fn step(&mut self, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        let step = self.step;
        self.step += 1;
        self.setup.call.step(&self.inputs, step, reply, batch)
    }

    fn restart(&mut self) {
        self.step = 0;
    }

    fn on_failure(&mut self, failure: &Failure<'_>, _: &mut Vec<Note>) -> FailureAction {
        match failure {
            Failure::Server { message, .. } if message.code.as_str() == ROLLED_BACK => {
                FailureAction::Finish(Verdict::RolledBack)
            }
            _ => FailureAction::Count,
        }
    }

    fn tally(&self, _: Verdict, counts: &mut [u64]) {
        match &self.inputs {
            Inputs::NewOrder(inputs) => Tally::new_order(inputs, counts),
            Inputs::Payment(inputs) => Tally::payment(inputs, counts),
            Inputs::OrderStatus(inputs) => Tally::order_status(inputs, counts),
            Inputs::Delivery(_) | Inputs::StockLevel(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tproc_c::{Seed, profile::Profile};

    fn terminal(profile: Profile, waits: Waits) -> Terminal {
        let setup = Setup {
            home: Home::dealt(0, 5),
            warehouses: 5,
            constants: profile.constants(Seed(1)),
            mix: profile.mix(),
            call: Call::Procedure,
            waits,
        };
        Terminal::new(setup, Rng::new(1))
    }

    #[test]
    fn a_restart_sends_the_same_inputs() {
        let mut terminal = terminal(Profile::Spec, Waits::Off);
        while terminal.begin().unwrap().txn != TxnKind::NewOrder.id() {}
        let statements = Call::Procedure.statements(None);
        let statements: Vec<_> = statements.list().iter().map(|listed| listed.statement.clone()).collect();
        let send = |terminal: &mut Terminal| {
            let mut session = pgdyno_wire::Session::new(pgdyno_wire::QueryMode::Simple, statements.len());
            let mut out = Vec::new();
            let mut notes = Vec::new();
            let mut batch = Batch::new(&mut session, &statements, &mut out, &mut notes);
            assert_eq!(terminal.step(Reply::default(), &mut batch), Next::Await);
            batch.close();
            out
        };
        let first = send(&mut terminal);
        terminal.restart();
        assert_eq!(send(&mut terminal), first);
    }

    /// The ceiling of clause 4.2 follows from the waits alone: 12.86 New-Orders a minute for ten terminals.
    #[test]
    fn a_terminal_that_only_waits_does_no_more_than_the_ceiling() {
        let mut terminal = terminal(Profile::Spec, Waits::On { deferred: true });
        let (mut orders, mut ns) = (0, 0);
        for _ in 0..100_000 {
            let begin = terminal.begin().unwrap();
            orders += u32::from(begin.txn == TxnKind::NewOrder.id());
            ns += begin.wait_ns;
        }
        let nopm = 10.0 * f64::from(orders) / (ns as f64 / 6e10);
        assert!((12.8..12.95).contains(&nopm), "{nopm}");
    }

    #[test]
    fn inputs_are_counted_as_they_were_drawn() {
        let mut terminal = terminal(Profile::HammerDb, Waits::Off);
        let (mut counts, mut kinds) = ([0; 5], [0u64; 5]);
        for _ in 0..50_000 {
            let begin = terminal.begin().unwrap();
            kinds[usize::from(begin.txn.0)] += 1;
            terminal.tally(Verdict::Committed, &mut counts);
        }
        let [lines, remote_lines, remote_payments, payments_by_name, order_status_by_name] = counts.map(|n| n as f64);
        let [orders, payments, order_status, ..] = kinds.map(|n| n as f64);
        for (count, total, share, slack) in [
            (lines, orders, 10.0, 0.15),
            (remote_lines, lines, 0.01, 0.001),
            (remote_payments, payments, 0.15, 0.01),
            (payments_by_name, payments, 0.6, 0.015),
            (order_status_by_name, order_status, 0.6, 0.05),
        ] {
            assert!((count / total - share).abs() < slack, "{counts:?} {kinds:?}");
        }
        // A slice of counts that is too short is ignored.
        terminal.tally(Verdict::Committed, &mut []);
    }

    /// There may be fifty thousand of them.
    #[test]
    fn a_terminal_is_small() {
        assert!(size_of::<Terminal>() <= 512, "{} bytes", size_of::<Terminal>());
    }
}
