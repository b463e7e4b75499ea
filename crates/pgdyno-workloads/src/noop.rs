//! `noop`: transactions that send nothing, so that a run measures pgdyno itself.

use pgdyno_wire::Statement;
use pgdyno_workload::{
    Batch, Begin, Capabilities, Check, ClientContext, ClientScript, Meta, Next, Params, Reply, Table, Txn, TxnId,
    Verdict, Workload,
};

pub(crate) static META: Meta = Meta {
    id: "noop",
    summary: "no server, no statement: what pgdyno itself costs per transaction",
    version: 1,
    dataset: "",
    scale_name: "",
    scale_query: None,
    params: &[],
};

pub(crate) fn build(params: &Params) -> Box<dyn Workload> {
    Box::new(Noop { params: params.clone() })
}

struct Noop {
    params: Params,
}

impl Workload for Noop {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn params(&self) -> &Params {
        &self.params
    }

    fn scale(&self) -> u64 {
        0
    }

    fn tables(&self, _: &Capabilities) -> Vec<Table> {
        Vec::new()
    }

    fn checks(&self) -> Vec<Check> {
        Vec::new()
    }

    fn txns(&self) -> Vec<Txn> {
        vec![Txn { name: "noop", weight: 1.0, queries: 0 }]
    }

    fn statements(&self, _: &Capabilities) -> Vec<Statement> {
        Vec::new()
    }

    fn data_bytes(&self) -> u64 {
        0
    }

    fn client(&self, _: &ClientContext) -> Box<dyn ClientScript> {
        Box::new(Script)
    }
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
