//! Keeps sessions alive that have nothing to do: proxies and balancers drop connections that are idle for a while.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Time between two looks. The shortest limit on idle connections in use is some 5 s.
pub const LOOK_IN: Duration = Duration::from_secs(2);

/// Runs `work`, and calls `look` every two seconds meanwhile, on a thread of its own. Returns when both have ended.
pub fn looking_in<T>(mut look: impl FnMut() + Send, work: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        // The channel is closed when the work ends, also by a panic.
        let (over, ends) = mpsc::channel::<()>();
        let watch = move || {
            while ends.recv_timeout(LOOK_IN) == Err(RecvTimeoutError::Timeout) {
                look();
            }
        };
        // Without a thread nothing looks, and the work is done all the same.
        drop(std::thread::Builder::new().name("pgdyno-look-in".to_owned()).spawn_scoped(scope, watch));
        let done = work();
        drop(over);
        done
    })
}
