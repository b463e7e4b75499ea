//! Any bytes as a request to `pgdyno serve`: method, target and hosts, one a line.

use std::cell::OnceCell;
use std::fs;
use std::path::Path;

use pgdyno_report::html::{self, Link};
use pgdyno_results::Timeline;
use pgdyno_serve::fuzzing::Served;
use pgdyno_serve::{NoComparison, Pages, ServedRun};

const PORT: u16 = 8432;
const RECORD: &str = include_str!("../../../fixtures/runs/v1/run.json");
const ID: &str = "20260101T000000Z-tpcb-like-aaaaaa";
/// Content of files beside the results directory.
const SECRET: &str = "nobody-may-read-this";

struct Reports;

impl Pages for Reports {
    fn report(&self, _: &Path, run: ServedRun, _: &[Link]) -> Result<Vec<u8>, String> {
        let mut page = Vec::new();
        let timeline = Timeline::of_record(&run.record);
        html::write(&[html::ReportRun::new(run.record, timeline)], &mut page).map_err(|e| e.to_string())?;
        Ok(page)
    }

    fn compare(&self, _: &Path, _: Vec<ServedRun>, _: Vec<ServedRun>) -> Result<Vec<u8>, NoComparison> {
        Err(NoComparison::Unfit("not here".to_owned()))
    }
}

/// A results directory with a run, and beside it a file that must not be served.
fn served() -> (tempfile::TempDir, Served) {
    let place = tempfile::tempdir().expect("a temporary directory can be made");
    let results = place.path().join("results");
    let run = results.join(ID);
    let made = fs::create_dir_all(&run)
        .and_then(|()| fs::write(run.join("run.json"), RECORD))
        .and_then(|()| fs::write(place.path().join("secret"), SECRET))
        .and_then(|()| fs::create_dir(place.path().join(ID)))
        .and_then(|()| fs::write(place.path().join(ID).join("run.json"), SECRET));
    made.expect("files can be made in a temporary directory");
    let served = Served::new(results, Box::new(Reports), PORT);
    (place, served)
}

thread_local! {
    static SERVED: OnceCell<(tempfile::TempDir, Served)> = const { OnceCell::new() };
}

pub(crate) fn run(input: &[u8]) {
    let mut lines = input.split(|byte| *byte == b'\n');
    let mut text = || std::str::from_utf8(lines.next()?).ok();
    let (Some(method), Some(target)) = (text(), text()) else { return };
    let hosts: Vec<&[u8]> = lines.collect();
    SERVED.with(|served| {
        let (_, served) = served.get_or_init(self::served);
        let Some((status, body)) = served.answer(method, target, &hosts) else { return };
        assert!([200, 400, 403, 404, 405, 422].contains(&status), "{status}: {}", String::from_utf8_lossy(&body));
        assert!(!body.is_empty());
        let shown = String::from_utf8_lossy(&body);
        assert!(!shown.contains(SECRET), "a file beside the results");
        let ours = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{name}:{PORT}"));
        let is_ours = |host: &[u8]| ours.iter().any(|ours| ours.as_bytes().eq_ignore_ascii_case(host));
        if hosts.len() != 1 || !is_ours(hosts[0]) {
            assert!([403, 405].contains(&status), "{status} for a host that is not ours");
        }
        // Text of a request is never markup on a page.
        assert!(status == 200 || !shown.contains("<b onclick"));
    });
}
