//! A TCP proxy before servers, as balancers and firewalls are.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::port::Port;

/// Time between two looks at the clock.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// What becomes of a connection without traffic.
#[derive(Clone, Copy, Debug)]
pub enum WhenIdle {
    /// It stays.
    Stays,
    /// It is closed at both ends.
    Closes(Duration),
    /// What is sent afterwards is dropped without an error at either end.
    Swallows(Duration),
}

/// A proxy on a loopback port. It ends, with its connections, when this is dropped.
#[derive(Debug)]
pub struct Proxy {
    port: Port,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Proxy {
    /// Starts a proxy that leads to the servers on these ports in turn.
    #[must_use]
    pub fn start(servers: &[u16], when_idle: WhenIdle) -> Self {
        let port = Port::reserve();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.number())).unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let (servers, ends) = (servers.to_vec(), Arc::clone(&over));
        let accept = move || {
            for (client, server) in listener.incoming().zip(servers.iter().cycle()) {
                if ends.load(Ordering::Relaxed) {
                    return;
                }
                let (Ok(client), Ok(server)) = (client, TcpStream::connect((Ipv4Addr::LOCALHOST, *server))) else {
                    continue;
                };
                join(&client, &server, when_idle, &ends);
            }
        };
        Self { port, over, thread: Some(std::thread::spawn(accept)) }
    }

    /// Returns the port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port.number()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        // A last connection wakes the thread.
        drop(TcpStream::connect((Ipv4Addr::LOCALHOST, self.port.number())));
        self.thread.take().map(JoinHandle::join);
    }
}

/// Passes bytes on between both, each way in a thread of its own.
fn join(client: &TcpStream, server: &TcpStream, when_idle: WhenIdle, over: &Arc<AtomicBool>) {
    let used = Arc::new(Mutex::new(Instant::now()));
    for (from, to) in [(client, server), (server, client)] {
        let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        to.set_nodelay(true).unwrap();
        from.set_read_timeout(Some(POLL_INTERVAL)).unwrap();
        let (used, over) = (Arc::clone(&used), Arc::clone(over));
        std::thread::spawn(move || {
            pass_on(&from, &to, when_idle, &used, &over);
            for end in [from, to] {
                end.shutdown(Shutdown::Both).ok();
            }
        });
    }
}

fn pass_on(mut from: &TcpStream, mut to: &TcpStream, when_idle: WhenIdle, used: &Mutex<Instant>, over: &AtomicBool) {
    let mut bytes = [0; 65_536];
    let mut is_swallowing = false;
    while !over.load(Ordering::Relaxed) {
        let read = from.read(&mut bytes);
        let idle = used.lock().unwrap().elapsed();
        match when_idle {
            WhenIdle::Closes(limit) if idle > limit => return,
            WhenIdle::Swallows(limit) if idle > limit => is_swallowing = true,
            _ => {}
        }
        match read {
            Ok(0) => return,
            Ok(_) if is_swallowing => {}
            Ok(count) => {
                *used.lock().unwrap() = Instant::now();
                if to.write_all(&bytes[..count]).is_err() {
                    return;
                }
            }
            Err(error) if matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut) => {}
            Err(_) => return,
        }
    }
}
