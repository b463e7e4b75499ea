//! The course of an outage: commits, failures, latencies and the gaps of the clients over one axis of time, with its phases.

use pgdyno_results::{LedgerRecord, OutageCourseRecord, OutageRecord};
use pgdyno_text::units::{count, duration};

use super::markup::Html;

/// Width of the drawing, and the part of it with the axis of time.
const WIDTH: f64 = 1000.0;
const LEFT: f64 = 92.0;
const RIGHT: f64 = 990.0;
/// Height of the names of the phases, and of the panels.
const NAMES: f64 = 34.0;
const COMMITS: f64 = 96.0;
const FAILURES: f64 = 56.0;
const LATENCIES: f64 = 72.0;
const CLIENTS: f64 = 150.0;
/// The distance of two clients' lines, at most.
const CLIENT: f64 = 9.0;
/// Space between panels.
const SPACE: f64 = 14.0;
/// Width of a letter.
const LETTER: f64 = 6.2;
/// Colours of the classes of failures.
const CLASSES: [&str; 6] = ["class0", "class1", "class2", "class3", "class4", "class5"];

/// A phase of an outage, in seconds since the first transaction.
#[derive(Clone, Debug, PartialEq)]
struct OutagePhase {
    name: &'static str,
    /// What is drawn behind it.
    shade: &'static str,
    from_s: f64,
    until_s: f64,
}

/// Draws the course, if there was an outage.
pub(super) fn outage(ledger: &LedgerRecord, html: &mut Html) {
    let (Some(course), Some(from_s)) = (&ledger.outage.course, ledger.outage.outage_from_s) else { return };
    if course.acknowledged.is_empty() || course.step_s <= 0.0 {
        return;
    }
    let phases = phases(&ledger.outage, course, from_s);
    let axis = TimeAxis { from_s: course.from_s, until_s: until_s(course), zero_s: from_s };
    let clients = (course.clients.len() as f64 * CLIENT).clamp(CLIENT, CLIENTS);
    let height = NAMES + COMMITS + FAILURES + LATENCIES + clients + 4.0 * SPACE + 22.0;
    html.raw("<figure class=\"outage\"><figcaption><h3>The outage, step by step</h3></figcaption>\n");
    keys(course, &phases, html);
    html.raw("<svg role=\"img\" viewBox=\"0 0 1000 ").text(&figure(height)).raw("\" aria-label=\"");
    html.text(&phases.iter().map(words).collect::<Vec<_>>().join(", ")).raw("\">\n");
    let mut top = NAMES;
    let bottom = height - 22.0;
    for phase in &phases {
        phase_band(&axis, phase, bottom, html);
    }
    commits(&axis, course, top, html);
    top += COMMITS + SPACE;
    failures(&axis, course, top, html);
    top += FAILURES + SPACE;
    latencies(&axis, course, top, html);
    top += LATENCIES + SPACE;
    client_gaps(&axis, course, (top, clients), html);
    ticks(&axis, bottom, html);
    html.raw("</svg>\n<p class=\"note\">Time counts from the last commit before the outage. Each step is ");
    html.text(&duration(course.step_s))
        .raw("; a bar of a client reaches from its last commit before to its first after.</p></figure>\n");
}

/// The axis of time.
struct TimeAxis {
    from_s: f64,
    until_s: f64,
    /// The moment that is shown as 0.
    zero_s: f64,
}

impl TimeAxis {
    fn x(&self, at_s: f64) -> f64 {
        let share = (at_s - self.from_s) / (self.until_s - self.from_s).max(1e-9);
        LEFT + (RIGHT - LEFT) * share.clamp(0.0, 1.0)
    }
}

fn until_s(course: &OutageCourseRecord) -> f64 {
    course.from_s + course.step_s * course.acknowledged.len() as f64
}

/// Returns the phases, in their order; those without length are left out.
fn phases(outage: &OutageRecord, course: &OutageCourseRecord, from_s: f64) -> Vec<OutagePhase> {
    let end_s = until_s(course);
    let back_s = (from_s + outage.outage_s.unwrap_or_default()).min(end_s);
    // Clients that never returned do not prolong the reconnecting of the others.
    let last_s =
        course.clients.iter().map(|client| client.until_s).filter(|until_s| *until_s < end_s).fold(back_s, f64::max);
    let recovered_s = outage.recovery_s.map_or(end_s, |recovery_s| (from_s + recovery_s).min(end_s)).max(back_s);
    let connected_s = last_s.min(recovered_s);
    let spans = [
        ("before", "plain", course.from_s, from_s),
        ("no commits", "none", from_s, back_s),
        ("reconnecting", "some", back_s, connected_s),
        ("recovering to 90 %", "most", connected_s, recovered_s),
        ("after", "plain", recovered_s, end_s),
    ];
    let phase = |(name, shade, from_s, until_s)| OutagePhase { name, shade, from_s, until_s };
    spans.into_iter().map(phase).filter(|phase| phase.until_s - phase.from_s > 1e-6).collect()
}

fn words(phase: &OutagePhase) -> String {
    format!("{} {}", phase.name, duration(phase.until_s - phase.from_s))
}

/// Draws a phase behind all panels, with its name where there is room.
fn phase_band(axis: &TimeAxis, phase: &OutagePhase, bottom: f64, html: &mut Html) {
    let (left, right) = (axis.x(phase.from_s), axis.x(phase.until_s));
    let area = Area { x: left, y: NAMES - 6.0, width: right - left, height: bottom - NAMES + 6.0 };
    html.raw("<g>");
    rect(phase.shade, &area, html);
    html.raw("<title>").text(&words(phase)).raw("</title></g>");
    let middle = (left + right) / 2.0;
    if phase.name.len() as f64 * LETTER < right - left {
        label("middle", (middle, 12.0), phase.name, html);
        label("middle", (middle, 25.0), &duration(phase.until_s - phase.from_s), html);
    }
}

/// Draws the commits a second.
fn commits(axis: &TimeAxis, course: &OutageCourseRecord, top: f64, html: &mut Html) {
    let most = course.acknowledged.iter().max().copied().unwrap_or_default().max(1) as f64;
    panel("commits/s", &count((most / course.step_s).round() as u64), (top, COMMITS), html);
    for (step, number) in course.acknowledged.iter().enumerate().filter(|(_, number)| **number > 0) {
        let height = COMMITS * *number as f64 / most;
        rect("commits", &of_step(axis, course, step, (top + COMMITS - height, height)), html);
    }
}

/// Draws the failures a second, those of one class above those of another.
fn failures(axis: &TimeAxis, course: &OutageCourseRecord, top: f64, html: &mut Html) {
    let steps = course.acknowledged.len();
    let at = |step: usize| course.failures.iter().map(move |of| of.counts.get(step).copied().unwrap_or_default());
    let most = (0..steps).map(|step| at(step).sum::<u64>()).max().unwrap_or_default();
    panel("failures", &count(most), (top, FAILURES), html);
    for step in 0..steps {
        let mut base = top + FAILURES;
        for (class, number) in at(step).enumerate().filter(|(_, number)| *number > 0) {
            let height = FAILURES * number as f64 / most.max(1) as f64;
            base -= height;
            rect(CLASSES[class.min(CLASSES.len() - 1)], &of_step(axis, course, step, (base, height)), html);
        }
    }
}

/// Draws the latencies, logarithmically.
fn latencies(axis: &TimeAxis, course: &OutageCourseRecord, top: f64, html: &mut Html) {
    let all = || course.latency_ms_p50.iter().chain(&course.latency_ms_max).flatten().copied().filter(|ms| *ms > 0.0);
    let (least, most) = all().fold((f64::MAX, f64::MIN), |(least, most), ms| (ms.min(least), ms.max(most)));
    if least > most {
        return panel("latency", "", (top, LATENCIES), html);
    }
    panel("latency", &duration(most / 1e3), (top, LATENCIES), html);
    label("end", (LEFT - 6.0, top + LATENCIES), &duration(least / 1e3), html);
    let span = (most / least).ln().max(1e-9);
    for (class, values) in [("longest", &course.latency_ms_max), ("median", &course.latency_ms_p50)] {
        for (step, ms) in values.iter().enumerate().filter_map(|(step, ms)| Some((step, ms.filter(|ms| *ms > 0.0)?))) {
            let y = top + LATENCIES - (LATENCIES - 3.0) * (ms / least).ln() / span - 3.0;
            rect(class, &of_step(axis, course, step, (y, 3.0)), html);
        }
    }
}

/// Draws the time for which each client had no commits.
fn client_gaps(axis: &TimeAxis, course: &OutageCourseRecord, (top, height): (f64, f64), html: &mut Html) {
    panel("clients", "", (top, height), html);
    let distance = height / course.clients.len().max(1) as f64;
    for (nth, client) in course.clients.iter().enumerate() {
        let (left, right) = (axis.x(client.from_s), axis.x(client.until_s));
        let thick = (distance * 0.7).max(0.6);
        let line = Area { x: left, y: top + distance * nth as f64, width: (right - left).max(1.0), height: thick };
        html.raw("<g>");
        rect("client", &line, html);
        let without = duration(client.until_s - client.from_s);
        html.raw("<title>").text(&format!("client {}: {without} without commits", client.client)).raw("</title></g>");
    }
}

/// A rectangle.
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// Returns the rectangle of a step.
fn of_step(axis: &TimeAxis, course: &OutageCourseRecord, step: usize, (y, height): (f64, f64)) -> Area {
    let from_s = course.from_s + course.step_s * step as f64;
    let (x, right) = (axis.x(from_s), axis.x(from_s + course.step_s));
    Area { x, y, width: (right - x - 0.6).max(0.6), height }
}

/// Draws the name of a panel, its largest value, and its base.
fn panel(name: &'static str, most: &str, (top, height): (f64, f64), html: &mut Html) {
    label("end", (LEFT - 6.0, top + height / 2.0 + 4.0), name, html);
    if !most.is_empty() {
        label("end", (LEFT - 6.0, top + 9.0), most, html);
    }
    let base = Area { x: LEFT, y: top + height, width: RIGHT - LEFT, height: 1.0 };
    rect("base", &base, html);
}

/// Draws the axis of time.
fn ticks(axis: &TimeAxis, bottom: f64, html: &mut Html) {
    let length = axis.until_s - axis.from_s;
    let raw = length / 8.0;
    let power = 10_f64.powf(raw.log10().floor());
    let every = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|every| *every >= raw);
    let every = every.unwrap_or(raw).max(1e-3);
    let mut at = ((axis.from_s - axis.zero_s) / every).ceil() * every;
    while at <= axis.until_s - axis.zero_s {
        let x = axis.x(axis.zero_s + at);
        rect("base", &Area { x, y: bottom, width: 1.0, height: 4.0 }, html);
        let text = if at.abs() < every / 2.0 { "0 s".to_owned() } else { format!("{:+} s", (at * 1e3).round() / 1e3) };
        label("middle", (x.min(WIDTH - 24.0), bottom + 17.0), &text, html);
        at += every;
    }
}

/// Lists what the colours mean.
fn keys(course: &OutageCourseRecord, phases: &[OutagePhase], html: &mut Html) {
    html.raw("<ul class=\"keys\">");
    let of_failures = course.failures.iter().enumerate().map(|(nth, of)| {
        let number: u64 = of.counts.iter().sum();
        (CLASSES[nth.min(CLASSES.len() - 1)], format!("{} ({})", of.class, count(number)))
    });
    let fixed = [
        ("commits", "commits"),
        ("median", "median latency"),
        ("longest", "longest"),
        ("client", "a client without commits"),
    ];
    let fixed = fixed.map(|(class, words)| (class, words.to_owned()));
    // A short phase has no room for its name.
    let shaded = phases.iter().filter(|phase| phase.shade != "plain").map(|phase| (phase.shade, words(phase)));
    for (class, words) in fixed.into_iter().chain(of_failures).chain(shaded) {
        html.raw("<li><svg class=\"key\" aria-hidden=\"true\"><rect width=\"100%\" height=\"100%\" class=\"")
            .raw(class);
        html.raw("\"/></svg>").text(&words).raw("</li>");
    }
    html.raw("</ul>\n");
}

fn rect(class: &'static str, of: &Area, html: &mut Html) {
    html.raw("<rect class=\"").raw(class).raw("\" x=\"").text(&figure(of.x)).raw("\" y=\"").text(&figure(of.y));
    html.raw("\" width=\"").text(&figure(of.width.max(0.0))).raw("\" height=\"").text(&figure(of.height)).raw("\"/>");
}

fn label(anchor: &'static str, (x, y): (f64, f64), text: &str, html: &mut Html) {
    html.raw("<text text-anchor=\"").raw(anchor).raw("\" x=\"").text(&figure(x)).raw("\" y=\"").text(&figure(y));
    html.raw("\">").text(text).raw("</text>");
}

fn figure(number: f64) -> String {
    format!("{:.1}", if number.is_finite() { number } else { 0.0 })
}

#[cfg(test)]
mod tests {
    use pgdyno_results::{ClientOutageRecord, OutageFailuresRecord};

    use super::*;

    fn with_outage(recovery_s: Option<f64>) -> LedgerRecord {
        let course = OutageCourseRecord {
            from_s: 10.0,
            step_s: 1.0,
            acknowledged: [vec![100; 10], vec![0; 20], vec![50; 4], vec![100; 6]].concat(),
            failures: vec![OutageFailuresRecord {
                class: "failed <b>".to_owned(),
                counts: [vec![0; 10], vec![3; 30]].concat(),
            }],
            latency_ms_p50: [vec![Some(1.0); 10], vec![None; 20], vec![Some(2.0); 10]].concat(),
            latency_ms_max: [vec![Some(4.0); 10], vec![None; 20], vec![Some(900.0); 10]].concat(),
            clients: (0..3)
                .map(|client| ClientOutageRecord { client, from_s: 20.0, until_s: 40.0 + f64::from(client) })
                .collect(),
        };
        let outage = OutageRecord {
            outage_s: Some(20.0),
            outage_from_s: Some(20.0),
            recovery_s,
            is_over: true,
            course: Some(course),
            ..OutageRecord::default()
        };
        LedgerRecord { outage, ..crate::ledger::tests::ledger() }
    }

    #[test]
    fn an_outage_has_phases() {
        let of = |recovery_s| {
            let ledger = with_outage(recovery_s);
            let phases = phases(&ledger.outage, ledger.outage.course.as_ref().unwrap(), 20.0);
            phases.iter().map(words).collect::<Vec<_>>()
        };
        let first = ["before 10 s", "no commits 20 s", "reconnecting 2.0 s"];
        assert_eq!(of(Some(24.0)), [&first[..], &["recovering to 90 % 2.0 s", "after 6.0 s"]].concat());
        assert_eq!(of(None), [&first[..], &["recovering to 90 % 8.0 s"]].concat());
        assert_eq!(of(Some(20.0)), [&first[..2], &["after 10 s"]].concat());
    }

    #[test]
    fn the_course_is_drawn_and_its_texts_are_no_markup() {
        let mut html = Html::default();
        outage(&with_outage(Some(24.0)), &mut html);
        let page = html.into_string();
        for drawn in [
            "no commits</text>",
            "failed &lt;b&gt; (90)",
            "client 2: 22 s without commits",
            "+10 s</text>",
            "0 s</text>",
        ] {
            assert!(page.contains(drawn), "{drawn}: {page}");
        }
        assert!(!page.contains("<b>") && !page.contains("NaN"), "{page}");
        assert_eq!(page.matches("class=\"commits\" x=").count(), 20, "no bar where there are no commits");
        let mut none = Html::default();
        outage(&crate::ledger::tests::ledger(), &mut none);
        assert_eq!(none.into_string(), "");
    }
}
