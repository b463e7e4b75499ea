//! The PostgreSQL that a target asks for as its private server.

use std::path::{Path, PathBuf};

use pgdyno_plan::{TargetBuild, TargetName};
use pgdyno_server::{OLDEST_MAJOR, Want};

/// The error when a target names no PostgreSQL for a private server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WantError {
    /// Neither a version nor a directory.
    #[error(
        "'{0}' is no target for the private server: write 'embedded', 'embedded:18' for a major version ({OLDEST_MAJOR} or \
         newer), or 'embedded:/path/to/bin' for a directory with postgres (one below this: 'embedded:./bin'); 'embedded:ha' for a primary with a standby"
    )]
    Unknown(TargetName),
    /// `~name/…`.
    #[error("'{0}': only '~/', your own home directory, can be used here; write the whole path")]
    HomeOfAnother(TargetName),
    /// `~/…` without a home.
    #[error("'{0}' needs a home directory, and HOME is not set; write the whole path")]
    NoHome(TargetName),
}

/// Returns the PostgreSQL that a target asks for.
///
/// # Errors
/// When the target is no private server, or its version is too old.
pub fn wanted(target: &TargetName) -> Result<Want, WantError> {
    match target.kind().build() {
        Some(TargetBuild::Any | TargetBuild::Pair { .. }) => Ok(Want::Any),
        Some(TargetBuild::Major(major)) if *major >= OLDEST_MAJOR => Ok(Want::Major(*major)),
        Some(TargetBuild::Directory(dir)) => Ok(Want::Directory(PathBuf::from(dir))),
        Some(TargetBuild::Major(_) | TargetBuild::Unknown) | None => Err(WantError::Unknown(target.clone())),
    }
}

/// Returns the target that asks for this PostgreSQL.
pub(super) fn named(want: &Want) -> TargetName {
    match want {
        Want::Any => TargetName::private(),
        Want::Major(major) => TargetName::private_of(*major),
        Want::Directory(dir) => TargetName::private_in(dir.display()),
    }
}

/// Makes a directory absolute: one that begins with `~/` is below `home`, any other below `base`.
///
/// # Errors
/// For `~name/`, and for `~/` without a home.
pub(super) fn absolute(want: Want, base: &Path, home: Option<&Path>) -> Result<Want, WantError> {
    let Want::Directory(path) = &want else { return Ok(want) };
    let mut parts = path.components();
    let path = match parts.next().map(|part| part.as_os_str().to_string_lossy()) {
        Some(first) if first == "~" => {
            let home = home.filter(|home| home.is_absolute()).ok_or_else(|| WantError::NoHome(named(&want)))?;
            home.join(parts.as_path())
        }
        Some(first) if first.starts_with('~') => return Err(WantError::HomeOfAnother(named(&want))),
        _ => base.join(path),
    };
    // Removes "." and doubled slashes; ".." stays, because it may follow a link.
    Ok(Want::Directory(path.components().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_private_servers_are_of_a_build() {
        assert_eq!(wanted(&"embedded".into()), Ok(Want::Any));
        assert_eq!(wanted(&"embedded:18".into()), Ok(Want::Major(18)));
        for bad in ["embedded:", "embedded:x", "embedded:+8", "embedded:0", "embedded:9", "embedded18", "host=x"] {
            assert_eq!(wanted(&bad.into()), Err(WantError::Unknown(bad.into())));
        }
        for dir in ["/opt/pg/bin", "./bin", "~/pg", "../pg", "a/b", ".", ".."] {
            let target = TargetName::from(format!("embedded:{dir}"));
            let want = wanted(&target).unwrap();
            assert_eq!((&want, named(&want)), (&Want::Directory(dir.into()), target));
        }
    }

    #[test]
    fn directories_become_absolute() {
        let made = |dir: &str, home: Option<&str>| {
            let want = absolute(Want::Directory(dir.into()), Path::new("/base"), home.map(Path::new));
            want.map(|want| named(&want).to_string()).map_err(|error| error.to_string())
        };
        for (dir, path) in
            [("/opt//pg/bin/", "/opt/pg/bin"), ("./bin", "/base/bin"), ("../x", "/base/../x"), ("~/pg", "/home/me/pg")]
        {
            assert_eq!(made(dir, Some("/home/me")), Ok(format!("embedded:{path}")));
        }
        assert_eq!(made("~", Some("/home/me")), Ok("embedded:/home/me".to_owned()));
        assert!(made("~/pg", None).unwrap_err().contains("HOME is not set"));
        assert!(made("~you/pg", Some("/home/me")).unwrap_err().contains("write the whole path"));
        assert_eq!(absolute(Want::Major(18), Path::new("/base"), None), Ok(Want::Major(18)));
    }
}
