//! What stands behind the question mark: the filters of `pgdyno list runs` under their own names, words, and the order.

use form_urlencoded::{Serializer, parse};
use pgdyno_results::table::Selection;
use pgdyno_results::{RunRecord, Status};

use crate::pages::Column;
use crate::store::Listed;

/// Runs that a list shows where nobody asks for another number.
const LAST: usize = 1000;

/// Names of filters, in the order of the form.
pub(crate) const FILTERS: [&str; 9] =
    ["words", "workload", "recipe", "suite", "target", "status", "since", "label", "last"];

/// Which runs, and in which order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    selection: Selection,
    /// Each is to be somewhere in what the list says of a run.
    words: Vec<String>,
    last: Option<usize>,
    /// The column, and whether its least comes first.
    order: Option<(Column, bool)>,
    /// What was asked for, as it was written.
    asked: Vec<(String, String)>,
}

impl Query {
    /// What the text asks for. A filter without a value asks for nothing, as an empty field of a form.
    ///
    /// # Errors
    /// In words, when it is none of ours.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut query = Self::default();
        for (name, value) in parse(text.as_bytes()) {
            let value = value.trim().to_owned();
            if value.is_empty() {
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

    /// The value of a filter as it was written.
    pub(crate) fn value(&self, name: &str) -> &str {
        let found = self.asked.iter().rev().find(|(asked, _)| asked == name);
        found.map_or("", |(_, value)| value)
    }

    /// Whether all runs are meant.
    pub(crate) fn is_all(&self) -> bool {
        self.selection.is_all() && self.words.is_empty()
    }

    pub(crate) fn order(&self) -> (Column, bool) {
        self.order.unwrap_or((Column::Began, false))
    }

    /// The same query with another value for one of its names, as an address.
    pub(crate) fn with(&self, name: &str, value: &str) -> String {
        let others = self.asked.iter().filter(|(asked, _)| asked != name);
        let mut text = Serializer::for_suffix("/?".to_owned(), 2);
        text.extend_pairs(others).append_pair(name, value);
        text.finish()
    }

    /// The runs that are meant in their order, and how many there are without the limit. `runs` begin with the last one.
    pub(crate) fn choose<'a>(&self, runs: &'a [Listed]) -> (Vec<&'a Listed>, usize) {
        let mut chosen: Vec<_> = runs.iter().filter(|run| self.admits(run)).collect();
        let all = chosen.len();
        chosen.truncate(self.last.unwrap_or(LAST));
        let (column, rising) = self.order();
        // A stable sort: the last one comes first among equals.
        chosen.sort_by(|a, b| column.compare(a, b, rising));
        (chosen, all)
    }

    fn admits(&self, run: &Listed) -> bool {
        let Ok(record) = &run.record else {
            // What cannot be read may be meant where all are.
            return self.selection.is_all() && self.words.iter().all(|word| run.id.to_lowercase().contains(word));
        };
        self.selection.admits(record) && {
            let told = told(run, record);
            self.words.iter().all(|word| told.contains(word))
        }
    }
}

/// What the words are looked for in.
fn told(run: &Listed, record: &RunRecord) -> String {
    let plan = &record.plan;
    let mut told: Vec<String> = Column::ALL.iter().map(|column| column.text(run, record)).collect();
    told.push(run.id.clone());
    told.extend(plan.recipe.iter().map(|recipe| recipe.name.clone()));
    told.extend(plan.suite.iter().map(|suite| suite.run.clone()));
    told.extend(record.target.iter().flat_map(|t| t.labels.iter().map(|(name, value)| format!("{name}={value}"))));
    told.join(" ").to_lowercase()
}

fn status(word: &str) -> Result<Status, String> {
    let all = [Status::Complete, Status::Interrupted, Status::Invalid, Status::Failed];
    all.into_iter()
        .find(|status| status.name() == word)
        .ok_or_else(|| format!("a run is {}; none is '{word}'", all.map(Status::name).join(", ")))
}

/// The runs that were chosen for a comparison.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Chosen {
    pub(crate) base: Vec<String>,
    pub(crate) new: Vec<String>,
}

impl Chosen {
    /// # Errors
    /// In words, when it is none of ours.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut chosen = Self::default();
        for (name, value) in parse(text.as_bytes()) {
            match &*name {
                "base" => chosen.base.push(value.into_owned()),
                "new" => chosen.new.push(value.into_owned()),
                _ => return Err(format!("a comparison has runs as base and new, and no '{name}'")),
            }
        }
        Ok(chosen)
    }
}

/// The moment after which a live page wants to know more; none where it knows nothing.
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
        let chosen = Chosen::parse("base=a&new=b&new=c").unwrap();
        assert_eq!((chosen.base, chosen.new), (vec!["a".to_owned()], vec!["b".to_owned(), "c".to_owned()]));
        assert!(Chosen::parse("base=a&other=b").unwrap_err().contains("no 'other'"));
        assert_eq!((since(""), since("since=-5.5")), (Ok(None), Ok(Some(-5.5))));
        assert!(since("since=nan").is_err() && since("x=1").is_err());
    }
}
