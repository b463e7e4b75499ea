#!/usr/bin/env python3
"""COPY's text form beside its binary form: server CPU to load the same rows, table by table, alternately."""

import argparse
import os
import statistics
import subprocess
import time

import harness
from harness import OwnServer, bench, newest, say

TABLES = {
    # The filler of an account is sent empty, and the server pads it.
    "pgbench_accounts": ("tpcb-like", "aid, bid, abalance, ''::bpchar as filler"),
    "stock": ("tproc-c", "*"),
    "customer": ("tproc-c", "*"),
    "order_line": ("tproc-c", "*"),
    "orders": ("tproc-c", "*"),
    "history": ("tproc-c", "*"),
    "item": ("tproc-c", "*"),
}
FORMATS = ("text", "binary")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, metavar="N")
    parser.add_argument("--scale", type=int, default=20, metavar="N", help="of pgbench's tables")
    parser.add_argument("--warehouses", type=int, default=4, metavar="N")
    return parser.parse_args()


def formats():
    with OwnServer(shared_buffers="1GB", max_wal_size="8GB", autovacuum="off", checkpoint_timeout="1h", fsync="off") as server:
        say(f"PostgreSQL {server.version}; COPY FROM a file on the server WITH (FREEZE) into a table made in the same transaction; "
            "CPU of that backend, reading the file included; median (least to greatest)")
        for workload, size in (("tpcb-like", ["-s", str(OPTIONS.scale)]), ("tproc-c", ["-w", str(OPTIONS.warehouses)])):
            subprocess.run([harness.PGDYNO, "load", workload, *size, "-q", "--target", server.dsn], check=True, stdout=subprocess.DEVNULL)
        for table, (_, columns) in TABLES.items():
            compare(server, table, columns)
    say()


def compare(server, table, columns):
    directory, rows = server.sql("show data_directory").strip(), int(server.sql(f"select count(*) from {table}"))
    files = {form: f"{directory}/{table}.{form}" for form in FORMATS}
    for form, path in files.items():
        server.sql(f"copy (select {columns} from {table}) to '{path}' (format {form})")
    kib = {form: os.path.getsize(path) / 1024 for form, path in files.items()}
    spent = {form: [] for form in FORMATS}
    for n in range(OPTIONS.rounds + 1):
        for form in FORMATS if n % 2 else reversed(FORMATS):
            ns = load(server, table, form, files[form])
            if n:  # the first of each warms up
                spent[form].append(ns / rows)
    for path in files.values():
        os.remove(path)
    ratio = statistics.median(spent["binary"]) / statistics.median(spent["text"])
    told = "; ".join(f"{form} {statistics.median(own):,.0f} ({min(own):,.0f} to {max(own):,.0f}) ns a row, {kib[form] * 1024 / rows:.0f} bytes"
                     for form, own in spent.items())
    say(f"{table:18} {rows:>9,} rows: {told}; binary / text {ratio:.2f} (of the least {min(spent['binary']) / min(spent['text']):.2f})")


def load(server, table, form, path):
    """Nanoseconds on a CPU of the backend that copies."""
    clock = "select 'ns ' || split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)"
    script = (f"begin; create table copied (like {table}); {clock}; "
              f"copy copied from '{path}' with (format {form}, freeze); {clock}; drop table copied; commit")
    server.sql("checkpoint")
    command = [newest("psql"), "-h", server.host, "-p", server.port, "-U", "postgres", "-qAtX", "-v", "ON_ERROR_STOP=1", "postgres"]
    done = subprocess.run(command, input=script.replace("; ", ";\n") + ";\n", capture_output=True, text=True, check=True)
    before, after = (int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("ns "))
    time.sleep(0.05)
    return after - before


if __name__ == "__main__":
    OPTIONS = arguments()
    bench({"formats": formats}, wanted=["formats"])
