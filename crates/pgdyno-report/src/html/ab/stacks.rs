//! Where the clients' time of both sides went: a bar for each, one below the other, with the same colours.

use pgdyno_results::AbTimePart;
use pgdyno_text::brief::percent;

use super::super::markup::Html;
use super::super::share_bar::{Share, bar, keys, of_time_part};
use crate::difference::bare;

/// Draws the bars. The parts are in one order on both sides: the largest of A first.
pub(super) fn stacks(parts: &[AbTimePart], html: &mut Html) {
    let mut parts: Vec<&AbTimePart> = parts.iter().collect();
    parts.sort_by(|x, y| y.time.a_share.total_cmp(&x.time.a_share).then(y.time.b_share.total_cmp(&x.time.b_share)));
    let shares = |words: &dyn Fn(&AbTimePart) -> String, of: fn(&AbTimePart) -> f64| -> Vec<Share> {
        let share = |part: &&AbTimePart| Share {
            words: format!("{} {}", bare(&part.time), words(part)),
            share: of(part),
            ink: of_time_part(&part.time.name),
        };
        parts.iter().map(share).collect()
    };
    html.raw("<figure><div class=\"stacks\">\n");
    for (name, of) in [("A", a_share as fn(&AbTimePart) -> f64), ("B", b_share)] {
        html.raw("<b>").raw(name).raw("</b>");
        bar(&format!("{name}: "), &shares(&|part| percent(of(part)), of), html);
    }
    html.raw("</div>");
    let both = |part: &AbTimePart| format!("{} → {}", percent(part.time.a_share), percent(part.time.b_share));
    keys(&shares(&both, a_share), html);
    html.raw("</figure>\n");
}

fn a_share(part: &AbTimePart) -> f64 {
    part.time.a_share
}

fn b_share(part: &AbTimePart) -> f64 {
    part.time.b_share
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
        stacks(&[part("driver", 0.25, 1.0), part("<WAL>", 0.75, 0.0)], &mut html);
        let page = html.into_string();
        let bar = |nth: usize| page.split("class=\"shares\"").nth(nth).unwrap();
        let driver = |from: &str, width: &str, words: &str| {
            format!("fill=\"var(--c6)\" fill-opacity=\"1\" x=\"{from}\" width=\"{width}\"><title>{words}</title>")
        };
        assert!(bar(1).contains(&driver("75.00%", "25.00%", "driver 25 %")), "{page}");
        assert!(bar(2).contains(&driver("0.00%", "100.00%", "driver 100 %")), "{page}");
        assert!(page.contains("&lt;WAL&gt; 75 % → 0.0 %") && !page.contains("<WAL>"), "{page}");
    }
}
