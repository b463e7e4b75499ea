//! The picture of a change: a dot, and its interval as a bar, on a line whose middle is no change.

use super::markup::Html;

/// The picture reaches at most so far from no change, as a ratio.
const RATIO_MAX: f64 = 20.0;

/// It reaches at least so far: changes of a tenth of a percent are not to look like much.
const RATIO_MIN: f64 = 1.02;

/// The width that several pictures share, on logarithms: half and twice are as far from no change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    reach: f64,
}

impl Scale {
    /// Returns the scale for these ratios.
    pub(super) fn of(ratios: impl Iterator<Item = f64>) -> Self {
        let known = ratios.filter(|ratio| *ratio > 0.0 && ratio.is_finite());
        let reach = known.map(|ratio| ratio.ln().abs()).fold(RATIO_MIN.ln(), f64::max);
        Self { reach: reach.min(RATIO_MAX.ln()) }
    }

    /// Returns the changes at its ends: `-50 %` and `+100 %`.
    pub(super) fn ends(self) -> [String; 2] {
        [-self.reach, self.reach].map(|end| format!("{:+.0} %", (end.exp() - 1.0) * 100.0))
    }

    /// Draws a ratio with its interval, if it has one. `tone` is `faster`, `slower` or `open`.
    pub(super) fn draw(self, tone: &'static str, ratio: f64, interval: Option<[f64; 2]>, html: &mut Html) {
        let place = |ratio: f64| 50.0 + (ratio.max(f64::MIN_POSITIVE).ln() / self.reach).clamp(-1.0, 1.0) * 48.0;
        html.raw("<svg class=\"change ").raw(tone).raw("\" aria-hidden=\"true\">");
        html.raw("<rect class=\"rail\" x=\"0\" y=\"8\" width=\"100%\" height=\"2\"/><rect class=\"none\" x=\"50%\" y=\"1\" width=\"1\" height=\"16\"/>");
        if let Some([low, high]) = interval.map(|ends| ends.map(place)) {
            html.raw("<rect class=\"reach\" y=\"5\" height=\"8\" rx=\"3\" x=\"").text(&format!("{low:.2}%"));
            html.raw("\" width=\"").text(&format!("{:.2}%", (high - low).max(0.6))).raw("\"/>");
        }
        html.raw("<circle cy=\"9\" r=\"3.5\" cx=\"").text(&format!("{:.2}%", place(ratio))).raw("\"/></svg>");
    }
}
