//! One client: draws an operation and a key, and executes it.

use pgdyno_wire::backend::DataRow;
use pgdyno_wire::{ParamValue, SqlState};
use pgdyno_workload::{
    Batch, Begin, ClientScript, Failure, FailureAction, Next, Note, Reply, Rng, Txn, TxnId, Verdict,
};

use super::keys::{Chooser, Search};
use super::layout::Layout;
use super::rows::{count_of, push_document, push_object, push_value, write_key};
use super::schema::{BEGIN, COMMIT, EXISTS, INSERT, LOCK, READ, SCAN};

/// An operation of YCSB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Read,
    Update,
    Insert,
    Scan,
    ReadModifyWrite,
}

impl Op {
    /// Returns it as a transaction with this share of the mix.
    pub(super) fn txn(self, share: f64) -> Txn {
        match self {
            Self::Read => Txn::new("read", share, 1).reading(true),
            Self::Update => Txn::new("update", share, 1),
            Self::Insert => Txn::new("insert", share, 1),
            Self::Scan => Txn::new("scan", share, 1).reading(true),
            Self::ReadModifyWrite => Txn::new("read-modify-write", share, 2),
        }
    }

    /// Returns true if no other operation of its workload executes the statement.
    pub(super) fn is_only_user_of(self, statement: usize) -> bool {
        let is = |id: pgdyno_wire::StmtId| id.0 as usize == statement;
        match self {
            // A read-modify-write begins with the same statement.
            Self::Read => false,
            Self::Update => Layout::is_update(statement),
            Self::Insert => is(INSERT),
            Self::Scan => is(SCAN),
            Self::ReadModifyWrite => Layout::is_update(statement) || [BEGIN, LOCK, COMMIT].into_iter().any(is),
        }
    }
}

/// How a read-modify-write is done.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadModifyWrite {
    /// In one transaction that locks the row, instead of two statements.
    pub(super) is_transaction: bool,
    /// Whether it adds 1 to the number in its field.
    pub(super) counts: bool,
}

/// Values of an insert that need no memory of their own.
const VALUES: usize = 32;

/// One client.
pub(super) struct Client {
    mix: &'static [(Op, f64)],
    layout: Layout,
    chooser: Chooser,
    scan_length: u32,
    how: ReadModifyWrite,
    rng: Rng,
    /// The operation in progress, and the steps done of it.
    op: Op,
    steps: u32,
    key: Vec<u8>,
    field: u32,
    /// Rows that a scan asks for.
    rows: i32,
    /// The value of an update, or all values of an insert.
    value: Vec<u8>,
    /// Space for a value within a JSON object.
    part: Vec<u8>,
    /// The number that this client inserts, until the server has it.
    inserting: Option<u64>,
    /// The search for records that earlier runs inserted.
    search: Option<Search>,
}

impl Client {
    pub(super) fn new(
        mix: &'static [(Op, f64)],
        layout: Layout,
        chooser: Chooser,
        scan_length: u32,
        how: ReadModifyWrite,
        rng: Rng,
    ) -> Self {
        let search = chooser.frontier.is_unknown().then(|| Search::new(chooser.records));
        Self {
            mix,
            layout,
            chooser,
            scan_length,
            how,
            rng,
            op: Op::Read,
            steps: 0,
            key: Vec::new(),
            field: 0,
            rows: 0,
            value: Vec::new(),
            part: Vec::new(),
            inserting: None,
            search,
        }
    }

    /// Draws one of the operations by their shares.
    fn draw_op(&mut self) -> usize {
        let mut left = self.rng.unit();
        for (nth, (_, share)) in self.mix.iter().enumerate() {
            left -= share;
            if left < 0.0 {
                return nth;
            }
        }
        self.mix.len() - 1
    }

    /// Draws the inputs of the operation.
    fn draw(&mut self) {
        if self.op != Op::Insert {
            let number = self.chooser.draw(&mut self.rng);
            write_key(number, &mut self.key);
        }
        match self.op {
            Op::Update | Op::ReadModifyWrite => {
                self.field = self.rng.up_to(u64::from(self.layout.fields) - 1) as u32;
                self.write_update(0);
            }
            Op::Scan => self.rows = self.rng.uniform(1, i64::from(self.scan_length)) as i32,
            Op::Read | Op::Insert => {}
        }
    }

    /// Writes the new value of the field.
    fn write_update(&mut self, count: u32) {
        let Self { layout, key, value, part, rng, .. } = self;
        let target = if layout.is_jsonb { &mut *part } else { &mut *value };
        target.clear();
        push_value(key, count, layout.field_bytes, rng, target);
        if layout.is_jsonb {
            value.clear();
            push_object(self.field, part, value);
        }
    }

    /// Writes key and values of a record that is inserted.
    fn write_record(&mut self) {
        let number = *self.inserting.get_or_insert_with(|| self.chooser.frontier.take());
        write_key(number, &mut self.key);
        self.value.clear();
        if self.layout.is_jsonb {
            push_document(&self.layout, &self.key, &mut self.rng, &mut self.value);
            return;
        }
        for _ in 0..self.layout.fields {
            push_value(&self.key, 0, self.layout.field_bytes, &mut self.rng, &mut self.value);
        }
    }

    fn insert(&mut self, batch: &mut Batch<'_>) -> Next {
        if self.steps == 2 {
            self.inserted();
            return Next::Finish(Verdict::Committed);
        }
        // Only now: a number that is taken in advance would be missing while the client waits.
        self.write_record();
        if let Some(remark) = self.inserting.and_then(|number| self.chooser.remark(number)) {
            batch.note(Note::Info(remark));
        }
        let key = ParamValue::Text(text(&self.key));
        let fields = self.layout.fields as usize;
        if self.layout.is_jsonb {
            batch.execute(INSERT, &[key, ParamValue::Text(text(&self.value))]);
        } else if fields < VALUES {
            let mut values = [key; VALUES];
            for (value, bytes) in values[1..].iter_mut().zip(self.value.chunks(self.layout.field_bytes)) {
                *value = ParamValue::Text(text(bytes));
            }
            batch.execute(INSERT, &values[..=fields]);
        } else {
            let values = self.value.chunks(self.layout.field_bytes).map(|bytes| ParamValue::Text(text(bytes)));
            batch.execute(INSERT, &std::iter::once(key).chain(values).collect::<Vec<_>>());
        }
        Next::Await
    }

    /// Notes that the record exists.
    fn inserted(&mut self) {
        if let Some(number) = self.inserting.take() {
            self.chooser.frontier.note(number);
        }
    }

    fn update(&self, batch: &mut Batch<'_>) {
        batch.find(
            self.layout.update(self.field),
            &[ParamValue::Text(text(&self.value)), ParamValue::Text(text(&self.key))],
        );
    }

    fn read_modify_write(&mut self, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        let (begins, reads, updates) = if self.how.is_transaction { (1, 2, 3) } else { (0, 1, 2) };
        match self.steps {
            step if step == begins => batch.execute(BEGIN, &[]),
            step if step == reads => {
                let statement = if self.how.is_transaction { LOCK } else { READ };
                let key = [ParamValue::Text(text(&self.key))];
                if self.how.counts { batch.fetch(statement, &key) } else { batch.find(statement, &key) }
            }
            step if step == updates => {
                if self.how.counts {
                    self.write_update(self.count(reply) + 1);
                }
                self.update(batch);
                if !self.how.is_transaction {
                    return Next::Finish(Verdict::Committed);
                }
            }
            _ => {
                batch.execute(COMMIT, &[]);
                return Next::Finish(Verdict::Committed);
            }
        }
        Next::Await
    }

    /// Returns the number in the field that was read.
    fn count(&self, reply: Reply<'_>) -> u32 {
        let of = |value: Option<&str>| value.map_or(0, |value| count_of(value.as_bytes(), &self.key));
        if !self.layout.is_jsonb {
            return reply.first().map_or(0, |row| of(row.text(1 + self.field as usize)));
        }
        let is_field = |row: &DataRow<'_>| {
            let number = row.text(1).and_then(|name| name.strip_prefix("field")?.parse().ok());
            number == Some(self.field)
        };
        reply.rows().find(is_field).map_or(0, |row| of(row.text(2)))
    }

    /// Looks for records that earlier runs inserted. Returns true when it knows them.
    fn search(&mut self, reply: Reply<'_>, batch: &mut Batch<'_>) -> bool {
        let Some(search) = &mut self.search else { return true };
        if !self.chooser.frontier.is_unknown() {
            self.search = None;
            return true;
        }
        if self.steps > 0 {
            search.take_answer(reply.first().is_some());
        }
        self.steps += 1;
        match search.asks() {
            Some(number) => {
                write_key(number, &mut self.part);
                batch.fetch(EXISTS, &[ParamValue::Text(text(&self.part))]);
                false
            }
            None => {
                self.chooser.frontier.found(search.end());
                self.search = None;
                true
            }
        }
    }
}

/// Keys and values have only ASCII characters.
fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap_or_default()
}

impl ClientScript for Client {
    fn begin(&mut self) -> Option<Begin> {
        let nth = self.draw_op();
        self.op = self.mix[nth].0;
        self.draw();
        self.steps = 0;
        Some(Begin::now(TxnId(nth as u8)))
    }

    fn step(&mut self, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        if self.search.is_some() {
            if !self.search(reply, batch) {
                return Next::Await;
            }
            self.steps = 0;
        }
        self.steps += 1;
        match self.op {
            Op::Read => batch.find(READ, &[ParamValue::Text(text(&self.key))]),
            Op::Update => self.update(batch),
            Op::Scan => batch.find(SCAN, &[ParamValue::Text(text(&self.key)), ParamValue::Int4(self.rows)]),
            Op::Insert => return self.insert(batch),
            Op::ReadModifyWrite => return self.read_modify_write(reply, batch),
        }
        Next::Finish(Verdict::Committed)
    }

    fn restart(&mut self) {
        self.steps = 0;
        if let Some(search) = &mut self.search {
            *search = Search::new(self.chooser.records);
        }
    }

    fn on_failure(&mut self, failure: &Failure<'_>, _: &mut Vec<Note>) -> FailureAction {
        // The record is there, perhaps from before a lost connection; in all other cases it is inserted next time.
        if let Failure::Server { message, .. } = failure
            && self.op == Op::Insert
            && message.code == SqlState::UNIQUE_VIOLATION
        {
            self.inserted();
        }
        FailureAction::Count
    }
}
