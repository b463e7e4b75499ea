//! Opening the connections of all clients before the run begins.

use std::io::{self, Read as _, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pgdyno_net::{CancelHandle, ConnectError, ConnectOptions, Connection, ConnectionParts, TlsStream, Transport};
use pgdyno_workload::Note;

use crate::Stop;

/// Connections that are opened at the same time: enough to hide round trips and forks of the server, few enough for
/// its listen queue.
const CONNECTS_AT_ONCE: usize = 16;

/// One client's connection.
pub(crate) struct Link {
    pub(crate) transport: Transport,
    /// Whether reads of the transport wait ([`Transport::wait_in_reads`]).
    pub(crate) waits: bool,
    /// Whether the next read waits.
    pub(crate) is_waited_for: bool,
    /// Whether the socket took only part of the last write, so that the poller waits for room.
    pub(crate) blocked: bool,
    /// Whether the next turn reads it without asking the poller: one turn did not read everything.
    pub(crate) half_read: bool,
    /// Boxed: there may be thousands of clients.
    pub(crate) cancel: Box<CancelHandle>,
    /// Bytes that were read together with the end of the startup.
    pub(crate) input: Vec<u8>,
    /// The server's address, for messages.
    pub(crate) peer: Box<str>,
}

impl Link {
    /// Opens a connection for an event loop. Appends notices of the server to `notes`.
    pub(crate) fn open(options: &ConnectOptions, notes: &mut Vec<Note>) -> Result<Self, ConnectError> {
        Self::of(Connection::open(options)?, notes)
    }

    fn of(connection: Connection, notes: &mut Vec<Note>) -> Result<Self, ConnectError> {
        let ConnectionParts { transport, input, cancel, peer, notices, .. } = connection.into_parts();
        transport.set_nonblocking(true).map_err(|source| ConnectError::Lost { peer: peer.clone(), source })?;
        notes.extend(notices.into_iter().map(|notice| Note::Notice(Box::new(notice))));
        Ok(Self {
            transport,
            waits: false,
            is_waited_for: false,
            blocked: false,
            half_read: false,
            cancel: Box::new(cancel),
            input,
            peer: peer.to_string().into(),
        })
    }

    /// Reads from the transport, without waiting unless the read is waited for.
    #[inline]
    pub(crate) fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match &mut self.transport {
            Transport::Plain(socket) if std::mem::take(&mut self.is_waited_for) => socket.read(buf),
            Transport::Plain(socket) => socket.now().read(buf),
            Transport::Tls(stream) => stream.read(buf),
        }
    }

    /// Writes `out` without waiting, and drops what was written. Returns true if it is empty.
    #[inline]
    pub(crate) fn send(&mut self, out: &mut Vec<u8>) -> io::Result<bool> {
        match &mut self.transport {
            Transport::Plain(socket) => send(&mut socket.now(), out),
            Transport::Tls(stream) => send_encrypted(stream, out),
        }
    }
}

/// Writes `out`, and drops what was written. Returns true if it is empty.
#[inline]
fn send(stream: &mut impl Write, out: &mut Vec<u8>) -> io::Result<bool> {
    while !out.is_empty() {
        match stream.write(out) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) if count == out.len() => out.clear(),
            Ok(count) => drop(out.drain(..count)),
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(true)
}

/// The same for TLS, where bytes may wait in memory, encrypted.
#[inline(never)]
fn send_encrypted(stream: &mut TlsStream, out: &mut Vec<u8>) -> io::Result<bool> {
    let all_taken = send(stream, out)?;
    match stream.flush() {
        Ok(()) => {}
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
        Err(e) => return Err(e),
    }
    Ok(all_taken && !stream.wants_write())
}

/// The error when not all clients could connect.
#[derive(Debug, thiserror::Error)]
pub enum ConnectFailed {
    /// The server refused, or could not be reached.
    #[error("failed to connect client {} of {clients}", connected + 1)]
    Refused {
        /// Clients that were connected.
        connected: usize,
        /// Clients that were to connect.
        clients: usize,
        /// The cause.
        source: ConnectError,
    },
    /// The user ended the run while clients were connecting.
    #[error("interrupted while connecting, after {connected} of {clients} clients")]
    Interrupted {
        /// Clients that were connected.
        connected: usize,
        /// Clients that were to connect.
        clients: usize,
    },
}

/// The row that answers a question; `None` is NULL.
pub(crate) type Row = Vec<Option<String>>;

/// A question to new connections.
#[derive(Clone, Copy)]
pub(crate) struct Probe<'a> {
    pub(crate) sql: &'a str,
    /// The options of the connections that are not asked; `None`: all are.
    pub(crate) except: Option<&'a ConnectOptions>,
}

/// The connections of all clients.
#[derive(Default)]
pub(crate) struct Connected {
    /// In the order of their options.
    pub(crate) links: Vec<Link>,
    /// Notices of the server.
    pub(crate) notes: Vec<Note>,
    /// Answers to the probe with the number of the link, in no order; an empty one where the server refused it.
    pub(crate) answers: Vec<(usize, Row)>,
}

/// Opens a connection for each of `options`, several at a time, and asks those that `probe` is for. Calls `progress` with
/// the number that are open.
///
/// # Errors
/// Returns the first failure; all connections are closed again.
pub(crate) fn connect_all(
    options: &[&ConnectOptions],
    probe: Option<Probe<'_>>,
    stop: &Stop,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Connected, ConnectFailed> {
    let clients = options.len();
    let opened = Mutex::new((Vec::with_capacity(clients), Connected::default()));
    let failure = Mutex::new(None);
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..CONNECTS_AT_ONCE.min(clients) {
            let open = || {
                while let Some((nth, options)) = next_of(options, &next)
                    && !stop.is_requested()
                    && locked(&failure).is_none()
                {
                    let mut received = Vec::new();
                    match open_and_ask(options, probe, &mut received) {
                        Ok((link, answer)) => {
                            let mut opened = locked(&opened);
                            let (links, all) = &mut *opened;
                            links.push((nth, link));
                            all.notes.append(&mut received);
                            all.answers.extend(answer.map(|answer| (nth, answer)));
                            progress(links.len());
                        }
                        Err(error) => {
                            locked(&failure).get_or_insert(error);
                        }
                    }
                }
            };
            if std::thread::Builder::new().spawn_scoped(scope, open).is_err() {
                // If no thread can be started, this one opens them all.
                open();
            }
        }
    });
    let (mut links, all) = opened.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    links.sort_unstable_by_key(|(nth, _)| *nth);
    match failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some(_) if stop.is_requested() => Err(ConnectFailed::Interrupted { connected: links.len(), clients }),
        Some(source) => Err(ConnectFailed::Refused { connected: links.len(), clients, source }),
        None if links.len() < clients => Err(ConnectFailed::Interrupted { connected: links.len(), clients }),
        None => Ok(Connected { links: links.into_iter().map(|(_, link)| link).collect(), ..all }),
    }
}

/// Opens one connection. Returns the answer beside it if the probe is for it.
fn open_and_ask(
    options: &ConnectOptions,
    probe: Option<Probe<'_>>,
    notes: &mut Vec<Note>,
) -> Result<(Link, Option<Row>), ConnectError> {
    let mut connection = Connection::open(options)?;
    let probe = probe.filter(|probe| !probe.except.is_some_and(|except| std::ptr::eq(except, options)));
    let answer = probe.map(|probe| connection.ask(probe.sql)).transpose()?;
    Ok((Link::of(connection, notes)?, answer))
}

/// Returns the next options with their number.
fn next_of<'a>(options: &[&'a ConnectOptions], next: &AtomicUsize) -> Option<(usize, &'a ConnectOptions)> {
    let nth = next.fetch_add(1, Ordering::Relaxed);
    options.get(nth).map(|options| (nth, *options))
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
