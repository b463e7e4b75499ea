//! Functions: their names, and their numbers of arguments.

/// An operator or a function on values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fun {
    Neg,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Eq,
    Ne,
    Lt,
    Le,
    BitNot,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Not,
    /// `IS`: same type and same value.
    Is,
    Abs,
    Debug,
    Double,
    Exp,
    Greatest,
    HashFnv1a,
    HashMurmur2,
    Int,
    Least,
    Ln,
    Permute,
    Pi,
    Pow,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    Sqrt,
}

/// Number of arguments of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arity {
    Exactly(usize),
    /// One or more.
    Any,
    /// So many; if one is missing, the variable `default_seed` is the last.
    Seeded(usize),
}

/// A function that a script can call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    pub(crate) fun: Fun,
    pub(crate) arity: Arity,
}

const fn function(name: &'static str, fun: Fun, arity: Arity) -> Function {
    Function { name, fun, arity }
}

pub(crate) const FUNCTIONS: &[Function] = &[
    function("abs", Fun::Abs, Arity::Exactly(1)),
    function("debug", Fun::Debug, Arity::Exactly(1)),
    function("double", Fun::Double, Arity::Exactly(1)),
    function("exp", Fun::Exp, Arity::Exactly(1)),
    function("greatest", Fun::Greatest, Arity::Any),
    function("hash", Fun::HashMurmur2, Arity::Seeded(2)),
    function("hash_fnv1a", Fun::HashFnv1a, Arity::Seeded(2)),
    function("hash_murmur2", Fun::HashMurmur2, Arity::Seeded(2)),
    function("int", Fun::Int, Arity::Exactly(1)),
    function("least", Fun::Least, Arity::Any),
    function("ln", Fun::Ln, Arity::Exactly(1)),
    function("mod", Fun::Mod, Arity::Exactly(2)),
    function("permute", Fun::Permute, Arity::Seeded(3)),
    function("pi", Fun::Pi, Arity::Exactly(0)),
    function("pow", Fun::Pow, Arity::Exactly(2)),
    function("power", Fun::Pow, Arity::Exactly(2)),
    function("random", Fun::Random, Arity::Exactly(2)),
    function("random_exponential", Fun::RandomExponential, Arity::Exactly(3)),
    function("random_gaussian", Fun::RandomGaussian, Arity::Exactly(3)),
    function("random_zipfian", Fun::RandomZipfian, Arity::Exactly(3)),
    function("sqrt", Fun::Sqrt, Arity::Exactly(1)),
];

/// Returns the function of that name, in any case.
pub(crate) fn find(name: &[u8]) -> Option<Function> {
    FUNCTIONS.iter().find(|f| f.name.as_bytes().eq_ignore_ascii_case(name)).copied()
}

impl Arity {
    /// Returns the number for a hint: `2 arguments`.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Exactly(0) => "no argument".to_owned(),
            Self::Exactly(1) => "1 argument".to_owned(),
            Self::Exactly(n) => format!("{n} arguments"),
            Self::Any => "1 to 16 arguments".to_owned(),
            Self::Seeded(n) => format!("{} arguments, or {n} with a seed", n - 1),
        }
    }
}

/// Returns the name in `known` that `wrong` probably means, if any is similar.
pub(crate) fn nearest<'a>(wrong: &[u8], known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if wrong.len() > 40 {
        return None;
    }
    let wrong = wrong.to_ascii_lowercase();
    known
        .map(|name| (if swapped(&wrong, name.as_bytes()) { 1 } else { distance(&wrong, name.as_bytes()) }, name))
        .filter(|(d, name)| *d <= 1 + name.len() / 4)
        .min_by_key(|(d, _)| *d)
        .map(|(_, name)| name)
}

/// Returns true if two neighbours are swapped, and nothing else differs.
fn swapped(a: &[u8], b: &[u8]) -> bool {
    let Some(at) = a.iter().zip(b).position(|(x, y)| x != y) else { return false };
    matches!((&a[at..], &b[at..]), ([p, q, a @ ..], [r, s, b @ ..]) if (p, q) == (s, r) && a == b)
}

/// Returns Levenshtein's distance: insertions, deletions and changes of a byte.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case_and_near_ones_suggested() {
        assert_eq!(find(b"RANDOM").map(|f| f.fun), Some(Fun::Random));
        assert!(find(b"rand").is_none());
        let suggest = |wrong: &str| nearest(wrong.as_bytes(), FUNCTIONS.iter().map(|f| f.name));
        assert_eq!(suggest("randon"), Some("random"));
        assert_eq!(suggest("random_gausian"), Some("random_gaussian"));
        assert_eq!(suggest("least_of_all"), None);
        assert_eq!(suggest("xyz"), None);
    }
}
