//! Names of a data set that pgdyno gave to data of other workloads.

use std::fmt;

use pgdyno_net::{Admin, AdminError, quote};
use pgdyno_workload::DataSet;

use crate::LoadError;
use crate::state::inventory::Inventory;
use crate::state::object::Object;
use crate::state::owner::Owner;
use crate::state::stamp;

/// Names that data of other workloads has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The data set that needs them.
    pub dataset: String,
    /// The workload that needs them.
    pub workload: String,
    /// The schema.
    pub schema: String,
    /// The data sets that have them, at least one.
    pub owners: Vec<Owner>,
    /// Whether a load with force drops them.
    pub is_forcible: bool,
}

impl fmt::Display for Taken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { workload, schema, owners, .. } = self;
        let mut names: Vec<_> = owners.iter().map(|owner| owner.workload.as_str()).collect();
        names.dedup();
        let objects = owners.iter().flat_map(|owner| &owner.objects).cloned().collect::<Vec<_>>().join(", ");
        let has = if names.len() == 1 { "has" } else { "have" };
        let drops = names.iter().map(|name| format!("`pgdyno drop {name}`")).collect::<Vec<_>>().join(" and ");
        write!(
            f,
            "{}, loaded by pgdyno, {has} {objects} in schema {schema}, and {workload} needs these names; use another schema \
             or database, or {drops}",
            names.join(" and ")
        )?;
        if self.is_forcible {
            write!(f, "; `pgdyno load {workload} --force` drops all of that data first")?;
        }
        Ok(())
    }
}

/// Returns the data sets that have objects of an inventory; empty if there is none.
pub(crate) fn owners(admin: &mut Admin, inventory: &Inventory) -> Result<Vec<Owner>, AdminError> {
    let mut owners: Vec<Owner> = Vec::new();
    for object in inventory.objects() {
        let Some(dataset) = &object.owner else { continue };
        match owners.iter_mut().find(|owner| owner.dataset == *dataset) {
            Some(owner) => owner.objects.push(object.title()),
            None => {
                let workload = workload(admin, inventory, dataset)?;
                owners.push(Owner { dataset: dataset.clone(), workload, objects: vec![object.title()] });
            }
        }
    }
    owners.sort_by(|a, b| (&a.workload, &a.dataset).cmp(&(&b.workload, &b.dataset)));
    Ok(owners)
}

/// Returns the workload that loaded a data set.
fn workload(admin: &mut Admin, inventory: &Inventory, dataset: &str) -> Result<String, AdminError> {
    let stamp = match inventory.has_stamps {
        true => stamp::read(admin, &inventory.schema, dataset)?,
        false => None,
    };
    Ok(stamp.map_or_else(|| dataset.to_owned(), |(stamp, _)| stamp.workload))
}

/// Returns the error for objects that pgdyno made for other workloads, if there are any.
pub(crate) fn taken(admin: &mut Admin, inventory: &Inventory, data: &dyn DataSet) -> Result<Option<Taken>, LoadError> {
    let owners = owners(admin, inventory).map_err(LoadError::Catalog)?;
    let (dataset, workload) = (data.meta().dataset.to_owned(), data.meta().id.to_owned());
    let schema = inventory.schema.clone();
    Ok((!owners.is_empty()).then_some(Taken { dataset, workload, schema, owners, is_forcible: true }))
}

/// Returns the data sets that have relations or routines of these names in the current schema.
pub(crate) fn owners_of(admin: &mut Admin, schema: &str, names: &[&str]) -> Result<Vec<Owner>, AdminError> {
    let names = names.iter().map(|name| quote::literal(name)).collect::<Vec<_>>().join(", ");
    let current = "(select oid from pg_namespace where nspname = current_schema())";
    let rows = admin.query(&format!(
        "select 'table ' || relname, obj_description(oid, 'pg_class') from pg_class \
         where relnamespace = {current} and relname = any (array[{names}]::name[]) \
         union all select 'routine ' || proname, obj_description(oid, 'pg_proc') from pg_proc \
         where pronamespace = {current} and proname = any (array[{names}]::name[]) order by 1"
    ))?;
    let stamps = format!("select to_regclass({})", quote::literal(&format!("{schema}.{}", stamp::STAMP_TABLE)));
    let has_stamps = admin.query_opt(&stamps)?.is_some();
    let object = |row: Vec<Option<String>>| {
        let [name, comment] = <[Option<String>; 2]>::try_from(row).ok()?;
        let (kind, name) = name?.split_once(' ').map(|(kind, name)| (kind == "table", name.to_owned()))?;
        let owner = Some(stamp::dataset_of(&comment?)?.to_owned());
        Some(Object { kind: if kind { "table" } else { "routine" }, sql: String::new(), identity: None, owner, name })
    };
    let relations = rows.rows.into_iter().filter_map(object).collect();
    let inventory = Inventory { schema: schema.to_owned(), has_stamps, relations, routines: Vec::new(), maker: None };
    owners(admin, &inventory)
}
