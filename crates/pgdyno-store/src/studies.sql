-- Experiments, searches and frontiers, one row each. `content` is the file of the record, `record` the same as jsonb, `runs`
-- names its runs. Stores of 0.2.0 lack this table until `pgdyno store init` adds it.
CREATE TABLE IF NOT EXISTS pgdyno_results.studies (
    study text PRIMARY KEY,
    kind text NOT NULL,
    digest text NOT NULL,
    started_at timestamptz NOT NULL,
    status text NOT NULL,
    workload text NOT NULL,
    runs text[] NOT NULL,
    record jsonb NOT NULL,
    content bytea NOT NULL,
    pushed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    pushed_by name NOT NULL DEFAULT session_user
);
