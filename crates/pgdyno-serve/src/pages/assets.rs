//! Files that pages load: styles, the script of the live page, the icon.

use crate::answer::Answer;

const CSS: &str = "text/css; charset=utf-8";

/// Returns the file of this name.
pub(crate) fn find(name: &str) -> Option<Answer> {
    let (kind, body) = match name {
        "report.css" => (CSS, pgdyno_report::html::STYLE),
        "serve.css" => (CSS, include_str!("../assets/serve.css")),
        "live.js" => ("text/javascript; charset=utf-8", include_str!("../assets/live.js")),
        "icon.svg" => ("image/svg+xml", include_str!("../assets/icon.svg")),
        _ => return None,
    };
    Some(Answer::asset(kind, body))
}
