//! Call stacks from the output of `perf script`. Source: perf-script(1), fields `comm,tid,ip,sym,dso`.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use super::Stacks;

/// The mark of a frame in the kernel, as flame graphs have it.
const KERNEL: &str = "_[k]";

/// Returns each stack and how often it was seen. A sample is a line that begins with the program's name, then a line for each
/// frame from the leaf to the root, then an empty line.
pub(super) fn read(output: impl BufRead) -> io::Result<Stacks> {
    let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
    let mut sample: Option<(String, Vec<String>)> = None;
    for line in output.split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        if line.trim().is_empty() {
            close(sample.take(), &mut stacks);
        } else if line.starts_with(char::is_whitespace) && sample.is_some() {
            if let Some((_, frames)) = &mut sample {
                frames.extend(frame(line.trim()));
            }
        } else {
            close(sample.take(), &mut stacks);
            sample = Some((program(&line), Vec::new()));
        }
    }
    close(sample, &mut stacks);
    Ok(stacks.into_iter().collect())
}

fn close(sample: Option<(String, Vec<String>)>, stacks: &mut BTreeMap<String, u64>) {
    let Some((program, frames)) = sample else { return };
    let stack: Vec<_> = std::iter::once(program).chain(frames.into_iter().rev()).collect();
    *stacks.entry(stack.join(";")).or_default() += 1;
}

/// Returns the program of `postgres 4711`; its name may contain spaces.
fn program(line: &str) -> String {
    let name = line.trim().rsplit_once(char::is_whitespace).map_or(line, |(name, _)| name);
    plain(name.trim())
}

/// Returns the function of `55d0 ExecProcNode+0x1f (/usr/lib/…/postgres)`; without a symbol the file that it lies in.
fn frame(line: &str) -> Option<String> {
    let (_, rest) = line.split_once(' ')?;
    let (symbol, file) = match rest.rsplit_once(" (") {
        Some((symbol, file)) => (symbol, file.trim_end_matches(')')),
        None => (rest, ""),
    };
    let name = symbol.rsplit_once("+0x").map_or(symbol, |(name, _)| name);
    if file.starts_with("[kernel") || file.ends_with(".ko") {
        return Some(plain(name) + KERNEL);
    }
    if name == "[unknown]" {
        let file = file.rsplit('/').next().unwrap_or_default();
        return Some(if file.is_empty() || file == "[unknown]" {
            name.to_owned()
        } else {
            plain(&format!("[{file}]"))
        });
    }
    Some(plain(name))
}

/// Returns a name without the characters that separate frames and counts.
fn plain(name: &str) -> String {
    name.replace([';', '\n'], ":").replace(' ', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As perf 6.1 printed it of a private server; the addresses are shortened.
    const SCRIPT: &str = "\
postgres  4711 
\tffffffff81 __schedule+0x2 ([kernel.kallsyms])
\t      55d0 ExecProcNode+0x1f (/usr/lib/postgresql/15/bin/postgres)
\t      55c0 PostgresMain (/usr/lib/postgresql/15/bin/postgres)
\t    7f0a10 [unknown] (/usr/lib/x86_64-linux-gnu/libc.so.6)

postgres  4712 
\tffffffff81 __schedule+0x9 ([kernel.kallsyms])
\t      55d0 ExecProcNode+0x22 (/usr/lib/postgresql/15/bin/postgres)
\t      55c0 PostgresMain (/usr/lib/postgresql/15/bin/postgres)
\t    7f0a10 [unknown] (/usr/lib/x86_64-linux-gnu/libc.so.6)

my prog  4713 
\t       1 operator new(unsigned long) ([unknown])
\t       0 [unknown] ([unknown])
";

    #[test]
    fn equal_stacks_are_one_from_the_root_to_the_leaf() {
        let stacks = read(SCRIPT.as_bytes()).unwrap();
        let expected = [
            ("my_prog;[unknown];operator_new(unsigned_long)", 1),
            ("postgres;[libc.so.6];PostgresMain;ExecProcNode;__schedule_[k]", 2),
        ];
        assert_eq!(stacks, expected.map(|(stack, count)| (stack.to_owned(), count)));
    }

    #[test]
    fn a_cut_output_loses_nothing_that_was_there_and_any_bytes_are_taken() {
        let cut = &SCRIPT.as_bytes()[..SCRIPT.len() / 2];
        assert!(read(cut).unwrap().iter().map(|(_, count)| count).sum::<u64>() >= 1);
        assert_eq!(read(&b"\xff\xfe\n\t\xff\n\n"[..]).unwrap().len(), 1);
        assert!(read(&b"\n\n\n"[..]).unwrap().is_empty());
    }
}
