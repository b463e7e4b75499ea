//! Names in a sentence.

/// Returns names as a sentence has them: `a`, `a and b`, `a, b and c`; nothing of none.
#[must_use]
pub fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn and_is_before_the_last() {
        let names = ["a", "b", "c"];
        assert_eq!([0, 1, 2, 3].map(|n| listed(&names[..n])), ["", "a", "a and b", "a, b and c"]);
    }
}
