//! Values for the parameters of a statement: rows of the tables that it reads, turned into parameters by a few sampling.

use std::collections::BTreeMap;

use pgdyno_net::quote;

use super::copy::{Copy, FitError, Rows};
use super::roles::{How, Role, Source};
use super::skew::UniqueKey;

/// What decides the values beside the sampled rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sampling {
    /// A column of a source that has one value, for values that some rows have often.
    pub(super) fixed: Option<(Source, String, String)>,
    /// The width of ranges, as a share of the column's.
    pub(super) width: f64,
    /// Characters of a prefix that is searched for.
    pub(super) prefix: usize,
    /// Elements of arrays and lists.
    pub(super) elements: u32,
    /// Rows that are returned at most.
    pub(super) limit: u64,
    /// Rows that are skipped.
    pub(super) offset: u64,
    /// A number or an interval in expressions: a place in [`ADDED`].
    pub(super) added: usize,
    /// Whether keys are values that no row has.
    pub(super) is_missing: bool,
    /// The values themselves, where they were picked by what the statement does with them.
    pub(super) picked: Option<Vec<Values>>,
}

/// Numbers and intervals in expressions.
pub(super) const ADDED: [(&str, &str); 14] = [
    ("0", "0"),
    ("1", "1 second"),
    ("2", "10 seconds"),
    ("5", "1 minute"),
    ("10", "10 minutes"),
    ("20", "1 hour"),
    ("50", "6 hours"),
    ("100", "1 day"),
    ("200", "7 days"),
    ("500", "30 days"),
    ("1000", "90 days"),
    ("10000", "1 year"),
    ("100000", "3 years"),
    ("1000000", "10 years"),
];

impl Sampling {
    /// Returns what distinguishes the values, in words.
    pub(super) fn words(&self, parameters: &Parameters) -> String {
        let Parameters { roles, types, .. } = parameters;
        let has = |how: How| roles.iter().any(|role| role.is(how));
        let mut words = vec![match (&self.picked, &self.fixed, self.is_missing) {
            (Some(picked), ..) => format!("{} sampled rows, picked by rows and blocks of a call", picked.len()),
            (_, _, true) => "keys that do not exist".to_owned(),
            // The value is the user's.
            (_, Some((_, column, _)), false) => format!("rows with one common value of {column}"),
            (_, None, false) => "sampled rows".to_owned(),
        }];
        if has(How::Above) || has(How::Below) {
            words.push(format!("ranges of {} of the column", pgdyno_text::brief::percent(self.width)));
        }
        if has(How::Like) {
            words.push(format!("prefixes of {} characters", self.prefix));
        }
        if roles.iter().any(Role::has_elements) {
            words.push(format!("arrays of {}", self.elements));
        }
        if roles.contains(&Role::Limit) {
            words.push(format!("LIMIT {}", self.limit));
        }
        if roles.contains(&Role::Added) {
            let is_interval = |(role, data_type): (&Role, &String)| *role == Role::Added && data_type == "interval";
            let (number, interval) = ADDED[self.added];
            let value = if roles.iter().zip(types).any(is_interval) { interval } else { number };
            words.push(format!("{value} in expressions"));
        }
        if let Some(share) = parameters.new_share {
            words.push(format!("{} new keys", pgdyno_text::brief::percent(share)));
        }
        if roles.contains(&Role::Offset) {
            words.push(format!("OFFSET {}", self.offset));
        }
        words.join(", ")
    }
}

/// Values of all parameters, for one execution.
pub(super) type Values = Vec<Option<String>>;

/// The parameters of a statement, and where their values come from.
#[derive(Clone, Debug)]
pub(super) struct Parameters {
    /// What each is for.
    pub(super) roles: Vec<Role>,
    /// The type of each.
    pub(super) types: Vec<String>,
    /// The type of each column that a range is of, with its least and greatest value.
    pub(super) ranges: BTreeMap<(String, String), ColumnRange>,
    /// The share of new keys among those of `INSERT … ON CONFLICT`.
    pub(super) new_share: Option<f64>,
    /// The key whose rows are taken in an order of their own: the same one for each statement.
    pub(super) keyed: Option<UniqueKey>,
}

/// The extent of a column.
#[derive(Clone, Debug)]
pub(super) struct ColumnRange {
    pub(super) data_type: String,
    pub(super) min: String,
    pub(super) max: String,
}

/// Types of which an empty text is a value.
const TEXTS: [&str; 3] = ["text", "character varying", "character"];

/// Types of numbers.
pub(super) const NUMBERS: [&str; 6] = ["smallint", "integer", "bigint", "numeric", "real", "double precision"];

/// Types that have no decimals.
pub(super) const WHOLE: [&str; 3] = ["smallint", "integer", "bigint"];

/// Types whose values have a distance.
const MEASURED: [&str; 9] = [
    "smallint",
    "integer",
    "bigint",
    "numeric",
    "real",
    "double precision",
    "date",
    "timestamp without time zone",
    "timestamp with time zone",
];

/// Returns the extents of the columns that ranges are of.
pub(super) fn ranges(copy: &mut Copy, roles: &[Role]) -> Result<BTreeMap<(String, String), ColumnRange>, FitError> {
    let mut ranges = BTreeMap::new();
    for role in roles {
        let Role::Column(How::Above | How::Below | How::Equal, source, column) = role else { continue };
        let key = (source.table.clone(), column.clone());
        if ranges.contains_key(&key) {
            continue;
        }
        let name = quote::identifier(column);
        let sql = format!(
            "SELECT (SELECT pg_typeof({name}) FROM {0} LIMIT 1), (SELECT {name} FROM {0} WHERE {name} IS NOT NULL ORDER BY {name} LIMIT 1), \
             (SELECT {name} FROM {0} WHERE {name} IS NOT NULL ORDER BY {name} DESC LIMIT 1)",
            source.table
        );
        // A type without an order has no range.
        let Some(rows) = copy.ask_or_none("find the range of a column", &sql)? else { continue };
        if let [Some(data_type), Some(min), Some(max)] = rows.into_iter().next().unwrap_or_default().as_slice() {
            ranges.insert(key, ColumnRange { data_type: data_type.clone(), min: min.clone(), max: max.clone() });
        }
    }
    Ok(ranges)
}

/// Rows of a table to sample.
struct Pool<'a> {
    table: &'a str,
    rows: usize,
    /// Rows that a part of the table must have.
    wanted: usize,
    /// Whether the part must be the same each time.
    is_keyed: bool,
}

impl Pool<'_> {
    /// Returns rows of a part of a large table; of all of it, if too few are in that part. `sql` asks for them of a table or a part.
    /// With `briefly` the whole table is read for a minute at most.
    fn sampled(&self, copy: &mut Copy, sql: &dyn Fn(&str) -> String, briefly: bool) -> Result<Rows, FitError> {
        if let Some(part) = copy.part_of(self.table, self.wanted)? {
            let repeatable = if self.is_keyed { " REPEATABLE (1)" } else { "" };
            let from = format!("{} TABLESAMPLE system ({part}){repeatable}", self.table);
            let sampled = copy.ask("sample rows", &sql(&from))?;
            if sampled.len() >= self.rows / 4 {
                return Ok(sampled);
            }
            if briefly || !sampled.is_empty() {
                return Ok(copy.try_briefly("sample rows", &sql(self.table))?.unwrap_or(sampled));
            }
        }
        copy.ask("sample rows", &sql(self.table))
    }
}

impl Parameters {
    /// Returns values for so many executions.
    pub(super) fn values(
        &self,
        copy: &mut Copy,
        sampling: &Sampling,
        executions: usize,
    ) -> Result<Vec<Values>, FitError> {
        // Documents of a megabyte would fill the memory of a run.
        let mut room = Room::default();
        let has_room = |values: &Values| room.takes(values, 1);
        if let Some(picked) = &sampling.picked {
            return Ok(picked.iter().cycle().take(executions).cloned().take_while(has_room).collect());
        }
        let sources = self.sources();
        let mut samples = Samples::new();
        for (source, columns) in &sources {
            let rows = self.sample(copy, source, columns, sampling, executions)?;
            samples.insert(source, Sample::new(rows, columns));
        }
        let row = |nth| {
            let mut uses = Uses::default();
            let pairs = self.roles.iter().zip(&self.types);
            pairs.map(|(role, data_type)| value(role, data_type, &samples, sampling, nth, &mut uses)).collect()
        };
        Ok((0..executions).map(row).take_while(has_room).collect())
    }

    /// Returns the expressions over a row of each source, in the order of the parameters.
    fn sources(&self) -> BTreeMap<&Source, Vec<(How, String)>> {
        let mut sources: BTreeMap<&Source, Vec<(How, String)>> = BTreeMap::new();
        for role in &self.roles {
            if let Role::Column(how, source, column) = role {
                sources.entry(source).or_default().push((*how, column.clone()));
            }
        }
        sources
    }

    /// Returns values from random rows of a table.
    fn sample(
        &self,
        copy: &mut Copy,
        source: &Source,
        columns: &[(How, String)],
        sampling: &Sampling,
        executions: usize,
    ) -> Result<Rows, FitError> {
        let values: Vec<_> =
            columns.iter().map(|(how, column)| self.expression(source, *how, column, columns, sampling)).collect();
        let fixed = sampling.fixed.as_ref().filter(|(of, ..)| of == source);
        let fixed =
            fixed.map(|(_, column, value)| format!("{} = {}", quote::identifier(column), quote::literal(value)));
        let fixed: Vec<_> = fixed.into_iter().collect();
        // What is compared with NULL finds nothing.
        let compared = columns.iter().filter(|(how, _)| *how != How::Written);
        let known = compared.map(|(_, column)| format!("{} IS NOT NULL", quote::identifier(column)));
        let known: Vec<_> = fixed.iter().cloned().chain(known).collect();
        let elements = sampling.elements as usize;
        let has_arrays = columns.iter().any(|(how, _)| *how == How::AnyOf);
        let of_arrays = if has_arrays { elements * executions } else { 0 };
        let of_groups = if is_grouped(columns) { elements * POOL } else { 0 };
        let rows = of_arrays.max(of_groups).min(POOL_MAX).max(executions).max(elements * 2);
        let key = self.keyed.as_ref().filter(|key| key.source == *source);
        let order = key.map_or_else(|| "random()".to_owned(), key_order);
        let sql = |from: &str, conditions: &[String]| {
            let chosen =
                if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
            limited(&values, &format!("(SELECT * FROM {from}{chosen} ORDER BY {order} LIMIT {rows}) s"))
        };
        let pool =
            Pool { table: &source.table, rows, wanted: key.map_or(rows, UniqueKey::rows), is_keyed: key.is_some() };
        let found =
            if known.len() > fixed.len() { pool.sampled(copy, &|from| sql(from, &known), true)? } else { Rows::new() };
        // No row has a value in each column.
        if found.is_empty() { pool.sampled(copy, &|from| sql(from, &fixed), false) } else { Ok(found) }
    }

    /// Returns the value of a parameter, as SQL over a sampled row.
    fn expression(
        &self,
        source: &Source,
        how: How,
        column: &str,
        columns: &[(How, String)],
        sampling: &Sampling,
    ) -> String {
        let name = format!("s.{}", quote::identifier(column));
        let range = self.ranges.get(&(source.table.clone(), column.to_owned()));
        let is_measured = range.is_some_and(|range| MEASURED.contains(&range.data_type.as_str()));
        let has = |wanted: How| columns.iter().any(|(how, of)| of == column && *how == wanted);
        let is_two_sided = has(How::Above) && has(How::Below);
        let moved = |from: &str, sign: &str, range: &ColumnRange| {
            let (min, max) = (quote::literal(&range.min), quote::literal(&range.max));
            let data_type = &range.data_type;
            // The difference of two dates is a number of days.
            let distance = match data_type.as_str() {
                "date" => format!("({max}::timestamp - {min}::timestamp)"),
                "smallint" | "integer" | "bigint" | "real" => format!("({max}::numeric - {min}::numeric)"),
                _ => format!("({max}::{data_type} - {min}::{data_type})"),
            };
            let share = sampling.width;
            format!("({from} {sign} {distance} * {share:.9}::double precision::{})::{data_type}", factor(data_type))
        };
        match (how, range) {
            (How::Equal, range) if sampling.is_missing => match range {
                Some(range) if is_measured && range.data_type != "date" && !range.data_type.starts_with("time") => {
                    format!("({}::{} + (random() * 1000)::int)::text", quote::literal(&range.max), range.data_type)
                }
                Some(range) if range.data_type == "uuid" => "gen_random_uuid()::text".to_owned(),
                Some(range) if range.data_type == "text" || range.data_type.starts_with("character") => {
                    format!("left(md5(random()::text), greatest(1, length({name}::text)))")
                }
                _ => format!("{name}::text"),
            },
            (How::Below, Some(range)) if is_measured && is_two_sided => format!("{}::text", moved(&name, "+", range)),
            (How::Above, Some(range)) if is_measured && !is_two_sided => {
                format!(
                    "{}::text",
                    moved(&format!("{}::{}", quote::literal(&range.max), wide(&range.data_type)), "-", range)
                )
            }
            (How::Below, Some(range)) if is_measured => {
                format!(
                    "{}::text",
                    moved(&format!("{}::{}", quote::literal(&range.min), wide(&range.data_type)), "+", range)
                )
            }
            (How::Like, _) => format!("left({name}::text, {}) || '%'", sampling.prefix),
            _ => format!("{name}::text"),
        }
    }
}

/// Returns the query of these values, which are texts, for rows of `from`, as many as have some bytes together.
fn limited(values: &[String], from: &str) -> String {
    let named: Vec<_> = (1..).zip(values).map(|(nth, value)| format!("{value} AS v{nth}")).collect();
    let names: Vec<_> = (1..=values.len()).map(|nth| format!("v{nth}")).collect();
    let bytes: Vec<_> = names.iter().map(|name| format!("coalesce(octet_length({name}), 0)")).collect();
    format!(
        "SELECT {} FROM (SELECT *, sum({}) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before \
         FROM (SELECT {} FROM {from}) v) w WHERE coalesce(before, 0) < {BYTES_MAX}",
        names.join(", "),
        bytes.join(" + "),
        named.join(", ")
    )
}

/// Returns SQL of a random order of rows that is the same for each statement with this key.
fn key_order(key: &UniqueKey) -> String {
    let columns: Vec<_> = key.columns.iter().map(|column| quote::identifier(column)).collect();
    format!("hashtextextended(concat_ws(',', {}), 1)", columns.join(", "))
}

/// Sampled rows for each element of an array whose rows have other parameters in common, and the most of them.
const POOL: usize = 200;
const POOL_MAX: usize = 10_000;

/// Returns true if a source has arrays, whose elements are of rows that have the other keys.
fn is_grouped(columns: &[(How, String)]) -> bool {
    let has = |wanted: How| columns.iter().any(|(how, _)| *how == wanted);
    has(How::AnyOf) && has(How::Equal)
}

/// Bytes of sampled values, and of those of all executions of a statement. A run keeps them in memory.
pub(super) const BYTES_MAX: usize = 128 << 20;

/// The bytes that values have taken of these.
#[derive(Default)]
pub(super) struct Room {
    bytes: usize,
}

impl Room {
    /// Takes the values of an execution, so many times. Returns true if there was room: the first ones always have it.
    pub(super) fn takes(&mut self, values: &Values, times: u32) -> bool {
        let had_room = self.bytes < BYTES_MAX;
        self.bytes += values.iter().flatten().map(String::len).sum::<usize>() * times as usize;
        had_room
    }
}

/// Rows of a source.
struct Sample {
    rows: Vec<Vec<Option<String>>>,
    /// Rows that have the same keys; empty if the elements of arrays may be of any rows.
    groups: Vec<Vec<usize>>,
    /// The group of each row, and its place there.
    places: Vec<(usize, usize)>,
}

impl Sample {
    fn new(rows: Rows, columns: &[(How, String)]) -> Self {
        let mut by_key: BTreeMap<Vec<Option<&str>>, Vec<usize>> = BTreeMap::new();
        for (nth, row) in rows.iter().enumerate().filter(|_| is_grouped(columns)) {
            let keys = row.iter().zip(columns).filter(|(_, (how, _))| *how == How::Equal);
            by_key.entry(keys.map(|(cell, _)| cell.as_deref()).collect()).or_default().push(nth);
        }
        let groups: Vec<_> = by_key.into_values().collect();
        let mut places = vec![(0, 0); rows.len()];
        for (group, members) in groups.iter().enumerate() {
            members.iter().enumerate().for_each(|(place, row)| places[*row] = (group, place));
        }
        Self { rows, groups, places }
    }

    /// Returns the row of an execution.
    fn row(&self, nth: usize) -> Option<&Vec<Option<String>>> {
        self.rows.get(nth.checked_rem(self.rows.len())?)
    }

    /// Returns the row of an element of an execution's arrays, which have so many. Executions have other rows, as long as there are any.
    fn element(&self, nth: usize, element: usize, elements: usize) -> Option<&Vec<Option<String>>> {
        let first = nth.checked_rem(self.rows.len())?;
        let (group, place) = self.places[first];
        let row = match self.groups.get(group) {
            Some(members) => members[(place * elements + element) % members.len()],
            None => (nth * elements + element) % self.rows.len(),
        };
        self.rows.get(row)
    }
}

/// Rows of each source.
type Samples<'a> = BTreeMap<&'a Source, Sample>;

/// How often an execution has used a source and its columns.
#[derive(Default)]
struct Uses<'a> {
    sources: BTreeMap<&'a Source, usize>,
    columns: BTreeMap<(&'a Source, &'a str), usize>,
}

/// Returns the value of a parameter for one execution. Parameters of one source have the values of one row, except where a column has
/// several: the elements of a list, and the rows of VALUES.
fn value<'a>(
    role: &'a Role,
    data_type: &str,
    samples: &Samples<'_>,
    sampling: &Sampling,
    nth: usize,
    uses: &mut Uses<'a>,
) -> Option<String> {
    let (how, source, column) = match role {
        Role::Column(how, source, column) => (*how, source, column),
        Role::Limit => return Some(sampling.limit.to_string()),
        Role::Offset => return Some(sampling.offset.to_string()),
        Role::Neutral("") if !TEXTS.contains(&data_type) => return Some(plain_value(data_type).to_owned()),
        Role::Neutral(text) => return Some((*text).to_owned()),
        Role::Added if data_type == "interval" => return Some(ADDED[sampling.added].1.to_owned()),
        Role::Added if NUMBERS.contains(&data_type) => return Some(ADDED[sampling.added].0.to_owned()),
        Role::Elements => return Some(elements(data_type, sampling.elements)),
        Role::Added | Role::Other => return Some(plain_value(data_type).to_owned()),
    };
    let place = uses.sources.entry(source).or_default();
    *place += 1;
    let sample = samples.get(source)?;
    let cell = |row: Option<&Vec<Option<String>>>| {
        let cell = row?.get(*place - 1).cloned().flatten();
        cell.map(|cell| if WHOLE.contains(&data_type) { without_decimals(cell) } else { cell })
    };
    match how {
        How::AnyOf => {
            let elements = sampling.elements as usize;
            Some(array((0..elements).filter_map(|element| cell(sample.element(nth, element, elements)))))
        }
        How::Equal | How::Written => {
            let before = uses.columns.entry((source, column)).or_default();
            *before += 1;
            cell(sample.row(nth + *before - 1))
        }
        How::Above | How::Below | How::Like => cell(sample.row(nth)),
    }
}

/// Returns the type that a distance of this type is multiplied by.
fn factor(data_type: &str) -> &'static str {
    match data_type {
        "smallint" | "integer" | "bigint" | "real" | "numeric" => "numeric",
        _ => "double precision",
    }
}

/// Returns the type in which a distance is added to an end of the column.
fn wide(data_type: &str) -> &str {
    if data_type == "date" { "timestamp" } else { data_type }
}

/// Returns the source of values for rows that are written: rows that the table has.
pub(super) fn new_rows(table: &str) -> Source {
    Source { table: table.to_owned(), alias: "(new row)".to_owned() }
}

/// Returns a number without its decimals: a column of numbers may be compared with a whole one.
fn without_decimals(mut number: String) -> String {
    let end = number.find('.').unwrap_or(number.len());
    number.truncate(end);
    number
}

/// Returns an array literal.
fn array(elements: impl Iterator<Item = String>) -> String {
    let quoted = elements.map(|element| format!("\"{}\"", element.replace('\\', "\\\\").replace('"', "\\\"")));
    format!("{{{}}}", quoted.collect::<Vec<_>>().join(","))
}

/// Returns an array of so many values of which nothing is known; for a number the number of them.
fn elements(data_type: &str, number: u32) -> String {
    match data_type.strip_suffix("[]") {
        Some(element) => array((0..number).map(|_| plain_value(element).to_owned())),
        None => number.to_string(),
    }
}

/// Returns a value of a type of which nothing else is known.
fn plain_value(data_type: &str) -> &'static str {
    match data_type {
        "boolean" => "true",
        "date" | "timestamp without time zone" | "timestamp with time zone" => "now",
        "time without time zone" | "time with time zone" => "12:00",
        "interval" => "1 day",
        "json" | "jsonb" => "{}",
        "uuid" => "00000000-0000-0000-0000-000000000000",
        "smallint" | "integer" | "bigint" | "numeric" | "real" | "double precision" | "oid" => "1",
        other if other.ends_with("[]") => "{}",
        _ => "x",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_arrays_are_of_rows_with_the_same_keys() {
        let rows: Vec<_> = (0..12).map(|n: i32| vec![Some((n % 2).to_string()), Some(n.to_string())]).collect();
        let columns = [How::Equal, How::AnyOf].map(|how| (how, String::new()));
        let sample = Sample::new(rows.clone(), &columns);
        let elements = |sample: &Sample, nth: usize| -> Vec<String> {
            (0..2).map(|element| sample.element(nth, element, 2).unwrap()[1].clone().unwrap()).collect()
        };
        assert_eq!(
            [0, 1, 2, 4, 6].map(|nth| elements(&sample, nth)),
            [["0", "2"], ["1", "3"], ["4", "6"], ["8", "10"], ["0", "2"]]
        );
        let sample = Sample::new(rows, &columns[1..]);
        assert_eq!([0, 1, 6].map(|nth| elements(&sample, nth)), [["0", "1"], ["2", "3"], ["0", "1"]]);
        assert!(Sample::new(Vec::new(), &columns).element(0, 0, 2).is_none());
    }

    #[test]
    fn rows_are_sampled_up_to_some_bytes() {
        let sql = limited(&["s.a::text".to_owned(), "s.b::text".to_owned()], "(SELECT * FROM t) s");
        assert!(sql.starts_with(
            "SELECT v1, v2 FROM (SELECT *, sum(coalesce(octet_length(v1), 0) + coalesce(octet_length(v2), 0))"
        ));
        assert!(sql.contains("(SELECT s.a::text AS v1, s.b::text AS v2 FROM (SELECT * FROM t) s) v"), "{sql}");
    }

    #[test]
    fn arrays_are_quoted() {
        let all = ["a", "b\"c", "d\\e", ""].map(str::to_owned);
        assert_eq!(array(all.into_iter()), r#"{"a","b\"c","d\\e",""}"#);
    }

    #[test]
    fn a_list_has_values_of_several_rows_and_other_parameters_those_of_one() {
        let source = Source { table: "t".to_owned(), alias: "t".to_owned() };
        let equal = |column: &str| Role::Column(How::Equal, source.clone(), column.to_owned());
        let roles = [equal("id"), equal("id"), equal("kind"), Role::Limit];
        let row = |n: u32| vec![Some(n.to_string()), Some(n.to_string()), Some(format!("k{n}"))];
        let samples = Samples::from([(&source, Sample::new((0..4).map(row).collect(), &[]))]);
        let sampling = Sampling {
            fixed: None,
            width: 0.1,
            prefix: 1,
            elements: 1,
            limit: 7,
            offset: 0,
            added: 0,
            is_missing: false,
            picked: None,
        };
        let of = |nth| {
            let mut uses = Uses::default();
            let values = roles.iter().map(|role| value(role, "integer", &samples, &sampling, nth, &mut uses));
            values.map(Option::unwrap).collect::<Vec<_>>()
        };
        assert_eq!([of(0), of(3)], [["0", "1", "k0", "7"], ["3", "0", "k3", "7"]]);
    }
}
