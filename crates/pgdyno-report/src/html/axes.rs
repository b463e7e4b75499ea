//! Lines and labels of the drawings: places from left to right in percent, from top to bottom in pixels.

use super::markup::Html;

/// Draws a line.
pub(super) fn line(class: &'static str, from: (f64, f64), to: (f64, f64), html: &mut Html) {
    html.raw("<line class=\"").raw(class).raw("\" x1=\"").text(&format!("{:.2}%", from.0)).raw("\" y1=\"");
    html.text(&format!("{:.1}", from.1)).raw("\" x2=\"").text(&format!("{:.2}%", to.0)).raw("\" y2=\"");
    html.text(&format!("{:.1}", to.1)).raw("\"/>\n");
}

/// Writes a label.
pub(super) fn label(anchor: &'static str, at: (f64, f64), text: &str, html: &mut Html) {
    html.raw("<text text-anchor=\"").raw(anchor).raw("\" x=\"").text(&format!("{:.2}%", at.0)).raw("\" y=\"");
    html.text(&format!("{:.1}", at.1)).raw("\">").text(text).raw("</text>\n");
}
