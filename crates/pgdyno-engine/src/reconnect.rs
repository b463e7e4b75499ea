//! Making lost connections anew, beside the event loop so that it never waits.

use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

use pgdyno_net::ConnectOptions;

use crate::Control;
use crate::connect::Link;
use pgdyno_poll::Waker;

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(100);

/// A client that wants its connection back.
pub(crate) struct Request {
    pub(crate) client: usize,
    /// When to give up.
    pub(crate) until: Instant,
}

/// What came of it: `None` when it was given up.
pub(crate) struct Answer {
    pub(crate) client: usize,
    pub(crate) link: Option<Link>,
}

/// Serves one worker's requests, in order, until the worker hangs up.
pub(crate) fn serve(
    options: &ConnectOptions,
    control: &Control,
    requests: &Receiver<Request>,
    answers: &Sender<Answer>,
    waker: &Waker,
) {
    while let Ok(Request { client, until }) = requests.recv() {
        let mut link = Link::open(options).ok();
        while link.is_none() && Instant::now() < until && !control.is_stopping() {
            std::thread::sleep(PAUSE);
            link = Link::open(options).ok();
        }
        if answers.send(Answer { client, link }).is_err() {
            return;
        }
        waker.wake();
    }
}
