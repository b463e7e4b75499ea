//! The options of a `[[run]]`, fixed or as axes of the matrix: read by the table of options.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use pgdyno_text::parse::Duration;
use pgdyno_workload::{OptionTable, ValueKind};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::keys::Key;
use super::what::What;
use super::word::Word;
use crate::{Order, TargetName};

/// An option with a value.
#[derive(Clone)]
pub(super) struct Given {
    pub(super) key: Key,
    /// The value in the key of a cell.
    pub(super) text: String,
    /// The values for [`AnyOption::set`](crate::options::AnyOption::set): none for a flag that is off, several for
    /// parameters. Of [`Key::Args`], the arguments.
    pub(super) values: Vec<String>,
}

/// A `[[run]]`. `W` has the options of workloads.
pub(super) struct Run<W> {
    pub(super) what: Option<What>,
    pub(super) name: Option<String>,
    pub(super) targets: Option<Vec<TargetName>>,
    /// Options that are the same in every cell, in the order of keys.
    pub(super) fixed: Vec<Given>,
    pub(super) matrix: Matrix<W>,
}

/// Its `matrix`.
pub(super) struct Matrix<W> {
    pub(super) what: Option<Vec<What>>,
    /// Options that differ, each with its values, in the order of keys.
    pub(super) axes: Vec<(Key, Vec<Given>)>,
    options: PhantomData<W>,
}

impl<W> Default for Matrix<W> {
    fn default() -> Self {
        Self { what: None, axes: Vec::new(), options: PhantomData }
    }
}

impl<'de, W: OptionTable> Deserialize<'de> for Run<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RunVisitor(PhantomData))
    }
}

struct RunVisitor<W>(PhantomData<W>);

impl<'de, W: OptionTable> Visitor<'de> for RunVisitor<W> {
    type Value = Run<W>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table with `what` and options of a run")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Run<W>, A::Error> {
        let matrix = Matrix::default();
        let mut run = Run { what: None, name: None, targets: None, fixed: Vec::new(), matrix };
        while let Some(key) = map.next_key::<OfRun<W>>()? {
            match key {
                OfRun::What => run.what = map.next_value()?,
                OfRun::Name => run.name = map.next_value()?,
                OfRun::Targets => run.targets = map.next_value()?,
                OfRun::Matrix => run.matrix = map.next_value()?,
                OfRun::Run(key, _) => run.fixed.push(map.next_value_seed(One(key))?),
            }
        }
        run.fixed.sort_by_key(|given| given.key.rank());
        Ok(run)
    }
}

impl<'de, W: OptionTable> Deserialize<'de> for Matrix<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MatrixVisitor(PhantomData))
    }
}

struct MatrixVisitor<W>(PhantomData<W>);

impl<'de, W: OptionTable> Visitor<'de> for MatrixVisitor<W> {
    type Value = Matrix<W>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table of options with lists of values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Matrix<W>, A::Error> {
        let mut matrix = Matrix::default();
        while let Some(key) = map.next_key::<OfMatrix<W>>()? {
            match key {
                OfMatrix::What => matrix.what = map.next_value()?,
                OfMatrix::Run(key, _) => matrix.axes.push((key, map.next_value_seed(Many(key))?)),
            }
        }
        matrix.axes.sort_by_key(|(key, _)| key.rank());
        Ok(matrix)
    }
}

/// A key of a `[[run]]`.
enum OfRun<W> {
    What,
    Name,
    Targets,
    Matrix,
    Run(Key, PhantomData<W>),
}

impl<'de, W: OptionTable> Deserialize<'de> for OfRun<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match String::deserialize(deserializer)?.as_str() {
            "what" => Self::What,
            "name" => Self::Name,
            "targets" => Self::Targets,
            "matrix" => Self::Matrix,
            key => Self::Run(Key::find::<W, _>(key, &["what", "name", "targets", "matrix"])?, PhantomData),
        })
    }
}

/// A key of a `matrix`.
enum OfMatrix<W> {
    What,
    Run(Key, PhantomData<W>),
}

impl<'de, W: OptionTable> Deserialize<'de> for OfMatrix<W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match String::deserialize(deserializer)?.as_str() {
            "what" => Self::What,
            key => Self::Run(Key::find::<W, _>(key, &["what"])?, PhantomData),
        })
    }
}

/// Reads a value of this key.
struct One(Key);

impl<'de> DeserializeSeed<'de> for One {
    type Value = Given;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Given, D::Error> {
        let Key::Option(option) = self.0 else {
            let values = Vec::<String>::deserialize(deserializer)?;
            return Ok(Given { key: self.0, text: values.join(" "), values });
        };
        let (text, values) = match option.spec().value {
            ValueKind::Flag => {
                let is_on = bool::deserialize(deserializer)?;
                (is_on.to_string(), is_on.then(String::new).into_iter().collect())
            }
            ValueKind::Text => plain(String::deserialize(deserializer)?),
            ValueKind::Whole => plain(u64::deserialize(deserializer)?.to_string()),
            ValueKind::Number => plain(f64::deserialize(deserializer)?.to_string()),
            ValueKind::Rate => plain(Word::deserialize(deserializer)?.0),
            ValueKind::Time => plain(format!("{}s", Duration::deserialize(deserializer)?.seconds())),
            ValueKind::Milliseconds => {
                let ms = Duration::deserialize(deserializer)?.seconds() * 1e3;
                (format!("{ms}ms"), vec![ms.to_string()])
            }
            ValueKind::Choice(words) => plain(choice(&String::deserialize(deserializer)?, words)?),
            ValueKind::Texts => {
                let texts = match OneOrMore::deserialize(deserializer)? {
                    OneOrMore::One(text) => vec![text],
                    OneOrMore::More(texts) => texts,
                };
                (texts.join("+"), texts)
            }
            ValueKind::Pairs => {
                let pairs = BTreeMap::<String, Word>::deserialize(deserializer)?;
                let pairs: Vec<_> = pairs.iter().map(|(name, Word(value))| format!("{name}={value}")).collect();
                (pairs.join("+"), pairs)
            }
        };
        let mut scratch = Order::default();
        for value in &values {
            let refused = |why| Error::custom(format!("{value}: {why}"));
            option.set(&mut scratch, value).map_err(refused)?;
        }
        Ok(Given { key: self.0, text, values })
    }
}

/// A text, or a list of texts.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

fn plain(text: String) -> (String, Vec<String>) {
    (text.clone(), vec![text])
}

/// Returns a word if it is one of the known ones.
fn choice<E: Error>(word: &str, known: &[&str]) -> Result<String, E> {
    match known.contains(&word) {
        true => Ok(word.to_owned()),
        false => Err(E::custom(format!("unknown variant `{word}`, expected one of `{}`", known.join("`, `")))),
    }
}

/// Reads a list of values of this key.
struct Many(Key);

impl<'de> DeserializeSeed<'de> for Many {
    type Value = Vec<Given>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Given>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Many {
    type Value = Vec<Given>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Given>, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(One(self.0))? {
            values.push(value);
        }
        Ok(values)
    }
}
