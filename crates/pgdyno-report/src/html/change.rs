//! The picture of a change: a dot, and its interval as a bar, on a line whose middle is no change.

use super::markup::Html;

/// The picture reaches at most so far from no change, as a share.
const REACH_MAX: f64 = 1.0;

/// It reaches at least so far: changes of a tenth of a percent are not to look like much.
const REACH_MIN: f64 = 0.02;

/// The width that several pictures share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    reach: f64,
}

impl Scale {
    /// Returns the scale for these ratios.
    pub(super) fn of(ratios: impl Iterator<Item = f64>) -> Self {
        let known = ratios.filter(|ratio| *ratio > 0.0 && ratio.is_finite());
        Self { reach: known.map(|ratio| (ratio - 1.0).abs()).fold(REACH_MIN, f64::max).min(REACH_MAX) }
    }

    /// Returns the changes at its ends: `-20 %` and `+20 %`.
    pub(super) fn ends(self) -> [String; 2] {
        [-self.reach, self.reach].map(|end| format!("{:+.0} %", end * 100.0))
    }

    /// Draws a ratio with its interval, if it has one. `tone` is `faster`, `slower` or `open`.
    pub(super) fn draw(self, tone: &'static str, ratio: f64, interval: Option<[f64; 2]>, html: &mut Html) {
        let place = |ratio: f64| 50.0 + ((ratio - 1.0) / self.reach).clamp(-1.0, 1.0) * 48.0;
        html.raw("<svg class=\"change ").raw(tone).raw("\" aria-hidden=\"true\">");
        html.raw("<rect class=\"rail\" x=\"0\" y=\"8\" width=\"100%\" height=\"2\"/><rect class=\"none\" x=\"50%\" y=\"1\" width=\"1\" height=\"16\"/>");
        if let Some([low, high]) = interval.map(|ends| ends.map(place)) {
            html.raw("<rect class=\"reach\" y=\"5\" height=\"8\" rx=\"3\" x=\"").text(&format!("{low:.2}%"));
            html.raw("\" width=\"").text(&format!("{:.2}%", (high - low).max(0.6))).raw("\"/>");
        }
        html.raw("<circle cy=\"9\" r=\"3.5\" cx=\"").text(&format!("{:.2}%", place(ratio))).raw("\"/></svg>");
    }
}
