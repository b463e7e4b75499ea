-- A row of the history whose keys lie anywhere, so that every index grows everywhere; mtime alone grows at its end.
\set aid random(1, :keys)
\set bid random(1, :keys)
\set tid random(1, :keys)
\set delta random(-:delta_max, :delta_max)
BEGIN;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
