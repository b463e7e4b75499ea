//! The schema of a meeting: created on demand, and its version.

use pgdyno_net::{Admin, AdminError, ConnectOptions};
use pgdyno_wire::SqlState;

use super::MeetError;

/// Version of the schema. Another one is refused.
pub const VERSION: u32 = 1;

/// The tables. Nothing in them is needed after the runs that they are about.
pub const SCHEMA: &str = include_str!("schema.sql");

/// Creates the schema if it is not there, and checks its version.
pub(super) fn provide(admin: &mut Admin, options: &ConnectOptions) -> Result<(), MeetError> {
    loop {
        if has_version(admin)? {
            return admit(admin, options);
        }
        match create(admin) {
            Ok(()) => {}
            // Another user created it at the same time.
            Err(error) if is_there(&error) => {}
            Err(error) if error.code() == Some(SqlState::INSUFFICIENT_PRIVILEGE) => {
                let (role, database) = (options.user().to_owned(), options.dbname().to_owned());
                return Err(MeetError::NotAllowed { role, database });
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn has_version(admin: &mut Admin) -> Result<bool, AdminError> {
    Ok(admin.query_one("SELECT to_regclass('pgdyno_meet.version') IS NOT NULL")? == "t")
}

/// Checks the version of the schema.
pub(super) fn admit(admin: &mut Admin, options: &ConnectOptions) -> Result<(), MeetError> {
    let database = options.dbname().to_owned();
    let version = admin.query_opt("SELECT max(version) FROM pgdyno_meet.version")?;
    match version.and_then(|version| version.parse().ok()) {
        Some(VERSION) => Ok(()),
        Some(found) => Err(MeetError::Version { database, found }),
        None => Err(MeetError::NoVersion { database }),
    }
}

fn create(admin: &mut Admin) -> Result<(), AdminError> {
    // An administrator may have made an empty schema for a role that may not create any.
    let has_schema = admin.query_one("SELECT to_regnamespace('pgdyno_meet') IS NOT NULL")? == "t";
    let schema = if has_schema { "" } else { "CREATE SCHEMA pgdyno_meet;" };
    let created =
        admin.execute(&format!("BEGIN; {schema} {SCHEMA} INSERT INTO pgdyno_meet.version VALUES ({VERSION}); COMMIT"));
    if created.is_err() {
        // The failed statement left its transaction open.
        admin.execute("ROLLBACK")?;
    }
    created.map(drop)
}

/// Returns true if the error says that something exists already.
fn is_there(error: &AdminError) -> bool {
    let code = error.code().map(|code| code.to_string()).unwrap_or_default();
    ["42P06", "42P07", "23505"].contains(&code.as_str())
}
