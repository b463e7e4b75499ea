//! Objects that SQL made: found by comparing the catalog before and after, and marked.
//!
//! Only independent objects are marked: a table's indexes, triggers, constraints and sequences are dropped with it,
//! and an extension's functions with the extension.

use std::collections::HashSet;

use pgdyno_net::{Admin, AdminError, quote};

use crate::state::object::Object;
use crate::state::stamp;

/// An object of the catalog: its catalog table, and its OID.
pub(crate) type Address = (u32, u32);

/// OIDs below this belong to PostgreSQL.
///
/// Source: `FirstNormalObjectId` in PostgreSQL's `access/transam.h`.
const FIRST_OWN_OID: u32 = 16384;

/// Catalogs that are compared: of independent objects, and of those that belong to them.
const CATALOGS: [&str; 22] = [
    "pg_class",
    "pg_proc",
    "pg_type",
    "pg_namespace",
    "pg_extension",
    "pg_constraint",
    "pg_trigger",
    "pg_rewrite",
    "pg_policy",
    "pg_statistic_ext",
    "pg_collation",
    "pg_conversion",
    "pg_operator",
    "pg_opclass",
    "pg_opfamily",
    "pg_cast",
    "pg_ts_config",
    "pg_ts_dict",
    "pg_foreign_data_wrapper",
    "pg_foreign_server",
    "pg_publication",
    "pg_event_trigger",
];

/// SQL's names for the kinds of `pg_identify_object`, in a good order for dropping.
const KINDS: [(&str, &str); 29] = [
    ("event trigger", "event trigger"),
    ("publication", "publication"),
    ("rule", "rule"),
    ("policy", "policy"),
    ("trigger", "trigger"),
    ("view", "view"),
    ("materialized view", "materialized view"),
    ("foreign table", "foreign table"),
    ("table", "table"),
    ("sequence", "sequence"),
    ("index", "index"),
    ("statistics object", "statistics"),
    ("function", "function"),
    ("procedure", "procedure"),
    ("aggregate", "aggregate"),
    ("cast", "cast"),
    ("operator class", "operator class"),
    ("operator family", "operator family"),
    ("operator", "operator"),
    ("text search configuration", "text search configuration"),
    ("text search dictionary", "text search dictionary"),
    ("composite type", "type"),
    ("type", "type"),
    ("server", "server"),
    ("foreign-data wrapper", "foreign data wrapper"),
    ("collation", "collation"),
    ("conversion", "conversion"),
    ("extension", "extension"),
    ("schema", "schema"),
];

/// Returns SQL's name for a kind of `pg_identify_object`, if it can be marked and dropped.
pub(crate) fn kind(found: &str) -> Option<&'static str> {
    KINDS.iter().find(|(name, _)| *name == found).map(|(_, sql)| *sql)
}

/// Returns the kinds of objects by their SQL names, in a good order for dropping.
pub(crate) fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|(_, sql)| *sql)
}

/// Returns everything that is not part of PostgreSQL, as the transaction sees it.
pub(crate) fn everything(admin: &mut Admin) -> Result<HashSet<Address>, AdminError> {
    let one = |catalog: &&str| {
        // The triggers of a foreign key belong to it.
        let more = if *catalog == "pg_trigger" { " and not tgisinternal" } else { "" };
        format!("select tableoid, oid from pg_catalog.{catalog} where oid >= {FIRST_OWN_OID}{more}")
    };
    let rows = admin.query(&CATALOGS.iter().map(one).collect::<Vec<_>>().join(" union all "))?;
    let number = |text: &Option<String>| text.as_deref().and_then(|n| n.parse().ok());
    Ok(rows.rows.iter().filter_map(|row| Some((number(&row[0])?, number(&row[1])?))).collect())
}

/// Objects that were marked.
#[derive(Debug, Default)]
pub(crate) struct Marked {
    /// Independent tables, each by its SQL name.
    pub(crate) tables: Vec<Object>,
    /// Number of objects of all kinds.
    pub(crate) count: usize,
    /// Objects that cannot be marked, in words.
    pub(crate) unmarkable: Vec<String>,
}

/// Marks the independent objects in `made`. Skips dropped and temporary ones.
pub(crate) fn mark(
    admin: &mut Admin,
    made: &HashSet<Address>,
    dataset: &str,
    identity: &str,
    home: &str,
) -> Result<Marked, AdminError> {
    let mut marked = Marked::default();
    if made.is_empty() {
        return Ok(marked);
    }
    let list = |of: fn(&Address) -> u32| made.iter().map(|a| of(a).to_string()).collect::<Vec<_>>().join(",");
    let rows = admin.query(&format!(
        "with made (classid, objid) as materialized (select * from unnest('{{{}}}'::oid[], '{{{}}}'::oid[])) \
         select o.type, o.identity, d.description from made m \
         cross join lateral pg_catalog.pg_identify_object(m.classid, m.objid, 0) o \
         left join pg_catalog.pg_description d on (d.classoid, d.objoid, d.objsubid) = (m.classid, m.objid, 0) \
         where o.type is not null and o.identity is not null and coalesce(o.schema, '') not like 'pg\\_temp%' \
         and o.identity not like 'pg\\_temp%' and o.identity not like 'pg\\_toast%' \
         and not exists (select from pg_catalog.pg_depend p where (p.classid, p.objid) = (m.classid, m.objid) \
         and (p.refclassid, p.refobjid) <> (m.classid, m.objid) and (p.deptype = 'e' or p.deptype in ('a', 'i', 'P', 'S') \
         and exists (select from made r where (r.classid, r.objid) = (p.refclassid, p.refobjid)))) \
         order by o.type, o.identity",
        list(|a| a.0),
        list(|a| a.1),
    ))?;
    let mut comments = String::new();
    for row in rows.rows {
        let [found, sql, comment] = <[Option<String>; 3]>::try_from(row).unwrap_or_default();
        let (found, sql) = (found.unwrap_or_default(), sql.unwrap_or_default());
        let Some(kind) = kind(&found) else {
            marked.unmarkable.push(format!("{found} {sql}"));
            continue;
        };
        let mark = stamp::mark_of_made(dataset, identity, home, comment.as_deref());
        comments.push_str(&format!("comment on {kind} {sql} is {};\n", quote::literal(&mark)));
        marked.count += 1;
        if kind == "table" {
            marked.tables.push(Object::made(kind, &sql, home, identity));
        }
    }
    if !comments.is_empty() {
        admin.execute(&comments)?;
    }
    Ok(marked)
}

/// Returns everything with the mark of a data set that belongs to schema `home`.
pub(crate) fn find(admin: &mut Admin, dataset: &str, home: &str) -> Result<Vec<Object>, AdminError> {
    let pattern =
        format!("%{}%", stamp::mark(dataset, "").replace('\\', r"\\").replace('%', r"\%").replace('_', r"\_"));
    let rows = admin.query(&format!(
        "select o.type, o.identity, d.description from pg_catalog.pg_description d \
         cross join lateral pg_catalog.pg_identify_object(d.classoid, d.objoid, 0) o \
         where d.objsubid = 0 and d.description like {} and o.identity is not null order by 1, 2",
        quote::literal(&pattern),
    ))?;
    let object = |row: Vec<Option<String>>| {
        let [found, sql, comment] = <[Option<String>; 3]>::try_from(row).unwrap_or_default();
        let comment = comment?;
        let identity = stamp::marked_as_made(&comment, dataset, home)?;
        Some(Object::made(kind(&found?)?, &sql?, home, identity))
    };
    Ok(rows.rows.into_iter().filter_map(object).collect())
}
