CREATE TABLE pgdyno_meet.version (version int NOT NULL);

-- Who waits for work, or works. One row for each agent process.
CREATE TABLE pgdyno_meet.agents (
    agent bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    host text NOT NULL,
    pid int NOT NULL,
    program text NOT NULL,
    protocol int NOT NULL,
    cpus int NOT NULL,
    number bigint NOT NULL DEFAULT 0,
    run bigint,
    state text NOT NULL DEFAULT 'idle',
    task int,
    result bytea,
    failure text,
    batches bigint NOT NULL DEFAULT 0,
    clock_error_us bigint,
    joined_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The runs that have met here, and their coordinators.
CREATE TABLE pgdyno_meet.runs (
    run bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    what text NOT NULL,
    host text NOT NULL,
    pid int NOT NULL,
    program text NOT NULL,
    beat bigint NOT NULL DEFAULT 0,
    announced_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What the coordinator of a run wants of an agent now.
CREATE TABLE pgdyno_meet.orders (
    run bigint NOT NULL REFERENCES pgdyno_meet.runs ON DELETE CASCADE,
    agent bigint NOT NULL REFERENCES pgdyno_meet.agents ON DELETE CASCADE,
    step text NOT NULL,
    task int,
    payload bytea,
    at_ns bigint,
    acked bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (agent, run)
);

-- What agents have measured and the coordinator has not read yet.
CREATE TABLE pgdyno_meet.batches (
    run bigint NOT NULL REFERENCES pgdyno_meet.runs ON DELETE CASCADE,
    agent bigint NOT NULL,
    number bigint NOT NULL,
    batch bytea NOT NULL,
    PRIMARY KEY (run, agent, number)
);
