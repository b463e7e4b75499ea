#!/usr/bin/env python3
"""What `pgdyno ab` says where the truth is known: experiments one after the other.

usage: benches/ab.py PGDYNO [--slower PERCENT] [EXPERIMENTS] [BUDGET] [ARGUMENTS OF `pgdyno ab`]

Without --slower, A against A: both sides are private servers with the same settings, and a verdict of `faster` or `slower` is false.
With it, both sides run tpcb-like's transaction from a directory of their own, and B runs it twice in a row for one in 100/PERCENT
transactions, but counts it once: with a fixed number of clients it has exactly so much less throughput, whatever the machine does.

Prints a line for each experiment (verdict, change, interval, units, seconds), the throughput of its slices in the order in which they
were measured, and the counts at the end; `benches/ab_sooner.py` reads that.
"""

import glob
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter

TRANSACTION = """BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
"""
VARIABLES = """\\set aid random(1, 100000 * :scale)
\\set bid random(1, 1 * :scale)
\\set tid random(1, 10 * :scale)
\\set delta random(-5000, 5000)
"""
WORKLOAD = """summary = "tpcb-like, once or twice"

[data]
workload = "tpcb-like"

[[script]]
file = "transaction.sql"
"""


def directory(place, name, again, one_in):
    """A workload whose transaction runs again where a random number from 1 to `one_in` is `again`."""
    path = os.path.join(place, name)
    os.mkdir(path)
    once = VARIABLES + TRANSACTION
    script = f"\\set nth random(1, {one_in})\n{once}\\if :nth = {again}\n{once}\\endif\n"
    for file, text in [("transaction.sql", script), ("workload.toml", WORKLOAD)]:
        with open(os.path.join(path, file), "w") as out:
            out.write(text)
    return path


words = sys.argv[1:]
program = os.path.abspath(words.pop(0))
slower = float(words[1]) if words[:1] == ["--slower"] else None
words = words[2:] if slower else words
experiments = int(words[0]) if words else 20
budget = words[1] if len(words) > 1 else "60s"
arguments = words[2:] or (["-s", "2", "-c", "4"] if slower else ["tpcb-like", "-s", "2", "-c", "4", "--slice", "1s"])
place = tempfile.TemporaryDirectory()
if slower:
    one_in = round(100 / slower)
    a, b = (directory(place.name, name, again, one_in) for name, again in [("once", 0), ("twice", 1)])
    sides = [a, "--b", f"script={b}"]
    truth = {"slower"}
    print(f"B runs one in {one_in} transactions twice: {100 / (1 + 1 / one_in) - 100:.2f} %")
else:
    sides = ["--a", "work_mem=4MB", "--b", "work_mem=4MB"]
    truth = {"no-difference"}
print(f"machine: {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the beginning")
print("each: pgdyno ab", *arguments, f"--budget {budget}", flush=True)
verdicts = Counter()
for nth in range(1, experiments + 1):
    with tempfile.TemporaryDirectory() as results:
        command = [program, "ab", *sides, *arguments, "--budget", budget]
        ran = subprocess.run([*command, "--format", "json", "-q", "--out", results], capture_output=True, text=True)
        if ran.returncode not in (0, 20, 21):
            sys.exit(f"experiment {nth} ended with {ran.returncode}: {ran.stderr}")
        told = json.loads(ran.stdout)
        runs = {}
        for path in glob.glob(os.path.join(results, "*", "run.json")):
            with open(path) as file:
                record = json.load(file)
            runs[record["id"]] = (record["started_at"], (record.get("summary") or {}).get("tps"))
    verdicts[told["verdict"]] += 1
    units = f"{len(told['units'])} units in {told['spent_s']:.0f} s, load {os.getloadavg()[0]:.1f}"
    if "interval_percent" in told:
        low, high = told["interval_percent"]
        units = f"{told['change_percent']:+6.1f} % ({low:+.1f} to {high:+.1f}), noise {told['noise_percent']:.1f} %, {units}"
    print(f"{nth:3} {told['verdict']:14} {units}", flush=True)
    print("    log-ratios:", *(f"{unit['log_ratio']:.5f}" for unit in told["units"]), flush=True)
    for unit in told["units"]:
        slices = sorted((*runs[run], side) for side in "ab" for run in unit["runs"][side])
        print("    slices:", *(f"{side}={tps:.1f}" for _, tps, side in slices), flush=True)
false = sum(count for verdict, count in verdicts.items() if verdict not in truth | {"cannot-tell"})
print(dict(verdicts), "false:", false)
