//! Any bytes as a machine's statistics: the output of a remote shell, or of a user's command.

use pgdyno_server::os::fuzzing::{command, shell};

pub(crate) fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let (frames, error) = shell(&text);
    assert!(error.is_none_or(|why| why.contains("/proc/")), "an error names what it read");
    for frame in &frames {
        for row in &frame.rows {
            assert_eq!(row.len(), frame.columns.len());
            row.iter().flatten().for_each(|cell| finite(cell));
        }
    }
    let (rows, error) = command(&text);
    assert!(error.iter().all(|why| !why.is_empty()));
    rows.iter().flatten().flatten().for_each(|cell| finite(cell));
}

/// Checks that a cell is a name or a number that is finite and not negative.
fn finite(cell: &str) {
    assert!(cell.parse::<f64>().map_or(true, |n| n.is_finite() && n >= 0.0), "{cell}");
}
