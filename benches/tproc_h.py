#!/usr/bin/env python3
"""tproc-h beside COPY from ready files, HammerDB and go-tpc: its load, and its set of queries. See README.md beside this file."""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import tproc_c
from harness import PGDYNO, OwnServer, ReadyFiles, bench, busy_elsewhere, cpu_seconds, newest, say, scratch, server_cpu, timed
from tproc_c import settle, spread

# Sized for analysis, the same for every program.
SETTINGS = {
    "shared_buffers": "4GB", "max_wal_size": "16GB", "maintenance_work_mem": "1GB", "work_mem": "256MB", "random_page_cost": "1.1",
    "max_parallel_workers_per_gather": "2", "max_parallel_maintenance_workers": "2", "jit": "off",
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="load, beside; both where none is named")
    parser.add_argument("--scale", default="1", help="scale factor of `load` [%(default)s]")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is measured, in turns [%(default)s]")
    parser.add_argument("--hammerdb", metavar="DIR", help="directory with an installed hammerdbcli; left out of `beside` without it")
    parser.add_argument("--hammerdb-users", type=int, default=2, help="virtual users of its build [%(default)s]")
    parser.add_argument("--go-tpc", metavar="PROGRAM", help="go-tpc; left out of `beside` without it")
    parser.add_argument("--own-tables", action="store_true", help="`beside`: HammerDB and go-tpc load tables of their own; HammerDB takes the most of an hour")
    parser.add_argument("--port", default="54871", help="port of `beside`'s server on the loopback address [%(default)s]")
    options = parser.parse_args()
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"no part {part}: {', '.join(PARTS)}")
    return options


class Costs:
    """Seconds of wall, and of CPU of client and server, of each program."""

    def __init__(self, private):
        self.private, self.of = private, {}

    def measure(self, name, work):
        """Measures `work`, which returns its usage or None if nothing but the server works."""
        settle(self.private)
        busy, before, begun = busy_elsewhere(), server_cpu(self.private.pid), time.time()
        usage = work()
        wall = time.time() - begun
        settle(self.private)
        server = server_cpu(self.private.pid) - before
        client = cpu_seconds(usage) if usage else 0.0
        others = (busy_elsewhere() - busy - server - client) / (time.time() - begun)
        self.of.setdefault(name, []).append({"wall": wall, "client": client, "server": server, "others": others})
        say(f"  {name:34} wall {wall:7.1f} s   client {client:7.1f} s   server {server:7.1f} s   CPUs that others used {others:.2f}")

    def figures(self, name, key):
        return [cost[key] for cost in self.of[name]]

    def ratios(self, name, key, base, base_key=None):
        return [a / b for a, b in zip(self.figures(name, key), self.figures(base, base_key or key))]


class Files(ReadyFiles):
    """Tables as files in one format, copied over as many connections as a load has: tables side by side, then indexes, then
    foreign keys, then statistics and a checkpoint."""

    def __init__(self, server, form, connections):
        super().__init__(server)
        self.form, self.connections = form, connections
        if form == "binary":
            for table, path in self.files.items():
                server.sql(f"copy {table} to '{path}' with (format binary)")
        self.sizes = {t: int(server.sql(f"select pg_table_size('{t}')")) for t in self.tables}
        self.foreign_keys = server.sql(
            "select format('alter table bench.%s add %s', conrelid::regclass, replace(pg_get_constraintdef(oid), 'REFERENCES ', "
            "'REFERENCES bench.')) from pg_constraint where contype = 'f' order by conrelid::regclass::text").strip().splitlines()

    def side_by_side(self, statements):
        with ThreadPoolExecutor(self.connections) as pool:
            list(pool.map(self.server.sql, statements))

    def copy(self):
        self.server.sql("drop schema if exists bench cascade; create schema bench")
        largest = sorted(self.tables, key=lambda t: -self.sizes[t])
        self.side_by_side(
            f"begin; create table bench.{t} ({self.ddl[t]}); copy bench.{t} from '{self.files[t]}' with (format {self.form}, freeze on); commit"
            for t in largest)
        indexes = [index.replace(" ON public.", " ON bench.").replace(" INDEX public.", " INDEX ") for index in self.indexes]
        self.side_by_side(sorted(indexes, key=lambda index: -self.sizes[re.search(r" ON bench\.(\w+)", index)[1]]))
        for foreign_key in self.foreign_keys:
            self.server.sql(foreign_key)
        self.side_by_side(f"vacuum analyze bench.{t}" for t in largest)
        self.server.sql("checkpoint")

    def dropped(self):
        self.server.sql("drop schema bench cascade")


def headline(private):
    say(f"server: PostgreSQL {private.version}, " + ", ".join(f"{name} {private.sql(f'show {name}').strip()}" for name in (
        *SETTINGS, "wal_level", "fsync", "max_parallel_workers")))


def loaded(private, scale, *options):
    """Loads. Of the checks that follow, rows are counted and one answer is compared."""
    return timed([PGDYNO, "load", "tproc-h", "-s", scale, "-D", "queries=17", "-q", "--replace", "--loaders", "2", "--target", private.dsn, *options])


def load():
    say(f"## Load: scale factor {OPTIONS.scale}, profile `keys`, foreign keys, statistics and checkpoint included, over two connections")
    with OwnServer(**SETTINGS) as private:
        headline(private)
        costs = Costs(private)
        # The first load of a new server writes its WAL segments for the first time.
        say(loaded(private, OPTIONS.scale)[0].strip())
        ready = {form: Files(private, form, 2) for form in ("text", "binary")}
        say(f"{ready['text'].rows:,} rows")
        for n in range(OPTIONS.rounds):
            say(f"round {n + 1}")
            costs.measure("pgdyno load", lambda: loaded(private, OPTIONS.scale)[1])
            for form, files in ready.items():
                # The two forms have a file of a table in turn.
                for table, path in files.files.items():
                    private.sql(f"copy {table} to '{path}' with (format {form})")
                costs.measure(f"COPY from {form} files", files.copy)
                files.dropped()
        for form in ready:
            name = f"COPY from {form} files"
            say(f"wall, of {name}: {spread(costs.ratios('pgdyno load', 'wall', name), '{:.2f}')}; CPU of client and server, of the server's there: "
                + spread([(c + s) / b for c, s, b in zip(costs.figures('pgdyno load', 'client'), costs.figures('pgdyno load', 'server'),
                                                        costs.figures(name, 'server'))], '{:.2f}'))
        say(f"client CPU, of the server's: {spread(costs.ratios('pgdyno load', 'client', 'pgdyno load', 'server'), '{:.3f}')}; wall "
            f"{spread(costs.figures('pgdyno load', 'wall'), '{:.1f}')} s")
    say()


class HammerDB(tproc_c.HammerDB):
    """Its TPROC-H, which has scale factors from a list, 1 the smallest."""

    benchmark = "TPC-H"

    def names(self, database):
        return [f"diset tpch pg_tpch_dbase {database}", f"diset tpch pg_tpch_user {database}", f"diset tpch pg_tpch_pass {database}"]

    def build(self, database):
        text, usage = self.type(database, ["diset tpch pg_scale_fact 1", f"diset tpch pg_num_tpch_threads {OPTIONS.hammerdb_users}", "buildschema"])
        lines = int(self.private.sql("select count(*) from lineitem", database))
        if "SCHEMA COMPLETE" not in text.upper() or lines < 5_900_000:
            raise RuntimeError(f"HammerDB built {lines} lines:\n{text[-2000:]}")
        return usage

    def run(self, database):
        """Returns its usage, the sum of its queries' times, its mean and a description."""
        workers = self.private.sql("show max_parallel_workers_per_gather", database).strip()
        text, usage = self.type(database, [
            "diset tpch pg_scale_fact 1", f"diset tpch pg_degree_of_parallel {workers}", "loadscript", "vuset vu 1", "vucreate", "vurun", "vudestroy"])
        queries = [float(s) for s in re.findall(r"query \d+ completed in ([\d.]+) seconds", text)]
        mean = re.search(r"Geometric mean of query times returning rows \((\d+)\) is ([\d.]+)", text)
        if len(queries) != 22 or not mean:
            raise RuntimeError(f"HammerDB completed {len(queries)} queries:\n{text[-2000:]}")
        return usage, sum(queries), float(mean[2]), f"sum of its queries' times; the mean is of the {mean[1]} queries with rows"


def ran(dsn):
    """Returns usage, set time, geometric mean and a description."""
    record = scratch("record.json")
    usage = timed([PGDYNO, "run", "hammerdb/tproc-h-1", "--size", "sf1", "--no-check", "-q", "--target", dsn, "--json", record, "--out", scratch("out")])[1]
    with open(record) as f:
        metrics = json.load(f)["metrics"]
    set_s, mean_s = (metrics[name]["value"] for name in ("set-time", "geometric-mean"))
    return usage, set_s, mean_s, "the mean is of 22 queries"


def beside():
    own = "tables that each program loads" if OPTIONS.own_tables else "all programs on the tables that pgdyno loads"
    say(f"## Beside HammerDB and go-tpc: scale factor 1, the same server, {own}; HammerDB's keys and indexes where a program brings none")
    with OwnServer(**SETTINGS, listen_addresses="127.0.0.1", port=OPTIONS.port) as private:
        headline(private)
        costs = Costs(private)
        say("load, with the checks that a program makes after it")
        private.sql("create database ours")
        private.sql("create role ours superuser login")
        dsn = private.database("ours")
        load = [PGDYNO, "load", "tproc-h", "-s", "1", "--indexes", "hammerdb", "-q", "--replace", "--loaders", "2", "--target", dsn]
        costs.measure("pgdyno load", lambda: timed(load)[1])
        hammerdb = HammerDB(OPTIONS.hammerdb, private) if OPTIONS.hammerdb else None
        go_tpc = [OPTIONS.go_tpc, "tpch", "-d", "postgres", "-H", "127.0.0.1", "-P", private.port, "-U", "postgres", "-p", "none", "--conn-params",
                  "sslmode=disable", "--sf", "1", "-D"]
        of_hammerdb = of_go_tpc = "ours"
        if OPTIONS.own_tables and OPTIONS.go_tpc:
            private.sql("create database gotpc")
            of_go_tpc = "gotpc"
            costs.measure("go-tpc prepare", lambda: timed([*go_tpc, of_go_tpc, "prepare"])[1])
        if OPTIONS.own_tables and hammerdb:
            of_hammerdb = "theirs"
            costs.measure(f"HammerDB {hammerdb.version}, {OPTIONS.hammerdb_users} users", lambda: hammerdb.build(of_hammerdb))
            say("HammerDB's load by pgdyno's: " + "; ".join(
                f"{what} {sum(costs.figures(f'HammerDB {hammerdb.version}, {OPTIONS.hammerdb_users} users', key)) / sum(costs.figures('pgdyno load', key)):.1f}"
                for what, key in (("wall", "wall"), ("client CPU", "client"), ("server CPU", "server"))))
        for name in sorted({"ours", of_hammerdb, of_go_tpc}):
            size = private.sql("select pg_size_pretty(pg_database_size(current_database()))", name).strip()
            say(f"  {name}: {size}; indexes of lineitem: " + "; ".join(private.sql(
                "select regexp_replace(indexdef, '^.*USING btree ', '') from pg_indexes where tablename = 'lineitem' order by 1", name).split("\n")[:-1]))
            private.sql("vacuum analyze", name)
        say("one set of the 22 queries, in turns")
        sets = {"pgdyno": []}
        for n in range(OPTIONS.rounds):
            say(f"round {n + 1}")
            measure_set(costs, sets, "pgdyno", lambda: ran(dsn))
            if hammerdb:
                measure_set(costs, sets, "HammerDB", lambda: hammerdb.run(of_hammerdb))
        for name, figures in sets.items():
            if name == "pgdyno":
                continue
            for nth, what in enumerate(("set time", "geometric mean")):
                ours, theirs = ([figures[nth] for figures in sets[of]] for of in ("pgdyno", name))
                say(f"{what}: pgdyno {spread(ours, '{:.2f}')} s, {name} {spread(theirs, '{:.2f}')} s, ratio {spread([a / b for a, b in zip(ours, theirs)], '{:.2f}')}")
            for what, key in (("CPU of the server", "server"), ("CPU of the client", "client")):
                say(f"{what} for a set, pgdyno's by {name}'s: {spread(costs.ratios('pgdyno set', key, f'{name} set'), '{:.2f}')}")
        if OPTIONS.go_tpc:
            say("go-tpc, each query by itself, with the function of MySQL that its texts call, made by this script")
            private.sql("create function date_add(date, interval) returns timestamp language sql immutable return $1 + $2", of_go_tpc)
            settle(private)
            go_tpc_runs([*go_tpc, of_go_tpc])
    say()


def measure_set(costs, sets, name, run):
    """Measures a set of queries, and keeps its time and mean."""
    found = []

    def work():
        usage, *figures = run()
        found.extend(figures)
        return usage

    costs.measure(f"{name} set", work)
    set_s, mean_s, what = found
    say(f"    set {set_s:.2f} s, geometric mean {mean_s:.5f} s ({what})")
    sets.setdefault(name, []).append((set_s, mean_s))


def go_tpc_runs(command):
    """Each query by itself, a minute at most: a query that fails ends the program, and without an index on l_partkey some take
    hours."""
    told, times = [], []
    for number in range(1, 23):
        query = [*command, "--queries", f"q{number}", "--count", "1", "run"]
        try:
            done = subprocess.run(query, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            told.append(f"q{number} more than 60 s")
            continue
        text = done.stdout + done.stderr
        found = re.search(rf"\[Summary\] Q{number}: ([\d.]+)(\w+)", text)
        failed = re.search(r".*(pq: .*|panic: .*)", text)
        if found and not failed:
            times.append(float(found[1]) / (1000 if found[2] == "ms" else 1))
            told.append(f"q{number} {found[1]}{found[2]}")
        else:
            told.append(f"q{number} fails: {failed[1] if failed else text.strip()[-100:]}")
    say(f"  go-tpc ended {len(times)} of 22 queries, in {sum(times):.1f} s: " + ", ".join(told))


PARTS = {"load": load, "beside": beside}

if __name__ == "__main__":
    OPTIONS = arguments()
    bench(PARTS, wanted=OPTIONS.parts)
