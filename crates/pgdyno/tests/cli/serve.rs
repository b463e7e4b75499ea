//! `pgdyno serve` from outside: by HTTP, and by a browser.

mod accessibility;
mod browser;
mod comparisons;
mod metrics;
mod refusals;
mod requests;
mod watching;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::program::{Home, PATIENCE, json};

/// A server on a free port, which is ended with this value.
pub(crate) struct Serving {
    child: Child,
    address: SocketAddr,
}

/// Serves the results of a home.
fn serve(home: &Home) -> Serving {
    serve_with(home, &[])
}

/// The same with further arguments.
pub(crate) fn serve_with(home: &Home, args: &[&str]) -> Serving {
    let mut command = home.command([&["serve", "--port", "0"], args].concat());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.strip_prefix("http://").and_then(|rest| rest.split('/').next()?.parse().ok());
    Serving { address: address.unwrap_or_else(|| panic!("it says {line}")), child }
}

impl Serving {
    /// An address on it.
    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends these very bytes, and reads until the other side ends it.
    fn say(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        Answer::read(stream)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        ask(self.address, path).unwrap()
    }

    /// Ends it with a signal: the exit code, and how long that took.
    fn end(mut self, signal: Signal) -> (Option<i32>, Duration) {
        let begin = Instant::now();
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let status = self.child.wait().unwrap();
        (status.code(), begin.elapsed())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            self.child.kill().unwrap();
            self.child.wait().unwrap();
        }
    }
}

/// Asks a server for a path. Fails if there is no server.
pub(crate) fn ask(address: SocketAddr, path: &str) -> std::io::Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    Ok(Answer::read(stream))
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    fn read(mut stream: TcpStream) -> Self {
        let (mut bytes, mut chunk) = (Vec::new(), vec![0; 1 << 16]);
        loop {
            let answer = Self::of(&String::from_utf8_lossy(&bytes));
            let length = answer.header("content-length").and_then(|length| length.parse::<usize>().ok());
            // Not every server ends the connection itself.
            if length.is_some_and(|length| answer.body.len() >= length) {
                return answer;
            }
            // A server that does not read all of a request may end the connection by a reset, after its answer.
            match stream.read(&mut chunk) {
                Ok(0) | Err(_) => return answer,
                Ok(n) => bytes.extend_from_slice(&chunk[..n]),
            }
        }
    }

    fn of(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or_default();
        Self { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    /// The value of a header.
    fn header(&self, name: &str) -> Option<&str> {
        let fields = self.head.lines().filter_map(|line| line.split_once(':'));
        fields.into_iter().find(|(found, _)| *found == name).map(|(_, value)| value.trim())
    }
}

/// A run of the fixture under another name, with a begin of its own.
fn put(home: &Home, id: &str, began: &str) -> PathBuf {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
    let mut record = json(&fixture);
    (record["id"], record["started_at"]) = (id.into(), began.into());
    let directory = home.join("pgdyno-results").join(id);
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("run.json"), record.to_string()).unwrap();
    directory
}
