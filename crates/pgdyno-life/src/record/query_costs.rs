//! What each of the workload's queries cost the server beside time: temporary files and reads, as `pg_stat_statements` counts
//! them, and memory.

use pgdyno_net::{Admin, AdminError};
use pgdyno_results::{Execution, QueryCostRecord, SampleTable};
use pgdyno_samples::{SampleColumn, statements};
use pgdyno_workload::Explained;
use serde_json::Value;

/// The block size of PostgreSQL, unless it was built with another one.
const BLOCK_BYTES: f64 = 8192.0;

/// Identifiers by which the server counts the queries. PostgreSQL computes them without the constants in a query, so that
/// all parameters have the same.
#[derive(Debug, Default)]
pub(crate) struct QueryIds {
    /// Name and identifier.
    ids: Vec<(&'static str, String)>,
    block_bytes: f64,
}

impl QueryIds {
    /// Plans each query to learn its identifier. There are none before PostgreSQL 14, and where the server computes none.
    ///
    /// # Errors
    /// Only when the connection is lost.
    pub(crate) fn ask(admin: &mut Admin, explained: &Explained) -> Result<Self, AdminError> {
        let mut ids = Vec::new();
        for (query, sql) in &explained.queries {
            match admin.query_one(&format!("EXPLAIN (VERBOSE, FORMAT JSON) {sql}")) {
                Ok(plan) => ids.extend(identifier(&plan).map(|id| (*query, id))),
                Err(error) if error.is_lost() => return Err(error),
                // It has failed in the run, too.
                Err(_) => {}
            }
        }
        let block_bytes = admin.query_opt("select current_setting('block_size')")?.and_then(|size| size.parse().ok());
        Ok(Self { ids, block_bytes: block_bytes.unwrap_or(BLOCK_BYTES) })
    }
}

/// Reads the identifier in the JSON of EXPLAIN.
fn identifier(plan: &str) -> Option<String> {
    let plan: Value = serde_json::from_str(plan).ok()?;
    Some(plan.get(0)?.get("Query Identifier")?.as_i64()?.to_string())
}

/// Returns the costs of each query of which any is known. `counted` are the statements of the measured window.
pub(crate) fn of(
    explained: &Explained,
    ids: &QueryIds,
    counted: &SampleTable,
    executions: &[Execution],
) -> Vec<QueryCostRecord> {
    let cost = |(query, _): &(&'static str, String)| {
        let id = ids.ids.iter().find(|(name, _)| name == query).map(|(_, id)| id.as_str());
        let row = id.and_then(|id| {
            let mut rows = counted.rows().iter().map(|(_, row)| row);
            rows.find(|row| counted.cell(row, statements::QUERYID) == Some(id))
        });
        let of = |column: SampleColumn| -> Option<f64> { counted.cell(row?, column)?.parse().ok() };
        let calls = of(statements::CALLS).filter(|calls| *calls > 0.0);
        let bytes = |column| Some(of(column)? * ids.block_bytes / calls?);
        let own = executions.iter().filter(|execution| execution.transaction == *query);
        QueryCostRecord {
            query: (*query).to_owned(),
            temp_bytes_mean: bytes(statements::TEMP_BLKS_WRITTEN),
            read_bytes_mean: bytes(statements::SHARED_BLKS_READ),
            memory_bytes_max: own.filter_map(|execution| execution.memory_bytes_max).max(),
        }
    };
    let is_known = |cost: &QueryCostRecord| cost.temp_bytes_mean.is_some() || cost.memory_bytes_max.is_some();
    explained.queries.iter().map(cost).filter(is_known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_found_by_the_identifier_and_are_means_of_executions() {
        let explained = Explained {
            setup: None,
            queries: vec![("q1", "select 1".to_owned()), ("q2", "select 2".to_owned()), ("q3", String::new())],
        };
        let ids = QueryIds { ids: vec![("q1", "-5".to_owned()), ("q2", "7".to_owned())], block_bytes: 8192.0 };
        let row = |cells: [&str; 4]| (1.0, cells.map(str::to_owned).to_vec());
        let columns = ["queryid", "calls", "shared_blks_read", "temp_blks_written"];
        let counted = SampleTable::new(&columns, vec![row(["9", "1", "5", "5"]), row(["-5", "4", "8", "2"])]);
        let execution = |query: &str, memory_bytes_max| Execution {
            transaction: query.to_owned(),
            memory_bytes_max,
            ..Execution::default()
        };
        let executions = [execution("q2", Some(500)), execution("q2", Some(900)), execution("q2", None)];
        let costs = of(&explained, &ids, &counted, &executions);
        assert_eq!(costs.len(), 2, "nothing is known of q3");
        let [q1, q2] = [&costs[0], &costs[1]];
        assert_eq!((q1.read_bytes_mean, q1.temp_bytes_mean, q1.memory_bytes_max), (Some(16384.0), Some(4096.0), None));
        assert_eq!((q2.read_bytes_mean, q2.temp_bytes_mean, q2.memory_bytes_max), (None, None, Some(900)));
    }

    #[test]
    fn an_identifier_is_a_signed_number_and_may_be_missing() {
        let plan = r#"[{"Plan": {"Node Type": "Result"}, "Query Identifier": -8621489834352862912}]"#;
        assert_eq!(identifier(plan).as_deref(), Some("-8621489834352862912"));
        assert_eq!(identifier(r#"[{"Plan": {}}]"#), None);
        assert_eq!(identifier("QUERY PLAN"), None);
    }
}
