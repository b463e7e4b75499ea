//! Words of a command line that a user may copy.

use std::fmt;

/// Displays a word of a command line for a POSIX shell, in quotes where it needs them.
#[derive(Clone, Copy, Debug)]
pub struct ShellWord<'a>(pub &'a str);

impl fmt::Display for ShellWord<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
        match !self.0.is_empty() && self.0.chars().all(is_plain) {
            true => f.write_str(self.0),
            false => write!(f, "'{}'", self.0.replace('\'', r"'\''")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_shell_takes_words_as_they_are() {
        let words = ["host=db1 dbname=x", "it's", "", "$(rm)", "a\\b", "plain", "a'b\"$c\n", "größe"];
        let line = words.map(|word| ShellWord(word).to_string()).join(" ");
        assert!(line.starts_with(r"'host=db1 dbname=x' 'it'\''s' '' '$(rm)'"), "{line}");
        let printed = Command::new("sh").arg("-c").arg(format!("printf '%s\\0' {line}")).output().expect("sh runs");
        assert_eq!(String::from_utf8_lossy(&printed.stdout), words.map(|word| format!("{word}\0")).concat());
    }
}
