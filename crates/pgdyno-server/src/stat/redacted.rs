//! Statements without their constants, which may be secrets or a user's data.

/// Characters of a statement that are kept.
const MOST: usize = 120;

/// Returns the beginning of a statement with `?` for each constant, as `pg_stat_statements` has `$1`, without comments and line
/// breaks. A constant that the server has cut off is one, too.
pub(super) fn without_constants(sql: &str) -> String {
    let (mut kept, mut rest) = (String::new(), sql);
    while let Some(next) = rest.chars().next() {
        if kept.chars().count() > MOST {
            break;
        }
        let before = kept.chars().next_back();
        let in_word = before.is_some_and(is_of_word);
        rest = match next {
            '\'' => {
                kept.push('?');
                // A backslash may escape the quote: what follows may be within the constant.
                let escapes = |text: &str| text.contains('\\');
                end_of_quoted(rest, '\'').filter(|end| !escapes(&rest[..*end])).map_or("", |end| &rest[end..])
            }
            '"' => {
                let end = end_of_quoted(rest, '"').unwrap_or(rest.len());
                kept.push_str(&rest[..end]);
                &rest[end..]
            }
            '$' if !in_word => match dollar_tag(rest) {
                Some(tag) => {
                    kept.push('?');
                    let within = &rest[tag.len()..];
                    within.find(tag).map_or("", |end| &within[end + tag.len()..])
                }
                None => {
                    kept.push('$');
                    &rest[1..]
                }
            },
            '-' if rest.starts_with("--") => rest.find('\n').map_or("", |end| &rest[end..]),
            '/' if rest.starts_with("/*") => after_comment(rest),
            digit if digit.is_ascii_digit() && !in_word && before != Some('$') => {
                kept.push('?');
                rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_')
            }
            space if space.is_whitespace() => {
                if before.is_some_and(|c| c != ' ') {
                    kept.push(' ');
                }
                rest.trim_start()
            }
            other => {
                kept.push(other);
                &rest[other.len_utf8()..]
            }
        };
    }
    let kept = kept.trim_end();
    match kept.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &kept[..end]),
        None => kept.to_owned(),
    }
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns where the quoted text that `text` begins with has ended; two quotes within it are one.
fn end_of_quoted(text: &str, quote: char) -> Option<usize> {
    let mut quotes = text.char_indices().skip(1).filter(|(_, c)| *c == quote).map(|(at, _)| at).peekable();
    while let Some(at) = quotes.next() {
        if quotes.next_if_eq(&(at + 1)).is_none() {
            return Some(at + 1);
        }
    }
    None
}

/// Returns `$tag$` if `text` begins with it.
fn dollar_tag(text: &str) -> Option<&str> {
    let end = text[1..].find('$')? + 2;
    let tag = &text[1..end - 1];
    (tag.chars().all(is_of_word) && !tag.starts_with(|c: char| c.is_ascii_digit())).then(|| &text[..end])
}

/// Returns what follows the comment that `text` begins with; comments nest.
fn after_comment(text: &str) -> &str {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let here = &text[at..];
        if here.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if here.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return &text[at..];
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_and_comments_are_left_out() {
        for (sql, kept) in [
            ("UPDATE t SET a = 5, b='it''s' WHERE id=$1", "UPDATE t SET a = ?, b=? WHERE id=$1"),
            ("SELECT 1.5e3, t1.c2, \"a 7\"\"'\" FROM t1", "SELECT ?, t1.c2, \"a 7\"\"'\" FROM t1"),
            ("ALTER ROLE me\n\tPASSWORD 'geheim'", "ALTER ROLE me PASSWORD ?"),
            ("SELECT $a$ it's $b$ $a$ || $$x$$", "SELECT ? || ?"),
            ("SELECT /* geheim /* 1 */ */ 2 -- geheim\n, 3", "SELECT ? , ?"),
            ("", ""),
        ] {
            assert_eq!(without_constants(sql), kept, "{sql}");
        }
    }

    #[test]
    fn what_may_be_within_a_constant_is_left_out() {
        for sql in [
            "SELECT 'geheim",
            "SELECT $x$geheim",
            "SELECT $x$geheim$x",
            "SELECT E'a\\'geheim'",
            "SELECT 'a\\' || geheim",
            "/* geheim",
            "SELECT 'a''geheim",
        ] {
            assert!(!without_constants(sql).contains("geheim"), "{sql}: {}", without_constants(sql));
        }
    }

    #[test]
    fn long_statements_are_cut() {
        let long = without_constants(&"é ".repeat(500));
        assert!(long.ends_with('…') && long.chars().count() == MOST + 1, "{long}");
    }
}
