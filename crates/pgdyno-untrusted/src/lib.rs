//! Types for what strangers wrote.
//!
//! Records, stores, meetings and workload directories may come from anyone. A name or path of theirs becomes a [`FileName`]
//! or [`RelativePath`] before it is joined to anything; files are read and written through a [`Directory`], from which
//! no link leads out; and their text reaches a terminal only as [`TerminalText`], Markdown as [`MarkdownText`], CSV as
//! [`CsvField`], XML as [`XmlText`], a command line as [`ShellWord`]. docs/security.md says what is trusted.
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

mod cell;
mod directory;
mod lock;
mod markdown;
mod name;
mod owned;
mod shell;
mod terminal;
mod xml;

pub use cell::{CsvField, plain_cell};
pub use directory::{Directory, EntryKind, TemporaryChild, append_to_file, directory_of, replace_file};
pub use lock::{Lock, LockFile};
pub use markdown::{MarkdownCode, MarkdownText};
pub use name::{FileName, InvalidName, RelativePath};
pub use owned::{NotOwn, require_own};
pub use shell::ShellWord;
pub use terminal::{PaintedText, TerminalText};
pub use xml::XmlText;
