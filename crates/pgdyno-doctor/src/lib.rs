//! What on this machine, and on a server, would distort a measurement: each with its figure, why it matters, and the
//! remedy.
//!
//! It prints nothing, and changes nothing on the server but one thing: to measure the time of a commit it writes some
//! short messages into the WAL, which no table and no replica keeps.
//!
//! - [`machine`] reads `/proc` and `/sys`, watches the CPUs for a second, and times the flush of a file;
//! - [`server`] asks the server, and times its round trips and commits;
//! - an [`Examination`] has the [`Finding`]s of both. A check is a file in `machine/` or `server/`.

mod examination;
mod figures;
mod finding;
pub mod machine;
pub mod server;
mod text;

pub use examination::{Examination, Examined};
pub use finding::{Finding, FindingSeverity};
pub use text::FORMATS;
