//! Messages about values of the wrong type in a file of the user.

/// Returns serde's message about a value of the wrong type in words for people who know no Rust; other messages as they are.
#[must_use]
pub fn in_plain_words(message: &str) -> String {
    let parts = || {
        let wrong = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "))?;
        wrong.rsplit_once(", expected ")
    };
    let Some((found, expected)) = parts() else { return message.to_owned() };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i32" | "i64" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a string" => "a text in quotes",
        "a sequence" => "a list in [ ]",
        "a map" => "a table in { }",
        nonzero if nonzero.starts_with("a nonzero ") => "a whole number above 0",
        table if table.starts_with("struct ") => "a table in { }",
        other => other,
    };
    let quoted = |kind: &str| found.strip_prefix(kind).map(|value| value.trim_matches('`').to_owned());
    let found = quoted("integer ").or_else(|| quoted("floating point ")).or_else(|| quoted("boolean "));
    let found = found.or_else(|| quoted("string ").map(|text| format!("the text {text}")));
    match found {
        Some(found) => format!("{found} is not {expected}"),
        None => format!("expected {expected}"),
    }
}
