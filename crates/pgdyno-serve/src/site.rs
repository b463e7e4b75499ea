//! Maps addresses to pages.

use std::path::PathBuf;

use crate::answer::Answer;
use crate::pages::{self, assets};
use crate::query::{ComparedRuns, HistoryQuery, Query, since};
use crate::run_source::{OpenError, RunSource};
use crate::{NoComparison, Pages, ServedRun};

/// Maximum number of runs in a comparison, baselines and candidates together.
const COMPARED_MAX: usize = 20;

/// All pages.
pub(crate) struct Site {
    store: RunSource,
    pages: Box<dyn Pages>,
    port: u16,
}

impl std::fmt::Debug for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Site").field("store", &self.store).field("port", &self.port).finish_non_exhaustive()
    }
}

type Answered = Result<Answer, Answer>;

impl Site {
    pub(crate) fn new(results: PathBuf, pages: Box<dyn Pages>, port: u16) -> Self {
        Self { store: RunSource::new(results), pages, port }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the page at `path`. Knows only addresses that its own pages link to; none of them needs escapes.
    pub(crate) fn answer(&self, path: &str, query: &str) -> Answer {
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        let answered = match parts[..] {
            [""] => self.list(query),
            ["compare"] => self.compare(query),
            ["history"] => self.history(query),
            ["suites"] => self.suites(),
            ["searches"] => self.searches(),
            ["metrics"] => self.metrics(),
            // As files, pages of runs and of studies link to each other like this.
            ["searches", page] => self.search(page),
            ["experiments"] => self.experiments(),
            ["ab", page] => self.experiment(page),
            ["frontiers"] => self.frontiers(),
            ["frontiers", page] => self.frontier(page),
            ["runs", id] => self.report(id),
            ["runs", id, "live"] => self.watch(id),
            ["runs", id, "live.json"] => self.news(id, query),
            ["assets", name] => assets::find(name).ok_or_else(nothing),
            [id, "report.html"] => self.report(id),
            _ => Err(nothing()),
        };
        let answer = answered.unwrap_or_else(|refusal| refusal);
        match self.pages.notice() {
            Some(notice) => answer.with_notice(&notice),
            None => answer,
        }
    }

    fn list(&self, query: &str) -> Answered {
        let query = Query::parse(query).map_err(|why| Answer::error(400, &why))?;
        let runs = self.store.runs().map_err(failed)?;
        Ok(Answer::page(pages::list(&self.store.place(), &runs, &query)))
    }

    fn history(&self, query: &str) -> Answered {
        let refused = |why: String| Answer::error(400, &why);
        let query = HistoryQuery::parse(query).map_err(refused)?;
        let runs = self.store.runs().map_err(failed)?;
        if query.run.as_ref().is_some_and(|id| runs.iter().all(|run| run.id != *id)) {
            return Err(nothing());
        }
        pages::history(&self.store.place(), &runs, &query).map(Answer::page).map_err(refused)
    }

    fn metrics(&self) -> Answered {
        let runs = self.store.runs().map_err(failed)?;
        let latest = |id: &str| {
            // A run that cannot be opened, or whose files cannot be read, has no figures.
            let run = self.store.open(id).ok()?;
            pages::news::last(&run).ok()
        };
        Ok(Answer::of_kind(pages::metrics::KIND, pages::metrics::metrics(&runs, latest)))
    }

    fn suites(&self) -> Answered {
        let runs = self.store.runs().map_err(failed)?;
        Ok(Answer::page(pages::suites(&runs)))
    }

    fn searches(&self) -> Answered {
        let searches = self.store.searches().map_err(failed)?;
        Ok(Answer::page(pages::searches(&searches)))
    }

    fn search(&self, page: &str) -> Answered {
        let id = page.strip_suffix(".html").unwrap_or(page);
        let searches = self.store.searches().map_err(failed)?;
        let search = searches.iter().flatten().find(|search| search.id == id).ok_or_else(nothing)?;
        Ok(Answer::page(pages::search(search)))
    }

    fn experiments(&self) -> Answered {
        let experiments = self.store.experiments().map_err(failed)?;
        Ok(Answer::page(pages::experiments(&experiments)))
    }

    fn experiment(&self, page: &str) -> Answered {
        let id = page.strip_suffix(".html").ok_or_else(nothing)?;
        let experiments = self.store.experiments().map_err(failed)?;
        let found = experiments.iter().flatten().find(|experiment| experiment.id == id).ok_or_else(nothing)?;
        Ok(Answer::page(pages::experiment(found)))
    }

    fn frontiers(&self) -> Answered {
        let frontiers = self.store.frontiers().map_err(failed)?;
        Ok(Answer::page(pages::frontiers(&frontiers)))
    }

    fn frontier(&self, page: &str) -> Answered {
        let id = page.strip_suffix(".html").ok_or_else(nothing)?;
        let frontiers = self.store.frontiers().map_err(failed)?;
        let frontier = frontiers.iter().flatten().find(|frontier| frontier.id == id).ok_or_else(nothing)?;
        Ok(Answer::page(pages::frontier(frontier)))
    }

    /// Opens a run, if it may be read as a whole.
    fn run(&self, id: &str) -> Result<ServedRun, Answer> {
        match self.store.open(id) {
            Ok(run) => Ok(run),
            Err(OpenError::Nothing) => Err(nothing()),
            Err(OpenError::Link(name)) => {
                let why = format!("{id} has something that is no ordinary file, {name}: links are not followed");
                Err(Answer::error(403, &why))
            }
            Err(OpenError::Unreadable(why)) => Err(failed(why)),
        }
    }

    fn report(&self, id: &str) -> Answered {
        let run = self.run(id)?;
        let runs = self.store.runs().map_err(failed)?;
        let links = pages::links(&runs, id);
        self.pages.report(self.store.root(), run, &links).map(Answer::report).map_err(failed)
    }

    fn compare(&self, query: &str) -> Answered {
        let ComparedRuns { base, new } = ComparedRuns::parse(query).map_err(|why| Answer::error(400, &why))?;
        if base.is_empty() || new.is_empty() {
            let why = "choose at least one run as the base, and one to compare with it";
            return Err(Answer::error(400, why));
        }
        if base.len() + new.len() > COMPARED_MAX {
            let why = format!("choose at most {COMPARED_MAX} runs; `pgdyno compare` takes as many as there are");
            return Err(Answer::error(400, &why));
        }
        let side = |ids: Vec<String>| ids.iter().map(|id| self.run(id)).collect::<Result<Vec<_>, _>>();
        let (base, new) = (side(base)?, side(new)?);
        self.pages.compare(self.store.root(), base, new).map(Answer::report).map_err(|why| match why {
            NoComparison::Unfit(why) => Answer::error(422, &why),
            NoComparison::Failed(why) => failed(why),
        })
    }

    fn watch(&self, id: &str) -> Answered {
        let run = self.run(id)?;
        Ok(Answer::page(pages::live::page(&run.record)))
    }

    fn news(&self, id: &str, query: &str) -> Answered {
        let since_s = since(query).map_err(|why| Answer::error(400, &why))?;
        // Checks first whether the run goes on: a run that ends in between then has its final record.
        let goes_on = self.store.goes_on(id);
        let run = self.run(id)?;
        pages::news::news(&run, goes_on, since_s).map(|news| Answer::json(&news)).map_err(failed)
    }
}

fn nothing() -> Answer {
    Answer::error(404, "not found")
}

fn failed(why: impl ToString) -> Answer {
    Answer::error(500, &why.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgdyno_report::html::Link;
    use std::fs;
    use std::path::Path;

    /// Renders its arguments.
    struct FixedPages;

    impl Pages for FixedPages {
        fn report(&self, _: &Path, run: ServedRun, links: &[Link]) -> Result<Vec<u8>, String> {
            let links: Vec<_> = links.iter().map(|link| link.address.as_str()).collect();
            Ok(format!("report of {}: {}", run.record.id, links.join(" ")).into_bytes())
        }

        fn compare(&self, _: &Path, base: Vec<ServedRun>, new: Vec<ServedRun>) -> Result<Vec<u8>, NoComparison> {
            let ids = |runs: Vec<ServedRun>| runs.into_iter().map(|run| run.record.id).collect::<Vec<_>>().join("+");
            Ok(format!("{} vs {}", ids(new), ids(base)).into_bytes())
        }
    }

    /// Returns a site with three runs: different workloads and figures, one without figures.
    fn site() -> (tempfile::TempDir, Site) {
        let home = tempfile::tempdir().unwrap();
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/runs/v1/run.json");
        let text = fs::read_to_string(fixture).unwrap();
        for (id, workload, tps) in
            [("1-a", "tproc-c", Some(900.0)), ("2-b", "<b>&'\"", Some(1000.0)), ("3-c", "noop", None)]
        {
            let mut record: serde_json::Value = serde_json::from_str(&text).unwrap();
            record["started_at"] = format!("2026-01-0{}T00:00:00Z", &id[..1]).into();
            record["plan"]["workload"] = workload.into();
            match tps {
                Some(tps) => record["summary"]["tps"] = tps.into(),
                None => record["summary"] = serde_json::Value::Null,
            }
            fs::create_dir(home.path().join(id)).unwrap();
            fs::write(home.path().join(id).join("run.json"), record.to_string()).unwrap();
        }
        let site = Site::new(home.path().to_owned(), Box::new(FixedPages), 8432);
        (home, site)
    }

    /// Returns the runs of a list, in its order.
    fn listed(site: &Site, query: &str) -> Vec<String> {
        let answer = site.answer("/", query);
        assert_eq!(answer.status(), 200, "{query}: {}", answer.text());
        let links = answer.text().split("<a href=\"/runs/").skip(1);
        links.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    }

    #[test]
    fn runs_are_listed_sorted_and_filtered() {
        let (_home, site) = site();
        for (query, expected) in [
            ("", &["3-c", "2-b", "1-a"][..]),
            ("sort=began", &["1-a", "2-b", "3-c"]),
            ("sort=tps", &["1-a", "2-b", "3-c"]),
            ("sort=-tps", &["2-b", "1-a", "3-c"]),
            ("sort=workload", &["2-b", "3-c", "1-a"]),
            ("workload=noop", &["3-c"]),
            ("words=PROC-c", &["1-a"]),
            ("words=2026-01-02", &["2-b"]),
            ("last=1&workload=", &["3-c"]),
            ("since=2026-01-02&sort=tps", &["2-b", "3-c"]),
            ("words=nothing+such", &[]),
        ] {
            assert_eq!(listed(&site, query), expected, "{query}");
        }
        assert!(site.answer("/", "last=1").text().contains("the last 1 of 3 runs"));
        for part in ["class=\"mark is-bad\"", "class=\"mark is-open\"", "aria-label=\"candidate 2-b\""] {
            assert!(site.answer("/", "").text().contains(part), "no {part}");
        }
        assert!(site.answer("/", "words=%22%3E%3Cimg").text().contains("value=\"&quot;&gt;&lt;img\""));
        let page = site.answer("/", "");
        assert!(page.text().contains("&lt;b&gt;&amp;&#39;&quot;") && !page.text().contains("<b>&"));
        assert_eq!(site.answer("/", "stauts=x").status(), 400);
    }

    #[test]
    fn runs_are_reported_and_compared_by_name() {
        let (home, site) = site();
        assert_eq!(site.answer("/runs/1-a", "").text(), "report of 1-a: / /history?run=1-a");
        assert_eq!(site.answer("/compare", "base=1-a&new=2-b&new=3-c").text(), "2-b+3-c vs 1-a");
        let side = "base=1-a&".repeat(COMPARED_MAX);
        let wrong = ["", "base=1-a", "new=1-a", "base=1-a&new=../x", "base=1-a&new=2-b&x=1", &format!("{side}new=2-b")];
        assert_eq!(wrong.map(|query| site.answer("/compare", query).status()), [400, 400, 400, 404, 400, 400]);
        fs::write(home.path().join("1-a/run.json"), "no record").unwrap();
        assert_eq!(site.answer("/runs/1-a", "").status(), 500);
        assert!(site.answer("/", "").text().contains("unreadable: "));
    }

    #[test]
    fn other_addresses_have_nothing() {
        let (home, site) = site();
        fs::write(home.path().join("secret.txt"), "secret").unwrap();
        for path in [
            "",
            "//",
            "/secret.txt",
            "/runs",
            "/runs/",
            "/runs/..",
            "/runs/1-a/run.json",
            "/runs/1-a/",
            "/runs/%31-a",
            "/runs/../secret.txt",
            "/runs/..%2fsecret.txt",
            "/assets/",
            "/assets/../Cargo.toml",
            "/live",
            "/runs/1-a/live/",
            "/searches/x",
            "/ab/x",
            "/ab/x.html",
            "/frontiers/x",
            "/frontiers/x.html",
            "/frontiers/report.html",
            "/x/report.html",
            "*",
        ] {
            assert_eq!(site.answer(path, "").status(), 404, "{path}");
        }
        for path in [
            "/runs/1-a/live",
            "/runs/1-a/live.json",
            "/history",
            "/suites",
            "/searches",
            "/experiments",
            "/frontiers",
            "/1-a/report.html",
            "/assets/live.js",
        ] {
            assert_eq!(site.answer(path, "").status(), 200, "{path}");
        }
    }

    #[test]
    fn a_history_is_of_the_runs_that_are_asked_for() {
        let (home, site) = site();
        let text = fs::read_to_string(home.path().join("1-a/run.json")).unwrap();
        for nth in 0..20 {
            let mut record: serde_json::Value = serde_json::from_str(&text).unwrap();
            record["id"] = format!("9-h{nth:02}").into();
            record["started_at"] = format!("2026-03-{:02}T00:00:00Z", nth + 1).into();
            record["labels"] = serde_json::json!({ "commit": format!("<c{nth}>") });
            let level = if nth < 12 { 1000.0 } else { 900.0 };
            record["summary"]["nopm"] = (level + f64::from(nth * 7 % 5)).into();
            record["status"] = "complete".into();
            fs::create_dir(home.path().join(format!("9-h{nth:02}"))).unwrap();
            fs::write(home.path().join(format!("9-h{nth:02}/run.json")), record.to_string()).unwrap();
        }
        let page = site.answer("/history", "run=9-h03");
        assert_eq!(page.status(), 200, "{}", page.text());
        for part in
            ["slower by ", "since commit &lt;c12&gt;, 7 runs ago", "class=\"change slower\"", "href=\"/runs/9-h12\""]
        {
            assert!(page.text().contains(part), "no {part} in {}", page.text());
        }
        assert!(page.text().contains("/compare?base=9-h02&amp;base=9-h03"), "{}", page.text());
        assert!(!page.text().contains("<c12>") && page.text().matches("<circle").count() == 22);
        assert!(site.answer("/history", "since=2026-03-16").text().contains("cannot tell"));
        assert!(site.answer("/history", "workload=none").text().contains("no run has a place in a history"));
        let list = site.answer("/", "");
        assert!(list.text().contains("href=\"/history?run=9-h03\""));
        let trend = "class=\"trend\" href=\"/history?run=9-h19\"";
        assert!(list.text().contains(trend) && list.text().contains("slower by 10."), "{}", list.text());
        assert!(site.answer("/runs/9-h03", "").text().ends_with("/compare?base=9-h02&new=9-h03"));
        let wrong = ["run=9-h99", "metric=speed", "stauts=x"];
        assert_eq!(wrong.map(|query| site.answer("/history", query).status()), [404, 400, 400]);
    }

    #[test]
    fn frontiers_are_found_and_link_to_their_runs() {
        let (home, site) = site();
        let point = pgdyno_results::FrontierPoint {
            share: 1.0,
            tps: vec![90.0],
            queries_per_hour: vec![0.0],
            runs: vec!["1-a".to_owned()],
            ..pgdyno_results::FrontierPoint::default()
        };
        let frontier = pgdyno_results::FrontierRecord {
            workload: "<ch>".to_owned(),
            points: vec![point],
            ..pgdyno_results::FrontierRecord::default()
        };
        fs::create_dir(home.path().join("frontiers")).unwrap();
        fs::write(home.path().join("frontiers/f.json"), serde_json::to_string(&frontier).unwrap()).unwrap();
        fs::write(home.path().join("frontiers/g.json"), "{}").unwrap();
        let page = site.answer("/frontiers", "");
        assert!(page.text().contains("<a href=\"/frontiers/f.html\">f</a>"), "{}", page.text());
        assert!(page.text().contains("1 of 1") && page.text().contains("unreadable: missing field"), "{}", page.text());
        let page = site.answer("/frontiers/f.html", "");
        assert!(
            page.text().contains("<circle") && page.text().contains("href=\"../1-a/report.html\""),
            "{}",
            page.text()
        );
        assert!(!page.text().contains("<ch>"), "{}", page.text());
    }

    #[test]
    fn an_experiment_has_a_page_and_its_slices_are_not_listed() {
        let (home, site) = site();
        let id = "20260101T000000Z-ab-x-1f";
        let place = |run: &str, place: serde_json::Value| {
            let path = home.path().join(run).join("run.json");
            let mut record: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            record["plan"]["suite"] = place;
            fs::write(&path, record.to_string()).unwrap();
        };
        place("2-b", serde_json::json!({ "suite": "ab", "id": id, "run": "B slice", "repetition": 1 }));
        place("3-c", serde_json::json!({ "suite": "nightly", "id": "x", "run": "B", "repetition": 1 }));
        assert_eq!(listed(&site, ""), ["3-c", "1-a"]);
        assert!(site.answer("/", "").text().contains("1 run of <a href=\"/experiments\">"));
        assert_eq!(listed(&site, "all"), ["3-c", "2-b", "1-a"]);
        assert_eq!(listed(&site, "all&sort=began"), ["1-a", "2-b", "3-c"]);
        assert_eq!(listed(&site, "suite=ab"), ["2-b"]);
        let suites = site.answer("/suites", "");
        assert!(suites.text().contains("nightly") && !suites.text().contains("/?suite=ab"), "{}", suites.text());
        let runs = pgdyno_results::AbRuns { a: vec!["1-a".to_owned()], b: vec!["2-b".to_owned()] };
        let unit = pgdyno_results::AbUnit { log_ratio: 0.1, runs, ..pgdyno_results::AbUnit::default() };
        let record = pgdyno_results::AbRecord {
            workload: "<ab>".to_owned(),
            metric: "tps".to_owned(),
            verdict: pgdyno_results::AbVerdict::Faster,
            change_percent: Some(10.5),
            interval_percent: Some([8.0, 13.0]),
            units: vec![unit],
            ..pgdyno_results::AbRecord::default()
        };
        fs::create_dir(home.path().join("ab")).unwrap();
        fs::write(home.path().join(format!("ab/{id}.json")), serde_json::to_string(&record).unwrap()).unwrap();
        fs::write(home.path().join("ab/g.json"), "{}").unwrap();
        let page = site.answer("/experiments", "");
        for part in [&format!("<a href=\"/ab/{id}.html\">{id}</a>"), "faster", "B +10.5 % TPS", "unreadable: missing"] {
            assert!(page.text().contains(part), "no {part} in {}", page.text());
        }
        let page = site.answer(&format!("/ab/{id}.html"), "");
        for part in
            ["B is 10.5 % faster than A", "<a href=\"../2-b/report.html\">2-b</a>", "aria-current=\"page\">Experiments"]
        {
            assert!(page.text().contains(part), "no {part} in {}", page.text());
        }
        assert!(!page.text().contains("<ab>"));
        for run in ["1-a", "3-c"] {
            fs::remove_dir_all(home.path().join(run)).unwrap();
        }
        let only = site.answer("/", "");
        assert!(only.text().contains("1 run of <a") && !only.text().contains("no runs in"), "{}", only.text());
    }

    #[test]
    fn suites_and_searches_are_found() {
        let (home, site) = site();
        let path = home.path().join("2-b/run.json");
        let mut record: serde_json::Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        record["plan"]["suite"] =
            serde_json::json!({ "suite": "a & b", "id": "x", "run": "clients=8", "repetition": 1 });
        fs::write(&path, record.to_string()).unwrap();
        let page = site.answer("/suites", "");
        assert!(page.text().contains("<a href=\"/?suite=a+%26+b\">a &amp; b</a>"), "{}", page.text());
        assert_eq!(listed(&site, "suite=a+%26+b"), ["2-b"]);
        let began = "2026-01-01T00:00:00Z".parse().unwrap();
        let search = pgdyno_results::SearchRecord::begin("s".into(), began, "noop".into(), "null".into(), "rate");
        fs::create_dir(home.path().join("searches")).unwrap();
        fs::write(home.path().join("searches/s.json"), serde_json::to_string(&search).unwrap()).unwrap();
        fs::write(home.path().join("searches/t.json"), "{}").unwrap();
        let page = site.answer("/searches", "");
        assert!(
            page.text().contains("<a href=\"/searches/s\">s</a>") && page.text().contains("unreadable: missing field")
        );
        assert!(site.answer("/searches/s", "").text().contains("pgdyno searches still, or was killed"));
        assert_eq!(site.answer("/searches/t", "").status(), 404);
    }
}
