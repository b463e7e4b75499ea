//! A suite as JUnit's XML, which CI systems show as tests: a test case for each run.

use std::io::{self, Cursor};

use pgdyno_results::RunRecord;
use pgdyno_untrusted::XmlText;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::{SuiteRun, metric};

/// Returns the runs of the execution `name` as JUnit's XML. The class of a test case is its cell; its properties are the run's
/// id, its metric and whether to trust it. A run that has not run yet counts as skipped.
///
/// # Errors
/// Never: it is written into memory.
pub fn junit(name: &str, runs: &[SuiteRun<'_>]) -> io::Result<String> {
    let mut out = Writer::new_with_indent(Cursor::new(Vec::new()), b' ', 2);
    out.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let failed = runs.iter().filter(|run| run.failure.is_some()).count();
    let skipped = runs.iter().filter(|run| run.record.is_none() && run.failure.is_none()).count();
    let counts = [("tests", runs.len()), ("failures", failed), ("skipped", skipped)].map(|(k, n)| (k, n.to_string()));
    let counts = || counts.iter().map(|(key, number)| (*key, number.as_str()));
    out.create_element("testsuites").with_attributes(counts()).write_inner_content(|out| {
        let suite =
            out.create_element("testsuite").with_attribute(("name", plain(name).as_str())).with_attributes(counts());
        suite.write_inner_content(|out| {
            for (nth, run) in runs.iter().enumerate() {
                let repetition = 1 + runs[..nth].iter().filter(|before| before.cell == run.cell).count();
                case(out, run, repetition)?;
            }
            Ok(())
        })?;
        Ok(())
    })?;
    let text = String::from_utf8(out.into_inner().into_inner()).map_err(io::Error::other)?;
    Ok(text + "\n")
}

/// Returns a text without the characters that XML forbids.
fn plain(text: &str) -> String {
    XmlText(text).to_string()
}

type Out = Writer<Cursor<Vec<u8>>>;

fn case(out: &mut Out, run: &SuiteRun<'_>, repetition: usize) -> io::Result<()> {
    let cell = plain(run.cell);
    let name = format!("{cell} #{repetition}");
    let seconds = run.record.and_then(|record| record.summary.as_ref()).map(|summary| summary.duration_s);
    let seconds = seconds.map(|seconds| format!("{seconds:.3}"));
    let case = out
        .create_element("testcase")
        .with_attribute(("classname", cell.as_str()))
        .with_attribute(("name", name.as_str()));
    let case = case.with_attributes(seconds.iter().map(|seconds| ("time", seconds.as_str())));
    case.write_inner_content(|out| {
        if let Some(record) = run.record {
            properties(out, record)?;
        }
        match (run.failure, run.record) {
            (Some(why), _) => {
                let why = plain(why);
                out.create_element("failure")
                    .with_attribute(("message", why.as_str()))
                    .write_text_content(BytesText::new(&why))?;
            }
            (None, None) => {
                out.create_element("skipped").write_empty()?;
            }
            (None, Some(_)) => {}
        }
        Ok(())
    })?;
    Ok(())
}

fn properties(out: &mut Out, record: &RunRecord) -> io::Result<()> {
    let metric = metric(record);
    let mut properties = vec![("run", record.id.clone())];
    properties.extend(metric.value(record).map(|value| (metric.name(), format!("{value:.3}"))));
    if let Some(trust) = &record.trust {
        let words = [trust.degree().name()].into_iter().chain(trust.reasons.iter().map(String::as_str));
        properties.push(("trust", words.collect::<Vec<_>>().join("; ")));
    }
    out.create_element("properties").write_inner_content(|out| {
        for (name, value) in &properties {
            let property = out.create_element("property").with_attribute(("name", *name));
            property.with_attribute(("value", plain(value).as_str())).write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use pgdyno_results::{Summary, Trust, TrustRecord};

    use super::*;

    #[test]
    fn runs_are_test_cases_of_their_cells() {
        let trust = Some(TrustRecord {
            verdict: Trust::WithCare,
            degree: Some(Trust::Fair),
            throughput_error_share: None,
            reasons: vec!["too short".to_owned()],
        });
        let summary = Some(Summary { tps: 123.4, duration_s: 10.0, committed: 1234, ..Summary::default() });
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
        let kept = pgdyno_results::read_record(&fixture).unwrap();
        let record = RunRecord { id: "one".to_owned(), trust, summary, ..kept };
        let run = |record, failure| SuiteRun { cell: "a<b\u{1b}", record, failure };
        let text =
            junit("nightly", &[run(Some(&record), None), run(None, Some("no\u{0} \"connection\"")), run(None, None)]);
        assert_eq!(
            text.unwrap(),
            r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="3" failures="1" skipped="1">
  <testsuite name="nightly" tests="3" failures="1" skipped="1">
    <testcase classname="a&lt;b\u{1b}" name="a&lt;b\u{1b} #1" time="10.000">
      <properties>
        <property name="run" value="one"/>
        <property name="tps" value="123.400"/>
        <property name="trust" value="fair; too short"/>
      </properties>
    </testcase>
    <testcase classname="a&lt;b\u{1b}" name="a&lt;b\u{1b} #2">
      <failure message="no\u{0} &quot;connection&quot;">no\u{0} &quot;connection&quot;</failure>
    </testcase>
    <testcase classname="a&lt;b\u{1b}" name="a&lt;b\u{1b} #3">
      <skipped/>
    </testcase>
  </testsuite>
</testsuites>
"#
        );
    }
}
