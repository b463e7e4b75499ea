//! One line for each run, with the change where the level changes.

use std::io::{self, Write};

use pgdyno_results::table::quoted;
use pgdyno_text::TextStyle;

use super::{Histories, History};

pub(super) fn render(histories: &Histories, _: TextStyle, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "series,run,started_at,name,metric,value,level,change_percent,change_percent_low,change_percent_high,chance"
    )?;
    histories.series.iter().try_for_each(|history| lines(history, out))
}

fn lines(history: &History, out: &mut dyn Write) -> io::Result<()> {
    for (nth, run) in history.runs.iter().enumerate() {
        let percent = |ratio: f64| format!("{:.3}", (ratio - 1.0) * 100.0);
        let change = history.changes.iter().find(|change| change.at == nth).map(|found| {
            let change = &found.change;
            format!("{},{},{},{:.2e}", percent(change.ratio), percent(change.low), percent(change.high), found.chance)
        });
        writeln!(
            out,
            "{},{},{},{},{},{:.3},{:.3},{}",
            quoted(&history.name),
            quoted(&run.id),
            run.started_at,
            quoted(&run.name),
            history.metric.name(),
            run.value,
            run.level,
            change.as_deref().unwrap_or(",,,")
        )?;
    }
    Ok(())
}
