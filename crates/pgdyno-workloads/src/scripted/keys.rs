//! Rows that scripts insert and name, so that a ledger can look for them: `-- pgdyno ledger: orders.id = :id`.

use pgdyno_script::{CommandKind, Script, Slot};
use pgdyno_workload::{Ledger, LedgerMarkers, MarkerKey};

use super::reads;

/// The row of a script.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyOfScript {
    /// Its place among the keys of all scripts.
    pub(super) place: u32,
    /// The variable with the value of the key.
    pub(super) slot: Slot,
    /// Whether no statement writes by its words: functions do.
    pub(super) calls_functions: bool,
}

/// Returns the row of each script.
pub(super) fn of_scripts(scripts: &[Script]) -> Vec<Option<KeyOfScript>> {
    let mut places = 0..;
    let of_script = |script: &Script| {
        let slot = script.key()?.slot;
        Some(KeyOfScript { place: places.next()?, slot, calls_functions: transactions(script) == 0 })
    };
    scripts.iter().map(of_script).collect()
}

/// Returns the ledger of scripts, if one of them names its row. `txns` are the names of their transactions.
pub(super) fn ledger(scripts: &[Script], txns: &[&'static str]) -> Option<Ledger> {
    let keyed = || scripts.iter().zip(txns).filter_map(|(script, txn)| Some((script, *txn, script.key()?)));
    let keys: Vec<_> = keyed()
        .map(|(script, _, key)| MarkerKey {
            place: format!("line {} of {}", key.line, script.name),
            table: key.table.clone(),
            column: key.column.clone(),
        })
        .collect();
    let txns = keyed().map(|(_, txn, _)| txn).collect();
    (!keys.is_empty()).then_some(Ledger { is_always: false, txns, markers: LedgerMarkers::Keys(keys) })
}

/// Returns how many transactions of the server a script consists of, those that only read left out.
pub(super) fn transactions(script: &Script) -> usize {
    let (mut count, mut in_block, mut in_pipeline, mut is_counted) = (0, false, false, false);
    for command in &script.commands {
        let sql = match &command.kind {
            CommandKind::Sql(sql) => String::from_utf8_lossy(&sql.extended.text),
            CommandKind::StartPipeline => {
                (in_pipeline, is_counted) = (true, false);
                continue;
            }
            CommandKind::SyncPipeline | CommandKind::EndPipeline => {
                is_counted = false;
                in_pipeline = matches!(command.kind, CommandKind::SyncPipeline);
                continue;
            }
            _ => continue,
        };
        // The statements of one request are a transaction, and so are those of a pipeline.
        is_counted &= in_pipeline || in_block;
        for statement in reads::statements(&sql) {
            let begins = reads::begins_block(&statement);
            let writes = begins || !reads::only_reads(&statement) && !in_block;
            count += usize::from(writes && !is_counted);
            is_counted |= writes;
            in_block = begins || in_block && !reads::ends_block(&statement);
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use pgdyno_script::{ScriptText, VariableNames, parse};
    use pgdyno_wire::{QueryMode, Session};
    use pgdyno_workload::{
        Batch, Capabilities, ClientContext, ClientId, ClientScript, Group, Marks, Reply, Rng, RowKey, Stage,
    };

    use super::*;
    use crate::scripted::{ErrorHandling, Scripted, Spec, WeightedScript, build};

    fn scripted(text: &str) -> Scripted {
        let script =
            WeightedScript { name: "s.sql".to_owned(), text: text.as_bytes().to_vec(), weight: 1, read_only: None };
        let spec = Spec {
            id: "s".to_owned(),
            summary: String::new(),
            scripts: vec![script],
            defines: vec![("n".to_owned(), b"0".to_vec())],
            scale: 1,
            seed: 1,
            clients: 1,
            threads: 1,
            groups: None,
            errors: ErrorHandling::Pgdyno,
        };
        build(spec).unwrap_or_else(|error| panic!("{error}"))
    }

    fn client(scripted: &Scripted, has_ledger: bool) -> Box<dyn ClientScript> {
        let rng = Rng::new(1);
        let (stage, group, id) = (Stage::ONLY, Group::ONLY, ClientId(0));
        let context = ClientContext { stage, group, id, clients: 1, rng, seed: 1, has_ledger };
        super::super::client(scripted.program, &scripted.seeds, None, 1, &context)
    }

    /// Takes the next step. Returns what it knows then: the key, whether it may be committed by itself, and whether it commits.
    fn step(scripted: &Scripted, client: &mut dyn ClientScript) -> (Option<i64>, bool, bool) {
        let statements = scripted.drive().statements(&Capabilities::default());
        let mut session = Session::new(QueryMode::Simple, statements.len());
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        let mut batch = Batch::new(&mut session, &statements, &mut out, &mut notes);
        client.step(Reply::default(), &mut batch);
        let key = match client.marks() {
            Marks::Keyed { place: 0, key: RowKey::Number(key) } => Some(key),
            _ => None,
        };
        (key, client.may_commit_early(), client.is_committing())
    }

    #[test]
    fn a_client_knows_its_key_and_when_it_may_be_committed() {
        let text = "-- pgdyno ledger: t.a = :n\nselect 1;\nbegin;\n\\set n :n + 1\ninsert into t values (:n);\nend;\n\\sleep 1 us\n";
        let scripted = scripted(text);
        let mut client = client(&scripted, true);
        for nth in [1, 2] {
            client.begin();
            let steps: Vec<_> = (0..4).map(|_| step(&scripted, &mut *client)).collect();
            let expected =
                [(None, false, false), (None, false, false), (Some(nth), true, false), (Some(nth), false, true)];
            assert_eq!(steps, expected, "the old key is not that of the next transaction");
        }
        client.restart();
        assert_eq!(client.marks(), Marks::None);
        let mut without = super::tests::client(&scripted, false);
        without.begin();
        assert!((0..4).all(|_| step(&scripted, &mut *without).0.is_none()), "no ledger needs a key");
    }

    #[test]
    fn a_function_may_write() {
        let scripted = scripted("-- pgdyno ledger: t.a = :n\n\\set n 7\nselect enter(:n);\nselect 2;");
        let mut client = client(&scripted, true);
        client.begin();
        assert_eq!(step(&scripted, &mut *client), (Some(7), true, false));
    }

    #[test]
    fn the_transactions_of_a_script_are_counted() {
        for (text, number) in [
            ("insert into t values (1);", 1),
            ("begin;\ninsert into t values (1);\nupdate t set a = 1;\nend;", 1),
            ("select 1;\nSTART TRANSACTION;\nupdate t set a = 1;\ncommit;\nselect 2;", 1),
            ("insert into t values (1);\nupdate t set a = 1;", 2),
            ("begin;\ninsert into t values (1);\nend;\ninsert into t values (2);", 2),
            ("begin;\nend;\nbegin;\nend;", 2),
            ("insert into t values (1)\\; update t set a = 1;", 1),
            ("begin\\; insert into t values (1)\\; commit;", 1),
            ("\\startpipeline\ninsert into t values (1);\nupdate t set a = 1;\n\\endpipeline", 1),
            ("\\startpipeline\ninsert into t values (1);\n\\syncpipeline\nupdate t set a = 1;\n\\endpipeline", 2),
            ("with i as (\n insert into t values (1) returning a)\nselect a from i;", 1),
            ("select new_order(1);", 0),
        ] {
            let script = parse(&ScriptText { name: "s", text: text.as_bytes() }, &mut VariableNames::new()).unwrap();
            assert_eq!(transactions(&script), number, "{text}");
        }
    }
}
