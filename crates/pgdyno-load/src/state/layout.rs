//! The schema that was loaded: read at the end of a load, kept in the stamp, held against what there is.

use pgdyno_net::{Admin, AdminError, quote};
use pgdyno_workload::{Capabilities, DataSet};

use crate::LoadError;
use crate::state::inventory::Inventory;
use crate::state::schema::{Difference, Part, Schema};
use crate::state::stamp;

/// What is known of data that was loaded.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Rows of each table right after the load; none without a stamp.
    pub(crate) rows: Vec<(String, u64)>,
    /// How tables and routines differ from what was loaded; `None` where no stamp keeps that.
    pub(crate) differences: Option<Vec<Difference>>,
    /// Why there are no differences to tell, where the stamp of an older pgdyno keeps no schema.
    pub(crate) schema_unknown: Option<String>,
    /// Tables that were emptied or written anew since the load; `None` where that is not known.
    pub(crate) emptied: Option<Vec<String>>,
}

/// What a part is called that says where a table's rows are: TRUNCATE and what rewrites a table change that.
const FILE: &str = "file";

/// How tables and routines differ from what was loaded; `None` where no stamp keeps that: other programs' data, or
/// data that an older pgdyno loaded. Only reads the catalog.
///
/// # Errors
/// When the catalog cannot be read, or there is no schema.
pub fn differences(
    admin: &mut Admin,
    data: &dyn DataSet,
    caps: &Capabilities,
) -> Result<Option<Vec<Difference>>, LoadError> {
    known(admin, data, caps).map(|known| known.differences)
}

/// Whether a routine is not as it was when it was noted.
pub(crate) fn routines_differ(admin: &mut Admin, data: &dyn DataSet, caps: &Capabilities) -> Result<bool, LoadError> {
    let differences = known(admin, data, caps)?.differences.unwrap_or_default();
    Ok(differences.iter().any(|difference| difference.part.is_routine()))
}

/// What the stamp knows, where it is complete.
pub(crate) fn known(admin: &mut Admin, data: &dyn DataSet, caps: &Capabilities) -> Result<Known, LoadError> {
    let inventory = Inventory::take(admin, data, caps)?;
    let dataset = data.meta().dataset;
    // What bears no mark is another program's, whatever the stamp says.
    let read = match inventory.has_stamps && inventory.foreign().is_empty() {
        true => stamp::read(admin, &inventory.schema, dataset).map_err(LoadError::Catalog)?,
        false => None,
    };
    let Some((stamp, true)) = read else { return Ok(Known::default()) };
    let layout = stamp::layout(admin, &inventory.schema, dataset).map_err(LoadError::Catalog)?;
    let Some(mut expected) = layout else {
        let why = format!(
            "pgdyno {} loaded the data, and its stamp keeps no schema to hold this one against; `{} --replace` loads it anew \
             with one",
            stamp.pgdyno,
            stamp::command(data, &stamp)
        );
        return Ok(Known { rows: stamp.rows, schema_unknown: Some(why), ..Known::default() });
    };
    if data.sql_data().is_none() && data.routines(caps).list.is_empty() {
        expected.retain(|part| !part.is_routine());
    }
    let mut found = found(admin, data, caps, &inventory).map_err(LoadError::Catalog)?;
    let gone = expected.parts().filter(|(part, file)| part.kind == FILE && found.get(part) != Some(file));
    let emptied = gone.map(|(part, _)| part.name.clone()).collect();
    expected.retain(|part| part.kind != FILE);
    found.retain(|part| part.kind != FILE);
    let mut differences = expected.differences(&found);
    // Routines of another version of pgdyno are in nobody's way.
    differences.retain(|difference| difference.was.is_some() || !difference.part.is_routine());
    // Where nodes hold the rows, nothing here tells that they are gone.
    let emptied = (!caps.distributed_tables).then_some(emptied);
    Ok(Known { rows: stamp.rows, differences: Some(differences), schema_unknown: None, emptied })
}

/// What there is of a data set.
pub(crate) fn found(
    admin: &mut Admin,
    data: &dyn DataSet,
    caps: &Capabilities,
    inventory: &Inventory,
) -> Result<Schema, AdminError> {
    let made_by_sql = data.sql_data().is_some();
    let tables: Vec<_> = match made_by_sql {
        true => inventory.relations.iter().filter(|o| o.kind == "table").map(|o| o.sql.clone()).collect(),
        false => {
            let name = |name: &str| format!("{}.{}", inventory.schema, quote::identifier(name));
            data.tables(caps).iter().map(|table| name(table.name)).collect()
        }
    };
    let routines: Vec<_> = inventory.routines.iter().map(|routine| routine.sql.clone()).collect();
    let mut schema = Schema::read(admin, &tables, &routines)?;
    for (name, table) in data.tables(caps).iter().map(|table| table.name).zip(&tables) {
        let sql = format!("select pg_relation_filenode(to_regclass({}))", quote::literal(table));
        if let Some(file) = admin.query_opt(&sql)? {
            schema.insert(Part::new(name, FILE, name), &file);
        }
    }
    // Of views, types and the like it counts only that they are there.
    for other in inventory.relations.iter().filter(|o| made_by_sql && o.kind != "table") {
        schema.insert(Part::new("", other.kind, &other.name), "");
    }
    Ok(schema)
}

/// Notes that the routines of now are those that belong to the data. Where the stamp cannot be written they count as
/// changed by hand.
pub(crate) fn note_routines(admin: &mut Admin, data: &dyn DataSet, caps: &Capabilities) -> Result<(), LoadError> {
    let inventory = Inventory::take(admin, data, caps)?;
    let (schema, dataset) = (&inventory.schema, data.meta().dataset);
    if !inventory.has_stamps {
        return Ok(());
    }
    let Some(noted) = stamp::layout(admin, schema, dataset).map_err(LoadError::Catalog)? else { return Ok(()) };
    let now = found(admin, data, caps, &inventory).map_err(LoadError::Catalog)?;
    let mut layout = noted.clone();
    layout.retain(|part| !part.is_routine());
    for (part, definition) in now.parts().filter(|(part, _)| part.is_routine()) {
        layout.insert(part.clone(), definition);
    }
    if layout != noted {
        drop(admin.execute(&stamp::layout_sql(schema, dataset, &layout)));
    }
    Ok(())
}
