//! Relations that hold the data of a workload on disk.

use pgdyno_net::{Admin, quote};
use pgdyno_workload::DataSet;

use crate::state::inventory::Inventory;
use crate::{LoadError, state};

/// A table, an index or a TOAST table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRelation {
    /// Its OID, for SQL.
    pub oid: String,
    /// Its name, with the schema if that is not on the search path.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// Returns the relations of the workload's data on the node that `admin` is connected to: first tables with their
/// partitions, then TOAST tables, then the indexes of both.
///
/// # Errors
/// When the server refuses, or the connection is lost.
pub fn stored(admin: &mut Admin, data: &dyn DataSet) -> Result<Vec<StoredRelation>, LoadError> {
    let caps = state::capabilities(admin);
    let inventory = Inventory::take(admin, data, &caps)?;
    let tables = inventory
        .relations
        .iter()
        .filter(|relation| relation.kind.ends_with("table") || relation.kind.ends_with("view"));
    let names: Vec<_> = tables.map(|table| quote::literal(&table.sql)).collect();
    let rows = admin
        .query(&format!(
            "with named as (select name::regclass::oid as oid from unnest(array[{}]::text[]) name), \
             tables as (select coalesce(part.relid, named.oid) as oid from named \
             left join lateral pg_partition_tree(named.oid) part on true), \
             heaps as (select oid from tables union select reltoastrelid from pg_class join tables using (oid)) \
             select oid, oid::regclass, pg_relation_size(oid) from pg_class where relkind in ('r', 'm', 't', 'i') \
             and (oid in (select oid from heaps) or oid in (select indexrelid from pg_index where indrelid in \
             (select oid from heaps))) order by array_position(array['r', 'm', 't', 'i'], relkind::text), pg_class.oid",
            names.join(", ")
        ))
        .map_err(LoadError::Catalog)?;
    let stored = |row: Vec<Option<String>>| {
        let [oid, name, bytes] =
            <[Option<String>; 3]>::try_from(row).unwrap_or_default().map(Option::unwrap_or_default);
        StoredRelation { oid, name, bytes: bytes.parse().unwrap_or_default() }
    };
    Ok(rows.rows.into_iter().map(stored).collect())
}
