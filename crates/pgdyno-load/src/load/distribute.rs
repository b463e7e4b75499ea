//! Tables and routines that are distributed over nodes (Citus).

use pgdyno_net::{Admin, AdminError, quote};
use pgdyno_workload::{Capabilities, Distribution, Routine, Table};

use crate::LoadError;

/// Checks that the tables can be distributed, before anything is dropped. Returns warnings for the user.
///
/// # Errors
/// When tables cannot be created here, or there are fewer shards than nodes.
pub(crate) fn admit(caps: &Capabilities, tables: &[Table]) -> Result<Option<String>, LoadError> {
    let (Some(cluster), Some(shards)) = (&caps.cluster, shards(tables)) else { return Ok(None) };
    if let Some(coordinator) = cluster.coordinator_elsewhere() {
        return Err(LoadError::NotCoordinator { coordinator: coordinator.name() });
    }
    let nodes = cluster.holder_count();
    if shards < nodes {
        return Err(LoadError::FewShards { shards, nodes });
    }
    Ok((shards % nodes != 0).then(|| uneven(shards, nodes)))
}

/// Returns what an uneven number of shards means, and which numbers are even.
fn uneven(shards: u32, nodes: u32) -> String {
    let few = shards / nodes;
    format!(
        "{shards} shards do not divide over {nodes} nodes: some hold {} of each table and others {few}, and the fuller ones \
         set the pace; --shard-count {} or {} divides",
        few + 1,
        few * nodes,
        (few + 1) * nodes
    )
}

/// Returns the shards of each table that is distributed by a column.
fn shards(tables: &[Table]) -> Option<u32> {
    tables.iter().find_map(|table| match table.distribution {
        Some(Distribution::Column { shards, .. }) => Some(shards),
        Some(Distribution::Everywhere) | None => None,
    })
}

/// Returns true if the server distributes this table. Such a table is created before any is filled, because others
/// are colocated with it. COPY does not freeze its rows: Citus does not support that.
pub(crate) fn is_spread(caps: &Capabilities, table: &Table) -> bool {
    caps.distributed_tables && table.distribution.is_some()
}

/// Returns SQL that distributes `table`, which exists and is empty; `None` if it is not distributed. All tables are
/// colocated with one that `was_spread` by the load that is resumed, or else with the first one. The shards of a data
/// set are its own, so that moving or splitting them affects no other.
pub(crate) fn table_sql(
    caps: &Capabilities,
    tables: &[Table],
    was_spread: impl Fn(&Table) -> bool,
    table: &Table,
) -> Option<String> {
    if !is_spread(caps, table) {
        return None;
    }
    let name = regclass(table.name);
    Some(match table.distribution? {
        Distribution::Everywhere => format!("select create_reference_table({name})"),
        Distribution::Column { name: column, shards, .. } => {
            let mut by_column = tables.iter().filter(|table| is_by_column(table));
            let there = by_column.clone().find(|table| was_spread(table));
            let beside = there.or(by_column.next()).filter(|beside| beside.name != table.name);
            let place = match beside {
                Some(beside) => format!("colocate_with := {}", regclass(beside.name)),
                None => format!("colocate_with := 'none', shard_count := {shards}"),
            };
            format!("select create_distributed_table({name}, {}, {place})", quote::literal(column))
        }
    })
}

fn is_by_column(table: &Table) -> bool {
    matches!(table.distribution, Some(Distribution::Column { .. }))
}

/// Returns SQL that routes calls of `routine` to the node of their rows; `None` without nodes. It has no effect if
/// the table was loaded before it could be distributed. `tables` is the schema of the tables, `schema` that of the
/// routine.
pub(crate) fn routine_sql(caps: &Capabilities, tables: &str, schema: &str, routine: &Routine) -> Option<String> {
    let (argument, table) = routine.distribution.filter(|_| caps.distributed_tables)?;
    let table = format!("{tables}.{}", quote::identifier(table));
    let table = quote::literal(&table);
    Some(format!(
        "select create_distributed_function({}, '${argument}', colocate_with := {table}) where exists \
         (select from pg_dist_partition where logicalrelid = to_regclass({table}) and partmethod = 'h')",
        quote::literal(&format!("{schema}.{}", routine.signature)),
    ))
}

/// Checks that routines find their tables on other nodes: they use that node's search_path, because the session's is
/// not sent along.
///
/// # Errors
/// [`LoadError::SearchPath`] when a node uses another schema.
pub(crate) fn check_search_path(admin: &mut Admin, caps: &Capabilities, routines: &[Routine]) -> Result<(), LoadError> {
    if !caps.distributed_tables || routines.iter().all(|routine| routine.distribution.is_none()) {
        return Ok(());
    }
    let schema = admin.query_opt("select current_schema()").map_err(LoadError::Catalog)?;
    let Some(schema) = schema else { return Err(LoadError::no_schema(admin)) };
    let sql = search_path_sql(&schema);
    let nodes: Vec<_> = column(admin, &sql).map_err(LoadError::Catalog)?;
    if nodes.is_empty() { Ok(()) } else { Err(LoadError::SearchPath { schema, nodes }) }
}

fn search_path_sql(schema: &str) -> String {
    format!(
        "select nodename || ':' || nodeport from run_command_on_all_nodes('select current_schema()') \
         join pg_dist_node using (nodeid) where success and result is distinct from {} order by 1",
        quote::literal(schema)
    )
}

/// Runs CHECKPOINT on every other node. Returns refusals, in sentences.
///
/// # Errors
/// When the nodes cannot be queried.
pub(crate) fn checkpoint(admin: &mut Admin) -> Result<Vec<String>, AdminError> {
    column(admin, CHECKPOINT)
}

const CHECKPOINT: &str = "select 'no CHECKPOINT after the load on node ' || nodename || ':' || nodeport || ': ' || \
     regexp_replace(result, '^ERROR:\\s*', '') from run_command_on_workers('checkpoint') where not success order by 1";

/// Returns the bytes of the tables selected by `oids`, distributed or not, with their indexes and TOAST, on all
/// nodes.
pub(crate) fn sizes_sql(oids: &str) -> String {
    format!(
        "select coalesce(sum(case when logicalrelid is null then pg_total_relation_size(oid) \
         else citus_total_relation_size(oid, false) end), 0)::bigint \
         from ({oids}) t left join pg_dist_partition on logicalrelid = oid"
    )
}

/// Returns the values of the first column.
fn column(admin: &mut Admin, sql: &str) -> Result<Vec<String>, AdminError> {
    let rows = admin.query(sql)?.rows;
    Ok(rows.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect())
}

fn regclass(name: &str) -> String {
    quote::literal(&quote::identifier(name))
}

#[cfg(test)]
mod tests {
    use pgdyno_workload::{Cluster, Node, Partitions, RowCount};

    use super::*;

    fn table(name: &'static str, distribution: Option<Distribution>) -> Table {
        Table {
            name,
            ddl: format!("create table {name} (w int)"),
            indexes: Vec::new(),
            foreign_keys: Vec::new(),
            rows: RowCount::Exact(0),
            grows: false,
            bytes: 0,
            partitions: Partitions::None,
            binary: Vec::new(),
            distribution,
            source: None,
        }
    }

    fn tables(shards: u32) -> Vec<Table> {
        let by = |name| Some(Distribution::Column { name, shards, is_scale: true });
        vec![
            table("item", Some(Distribution::Everywhere)),
            table("warehouse", by("w_id")),
            table("orders", by("o_w_id")),
            table("journal", None),
        ]
    }

    fn caps(nodes: usize) -> Capabilities {
        let node = |nth: usize| Node {
            host: format!("n{nth}"),
            port: 5432,
            is_coordinator: nth == 0,
            is_here: nth == 0,
            should_have_shards: nth > 0,
            ..Node::default()
        };
        let cluster = Cluster { version: "13.2.2".to_owned(), nodes: (0..=nodes).map(node).collect() };
        Capabilities { distributed_tables: true, cluster: Some(cluster), ..Capabilities::default() }
    }

    #[test]
    fn tables_lie_together_with_the_first_one_that_is_distributed_by_a_column() {
        let tables = tables(48);
        let sql: Vec<_> = tables.iter().map(|table| table_sql(&caps(2), &tables, |_| false, table)).collect();
        assert_eq!(
            sql,
            [
                Some("select create_reference_table('\"item\"')".to_owned()),
                Some(
                    "select create_distributed_table('\"warehouse\"', 'w_id', colocate_with := 'none', shard_count := 48)"
                        .to_owned()
                ),
                Some("select create_distributed_table('\"orders\"', 'o_w_id', colocate_with := '\"warehouse\"')".to_owned()),
                None,
            ]
        );
        let nowhere = Capabilities::default();
        assert!(tables.iter().all(|table| table_sql(&nowhere, &tables, |_| false, table).is_none()));
    }

    #[test]
    fn what_an_interrupted_load_has_spread_is_where_the_rest_goes() {
        let tables = tables(48);
        let again = table_sql(&caps(2), &tables, |table| ["item", "orders"].contains(&table.name), &tables[1]);
        assert_eq!(
            again.unwrap(),
            "select create_distributed_table('\"warehouse\"', 'w_id', colocate_with := '\"orders\"')"
        );
    }

    #[test]
    fn a_routine_goes_where_its_rows_are() {
        let routine =
            |distribution| Routine { signature: "f(int, int)", ddl: String::new(), distribution, read_only_call: None };
        assert_eq!(
            routine_sql(&caps(2), "public", "public", &routine(Some((1, "warehouse")))).unwrap(),
            "select create_distributed_function('public.f(int, int)', '$1', colocate_with := 'public.\"warehouse\"') \
             where exists (select from pg_dist_partition where logicalrelid = to_regclass('public.\"warehouse\"') \
             and partmethod = 'h')"
        );
        assert_eq!(routine_sql(&caps(2), "public", "public", &routine(None)), None);
        assert_eq!(routine_sql(&Capabilities::default(), "public", "public", &routine(Some((1, "warehouse")))), None);
    }

    #[test]
    fn the_nodes_are_asked_in_these_words() {
        assert_eq!(
            search_path_sql("it's"),
            "select nodename || ':' || nodeport from run_command_on_all_nodes('select current_schema()') \
             join pg_dist_node using (nodeid) where success and result is distinct from 'it''s' order by 1"
        );
        assert_eq!(
            CHECKPOINT,
            "select 'no CHECKPOINT after the load on node ' || nodename || ':' || nodeport || ': ' || \
             regexp_replace(result, '^ERROR:\\s*', '') from run_command_on_workers('checkpoint') \
             where not success order by 1"
        );
        assert_eq!(
            sizes_sql("select 1 as oid"),
            "select coalesce(sum(case when logicalrelid is null then pg_total_relation_size(oid) \
             else citus_total_relation_size(oid, false) end), 0)::bigint \
             from (select 1 as oid) t left join pg_dist_partition on logicalrelid = oid"
        );
    }

    #[test]
    fn shards_should_divide_over_the_nodes_and_must_not_be_fewer() {
        assert_eq!(admit(&caps(4), &tables(48)).unwrap(), None);
        let warning = admit(&caps(5), &tables(48)).unwrap().unwrap();
        assert!(warning.contains("some hold 10 of each table and others 9"), "{warning}");
        assert!(warning.contains("shard-count 45 or 50 divides"), "{warning}");
        let error = admit(&caps(8), &tables(4)).unwrap_err().to_string();
        assert!(error.contains("4 shards") && error.contains("8 nodes"), "{error}");
        assert_eq!(admit(&Capabilities::default(), &tables(1)).unwrap(), None, "no nodes");
        assert_eq!(admit(&caps(8), &[table("journal", None)]).unwrap(), None, "nothing to spread");
        assert_eq!(admit(&caps(0), &tables(1)).unwrap(), None, "the coordinator alone");
    }

    #[test]
    fn tables_are_created_on_the_coordinator() {
        let mut caps = caps(2);
        let nodes = &mut caps.cluster.as_mut().unwrap().nodes;
        (nodes[0].is_here, nodes[1].is_here) = (false, true);
        let error = admit(&caps, &tables(48)).unwrap_err().to_string();
        assert!(error.contains("coordinator") && error.contains("n0:5432"), "{error}");
    }
}
