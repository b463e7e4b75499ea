//! A run on a server that spreads tables over nodes: requirements, and what the record says about the nodes.

mod delegation;

use pgdyno_net::{Admin, AdminError, ConnectOptions, quote};
use pgdyno_plan::Plan;
use pgdyno_results::{ClusterRecord, NodeRecord, Warning};
use pgdyno_wire::QueryMode;
use pgdyno_workload::{Capabilities, Cluster, Distribution, Workload};

use crate::exit_code::Code;
use crate::failure::{CommandError, OrFail, Result};

/// Above this imbalance the fullest node limits throughput more than the number of nodes does.
const SKEW: f64 = 1.1;

/// The first version of each branch in which a CALL of a distributed procedure with bound parameters does not crash.
const SAFE_VERSION: (u32, u32, u32) = (12, 1, 8);

/// Returns the query mode of a run whose procedure calls such a server sends to the node of their rows, and why.
pub(crate) fn mode(caps: &Capabilities, workload: &Workload) -> Option<(QueryMode, &'static str)> {
    let delegates = caps.cluster.is_some() && calls_distributed_procedures(workload, caps);
    delegates.then_some((
        QueryMode::Simple,
        "query mode simple: a CALL with bound parameters is never sent to the node of its rows",
    ))
}

/// Refuses what such a server cannot do.
///
/// # Errors
/// When the run works on a copy, or its query mode prevents procedures from running on the nodes of their rows.
pub(crate) fn admit(caps: &Capabilities, workload: &Workload, plan: &Plan) -> Result<()> {
    let Some(cluster) = &caps.cluster else { return Ok(()) };
    if plan.from_template.is_some() {
        let error =
            "--from-template cannot copy a database whose tables are spread over nodes: the shards would be shared";
        return Err(CommandError::new(Code::Start, error).hint("load the data again with --replace"));
    }
    if plan.drive.mode == QueryMode::Simple || !calls_distributed_procedures(workload, caps) {
        return Ok(());
    }
    let crashes = if may_crash(&cluster.version) {
        format!(", and Citus {} may crash by it", cluster.version)
    } else {
        String::new()
    };
    let error = format!(
        "in query mode {} a CALL has bound parameters: it is never sent to the node of its rows{crashes}",
        plan.drive.mode.name()
    );
    Err(CommandError::new(Code::Start, error)
        .hint("leave -M out, which means simple here, or call functions: --call function"))
}

fn calls_distributed_procedures(workload: &Workload, caps: &Capabilities) -> bool {
    workload.data.iter().any(|data| data.routines(caps).list.iter().any(|routine| routine.distribution.is_some()))
        && workload.drive.statements(caps).iter().any(|statement| is_call(statement.sql()))
}

fn is_call(sql: &str) -> bool {
    sql.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("call "))
}

fn may_crash(version: &str) -> bool {
    let mut numbers = version.split('.').map(|part| part.parse().unwrap_or_default());
    let mut next = || numbers.next().unwrap_or_default();
    (next(), next(), next()) < SAFE_VERSION
}

/// Returns the facts about the nodes, once the data is loaded.
pub(crate) fn record(
    admin: &mut Admin,
    options: &ConnectOptions,
    caps: &Capabilities,
    workload: &Workload,
    plan: &Plan,
) -> Result<Option<ClusterRecord>> {
    let Some(cluster) = &caps.cluster else { return Ok(None) };
    let anchor = anchor(workload, caps);
    let places = match anchor {
        Some((table, true)) => places(admin, &places_sql(table, workload.scale)).or_fail(Code::Start)?,
        Some((table, false)) => places(admin, &shards_sql(table)).or_fail(Code::Start)?,
        None => Vec::new(),
    };
    let (delegated, delegation) = delegation::find(admin, options, caps, workload, plan)?;
    Ok(Some(ClusterRecord {
        label: cluster.label(),
        version: cluster.version.clone(),
        nodes: nodes(cluster, &places),
        delegated,
        delegation,
        unit: anchor.filter(|(_, is_scale)| !is_scale).map(|_| "shards".to_owned()),
        skew: skew(cluster, &places),
    }))
}

/// Returns warnings about the nodes.
pub(crate) fn warnings(record: &ClusterRecord, scale_name: &str) -> Vec<Warning> {
    let unit = record.unit.as_deref().unwrap_or(scale_name);
    let mut warnings = Vec::new();
    if let Some(skew) = record.skew.filter(|skew| *skew > SKEW) {
        warnings.push(Warning::UnevenNodes { skew, unit: unit.to_owned() });
    }
    if record.delegated == Some(false) {
        warnings.push(Warning::NotDelegated { why: record.delegation.clone() });
    }
    warnings
}

/// Returns the bytes of the database on all nodes; `None` if one does not answer.
pub(crate) fn database_bytes(admin: &mut Admin) -> Option<u64> {
    admin.query_opt(DATABASE_BYTES).ok().flatten()?.parse().ok()
}

const DATABASE_BYTES: &str = "select sum(case when success then result::bigint end) \
     from run_command_on_all_nodes('select pg_database_size(current_database())') having bool_and(success)";

/// Returns the table by whose column all others are distributed, and whether that column has the units of the scale.
fn anchor(workload: &Workload, caps: &Capabilities) -> Option<(&'static str, bool)> {
    let mut tables = workload.data.iter().flat_map(|data| data.tables(caps));
    tables.find_map(|table| match table.distribution? {
        Distribution::Column { is_scale, .. } => Some((table.name, is_scale)),
        Distribution::Everywhere => None,
    })
}

/// Returns each node as `host:port` and how many units are on it, by this query. None if the table is on no other node.
fn places(admin: &mut Admin, sql: &str) -> std::result::Result<Vec<(String, u64)>, AdminError> {
    let rows = match admin.query(sql) {
        Ok(rows) => rows.rows,
        Err(error) if error.is_lost() => return Err(error),
        // The table was loaded before the server could distribute it.
        Err(_) => Vec::new(),
    };
    let place = |row: Vec<Option<String>>| {
        let mut row = row.into_iter();
        Some((row.next()??, row.next()??.parse().ok()?))
    };
    Ok(rows.into_iter().filter_map(place).collect())
}

/// Counts the units of the scale, numbered from 1, by node.
fn places_sql(table: &str, scale: u64) -> String {
    format!(
        "select nodename || ':' || nodeport, count(*) from generate_series(1, {scale}) as unit \
         join pg_dist_placement on shardid = get_shard_id_for_distribution_column({}, unit) \
         join pg_dist_node using (groupid) where noderole = 'primary' and isactive group by 1 order by 1",
        table_literal(table)
    )
}

/// Counts the shards of a table by node.
fn shards_sql(table: &str) -> String {
    format!(
        "select nodename || ':' || nodeport, count(*) from pg_dist_shard join pg_dist_placement using (shardid) \
         join pg_dist_node using (groupid) where logicalrelid = {}::regclass and noderole = 'primary' and isactive \
         group by 1 order by 1",
        table_literal(table)
    )
}

fn table_literal(table: &str) -> String {
    quote::literal(&quote::identifier(table))
}

fn nodes(cluster: &Cluster, places: &[(String, u64)]) -> Vec<NodeRecord> {
    let of = |name: &str| places.iter().find(|(node, _)| node == name).map_or(0, |(_, units)| *units);
    let node = |node: &pgdyno_workload::Node| NodeRecord {
        name: node.name(),
        cpus: node.cpus,
        warehouses: (!places.is_empty()).then(|| of(&format!("{}:{}", node.host, node.port))),
    };
    cluster.nodes.iter().map(node).collect()
}

/// Returns the bytes of the fullest node divided by the mean of the nodes that have shards.
fn skew(cluster: &Cluster, places: &[(String, u64)]) -> Option<f64> {
    let most = places.iter().map(|(_, units)| *units).max()?;
    let all: u64 = places.iter().map(|(_, units)| *units).sum();
    let nodes = f64::from(cluster.holder_count()).max(places.len() as f64);
    (all > 0).then(|| most as f64 * nodes / all as f64)
}

#[cfg(test)]
mod tests {
    use pgdyno_workload::Node;

    use super::*;

    fn cluster() -> Cluster {
        let node = |nth: u16| Node {
            host: "10.0.0.1".to_owned(),
            port: 5432 + nth,
            is_coordinator: nth == 0,
            is_here: nth == 0,
            should_have_shards: nth > 0,
            cpus: Some(4),
            ..Node::default()
        };
        Cluster { version: "13.2.2".to_owned(), nodes: (0..3).map(node).collect() }
    }

    fn place(port: u16, units: u64) -> (String, u64) {
        (format!("10.0.0.1:{port}"), units)
    }

    #[test]
    fn skew_is_the_fullest_node_over_the_mean() {
        assert_eq!(skew(&cluster(), &[place(5433, 3), place(5434, 1)]), Some(1.5));
        assert_eq!(skew(&cluster(), &[place(5433, 50), place(5434, 50)]), Some(1.0));
        assert_eq!(skew(&cluster(), &[place(5433, 1)]), Some(2.0), "a node without any counts too");
        assert_eq!(skew(&cluster(), &[]), None);
    }

    #[test]
    fn nodes_show_how_many_units_they_hold() {
        let nodes = nodes(&cluster(), &[place(5433, 3)]);
        assert_eq!(nodes.iter().map(|node| node.warehouses).collect::<Vec<_>>(), [Some(0), Some(3), Some(0)]);
        assert_eq!(super::nodes(&cluster(), &[])[1].warehouses, None);
    }

    #[test]
    fn an_uneven_cluster_and_calls_that_stay_are_warned_of() {
        let even = ClusterRecord { skew: Some(1.05), delegated: Some(true), ..ClusterRecord::default() };
        assert!(warnings(&even, "warehouses").is_empty());
        assert!(warnings(&ClusterRecord::default(), "warehouses").is_empty());
        let uneven = ClusterRecord { skew: Some(1.5), delegated: Some(false), ..ClusterRecord::default() };
        let warnings: Vec<_> = warnings(&uneven, "warehouses").iter().map(ToString::to_string).collect();
        assert!(
            warnings[0].contains("1.50 times as many warehouses as") && warnings[1].starts_with("not delegated"),
            "{warnings:?}"
        );
        let shards = ClusterRecord { unit: Some("shards".to_owned()), ..uneven };
        assert!(super::warnings(&shards, "scale")[0].to_string().contains("as many shards as"));
    }

    #[test]
    fn citus_before_the_fix_may_crash() {
        for (version, may) in
            [("11.3.0", true), ("12.1.7", true), ("12.1.8", false), ("12.2", false), ("13.0.0", false), ("14", false)]
        {
            assert_eq!(may_crash(version), may, "{version}");
        }
    }

    #[test]
    fn the_nodes_are_asked_in_these_words() {
        assert_eq!(
            places_sql("warehouse", 100),
            "select nodename || ':' || nodeport, count(*) from generate_series(1, 100) as unit \
             join pg_dist_placement on shardid = get_shard_id_for_distribution_column('\"warehouse\"', unit) \
             join pg_dist_node using (groupid) where noderole = 'primary' and isactive group by 1 order by 1"
        );
        assert_eq!(
            DATABASE_BYTES,
            "select sum(case when success then result::bigint end) \
             from run_command_on_all_nodes('select pg_database_size(current_database())') having bool_and(success)"
        );
    }
}
