//! The lists of values of a run: their queries, and the scripts that draw from them.

use std::error::Error;
use std::sync::Arc;

use pgdyno_wire::QueryMode;
use pgdyno_workload::{ValueLists, ValueQuery, ValueRows};

use super::Spec;
use super::program::Program;
use super::read_lists::ReadLists;

/// The lists of the scripts of a run.
pub(super) struct ListsOfScripts {
    pub(super) program: &'static Program,
    pub(super) spec: Arc<Spec>,
    pub(super) queries: Vec<ValueQuery>,
}

impl ValueLists for ListsOfScripts {
    fn queries(&self) -> &[ValueQuery] {
        &self.queries
    }

    fn provide(&self, rows: Vec<ValueRows>) -> Result<(), Box<dyn Error + Send + Sync>> {
        let columns: Vec<&[String]> = rows.iter().map(ValueRows::columns).collect();
        let mut slots = Vec::new();
        for (script, source) in self.program.scripts().iter().zip(&self.spec.scripts) {
            slots.extend(script.bind_lists(&source.source(), &columns, self.program.variables.names())?);
        }
        // In the simple protocol more is allowed; what the other modes refuse was refused before.
        self.program.check_variables(&self.spec, QueryMode::Simple, Some(&columns))?;
        // A workload is run once.
        drop(self.program.lists.set(ReadLists { rows, slots }));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use pgdyno_wire::Session;
    use pgdyno_workload::{
        Batch, Capabilities, ClientContext, ClientId, ClientScript, Group, Next, Note, Reply, Rng, Stage,
    };

    use super::*;
    use crate::scripted::{ErrorHandling, Scripted, WeightedScript, build_with_lists};

    fn scripted(scripts: &[&str]) -> Scripted {
        let source = |text: &&str| WeightedScript {
            name: "s.sql".to_owned(),
            text: text.as_bytes().to_vec(),
            weight: 1,
            read_only: None,
        };
        let query = |name: &str| ValueQuery { name: name.to_owned(), sql: "select".to_owned(), place: String::new() };
        let spec = Spec {
            id: "s".to_owned(),
            summary: String::new(),
            scripts: scripts.iter().map(source).collect(),
            defines: Vec::new(),
            scale: 1,
            seed: 1,
            clients: 1,
            threads: 1,
            groups: None,
            errors: ErrorHandling::Pgdyno,
        };
        build_with_lists(spec, vec![query("orders"), query("items")]).unwrap_or_else(|error| panic!("{error}"))
    }

    fn rows(columns: &[&str], values: &[&[Option<&str>]]) -> ValueRows {
        let mut rows = ValueRows::new(columns.iter().map(|name| (*name).to_owned()).collect()).ok().unwrap();
        for row in values {
            rows.push(&row.iter().map(|value| value.map(str::to_owned)).collect::<Vec<_>>()).unwrap();
        }
        rows
    }

    fn client(scripted: &Scripted) -> Box<dyn ClientScript> {
        let rng = Rng::new(1);
        let context = ClientContext {
            stage: Stage::ONLY,
            group: Group::ONLY,
            id: ClientId(0),
            clients: 1,
            rng,
            seed: 1,
            has_ledger: false,
        };
        super::super::client(scripted.program, &scripted.seeds, None, 1, &context)
    }

    /// Returns the text that a transaction sends, or why it cannot.
    fn sent(scripted: &Scripted, client: &mut dyn ClientScript) -> Result<String, String> {
        let statements = scripted.drive().statements(&Capabilities::default());
        let mut session = Session::new(QueryMode::Simple, statements.len());
        let (mut out, mut notes) = (Vec::new(), Vec::new());
        let mut batch = Batch::new(&mut session, &statements, &mut out, &mut notes);
        let next = client.step(Reply::default(), &mut batch);
        batch.close();
        match next {
            Next::Abort => Err(notes.iter().map(Note::text).collect()),
            _ => {
                let message = pgdyno_wire::backend::next_message(&out).unwrap().unwrap();
                Ok(String::from_utf8(message.body.strip_suffix(b"\0").unwrap().to_vec()).unwrap())
            }
        }
    }

    #[test]
    fn rows_are_drawn_whole_and_a_null_leaves_no_value() {
        let scripted = scripted(&["\\set x 1\n\\values orders\n\\values items i_\nselect :id, :note, :i_id, :x;"]);
        let orders: &[&[Option<&str>]] = &[&[Some("1"), None], &[Some("2"), Some("'two'")], &[Some("3"), Some("''")]];
        let lists = scripted.drive().value_lists.unwrap();
        assert_eq!(lists.queries().iter().map(|query| query.name.as_str()).collect::<Vec<_>>(), ["orders", "items"]);
        lists.provide(vec![rows(&["id", "note"], orders), rows(&["id"], &[&[Some("9")]])]).unwrap();
        let (mut first, mut second) = (client(&scripted), client(&scripted));
        let mut texts = std::collections::BTreeMap::new();
        for _ in 0..300 {
            first.begin();
            let text = sent(&scripted, &mut *first).unwrap();
            first.restart();
            assert_eq!(sent(&scripted, &mut *first).unwrap(), text, "a retry draws the same row");
            second.begin();
            assert_eq!(sent(&scripted, &mut *second).unwrap(), text, "the same seed draws the same rows");
            *texts.entry(text).or_insert(0) += 1;
        }
        let expected = ["select 1, :note, 9, 1;", "select 2, 'two', 9, 1;", "select 3, '', 9, 1;"];
        assert_eq!(texts.keys().collect::<Vec<_>>(), expected);
        assert!(texts.values().all(|times| (50..150).contains(times)), "uniform: {texts:?}");
    }

    #[test]
    fn columns_that_scripts_cannot_use_are_refused() {
        let scripted = scripted(&["\\values orders\nselect :id;", "select 1;\nselect :custmer;"]);
        assert!(scripted.check_variables(QueryMode::Simple).is_ok(), "the columns are not known yet");
        let lists = scripted.drive().value_lists.unwrap();
        let provide = |columns: &[&str]| lists.provide(vec![rows(columns, &[]), rows(&["id"], &[])]);
        let error = provide(&["id", "a-b"]).unwrap_err().to_string();
        assert!(error.contains("s.sql:1:1: the column \"a-b\" of the list") && error.contains("hint:"), "{error}");
        let error = provide(&["id", "customer"]).unwrap_err().to_string();
        assert!(error.contains("s.sql:2:8: nothing sets the variable \"custmer\""), "{error}");
        assert!(error.ends_with("hint: did you mean :customer?"), "{error}");
        assert!(provide(&["id", "custmer"]).is_ok());
    }

    #[test]
    fn a_client_without_its_list_aborts() {
        let scripted = scripted(&["\\values orders\nselect :id;"]);
        let mut client = client(&scripted);
        client.begin();
        let why = sent(&scripted, &mut *client).unwrap_err();
        assert!(why.contains("command 0 (values)") && why.contains("its list was not read"), "{why}");
        assert!(scripted.drive().is_read_only());
    }
}
