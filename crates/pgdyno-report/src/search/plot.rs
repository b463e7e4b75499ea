//! A curve as text: a drawing that needs neither colour nor a terminal.

use std::io::{self, Write};

use pgdyno_text::wrap::COLUMNS;

use super::curve::{LoadCurve, LoadSign, tick_text};

/// Rows of the area of the points.
const ROWS: usize = 10;

/// Columns of its labels, at most.
const LABEL_MAX: usize = 9;

/// The sign of a load. Shapes differ, so that no colour is needed.
fn sign(of: LoadSign) -> char {
    match of {
        LoadSign::Met => 'o',
        LoadSign::Missed => 'x',
        LoadSign::Undecided => '?',
    }
}

/// The area of the points, the highest row first.
struct Grid {
    cells: Vec<Vec<char>>,
}

impl Grid {
    fn column(&self, share: f64) -> usize {
        (share * (self.cells[0].len() - 1) as f64).round() as usize
    }

    fn row_of(curve: &LoadCurve, ms: f64) -> usize {
        ROWS - 1 - (curve.latencies.share(ms) * (ROWS - 1) as f64).round() as usize
    }
}

/// Writes the drawing.
pub(super) fn write(curve: &LoadCurve, by: &str, out: &mut dyn Write) -> io::Result<()> {
    let labels = labels(curve);
    let width = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
    let grid = drawn(curve, COLUMNS - width - 4);
    writeln!(out, "  {}", curve.title(by))?;
    writeln!(out, "  {}", legend(curve))?;
    for (label, cells) in labels.iter().zip(&grid.cells) {
        let cells: String = cells.iter().collect();
        writeln!(out, "  {}", format!("{label:>width$} │{cells}").trim_end())?;
    }
    x_axis(curve, &grid, width, out)
}

/// Returns the signs that occur, and the line.
fn legend(curve: &LoadCurve) -> String {
    let occurs = |of: &LoadSign| curve.points.iter().any(|point| point.sign == *of);
    let signs = LoadSign::ALL.into_iter().filter(occurs).map(|of| format!("{} {}", sign(of), of.name()));
    let scatters =
        curve.points.iter().any(|point| Grid::row_of(curve, point.low_ms) != Grid::row_of(curve, point.high_ms));
    let range = scatters.then(|| "| range of its runs".to_owned());
    let line = curve.objective.as_ref().map(|(objective, _)| format!("- - {objective}"));
    signs.chain(range).chain(line).collect::<Vec<_>>().join("   ")
}

/// Returns the label of each row: the objective's, then round numbers where there is room.
fn labels(curve: &LoadCurve) -> Vec<String> {
    let mut labels = vec![String::new(); ROWS];
    let bound = curve.objective.iter().map(|(_, bound_ms)| *bound_ms);
    for tick in bound.chain(curve.latencies.ticks()) {
        let (row, text) = (Grid::row_of(curve, tick), tick_text(tick));
        if labels[row].is_empty() && text.len() <= LABEL_MAX {
            labels[row] = text;
        }
    }
    labels
}

fn drawn(curve: &LoadCurve, columns: usize) -> Grid {
    let mut grid = Grid { cells: vec![vec![' '; columns]; ROWS] };
    if let Some((_, bound_ms)) = &curve.objective {
        let row = Grid::row_of(curve, *bound_ms);
        grid.cells[row].iter_mut().step_by(2).for_each(|cell| *cell = '-');
    }
    for point in &curve.points {
        let column = grid.column(curve.loads.share(point.load));
        for row in Grid::row_of(curve, point.high_ms)..=Grid::row_of(curve, point.low_ms) {
            grid.cells[row][column] = '|';
        }
    }
    // The loads that meet the objectives are drawn last: no other hides them.
    let mut points: Vec<_> = curve.points.iter().collect();
    points.sort_by_key(|point| point.sign);
    for point in points {
        let column = grid.column(curve.loads.share(point.load));
        grid.cells[Grid::row_of(curve, point.middle_ms)][column] = sign(point.sign);
    }
    grid
}

/// Writes the lower line with its marks, and the loads below it.
fn x_axis(curve: &LoadCurve, grid: &Grid, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let columns = grid.cells[0].len();
    let (mut line, mut below) = (vec!['─'; columns], vec![' '; columns]);
    let mut end = 0;
    for tick in curve.loads.ticks() {
        let (column, text) = (grid.column(curve.loads.share(tick)), tick_text(tick));
        let start = column.saturating_sub(text.len() / 2).min(columns - text.len().min(columns));
        if start < end || start + text.len() > columns {
            continue;
        }
        line[column] = '┴';
        below.splice(start..start + text.len(), text.chars());
        end = start + text.len() + 1;
    }
    let (line, below): (String, String) = (line.into_iter().collect(), below.into_iter().collect());
    writeln!(out, "  {:width$} └{line}", "")?;
    writeln!(out, "  {}", format!("{:width$}  {below}", "").trim_end())
}
