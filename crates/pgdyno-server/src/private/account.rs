//! Accounts of the operating system, and the one that the server runs as.

use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// An account of the operating system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Its name.
    pub name: String,
    /// Its user id.
    pub uid: u32,
    /// Its primary group.
    pub gid: u32,
    /// Its home directory.
    pub home: PathBuf,
}

/// The error when there is no account for the server.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    /// PostgreSQL refuses to run as root, and there is no other account.
    #[error(
        "PostgreSQL refuses to run as root, and there is neither an account 'postgres' nor 'nobody' \
         to run it as; add one of them, or start pgdyno as an ordinary user"
    )]
    NobodyToRunAs,
    /// initdb and peer authentication need the name of the account.
    #[error(
        "user id {0} has no entry in the password database, which PostgreSQL needs to start; \
         add one, or start pgdyno as another user"
    )]
    Nameless(u32),
}

impl Account {
    /// Returns the account with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = CString::new(name).ok()?;
        look_up(|entry, buffer, found| {
            // SAFETY: all pointers are to live values, and the buffer has this length.
            unsafe { libc::getpwnam_r(name.as_ptr(), entry, buffer.as_mut_ptr(), buffer.len(), found) }
        })
    }

    /// Returns the account with this user id.
    #[must_use]
    pub fn with_uid(uid: u32) -> Option<Self> {
        look_up(|entry, buffer, found| {
            // SAFETY: as above.
            unsafe { libc::getpwuid_r(uid, entry, buffer.as_mut_ptr(), buffer.len(), found) }
        })
    }

    /// Returns the account of this process.
    ///
    /// # Errors
    /// When it has no name.
    pub fn own() -> Result<Self, AccountError> {
        let uid = rustix::process::geteuid().as_raw();
        Self::with_uid(uid).ok_or(AccountError::Nameless(uid))
    }

    /// Returns the account for servers of this process, if it is another one: for root `postgres`, else `nobody`.
    ///
    /// # Errors
    /// When root has neither.
    pub fn for_server() -> Result<Option<Self>, AccountError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(None);
        }
        ["postgres", "nobody"]
            .into_iter()
            .filter_map(Self::named)
            .find(|account| account.uid != 0)
            .map(Some)
            .ok_or(AccountError::NobodyToRunAs)
    }
}

/// Calls one of the `getpw*_r` functions with a buffer that is large enough.
fn look_up(
    call: impl Fn(*mut libc::passwd, &mut [libc::c_char], *mut *mut libc::passwd) -> libc::c_int,
) -> Option<Account> {
    let mut buffer = vec![0 as libc::c_char; 1024];
    loop {
        // SAFETY: `passwd` is plain data, for which zeroes are a valid value.
        let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
        let mut found = std::ptr::null_mut();
        match call(&mut entry, &mut buffer, &mut found) {
            0 if found.is_null() => return None,
            0 => {
                let text = |pointer: *const libc::c_char| {
                    // SAFETY: a found entry's strings end with 0 and live in `buffer`.
                    unsafe { CStr::from_ptr(pointer) }
                };
                return Some(Account {
                    name: text(entry.pw_name).to_str().ok()?.to_owned(),
                    uid: entry.pw_uid,
                    gid: entry.pw_gid,
                    home: PathBuf::from(OsStr::from_bytes(text(entry.pw_dir).to_bytes())),
                });
            }
            libc::ERANGE if buffer.len() < 1 << 20 => buffer.resize(buffer.len() * 4, 0),
            libc::EINTR => {}
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_is_known_by_name_and_by_number() {
        let root = Account::named("root").unwrap();
        assert_eq!(root.uid, 0);
        assert_eq!(Account::with_uid(0), Some(root));
    }

    #[test]
    fn an_unknown_name_is_nobody() {
        assert_eq!(Account::named("no such account, surely"), None);
        assert_eq!(Account::named("nul\0byte"), None);
    }

    #[test]
    fn a_server_never_runs_as_root() {
        if let Ok(Some(account)) = Account::for_server() {
            assert_ne!(account.uid, 0);
        }
    }
}
