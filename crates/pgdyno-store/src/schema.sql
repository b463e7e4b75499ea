-- One row: the version of these tables, and which store this is.
CREATE TABLE pgdyno_results.store (
    version int NOT NULL,
    id uuid NOT NULL
);

-- One row a run. `record` is run.json, `line` its row of `pgdyno export`.
CREATE TABLE pgdyno_results.records (
    run text PRIMARY KEY,
    digest text NOT NULL,
    started_at timestamptz NOT NULL,
    clients_began_at timestamptz NOT NULL,
    record jsonb NOT NULL,
    line jsonb NOT NULL,
    bytes bigint NOT NULL,
    pushed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    pushed_by name NOT NULL DEFAULT session_user
);
CREATE INDEX records_started_at ON pgdyno_results.records (started_at);

-- The files of a run as they were pushed.
CREATE TABLE pgdyno_results.files (
    run text NOT NULL REFERENCES pgdyno_results.records ON DELETE CASCADE,
    path text NOT NULL,
    bytes bigint NOT NULL,
    sha256 text NOT NULL,
    PRIMARY KEY (run, path)
);

-- Their bytes, in parts of a MiB.
CREATE TABLE pgdyno_results.parts (
    run text NOT NULL,
    path text NOT NULL,
    part int NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (run, path, part),
    FOREIGN KEY (run, path) REFERENCES pgdyno_results.files ON DELETE CASCADE
);

-- The seconds of each run: intervals.csv as a table.
CREATE TABLE pgdyno_results.intervals (
    run text NOT NULL REFERENCES pgdyno_results.records ON DELETE CASCADE,
    began_at timestamptz NOT NULL,
    interval int NOT NULL,
    phase text NOT NULL,
    start_s double precision NOT NULL,
    end_s double precision NOT NULL,
    tps double precision,
    started bigint,
    committed bigint,
    rolled_back bigint,
    failed bigint,
    retried bigint,
    retries bigint,
    skipped bigint,
    late bigint,
    in_flight bigint,
    response_latency_ns_p50 bigint,
    response_latency_ns_p95 bigint,
    response_latency_ns_p99 bigint,
    response_latency_ns_max bigint,
    service_latency_ns_p50 bigint,
    service_latency_ns_p95 bigint,
    service_latency_ns_p99 bigint,
    service_latency_ns_max bigint,
    client_cpu_s double precision,
    PRIMARY KEY (run, interval)
);
