//! The value of `search_path`.

const CATALOG: &str = "pg_catalog";

/// Returns a `search_path`, as the server shows it, without `pg_catalog`; `None` if it does not name it.
pub(crate) fn without_catalog(path: &str) -> Option<String> {
    let names = names(path);
    let others: Vec<&str> = names.iter().copied().filter(|name| !is_catalog(name)).collect();
    let is_named = others.len() < names.len();
    is_named.then(|| others.join(", "))
}

/// Returns the names of a list, each as it is written.
fn names(path: &str) -> Vec<&str> {
    let mut is_quoted = false;
    let is_end = |c: char| {
        is_quoted ^= c == '"';
        c == ',' && !is_quoted
    };
    path.split(is_end).map(str::trim).filter(|name| !name.is_empty()).collect()
}

/// Unquoted names are folded to small letters.
fn is_catalog(name: &str) -> bool {
    match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(quoted) => quoted == CATALOG,
        None => name.eq_ignore_ascii_case(CATALOG),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalog_is_taken_out_and_the_other_names_stay_as_they_are() {
        for path in ["\"$user\", public", "", "\"a, pg_catalog\"", "\"PG_CATALOG\"", "\"\"\"pg_catalog\"\"\""] {
            assert_eq!(without_catalog(path), None, "{path}");
        }
        for (path, others) in [
            ("evil, pg_catalog, public", "evil, public"),
            ("\"a,b\",\"pg_catalog\", \"$user\"", "\"a,b\", \"$user\""),
            ("PG_Catalog", ""),
            ("evil-x, pg_catalog", "evil-x"),
            ("\"x\"\"y\", pg_catalog", "\"x\"\"y\""),
        ] {
            assert_eq!(without_catalog(path).as_deref(), Some(others), "{path}");
        }
    }
}
