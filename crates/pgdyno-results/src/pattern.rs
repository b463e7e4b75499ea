//! Names with wildcards.

/// Returns true if `name` matches a pattern in which `*` stands for any number of characters.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return pattern == name };
    let Some(rest) = name.strip_prefix(before) else { return false };
    (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| fits(after, &rest[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for pattern in ["*", "2026*", "*-aaa", "2026*noop*", "*noop*aaa", "2026-noop-aaa", "**"] {
            assert!(fits(pattern, "2026-noop-aaa"), "{pattern}");
        }
        for pattern in ["2027*", "*-bbb", "noop*", "*noop", "2026*x*"] {
            assert!(!fits(pattern, "2026-noop-aaa"), "{pattern}");
        }
    }
}
