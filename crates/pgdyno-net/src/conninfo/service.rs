//! The connection service file.

use std::path::{Path, PathBuf};

use super::{ConninfoError, Env, Values, require_known};

/// Why a file that was named cannot be read.
const ABSENT: &str = "there is no such file";

/// Returns the values of service `name`, from the user's file, else from the system's.
pub(super) fn lookup(name: &str, explicit: Option<PathBuf>, env: &Env) -> Result<Values, ConninfoError> {
    let named = explicit.or_else(|| env.var("PGSERVICEFILE").map(PathBuf::from));
    if let Some(path) = named.as_ref().filter(|path| !path.exists()) {
        let (path, reason) = (path.display().to_string(), ABSENT.to_owned());
        return Err(ConninfoError::ServiceFile { path, line: None, reason });
    }
    let files = files(named, env);
    for file in &files {
        if let Ok(text) = std::fs::read_to_string(file)
            && let Some(values) = section(name, &text, file)?
        {
            return Ok(values);
        }
    }
    Err(ConninfoError::NoService { name: name.to_owned(), looked_in: files })
}

/// Returns libpq's files: the one that was named, else that of the home directory; then `PGSYSCONFDIR`, else the
/// directories of Debian's libpq and of one built from source.
fn files(named: Option<PathBuf>, env: &Env) -> Vec<PathBuf> {
    let user = named.or_else(|| env.home().map(|home| home.join(".pg_service.conf")));
    let system = match env.var("PGSYSCONFDIR") {
        Some(dir) => vec![dir],
        None => vec!["/etc/postgresql-common", "/usr/local/pgsql/etc"],
    };
    user.into_iter().chain(system.iter().map(|dir| Path::new(dir).join("pg_service.conf"))).collect()
}

pub(crate) fn section(name: &str, text: &str, path: &Path) -> Result<Option<Values>, ConninfoError> {
    let mut found: Option<Values> = None;
    for (index, line) in text.lines().enumerate() {
        let error = |reason: String| ConninfoError::ServiceFile {
            path: path.display().to_string(),
            line: Some(index + 1),
            reason,
        };
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            if found.is_some() {
                break;
            }
            if header.strip_suffix(']') == Some(name) {
                found = Some(Values::default());
            }
            continue;
        }
        let Some(values) = &mut found else { continue };
        if line.starts_with("ldap") {
            return Err(error("LDAP lookups are not supported".into()));
        }
        let (key, value) = line.split_once('=').ok_or_else(|| error("'=' is missing".into()))?;
        if matches!(key, "service" | "servicefile") {
            return Err(error(format!("{key} may not stand inside a service")));
        }
        let key = require_known(key, true).map_err(|e| error(e.to_string()))?;
        values.insert_if_absent(key, value);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# comment\n[a]\nhost=one\nhost=two\n  port=1  \n[b]\nhost\n[c]\nservice=a\n[d]\nhots=x\n";

    fn read(name: &str) -> Result<Option<Vec<(&'static str, String)>>, String> {
        section(name, FILE, Path::new("f"))
            .map(|found| found.map(|v| v.iter().map(|(k, v)| (k, v.to_owned())).collect()))
            .map_err(|e| e.to_string())
    }

    #[test]
    fn the_first_value_of_a_section_counts() {
        assert_eq!(read("a"), Ok(Some(vec![("host", "one".into()), ("port", "1".into())])));
        assert_eq!(read("z"), Ok(None));
    }

    #[test]
    fn a_broken_section_is_refused_with_its_line() {
        for (name, message) in [
            ("b", "service file f line 7: '=' is missing"),
            ("c", "service file f line 9: service may not stand inside a service"),
            ("d", "service file f line 11: connection parameter 'hots' does not exist; did you mean 'host'?"),
        ] {
            assert_eq!(read(name), Err(message.to_owned()));
        }
    }
}
