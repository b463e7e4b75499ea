-- Functions, then views. `pgdyno store init` makes them anew.

-- The text of a file.
CREATE OR REPLACE FUNCTION pgdyno_results.text_of(of_run text, of_path text) RETURNS text
LANGUAGE sql STABLE AS $$
    SELECT convert_from(string_agg(content, ''::bytea ORDER BY part), 'UTF8')
    FROM pgdyno_results.parts WHERE run = of_run AND path = of_path
$$;

-- The fields of a line of CSV.
CREATE OR REPLACE FUNCTION pgdyno_results.csv_fields(line text) RETURNS text[]
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN strpos(line, '"') = 0 THEN string_to_array(line, ',')
    ELSE (SELECT array_agg(coalesce(replace(field[1], '""', '"'), field[2]) ORDER BY nr)
          FROM regexp_matches(',' || line, ',(?:"((?:[^"]|"")*)"|([^",]*))', 'g') WITH ORDINALITY AS m(field, nr))
    END
$$;

-- The rows of a CSV file as objects of texts, without its empty fields.
CREATE OR REPLACE FUNCTION pgdyno_results.csv_rows(of_run text, of_path text)
RETURNS TABLE (nr bigint, fields jsonb)
LANGUAGE sql STABLE AS $$
    WITH content AS (
        SELECT string_to_array(rtrim(pgdyno_results.text_of(of_run, of_path), E'\n'), E'\n') AS lines
    ), names AS (SELECT pgdyno_results.csv_fields(lines[1]) AS names FROM content)
    SELECT l.nr - 1,
           jsonb_strip_nulls(jsonb_object(names, array_replace(pgdyno_results.csv_fields(line), '', NULL)))
    FROM content, names, unnest(lines) WITH ORDINALITY AS l(line, nr)
    WHERE l.nr > 1 AND cardinality(pgdyno_results.csv_fields(line)) = cardinality(names)
$$;

-- Fills what is made of a run's files: when its clients began, and its intervals.
CREATE OR REPLACE FUNCTION pgdyno_results.fill(of_run text) RETURNS void
LANGUAGE sql VOLATILE AS $$
    UPDATE pgdyno_results.records
    SET clients_began_at = coalesce((record ->> 'measured_at')::timestamptz - make_interval(secs => (
            SELECT (fields ->> 'start_s')::double precision FROM pgdyno_results.csv_rows(of_run, 'intervals.csv')
            WHERE fields ->> 'phase' = 'measure' ORDER BY nr LIMIT 1)), started_at)
    WHERE run = of_run;
    DELETE FROM pgdyno_results.intervals WHERE run = of_run;
    INSERT INTO pgdyno_results.intervals
    SELECT filled.*
    FROM pgdyno_results.records,
         LATERAL pgdyno_results.csv_rows(of_run, 'intervals.csv') AS line,
         LATERAL jsonb_populate_record(NULL::pgdyno_results.intervals, line.fields || jsonb_build_object(
             'run', of_run,
             'began_at', clients_began_at + make_interval(secs => (line.fields ->> 'start_s')::double precision)
         )) AS filled
    WHERE records.run = of_run;
$$;

-- The labels of a run: those of its target, then its own.
DROP VIEW IF EXISTS pgdyno_results.labels;
CREATE VIEW pgdyno_results.labels AS
SELECT run, label.key AS name, label.value AS value
FROM pgdyno_results.records,
     jsonb_each_text(coalesce(record #> '{target,labels}', '{}') || coalesce(record -> 'labels', '{}')) AS label;

-- The metrics of a run.
DROP VIEW IF EXISTS pgdyno_results.metrics;
CREATE VIEW pgdyno_results.metrics AS
SELECT run, started_at, record #>> '{plan,workload}' AS workload, record #>> '{plan,target}' AS target,
       metric.key AS metric, (metric.value ->> 'value')::double precision AS value,
       metric.value ->> 'unit' AS unit, metric.value ->> 'better' AS better,
       coalesce((metric.value #>> '{workload,headline}')::boolean, false) AS headline
FROM pgdyno_results.records, jsonb_each(coalesce(record -> 'metrics', '{}')) AS metric;

-- What held the server back, the weightiest first.
DROP VIEW IF EXISTS pgdyno_results.findings;
CREATE VIEW pgdyno_results.findings AS
SELECT run, started_at, nr, finding ->> 'rule' AS rule, (finding ->> 'weight')::double precision AS weight,
       finding ->> 'text' AS text, finding ->> 'advice' AS advice
FROM pgdyno_results.records,
     jsonb_array_elements(coalesce(record -> 'findings', '[]')) WITH ORDINALITY AS f(finding, nr);

-- Each kind of transaction of a run.
DROP VIEW IF EXISTS pgdyno_results.transactions;
CREATE VIEW pgdyno_results.transactions AS
SELECT run, started_at, txn ->> 'name' AS transaction, (txn ->> 'committed')::bigint AS committed,
       (txn ->> 'rolled_back')::bigint AS rolled_back, (txn ->> 'failed')::bigint AS failed,
       (txn #>> '{response_latency_ns,p50}')::double precision AS response_latency_ns_p50,
       (txn #>> '{response_latency_ns,p95}')::double precision AS response_latency_ns_p95,
       (txn #>> '{response_latency_ns,p99}')::double precision AS response_latency_ns_p99
FROM pgdyno_results.records, jsonb_array_elements(coalesce(record -> 'transactions', '[]')) AS txn;

-- Samples of server and machines. Read of one run and one source at a time: their files are parsed.
DROP VIEW IF EXISTS pgdyno_results.samples;
CREATE VIEW pgdyno_results.samples AS
SELECT files.run, regexp_replace(files.path, '^samples/(.*)\.csv$', '\1') AS source,
       clients_began_at + make_interval(secs => (fields ->> 'at_s')::double precision) AS sampled_at,
       (fields ->> 'at_s')::double precision AS at_s, fields - 'at_s' AS fields
FROM pgdyno_results.files JOIN pgdyno_results.records USING (run),
     LATERAL pgdyno_results.csv_rows(files.run, files.path)
WHERE files.path LIKE 'samples/%.csv';
