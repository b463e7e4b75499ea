//! The head of a page: its policy, its style and its script.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::Digest as _;

use super::markup::Html;

/// The style of a page, for other pages with the same look.
pub const STYLE: &str = include_str!("assets/page.css");

/// The script: one scope for all files, which nothing else can access.
pub(super) const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("assets/scale.js"),
    include_str!("assets/units.js"),
    include_str!("assets/frame.js"),
    include_str!("assets/export.js"),
    include_str!("assets/view.js"),
    include_str!("assets/marks.js"),
    include_str!("assets/lines.js"),
    include_str!("assets/paths.js"),
    include_str!("assets/heat.js"),
    include_str!("assets/curve.js"),
    include_str!("assets/growth.js"),
    include_str!("assets/main.js"),
    "})();\n"
);

/// Writes the page of a study: its title, the line `below` it, and what `body` writes.
///
/// # Errors
/// When `out` refuses it.
pub(super) fn study_page(
    title: &str,
    below: &str,
    out: &mut dyn Write,
    body: impl FnOnce(&mut Html),
) -> io::Result<()> {
    let mut html = Html::default();
    head(title, &mut html);
    html.raw("<header><div><p class=\"brand\">pgdyno</p><h1>").text(title).raw("</h1><p class=\"sub\">");
    html.text(below).raw("</p></div></header>\n<main>\n<section>\n");
    body(&mut html);
    html.raw("</section>\n</main>\n</body></html>\n");
    out.write_all(html.into_string().as_bytes())
}

pub(super) fn head(title: &str, html: &mut Html) {
    html.raw("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n");
    html.raw("<meta http-equiv=\"Content-Security-Policy\" content=\"").text(&policy()).raw("\">\n");
    html.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.raw("<meta name=\"color-scheme\" content=\"light dark\">\n<title>").text(title).raw(" – pgdyno</title>\n");
    html.raw("<style>").raw(STYLE).raw("</style></head>\n<body>\n");
}

/// Returns the page's policy: no request, no script and no style but its own; pictures only as data, for the export of
/// charts.
#[must_use]
pub fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(sha2::Sha256::digest(text));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; \
         form-action 'none'",
        hash(SCRIPT),
        hash(STYLE)
    )
}
