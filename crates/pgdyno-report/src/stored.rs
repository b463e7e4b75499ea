//! What a store has, as a list.

use pgdyno_results::StudyKind;
use pgdyno_untrusted::TerminalText;

use crate::forms::StoredForm;
use pgdyno_text::units;

/// Returns the list of what is stored. Where lines would be wider than `columns`, names have lines of their own.
#[must_use]
pub fn table(stored: &[StoredForm], columns: Option<usize>) -> String {
    let mut rows = vec![["name", "status", "size", "pushed (UTC)", "by"].map(str::to_owned)];
    rows.extend(stored.iter().map(|one| {
        let size = units::bytes(one.bytes);
        [&one.name, &one.status, &size, &to_the_minute(&one.pushed_at), &one.pushed_by].map(|cell| shown(cell))
    }));
    let width = |n: usize| rows.iter().map(|row| row[n].chars().count()).max().unwrap_or(0);
    let widths: Vec<_> = (0..rows[0].len()).map(width).collect();
    let cells = |row: &[String; 5], from: usize| {
        let cells = row.iter().zip(&widths).skip(from).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let is_wide = columns.is_some_and(|columns| rows.iter().any(|row| cells(row, 0).chars().count() > columns));
    let line = |row: &[String; 5]| match is_wide {
        true => format!("{}\n  {}\n", row[0], cells(row, 1)),
        false => format!("{}\n", cells(row, 0)),
    };
    rows.iter().map(line).collect()
}

/// Returns text of a store for one cell of a list on a terminal.
fn shown(cell: &str) -> String {
    TerminalText(&cell.replace(['\n', '\t'], " ")).to_string()
}

/// Returns `2026-11-24 18:05` of `2026-11-24T18:05:59Z`.
fn to_the_minute(time: &str) -> String {
    time.replacen('T', " ", 1).chars().take("2026-11-24 18:05".len()).collect()
}

/// Returns `1 run`, `2 runs and 1 search`, of the words for runs and studies.
#[must_use]
pub fn counted(kinds: &[&str]) -> String {
    let all = std::iter::once("run").chain(StudyKind::ALL.map(StudyKind::name));
    let words = all.filter_map(|kind| {
        let number = kinds.iter().filter(|other| **other == kind).count();
        let plural = match kind {
            _ if number == 1 => "",
            _ if kind.ends_with('h') => "es",
            _ => "s",
        };
        (number > 0).then(|| format!("{number} {kind}{plural}"))
    });
    let words: Vec<_> = words.collect();
    match words.as_slice() {
        [] => "0 runs".to_owned(),
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        words => words.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_have_lines_of_their_own_on_a_terminal() {
        let run = |name: &str| StoredForm {
            kind: "run".to_owned(),
            name: name.to_owned(),
            digest: String::new(),
            started_at: "2026-11-24T18:00:00Z".to_owned(),
            status: "interrupted".to_owned(),
            workload: "noop".to_owned(),
            bytes: 1 << 20,
            pushed_at: "2026-11-24T18:05:59.123Z".to_owned(),
            pushed_by: "a-team".to_owned(),
        };
        let short = [run("20261124T180000Z-noop-1a2b3c")];
        let narrow = "name                          status       size     pushed (UTC)      by\n\
                      20261124T180000Z-noop-1a2b3c  interrupted  1.0 MiB  2026-11-24 18:05  a-team\n";
        assert_eq!(table(&short, Some(80)), narrow);
        let long = [run("20261124T180000Z-frontier-ch-benchmark-1a2b3c4d"), short[0].clone()];
        assert_eq!(table(&long, None).lines().count(), 3);
        let wide = table(&long, Some(80));
        assert_eq!(wide.lines().count(), 6, "{wide}");
        assert!(wide.lines().all(|line| line.chars().count() <= 80), "{wide}");
        let hostile = [StoredForm { pushed_by: "\u{1b}[2J\nroot".to_owned(), ..short[0].clone() }];
        assert!(table(&hostile, None).ends_with("\\u{1b}[2J root\n"));
        assert!(wide.ends_with("\n  interrupted  1.0 MiB  2026-11-24 18:05  a-team\n"), "{wide}");
    }

    #[test]
    fn what_was_pushed_is_counted_by_its_kind() {
        assert_eq!(counted(&[]), "0 runs");
        assert_eq!(counted(&["run"]), "1 run");
        assert_eq!(counted(&["run", "search", "run", "search"]), "2 runs and 2 searches");
        let all = ["run", "experiment", "search", "frontier"];
        assert_eq!(counted(&all), "1 run, 1 experiment, 1 search and 1 frontier");
    }
}
