//! What a load needs of the server, looked at before anything is created or dropped.

use pgdyno_net::{Admin, AdminError};

use crate::LoadError;

/// The schema of new tables, the role, and whether it may create tables there.
const CREATE: &str = "select quote_ident(current_schema()), quote_ident(current_user::text), quote_ident(current_database()), \
                      has_schema_privilege(current_schema(), 'create')";

/// Refuses a load that the role may not do.
///
/// # Errors
/// [`LoadError::NoSchema`] and [`LoadError::NoCreate`]; also when the connection is lost.
pub fn admit(admin: &mut Admin) -> Result<(), LoadError> {
    let row = match admin.promptly("whether tables can be created", |admin| admin.query(CREATE)) {
        Ok(rows) => rows.rows.into_iter().next().unwrap_or_default(),
        // What the load itself needs, it finds out.
        Err(AdminError::Server { .. } | AdminError::Shape { .. }) => return Ok(()),
        Err(error) => return Err(LoadError::Catalog(error)),
    };
    let [schema, role, database, may_create] = <[Option<String>; 4]>::try_from(row).unwrap_or_default();
    let Some(schema) = schema else { return Err(LoadError::no_schema(admin)) };
    if may_create.as_deref() != Some("f") {
        return Ok(());
    }
    Err(LoadError::NoCreate { schema, role: role.unwrap_or_default(), database: database.unwrap_or_default() })
}
