#!/usr/bin/env python3
"""Start and end of a run: from the command to the first measured transaction, from the end of the window to the prompt.

usage: benches/start_end.py PGDYNO [ROUNDS]

In turns: a given server with loaded data; a private server that begins with kept data; `--version`. The server's own part is measured beside
them: the time to start PostgreSQL on the same data, and to stop it, by pg_ctl.
"""

import datetime
import glob
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from harness import OwnServer

program = os.path.abspath(sys.argv[1])
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
SECONDS = 1


def seconds_of(text):
    at = datetime.datetime.fromisoformat(text[:19] + "+00:00").timestamp()
    return at + float("0" + text[19:].rstrip("Z") if text[19:20] == "." else 0)


def run(workload, more):
    """Runs for a second; returns the times before the window and after it, and whether it loaded."""
    with tempfile.TemporaryDirectory() as results:
        began = time.time()
        subprocess.run([program, "run", *workload, "-T", str(SECONDS), "--ramp", "0", "-q", "--out", results, *more],
                       check=True, capture_output=True)
        ended = time.time()
        with open(glob.glob(f"{results}/*/run.json")[0]) as file:
            record = json.load(file)
    measured = seconds_of(record["measured_at"])
    return measured - began, ended - measured - SECONDS, "load" in record


def version():
    began = time.perf_counter()
    subprocess.run([program, "--version"], check=True, capture_output=True)
    return time.perf_counter() - began


def empty():
    """What starting any process costs here."""
    began = time.perf_counter()
    subprocess.run(["/bin/true"], check=True, capture_output=True)
    return time.perf_counter() - began


def tell(name, values, unit="s", factor=1.0):
    values = [value * factor for value in values]
    print(f"{name:58} {statistics.median(values):6.2f} {unit} ({min(values):.2f} to {max(values):.2f})", flush=True)


print(f"# {time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}; {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the beginning; "
      f"windows of {SECONDS} s, {rounds} rounds")
with OwnServer(shared_buffers="1GB", max_wal_size="4GB") as server:
    select, tproc = ["select-only", "-s", "10", "-c", "4"], ["tproc-c", "-w", "10", "-c", "4"]
    print(f"# PostgreSQL {server.version}")
    server.sql("create database tproc")
    subprocess.run([program, "load", *select[:3], "-q", "--target", server.dsn], check=True, capture_output=True)
    subprocess.run([program, "load", *tproc[:3], "-q", "--target", server.database("tproc")], check=True, capture_output=True)
    # The private server begins with this.
    subprocess.run([program, "run", *tproc, "-T", "1", "--ramp", "0", "-q", "--out", tempfile.mkdtemp()], check=True, capture_output=True)
    cells = {
        "given server, select-only -s 10": (select, ["--target", server.dsn]),
        "given server, select-only -s 10, --no-check": (select, ["--no-check", "--target", server.dsn]),
        "given server, tproc-c -w 10": (tproc, ["--target", server.database("tproc")]),
        "given server, tproc-c -w 10, --no-check": (tproc, ["--no-check", "--target", server.database("tproc")]),
        "private server, kept data, tproc-c -w 10": (tproc, []),
        "private server, kept data, tproc-c -w 10, --no-check": (tproc, ["--no-check"]),
        "private server, select-only -s 1, loaded each time": (["select-only", "-s", "1", "-c", "4"], []),
    }
    taken = {name: [] for name in cells}
    own = {"pg_ctl start": [], "pg_ctl stop, buffers clean": []}
    versions, nothing = [], []
    for n in range(rounds + 1):
        for name, (workload, more) in cells.items():
            taken[name].append(run(workload, more))
        began = time.time()
        server.sql("checkpoint")
        server._run("pg_ctl", "-D", server.data, "-w", "-m", "fast", "stop")
        stopped = time.time()
        server._run("pg_ctl", "-D", server.data, "-l", os.path.join(server.home, "log"), "-w", "start")
        own["pg_ctl start"].append(time.time() - stopped)
        own["pg_ctl stop, buffers clean"].append(stopped - began)
        versions.extend(version() for _ in range(20))
        nothing.extend(empty() for _ in range(20))
        if n == 0:
            taken, own, versions, nothing = {name: [] for name in cells}, {name: [] for name in own}, [], []
    for name, times in taken.items():
        tell(f"{name}: to the first measured transaction", [start for start, _, _ in times])
        tell(f"{name}: from the window to the prompt", [end for _, end, _ in times])
        # What loads in less than 5 s is not kept.
        if "kept data" in name and (loaded := sum(load for _, _, load in times)):
            print(f"# {loaded} of {len(times)} runs found no kept data, and loaded", flush=True)
    for name, times in own.items():
        tell(name, times)
    tell("--version", versions, "ms", 1000)
    tell("/bin/true", nothing, "ms", 1000)
