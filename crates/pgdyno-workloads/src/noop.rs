//! `noop`: transactions that send nothing, so that a run measures pgdyno itself.

use std::sync::Arc;

use pgdyno_workload::{
    Batch, Begin, Capabilities, ClientScript, Drive, Group, Meta, Next, Params, Program, Reply, Scripts, Statements,
    Txn, TxnId, Verdict, Workload,
};

pub(crate) static META: Meta = Meta {
    id: "noop",
    summary: "no server, no statement: what pgdyno itself costs per transaction",
    version: 1,
    dataset: "",
    scale_name: "",
    scale_query: None,
    is_key_range: false,
    params: &[],
};

pub(crate) fn build(params: &Params) -> Workload {
    let program = |_: &Capabilities| Program::new(Statements::new(), |_| Box::new(Script));
    let scripts = Scripts::new(Group::ONLY, vec![Txn::new("noop", 1.0, 0)], program);
    let drive = Arc::new(Drive::new(vec![scripts]));
    Workload { meta: &META, params: params.clone(), scale: 0, data: Vec::new(), drive, audit: None }
}

struct Script;

impl ClientScript for Script {
    fn begin(&mut self) -> Option<Begin> {
        Some(Begin::now(TxnId(0)))
    }

    fn step(&mut self, _: Reply<'_>, _: &mut Batch<'_>) -> Next {
        Next::Finish(Verdict::Committed)
    }

    fn restart(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_wire::{QueryMode, Session};

    #[test]
    fn nothing_is_sent() {
        let (mut session, mut out) = (Session::new(QueryMode::Prepared, 0), Vec::new());
        let mut notes = Vec::new();
        let mut batch = Batch::new(&mut session, &[], &mut out, &mut notes);
        assert_eq!(Script.step(Reply::default(), &mut batch), Next::Finish(Verdict::Committed));
        batch.close();
        assert!(out.is_empty() && !session.is_busy());
    }
}
