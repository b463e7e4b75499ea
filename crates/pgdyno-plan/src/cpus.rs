//! Lists of CPUs as people and the kernel write them.

/// Upper limit of CPU numbers that Linux's usual call can pin a thread to.
const MAX_CPUS: usize = 1024;

/// The word for all CPUs that the process may use.
pub const ALL: &str = "all";

/// Parses a list such as `0,2-4` and returns its numbers in the written order. The word [`ALL`] is not a list.
///
/// # Errors
/// A message, if the text is not a list or names a CPU twice.
pub fn list(text: &str) -> Result<Vec<usize>, String> {
    let number = |text: &str| text.trim().parse::<usize>().ok().filter(|cpu| *cpu < MAX_CPUS);
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (Some(first), Some(last)) = (number(first), number(last)) else {
            return Err(format!("'{part}' is not a CPU: write their numbers, as in 0,2-4"));
        };
        if last < first {
            return Err(format!("'{part}' ends before it begins: write the smaller number first"));
        }
        cpus.extend(first..=last);
    }
    let mut sorted = cpus.clone();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("CPU {} is named twice", pair[0])),
        None => Ok(cpus),
    }
}

/// Parses what `--pin` takes: [`ALL`], or a list.
///
/// # Errors
/// As for [`list`].
pub fn pin(text: &str) -> Result<String, String> {
    if text != ALL {
        list(text)?;
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_numbers_and_ranges_in_its_own_order() {
        assert_eq!(list("0,2-4"), Ok(vec![0, 2, 3, 4]));
        assert_eq!(list("7, 0"), Ok(vec![7, 0]));
        assert_eq!(pin("all"), Ok("all".to_owned()));
    }

    #[test]
    fn what_is_no_list_is_refused_in_words() {
        for (wrong, why) in [
            ("", "not a CPU"),
            ("0,", "not a CPU"),
            ("a", "not a CPU"),
            ("-1", "not a CPU"),
            ("1024", "not a CPU"),
            ("0-9999999999", "not a CPU"),
            ("4-2", "smaller number first"),
            ("0-2,1", "CPU 1 is named twice"),
        ] {
            let error = pin(wrong).unwrap_err();
            assert!(error.contains(why), "{wrong}: {error}");
        }
    }
}
