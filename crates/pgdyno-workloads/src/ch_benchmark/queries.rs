//! The texts of the 22 queries. A line that ends with `--full` or `--citus` belongs to that form only.

/// The texts, in the order of their numbers.
const TEXTS: [&str; 22] = [
    include_str!("queries/q01.sql"),
    include_str!("queries/q02.sql"),
    include_str!("queries/q03.sql"),
    include_str!("queries/q04.sql"),
    include_str!("queries/q05.sql"),
    include_str!("queries/q06.sql"),
    include_str!("queries/q07.sql"),
    include_str!("queries/q08.sql"),
    include_str!("queries/q09.sql"),
    include_str!("queries/q10.sql"),
    include_str!("queries/q11.sql"),
    include_str!("queries/q12.sql"),
    include_str!("queries/q13.sql"),
    include_str!("queries/q14.sql"),
    include_str!("queries/q15.sql"),
    include_str!("queries/q16.sql"),
    include_str!("queries/q17.sql"),
    include_str!("queries/q18.sql"),
    include_str!("queries/q19.sql"),
    include_str!("queries/q20.sql"),
    include_str!("queries/q21.sql"),
    include_str!("queries/q22.sql"),
];

/// The form of the queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As the papers have them, with dates that suit data loaded today; all rows are returned.
    Full,
    /// As the kit of Citus has them: `LIMIT 10`, eight queries without their dates, query 15 with a CTE.
    Citus,
}

impl Form {
    /// Returns the form of this name.
    pub(super) fn of(name: &str) -> Self {
        if name == "citus" { Self::Citus } else { Self::Full }
    }

    /// Returns the mark at the end of lines that only this form has.
    fn mark(self) -> &'static str {
        match self {
            Self::Full => " --full",
            Self::Citus => " --citus",
        }
    }
}

/// Returns the text of query `query`, 1 to 22, without its first line, which explains it.
pub(super) fn text(query: usize, form: Form) -> String {
    let (mine, other) = match form {
        Form::Full => (Form::Full.mark(), Form::Citus.mark()),
        Form::Citus => (Form::Citus.mark(), Form::Full.mark()),
    };
    let lines = TEXTS[query - 1].lines().skip(1).filter(|line| !line.ends_with(other));
    let mut text = lines.map(|line| line.strip_suffix(mine).unwrap_or(line)).collect::<Vec<_>>().join("\n");
    if form == Form::Citus {
        text += "\n limit 10";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_has_its_own_lines() {
        for query in 1..=22 {
            assert!(TEXTS[query - 1].starts_with(&format!("-- Q{query}: ")), "{query}");
            let [full, citus] = [Form::Full, Form::Citus].map(|form| text(query, form));
            assert!(full.starts_with("select") && !full.contains("--") && !citus.contains("--"), "{full}\n{citus}");
            assert!(citus.ends_with("\n limit 10") && !full.contains("limit") && !full.contains(';'), "{citus}");
            // The product of two integers is too large from warehouse 21,475 on.
            assert!(!full.contains("mod(s_w_id *") && !full.contains("mod(s_i_id"), "{full}");
        }
        let other =
            (1..=22).filter(|query| format!("{}\n limit 10", text(*query, Form::Full)) != text(*query, Form::Citus));
        assert_eq!(other.collect::<Vec<_>>(), [1, 3, 6, 10, 12, 14, 15, 20]);
    }
}
