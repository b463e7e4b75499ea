//! Call stacks of the server's processes in the measured window: `perf.folded`, a line for each with its frames from the root to the
//! leaf, separated by semicolons, then a space and how often it was seen. The form is that of flame graph tools.

use std::path::Path;

use crate::error::{StoreError, io_error, malformed};
use crate::layout::PROFILE;
use crate::store::{read_text_beside_at_most, write_inside};

/// Maximum size of the file: each stack is in it once, so that those of a long run are no larger than those of a short one.
const BYTES_MAX: u64 = 64 << 20;

/// Characters of a line that an error quotes.
const QUOTED_MAX: usize = 80;

/// Writes the stacks into a run directory.
///
/// # Errors
/// When the file cannot be written.
pub fn write_profile(directory: &Path, stacks: &[(String, u64)]) -> Result<(), StoreError> {
    let text: String = stacks.iter().map(|(stack, samples)| format!("{stack} {samples}\n")).collect();
    write_inside(directory, PROFILE, text.as_bytes())
}

/// Reads the stacks of a run directory; none if it has no profile.
///
/// # Errors
/// When the file cannot be read, or is no profile.
pub fn read_profile(directory: &Path) -> Result<Vec<(String, u64)>, StoreError> {
    let file = directory.join(PROFILE);
    match read_text_beside_at_most(directory, PROFILE, BYTES_MAX) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        text => parse(&text.map_err(io_error("read", &file))?).map_err(|why| malformed(&file, why)),
    }
}

fn parse(text: &str) -> Result<Vec<(String, u64)>, String> {
    let line = |line: &str| {
        let (stack, samples) = line.rsplit_once(' ')?;
        Some((stack.to_owned(), samples.parse().ok()?))
    };
    let malformed = |line: &str| {
        let quoted: String = line.chars().take(QUOTED_MAX).collect();
        format!("'{quoted}' is no stack with a number")
    };
    text.lines().map(|text| line(text).ok_or_else(|| malformed(text))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_read_as_they_were_written() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(read_profile(directory.path()).unwrap(), []);
        let stacks = vec![("postgres;main".to_owned(), 7), ("postgres;[libc.so.6];x_[k]".to_owned(), 1)];
        write_profile(directory.path(), &stacks).unwrap();
        assert_eq!(read_profile(directory.path()).unwrap(), stacks);
        assert!(parse("postgres main").is_err() && parse("x").is_err());
        assert!(parse(&"x".repeat(10_000)).unwrap_err().len() < 200);
        // A file of a stranger, as large as it likes, has no content here.
        let file = std::fs::File::options().write(true).open(directory.path().join(PROFILE)).unwrap();
        file.set_len(BYTES_MAX + 1).unwrap();
        assert!(read_profile(directory.path()).unwrap_err().to_string().contains("perf.folded"));
    }
}
