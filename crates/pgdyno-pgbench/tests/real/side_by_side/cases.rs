//! What a case is.

/// Options and scripts for both programs.
#[derive(Clone, Copy)]
pub(super) struct Case {
    /// Split at blanks; a `·` stands for a blank within an argument.
    pub(super) options: &'static str,
    /// Written to `a.sql`, `b.sql`, …; where the options name none, each is given with `-f`.
    pub(super) scripts: &'static [&'static str],
    /// Standard input.
    pub(super) stdin: &'static str,
    /// SQL before each of the programs.
    pub(super) before: &'static str,
    /// A query after each of the programs, whose rows are compared.
    pub(super) after: &'static str,
    /// The first version of pgbench that does so. Earlier ones are not compared.
    pub(super) since: u32,
    /// Messages of several clients come in any order.
    pub(super) unordered: bool,
}

/// One script, and options.
pub(super) const fn one(options: &'static str, script: &'static [&'static str; 1]) -> Case {
    many(options, script)
}

/// Some scripts, and options.
pub(super) const fn many(options: &'static str, scripts: &'static [&'static str]) -> Case {
    Case { options, scripts, stdin: "", before: "", after: "", since: 0, unordered: false }
}

impl Case {
    pub(super) const fn since(self, since: u32) -> Self {
        Self { since, ..self }
    }

    pub(super) const fn unordered(self) -> Self {
        Self { unordered: true, ..self }
    }

    pub(super) const fn stdin(self, stdin: &'static str) -> Self {
        Self { stdin, ..self }
    }

    pub(super) const fn before(self, before: &'static str) -> Self {
        Self { before, ..self }
    }

    pub(super) const fn after(self, after: &'static str) -> Self {
        Self { after, ..self }
    }

    /// What it is called in messages.
    pub(super) fn name(&self) -> String {
        let scripts: Vec<String> = self.scripts.iter().map(|s| s.chars().take(120).collect::<String>()).collect();
        format!("{} :: {scripts:?}", self.options)
    }

    /// Arguments, and the names of its files with their texts.
    pub(super) fn given(&self) -> (Vec<String>, Vec<(String, Vec<u8>)>) {
        let mut args: Vec<String> = self.options.split_whitespace().map(|arg| arg.replace('·', " ")).collect();
        let files: Vec<_> =
            (b'a'..).zip(self.scripts).map(|(n, text)| (format!("{}.sql", n as char), bytes(text))).collect();
        if !self.options.contains(".sql") {
            args.extend(files.iter().flat_map(|(name, _)| ["-f".to_owned(), name.clone()]));
        }
        (args, files)
    }
}

/// A script's text, in which a noncharacter stands for a byte that is no text.
fn bytes(text: &str) -> Vec<u8> {
    let mut pieces = text.split('\u{ffff}').map(str::as_bytes);
    let mut bytes = pieces.next().unwrap_or_default().to_vec();
    for piece in pieces {
        bytes.push(0xff);
        bytes.extend_from_slice(piece);
    }
    bytes
}
