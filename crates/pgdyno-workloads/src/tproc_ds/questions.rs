//! Texts of questions, and the parameters in them.
//!
//! A file has a comment, lines `--: NAME = VALUE | RANGE` for its parameters, and one statement or several with lines `--;` between
//! them, in which `[NAME]` stands for a value. VALUE is the one for which answers are known, RANGE is what streams draw from.

use std::sync::{Arc, OnceLock};

use pgdyno_workload::Rng;

use super::dates::{day_of, text_of_day};

include!(concat!(env!("OUT_DIR"), "/tproc_ds.rs"));

/// The questions of a run, by their numbers.
pub(super) type Questions = Arc<Vec<Question>>;

/// Returns the questions of this program.
pub(super) fn shipped() -> Questions {
    static SHIPPED: OnceLock<Questions> = OnceLock::new();
    // A test reads all of them: an error there is none here.
    let read = |(name, text): &(&str, &str)| Question::read(name[1..].parse().ok()?, text).ok();
    Arc::clone(SHIPPED.get_or_init(|| Arc::new(QUESTIONS.iter().filter_map(read).collect())))
}

/// A question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Question {
    /// Its number, 1 to 99.
    pub(super) number: usize,
    parameters: Vec<Parameter>,
    /// Its statements, with the names of parameters in brackets.
    statements: Vec<String>,
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
struct Parameter {
    name: String,
    /// The values for which answers are known. One without a number is no list.
    values: Vec<String>,
    is_list: bool,
    range: Range,
}

/// What values are drawn from.
#[derive(Clone, Debug, PartialEq)]
enum Range {
    /// Whole numbers, both ends included.
    Uniform(i64, i64),
    /// Days of one season of a year: the years, and the month and day of both ends; all ends included. Sales follow the calendar, so that
    /// a query reads about as much whatever is drawn.
    Season {
        years: [i64; 2],
        days: [String; 2],
    },
    OneOf(Vec<String>),
    /// The value of another parameter, and what is added to it.
    Sum(String, i64),
}

impl Range {
    /// Reads what follows `|`.
    fn read(text: &str) -> Result<Self, String> {
        let unknown = || {
            format!(
                "'{text}' is no range: uniform(a, b), one_of(x, y), values(list), distinct(…) or date(YEAR-YEAR, MM-DD, MM-DD)"
            )
        };
        let (kind, rest) = text.split_once('(').ok_or_else(unknown)?;
        let items = items(rest.strip_suffix(')').ok_or_else(unknown)?);
        let pair = || <[String; 2]>::try_from(items.clone()).map_err(|_| unknown());
        let whole = |[low, high]: [String; 2]| Some((low.parse().ok()?, high.parse().ok()?));
        let of_list = |name: &str| {
            let list = LISTS.iter().find(|(known, _)| *known == name);
            list.map(|(_, lines)| Self::OneOf(lines.lines().map(str::to_owned).collect()))
        };
        let range = match (kind, items.as_slice()) {
            ("uniform", _) => whole(pair()?).map(|(low, high)| Self::Uniform(low, high)),
            ("date", [years, first, last]) => Self::season(years, [first, last]),
            ("values" | "distinct", [name]) => {
                return of_list(name).ok_or_else(|| format!("there is no list '{name}'"));
            }
            ("distinct", [_, _]) => pair().ok().and_then(whole).map(|(low, high)| Self::Uniform(low, high)),
            ("one_of" | "distinct", _) => None,
            _ => return Err(unknown()),
        };
        range.or((kind != "uniform" && kind != "date").then_some(Self::OneOf(items))).ok_or_else(unknown)
    }

    /// Returns the season between two days, such as `08-01`, of years such as `1998-2002`.
    fn season(years: &str, days: [&String; 2]) -> Option<Self> {
        let (first, last) = years.split_once('-')?;
        let years = [first.parse().ok()?, last.parse().ok()?];
        let is_season = |year: i64| Some(day_in(year, days[0])? <= day_in(year, days[1])?);
        let is_whole = years[0] <= years[1] && years.into_iter().all(|year| is_season(year) == Some(true));
        is_whole.then(|| Self::Season { years, days: days.map(Clone::clone) })
    }

    /// Draws so many values, none of them twice; fewer if there are not so many.
    fn draw(&self, count: usize, rng: &mut Rng) -> Vec<String> {
        let (low, high) = match self {
            Self::Uniform(low, high) => (*low, *high),
            Self::OneOf(values) => (0, values.len() as i64 - 1),
            Self::Season { years, days } => {
                let year = rng.uniform(years[0], years[1]);
                let [first, last] = days.each_ref().map(|day| day_in(year, day).unwrap_or_default());
                (first, last)
            }
            Self::Sum(..) => return Vec::new(),
        };
        let mut drawn: Vec<i64> = Vec::with_capacity(count);
        while drawn.len() < count && (drawn.len() as i64) < high - low + 1 {
            let value = rng.uniform(low, high);
            if !drawn.contains(&value) {
                drawn.push(value);
            }
        }
        let text = |value: i64| match self {
            Self::OneOf(values) => values[value as usize].clone(),
            Self::Season { .. } => text_of_day(value),
            _ => value.to_string(),
        };
        drawn.into_iter().map(text).collect()
    }
}

/// Returns the days from 1970-01-01 to a day such as `08-01` of a year.
fn day_in(year: i64, day: &str) -> Option<i64> {
    day_of(&format!("{year}-{day}"))
}

/// Returns the values of a list, without the quotes around those that have a comma or a bracket.
fn items(list: &str) -> Vec<String> {
    let (mut items, mut is_quoted) = (vec![String::new()], false);
    for character in list.chars() {
        match character {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => items.push(String::new()),
            _ => items.last_mut().into_iter().for_each(|item| item.push(character)),
        }
    }
    // Blanks within quotes are part of no value that there is.
    items.into_iter().map(|item| item.trim().to_owned()).collect()
}

impl Parameter {
    /// Reads what follows `--:`.
    fn read(line: &str) -> Result<Self, String> {
        let wrong = || format!("'--:{line}' is no parameter: write --: NAME = VALUE | RANGE");
        let (name, rest) = line.split_once('=').ok_or_else(wrong)?;
        let (name, count) = match name.trim().split_once('[') {
            Some((name, count)) => {
                (name, Some(count.strip_suffix(']').and_then(|n| n.parse().ok()).ok_or_else(wrong)?))
            }
            None => (name.trim(), None),
        };
        let is_name =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
        let (values, range) = match rest.split_once('|') {
            Some((values, range)) => {
                let values =
                    if count.is_some() { items(values) } else { vec![values.trim().trim_matches('"').to_owned()] };
                (values, Range::read(range.trim())?)
            }
            None => {
                let (other, added) =
                    rest.trim().strip_prefix('[').and_then(|rest| rest.split_once(']')).ok_or_else(wrong)?;
                let added = added.trim().trim_start_matches('+').trim().parse().map_err(|_| wrong())?;
                (vec![String::new()], Range::Sum(other.to_owned(), added))
            }
        };
        let is_whole = is_name && values.len() == count.unwrap_or(1);
        is_whole.then(|| Self { name: name.to_owned(), values, is_list: count.is_some(), range }).ok_or_else(wrong)
    }
}

impl Question {
    /// Reads the text of question `number`.
    ///
    /// # Errors
    /// When a parameter is wrong, or there is no statement.
    pub(super) fn read(number: usize, text: &str) -> Result<Self, String> {
        let lines = text.lines().filter_map(|line| line.strip_prefix("--:"));
        let parameters = lines.map(Parameter::read).collect::<Result<Vec<_>, _>>()?;
        let mut statements = vec![String::new()];
        for line in text.lines().filter(|line| *line == "--;" || !line.trim_start().starts_with("--")) {
            let ends = line == "--;" || line.trim_end().ends_with(';');
            if let Some(statement) = statements.last_mut().filter(|_| line != "--;") {
                *statement += line.trim_end().trim_end_matches(';');
                statement.push('\n');
            }
            if ends {
                statements.push(String::new());
            }
        }
        let statements: Vec<_> =
            statements.iter().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect();
        if statements.is_empty() {
            return Err("it has no statement".to_owned());
        }
        Ok(Self { number, parameters, statements })
    }

    /// Returns the number of its statements.
    pub(super) fn parts(&self) -> usize {
        self.statements.len()
    }

    /// Returns its statements with values from `rng`, or with those for which answers are known.
    pub(super) fn texts(&self, mut rng: Option<Rng>) -> Vec<String> {
        let mut values: Vec<(String, String)> = Vec::new();
        for parameter in &self.parameters {
            let drawn = match (&parameter.range, rng.as_mut()) {
                (Range::Sum(other, added), _) => {
                    let other = values.iter().find(|(name, _)| name == other);
                    vec![(other.and_then(|(_, value)| value.parse().ok()).unwrap_or(0) + added).to_string()]
                }
                (range, Some(rng)) => range.draw(parameter.values.len(), rng),
                (_, None) => parameter.values.clone(),
            };
            let name = &parameter.name;
            values.extend(
                (1..).zip(drawn).map(|(nth, value)| {
                    (if parameter.is_list { format!("{name}.{nth}") } else { name.clone() }, value)
                }),
            );
        }
        let with_values = |text: &String| {
            values.iter().fold(text.clone(), |text, (name, value)| text.replace(&format!("[{name}]"), value))
        };
        self.statements.iter().map(with_values).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = include_str!("fixtures/q03.sql");

    /// Returns the names in brackets that are left.
    fn left(text: &str) -> Vec<&str> {
        let names = text.split('[').skip(1).filter_map(|rest| rest.split_once(']')).map(|(name, _)| name);
        names.filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase())).collect()
    }

    #[test]
    fn the_shipped_questions_are_read_and_every_parameter_has_values() {
        assert_eq!(shipped().len(), QUESTIONS.len());
        assert_eq!(NAMES.len(), QUESTIONS.len());
        for (name, text) in QUESTIONS {
            let question =
                Question::read(name[1..].parse().unwrap(), text).unwrap_or_else(|error| panic!("{name}: {error}"));
            for rng in [None, Some(Rng::new(1)), Some(Rng::new(2))] {
                for text in question.texts(rng) {
                    assert!(left(&text).is_empty() && !text.contains(';'), "{name}: {text}");
                }
            }
            for parameter in question.parameters.iter().filter(|parameter| !matches!(parameter.range, Range::Sum(..))) {
                let count = parameter.values.len();
                assert_eq!(parameter.range.draw(count, &mut Rng::new(1)).len(), count, "{name}: {}", parameter.name);
            }
        }
    }

    #[test]
    fn the_same_seed_has_the_same_text_and_validation_has_its_own() {
        let question = Question::read(3, TEXT).unwrap();
        let of = |seed| question.texts(Some(Rng::new(seed))).concat();
        assert_eq!(of(7), of(7));
        assert_ne!(of(7), of(8));
        let known = question.texts(None).concat();
        assert!(known.contains("d_moy = 11") && known.contains("in (128, 129, 130)"), "{known}");
        assert!(known.contains("between 2000 and 2001") && known.contains("d_date >= '1999-02-28'"), "{known}");
    }

    #[test]
    fn a_list_has_no_value_twice_and_days_are_of_the_calendar() {
        let range = |text| Range::read(text).unwrap();
        let mut drawn = range("distinct(1, 5)").draw(5, &mut Rng::new(1));
        drawn.sort_unstable();
        assert_eq!(drawn, ["1", "2", "3", "4", "5"]);
        assert_eq!(range("date(2000-2000, 02-29, 02-29)").draw(1, &mut Rng::new(1)), ["2000-02-29"]);
        let (season, mut rng) = (range("date(1998-2002, 08-01, 08-30)"), Rng::new(1));
        let days: std::collections::BTreeSet<_> = (0..5_000).flat_map(|_| season.draw(1, &mut rng)).collect();
        assert_eq!(days.len(), 150, "each of five years has these 30 days and no other");
        assert_eq!((days.first().unwrap().as_str(), days.last().unwrap().as_str()), ("1998-08-01", "2002-08-30"));
        assert!(days.iter().all(|day| &day[4..8] == "-08-"), "{days:?}");
        let quoted = range("one_of(\"a, b\")");
        assert_eq!(quoted, Range::OneOf(vec!["a, b".to_owned()]));
        assert_eq!(range("distinct(x, y)"), Range::OneOf(vec!["x".to_owned(), "y".to_owned()]));
        assert_eq!(range("distinct(x, y)").draw(3, &mut Rng::new(1)).len(), 2);
    }

    #[test]
    fn a_wrong_header_says_what_is_wrong() {
        for (line, why) in [
            ("YEAR 2000", "write --: NAME = VALUE | RANGE"),
            ("year = 2000 | uniform(1, 2)", "write --: NAME = VALUE | RANGE"),
            ("YEAR = 2000 | normal(1, 2)", "'normal(1, 2)' is no range"),
            ("YEAR = 2000 | uniform(1)", "'uniform(1)' is no range"),
            ("YEAR = 2000 | values(nothing)", "there is no list 'nothing'"),
            ("DAY = 2000-08-01 | date(1998-2002, 08-30, 08-01)", "is no range"),
            ("DAY = 2000-08-01 | date(1998-2002, 13-01, 13-02)", "is no range"),
            ("DAY = 2000-08-01 | date(1998-08-01, 2002-08-30)", "is no range"),
            ("YEARS[2] = 2000 | distinct(1, 2)", "write --: NAME = VALUE | RANGE"),
        ] {
            let error = Question::read(1, &format!("--: {line}\nselect 1")).unwrap_err();
            assert!(error.contains(why), "{line}: {error}");
        }
        assert_eq!(Question::read(1, "-- nothing\n").unwrap_err(), "it has no statement");
    }

    #[test]
    fn statements_end_at_their_marks() {
        let parts = |text| Question::read(14, text).unwrap().texts(None);
        assert_eq!(parts("select 1\n--;\nselect 2\n"), ["select 1", "select 2"]);
        assert_eq!(parts("-- a comment\nselect 1;\nselect ';'\n;\n"), ["select 1", "select ';'"]);
    }
}
