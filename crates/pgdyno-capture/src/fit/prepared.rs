//! A statement that is prepared on the copy, and what its parameters are for.

use std::collections::BTreeMap;

use serde_json::Value;

use super::arrays::{self, Array};
use super::copy::{Copy, FitError};
use super::keys::{self, PARAMETER};
use super::measure::{PerCall, Way, execution};
use super::recursion::Counting;
use super::roles::{self, How, Role, Roles};
use super::skew::Lookup;
use super::types::{self, Typed, Types};
use super::upserts::Inserting;
use super::values::{self, NUMBERS, Parameters, new_rows};
use super::{recursion, unnested, wording};
use crate::form::{CaptureRecord, CapturedStatement, StatementKind};
use crate::refusal::Refusal;

/// A statement that is prepared on the copy.
pub(super) struct Prepared {
    pub(super) text: String,
    pub(super) parameters: Parameters,
    /// The captured parameters that these are.
    pub(super) numbers: Vec<u32>,
    /// Keys of new rows, in place of captured parameters.
    pub(super) keys: BTreeMap<u32, String>,
    /// The columns of tables that it returns.
    pub(super) returned: Vec<(String, String)>,
    /// By what it finds its rows.
    pub(super) lookup: Lookup,
}

/// Prepares a statement, and finds out what its parameters are for. Returns why that is not possible, if it is not.
pub(super) fn prepare(
    copy: &mut Copy,
    capture: &CaptureRecord,
    statement: &CapturedStatement,
    wanted: PerCall,
) -> Result<Result<Prepared, Refusal>, FitError> {
    let elements = if wording::has_squashed(&statement.text) { wanted.rows.round().clamp(1.0, 50.0) as u32 } else { 1 };
    let text = wording::statement(&statement.text, elements);
    let written = roles::written(&text);
    let arrays = arrays::of(copy, &text, &written)?;
    let hint = |array: &Array| Some((array.parameter, array.columns.first()?.array_type()));
    let hints: Types = arrays.iter().flatten().filter_map(hint).collect();
    let typed = match types::typed(copy, &text, &hints)? {
        Ok(typed) => typed,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let plan = match generic_plan(copy, typed.types.len())? {
        Ok(plan) => plan,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if let Some(table) = foreign(copy, &plan)? {
        return Ok(Err(format!("it uses the foreign table {table}, whose rows are on another server").into()));
    }
    let returned = roles::returned(&plan);
    let mut roles = roles::of_plan(&plan);
    of_roots(copy, &mut roles)?;
    let lookup = Lookup::find(copy, capture, &plan, &roles)?;
    roles.extend(roles::limits(&typed.text));
    arrays.iter().for_each(|call| arrays::roles_of(call, &mut roles));
    of_numbers(&typed, &mut roles);
    let written: Vec<_> = written.iter().map(|written| Inserting::new(capture, statement, written)).collect();
    let mut keys = new_keys(copy, &typed, &written, &mut roles)?;
    for array in arrays.iter().flatten() {
        if let Some(key) = arrays::new_elements(copy, array, &typed, &written)? {
            keys.insert(array.parameter, key);
        }
    }
    let upsert = written.iter().find(|inserting| inserting.written.on_conflict && !keys.is_empty());
    let prepared = with_keys(copy, typed, &keys, roles, upsert.map(|upsert| upsert.new_share))?;
    Ok(prepared.map(|prepared| Prepared { returned, lookup, ..prepared }))
}

/// Returns the foreign table that a statement uses: what it does there no rollback on the copy ends, and that server may be in use.
fn foreign(copy: &mut Copy, plan: &Value) -> Result<Option<String>, FitError> {
    // Several may be read at once, as one node without a table.
    if let Some(tables) = roles::nodes(plan).into_iter().find_map(|node| node["Relations"].as_str()) {
        return Ok(Some(tables.to_owned()));
    }
    let tables: Vec<_> = roles::sources(plan).into_iter().map(|source| source.table).collect();
    copy.foreign(&tables)
}

/// Prepares the statement with SQL in place of the parameters that are new keys.
fn with_keys(
    copy: &mut Copy,
    typed: Typed,
    keys: &BTreeMap<u32, String>,
    mut roles: Roles,
    new_share: Option<f64>,
) -> Result<Result<Prepared, Refusal>, FitError> {
    let is_kept = |number: &u32| keys.get(number).is_none_or(|key| key.contains(PARAMETER));
    let numbers: Vec<_> = (1..=typed.types.len() as u32).filter(is_kept).collect();
    let mut text = typed.text;
    if !keys.is_empty() {
        let place = |number: u32| numbers.iter().position(|kept| *kept == number).unwrap_or_default() + 1;
        let with = |number: u32| {
            keys.get(&number).map_or(PARAMETER, String::as_str).replace(PARAMETER, &format!("${}", place(number)))
        };
        text = wording::replaced(&text, with);
        if let Err(refusal) = types::prepare(copy, &text, &Types::new())? {
            return Ok(Err(refusal));
        }
    }
    let role = |number: &u32| {
        let data_type = typed.types[*number as usize - 1].clone();
        (final_role(roles.remove(number), &data_type), data_type)
    };
    let (roles, types): (Vec<_>, Vec<_>) = numbers.iter().map(role).unzip();
    let ranges = values::ranges(copy, &roles)?;
    let parameters = Parameters { roles, types, ranges, new_share, keyed: None };
    Ok(Ok(Prepared { text, parameters, numbers, keys: keys.clone(), returned: Vec::new(), lookup: Lookup::None }))
}

/// Returns the role of a parameter of this type.
fn final_role(found: Option<Role>, data_type: &str) -> Role {
    let is_array = data_type.ends_with("[]");
    let is_number = data_type == "interval" || NUMBERS.contains(&data_type);
    match found.unwrap_or(Role::Other) {
        // `= any (select …)` has no array.
        role if role.is(How::AnyOf) && !is_array => Role::Other,
        Role::Other if is_number => Role::Added,
        role => role,
    }
}

/// Gives the roles of numbers that only the text shows: `generate_series($1, $2)` and what `WITH RECURSIVE` counts with go from 1 on. A
/// length of a text that is written is 1, for neither rows nor blocks show what it was.
fn of_numbers(typed: &Typed, roles: &mut Roles) {
    let is_number = |number: u32| {
        typed.types.get(number as usize - 1).is_some_and(|data_type| NUMBERS.contains(&data_type.as_str()))
    };
    let Counting { ones, ends } = recursion::counting(&typed.text);
    let lengths = roles::lengths(&typed.text);
    for (numbers, role) in [(ones, Role::Neutral("1")), (lengths, Role::Neutral("1")), (ends, Role::Elements)] {
        for number in numbers.into_iter().filter(|number| is_number(*number)) {
            roles.entry(number).or_insert_with(|| role.clone());
        }
    }
    for (first, last) in unnested::series(&typed.text) {
        if is_number(first) && is_number(last) {
            roles.entry(first).or_insert(Role::Neutral("1"));
            roles.entry(last).or_insert(Role::Elements);
        }
    }
}

/// Reads values from all partitions of a table where the plan names one of them.
fn of_roots(copy: &mut Copy, roles: &mut Roles) -> Result<(), FitError> {
    let mut roots = BTreeMap::new();
    for role in roles.values_mut() {
        let Role::Column(_, source, _) = role else { continue };
        if !roots.contains_key(&source.table) {
            roots.insert(source.table.clone(), copy.root_of(&source.table)?);
        }
        source.table.clone_from(&roots[&source.table]);
    }
    Ok(())
}

/// Gives the roles of values that are written. Returns SQL in place of the parameters that are new keys.
fn new_keys(
    copy: &mut Copy,
    typed: &Typed,
    written: &[Inserting<'_>],
    roles: &mut Roles,
) -> Result<BTreeMap<u32, String>, FitError> {
    let mut new = BTreeMap::new();
    for Inserting { written, new_share } in written {
        let columns = if written.values.is_empty() { Vec::new() } else { keys::columns(copy, written)? };
        for (place, parameter) in &written.values {
            let Some(column) = columns.get(*place) else { continue };
            // A value that the statement uses twice belongs to a row that exists.
            let is_new = *new_share > 0.0 && wording::occurrences(&typed.text, *parameter) == 1;
            if let Some(key) = if is_new { keys::new_key(copy, written, column)? } else { None } {
                let data_type = &typed.types[*parameter as usize - 1];
                new.insert(*parameter, keys::or_existing(&key, *new_share, PARAMETER, data_type));
            }
            let role = Role::Column(How::Written, new_rows(&written.table), column.clone());
            roles.entry(*parameter).or_insert(role);
        }
        for (column, parameter) in &written.assigned {
            let role = Role::Column(How::Written, new_rows(&written.table), column.clone());
            roles.entry(*parameter).or_insert(role);
        }
    }
    Ok(new)
}

/// Returns the plan of the prepared statement for any values.
fn generic_plan(copy: &mut Copy, parameters: usize) -> Result<Result<Value, Refusal>, FitError> {
    let about = "plan a statement";
    // Partitions that have no row for the parameters are pruned: for NULL all of them.
    copy.execute(about, "SET plan_cache_mode = force_generic_plan; SET enable_partition_pruning = off")?;
    let plan = copy.explain(about, "VERBOSE, COSTS OFF", &execution(&vec![None; parameters]))?;
    copy.execute(about, "RESET plan_cache_mode; RESET enable_partition_pruning")?;
    Ok(plan.map(|plan| plan["Plan"].clone()))
}

impl Prepared {
    /// Returns how it is measured.
    pub(super) fn way(&self, copy: &mut Copy, kind: StatementKind, counters: Option<&str>) -> Result<Way, FitError> {
        let Some(view) = counters.filter(|_| kind == StatementKind::Write) else {
            let locks = wording::locks_rows(&self.text);
            return Ok(Way::Explain { writes: kind == StatementKind::Write || locks });
        };
        let plan = copy.explain("plan a statement", "VERBOSE", &execution(&vec![None; self.parameters.roles.len()]))?;
        // PostgreSQL 13 has no such identifier.
        let queryid = plan.unwrap_or_default()["Query Identifier"].as_i64().map(|queryid| queryid.to_string());
        Ok(Way::Count { view: view.to_owned(), queryid })
    }
}
