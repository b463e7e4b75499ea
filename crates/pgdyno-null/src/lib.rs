//! A null server: speaks just enough of PostgreSQL's protocol to answer every query at once with one
//! row of one integer. A client's throughput against it is the client's own limit.
//!
//! It keeps no data, checks no password and plans nothing. One thread serves all connections.
//!
//! ```no_run
//! let server = pgdyno_null::NullServer::bind_unix("/tmp/null/.s.PGSQL.5432".as_ref(), pgdyno_null::NullOptions::default())?;
//! server.serve(&std::sync::atomic::AtomicBool::new(false))?;
//! # std::io::Result::Ok(())
//! ```

mod conversation;
#[doc(hidden)]
pub mod fuzzing;

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use conversation::Conversation;
use pgdyno_poll::{Poller, Waker};

/// The `server_version` of the null server. A client that finds it knows that it measures only itself.
pub const VERSION: &str = "18.0 (pgdyno null server)";

const LISTENER: usize = usize::MAX - 1;
const READ_BYTES: usize = 256 * 1024;

/// Options of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NullOptions {
    /// CPU time spent before each reply, to imitate a server that works.
    pub spin: Duration,
}

enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

trait Stream: Read + Write + AsFd {}
impl<T: Read + Write + AsFd> Stream for T {}

impl Listener {
    fn accept(&self) -> io::Result<Box<dyn Stream>> {
        Ok(match self {
            Self::Unix(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                Box::new(stream)
            }
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nonblocking(true)?;
                stream.set_nodelay(true)?;
                Box::new(stream)
            }
        })
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(listener) => listener.as_fd(),
            Self::Tcp(listener) => listener.as_fd(),
        }
    }
}

/// A listening server.
pub struct NullServer {
    listener: Listener,
    poller: Poller,
    options: NullOptions,
}

impl NullServer {
    /// Listens on a unix socket.
    ///
    /// # Errors
    /// When the path cannot be bound.
    pub fn bind_unix(path: &Path, options: NullOptions) -> io::Result<Self> {
        let listener = UnixListener::bind(path)?;
        listener.set_nonblocking(true)?;
        Self::new(Listener::Unix(listener), options)
    }

    /// Listens on 127.0.0.1; port 0 picks a free one. Returns the server and its port.
    ///
    /// # Errors
    /// When the port cannot be bound.
    pub fn bind_tcp(port: u16, options: NullOptions) -> io::Result<(Self, u16)> {
        let listener = TcpListener::bind(("127.0.0.1", port))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        Ok((Self::new(Listener::Tcp(listener), options)?, port))
    }

    fn new(listener: Listener, options: NullOptions) -> io::Result<Self> {
        let poller = Poller::new()?;
        poller.add(listener.as_fd(), LISTENER)?;
        Ok(Self { listener, poller, options })
    }

    /// Returns what makes [`NullServer::serve`] check its stop flag.
    #[must_use]
    pub fn waker(&self) -> Waker {
        self.poller.waker()
    }

    /// Serves until `stop` is set and the waker is called.
    ///
    /// # Errors
    /// When the poller fails.
    pub fn serve(mut self, stop: &AtomicBool) -> io::Result<()> {
        let (mut connections, mut next_key) = (HashMap::<usize, Connection>::new(), 0);
        let (mut ready, mut buffer) = (Vec::new(), vec![0; READ_BYTES]);
        while !stop.load(Ordering::Acquire) {
            self.poller.wait(None, &mut ready)?;
            for event in ready.drain(..) {
                if event.key == LISTENER {
                    while let Ok(stream) = self.listener.accept() {
                        if self.poller.add(stream.as_fd(), next_key).is_ok() {
                            connections.insert(
                                next_key,
                                Connection { stream, conversation: Conversation::default(), out: Vec::new() },
                            );
                            next_key += 1;
                        }
                    }
                } else if let Some(connection) = connections.get_mut(&event.key)
                    && !connection.serve(&mut buffer, self.options, &self.poller, event.key)
                {
                    let _ = self.poller.remove(connection.stream.as_fd());
                    connections.remove(&event.key);
                }
            }
        }
        Ok(())
    }
}

/// An accepted connection.
struct Connection {
    stream: Box<dyn Stream>,
    conversation: Conversation,
    out: Vec<u8>,
}

impl Connection {
    /// Reads and answers. Returns whether the connection stays open.
    fn serve(&mut self, buffer: &mut [u8], options: NullOptions, poller: &Poller, key: usize) -> bool {
        loop {
            match self.stream.read(buffer) {
                Ok(0) => return false,
                Ok(count) => {
                    if !self.conversation.answer(&buffer[..count], &mut self.out) {
                        return false;
                    }
                    spin(options.spin);
                    if !self.flush(poller, key) {
                        return false;
                    }
                    if count < buffer.len() {
                        return true;
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return self.flush(poller, key),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }

    fn flush(&mut self, poller: &Poller, key: usize) -> bool {
        while !self.out.is_empty() {
            match self.stream.write(&self.out) {
                Ok(count) => drop(self.out.drain(..count)),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    return poller.want_write(self.stream.as_fd(), key, true).is_ok();
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        true
    }
}

fn spin(time: Duration) {
    if !time.is_zero() {
        let begun = Instant::now();
        while begun.elapsed() < time {
            std::hint::spin_loop();
        }
    }
}
