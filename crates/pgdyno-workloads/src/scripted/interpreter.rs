//! The interpreter of scripts: one client.

mod debug;
mod failure;

use std::sync::PoisonError;

use pgdyno_script::{Collect, Command, CommandKind, EvalError, Expr, Extended, NewKey, Sql, Value, Variables};
use pgdyno_wire::{Capture, QueryMode, StmtId, TextParams};
use pgdyno_workload::{
    Batch, Begin, ClientScript, Failure, FailureAction, Marks, Next, Note, Reply, Rng, RowKey, ShellOutcome, TxnId,
    Verdict,
};

use super::collect::collect;
use super::keys::KeyOfScript;
use super::mix::Mix;
use super::program::Program;
use super::reads;
use super::seeds::Chooser;
use super::words::{self, CommandPlace};

/// A client that runs scripts.
pub(super) struct Interpreter {
    /// A plain reference: all threads would write to a reference count at every step.
    program: &'static Program,
    /// The scripts that it runs.
    mix: &'static Mix,
    client: u32,
    rng: Rng,
    /// The stream at the start of the transaction: a retry draws the same numbers.
    rng_at_begin: Rng,
    chooser: Chooser,
    /// Number of transactions begun, if it runs each script once.
    begun: usize,
    variables: Variables,
    script: usize,
    /// Next command.
    next: usize,
    /// Command whose reply it waits for.
    sent: usize,
    /// Statement that the last step prepared.
    preparing: Option<StmtId>,
    /// Query mode of the last statement.
    mode: QueryMode,
    /// Whether `next` was reached from a branch whose condition was false.
    jumped: bool,
    in_pipeline: bool,
    /// Sync points of the pipeline since its last statement.
    syncs: u32,
    /// Statements of the pipeline right after sync points, and the number of these.
    after_syncs: Vec<(StmtId, u32)>,
    /// Command for a shell.
    shell: Vec<u8>,
    shell_outcome: Option<ShellOutcome>,
    /// Text of the statement, or its parameters.
    text: Vec<u8>,
    /// State of `--debug`; `None` without it.
    debug_state: Option<debug::State>,
    /// Whether the run has a ledger.
    has_ledger: bool,
}

/// Messages when a client cannot continue.
struct Stop(Vec<Note>);

impl Interpreter {
    pub(super) fn new(program: &'static Program, group: &str, client: u32, rng: Rng, chooser: Chooser) -> Self {
        let mix = program.mix(group);
        let mut variables = program.variables.clone();
        if let Some(slot) = variables.names().find(b"client_id")
            && !variables.is_defined(slot)
        {
            variables.set_value(slot, Value::Int(i64::from(client)));
        }
        Self {
            debug_state: program.pgbench().filter(|errors| errors.debug).map(|_| debug::State::default()),
            program,
            mix,
            client,
            rng_at_begin: rng.clone(),
            rng,
            chooser,
            begun: 0,
            variables,
            script: mix.scripts.first().copied().unwrap_or_default(),
            next: 0,
            sent: 0,
            preparing: None,
            mode: QueryMode::Simple,
            jumped: false,
            in_pipeline: false,
            syncs: 0,
            after_syncs: Vec::new(),
            shell: Vec::new(),
            shell_outcome: None,
            text: Vec::new(),
            has_ledger: false,
        }
    }

    /// Returns the same client in a run with a ledger.
    pub(super) fn with_ledger(self, has_ledger: bool) -> Self {
        Self { has_ledger, ..self }
    }

    fn place(&self, command: usize) -> CommandPlace {
        CommandPlace { client: self.client, script: self.script, command }
    }

    fn id(&self, command: usize) -> StmtId {
        StmtId((self.program.first[self.script] + command) as u32)
    }

    /// Returns pgbench's message for a failed backslash command.
    fn failed(&self, command: &str, why: &str) -> Stop {
        Stop(vec![Note::Error(words::command_failed(self.place(self.next), command, why))])
    }

    /// Returns pgbench's messages for a command whose expression or operands are wrong.
    fn at_fault(&self, command: &Command, error: &EvalError) -> Stop {
        let Stop(mut notes) = self.failed(&command.name_for(error), error.consequence());
        // pgbench does not report an empty text as an invalid value.
        if self.program.pgbench().is_none() || !matches!(error, EvalError::Empty(_)) {
            notes.insert(0, Note::Error(error.to_string()));
        }
        Stop(notes)
    }

    /// Executes commands until one must wait.
    fn go_on(&mut self, reply: Reply<'_>, batch: &mut Batch<'_>) -> Result<Next, Stop> {
        let program = self.program;
        let commands = &program.scripts[self.script].commands;
        let prepared = self.preparing.take();
        if let Some(id) = prepared {
            batch.assume_prepared(id);
        }
        self.print_script(batch);
        self.print_reply(commands, batch);
        self.take_reply(commands, reply)?;
        while let Some(command) = commands.get(self.next) {
            self.print_command(command, batch);
            if let Some(next) = self.carry_out(commands, command, batch)? {
                return Ok(next);
            }
        }
        if self.in_pipeline {
            let text = format!("client {} aborted: end of script reached with pipeline open", self.client);
            return Err(Stop(vec![Note::Error(text)]));
        }
        Ok(Next::Finish(Verdict::Committed))
    }

    /// Stores the variables of `\gset` and `\aset`.
    #[inline]
    fn take_reply(&mut self, commands: &[Command], reply: Reply<'_>) -> Result<(), Stop> {
        if self.sent == usize::MAX {
            return Ok(());
        }
        let at = self.place(self.sent);
        let command = &commands[self.sent];
        self.sent = usize::MAX;
        match &command.kind {
            CommandKind::Sql(Sql { collect: Collect::Nothing, .. }) => Ok(()),
            CommandKind::Sql(sql) => collect(reply, &sql.collect, &mut self.variables, at).map_err(Stop),
            _ => Ok(()),
        }
    }

    /// Executes one command, and advances to the next one. Returns `Some` if the client must wait.
    #[inline]
    fn carry_out(
        &mut self,
        commands: &[Command],
        command: &Command,
        batch: &mut Batch<'_>,
    ) -> Result<Option<Next>, Stop> {
        let jumped = std::mem::take(&mut self.jumped);
        match &command.kind {
            CommandKind::Sql(sql) => return self.sql(commands.len(), sql, batch),
            CommandKind::Set(set) => {
                let at = self.place(self.next);
                set.run(&mut self.variables, &mut self.rng, &mut debug_to(at, batch))
                    .map_err(|e| self.at_fault(command, &e))?;
            }
            CommandKind::If { condition, otherwise } => return self.branch(command, condition, *otherwise, batch),
            CommandKind::Elif { condition, otherwise, .. } if jumped => {
                return self.branch(command, condition, *otherwise, batch);
            }
            CommandKind::Else { .. } if jumped => {}
            CommandKind::Elif { end, .. } | CommandKind::Else { end } => {
                self.next = *end;
                return Ok(None);
            }
            CommandKind::Sleep(sleep) => {
                let ns = sleep.duration_ns(&self.variables).map_err(|e| self.at_fault(command, &e))?;
                if self.in_pipeline {
                    batch.hold();
                }
                self.next += 1;
                return Ok(Some(Next::Sleep(ns)));
            }
            CommandKind::Values(draw) => match self.program.lists.get() {
                Some(lists) => lists.draw(self.id(self.next), draw, &mut self.rng, &mut self.variables),
                None => return Err(self.failed("values", "its list was not read from the server")),
            },
            CommandKind::Shell(_) | CommandKind::SetShell(_) => return self.run_shell(command, batch),
            CommandKind::StartPipeline => return self.start_pipeline(commands, batch),
            CommandKind::SyncPipeline => {
                if !self.in_pipeline {
                    return Err(self.failed("syncpipeline", "not in pipeline mode"));
                }
                batch.sync();
                self.syncs += 1;
            }
            CommandKind::EndPipeline => {
                if !self.in_pipeline {
                    return Err(self.failed("endpipeline", "not in pipeline mode"));
                }
                self.in_pipeline = false;
                batch.sync();
                self.sent = self.next;
                self.next += 1;
                return Ok(Some(Next::Await));
            }
            // `\endif`.
            _ => {}
        }
        self.next += 1;
        Ok(None)
    }

    /// Continues with the next command if the condition is true, else with `otherwise`.
    fn branch(
        &mut self,
        command: &Command,
        condition: &Expr,
        otherwise: usize,
        batch: &mut Batch<'_>,
    ) -> Result<Option<Next>, Stop> {
        let at = self.place(self.next);
        let value = condition
            .eval(&mut self.variables, &mut self.rng, &mut debug_to(at, batch))
            .map_err(|e| self.at_fault(command, &e))?;
        self.jumped = !value.truth();
        self.next = if self.jumped { otherwise } else { self.next + 1 };
        Ok(None)
    }

    #[inline]
    fn sql(&mut self, commands: usize, sql: &Sql, batch: &mut Batch<'_>) -> Result<Option<Next>, Stop> {
        let id = self.id(self.next);
        let capture = match sql.collect {
            Collect::Nothing => Capture::Nothing,
            Collect::Gset { .. } | Collect::Aset { .. } if self.in_pipeline => {
                let name = if matches!(sql.collect, Collect::Gset { .. }) { "gset" } else { "aset" };
                return Err(self.failed(name, &format!("\\{name} is not allowed in pipeline mode")));
            }
            Collect::Gset { .. } | Collect::Aset { .. } => Capture::Results,
        };
        self.text.clear();
        self.mode = batch.mode();
        match self.mode {
            QueryMode::Simple => {
                sql.simple.render(&self.variables, &mut self.text);
                batch.query(id, &self.text, capture);
            }
            QueryMode::Extended => {
                let count = encode(&sql.extended, &self.variables, &mut self.text);
                batch.query_params(id, &sql.extended.text, TextParams { count, encoded: &self.text }, capture);
            }
            QueryMode::Prepared => {
                let name = &self.program.prepared_names[id.0 as usize];
                if !batch.is_prepared(id) {
                    batch.prepare(id, name, &sql.extended.text);
                    self.preparing = Some(id);
                    return Ok(Some(Next::Await));
                }
                let count = encode(&sql.extended, &self.variables, &mut self.text);
                batch.query_prepared(id, name, TextParams { count, encoded: &self.text }, capture);
            }
        }
        if self.in_pipeline {
            let syncs = std::mem::take(&mut self.syncs);
            if syncs > 0 {
                self.after_syncs.push((id, syncs));
            }
            self.next += 1;
            return Ok(None);
        }
        self.sent = self.next;
        self.next += 1;
        let is_last = self.next == commands && capture == Capture::Nothing;
        Ok(Some(if is_last { Next::Finish(Verdict::Committed) } else { Next::Await }))
    }

    /// Starts a pipeline. In prepared mode everything up to `\endpipeline` is prepared before.
    fn start_pipeline(&mut self, commands: &[Command], batch: &mut Batch<'_>) -> Result<Option<Next>, Stop> {
        if batch.mode() == QueryMode::Simple {
            return Err(self.failed("startpipeline", "cannot use pipeline mode with the simple query protocol"));
        }
        if self.in_pipeline {
            return Err(self.failed("startpipeline", "already in pipeline mode"));
        }
        self.mode = batch.mode();
        if self.mode == QueryMode::Prepared {
            let rest = commands.iter().enumerate().skip(self.next + 1);
            for (index, command) in rest.take_while(|(_, c)| !matches!(c.kind, CommandKind::EndPipeline)) {
                let id = self.id(index);
                if let CommandKind::Sql(sql) = &command.kind
                    && !batch.is_prepared(id)
                {
                    self.print_preparing(id, batch);
                    batch.prepare(id, &self.program.prepared_names[id.0 as usize], &sql.extended.text);
                    self.preparing = Some(id);
                    return Ok(Some(Next::Await));
                }
            }
        }
        self.in_pipeline = true;
        self.syncs = 0;
        self.after_syncs.clear();
        self.next += 1;
        Ok(None)
    }

    /// Requests a shell command, or handles its result.
    fn run_shell(&mut self, command: &Command, batch: &mut Batch<'_>) -> Result<Option<Next>, Stop> {
        let (shell, set) = match &command.kind {
            CommandKind::SetShell(set) => (&set.shell, Some(set)),
            CommandKind::Shell(shell) => (shell, None),
            _ => return Ok(None),
        };
        let Some(outcome) = self.shell_outcome.take() else {
            self.shell = shell.command_line(&self.variables).map_err(|e| self.at_fault(command, &e))?;
            if self.in_pipeline {
                batch.hold();
            }
            return Ok(Some(Next::Shell { capture: set.is_some() }));
        };
        self.print_output(command, &outcome, batch);
        match set {
            Some(set) => set.store(&outcome.output.unwrap_or_default(), &mut self.variables),
            None if outcome.success => Ok(()),
            None => Err(shell.could_not_launch()),
        }
        .map_err(|e| self.at_fault(command, &e))?;
        self.next += 1;
        Ok(None)
    }
}

/// Appends the parameters in the format of Bind. Returns their number.
#[inline]
fn encode(extended: &Extended, variables: &Variables, out: &mut Vec<u8>) -> u16 {
    for slot in &extended.params {
        let start = out.len();
        out.extend_from_slice(&[0xff; 4]);
        if variables.text(*slot, out) {
            let len = (out.len() - start - 4) as u32;
            out[start..start + 4].copy_from_slice(&len.to_be_bytes());
        }
    }
    // At most 255, which the parser checks.
    extended.params.len() as u16
}

/// Returns a function for the output of `debug()` in a command.
fn debug_to<'a>(at: CommandPlace, batch: &'a mut Batch<'_>) -> impl FnMut(&str) + 'a {
    move |text| {
        batch.note(Note::Words(format!("debug(script={},command={}): {text}", at.script, at.command + 1)));
    }
}

impl ClientScript for Interpreter {
    #[inline]
    fn begin(&mut self) -> Option<Begin> {
        let mix = self.mix;
        if mix.once {
            self.script = *mix.scripts.get(self.begun)?;
            self.begun += 1;
        } else if let [_, .., all] = mix.weights[..] {
            let draw = self.chooser.lock().unwrap_or_else(PoisonError::into_inner).up_to(all - 1);
            self.script = mix.scripts[mix.weights.partition_point(|sum| *sum <= draw)];
        }
        self.rng_at_begin.clone_from(&self.rng);
        if let Some(debug_state) = &mut self.debug_state {
            debug_state.begin();
        }
        self.go_to_first_command();
        Some(Begin { wait_ns: mix.think_ns, ..Begin::now(TxnId(self.script as u8)) })
    }

    #[inline]
    fn step(&mut self, reply: Reply<'_>, batch: &mut Batch<'_>) -> Next {
        match self.go_on(reply, batch) {
            Ok(next) => next,
            Err(Stop(notes)) => {
                notes.into_iter().for_each(|note| batch.note(note));
                // Stops waiting for an open pipeline.
                batch.hold();
                Next::Abort
            }
        }
    }

    fn restart(&mut self) {
        self.rng.clone_from(&self.rng_at_begin);
        self.go_to_first_command();
    }

    fn shell(&self) -> &[u8] {
        &self.shell
    }

    fn location(&self, stmt: Option<StmtId>, position: Option<u32>) -> Option<String> {
        self.line_of(stmt, position)
    }

    fn shell_done(&mut self, outcome: ShellOutcome) {
        self.shell_outcome = Some(outcome);
    }

    fn waiting(&self) -> Option<StmtId> {
        // A sleep counts when it begins; a shell command is executed again when it ended.
        let command = if self.shell_outcome.is_some() { self.next } else { self.next.checked_sub(1)? };
        Some(self.id(command))
    }

    fn marks(&self) -> Marks<'_> {
        let Some(KeyOfScript { place, slot, .. }) = self.key() else { return Marks::None };
        let keyed = |key| match key {
            NewKey::Number(number) => Marks::Keyed { place, key: RowKey::Number(number) },
            NewKey::Text(text) => Marks::Keyed { place, key: RowKey::Text(text) },
        };
        self.variables.new_key(slot).map_or(Marks::None, keyed)
    }

    fn may_commit_early(&self) -> bool {
        let calls_functions = self.key().is_some_and(|key| key.calls_functions);
        self.sent_statements().is_none_or(|sent| {
            let is_block = sent.len() == 1 && reads::begins_block(&sent[0]);
            !is_block && (calls_functions || sent.iter().any(|statement| !reads::only_reads(statement)))
        })
    }

    fn is_committing(&self) -> bool {
        self.sent_statements().is_some_and(|sent| sent.iter().any(|statement| reads::commits_block(statement)))
    }

    fn on_failure(&mut self, failure: &Failure<'_>, notes: &mut Vec<Note>) -> FailureAction {
        self.answer(failure, notes)
    }
}

impl Interpreter {
    fn go_to_first_command(&mut self) {
        if let Some(debug_state) = &mut self.debug_state {
            debug_state.restart();
        }
        self.next = 0;
        self.sent = usize::MAX;
        self.preparing = None;
        self.in_pipeline = false;
        self.shell_outcome = None;
        self.jumped = false;
        if let Some(key) = self.key() {
            self.variables.mark_old(key.slot);
        }
    }

    /// Returns the row of its script, in a run with a ledger.
    #[inline]
    fn key(&self) -> Option<KeyOfScript> {
        if self.has_ledger { self.program.keys[self.script] } else { None }
    }

    /// Returns the statements whose reply it waits for; `None` for those of a pipeline.
    fn sent_statements(&self) -> Option<Vec<String>> {
        match &self.program.scripts[self.script].commands.get(self.sent)?.kind {
            CommandKind::Sql(sql) => Some(reads::statements(&String::from_utf8_lossy(&sql.extended.text))),
            _ => None,
        }
    }
}
