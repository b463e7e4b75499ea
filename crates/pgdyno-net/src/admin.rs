//! A small blocking client for everything that is not measured: DDL, probes, COPY.
//!
//! Whatever a server sends, an answer is limited in total, in time and in memory.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::time::Duration;

use pgdyno_wire::backend::{self, DataRow, Message, ServerMessage};
use pgdyno_wire::frontend;

use crate::admin_error::{AdminError, server_error};
use crate::channel::{Channel, ReceiveError};
use crate::quote;
use crate::search_path;
use crate::startup::MAX_NOTICES;
use crate::statement::shorten;
use crate::vigil::Vigil;
use crate::waiting::{Patience, Waiting};
use crate::{
    CancelHandle, ConnectError, ConnectOptions, Connection, CopyWriter, Deadline, Interrupter, Parameters, Peer,
};

/// Rows of a result, as text; `None` is NULL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextRows {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Values, row by row.
    pub rows: Vec<Vec<Option<String>>>,
}

/// A blocking connection that speaks the simple query protocol.
///
/// Notices are dropped, unless [`Admin::keep_notices`] keeps them. Dropping it sends Terminate.
#[derive(Debug)]
pub struct Admin {
    channel: Channel,
    parameters: Parameters,
    waiting: Waiting,
    server: Peer,
    /// Notices not taken yet: those of the startup, and later ones if they are kept.
    notices: Vec<ServerMessage>,
    /// Bytes of these notices in the server's messages.
    notices_bytes: usize,
    keeps_notices: bool,
    /// Memory limit of one answer.
    answer_bytes_max: usize,
}

/// Result of one simple query.
#[derive(Default)]
pub(crate) struct Answer {
    rows: TextRows,
    /// Number of rows in the last command tag.
    tag_rows: u64,
}

/// Memory limit of one answer, unless [`Admin::take_at_most`] sets another one: far more than any of pgdyno's own
/// questions takes.
const ANSWER_BYTES_MAX: usize = 64 << 20;
/// Memory limit of the notices that are kept.
const NOTICES_BYTES_MAX: usize = 1 << 20;

impl Admin {
    /// Opens a connection. A host is given up after [`ConnectOptions::answer_timeout`] where no `connect_timeout` is set. A superuser's
    /// session finds the objects of the system before those of the database's owner, whatever the database's `search_path` is.
    ///
    /// # Errors
    /// See [`Connection::open`].
    pub fn connect(options: &ConnectOptions) -> Result<Self, ConnectError> {
        let options = &options.with_default_connect_timeout(options.answer_timeout());
        let mut admin = Self::from(Connection::open(options)?).reported(options);
        let is_superuser = admin.parameters.get("is_superuser") == Some("on");
        let refused = if is_superuser { admin.find_system_objects_first().err() } else { None };
        match refused.filter(|error| !error.is_lost()) {
            // A connection that is lost reports it at its first statement.
            None => Ok(admin),
            Some(error) => {
                let detail = format!("it does not take a search_path ({error})");
                Err(ConnectError::NotPostgres { peer: admin.server.clone(), detail })
            }
        }
    }

    /// Takes `pg_catalog` out of a `search_path` that names it: it is searched first then. Where others come before it, the functions that
    /// pgdyno asks would be theirs, with the rights of this session. Behind a pooler the session is another client's next.
    fn find_system_objects_first(&mut self) -> Result<(), AdminError> {
        let path = match self.parameters.get("search_path") {
            Some(path) => path.to_owned(),
            // Servers before 18 do not report it.
            None => self.query_opt("show search_path")?.unwrap_or_default(),
        };
        let Some(path) = search_path::without_catalog(&path) else { return Ok(()) };
        let own = self.waiting.cancel.process_id.to_string();
        if self.query_opt("select pg_catalog.pg_backend_pid()")? == Some(own) {
            // The server reads the list: names in it may be none of SQL.
            self.query(&format!("select pg_catalog.set_config('search_path', {}, false)", quote::literal(&path)))?;
        }
        Ok(())
    }

    /// Lets the [`crate::Lookout`] of `options`, with which the connection was opened, report its long waits.
    #[must_use]
    pub fn reported(mut self, options: &ConnectOptions) -> Self {
        if let Some(lookout) = &options.lookout {
            let cancel = &self.waiting.cancel;
            let beside = options.beside(&self.server, &cancel.address);
            let (lookout, process_id) = (lookout.clone(), cancel.process_id);
            self.waiting.vigil = Some(Vigil::new(Box::new(move |statement, after, is_first| {
                lookout.look(&beside, process_id, statement, after, is_first);
            })));
        }
        self
    }

    /// Returns the server's parameters.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Returns a handle that cancels the connection's statement from any thread.
    #[must_use]
    pub fn cancel_handle(&self) -> CancelHandle {
        self.waiting.cancel.clone()
    }

    /// Returns the server of this connection, of all in the connection string.
    #[must_use]
    pub fn server(&self) -> &Peer {
        &self.server
    }

    /// Returns `host:port` or the socket's path, for messages.
    #[must_use]
    pub fn peer(&self) -> &str {
        &self.waiting.peer
    }

    /// Returns the address of this end of the connection, which the server sees unless something in between opens a
    /// connection of its own; `None` for a socket of the file system.
    #[must_use]
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.channel.transport.local_addr()
    }

    /// Keeps later notices for [`Admin::take_notices`], as those of the startup are kept; at most a thousand and 1 MiB,
    /// the others are dropped.
    pub fn keep_notices(&mut self) {
        self.keeps_notices = true;
    }

    /// Returns the notices since the last call, in order.
    pub fn take_notices(&mut self) -> Vec<ServerMessage> {
        self.notices_bytes = 0;
        std::mem::take(&mut self.notices)
    }

    /// Limits the time of each following answer, from the statement to the last message: the connection is lost if it
    /// takes longer, whatever the server sends meanwhile. Without a call of this or [`Admin::wait_without_limit`] it is
    /// [`ConnectOptions::answer_timeout`].
    pub fn wait_at_most(&mut self, limit: Duration) {
        self.waiting.patience = Patience::AtMost(limit);
    }

    /// Waits as long as the server needs, for statements that may take hours: DDL, COPY, checks of all rows. Only an
    /// [`Interrupter`] or a cancel request ends the wait.
    pub fn wait_without_limit(&mut self) {
        self.waiting.patience = Patience::Unlimited;
    }

    /// Runs `work` with [`Admin::wait_without_limit`].
    pub fn patiently<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.with_patience(Patience::Unlimited, work)
    }

    /// Runs `work` with [`Admin::wait_at_most`].
    pub fn within<T>(&mut self, limit: Duration, work: impl FnOnce(&mut Self) -> T) -> T {
        self.with_patience(Patience::AtMost(limit), work)
    }

    fn with_patience<T>(&mut self, patience: Patience, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.waiting.patience, patience);
        let done = work(self);
        self.waiting.patience = outer;
        done
    }

    /// Runs `work`, all of whose statements share `deadline` beside the time limit of each.
    pub fn until<T>(&mut self, deadline: Deadline, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.waiting.deadline;
        self.waiting.deadline = outer.earlier(deadline);
        let done = work(self);
        self.waiting.deadline = outer;
        done
    }

    /// Limits the memory that each following answer takes: its rows and its error, or a single message. The connection
    /// is lost if it is more. Without a call it is 64 MiB.
    pub fn take_at_most(&mut self, bytes: usize) {
        self.answer_bytes_max = bytes;
    }

    /// Lets `interrupter` alone end the waits of this connection; `None`: nothing ends them.
    ///
    /// # Errors
    /// When it has interrupted already, or the system refuses.
    pub fn set_interrupter(&mut self, interrupter: Option<&Interrupter>) -> io::Result<()> {
        self.waiting.watched = interrupter.map(|by| by.watch(&self.channel.transport)).transpose()?;
        Ok(())
    }

    /// Runs `questions` that take a server milliseconds and wait for no lock. Gives the server up if it does not
    /// answer one within [`ConnectOptions::answer_timeout`]. `about` describes them, as in "when asked its version".
    pub fn promptly<T>(&mut self, about: &'static str, questions: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.waiting.about.replace(about);
        let answer = questions(self);
        self.waiting.about = outer;
        answer
    }

    /// Runs one or more statements, without their results. Returns the number of rows in the last command tag, 0 if
    /// it has none.
    ///
    /// # Errors
    /// Returns the first error; earlier statements of the same text are rolled back.
    pub fn execute(&mut self, sql: &str) -> Result<u64, AdminError> {
        Ok(self.simple(sql, false)?.tag_rows)
    }

    /// Runs one statement, and returns its rows. Of several statements, it returns the rows of the last one that has
    /// any.
    ///
    /// # Errors
    /// When the statement fails.
    pub fn query(&mut self, sql: &str) -> Result<TextRows, AdminError> {
        Ok(self.simple(sql, true)?.rows)
    }

    /// Runs several statements as one transaction, and returns the rows of each that has any.
    ///
    /// # Errors
    /// Returns the first error; earlier statements are rolled back.
    pub fn query_all(&mut self, sql: &str) -> Result<Vec<TextRows>, AdminError> {
        self.send_query(sql)?;
        let mut results: Vec<TextRows> = Vec::new();
        let (mut error, mut kept_bytes) = (None, 0);
        loop {
            let message = self.receive(sql)?;
            match message.tag {
                b'T' => {
                    results.push(TextRows { columns: backend::column_names(message.body), rows: Vec::new() });
                    kept_bytes += message.len;
                }
                b'D' => {
                    if let Some(rows) = results.last_mut() {
                        kept_bytes += keep(&mut rows.rows, DataRow::new(message.body));
                    }
                }
                b'E' => {
                    error.get_or_insert_with(|| ServerMessage::parse(message.body));
                }
                b'Z' => break,
                _ => {}
            }
            self.admit(kept_bytes, sql)?;
        }
        error.map_or(Ok(results), |message| Err(server_error(sql, message)))
    }

    /// Runs one statement with `$1`, `$2`, … in it, over the extended protocol, and returns its rows. The server
    /// infers the types of the parameters.
    ///
    /// # Errors
    /// When the statement fails.
    pub fn query_with(&mut self, sql: &str, parameters: &[&str]) -> Result<TextRows, AdminError> {
        let mut out = Vec::new();
        frontend::message(&mut out, b'P', |out| {
            frontend::cstr(out, "");
            frontend::cstr(out, sql);
            out.extend_from_slice(&0i16.to_be_bytes());
        });
        frontend::message(&mut out, b'B', |out| {
            // Unnamed portal and statement; no format codes, which means text.
            out.extend_from_slice(&[0, 0, 0, 0]);
            out.extend_from_slice(&(parameters.len() as i16).to_be_bytes());
            for parameter in parameters {
                out.extend_from_slice(&(parameter.len() as i32).to_be_bytes());
                out.extend_from_slice(parameter.as_bytes());
            }
            out.extend_from_slice(&0i16.to_be_bytes());
        });
        frontend::message(&mut out, b'D', |out| {
            out.push(b'P');
            frontend::cstr(out, "");
        });
        frontend::execute(&mut out);
        frontend::sync(&mut out);
        self.send(&out, sql)?;
        Ok(self.answer(sql, true)?.rows)
    }

    /// Returns the first column of the only row; `None` for NULL or no row.
    ///
    /// # Errors
    /// When the statement fails or returns more than one row.
    pub fn query_opt(&mut self, sql: &str) -> Result<Option<String>, AdminError> {
        let mut rows = self.query(sql)?.rows;
        if rows.len() > 1 {
            return Err(AdminError::Shape {
                sql: shorten(sql),
                expected: "at most one row",
                found: format!("{} rows", rows.len()),
            });
        }
        Ok(rows.pop().and_then(|row| row.into_iter().next().flatten()))
    }

    /// Returns the first column of the only row.
    ///
    /// # Errors
    /// When the statement fails, returns not exactly one row, or NULL.
    pub fn query_one(&mut self, sql: &str) -> Result<String, AdminError> {
        self.query_opt(sql)?.ok_or_else(|| AdminError::Shape {
            sql: shorten(sql),
            expected: "one row with a value",
            found: "none".into(),
        })
    }

    /// Begins a `COPY … FROM STDIN`. Dropping the writer without finishing it makes the COPY fail.
    ///
    /// # Errors
    /// When the server refuses the statement, or it is no COPY from the client.
    pub fn copy_in(&mut self, sql: &str) -> Result<CopyWriter<'_>, AdminError> {
        self.send_query(sql)?;
        let mut refused = None;
        loop {
            let message = self.receive(sql)?;
            match message.tag {
                b'G' => {
                    self.begin_data(sql)?;
                    return Ok(CopyWriter::new(self, shorten(sql)));
                }
                b'E' => refused = Some(ServerMessage::parse(message.body)),
                b'Z' => break,
                _ => {}
            }
        }
        Err(match refused {
            Some(message) => server_error(sql, message),
            None => AdminError::Shape {
                sql: shorten(sql),
                expected: "a COPY … FROM STDIN",
                found: "another statement".into(),
            },
        })
    }

    fn simple(&mut self, sql: &str, keep_rows: bool) -> Result<Answer, AdminError> {
        self.send_query(sql)?;
        self.answer(sql, keep_rows)
    }

    pub(crate) fn answer(&mut self, sql: &str, keep_rows: bool) -> Result<Answer, AdminError> {
        let mut answer = Answer::default();
        let (mut error, mut kept_bytes) = (None, 0);
        loop {
            let message = self.receive(sql)?;
            match message.tag {
                b'T' if keep_rows => {
                    answer.rows = TextRows { columns: backend::column_names(message.body), rows: Vec::new() };
                    kept_bytes = message.len;
                }
                b'D' if keep_rows => kept_bytes += keep(&mut answer.rows.rows, DataRow::new(message.body)),
                b'C' => answer.tag_rows = backend::rows_of_tag(message.body).unwrap_or(0),
                b'E' => {
                    error.get_or_insert_with(|| ServerMessage::parse(message.body));
                }
                // The server waits for data, and there is none.
                b'G' => {
                    let mut out = Vec::new();
                    frontend::copy_fail(&mut out, "no data: the statement was not sent as a COPY");
                    self.send(&out, sql)?;
                }
                b'Z' => break,
                _ => {}
            }
            self.admit(kept_bytes, sql)?;
        }
        error.map_or(Ok(answer), |message| Err(server_error(sql, message)))
    }

    /// Gives the server up if an answer takes more memory than it may.
    fn admit(&mut self, kept_bytes: usize, sql: &str) -> Result<(), AdminError> {
        match kept_bytes > self.answer_bytes_max {
            true => Err(self.waiting.flooded(sql, self.answer_bytes_max)),
            false => Ok(()),
        }
    }

    fn send_query(&mut self, sql: &str) -> Result<(), AdminError> {
        let mut out = Vec::with_capacity(sql.len() + 6);
        frontend::query(&mut out, sql.as_bytes());
        self.send(&out, sql)
    }

    pub(crate) fn send(&mut self, bytes: &[u8], sql: &str) -> Result<(), AdminError> {
        match self.waiting.begin(&mut self.channel, sql).and_then(|()| self.channel.send(bytes)) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.write_failed(&error, sql)),
        }
    }

    /// Returns the next message. A FATAL one ends the connection and is returned as its error.
    pub(crate) fn receive(&mut self, sql: &str) -> Result<Message<'_>, AdminError> {
        let (peer, limit) = (&self.waiting.peer, self.answer_bytes_max);
        match self.channel.receive_at_most(limit, self.waiting.vigil.as_mut()) {
            Ok(message) if message.tag == b'E' => {
                let error = ServerMessage::parse(message.body);
                if error.is_fatal() {
                    return Err(last_words(peer, sql, error));
                }
                Ok(message)
            }
            Ok(message) => {
                let may_keep =
                    || self.notices.len() < MAX_NOTICES && self.notices_bytes + message.len <= NOTICES_BYTES_MAX;
                if message.tag == b'N' && self.keeps_notices && may_keep() {
                    self.notices_bytes += message.len;
                    self.notices.push(ServerMessage::parse(message.body));
                }
                Ok(message)
            }
            Err(ReceiveError::Decode(source)) => {
                Err(AdminError::Garbage { peer: peer.clone(), sql: shorten(sql), source })
            }
            Err(ReceiveError::Unexpected { len, .. }) if len > limit => Err(self.waiting.flooded(sql, limit)),
            Err(error) => Err(self.waiting.failed(sql, &error)),
        }
    }

    /// Returns true if nothing came since the last answer: neither a message nor the end of the connection. Does not wait.
    pub fn is_untouched(&mut self) -> bool {
        matches!(self.channel.is_readable(), Ok(false))
    }

    /// Returns true if the server has sent something. Does not wait.
    pub(crate) fn has_answer(&mut self, sql: &str) -> Result<bool, AdminError> {
        self.channel.is_readable().map_err(|error| self.waiting.lost(sql, error.to_string()))
    }

    /// Waits until the server sends something by itself, such as the notification of a channel that this session
    /// listens to, but no longer than `patience`. Returns true if it did; the next statement reads and drops it.
    ///
    /// # Errors
    /// When the connection is lost.
    pub fn wait_for_news(&mut self, patience: Duration) -> Result<bool, AdminError> {
        let waited = self.channel.is_readable_within(Some(patience));
        waited.map_err(|error| self.waiting.lost("LISTEN", error.to_string()))
    }

    /// Returns the stream, for data that is sent without copying.
    pub(crate) fn transport(&mut self) -> &mut crate::Transport {
        &mut self.channel.transport
    }

    /// Prepares the connection for data that is written without a deadline, however long a COPY takes.
    pub(crate) fn begin_data(&mut self, sql: &str) -> Result<(), AdminError> {
        self.channel.set_deadline(Deadline::NEVER).map_err(|error| self.waiting.failed_io(sql, &error))
    }

    /// Begins the wait for an answer that is due without a new statement.
    pub(crate) fn begin_answer(&mut self, sql: &str) -> Result<(), AdminError> {
        self.waiting.begin(&mut self.channel, sql).map_err(|error| self.waiting.failed_io(sql, &error))
    }

    /// Returns the error after a failed write: the server's last message is worth more than the broken pipe.
    pub(crate) fn write_failed(&mut self, error: &io::Error, sql: &str) -> AdminError {
        if error.kind() == io::ErrorKind::TimedOut {
            return self.waiting.failed_io(sql, error);
        }
        if self.channel.set_deadline(Deadline::after(LAST_WORDS)).is_ok() {
            while let Ok(message) = self.channel.receive_at_most(LAST_WORDS_BYTES, None) {
                if message.tag == b'E' {
                    return last_words(&self.waiting.peer, sql, ServerMessage::parse(message.body));
                }
            }
        }
        self.waiting.lost(sql, error.to_string())
    }
}

/// Limits of the server's last message after a failed write. It is there already if it ever comes.
const LAST_WORDS: Duration = Duration::from_secs(1);
const LAST_WORDS_BYTES: usize = 1 << 20;

impl From<Connection> for Admin {
    fn from(connection: Connection) -> Self {
        Self {
            waiting: Waiting::new(
                connection.peer.to_string(),
                connection.cancel_handle(),
                connection.answer_timeout,
                connection.watched,
            ),
            parameters: connection.parameters,
            channel: connection.channel,
            server: connection.peer.clone(),
            notices: connection.notices,
            notices_bytes: 0,
            keeps_notices: false,
            answer_bytes_max: ANSWER_BYTES_MAX,
        }
    }
}

impl Drop for Admin {
    fn drop(&mut self) {
        let mut goodbye = Vec::new();
        frontend::terminate(&mut goodbye);
        // A courtesy: do not wait for it, and ignore errors.
        if self.channel.transport.set_nonblocking(true).is_ok() {
            drop(self.channel.transport.write(&goodbye));
        }
    }
}

/// Keeps a row as texts, and returns the memory that it takes: a row of NULLs takes six times its bytes in the message.
fn keep(rows: &mut Vec<Vec<Option<String>>>, row: DataRow<'_>) -> usize {
    let texts: Vec<Option<String>> =
        row.columns().map(|value| value.map(|bytes| String::from_utf8_lossy(bytes).into_owned())).collect();
    let content: usize = texts.iter().flatten().map(String::len).sum();
    let bytes = size_of_val(texts.as_slice()) + size_of::<Vec<Option<String>>>() + content;
    rows.push(texts);
    bytes
}

fn last_words(peer: &str, sql: &str, said: ServerMessage) -> AdminError {
    AdminError::Lost { peer: peer.to_owned(), sql: shorten(sql), reason: said.to_string(), said: Some(Box::new(said)) }
}
