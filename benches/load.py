#!/usr/bin/env python3
"""What the ways of loading a table cost, and pgdyno's loads beside `pgbench -i` and COPY. See README.md beside this file."""

import argparse
import os
import re
import statistics
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from harness import PGDYNO, OwnServer, ReadyFiles, bench, busy_elsewhere, cpu_seconds, newest, say, server_cpu, timed

ACCOUNTS = "aid int not null, bid int, abalance int, filler char(84)"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="ways, accounts, tproc-c, behind; all where none is named")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured, in turns [%(default)s]")
    parser.add_argument("--scale", type=int, default=50, help="of pgbench's tables [%(default)s]")
    parser.add_argument("--warehouses", type=int, default=4, help="of TPROC-C [%(default)s]")
    options = parser.parse_args()
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"no part {part}: {', '.join(PARTS)}")
    return options


def own(**settings):
    return OwnServer(**{"shared_buffers": "2GB", "max_wal_size": "8GB", "checkpoint_timeout": "1h", **settings})


def headline(server):
    names = ("shared_buffers", "max_wal_size", "wal_level", "fsync", "max_parallel_maintenance_workers", "maintenance_work_mem")
    say(f"server: PostgreSQL {server.version}, " + ", ".join(f"{name} {server.sql(f'show {name}').strip()}" for name in names))


def spread(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def seconds(text):
    """`1 min 3 s`, `4.2 s` or `950 ms`."""
    units = {"min": 60.0, "s": 1.0, "ms": 0.001}
    return sum(float(number) * units[unit] for number, unit in re.findall(r"([0-9.]+) (min|s|ms)\b", text))


def as_said(text, checkpoint):
    """The seconds of a load, as the program says them; with or without the checkpoint, of which `pgbench -i` has none."""
    if of_pgbench := re.search(r"^done in ([0-9.]+) s", text, re.M):
        return float(of_pgbench[1])
    whole, phases = re.search(r"^loaded .* rows, .*?, in ([^(\n]+)(.*)", text, re.M).groups()
    last = re.search(r"checkpoint ([^,)]+)", phases)
    return seconds(whole) - (seconds(last[1]) if last and not checkpoint else 0.0)


class Turns:
    """Wall time, server CPU, and the time that the program says, of each way, by round."""

    def __init__(self, server, checkpoint=True):
        self.server, self.of, self.checkpoint = server, {}, checkpoint

    def measure(self, name, work):
        self.server.sql("checkpoint")
        lsn = self.server.sql("select pg_current_wal_lsn()").strip()
        busy, cpu, begun = busy_elsewhere(), server_cpu(self.server.pid), time.time()
        done = work()
        wall = time.time() - begun
        spent = server_cpu(self.server.pid) - cpu
        client = cpu_seconds(done[1]) if isinstance(done, tuple) else 0.0
        others = (busy_elsewhere() - busy - spent - client) / wall
        wal = int(self.server.sql(f"select (pg_current_wal_lsn() - '{lsn}')::bigint")) / 1e6
        told, said = "", wall
        if isinstance(done, tuple):
            told = "   " + (re.search(r"(done in .*|loaded .* rows.*)", done[2]) or [""])[0]
            said = as_said(done[2], self.checkpoint)
        self.of.setdefault(name, []).append((wall, spent, said))
        say(f"  {name:42} wall {wall:6.2f} s   server {spent:6.2f} s   client {client:5.2f} s   WAL {wal:7.1f} MB   others {others:.2f}{told}")

    def ratio(self, name, base, what=0):
        return spread([a[what] / b[what] for a, b in zip(self.of[name], self.of[base])])


def with_output(command):
    """Runs a command; returns its output, usage and messages."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        _, status, usage = os.wait4(process.pid, 0)
        out.seek(0)
        text = out.read().decode()
    if status != 0:
        raise SystemExit(f"{command} failed:\n{text}")
    return text, usage, text


def ways():
    say(f"## Ways to fill one table: {OPTIONS.scale * 100_000:,} accounts from ready text files on the server; each step by itself")
    for level in ("replica", "minimal"):
        with own(wal_level=level, max_wal_senders="0", autovacuum="off") as server:
            headline(server)
            directory = server.sql("show data_directory").strip()
            rows = OPTIONS.scale * 100_000
            halves = [f"{directory}/half{n}" for n in (0, 1)]
            whole = f"{directory}/whole"
            row = "select k, (k - 1) / 100000 + 1, 0, '' from generate_series({}, {}) k"
            server.sql(f"copy ({row.format(1, rows)}) to '{whole}'")
            for n, path in enumerate(halves):
                server.sql(f"copy ({row.format(n * rows // 2 + 1, (n + 1) * rows // 2)}) to '{path}'")
            turns = Turns(server)

            def frozen():
                server.sql(f"begin; create table t ({ACCOUNTS}); copy t from '{whole}' with (freeze); commit")

            def both(table):
                with ThreadPoolExecutor(2) as pool:
                    list(pool.map(lambda path: server.sql(f"copy {table} from '{path}'"), halves))

            # A VACUUM reads through a ring of buffers, and waits for the WAL whenever it takes one that it has changed.
            has_limit = int(server.version.split(".")[0]) >= 16
            whole_memory = "buffer_usage_limit 0" if has_limit else None

            def shared_and_frozen(option=None):
                both("t")
                if option == "prewarm":
                    server.sql("create extension if not exists pg_prewarm; select pg_prewarm('t')")
                server.sql(f"vacuum (freeze{', ' + option if option and option != 'prewarm' else ''}) t")

            def partitions():
                def one(n):
                    server.sql(f"begin; truncate p{n}; copy p{n} from '{halves[n]}' with (freeze); commit")
                with ThreadPoolExecutor(2) as pool:
                    list(pool.map(one, (0, 1)))

            for n in range(OPTIONS.rounds + 1):
                if n == 0:
                    say("  (the first round warms up)")
                turns.measure("one COPY FREEZE", frozen)
                for workers in (0, 1, 2):
                    server.sql("alter table t drop constraint if exists t_pkey")
                    turns.measure(f"primary key, {workers} workers",
                                  lambda: server.sql(f"set max_parallel_maintenance_workers = {workers}; alter table t add primary key (aid)"))
                turns.measure("analyze", lambda: server.sql("analyze t"))
                server.sql(f"drop table t; create table t ({ACCOUNTS})")
                turns.measure("one COPY", lambda: server.sql(f"copy t from '{whole}'"))
                server.sql(f"drop table t; create table t ({ACCOUNTS})")
                turns.measure("two COPYs into one table", lambda: both("t"))
                # What `measure` begins with is a checkpoint: each page is written to the WAL once more.
                turns.measure("vacuum (freeze) after a checkpoint", lambda: server.sql("vacuum (freeze) t"))
                server.sql(f"drop table t; create table t ({ACCOUNTS})")
                turns.measure("two COPYs, vacuum (freeze) at once", shared_and_frozen)
                server.sql(f"drop table t; create table t ({ACCOUNTS})")
                if whole_memory:
                    turns.measure(f"two COPYs, vacuum (freeze, {whole_memory})", lambda: shared_and_frozen(whole_memory))
                else:
                    turns.measure("two COPYs, pg_prewarm, vacuum (freeze)", lambda: shared_and_frozen("prewarm"))
                server.sql(f"drop table t; create table t ({ACCOUNTS}) partition by range (aid)")
                for part in (0, 1):
                    server.sql(f"create table p{part} partition of t for values from ({part * rows // 2 + 1}) to ({(part + 1) * rows // 2 + 1})")
                turns.measure("two partitions, COPY FREEZE each", partitions)
                server.sql("drop table t")
                if n == 0:
                    turns.of = {}
            for name in turns.of:
                say(f"{name:42} of one COPY FREEZE: wall {turns.ratio(name, 'one COPY FREEZE')}, CPU {turns.ratio(name, 'one COPY FREEZE', 1)}")
    say()


def accounts():
    say(f"## pgbench's tables at scale {OPTIONS.scale}, beside `pgbench -i`, in turns on one server; each drops what was there")
    with own() as server:
        headline(server)
        server.sql("create database theirs")
        ours = [PGDYNO, "load", "tpcb-like", "-s", str(OPTIONS.scale), "--replace", "--target"]
        pgbench = [newest("pgbench"), "-i", "-s", str(OPTIONS.scale), "-h", server.host, "-p", server.port, "-U", "postgres"]
        for name in ("one", "two", "parts"):
            server.sql(f"create database {name}")
        turns = Turns(server, checkpoint=False)
        base = "pgbench -i"
        cells = {
            base: lambda: with_output([*pgbench, "theirs"]),
            "pgdyno load, 1 connection": lambda: with_output([*ours, server.database("one"), "--loaders", "1"]),
            "pgdyno load, 2 connections": lambda: with_output([*ours, server.database("two"), "--loaders", "2"]),
            "pgdyno load, 2 connections, 2 partitions": lambda: with_output(
                [*ours, server.database("parts"), "--loaders", "2", "-D", "partitions=2"]),
        }
        for n in range(OPTIONS.rounds + 1):
            if n == 0:
                say("  (the first round warms up)")
            for name, work in cells.items():
                turns.measure(name, work)
            if n == 0:
                turns.of = {}
        for name in list(cells)[1:]:
            say(f"{name:42} of pgbench -i: as both say {turns.ratio(name, base, 2)}, wall {turns.ratio(name, base)}, server CPU {turns.ratio(name, base, 1)}; "
                f"server CPU of one connection's: {turns.ratio(name, 'pgdyno load, 1 connection', 1)}")
        say("Wall: pgdyno's contains a checkpoint, and the count and sums of its rows; pgbench's contains neither, and what they say has none.")
    say()


def tproc_c():
    say(f"## TPROC-C, {OPTIONS.warehouses} warehouses, beside COPY of ready text files by one connection, with the same keys, VACUUM ANALYZE and a checkpoint")
    with own() as server:
        headline(server)
        load = [PGDYNO, "load", "tproc-c", "-w", str(OPTIONS.warehouses), "--replace", "--target", server.dsn]
        with_output([*load, "--loaders", "2"])
        ready = ReadyFiles(server)
        turns = Turns(server)
        base = "COPY of ready files, 1 connection"
        for n in range(OPTIONS.rounds + 1):
            turns.measure(base, lambda: ready.copy() and None)
            for loaders in ("1", "2"):
                turns.measure(f"pgdyno load, {loaders} connections", lambda: with_output([*load, "--loaders", loaders]))
                analyzed = server.sql("select string_agg(relname || ' ' || analyze_count, ', ') from pg_stat_user_tables where analyze_count > 1").strip()
                if analyzed:
                    say(f"  analyzed more than once: {analyzed}")
            if n == 0:
                turns.of = {}
        for loaders in ("1", "2"):
            name = f"pgdyno load, {loaders} connections"
            say(f"{name:42} of COPY: as it says {turns.ratio(name, base, 2)}, wall {turns.ratio(name, base)}, server CPU {turns.ratio(name, base, 1)}")
        say("Wall: pgdyno's contains the conditions of clause 3.3.2; what it says does not.")
    say()


def behind():
    say("## VACUUM beside the COPYs: WAL of a resumable load with little WAL between checkpoints, against one VACUUM at the end")
    with own(max_wal_size="256MB", checkpoint_timeout="1h") as server:
        headline(server)
        turns = Turns(server)
        for n in range(OPTIONS.rounds):
            for name, more in (("resumable: VACUUM behind the COPYs", ["--resumable"]), ("not resumable: VACUUM at the end, or COPY FREEZE", [])):
                turns.measure(name, lambda: with_output(
                    [PGDYNO, "load", "tpcb-like", "-s", str(OPTIONS.scale), "--replace", "--loaders", "2", "--target", server.dsn, *more]))
    say()


PARTS = {"ways": ways, "accounts": accounts, "tproc-c": tproc_c, "behind": behind}

if __name__ == "__main__":
    OPTIONS = arguments()
    bench(PARTS, wanted=OPTIONS.parts)
