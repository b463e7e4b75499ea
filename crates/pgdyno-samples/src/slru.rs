//! `pg_stat_slru`: the buffers of transaction states, subtransactions, multixacts and the like.

crate::source! { "slru":
    /// What it holds, as PostgreSQL 17 and later name it: `subtransaction`, `multixact_member`, ….
    NAME = key("name").as_sql(
        "CASE name WHEN 'CommitTs' THEN 'commit_timestamp' WHEN 'MultiXactMember' THEN 'multixact_member' \
         WHEN 'MultiXactOffset' THEN 'multixact_offset' WHEN 'Notify' THEN 'notify' WHEN 'Serial' THEN 'serializable' \
         WHEN 'Subtrans' THEN 'subtransaction' WHEN 'Xact' THEN 'transaction' ELSE name END"
    );
    /// Pages found in the buffers.
    BLKS_HIT = counter("blks_hit", Count);
    /// Pages read from files.
    BLKS_READ = counter("blks_read", Count);
    /// Pages written.
    BLKS_WRITTEN = counter("blks_written", Count);
    /// Time of the last reset of the counters.
    STATS_RESET = reset("stats_reset");
}
