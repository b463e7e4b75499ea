//! The environment of libpq, as a value.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::Secret;

/// Environment variables, the home directory and the name of the operating system's user.
#[derive(Clone, Debug, Default)]
pub struct Env {
    // Secret as a whole, because PGPASSWORD is part of it.
    vars: Secret<BTreeMap<String, String>>,
    home: Option<PathBuf>,
    user: Option<String>,
}

impl Default for Secret<BTreeMap<String, String>> {
    fn default() -> Self {
        Self::new(BTreeMap::new())
    }
}

impl Env {
    /// Returns an environment with these values only.
    #[must_use]
    pub fn new<'a>(
        vars: impl IntoIterator<Item = (&'a str, &'a str)>,
        home: Option<&Path>,
        user: Option<&str>,
    ) -> Self {
        Self {
            vars: Secret::new(vars.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect()),
            home: home.map(Path::to_owned),
            user: user.map(str::to_owned),
        }
    }

    /// Returns the environment of this process. Skips variables that are not UTF-8.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "here the variables of libpq are read")]
    pub fn from_process() -> Self {
        let vars: BTreeMap<String, String> =
            std::env::vars_os().filter_map(|(k, v)| Some((k.into_string().ok()?, v.into_string().ok()?))).collect();
        let uid = rustix::process::geteuid().as_raw();
        let account = std::fs::read_to_string("/etc/passwd").ok().and_then(|passwd| name_of(uid, &passwd));
        // Accounts of a directory service are not in the file; the login shell knows them.
        let user = account
            .or_else(|| vars.get("USER").cloned())
            .or_else(|| vars.get("LOGNAME").cloned())
            .filter(|name| !name.is_empty());
        Self { vars: Secret::new(vars), home: std::env::home_dir().filter(|home| !home.as_os_str().is_empty()), user }
    }

    /// Returns the value of a variable; an empty one counts as set, as in libpq.
    #[must_use]
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.reveal().get(name).map(String::as_str)
    }

    /// Returns the home directory.
    #[must_use]
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Returns the name of the operating system's user.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }
}

/// Returns the account name of `uid` in the text of a passwd file.
fn name_of(uid: u32, passwd: &str) -> Option<String> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse::<u32>().ok()? == uid).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_by_its_number() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nbroken\nann:x:1000:1000::/home/ann:/bin/sh\n";
        assert_eq!(name_of(1000, passwd).as_deref(), Some("ann"));
        assert_eq!(name_of(7, passwd), None);
    }

    #[test]
    fn debug_does_not_show_the_password() {
        let env = Env::new([("PGPASSWORD", "hunter2")], None, None);
        assert!(!format!("{env:?}").contains("hunter2"));
    }
}
