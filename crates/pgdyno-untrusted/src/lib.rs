//! Types for what strangers wrote.
//!
//! Records, stores, meetings and workload directories may come from anyone. A name or path of theirs becomes a [`FileName`]
//! or [`RelativePath`] before it is joined to anything; files are read and written through a [`Directory`], from which
//! no link leads out; and their text reaches a terminal only as [`TerminalText`]. docs/security.md says what is trusted.
//!
//! ```
//! use pgdyno_untrusted::{Directory, FileName, RelativePath, TerminalText};
//! # let temporary = tempfile::tempdir()?;
//! # let results = temporary.path();
//! assert!(RelativePath::parse("../.ssh/config").is_err());
//! assert_eq!(TerminalText("\u{1b}[2J done").to_string(), "\\u{1b}[2J done");
//!
//! let directory = Directory::open(results)?.create_child(&FileName::parse("20261125T101112Z-tproc-c-0a1b2c")?)?;
//! directory.write_whole(&RelativePath::parse("inputs/a.sql")?, b"select 1")?;
//! assert_eq!(directory.read(&RelativePath::parse("inputs/a.sql")?, 1 << 20)?, b"select 1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod directory;
mod lock;
mod name;
mod terminal;

pub use directory::{Directory, EntryKind, TemporaryChild};
pub use lock::{Lock, LockFile};
pub use name::{FileName, InvalidName, RelativePath};
pub use terminal::TerminalText;
