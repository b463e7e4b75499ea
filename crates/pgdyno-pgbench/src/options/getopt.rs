//! Parses arguments as GNU `getopt_long` does: clusters of letters, abbreviated long names, operands anywhere.

use super::table::{BEYOND, Id, Long, PGBENCH, Takes};

/// The next item of the arguments.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// An option and its argument.
    Option(Id, Vec<u8>),
    /// An option whose optional argument is missing.
    Bare(Id),
    /// An error, in getopt's words.
    Complaint(String),
}

/// An iterator over the arguments.
pub(super) struct GetOpt<'a> {
    argv0: String,
    args: &'a [Vec<u8>],
    /// Index of the next argument.
    at: usize,
    /// The rest of a cluster of letters.
    cluster: &'a [u8],
    /// Whether operands end the options: `POSIXLY_CORRECT`.
    strict: bool,
    operands: Vec<Vec<u8>>,
}

impl<'a> GetOpt<'a> {
    /// Returns an iterator over `args`, which start with the program's name.
    pub(super) fn new(args: &'a [Vec<u8>], strict: bool) -> Self {
        let argv0 = args.first().map_or_else(String::new, |name| String::from_utf8_lossy(name).into_owned());
        Self { argv0, args, at: 1, cluster: &[], strict, operands: Vec::new() }
    }

    /// Returns the operands in order. Complete once [`GetOpt::next`] has returned `None`.
    pub(super) fn into_operands(self) -> Vec<Vec<u8>> {
        self.operands
    }

    pub(super) fn next(&mut self) -> Option<Item> {
        loop {
            if let Some((&letter, rest)) = self.cluster.split_first() {
                self.cluster = rest;
                return Some(self.letter(letter));
            }
            let arg = self.take()?;
            match arg {
                [b'-', b'-'] => return self.only_operands(),
                [b'-', b'-', long @ ..] => return Some(self.long(long)),
                [b'-', letters @ ..] if !letters.is_empty() => self.cluster = letters,
                operand => {
                    self.operands.push(operand.to_vec());
                    if self.strict {
                        return self.only_operands();
                    }
                }
            }
        }
    }

    fn take(&mut self) -> Option<&'a [u8]> {
        let arg = self.args.get(self.at)?;
        self.at += 1;
        Some(arg)
    }

    fn only_operands(&mut self) -> Option<Item> {
        while let Some(operand) = self.take() {
            self.operands.push(operand.to_vec());
        }
        None
    }

    fn letter(&mut self, letter: u8) -> Item {
        let shown = String::from_utf8_lossy(&[letter]).into_owned();
        let Some(option) = PGBENCH.iter().find(|option| option.letter == Some(letter)) else {
            return self.complain(&format!("invalid option -- '{shown}'"));
        };
        if option.takes == Takes::No {
            return Item::Bare(option.id);
        }
        let rest = std::mem::take(&mut self.cluster);
        let argument = if rest.is_empty() { self.take() } else { Some(rest) };
        match argument {
            Some(argument) => Item::Option(option.id, argument.to_vec()),
            None => self.complain(&format!("option requires an argument -- '{shown}'")),
        }
    }

    fn long(&mut self, text: &[u8]) -> Item {
        let (name, value) = match text.iter().position(|&byte| byte == b'=') {
            Some(at) => (&text[..at], Some(&text[at + 1..])),
            None => (text, None),
        };
        let shown = String::from_utf8_lossy(text).into_owned();
        let found = match find(PGBENCH, name) {
            found if found.is_empty() => find(BEYOND, name),
            found => found,
        };
        let option = match found[..] {
            [] => return self.complain(&format!("unrecognized option '--{shown}'")),
            [option] => option,
            _ => {
                let names: String = found.iter().map(|option| format!(" '--{}'", option.name)).collect();
                return self.complain(&format!("option '--{shown}' is ambiguous; possibilities:{names}"));
            }
        };
        match (option.takes, value) {
            (Takes::No, Some(_)) => self.complain(&format!("option '--{}' doesn't allow an argument", option.name)),
            (Takes::No | Takes::Perhaps, None) => Item::Bare(option.id),
            (Takes::Yes | Takes::Perhaps, Some(value)) => Item::Option(option.id, value.to_vec()),
            (Takes::Yes, None) => match self.take() {
                Some(value) => Item::Option(option.id, value.to_vec()),
                None => self.complain(&format!("option '--{}' requires an argument", option.name)),
            },
        }
    }

    fn complain(&self, what: &str) -> Item {
        Item::Complaint(format!("{}: {what}\n", self.argv0))
    }
}

/// Returns the option of this name, otherwise those that it abbreviates.
fn find<'t>(table: &'t [Long], name: &[u8]) -> Vec<&'t Long> {
    match table.iter().find(|option| option.name.as_bytes() == name) {
        Some(exact) => vec![exact],
        None => table.iter().filter(|option| option.name.as_bytes().starts_with(name)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &str, strict: bool) -> (Vec<Item>, Vec<String>) {
        let args: Vec<Vec<u8>> = format!("x {args}").split_whitespace().map(|arg| arg.as_bytes().to_vec()).collect();
        let mut walk = GetOpt::new(&args, strict);
        let items = std::iter::from_fn(|| walk.next()).collect();
        let operands = walk.into_operands().into_iter().map(|bytes| String::from_utf8(bytes).unwrap()).collect();
        (items, operands)
    }

    fn option(id: Id, value: &str) -> Item {
        Item::Option(id, value.as_bytes().to_vec())
    }

    #[test]
    fn letters_cluster_and_take_what_follows() {
        assert_eq!(
            read("-nSvc4", false).0,
            [Item::Bare(Id::NoVacuum), Item::Bare(Id::SelectOnly), Item::Bare(Id::VacuumAll), option(Id::Client, "4")]
        );
        assert_eq!(read("-nc -S", false).0, [Item::Bare(Id::NoVacuum), option(Id::Client, "-S")]);
        assert_eq!(read("-c --", false).0, [option(Id::Client, "--")]);
    }

    #[test]
    fn long_names_may_be_abbreviated_while_they_mean_one() {
        assert_eq!(
            read("--cl=3 --tim 5 --log --log-p=a --con --cont", false).0,
            [
                option(Id::Client, "3"),
                option(Id::Time, "5"),
                Item::Bare(Id::Log),
                option(Id::LogPrefix, "a"),
                Item::Bare(Id::Connect),
                Item::Bare(Id::ContinueOnError),
            ]
        );
    }

    #[test]
    fn names_beyond_pgbenchs_are_met_where_it_knows_none() {
        let items = read("--latency=3 --latency-p --latency-p=1 --log-m --init-j=4 --init --re", false).0;
        let ambiguous = "x: option '--init' is ambiguous; possibilities: '--initialize' '--init-steps'\n";
        assert_eq!(
            items,
            [
                option(Id::LatencyLimit, "3"),
                Item::Bare(Id::LatencyPercentiles),
                option(Id::LatencyPercentiles, "1"),
                Item::Bare(Id::LogMerge),
                option(Id::InitJobs, "4"),
                Item::Complaint(ambiguous.to_owned()),
                Item::Bare(Id::ReportPerCommand),
            ]
        );
    }

    #[test]
    fn operands_may_stand_anywhere_unless_posix_is_asked_for() {
        assert_eq!(read("a -n b - -S -- -c c", false).1, ["a", "b", "-", "-c", "c"]);
        let (items, operands) = read("-n a -S", true);
        assert_eq!((items, operands), (vec![Item::Bare(Id::NoVacuum)], vec!["a".to_owned(), "-S".to_owned()]));
    }
}
