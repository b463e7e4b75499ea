"""How long loading takes, and what it costs the server."""

import os
import re
import subprocess
import sys
import time

import measure

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # the other benches' means
from harness import ReadyFiles  # noqa: E402


def accounts(bench):
    """The default steps of `pgbench -i`, by each program, primary keys and vacuum included."""
    server, part, scale = bench.server(unpinned=True), "load/accounts", bench.options.scale
    database = fresh(server, "versus_load")
    dsn = next(iter(server.endpoints.values())).database(database).dsn
    size = ["-s", str(scale)]
    plain = [bench.pgdyno.path, "load", "tpcb-like", *size, "--replace", "--force", "--target", dsn]
    ways = {}
    if bench.pgbench:
        ways[f"{bench.pgbench.name} -i"] = [bench.pgbench.path, "-i", "-q", *size, dsn]
    ways["pgdyno load"] = plain
    # Partitions are a parameter of the workload, or an option of the drop-in's.
    split = [*plain, "-D", "partitions=2"]
    if subprocess.run([bench.pgdyno.path, "plan", "tpcb-like", "-D", "partitions=2"], capture_output=True).returncode == 0:
        ways["pgdyno load, 2 partitions"] = split
    ways["pgdyno pgbench -i"] = [bench.pgdyno.path, "pgbench", "-i", "-q", *size, dsn]
    ways["pgdyno pgbench -i, 2 partitions"] = [bench.pgdyno.path, "pgbench", "-i", "-q", "--partitions=2", "--init-jobs=2", *size, dsn]
    # The first load of a new server writes its WAL segments for the first time.
    if not bench.store.of(part):
        measure.run(plain, server=server, env=bench.env)
    for n in range(bench.options.load_pairs):
        for name, command in ways.items():
            bench.measured_command(part, name, command, server, n, before=lambda: rested(server, database), more=steps)
    server.sql(f"drop database {database}")
    bench.show_part(part)


UNITS_S = {"ms": 1e-3, "s": 1.0}


def steps(usage):
    """What pgdyno says of its load: seconds without its checkpoint, which pgbench does not make, and without counting the rows
    afterwards; and the checkpoint's. Other programs make neither."""
    told = re.search(r"^loaded .*, in ([\d.]+) (\w+)(?: \((.*)\))?$", usage.errors, re.M)
    if not told:
        return {"alike_s": usage.wall_s}
    checkpoint = re.search(r"checkpoint ([\d.]+) (\w+)", told[3] or "")
    load_s, checkpoint_s = (float(found[1]) * UNITS_S[found[2]] if found else 0.0 for found in (told, checkpoint))
    return {"alike_s": load_s - checkpoint_s, "checkpoint_s": checkpoint_s}


def tproc_c(bench):
    """Indexes, statistics, checkpoint and the conditions included; COPY from files of the same rows calibrates each round."""
    server, part, warehouses = bench.server(unpinned=True), "load/tproc-c", bench.options.warehouses
    if not server.pid:
        return bench.say(f"{part}: COPY from ready files needs a server on this machine: left out")
    database = fresh(server, "versus_warehouses")
    dsn = next(iter(server.endpoints.values())).database(database).dsn
    load = [bench.pgdyno.path, "load", "tproc-c", "-w", str(warehouses), "-q", "--replace", "--target", dsn]
    # The first load of a new server writes its WAL segments for the first time.
    measure.run([*load, "--loaders", "2"], server=server, env=bench.env)
    ready = ReadyFiles(Inside(server, database))
    bench.store.facts({"tproc_c_rows": ready.rows, "tproc_c_warehouses": warehouses})
    for n in range(bench.options.load_pairs):
        if not bench.store.done(part, "COPY from files", "run", n):
            rested(server)
            wall_s, server_s = ready.copy()
            bench.store.add(part, "COPY from files", "run", n, wall_s=wall_s, server_s=server_s)
        for loaders in (1, 2):
            name = f"pgdyno load, {loaders} connection{'s'[: loaders - 1]}"
            bench.measured_command(part, name, [*load, "--loaders", str(loaders)], server, n, before=lambda: rested(server))
        name = "its conditions alone"
        check = [bench.pgdyno.path, "check", "tproc-c", "-q", "--target", dsn]
        bench.measured_command(part, name, check, server, n, before=lambda: rested(server))
    for path in ready.files.values():
        try:
            os.remove(path)
        except OSError:
            pass  # they are in the data directory of a server that runs as somebody else
    server.sql(f"drop database {database}")
    bench.show_part(part)


class Inside:
    """One database of a server, for means that know no other."""

    def __init__(self, server, database):
        self.pid, self._server, self._database = server.pid, server, database

    def sql(self, text):
        return self._server.sql(text, self._database)


def rested(server, database=None):
    server.sql("checkpoint", database)
    time.sleep(0.3)


def fresh(server, name):
    server.sql(f"drop database if exists {name}")
    server.sql(f"create database {name}")
    return name
