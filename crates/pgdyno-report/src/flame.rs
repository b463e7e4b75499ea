//! A flame graph: call stacks as boxes, the root at the bottom, as wide as the share of samples in which they were seen. The form is
//! Brendan Gregg's (<https://www.brendangregg.com/flamegraphs.html>).

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use pgdyno_results::{AbRecord, AbStack};
use pgdyno_text::units::{count, us};

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

/// A function where it was called, and what it called. A drawing of one side leaves the other at 0.
#[derive(Default)]
struct Frame<'a> {
    /// Samples of it and of what it called, of each side.
    samples: [u64; 2],
    /// Samples of it alone.
    own: [u64; 2],
    called: BTreeMap<&'a str, Frame<'a>>,
}

impl<'a> Frame<'a> {
    /// Adds the samples of a stack. Without room for a further frame they count as those of its caller.
    fn add(&mut self, frames: &mut dyn Iterator<Item = &'a str>, samples: [u64; 2], room: &mut usize) {
        add(&mut self.samples, samples);
        match frames.next().and_then(|name| self.called(name, room)) {
            Some(called) => called.add(frames, samples, room),
            None => add(&mut self.own, samples),
        }
    }

    /// Returns the frame of a function that this one calls; `None` if it is a new one and there is no room.
    fn called(&mut self, name: &'a str, room: &mut usize) -> Option<&mut Self> {
        if !self.called.contains_key(name) {
            *room = room.checked_sub(1)?;
        }
        Some(self.called.entry(name).or_default())
    }

    /// Returns the number of rows that it takes.
    fn depth(&self) -> usize {
        1 + self.called.values().map(Self::depth).max().unwrap_or_default()
    }

    /// Calls a function with it and with all frames above it.
    fn for_each(&self, function: &mut dyn FnMut(&Self)) {
        function(self);
        self.called.values().for_each(|called| called.for_each(function));
    }
}

/// Frames of a stack at most: perf takes 127, a record from elsewhere may have any number.
const FRAMES_MAX: usize = 1000;

/// Frames of a graph at most, for the same reason: they take less than 1 kB of memory each.
const GRAPH_FRAMES_MAX: usize = 200_000;

/// Returns the frames of a stack from the root on, at most [`FRAMES_MAX`]. Of frames without a symbol that follow each other the first counts.
fn frames(stack: &str) -> impl Iterator<Item = &str> {
    let mut before = "";
    stack
        .split(';')
        .filter(move |name| !(*name == std::mem::replace(&mut before, name) && name.starts_with('[')))
        .take(FRAMES_MAX)
}

fn add(to: &mut [u64; 2], samples: [u64; 2]) {
    *to = [to[0].saturating_add(samples[0]), to[1].saturating_add(samples[1])];
}

/// Returns the root of stacks with their samples of each side. Those with most samples come first, as there may be no room for all.
fn root<'a>(stacks: impl Iterator<Item = (&'a str, [u64; 2])>) -> Frame<'a> {
    let mut stacks: Vec<_> = stacks.collect();
    stacks.sort_by_key(|(_, [a, b])| Reverse(a.saturating_add(*b)));
    let (mut root, mut room) = (Frame::default(), GRAPH_FRAMES_MAX);
    for (stack, samples) in stacks {
        root.add(&mut frames(stack), samples, &mut room);
    }
    root
}

/// How frames look.
struct Look<'l> {
    /// The samples that its width shows.
    width: fn(&Frame<'_>) -> u64,
    title: &'l dyn Fn(&str, &Frame<'_>) -> String,
    colour: &'l dyn Fn(&str, &Frame<'_>) -> String,
}

/// Returns the graph of stacks: frames from the root to the leaf, separated by semicolons, and how often each was seen.
#[must_use]
pub(crate) fn graph(stacks: &[(String, u64)], title: &str) -> Drawing {
    let root = root(stacks.iter().map(|(stack, samples)| (stack.as_str(), [*samples, 0])));
    let all = root.samples[0].max(1) as f64;
    let of_frame = |name: &str, frame: &Frame<'_>| {
        let samples = frame.samples[0];
        format!("{name}: {} samples, {:.2} %", count(samples), samples as f64 / all * 100.0)
    };
    let look = Look { width: |frame| frame.samples[0], title: &of_frame, colour: &|name, _| colour(name) };
    drawing(&root, title, &look)
}

/// Returns the graph as the text of a file.
#[must_use]
pub fn svg(stacks: &[(String, u64)], title: &str) -> String {
    graph(stacks, title).text().to_owned()
}

/// Returns the graph of both sides of an experiment: boxes as wide as B's CPU time, red where a function itself takes more of it in
/// a transaction of B than in one of A, blue where less.
#[must_use]
pub(crate) fn difference(record: &AbRecord) -> Drawing {
    let profile = &record.profile;
    let root = root(profile.stacks.iter().map(|AbStack { stack, a, b }| (stack.as_str(), [*a, *b])));
    let [of_a, of_b] = profile.sample_ns();
    let ns = |[a, b]: [u64; 2]| [a as f64 * of_a, b as f64 * of_b];
    let change_ns = |frame: &Frame<'_>| {
        let [a, b] = ns(frame.own);
        b - a
    };
    let mut largest_ns = f64::MIN_POSITIVE;
    root.for_each(&mut |frame| largest_ns = largest_ns.max(change_ns(frame).abs()));
    let of_frame = |name: &str, frame: &Frame<'_>| {
        let words = |samples| {
            let [a, b] = ns(samples).map(us);
            format!("{a} → {b} µs")
        };
        format!("{name}: {} in each transaction, itself {}", words(frame.samples), words(frame.own))
    };
    let of_change = |_: &str, frame: &Frame<'_>| change_colour(change_ns(frame) / largest_ns);
    let title = format!("{}: A vs B, red: more CPU time on B", record.workload);
    drawing(&root, &title, &Look { width: |frame| frame.samples[1], title: &of_frame, colour: &of_change })
}

/// Returns the graph of both sides as the text of a file.
#[must_use]
pub fn difference_svg(record: &AbRecord) -> String {
    difference(record).text().to_owned()
}

fn drawing(root: &Frame<'_>, title: &str, look: &Look<'_>) -> Drawing {
    let height = TOP + ROW * root.depth() as f64;
    let title = escaped(title);
    // A page has colours of its own for the background and the title, of its theme.
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"100%\" font-family=\"monospace\" \
         font-size=\"10\" role=\"img\" aria-label=\"{title}\"><rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>\
         <text x=\"8\" y=\"20\" font-size=\"13\" fill=\"#222222\">{title}</text>\n",
    );
    draw(root, "all", (0.0, height - ROW), (look.width)(root), look, &mut svg);
    svg += "</svg>\n";
    Drawing::new(svg)
}

fn draw(frame: &Frame<'_>, name: &str, (x, y): (f64, f64), all: u64, look: &Look<'_>, svg: &mut String) {
    let width_of = |frame: &Frame<'_>| (look.width)(frame) as f64 / all.max(1) as f64 * WIDTH;
    let width = width_of(frame);
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
        "<g><title>{}</title><rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{:.0}\" fill=\"{}\"/>\
         <text x=\"{:.2}\" y=\"{:.1}\" fill=\"#111111\">{}</text></g>",
        escaped(&(look.title)(name, frame)),
        ROW - 1.0,
        (look.colour)(name, frame),
        x + 3.0,
        y + 11.0,
        escaped(&label)
    );
    let mut left = x;
    for (name, called) in &frame.called {
        draw(called, name, (left, y - ROW), all, look, svg);
        left += width_of(called);
    }
}

/// Returns the colour of a change, -1 to 1 of the largest: blue, then grey, then red.
fn change_colour(share: f64) -> String {
    let hue = if share < 0.0 { 210 } else { 0 };
    // The square root keeps small changes visible; 65 % is light enough for black text.
    let strength = share.abs().min(1.0).sqrt();
    format!("hsl({hue},{:.0}%,{:.0}%)", strength * 85.0, 93.0 - strength * 28.0)
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
    use pgdyno_results::AbProfile;

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
    fn both_sides_are_drawn_by_their_time_in_a_transaction() {
        let mut profile = AbProfile { frequency_hz: 100, ..AbProfile::default() };
        profile.add(0, vec![("postgres;<scan>".to_owned(), 10), ("postgres;sort".to_owned(), 10)], 100.0);
        // Half as many transactions: the scan takes the same time in each, the sort three times as much.
        profile.add(1, vec![("postgres;<scan>".to_owned(), 5), ("postgres;sort".to_owned(), 15)], 50.0);
        let svg = difference_svg(&AbRecord { workload: "mixed".to_owned(), profile, ..AbRecord::default() });
        for part in [
            ">mixed: A vs B, red: more CPU time on B</text>",
            "<title>postgres: 2,000 → 4,000 µs in each transaction, itself 0.000 → 0.000 µs</title>",
            "<title>&lt;scan&gt;: 1,000 → 1,000 µs in each transaction, itself 1,000 → 1,000 µs</title><rect x=\"0.00\" y=\"34.0\" \
             width=\"300.00\" height=\"15\" fill=\"hsl(0,0%,93%)\"/>",
            "<title>sort: 1,000 → 3,000 µs in each transaction, itself 1,000 → 3,000 µs</title><rect x=\"300.00\" y=\"34.0\" \
             width=\"900.00\" height=\"15\" fill=\"hsl(0,85%,65%)\"/>",
        ] {
            assert!(svg.contains(part), "{part} is not in {svg}");
        }
        assert_eq!(change_colour(-1.0), "hsl(210,85%,65%)");
    }

    #[test]
    fn frames_without_a_symbol_that_follow_each_other_are_one() {
        let frames: Vec<_> = frames("postgres;[unknown];[unknown];[libc.so.6];f;f;[unknown]").collect();
        assert_eq!(frames, ["postgres", "[unknown]", "[libc.so.6]", "f", "f", "[unknown]"]);
    }

    #[test]
    fn no_samples_and_deep_stacks_are_drawn_too() {
        assert_eq!(svg(&[], "nothing").matches("<g>").count(), 0);
        let deep = vec![(vec!["f"; 500].join(";"), 1)];
        assert_eq!(svg(&deep, "deep").matches("<g>").count(), 501);
        let endless = vec![(vec!["f"; 200_000].join(";"), 1)];
        assert_eq!(svg(&endless, "endless").matches("<g>").count(), FRAMES_MAX + 1);
    }

    #[test]
    fn of_too_many_frames_those_with_most_samples_are_drawn() {
        let deep = ";f".repeat(FRAMES_MAX - 1);
        let stacks: Vec<_> = (0..300).map(|nth| (format!("p{nth}{deep}"), nth)).collect();
        let root = root(stacks.iter().map(|(stack, samples)| (stack.as_str(), [*samples, 1])));
        let (mut frames, mut own) = (0, [0, 0]);
        root.for_each(&mut |frame| {
            frames += 1;
            add(&mut own, frame.own);
        });
        assert_eq!(frames, GRAPH_FRAMES_MAX + 1);
        assert_eq!((own, root.samples), ([299 * 300 / 2, 300], own));
        assert_eq!((root.called["p299"].depth(), root.called.contains_key("p0")), (FRAMES_MAX, false));
    }
}
