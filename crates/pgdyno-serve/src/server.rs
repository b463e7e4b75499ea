//! Connections and their limits: however a client behaves, the next one is served.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, oneshot};

use crate::Pages;
use crate::answer::Answer;
use crate::guard;
use crate::site::Site;

/// Maximum number of connections at one time; further ones wait.
const CONNECTIONS_MAX: usize = 64;

/// Maximum number of pages that are rendered at one time: this machine may be measuring.
const WORKERS_MAX: usize = 2;

/// How long a client may take to send its request.
const HEADERS_WITHIN: Duration = Duration::from_secs(10);

/// How long a connection may take as a whole: one request, its page, and reading it.
const CONNECTION_WITHIN: Duration = Duration::from_secs(120);

/// Maximum size of the request line and all headers.
const HEADERS_BYTES_MAX: usize = 16 << 10;

/// Maximum number of headers of a request.
const HEADERS_MAX: usize = 64;

/// Pause after an error of `accept`, such as too many open files, so that other connections can close.
const AFTER_ERROR: Duration = Duration::from_millis(100);

/// Why the server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// It could not listen.
    #[error("failed to listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddrV4,
        /// The system's error.
        source: io::Error,
    },
    /// Its threads did not start.
    #[error("failed to start the web server: {0}")]
    Runtime(io::Error),
    /// The path of the results is not a directory.
    #[error("{} is no directory", .0.display())]
    NoDirectory(PathBuf),
}

/// A server that listens and does not answer yet.
#[derive(Debug)]
pub struct PageServer {
    listener: TcpListener,
    address: SocketAddr,
    site: Arc<Site>,
    stopped: oneshot::Receiver<()>,
}

/// Stops a [`PageServer`], also when it is dropped.
#[derive(Debug)]
pub struct Stopper(oneshot::Sender<()>);

impl Stopper {
    /// Stops the server at once; open connections are closed.
    pub fn stop(self) {
        // The server may have ended already.
        let _ = self.0.send(());
    }
}

impl PageServer {
    /// Listens on this port of 127.0.0.1, or on a free one if it is 0. The directory need not exist yet.
    ///
    /// # Errors
    /// When the port is taken or privileged, or `results` is a file.
    pub fn bind(port: u16, results: PathBuf, pages: Box<dyn Pages>) -> Result<(Self, Stopper), ServeError> {
        if results.exists() && !results.is_dir() {
            return Err(ServeError::NoDirectory(results));
        }
        let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
        let listen = || {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        let (listener, address) = listen().map_err(|source| ServeError::Listen { address, source })?;
        let (stop, stopped) = oneshot::channel();
        let site = Arc::new(Site::new(results, pages, address.port()));
        Ok((Self { listener, address, site, stopped }, Stopper(stop)))
    }

    /// Returns the address of its pages: `http://127.0.0.1:8432/`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Serves until it is stopped.
    ///
    /// # Errors
    /// When threads cannot be started.
    pub fn run(self) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .max_blocking_threads(WORKERS_MAX)
            .thread_name("pgdyno-serve")
            .build()
            .map_err(ServeError::Runtime)?;
        let ended = serve(&runtime, self);
        // Does not wait for pages that are being rendered.
        runtime.shutdown_background();
        ended
    }
}

fn serve(runtime: &Runtime, server: PageServer) -> Result<(), ServeError> {
    let PageServer { listener, site, stopped, .. } = server;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(ServeError::Runtime)?;
        tokio::spawn(accept(listener, site));
        // A message and a dropped sender both stop the server.
        let _ = stopped.await;
        Ok(())
    })
}

async fn accept(listener: tokio::net::TcpListener, site: Arc<Site>) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let renderers = Arc::new(Semaphore::new(WORKERS_MAX));
    loop {
        // The semaphore is never closed.
        let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            tokio::time::sleep(AFTER_ERROR).await;
            continue;
        };
        let (site, renderers) = (Arc::clone(&site), Arc::clone(&renderers));
        tokio::spawn(async move {
            let service = service_fn(move |request| respond(Arc::clone(&site), Arc::clone(&renderers), request));
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEADERS_WITHIN)
                .max_headers(HEADERS_MAX)
                .max_buf_size(HEADERS_BYTES_MAX)
                // A new connection on the same machine costs nothing, and an idle one would block another.
                .keep_alive(false)
                .serve_connection(TokioIo::new(stream), service);
            // A client that disconnects or sends invalid data is ignored.
            let _ = tokio::time::timeout(CONNECTION_WITHIN, connection).await;
            drop(place);
        });
    }
}

async fn respond(
    site: Arc<Site>,
    renderers: Arc<Semaphore>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let answer = match guard::refusal(&request, site.port()) {
        Some(refusal) => refusal,
        None => {
            let (path, query) = (request.uri().path().to_owned(), request.uri().query().unwrap_or_default().to_owned());
            // A client that does not wait for its turn leaves nothing to do. The semaphore is never closed.
            let turn = renderers.acquire_owned().await;
            // Pages read files, and an hour of histograms takes a while.
            let render = move || {
                let answer = site.answer(&path, &query);
                drop(turn);
                answer
            };
            let made = tokio::task::spawn_blocking(render).await;
            made.unwrap_or_else(|_| Answer::error(500, "this page could not be made"))
        }
    };
    Ok(answer.into_response())
}
