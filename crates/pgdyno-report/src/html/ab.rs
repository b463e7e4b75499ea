//! An A/B experiment as a page: the verdict, what it rests on, and each unit. It needs no script.

use std::io::{self, Write};

use pgdyno_results::{AbRecord, AbVerdict};

use super::change::Scale;
use super::head::head;
use super::mark::VerdictMark;
use super::markup::Html;
use super::sentence_case;
use crate::ab::words::{PARTS, Row, figures, lines, parts, sides, verdict};
use crate::compare::words::{share, signed};

/// Writes the page of an experiment.
///
/// # Errors
/// When `out` refuses it.
pub(crate) fn write(record: &AbRecord, out: &mut dyn Write) -> io::Result<()> {
    let mut html = Html::default();
    let title = format!("{}: A vs B", record.workload);
    head(&title, &mut html);
    html.raw("<header><div><p class=\"brand\">pgdyno</p><h1>").text(&title).raw("</h1><p class=\"sub\">");
    html.text(&record.id).raw("</p></div></header>\n<main>\n<section>\n");
    let mark = match record.verdict {
        AbVerdict::Faster => VerdictMark::Faster,
        AbVerdict::Slower => VerdictMark::Slower,
        AbVerdict::NoDifference => VerdictMark::Equal,
        AbVerdict::Undecided => VerdictMark::Unknown,
    };
    html.raw("<div class=\"card trust ").raw(mark.class()).raw("\">\n<p class=\"mark\">");
    mark.draw(&mut html);
    html.raw("<b>").text(&sentence_case(&verdict(record))).raw("</b></p>\n");
    html.list(sides(record).iter().map(String::as_str));
    let sentences: Vec<String> = lines(record).into_iter().map(|(label, line)| labelled(label, &line)).collect();
    html.list(sentences.iter().map(String::as_str)).raw("</div>\n");
    both_sides(record, &mut html);
    units(record, &mut html);
    html.raw("</section>\n</main>\n</body></html>\n");
    out.write_all(html.into_string().as_bytes())
}

/// Returns a sentence with its label, without the marks of code.
fn labelled(label: &str, line: &str) -> String {
    let line = line.replace('`', "");
    if label.is_empty() { sentence_case(&line) } else { format!("{}: {line}", sentence_case(label)) }
}

/// The figures of both sides, and where their clients' time went.
fn both_sides(record: &AbRecord, html: &mut Html) {
    let cells = |rows: Vec<Row>| -> Vec<Vec<String>> {
        rows.into_iter().map(|row| vec![row.name, row.a, row.b, row.change]).collect()
    };
    let columns = [("", false), ("A", true), ("B", true), ("change", false)];
    let (figures, parts) = (cells(figures(record)), cells(parts(record)));
    if !figures.is_empty() {
        html.heading("Both sides").table(&columns, &figures);
    }
    if !parts.is_empty() {
        html.raw("<h3>").text(&sentence_case(PARTS)).raw("</h3>\n").table(&columns, &parts);
    }
}

/// The change and its interval, then each unit, on one scale.
fn units(record: &AbRecord, html: &mut Html) {
    let ratios: Vec<f64> = record.units.iter().map(|unit| unit.log_ratio.exp()).collect();
    let ratio = |percent: f64| 1.0 + percent / 100.0;
    let interval = record.interval_percent.map(|ends| ends.map(ratio));
    let scale = Scale::of(ratios.iter().copied().chain(interval.into_iter().flatten()));
    html.heading("Units");
    html.raw(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table\"><table class=\"changes units\"><thead><tr>",
    );
    html.raw("<th scope=\"col\">unit</th><th class=\"n\" scope=\"col\">change</th><th></th></tr></thead><tbody>\n");
    let mut row = |name: &str, tone, ratio: f64, interval| {
        html.raw("<tr><th scope=\"row\">").text(name).raw("</th><td class=\"n\">").text(&signed(ratio));
        html.raw("</td><td class=\"picture\">");
        scale.draw(tone, ratio, interval, html);
        html.raw("</td></tr>\n");
    };
    if let Some(change) = record.change_percent {
        let tone = match record.verdict {
            AbVerdict::Faster => "faster",
            AbVerdict::Slower => "slower",
            AbVerdict::NoDifference | AbVerdict::Undecided => "open",
        };
        row("all", tone, ratio(change), interval);
    }
    for (nth, ratio) in ratios.iter().enumerate() {
        row(&(nth + 1).to_string(), "open", *ratio, None);
    }
    let [low, high] = scale.ends();
    html.raw("</tbody></table></div>\n<p class=\"note\">");
    html.text(&format!(
        "Middle line: no change. Dots: the change of each unit, and of all. Bar: the {} interval of the change. The scale goes \
         from {low} to {high}.",
        share(record.confidence)
    ));
    html.raw("</p>\n<details><summary>The runs of each unit</summary>\n");
    let runs = record.units.iter().enumerate();
    let runs = runs.map(|(nth, unit)| vec![(nth + 1).to_string(), unit.runs.a.join(" "), unit.runs.b.join(" ")]);
    html.table(&[("unit", false), ("A", false), ("B", false)], &runs.collect::<Vec<_>>()).raw("</details>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_results::{AbRuns, AbUnit};

    #[test]
    fn the_page_has_the_verdict_and_every_unit_and_nothing_of_a_name_is_markup() {
        let unit = |log_ratio, run: &str| {
            let runs = AbRuns { a: vec![run.to_owned()], b: Vec::new() };
            AbUnit { log_ratio, runs, ..AbUnit::default() }
        };
        let record = AbRecord {
            workload: "<b>".to_owned(),
            metric: "tps".to_owned(),
            verdict: AbVerdict::Slower,
            confidence: 0.95,
            change_percent: Some(-5.0),
            interval_percent: Some([-7.0, -3.0]),
            units: vec![unit(-0.05, "run-1"), unit(-0.1, "run-2")],
            ..AbRecord::default()
        };
        let mut page = Vec::new();
        write(&record, &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        assert!(page.contains("B is 5.0 % slower than A") && page.contains("run-2"), "{page}");
        assert!(page.contains("&lt;b&gt;") && !page.contains("<h1><b>"), "{page}");
        assert_eq!((page.matches("<circle cy").count(), page.matches("class=\"reach\"").count()), (3, 1));
        assert!(page.contains("goes from -10 % to +11 %"), "{page}");
    }
}
