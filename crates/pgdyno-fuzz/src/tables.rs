//! Any bytes as the tables of a run: `intervals.csv`, `intervals-by-group.csv`, `ledger.csv` and a table of samples.

use pgdyno_results::fuzzing::{groups, ledger, samples, timeline};

pub(crate) fn run(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    // The table of a running run is the beginning of the finished one.
    let half = &text[..text.floor_char_boundary(text.len() / 2)];
    match (timeline(&text), timeline(half)) {
        (Ok(whole), Ok(begin)) => {
            // Compare as text: a time may be NaN.
            assert!(begin.len() <= whole.len());
            assert_eq!(format!("{begin:?}"), format!("{:?}", &whole[..begin.len()]));
        }
        (Ok(whole), Err(_)) => {
            assert!(half.lines().count() < 2 || whole.is_empty(), "what is whole has no broken begin")
        }
        (Err(why), _) => assert!(why.contains("column") || why.contains("line"), "an error says where: {why}"),
    }
    if let (Ok(whole), Ok(groups)) = (timeline(&text), groups(&text)) {
        assert_eq!(groups.iter().map(|group| group.intervals.len()).sum::<usize>(), whole.len());
    }
    if let Some(commits) = ledger(input) {
        let lines = input.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(commits, lines.saturating_sub(1), "each whole line but the first is a commit");
        let cut = ledger(&input[..input.len() / 2]).expect("a run that was killed has written the beginning");
        assert!(cut <= commits);
    }
    let Some(table) = samples(input) else { return };
    for (_, row) in table.rows() {
        assert_eq!(row.len(), table.columns().len());
    }
    // Try every source: columns that the table lacks are `None`.
    for source in pgdyno_samples::SOURCES {
        for column in source.columns.iter().filter(|column| table.columns().iter().any(|name| name == column.name)) {
            let (gauge, rate) = (table.gauge(*column), table.rate(&source.columns[..2], *column));
            assert_eq!(gauge.at_s.len(), gauge.values.len());
            assert_eq!(rate.at_s.len(), rate.values.len());
            let split: usize = table.by(*column).values().map(|table| table.rows().len()).sum();
            assert_eq!(split, table.rows().len());
        }
    }
}
