//! A private PostgreSQL for one test, a plain connection to it, and one client of a workload.

// Each test binary uses a part of it.
#![allow(dead_code, reason = "shared by test binaries that use different parts")]

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use pgdyno_testing::server::{TestServer, command};
use pgdyno_wire::backend::{self, DataRow, ServerMessage};
use pgdyno_wire::{Event, QueryMode, Received, Session, Statement, TxStatus, Wire, frontend};
use pgdyno_workload::{
    Batch, Capabilities, ClientContext, ClientId, ClientScript, CopyBuf, FailureAction, Group, Next, NumberedDrive,
    ReplyBuffer, Rng, Stage, TxnId, Verdict, Workload,
};

use crate::postgres;

mod plain;

pub(crate) use plain::assert_plain_conditions_hold;

const HBA: &str = "local all all trust\n";

/// Not that of the machine.
const TIME_ZONE: &str = "Asia/Kathmandu";

fn conf() -> String {
    // A copy of a database is made between two checkpoints. Afterwards each page would be written to the WAL. Samples are those of
    // users, for their plans.
    format!(
        "shared_buffers = 512MB\nmax_wal_size = 4GB\nautovacuum = off\nfull_page_writes = off\n\
         default_statistics_target = 100\ntimezone = '{TIME_ZONE}'"
    )
}

/// A running server; it ends with this value.
pub(crate) struct Server {
    server: TestServer,
}

impl Server {
    /// Starts one, with `fsync` off; `None`, and a line on stderr, where there is no PostgreSQL.
    pub(crate) fn start() -> Option<Self> {
        postgres::available("a server").then(|| Self { server: TestServer::start(&conf(), HBA) })
    }

    /// Starts one with `tproc-c` in the database `w1` or `w2`, named after its warehouses.
    pub(crate) fn with_warehouses(database: &str) -> Option<Self> {
        let load = |server: &TestServer| {
            let socket = server.dir().join(format!(".s.PGSQL.{}", server.port));
            Connection::open(&socket, "postgres").unwrap().run(&format!("create database {database}"));
            let mut connection = Connection::open(&socket, database).unwrap();
            connection.run(&format!("set timezone = '{TIME_ZONE}'"));
            load(&mut connection, &tproc_c(&[("warehouses", &database[1..])]));
        };
        let program = std::env::current_exe().unwrap();
        postgres::available("a server with data").then(|| Self {
            server: TestServer::start_filled(&format!("workloads-{database}"), &program, load, &conf(), HBA),
        })
    }

    /// The directory of the socket.
    pub(crate) fn dir(&self) -> &Path {
        self.server.dir()
    }

    /// The port, by which the socket is called.
    pub(crate) fn port(&self) -> u16 {
        self.server.port
    }

    fn socket(&self) -> PathBuf {
        self.dir().join(format!(".s.PGSQL.{}", self.port()))
    }

    pub(crate) fn connect(&self, database: &str) -> Connection {
        Connection::open(&self.socket(), database).unwrap()
    }

    /// Makes a database and loads the workload into it.
    pub(crate) fn load(&self, database: &str, workload: &Workload) -> Connection {
        self.connect("postgres").run(&format!("create database {database}"));
        let mut connection = self.connect(database);
        load(&mut connection, workload);
        connection
    }

    /// A copy of a database that nobody is connected to.
    pub(crate) fn copy(&self, from: &str, to: &str) -> Connection {
        // PostgreSQL 15 brought the other strategy.
        let strategy = if postgres::major() >= 15 { " strategy file_copy" } else { "" };
        self.connect("postgres").run(&format!("create database {to} template {from}{strategy}"));
        self.connect(to)
    }

    /// Runs Debian's pgbench and returns what it printed.
    pub(crate) fn pgbench(&self, database: &str, args: &[&str]) -> String {
        let output = command("pgbench")
            .arg("-h")
            .arg(self.dir())
            .args(["-U", "postgres", &format!("--port={}", self.port())])
            .args(args)
            .arg(database)
            .output()
            .unwrap();
        assert!(output.status.success(), "pgbench {args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}

/// The server's error; boxed, because it is large.
pub(crate) type Failure = Box<ServerMessage>;

pub(crate) type Row = Vec<Option<String>>;

/// A connection that sends simple queries, and COPY.
pub(crate) struct Connection {
    stream: UnixStream,
    input: Vec<u8>,
}

impl Connection {
    fn open(socket: &Path, database: &str) -> std::io::Result<Self> {
        let mut this = Self { stream: UnixStream::connect(socket)?, input: Vec::new() };
        let mut out = Vec::new();
        frontend::startup(&mut out, [("user", "postgres"), ("database", database)]);
        this.stream.write_all(&out)?;
        this.rows_until_ready().map_err(|e| std::io::Error::other(e.to_string()))?;
        Ok(this)
    }

    fn fill(&mut self) -> std::io::Result<()> {
        let mut buffer = [0; 65_536];
        let n = self.stream.read(&mut buffer)?;
        if n == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        self.input.extend_from_slice(&buffer[..n]);
        Ok(())
    }

    /// The next message: tag and body.
    fn message(&mut self) -> std::io::Result<(u8, Vec<u8>)> {
        loop {
            let found = backend::next_message(&self.input).unwrap();
            if let Some(message) = found {
                let (tag, body, len) = (message.tag, message.body.to_vec(), message.len);
                self.input.drain(..len);
                return Ok((tag, body));
            }
            self.fill()?;
        }
    }

    fn rows_until_ready(&mut self) -> Result<Vec<Row>, Failure> {
        let (mut rows, mut error) = (Vec::new(), None);
        loop {
            let (tag, body) = self
                .message()
                .map_err(|e| Box::new(ServerMessage { message: e.to_string(), ..ServerMessage::default() }))?;
            match tag {
                b'D' => rows.push(
                    DataRow::new(&body).columns().map(|c| c.map(|c| String::from_utf8_lossy(c).into_owned())).collect(),
                ),
                b'E' => {
                    let message = ServerMessage::parse(&body);
                    if message.is_fatal() {
                        return Err(message.into());
                    }
                    error = Some(Box::new(message));
                }
                b'Z' => return error.map_or(Ok(rows), Err),
                _ => {}
            }
        }
    }

    pub(crate) fn try_query(&mut self, sql: &str) -> Result<Vec<Row>, Failure> {
        let mut out = Vec::new();
        frontend::query(&mut out, sql.as_bytes());
        self.stream.write_all(&out).unwrap();
        self.rows_until_ready()
    }

    /// All rows; NULL is the empty string.
    pub(crate) fn rows(&mut self, sql: &str) -> Vec<Vec<String>> {
        self.try_query(sql)
            .unwrap_or_else(|e| panic!("{e}: {sql}"))
            .into_iter()
            .map(|row| row.into_iter().map(Option::unwrap_or_default).collect())
            .collect()
    }

    pub(crate) fn run(&mut self, sql: &str) {
        self.rows(sql);
    }

    /// The only column of the only row.
    pub(crate) fn value(&mut self, sql: &str) -> String {
        let rows = self.rows(sql);
        assert!(rows.len() == 1 && rows[0].len() == 1, "{sql}: {rows:?}");
        rows[0][0].clone()
    }

    pub(crate) fn copy(&mut self, table: &str, rows: &[u8]) {
        let mut out = Vec::new();
        frontend::query(&mut out, format!("copy {table} from stdin").as_bytes());
        self.stream.write_all(&out).unwrap();
        let (tag, body) = self.message().unwrap();
        assert_eq!(tag, b'G', "{}", ServerMessage::parse(&body));
        self.stream.write_all(&frontend::copy_data_header(rows.len())).unwrap();
        self.stream.write_all(rows).unwrap();
        out.clear();
        frontend::copy_done(&mut out);
        self.stream.write_all(&out).unwrap();
        self.rows_until_ready().unwrap();
    }
}

/// Tables, rows, indexes, routines, then VACUUM ANALYZE.
pub(crate) fn load(connection: &mut Connection, workload: &Workload) {
    let caps = Capabilities::default();
    for table in workload.data.iter().flat_map(|data| data.tables(&caps)) {
        connection.run(&table.ddl);
        if let Some(source) = &table.source {
            let mut buf = CopyBuf::new();
            for chunk in 0..source.chunks() {
                buf.clear();
                source.write(chunk, &mut buf);
                connection.copy(table.name, buf.bytes());
            }
        }
        for index in &table.indexes {
            connection.run(index);
        }
        let count: u64 = connection.value(&format!("select count(*) from {}", table.name)).parse().unwrap();
        assert!(table.rows.admits(count), "{}: {count}", table.name);
    }
    for routine in workload.data.iter().flat_map(|data| data.routines(&caps).list) {
        connection.run(&routine.ddl);
    }
    connection.run("vacuum (analyze)");
}

/// A client of a workload: the engine's work, one transaction at a time and blocking.
pub(crate) struct Client {
    connection: Connection,
    session: Session,
    statements: Vec<Statement>,
    script: Box<dyn ClientScript>,
    round_trips: u32,
}

impl Client {
    pub(crate) fn new(
        connection: Connection,
        workload: &Workload,
        mode: QueryMode,
        id: u32,
        clients: u32,
        rng: Rng,
    ) -> Self {
        let NumberedDrive { statements, mut scripts, .. } = workload.drive.numbered(&Capabilities::default());
        let of_run = scripts.swap_remove(0);
        let of_scripts = statements[of_run.numbers.statements.clone()].iter();
        let statements: Vec<_> = of_scripts.map(|numbered| numbered.statement.clone()).collect();
        Self {
            connection,
            session: Session::new(mode, statements.len()),
            statements,
            script: (of_run.client)(&ClientContext {
                stage: Stage::ONLY,
                group: Group::ONLY,
                id: ClientId(id),
                clients,
                rng,
                seed: 1,
                has_ledger: false,
            }),
            round_trips: 0,
        }
    }

    /// The same, sending statements in this form.
    pub(crate) fn speaking(mut self, wire: Wire) -> Self {
        self.session.speak(wire);
        self
    }

    /// How often it sent something and awaited an answer.
    pub(crate) fn round_trips(&self) -> u32 {
        self.round_trips
    }

    /// Draws a transaction and carries it out, without a retry.
    pub(crate) fn transact(&mut self) -> (TxnId, Result<Verdict, Failure>) {
        let txn = self.script.begin().unwrap().txn;
        (txn, self.carry_out())
    }

    /// Tries again after 40001 and 40P01; returns how often.
    pub(crate) fn transact_with_retries(&mut self) -> (TxnId, Verdict, u32) {
        let txn = self.script.begin().unwrap().txn;
        let mut retries = 0;
        loop {
            match self.carry_out() {
                Ok(verdict) => return (txn, verdict, retries),
                Err(e) if e.code.class().is_retryable() => {
                    retries += 1;
                    self.script.restart();
                }
                Err(e) => panic!("{e}"),
            }
        }
    }

    fn carry_out(&mut self) -> Result<Verdict, Failure> {
        let (mut rows, mut notes) = (ReplyBuffer::new(), Vec::new());
        loop {
            let mut out = Vec::new();
            let mut batch = Batch::new(&mut self.session, &self.statements, &mut out, &mut notes);
            let next = self.script.step(rows.reply(), &mut batch);
            batch.close();
            rows.clear();
            if self.session.is_busy() {
                self.connection.stream.write_all(&out).unwrap();
                self.round_trips += 1;
                if let Err(error) = self.receive(&mut rows) {
                    let failure = pgdyno_workload::Failure::Server { stmt: None, results: 0, message: &error };
                    return match self.script.on_failure(&failure, &mut notes) {
                        FailureAction::Finish(verdict) => Ok(verdict),
                        _ => Err(error),
                    };
                }
            }
            match next {
                Next::Await => {}
                Next::Finish(verdict) => return Ok(verdict),
                other => panic!("no workload does {other:?}; {notes:?}"),
            }
        }
    }

    /// A transaction that an error leaves open is rolled back.
    fn receive(&mut self, rows: &mut ReplyBuffer) -> Result<(), Failure> {
        let mut error = None;
        loop {
            match self.session.receive(&self.connection.input).unwrap() {
                Received::NeedMore { used } => {
                    self.connection.input.drain(..used);
                    self.connection.fill().unwrap();
                }
                Received::Event { event, used } => {
                    let mut done = None;
                    match event {
                        Event::Row(row) => rows.row(row).unwrap(),
                        Event::Error { raw, .. } => {
                            error.get_or_insert_with(|| Box::new(ServerMessage::parse(raw)));
                        }
                        Event::Ready { all_done, status, .. } => done = all_done.then_some(status),
                        Event::Complete(_) | Event::Part(_) | Event::Columns(_) | Event::Notice(_) => {}
                        Event::Copy { .. } => panic!("COPY"),
                    }
                    self.connection.input.drain(..used);
                    if let Some(status) = done {
                        if error.is_some() && status != TxStatus::Idle {
                            self.connection.run("rollback");
                        }
                        return error.map_or(Ok(()), Err);
                    }
                }
            }
        }
    }
}

/// The workload `tproc-c`.
pub(crate) fn tproc_c(params: &[(&str, &str)]) -> Workload {
    pgdyno_workloads::registry::build("tproc-c", params.iter().copied()).unwrap()
}

/// Asks every condition for the rows that break it.
pub(crate) fn assert_conditions_hold(connection: &mut Connection, workload: &Workload) {
    for check in workload.data[0].checks() {
        let violations = connection.rows(&check.sql.text(&|| false).unwrap());
        assert!(
            violations.is_empty(),
            "{} ({}): {} violations, {:?}",
            check.name,
            check.condition,
            violations.len(),
            &violations[..violations.len().min(5)]
        );
        if let Some(screen) = &check.screen {
            assert_eq!(connection.rows(&screen.parts.whole()), [[""; 0]; 0], "{}", screen.name);
        }
    }
}
