//! The hot paths: what is done for every transaction and for every row of a load, without a socket and without a clock.
//!
//! Each is a closure that does it a number of times. `instructions` counts what that takes, `transactions` times it.

mod engine;
mod rows;
mod server;
mod session;

/// One path.
pub(crate) struct Path {
    /// What is done.
    pub(crate) name: &'static str,
    /// How often one call of `run` does it.
    pub(crate) units: u64,
    /// Does it.
    pub(crate) run: Box<dyn FnMut()>,
}

/// All of them, warmed up: nothing is prepared for the first time any more, no buffer grows.
pub(crate) fn all() -> Vec<Path> {
    let mut paths = session::paths();
    paths.extend(engine::paths());
    paths.extend(rows::paths());
    for path in &mut paths {
        (path.run)();
    }
    paths
}
