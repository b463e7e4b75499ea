//! Parses query strings: the filters of `pgdyno list runs` under their own names, words, and the order.

use form_urlencoded::{Serializer, parse};
use pgdyno_results::table::Selection;
use pgdyno_results::{RunRecord, Status};

use crate::pages::Column;
use crate::run_source::Listed;

/// Default limit of the list of runs.
const LAST: usize = 1000;

/// Names of filters, in the order of the form.
pub(crate) const FILTERS: [&str; 9] =
    ["words", "workload", "recipe", "suite", "target", "status", "since", "label", "last"];

/// A filter of runs, and their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    selection: Selection,
    /// Words that must all occur in the list's text of a run.
    words: Vec<String>,
    last: Option<usize>,
    /// Whether runs of experiments, searches and frontiers are listed, too.
    all: bool,
    /// The column, and whether the least comes first.
    order: Option<(Column, bool)>,
    /// The query as it was written.
    asked: Vec<(String, String)>,
}

impl Query {
    /// Parses a query. A filter without a value is ignored, as an empty field of a form.
    ///
    /// # Errors
    /// A message, when the query has an unknown name or value.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut query = Self::default();
        for (name, value) in parse(text.as_bytes()) {
            let value = value.trim().to_owned();
            if name == "all" {
                // A word without a value: `?all`.
                query.all = true;
            } else if value.is_empty() {
                continue;
            }
            query.add(&name, &value)?;
            query.asked.push((name.into_owned(), value));
        }
        Ok(query)
    }

    fn add(&mut self, name: &str, value: &str) -> Result<(), String> {
        let selection = &mut self.selection;
        let text = || Some(value.to_owned());
        match name {
            "all" => {}
            "words" => self.words.extend(value.split_whitespace().map(str::to_lowercase)),
            "workload" => selection.workload = text(),
            "recipe" => selection.recipe = text(),
            "suite" => selection.suite = text(),
            "target" => selection.target = text(),
            "status" => selection.status = Some(status(value)?),
            "since" => selection.since = Some(Selection::since(value)?),
            "label" => {
                let label =
                    value.split_once('=').ok_or_else(|| format!("write a label as NAME=VALUE, not '{value}'"))?;
                selection.labels.push((label.0.to_owned(), label.1.to_owned()));
            }
            "last" => {
                let last = value.parse().ok().filter(|n| *n > 0);
                self.last = Some(last.ok_or_else(|| format!("'{value}' is no number of runs"))?);
            }
            "sort" => {
                let (column, rising) = value.strip_prefix('-').map_or((value, true), |column| (column, false));
                let column =
                    Column::named(column).ok_or_else(|| format!("there is no column '{column}' to sort by"))?;
                self.order = Some((column, rising));
            }
            _ => return Err(format!("there is no filter '{name}'; there are {}", FILTERS.join(", "))),
        }
        Ok(())
    }

    /// Returns the value of a filter as it was written.
    pub(crate) fn value(&self, name: &str) -> &str {
        let found = self.asked.iter().rev().find(|(asked, _)| asked == name);
        found.map_or("", |(_, value)| value)
    }

    /// Returns true if the query selects all runs.
    pub(crate) fn is_all(&self) -> bool {
        self.selection.is_all() && self.words.is_empty()
    }

    /// Returns true if runs of experiments, searches and frontiers were asked for.
    pub(crate) fn is_of_all(&self) -> bool {
        self.all
    }

    /// Returns true if the list has runs of experiments, searches and frontiers, too: they were asked for, or a suite.
    pub(crate) fn has_parts(&self) -> bool {
        self.all || self.selection.suite.is_some()
    }

    pub(crate) fn order(&self) -> (Column, bool) {
        self.order.unwrap_or((Column::Began, false))
    }

    /// Returns the address of the same query with another value for one name.
    pub(crate) fn with(&self, name: &str, value: &str) -> String {
        let others = self.asked.iter().filter(|(asked, _)| asked != name);
        let mut text = Serializer::for_suffix("/?".to_owned(), 2);
        text.extend_pairs(others).append_pair(name, value);
        text.finish()
    }

    /// Returns the selected runs in their order, and their number without the limit. `runs` is sorted, the latest
    /// first.
    pub(crate) fn select<'a>(&self, runs: &'a [Listed]) -> (Vec<&'a Listed>, usize) {
        let mut selected: Vec<_> = runs.iter().filter(|run| self.admits(run)).collect();
        let all = selected.len();
        selected.truncate(self.last.unwrap_or(LAST));
        let (column, rising) = self.order();
        // A stable sort: the latest one comes first among equals.
        selected.sort_by(|a, b| column.compare(a, b, rising));
        (selected, all)
    }

    fn admits(&self, run: &Listed) -> bool {
        let Ok(record) = &run.record else {
            // A record that cannot be read is selected only if all are.
            return self.selection.is_all() && self.words.iter().all(|word| run.id.to_lowercase().contains(word));
        };
        self.selection.admits(record) && {
            let text = searched_text(run, record);
            self.words.iter().all(|word| text.contains(word))
        }
    }
}

/// Returns the text that the words are searched in.
fn searched_text(run: &Listed, record: &RunRecord) -> String {
    let plan = &record.plan;
    let mut parts: Vec<String> = Column::ALL.iter().map(|column| column.text(run, record)).collect();
    parts.push(run.id.clone());
    parts.extend(plan.recipe.iter().map(|recipe| recipe.name.clone()));
    parts.extend(plan.suite.iter().map(|suite| suite.run.clone()));
    let labels = record.target.iter().flat_map(|target| &target.labels).chain(&record.labels);
    parts.extend(labels.map(|(name, value)| format!("{name}={value}")));
    parts.join(" ").to_lowercase()
}

fn status(word: &str) -> Result<Status, String> {
    let all = [Status::Complete, Status::Interrupted, Status::Invalid, Status::Failed];
    all.into_iter()
        .find(|status| status.name() == word)
        .ok_or_else(|| format!("a run is {}; none is '{word}'", all.map(Status::name).join(", ")))
}

/// The histories that are asked for: the filters of the list, and what a history has beside them.
#[derive(Clone, Debug, Default)]
pub(crate) struct HistoryQuery {
    pub(crate) filters: Query,
    /// Only the series of this run.
    pub(crate) run: Option<String>,
    pub(crate) metric: Option<String>,
    /// The label by which runs are named.
    pub(crate) by: Option<String>,
}

impl HistoryQuery {
    /// # Errors
    /// A message, when the query has an unknown name or value.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut query = Self::default();
        let mut filters = Serializer::new(String::new());
        for (name, value) in parse(text.as_bytes()) {
            let own = match &*name {
                "run" => &mut query.run,
                "metric" => &mut query.metric,
                "by" => &mut query.by,
                _ => {
                    filters.append_pair(&name, &value);
                    continue;
                }
            };
            *own = Some(value.into_owned()).filter(|value| !value.is_empty());
        }
        query.filters = Query::parse(&filters.finish())?;
        Ok(query)
    }
}

/// The runs that were selected for a comparison.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ComparedRuns {
    pub(crate) base: Vec<String>,
    pub(crate) new: Vec<String>,
}

impl ComparedRuns {
    /// # Errors
    /// In words, when it is none of ours.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut selected = Self::default();
        for (name, value) in parse(text.as_bytes()) {
            match &*name {
                "base" => selected.base.push(value.into_owned()),
                "new" => selected.new.push(value.into_owned()),
                _ => return Err(format!("a comparison has runs as base and new, and no '{name}'")),
            }
        }
        Ok(selected)
    }
}

/// Returns the time after which a live page wants data; none if it has no data yet.
///
/// # Errors
/// In words, when it is none of ours.
pub(crate) fn since(text: &str) -> Result<Option<f64>, String> {
    let mut since = None;
    for (name, value) in parse(text.as_bytes()) {
        let number = value.parse::<f64>().ok().filter(|n| n.is_finite() && name == "since");
        since = Some(number.ok_or_else(|| format!("'{name}={value}' is no since=SECONDS"))?);
    }
    Ok(since)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_have_the_names_and_the_values_of_the_command_line() {
        let query =
            Query::parse("workload=tproc-c&status=complete&since=2026-01-31&label=a%3Db%3Dc&recipe=&last=5").unwrap();
        let expected = Selection {
            workload: Some("tproc-c".to_owned()),
            status: Some(Status::Complete),
            since: Selection::since("2026-01-31T00:00:00Z").ok(),
            labels: vec![("a".to_owned(), "b=c".to_owned())],
            ..Selection::default()
        };
        assert_eq!((&query.selection, query.last, query.value("label")), (&expected, Some(5), "a=b=c"));
        assert!(Query::parse("recipe=+&words=").unwrap().is_all());
        let has_parts = ["", "all", "all=&last=3", "suite=x"].map(|query| Query::parse(query).unwrap().has_parts());
        assert_eq!(has_parts, [false, true, true, true]);
        assert_eq!(Query::parse("all").unwrap().with("sort", "tps"), "/?all=&sort=tps");
        for (wrong, words) in [
            ("stauts=complete", "no filter 'stauts'; there are words, workload"),
            ("status=done", "complete, interrupted, invalid, failed; none is 'done'"),
            ("since=yesterday", "2026-01-31"),
            ("label=x", "NAME=VALUE"),
            ("last=0", "'0' is no number"),
            ("sort=-nothing", "no column 'nothing'"),
        ] {
            let error = Query::parse(wrong).unwrap_err();
            assert!(error.contains(words), "{wrong}: {error}");
        }
    }

    #[test]
    fn an_address_keeps_what_was_asked_for() {
        let query = Query::parse("words=a%20%26b&sort=-tps").unwrap();
        assert_eq!(query.with("sort", "tps"), "/?words=a+%26b&sort=tps");
        assert_eq!(Query::default().with("sort", "tps"), "/?sort=tps");
    }

    #[test]
    fn both_sides_of_a_comparison_are_lists() {
        let selected = ComparedRuns::parse("base=a&new=b&new=c").unwrap();
        assert_eq!((selected.base, selected.new), (vec!["a".to_owned()], vec!["b".to_owned(), "c".to_owned()]));
        assert!(ComparedRuns::parse("base=a&other=b").unwrap_err().contains("no 'other'"));
        assert_eq!((since(""), since("since=-5.5")), (Ok(None), Ok(Some(-5.5))));
        assert!(since("since=nan").is_err() && since("x=1").is_err());
    }
}
