//! Where the clients' time of both sides went: a bar for each, one below the other, with the same colours.

use pgdyno_results::AbTimePart;
use pgdyno_text::brief::percent;

use super::super::markup::Html;
use crate::ab::words::bare;

/// Number of colours of the style.
const COLOURS: usize = 8;

/// Draws the bars. The parts are in one order on both sides: the largest of A first.
pub(super) fn stacks(parts: &[AbTimePart], html: &mut Html) {
    let mut parts: Vec<&AbTimePart> = parts.iter().collect();
    parts.sort_by(|x, y| y.time.a_share.total_cmp(&x.time.a_share).then(y.time.b_share.total_cmp(&x.time.b_share)));
    html.raw("<figure><div class=\"stacks\">\n");
    for (name, of) in [("A", a_share as fn(&AbTimePart) -> f64), ("B", b_share)] {
        let words: Vec<_> = parts.iter().map(|part| format!("{} {}", bare(&part.time), percent(of(part)))).collect();
        html.raw("<b>").raw(name).raw("</b><svg class=\"shares\" role=\"img\" aria-label=\"");
        html.text(&format!("{name}: {}", words.join(", ")));
        html.raw("\"><rect class=\"idle\" width=\"100%\" height=\"100%\"/>");
        let mut from = 0.0;
        for (nth, part) in parts.iter().enumerate() {
            let share = of(part);
            html.raw("<rect height=\"100%\" fill=\"").text(&colour(nth)).raw("\" x=\"").text(&width(from));
            html.raw("\" width=\"").text(&width(share)).raw("\"><title>").text(&words[nth]).raw("</title></rect>");
            from += share;
        }
        html.raw("</svg>\n");
    }
    html.raw("</div><ul class=\"keys\">");
    for (nth, part) in parts.iter().enumerate() {
        html.raw("<li><svg class=\"key\" aria-hidden=\"true\"><rect width=\"100%\" height=\"100%\" fill=\"");
        html.text(&colour(nth)).raw("\"/></svg>").text(bare(&part.time));
        html.text(&format!(" {} → {}", percent(part.time.a_share), percent(part.time.b_share))).raw("</li>");
    }
    html.raw("</ul></figure>\n");
}

fn a_share(part: &AbTimePart) -> f64 {
    part.time.a_share
}

fn b_share(part: &AbTimePart) -> f64 {
    part.time.b_share
}

fn width(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}

fn colour(nth: usize) -> String {
    format!("var(--c{})", nth % COLOURS)
}

#[cfg(test)]
mod tests {
    use pgdyno_results::AbTime;

    use super::*;

    #[test]
    fn a_part_has_one_place_and_one_colour_on_both_sides() {
        let part = |name: &str, a_share, b_share| AbTimePart {
            time: AbTime { name: name.to_owned(), a_share, b_share, ..AbTime::default() },
            ..AbTimePart::default()
        };
        let mut html = Html::default();
        stacks(&[part("CPU", 0.25, 1.0), part("<WAL>", 0.75, 0.0)], &mut html);
        let page = html.into_string();
        let bar = |nth: usize| page.split("class=\"shares\"").nth(nth).unwrap();
        assert!(bar(1).contains("fill=\"var(--c1)\" x=\"75.00%\" width=\"25.00%\"><title>CPU 25 %"), "{page}");
        assert!(bar(2).contains("fill=\"var(--c1)\" x=\"0.00%\" width=\"100.00%\"><title>CPU 100 %"), "{page}");
        assert!(page.contains("&lt;WAL&gt; 75 % → 0.0 %") && !page.contains("<WAL>"), "{page}");
    }
}
