//! `pgbench -i`: the same statements in the same order, the same rows, and the same output.
//!
//! Differences: an error that the server raises while rows are copied is reported at once, and not after the remaining
//! rows were sent.
//!
//! With `--init-jobs=N` accounts are loaded over N connections and primary keys are created in parallel; see the module
//! `parallel`. The tables and rows are the same.

mod generate;
mod parallel;
mod progress;
pub(crate) mod session;
mod sql;

use std::time::Instant;

use pgdyno_net::{ConnectOptions, Halt, Stop};

use self::session::Session;
use crate::connect::{self, Ask};
use crate::messages::{ExitReason, Io};
use crate::options::{InitOptions, InitStep};

/// Creates and fills the tables on `target` ([`connect::options`]); may call `ask` for a password. When `stop` becomes
/// true, cancels the statement on the server and fails.
///
/// # Errors
/// In pgbench's words.
pub fn init(
    options: &InitOptions,
    target: &mut ConnectOptions,
    ask: Ask<'_>,
    io: &mut Io<'_>,
    stop: &Stop,
) -> Result<(), ExitReason> {
    let halt = Halt::new(stop);
    *target = halt.options(target);
    let result = halt.watched(|| {
        let connection = connect::open(target, ask).map_err(|failed| failed.during("initialization"))?;
        let mut session = Session::new(connection, target, &halt);
        session.print_notices("", io);
        Run { options, target, session, halt: &halt, has_made_tables: false }.all(io)
    });
    if result.is_err() && halt.is_interrupted() {
        io.raw("Cancel request sent\n");
    }
    result
}

/// Receives the progress of a session.
trait Teller {
    /// Text for standard error.
    fn say(&mut self, text: &str);
    /// Called when so many more rows were sent.
    fn sent(&mut self, _rows: u64) {}
    /// Called when all rows were sent.
    fn all_sent(&mut self) {}
}

impl Teller for Io<'_> {
    fn say(&mut self, text: &str) {
        self.raw(text);
    }
}

/// One initialization.
struct Run<'a> {
    options: &'a InitOptions,
    target: &'a ConnectOptions,
    session: Session,
    halt: &'a Halt<'a>,
    /// Whether a step has created the tables as the options say.
    has_made_tables: bool,
}

impl Run<'_> {
    fn all(mut self, io: &mut Io<'_>) -> Result<(), ExitReason> {
        let mut seconds = 0.0;
        let mut parts = Vec::new();
        if self.options.jobs > 1 {
            self.session.lift_idle_limits();
        }
        for step in &self.options.steps {
            let start = Instant::now();
            let name = self.step(*step, io)?;
            let elapsed = start.elapsed().as_secs_f64();
            parts.push(format!("{name} {elapsed:.2} s"));
            seconds += elapsed;
        }
        io.raw(&format!("done in {seconds:.2} s ({}).\n", parts.join(", ")));
        Ok(())
    }

    /// Does a step, and returns its name in the last line.
    fn step(&mut self, step: InitStep, io: &mut Io<'_>) -> Result<&'static str, ExitReason> {
        Ok(match step {
            InitStep::DropTables => {
                io.raw("dropping old tables...\n");
                self.session.execute(sql::DROP_TABLES, io)?;
                self.has_made_tables = false;
                "drop tables"
            }
            InitStep::CreateTables => {
                self.create_tables(io)?;
                "create tables"
            }
            InitStep::GenerateHere => {
                io.raw("generating data (client-side)...\n");
                if self.options.jobs > 1 {
                    self.generate_in_parallel(io)?
                } else {
                    self.generate_here(io)?
                }
                "client-side generate"
            }
            InitStep::GenerateOnServer => {
                io.raw("generating data (server-side)...\n");
                self.generate_on_server(io)?;
                "server-side generate"
            }
            InitStep::Vacuum => {
                io.raw("vacuuming...\n");
                self.execute_all(&sql::VACUUM, io)?;
                "vacuum"
            }
            InitStep::PrimaryKeys => {
                io.raw("creating primary keys...\n");
                if self.options.jobs > 1 {
                    self.primary_keys_in_parallel(io)?;
                } else {
                    self.execute_all(&sql::primary_keys(self.options.index_tablespace.as_deref()), io)?;
                }
                "primary keys"
            }
            InitStep::ForeignKeys => {
                io.raw("creating foreign keys...\n");
                self.execute_all(&sql::FOREIGN_KEYS, io)?;
                "foreign keys"
            }
        })
    }

    fn create_tables(&mut self, io: &mut Io<'_>) -> Result<(), ExitReason> {
        io.raw("creating tables...\n");
        self.execute_all(&sql::tables(self.options), io)?;
        if let Some(partitioning) = self.options.partitioning {
            io.raw(&format!("creating {} partitions...\n", partitioning.partitions));
            self.execute_all(&sql::partitions(self.options, partitioning), io)?;
        }
        self.has_made_tables = true;
        Ok(())
    }

    fn execute_all<T: AsRef<str>>(&mut self, statements: &[T], io: &mut Io<'_>) -> Result<(), ExitReason> {
        statements.iter().try_for_each(|statement| self.session.execute(statement.as_ref(), io))
    }
}
