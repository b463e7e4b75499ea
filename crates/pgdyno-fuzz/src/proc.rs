//! Any bytes as what a machine says of itself: the lines of a remote shell, or of a command of the user's.

use pgdyno_server::os::fuzzing::{command, shell};

pub(crate) fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let (frames, told) = shell(&text);
    assert!(told.is_none_or(|why| why.contains("/proc/")), "an error names what it read");
    for frame in &frames {
        for row in &frame.rows {
            assert_eq!(row.len(), frame.columns.len());
            row.iter().flatten().for_each(|cell| finite(cell));
        }
    }
    let (rows, told) = command(&text);
    assert!(told.iter().all(|why| !why.is_empty()));
    rows.iter().flatten().flatten().for_each(|cell| finite(cell));
}

/// A cell is a name, or a number that means something.
fn finite(cell: &str) {
    assert!(cell.parse::<f64>().map_or(true, |n| n.is_finite() && n >= 0.0), "{cell}");
}
