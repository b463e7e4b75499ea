//! Objects in the database with the names of a data set, or its mark.

use pgdyno_net::{Admin, AdminError, quote};
use pgdyno_workload::{Capabilities, DataSet, Maker};

use crate::LoadError;
use crate::state::object::Object;
use crate::state::owner::{self, Owner, Taken};
use crate::state::{maker, sql_objects, stamp};

/// Objects found in the database.
#[derive(Debug)]
pub(crate) struct Inventory {
    /// The schema, quoted if necessary.
    pub(crate) schema: String,
    /// Whether the table of stamps exists.
    pub(crate) has_stamps: bool,
    /// All objects except routines, of data that SQL made.
    pub(crate) relations: Vec<Object>,
    pub(crate) routines: Vec<Object>,
    /// The other program that made the tables, if it is known.
    pub(crate) maker: Option<&'static Maker>,
}

impl Inventory {
    /// Searches for the names of `data`'s tables and routines, and for everything with the mark of its data set.
    pub(crate) fn take(admin: &mut Admin, data: &dyn DataSet, caps: &Capabilities) -> Result<Self, LoadError> {
        // Nobody locks the catalog for long.
        admin.promptly("what data it holds", |admin| Self::look(admin, data, caps))
    }

    fn look(admin: &mut Admin, data: &dyn DataSet, caps: &Capabilities) -> Result<Self, LoadError> {
        let schema = admin.query_opt("select quote_ident(current_schema())").map_err(LoadError::Catalog)?;
        let Some(schema) = schema else { return Err(LoadError::no_schema(admin)) };
        let (relations, routines) = match data.sql_data() {
            None => {
                let dataset = data.meta().dataset;
                let tables = data.tables(caps);
                let names: Vec<_> = tables.iter().map(|table| table.name).collect();
                let list = data.routines(caps).list;
                let signatures: Vec<_> = list.iter().map(|routine| routine.signature).collect();
                (
                    relations(admin, dataset, &names, &schema).map_err(LoadError::Catalog)?,
                    routines(admin, dataset, &signatures, &schema).map_err(LoadError::Catalog)?,
                )
            }
            Some(_) => {
                let made = sql_objects::find(admin, data.meta().dataset, &schema).map_err(LoadError::Catalog)?;
                made.into_iter().partition(|object| !matches!(object.kind, "function" | "procedure" | "aggregate"))
            }
        };
        let stamps = format!("select to_regclass({})", quote::literal(&format!("{schema}.{}", stamp::STAMP_TABLE)));
        let has_stamps = admin.query_opt(&stamps).map_err(LoadError::Catalog)?.is_some();
        let maker = maker::of(admin, data, caps, &relations).map_err(LoadError::Catalog)?;
        Ok(Self { schema, has_stamps, relations, routines, maker })
    }

    /// Returns the error for objects that are not pgdyno's.
    pub(crate) fn refusal(&self, objects: Vec<String>) -> LoadError {
        let schema = self.schema.clone();
        match self.maker {
            Some(maker) => LoadError::OtherMaker { schema, maker, objects },
            None => LoadError::Foreign { schema, objects },
        }
    }

    pub(crate) fn objects(&self) -> impl Iterator<Item = &Object> {
        self.relations.iter().chain(&self.routines)
    }

    /// Returns the objects that are not pgdyno's, in words.
    pub(crate) fn foreign(&self) -> Vec<String> {
        self.objects().filter(|object| object.is_foreign()).map(Object::title).collect()
    }

    /// Returns the error for objects that pgdyno made for other workloads, if there are any.
    pub(crate) fn taken(&self, admin: &mut Admin, data: &dyn DataSet) -> Result<Option<Taken>, LoadError> {
        let owners = owner::owners(admin, self).map_err(LoadError::Catalog)?;
        let (dataset, workload) = (data.meta().dataset.to_owned(), data.meta().id.to_owned());
        let schema = self.schema.clone();
        Ok((!owners.is_empty()).then_some(Taken { dataset, workload, schema, owners, is_forcible: true }))
    }

    /// Adds all objects of other data sets.
    pub(crate) fn with(mut self, admin: &mut Admin, owners: &[Owner]) -> Result<Self, AdminError> {
        for owner in owners {
            let found = owner::objects(admin, &self.schema, &owner.dataset)?;
            let is_new = |object: &Object, there: &Self| !there.objects().any(|known| known.sql == object.sql);
            for object in found {
                if is_new(&object, &self) {
                    if object.kind == "routine" { self.routines.push(object) } else { self.relations.push(object) }
                }
            }
        }
        Ok(self)
    }

    /// Returns what is wrong with a table of the load with this identity; `None` if it is there.
    pub(crate) fn lacks(&self, table: &str, identity: &str) -> Option<String> {
        let found = self.relations.iter().find(|there| there.name == table);
        match found.map(|there| there.identity.as_deref()) {
            None => Some(format!("table {table} is missing")),
            Some(Some(found)) if found == identity => None,
            Some(_) => Some(format!("table {table} comes from another load")),
        }
    }

    /// Returns statements that drop everything, one for each kind of object, in an order that suits most data. If an
    /// object depends on one of a later kind, the statement must be repeated. Nothing else is dropped: the server
    /// refuses if other objects depend on these.
    pub(crate) fn drops(&self) -> Vec<Drop> {
        let mut kinds: Vec<_> = std::iter::once("routine").chain(sql_objects::kinds()).collect();
        kinds.dedup();
        let drop_of = |kind: &'static str| {
            let names: Vec<_> = self.objects().filter(|o| o.kind == kind).map(|o| o.sql.clone()).collect();
            Drop { kind, names }
        };
        let drops = kinds.into_iter().map(drop_of).filter(|drop| !drop.names.is_empty());
        drops.flat_map(|drop| if drop.takes_several() { vec![drop] } else { drop.singly() }).collect()
    }
}

/// A `DROP` of objects of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Drop {
    pub(crate) kind: &'static str,
    pub(crate) names: Vec<String>,
}

impl Drop {
    pub(crate) fn sql(&self) -> String {
        format!("drop {} {}", self.kind, self.names.join(", "))
    }

    /// Returns true if SQL takes several names after this kind.
    fn takes_several(&self) -> bool {
        let singles = [
            "rule",
            "policy",
            "trigger",
            "cast",
            "collation",
            "conversion",
            "event trigger",
            "operator class",
            "operator family",
            "text search configuration",
            "text search dictionary",
        ];
        !singles.contains(&self.kind)
    }

    /// Returns a statement for each name. Tables stay together, because they may refer to each other.
    pub(crate) fn singly(self) -> Vec<Self> {
        if self.kind == "table" {
            return vec![self];
        }
        self.names.into_iter().map(|name| Self { kind: self.kind, names: vec![name] }).collect()
    }
}

/// Returns the relations with the mark of a data set.
pub(crate) fn marked_relations(admin: &mut Admin, dataset: &str, schema: &str) -> Result<Vec<Object>, AdminError> {
    relations(admin, dataset, &[], schema)
}

/// Returns the routines with the mark of a data set.
pub(crate) fn marked_routines(admin: &mut Admin, dataset: &str, schema: &str) -> Result<Vec<Object>, AdminError> {
    routines(admin, dataset, &[], schema)
}

fn relations(admin: &mut Admin, dataset: &str, names: &[&str], schema: &str) -> Result<Vec<Object>, AdminError> {
    let names: Vec<_> = names.iter().map(|name| quote::literal(name)).collect();
    let rows = admin.query(&format!(
        "select c.relname, quote_ident(c.relname), d.description, c.relkind from pg_class c \
         left join pg_description d on d.objoid = c.oid and d.classoid = 'pg_class'::regclass and d.objsubid = 0 \
         where c.relnamespace = (select oid from pg_namespace where nspname = current_schema()) \
         and (c.relname = any (array[{}]::name[]) or d.description like {}) order by 1",
        names.join(", "),
        quote::literal(&stamp::mark_pattern(dataset)),
    ))?;
    let object = |[name, sql, comment, kind]: [Option<String>; 4]| Object {
        kind: match kind.as_deref() {
            Some("v") => "view",
            Some("m") => "materialized view",
            Some("f") => "foreign table",
            Some("S") => "sequence",
            Some("i" | "I") => "index",
            Some("c") => "type",
            _ => "table",
        },
        name: name.unwrap_or_default(),
        sql: format!("{schema}.{}", sql.unwrap_or_default()),
        identity: identity(comment.as_deref(), dataset),
        owner: owner_in(comment.as_deref(), dataset),
    };
    // Another server than PostgreSQL may return anything.
    Ok(rows.rows.into_iter().filter_map(|row| row.try_into().ok()).map(object).collect())
}

fn routines(admin: &mut Admin, dataset: &str, signatures: &[&str], schema: &str) -> Result<Vec<Object>, AdminError> {
    let signatures: Vec<_> = signatures.iter().map(|s| quote::literal(&format!("{schema}.{s}"))).collect();
    let rows = admin.query(&format!(
        "select p.proname || a.types, quote_ident(p.proname) || a.types, d.description from pg_proc p \
         cross join lateral (select '(' || coalesce(string_agg(format_type(t, null), ', ' order by n), '') || ')' \
         from unnest(p.proargtypes) with ordinality as u (t, n)) as a (types) \
         left join pg_description d on d.objoid = p.oid and d.classoid = 'pg_proc'::regclass and d.objsubid = 0 \
         where p.pronamespace = (select oid from pg_namespace where nspname = current_schema()) \
         and (p.oid = any (array(select to_regprocedure(s)::oid from unnest(array[{}]::text[]) s)) \
         or d.description like {}) order by 1",
        signatures.join(", "),
        quote::literal(&stamp::mark_pattern(dataset)),
    ))?;
    let object = |[name, sql, comment]: [Option<String>; 3]| Object {
        kind: "routine",
        name: name.unwrap_or_default(),
        sql: format!("{schema}.{}", sql.unwrap_or_default()),
        identity: identity(comment.as_deref(), dataset),
        owner: owner_in(comment.as_deref(), dataset),
    };
    Ok(rows.rows.into_iter().filter_map(|row| row.try_into().ok()).map(object).collect())
}

fn identity(comment: Option<&str>, dataset: &str) -> Option<String> {
    stamp::marked(comment?, dataset).map(str::to_owned)
}

/// Returns the other data set that a comment names.
fn owner_in(comment: Option<&str>, dataset: &str) -> Option<String> {
    stamp::dataset_of(comment?).filter(|owner| *owner != dataset).map(str::to_owned)
}
