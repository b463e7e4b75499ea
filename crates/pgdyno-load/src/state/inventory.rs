//! Objects in the database with the names of a data set, or its mark.

use pgdyno_net::{Admin, AdminError, quote};
use pgdyno_workload::{Capabilities, DataSet, Maker};

use crate::LoadError;
use crate::state::object::Object;
use crate::state::owner::{self, Owner};
use crate::state::{catalog, maker, sql_objects, stamp};

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
        let home = format!(
            "select quote_ident(current_schema()), to_regclass(quote_ident(current_schema()) || {})",
            quote::literal(&format!(".{}", stamp::STAMP_TABLE))
        );
        let home = admin.query(&home).map_err(LoadError::Catalog)?.rows.pop().unwrap_or_default();
        let mut home = home.into_iter();
        let (schema, stamps) = (home.next().flatten(), home.next().flatten());
        let Some(schema) = schema else { return Err(LoadError::no_schema(admin)) };
        let (relations, routines) = match data.sql_data() {
            None => {
                let dataset = data.meta().dataset;
                let tables = data.tables(caps);
                let names: Vec<_> = tables.iter().map(|table| table.name).collect();
                let list = data.routines(caps).list;
                let signatures: Vec<_> = list.iter().map(|routine| routine.signature).collect();
                catalog::both(admin, dataset, (&names, &signatures), &schema).map_err(LoadError::Catalog)?
            }
            Some(_) => {
                let made = sql_objects::find(admin, data.meta().dataset, &schema).map_err(LoadError::Catalog)?;
                made.into_iter().partition(|object| !matches!(object.kind, "function" | "procedure" | "aggregate"))
            }
        };
        let maker = maker::of(admin, data, caps, &relations).map_err(LoadError::Catalog)?;
        Ok(Self { schema, has_stamps: stamps.is_some(), relations, routines, maker })
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
