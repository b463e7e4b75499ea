//! A flame graph: call stacks as boxes, the root at the bottom, as wide as the share of samples in which they were seen. The form is
//! Brendan Gregg's (<https://www.brendangregg.com/flamegraphs.html>).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pgdyno_text::units::count;

use crate::drawing::Drawing;
use crate::scaling::svg::escaped;

/// Width of the drawing.
const WIDTH: f64 = 1200.0;
/// Height of a box with its gap.
const ROW: f64 = 16.0;
/// Room for the title.
const TOP: f64 = 34.0;
/// Boxes narrower than this are left out.
const NARROWEST: f64 = 0.3;
/// Width of a character of a label.
const CHARACTER: f64 = 6.2;

/// A function where it was called, and what it called.
#[derive(Default)]
struct Frame<'a> {
    samples: u64,
    called: BTreeMap<&'a str, Frame<'a>>,
}

impl<'a> Frame<'a> {
    fn add(&mut self, frames: &mut dyn Iterator<Item = &'a str>, samples: u64) {
        self.samples += samples;
        if let Some(name) = frames.next() {
            self.called.entry(name).or_default().add(frames, samples);
        }
    }

    /// Returns the number of rows that it takes.
    fn depth(&self) -> usize {
        1 + self.called.values().map(Self::depth).max().unwrap_or_default()
    }
}

/// Returns the graph of stacks: frames from the root to the leaf, separated by semicolons, and how often each was seen.
#[must_use]
pub(crate) fn graph(stacks: &[(String, u64)], title: &str) -> Drawing {
    let mut all = Frame::default();
    for (stack, samples) in stacks {
        all.add(&mut stack.split(';'), *samples);
    }
    let height = TOP + ROW * all.depth() as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"100%\" font-family=\"monospace\" \
         font-size=\"10\"><rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\
         <text x=\"8\" y=\"20\" font-size=\"13\" fill=\"#222222\">{}</text>\n",
        escaped(title)
    );
    draw(&all, "all", (0.0, height - ROW), all.samples, &mut svg);
    svg += "</svg>\n";
    Drawing::new(svg)
}

/// Returns the graph as the text of a file.
#[must_use]
pub fn svg(stacks: &[(String, u64)], title: &str) -> String {
    graph(stacks, title).text().to_owned()
}

fn draw(frame: &Frame<'_>, name: &str, (x, y): (f64, f64), all: u64, svg: &mut String) {
    let share = frame.samples as f64 / all.max(1) as f64;
    let width = share * WIDTH;
    if width < NARROWEST {
        return;
    }
    let room = ((width - 4.0) / CHARACTER).max(0.0) as usize;
    let label = match name.chars().count() {
        _ if room < 3 => String::new(),
        length if length <= room => name.to_owned(),
        _ => format!("{}..", name.chars().take(room - 2).collect::<String>()),
    };
    // Writing into a string does not fail.
    let _ = writeln!(
        svg,
        "<g><title>{}: {} samples, {:.2} %</title><rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{:.0}\" \
         fill=\"{}\"/><text x=\"{:.2}\" y=\"{:.1}\" fill=\"#111111\">{}</text></g>",
        escaped(name),
        count(frame.samples),
        share * 100.0,
        ROW - 1.0,
        colour(name),
        x + 3.0,
        y + 11.0,
        escaped(&label)
    );
    let mut left = x;
    for (name, called) in &frame.called {
        draw(called, name, (left, y - ROW), all, svg);
        left += called.samples as f64 / all.max(1) as f64 * WIDTH;
    }
}

/// Returns the colour of a frame: blue in the kernel, grey without a symbol, else a warm one by its name.
fn colour(name: &str) -> String {
    if name.ends_with("_[k]") {
        return "#9ec5e8".to_owned();
    }
    if name.starts_with('[') {
        return "#cccccc".to_owned();
    }
    let hash = name.bytes().fold(0_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)));
    format!("hsl({},85%,{}%)", 18 + hash % 32, 62 + hash / 32 % 14)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks() -> Vec<(String, u64)> {
        [("postgres;main;ExecScan", 3), ("postgres;main;<lambda>;x_[k]", 1)].map(|(s, n)| (s.to_owned(), n)).into()
    }

    #[test]
    fn boxes_are_as_wide_as_their_share_and_stand_on_their_callers() {
        let svg = svg(&stacks(), "select-only & more");
        for part in [
            "select-only &amp; more",
            "<title>postgres: 4 samples, 100.00 %</title><rect x=\"0.00\"",
            "<title>ExecScan: 3 samples, 75.00 %</title>",
            "width=\"900.00\"",
            "&lt;lambda&gt;: 1 samples, 25.00 %",
            "#9ec5e8",
        ] {
            assert!(svg.contains(part), "{part} is not in {svg}");
        }
        assert!(!svg.contains("<lambda>"));
        assert_eq!(svg.matches("<g>").count(), 6);
    }

    #[test]
    fn no_samples_and_deep_stacks_are_drawn_too() {
        assert_eq!(svg(&[], "nothing").matches("<g>").count(), 0);
        let deep = vec![(vec!["f"; 500].join(";"), 1)];
        assert_eq!(svg(&deep, "deep").matches("<g>").count(), 501);
    }
}
