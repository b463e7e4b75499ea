//! The schema that was loaded: read at the end of a load, kept in the stamp, and compared with the present one.

use pgdyno_net::{Admin, AdminError, quote};
use pgdyno_workload::{Capabilities, DataSet};

use crate::LoadError;
use crate::state::inventory::Inventory;
use crate::state::schema::{Schema, SchemaDifference, SchemaPart};
use crate::state::stamp;
use crate::steps::{self, StepOutcome};

/// Knowledge of loaded data.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Rows that each table has by the stamp; empty without one.
    pub(crate) rows: Vec<(String, u64)>,
    /// Differences of tables and routines from those loaded; `None` if no stamp keeps the schema.
    pub(crate) differences: Option<Vec<SchemaDifference>>,
    /// The reason why no differences are known, if the stamp of an older pgdyno keeps no schema.
    pub(crate) schema_unknown: Option<String>,
    /// What runs have noted in the stamp.
    pub(crate) changes: Option<String>,
    /// Tables that were emptied or rewritten since the load; `None` if unknown.
    pub(crate) emptied: Option<Vec<String>>,
}

/// Kind of the part for the file of a table's rows: TRUNCATE and rewrites of a table change it.
const FILE: &str = "file";

/// Returns the differences of tables and routines from those loaded; `None` if no stamp keeps the schema: data of
/// other programs, or of an older pgdyno. Only reads the catalog.
///
/// # Errors
/// When the catalog cannot be read, or there is no schema.
pub fn differences(
    admin: &mut Admin,
    data: &dyn DataSet,
    caps: &Capabilities,
) -> Result<Option<Vec<SchemaDifference>>, LoadError> {
    known(admin, data, caps).map(|known| known.differences)
}

/// Returns true if a routine was changed since it was noted.
pub(crate) fn routines_differ(admin: &mut Admin, data: &dyn DataSet, caps: &Capabilities) -> Result<bool, LoadError> {
    let differences = known(admin, data, caps)?.differences.unwrap_or_default();
    Ok(differences.iter().any(|difference| difference.part.is_routine()))
}

/// Returns the content of the stamp if it is complete.
pub(crate) fn known(admin: &mut Admin, data: &dyn DataSet, caps: &Capabilities) -> Result<Known, LoadError> {
    let inventory = Inventory::take(admin, data, caps)?;
    let dataset = data.meta().dataset;
    // An object without a mark is another program's, whatever the stamp says.
    let read = match inventory.has_stamps && inventory.foreign().is_empty() {
        true => stamp::read_with_layout(admin, &inventory.schema, dataset).map_err(LoadError::Catalog)?,
        false => None,
    };
    let Some((stamp, true, layout)) = read else { return Ok(Known::default()) };
    let Some(mut expected) = layout else {
        let why = format!(
            "pgdyno {} loaded the data without recording its schema, so the schema cannot be checked; `{} --replace` \
             loads it again with one",
            stamp.pgdyno,
            stamp::command(data, &stamp)
        );
        return Ok(Known { rows: stamp.rows, changes: stamp.changes, schema_unknown: Some(why), ..Known::default() });
    };
    if data.sql_data().is_none() && data.routines(caps).list.is_empty() {
        expected.retain(|part| !part.is_routine());
    }
    let found = steps::SCHEMA.decide(found(admin, data, caps, &inventory));
    let mut found = match found.map_err(|error| LoadError::Catalog(error.source))? {
        StepOutcome::With(found) => found,
        StepOutcome::LeftOut(why) => {
            let unknown = Known { schema_unknown: Some(why), ..Known::default() };
            return Ok(Known { rows: stamp.rows, changes: stamp.changes, ..unknown });
        }
    };
    let gone = expected.parts().filter(|(part, file)| part.kind == FILE && found.get(part) != Some(file));
    let emptied = gone.map(|(part, _)| part.name.clone()).collect();
    expected.retain(|part| part.kind != FILE);
    found.retain(|part| part.kind != FILE);
    let mut differences = expected.differences(&found);
    // Routines of another version of pgdyno are ignored.
    differences.retain(|difference| difference.was.is_some() || !difference.part.is_routine());
    // If nodes hold the rows, this server does not show that they are gone.
    let emptied = (!caps.distributed_tables).then_some(emptied);
    Ok(Known {
        rows: stamp.rows,
        differences: Some(differences),
        schema_unknown: None,
        changes: stamp.changes,
        emptied,
    })
}

/// Returns the present schema of a data set.
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
    let literals: Vec<_> = tables.iter().map(|table| quote::literal(table)).collect();
    let files = admin.query(&format!(
        "select pg_relation_filenode(to_regclass(name)) from unnest(array[{}]::text[]) with ordinality as t (name, nth) order by nth",
        literals.join(", ")
    ))?;
    for (name, file) in data.tables(caps).iter().map(|table| table.name).zip(files.rows) {
        if let Some(Some(file)) = file.first() {
            schema.insert(SchemaPart::new(name, FILE, name), file);
        }
    }
    // For views, types and the like only their existence counts.
    for other in inventory.relations.iter().filter(|o| made_by_sql && o.kind != "table") {
        schema.insert(SchemaPart::new("", other.kind, &other.name), "");
    }
    Ok(schema)
}

/// Notes the present routines as those of the data. If the stamp cannot be written, they count as changed by hand.
pub(crate) fn note_routines(admin: &mut Admin, data: &dyn DataSet, caps: &Capabilities) -> Result<(), LoadError> {
    let inventory = Inventory::take(admin, data, caps)?;
    let (schema, dataset) = (&inventory.schema, data.meta().dataset);
    if !inventory.has_stamps {
        return Ok(());
    }
    let Some(noted) = stamp::layout(admin, schema, dataset).map_err(LoadError::Catalog)? else { return Ok(()) };
    let now = steps::SCHEMA.decide(found(admin, data, caps, &inventory));
    let StepOutcome::With(now) = now.map_err(|error| LoadError::Catalog(error.source))? else { return Ok(()) };
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
