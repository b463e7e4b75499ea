//! Bars of shares of a whole, with a key. A thing has the same colour wherever it is drawn.

use super::chart::Ink;
use super::markup::Html;

/// How much of its colour each shade has, as in the charts.
const OPACITIES: [&str; 4] = ["1", "0.68", "0.42", "0.26"];

/// A share of the whole.
#[derive(Debug)]
pub(super) struct Share {
    /// What it is, with its figure.
    pub(super) words: String,
    /// Its part of the bar, 0 to 1.
    pub(super) share: f64,
    /// Its colour.
    pub(super) ink: Ink,
}

/// Returns the colour of a part of the clients' time, by its name in records: that of its waits in the chart of waits.
pub(super) fn of_time_part(name: &str) -> Ink {
    match name.strip_prefix("server: ").unwrap_or(name) {
        "driver" => Ink("c6", 0),
        "script" => Ink("c6", 1),
        "waiting for a client or connection" => Ink("c6", 2),
        "opening connections" => Ink("c6", 3),
        "on a CPU or queued for one" => Ink("tcpu", 0),
        "WAL flush" => Ink("twal", 0),
        "WAL buffers" => Ink("twal", 1),
        "row locks" => Ink("tlock", 0),
        "other locks" => Ink("tlock", 1),
        "internal locks" => Ink("tlwlock", 0),
        "extending tables" => Ink("tlwlock", 1),
        "transaction states (SLRU)" => Ink("tlwlock", 2),
        "reading blocks" => Ink("tio", 0),
        "writing blocks" => Ink("tio", 1),
        "temporary files" => Ink("tio", 2),
        "standby" => Ink("tipc", 0),
        "waiting for other nodes" => Ink("tipc", 1),
        "waiting for the client" => Ink("tclient", 0),
        "other waits" => Ink("text", 0),
        _ => Ink("trest", 0),
    }
}

/// Draws the bar. `name` is what its words begin with for those who do not see it.
pub(super) fn bar(name: &str, shares: &[Share], html: &mut Html) {
    let words: Vec<&str> = shares.iter().map(|share| share.words.as_str()).collect();
    html.raw("<svg class=\"shares\" role=\"img\" aria-label=\"").text(name).text(&words.join(", "));
    html.raw("\"><rect class=\"idle\" width=\"100%\" height=\"100%\"/>");
    let mut from = 0.0;
    for Share { words, share, ink } in shares {
        html.raw("<rect height=\"100%\"");
        fill(*ink, html);
        html.raw(" x=\"").text(&width(from)).raw("\" width=\"").text(&width(*share));
        html.raw("\"><title>").text(words).raw("</title></rect>");
        from += share;
    }
    html.raw("</svg>");
}

/// Lists what the colours mean.
pub(super) fn keys(shares: &[Share], html: &mut Html) {
    html.raw("<ul class=\"keys\">");
    for share in shares {
        html.raw("<li><svg class=\"key\" aria-hidden=\"true\"><rect width=\"100%\" height=\"100%\"");
        fill(share.ink, html);
        html.raw("/></svg>").text(&share.words).raw("</li>");
    }
    html.raw("</ul>");
}

fn fill(Ink(name, shade): Ink, html: &mut Html) {
    html.raw(" fill=\"var(--").text(name).raw(")\" fill-opacity=\"").text(OPACITIES[shade.min(OPACITIES.len() - 1)]);
    html.raw("\"");
}

fn width(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}
