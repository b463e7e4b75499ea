//! The record itself.

use std::io::{self, Write};

use pgdyno_results::RunRecord;
use pgdyno_text::TextStyle;

pub(crate) fn render(record: &RunRecord, _: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, record)?;
    writeln!(out)
}
