//! The values of the queries' parameters: those of qgen for a seed, bit for bit, and those of the standard's answers.
//!
//! Source: clause 2.4 of TPC-H; qgen, whose reference sets of parameters are the tests here.

use tpchgen::distribution::{Distribution, Distributions};

use super::scale::ScaleFactor;

/// The region of each nation, in the order of their keys.
const REGION_OF_NATION: [usize; 25] = [0, 1, 1, 1, 4, 0, 3, 3, 2, 2, 4, 4, 2, 4, 0, 0, 0, 1, 2, 3, 4, 2, 3, 3, 1];

/// Words of comments of query 13, and their weights.
const WORDS_1: (&[&str], i64) = (&["special", "pending", "unusual", "express"], 20);
const WORDS_2: (&[&str], i64) = (&["packages", "requests", "accounts", "deposits"], 40);

const MODULUS: i64 = 2_147_483_647;

/// Returns the next number of qgen's generator.
fn next(seed: i64) -> i64 {
    seed * 16_807 % MODULUS
}

/// Random numbers of one query.
struct Draw {
    seed: i64,
}

impl Draw {
    /// Returns those of query `query`, 1 to 22: each query begins one step after the one before it.
    fn of(seed: u32, query: usize) -> Self {
        Self { seed: (0..query).fold(i64::from(seed), |seed, _| next(seed)) }
    }

    /// Returns a number between `low` and `high`, both included. In floating point, as qgen has it.
    fn number(&mut self, low: i64, high: i64) -> i64 {
        self.seed = next(self.seed);
        low + (self.seed as f64 / MODULUS as f64 * (high - low + 1) as f64) as i64
    }

    /// Returns the place of one of so many words of the same weight.
    fn place(&mut self, words: usize, weight: i64) -> usize {
        ((self.number(1, words as i64 * weight) - 1) / weight) as usize
    }

    fn word<'a>(&mut self, words: &'a Distribution) -> &'a str {
        words.get_values()[self.place(words.size(), 1)]
    }

    /// Returns the place of another one of so many words.
    fn other_place(&mut self, words: usize, than: usize) -> usize {
        loop {
            let place = self.place(words, 1);
            if place != than {
                return place;
            }
        }
    }

    /// Returns the first `count` of the numbers from 0 below `of`, shuffled.
    fn shuffled(&mut self, of: usize, count: usize) -> Vec<usize> {
        let mut all: Vec<_> = (0..of).collect();
        for place in 0..of {
            let other = self.number(place as i64, of as i64 - 1) as usize;
            all.swap(place, other);
        }
        all.truncate(count);
        all
    }

    /// Returns the first day of one of so many months that begin with `first`, counted from January 1993.
    fn month(&mut self, first: i64, months: i64) -> String {
        let month = self.number(first, first + months - 1);
        format!("{}-{:02}-01", 1993 + month / 12, month % 12 + 1)
    }

    /// Returns the first day of a year from 1993 to 1997.
    fn year(&mut self) -> String {
        format!("{}-01-01", self.number(1993, 1997))
    }

    fn brand(&mut self) -> String {
        let (first, second) = (self.number(1, 5), self.number(1, 5));
        format!("Brand#{first}{second}")
    }
}

/// Returns the share of query 11, which becomes smaller with the data.
fn fraction(scale: ScaleFactor) -> String {
    format!("{:.10}", 0.1 / scale.thousandths() as f64)
}

/// Returns a type without its last word, and that word.
fn halves(kind: &str) -> (&str, &str) {
    kind.rsplit_once(' ').unwrap_or((kind, ""))
}

/// Returns the parameters of query `query`, 1 to 22, that qgen gives for a seed.
pub(super) fn of_seed(query: usize, seed: u32, scale: ScaleFactor) -> Vec<String> {
    let mut draw = Draw::of(seed, query);
    let words = Distributions::static_default();
    let nations = words.nations().get_values();
    let nation = |draw: &mut Draw| nations[draw.place(nations.len(), 1)].to_owned();
    match query {
        1 => vec![draw.number(60, 120).to_string()],
        2 => {
            let size = draw.number(1, 50).to_string();
            let kind = halves(draw.word(words.part_types())).1.to_owned();
            vec![size, kind, draw.word(words.regions()).to_owned()]
        }
        3 => {
            let segment = draw.word(words.market_segments()).to_owned();
            vec![segment, format!("1995-03-{:02}", draw.number(1, 31))]
        }
        4 | 15 => vec![draw.month(0, 58)],
        5 => vec![draw.word(words.regions()).to_owned(), draw.year()],
        6 => {
            let (year, discount) = (draw.year(), draw.number(2, 9));
            vec![year, format!("0.0{discount}"), draw.number(24, 25).to_string()]
        }
        7 => {
            let first = draw.place(nations.len(), 1);
            let second = draw.other_place(nations.len(), first);
            vec![nations[first].to_owned(), nations[second].to_owned()]
        }
        8 => {
            let place = draw.place(nations.len(), 1);
            let region = words.regions().get_values()[REGION_OF_NATION[place]];
            vec![nations[place].to_owned(), region.to_owned(), draw.word(words.part_types()).to_owned()]
        }
        9 => vec![draw.word(words.part_colors()).to_owned()],
        10 => vec![draw.month(1, 24)],
        11 => vec![nation(&mut draw), fraction(scale)],
        12 => {
            let modes = words.ship_modes().get_values();
            let first = draw.place(modes.len(), 1);
            let second = draw.other_place(modes.len(), first);
            vec![modes[first].to_owned(), modes[second].to_owned(), draw.year()]
        }
        13 => {
            let word =
                |draw: &mut Draw, (words, weight): (&[&str], i64)| words[draw.place(words.len(), weight)].to_owned();
            vec![word(&mut draw, WORDS_1), word(&mut draw, WORDS_2)]
        }
        14 => vec![draw.month(0, 60)],
        16 => {
            let brand = draw.brand();
            let kind = halves(draw.word(words.part_types())).0.to_owned();
            let sizes = draw.shuffled(50, 8).into_iter().map(|size| (size + 1).to_string());
            [brand, kind].into_iter().chain(sizes).collect()
        }
        17 => vec![draw.brand(), draw.word(words.part_containers()).to_owned()],
        18 => vec![draw.number(312, 315).to_string()],
        19 => {
            let brands = [draw.brand(), draw.brand(), draw.brand()];
            let quantities = [draw.number(1, 10), draw.number(10, 20), draw.number(20, 30)];
            brands.into_iter().chain(quantities.map(|quantity| quantity.to_string())).collect()
        }
        20 => vec![draw.word(words.part_colors()).to_owned(), draw.year(), nation(&mut draw)],
        21 => vec![nation(&mut draw)],
        _ => draw.shuffled(nations.len(), 7).into_iter().map(|key| (10 + key).to_string()).collect(),
    }
}

/// Returns the parameters of query `query`, 1 to 22, for which the standard has answers.
pub(super) fn of_validation(query: usize, scale: ScaleFactor) -> Vec<String> {
    let values: &[&str] = match query {
        1 => &["90"],
        2 => &["15", "BRASS", "EUROPE"],
        3 => &["BUILDING", "1995-03-15"],
        4 => &["1993-07-01"],
        5 => &["ASIA", "1994-01-01"],
        6 => &["1994-01-01", "0.06", "24"],
        7 => &["FRANCE", "GERMANY"],
        8 => &["BRAZIL", "AMERICA", "ECONOMY ANODIZED STEEL"],
        9 => &["green"],
        10 => &["1993-10-01"],
        11 => return vec!["GERMANY".to_owned(), fraction(scale)],
        12 => &["MAIL", "SHIP", "1994-01-01"],
        13 => &["special", "requests"],
        14 => &["1995-09-01"],
        15 => &["1996-01-01"],
        16 => &["Brand#45", "MEDIUM POLISHED", "49", "14", "23", "45", "19", "3", "36", "9"],
        17 => &["Brand#23", "MED BOX"],
        18 => &["300"],
        19 => &["Brand#12", "Brand#23", "Brand#34", "1", "10", "20"],
        20 => &["forest", "1994-01-01", "CANADA"],
        21 => &["SAUDI ARABIA"],
        _ => &["13", "31", "23", "29", "30", "18", "17"],
    };
    values.iter().map(|value| (*value).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_set::QUERIES;

    const SF_1: ScaleFactor = ScaleFactor::ONE;

    #[test]
    fn parameters_are_qgen_s() {
        let of = |query| of_seed(query, 101_000_000, SF_1).join("|");
        for (query, expected) in [
            (1, "96"),
            (2, "28|STEEL|MIDDLE EAST"),
            (3, "BUILDING|1995-03-31"),
            (4, "1997-09-01"),
            (6, "1994-01-01|0.05|25"),
            (8, "UNITED STATES|AMERICA|MEDIUM BRUSHED STEEL"),
            (12, "SHIP|AIR|1993-01-01"),
            (16, "Brand#45|ECONOMY BURNISHED|50|22|48|47|49|3|30|5"),
            (19, "Brand#53|Brand#55|Brand#55|6|20|22"),
            (22, "33|34|10|24|11|18|16"),
        ] {
            assert_eq!(of(query), expected, "query {query}");
        }
    }

    #[test]
    fn values_stay_within_the_clauses() {
        for seed in (1..2_000_000_000).step_by(9_999_991) {
            let of = |query| of_seed(query, seed, SF_1);
            let month = |query: usize, first: &str, last: &str| {
                let day = &of(query)[0];
                assert!((first..=last).contains(&day.as_str()), "query {query}: {day}");
            };
            month(4, "1993-01-01", "1997-10-01");
            month(10, "1993-02-01", "1995-01-01");
            month(14, "1993-01-01", "1997-12-01");
            month(15, "1993-01-01", "1997-10-01");
            assert_ne!(of(7)[0], of(7)[1]);
            assert_ne!(of(12)[0], of(12)[1]);
            assert!(of(22).iter().all(|code| (10..35).contains(&code.parse::<i32>().unwrap())));
        }
    }

    #[test]
    fn every_query_has_as_many_values_in_both_ways() {
        for query in 1..=QUERIES {
            assert_eq!(of_seed(query, 1, SF_1).len(), of_validation(query, SF_1).len(), "query {query}");
        }
        assert_eq!(of_validation(11, ScaleFactor::of_thousandths(10))[1], "0.0100000000");
    }
}
