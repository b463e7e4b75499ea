#!/usr/bin/env python3
"""What counting statements (pg_stat_statements.track = top) costs a private server: the same run with and without it, in turns.

Usage: benches/statements.py PGDYNO [PAIRS]. Prints CSV: the raw output of a run is benches/results/*-statements.csv."""

import json
import os
import subprocess
import sys
import tempfile

pgdyno = os.path.realpath(sys.argv[1])
pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 6
print("workload,mode,track,pair,tps,server_cpu_us_per_tx")
with tempfile.TemporaryDirectory() as directory:
    for workload in ("select-only", "tpcb-like"):
        for mode in ("prepared", "simple"):
            for pair in range(1, pairs + 1):
                # Each is the second of a pair as often as the first.
                for track in ("none", "top") if pair % 2 else ("top", "none"):
                    subprocess.run([pgdyno, "run", workload, "-s", "4", "-c", "4", "-M", mode, "-T", "8", "--ramp", "2", "-q",
                                    "--set", f"pg_stat_statements.track={track}", "--json", "run.json"], cwd=directory, check=True)
                    with open(os.path.join(directory, "run.json")) as file:
                        record = json.load(file)
                    tps = record["summary"]["tps"]
                    cpus = sum(record["server_machine"]["server_cpus"].values())
                    print(workload, mode, track, pair, f"{tps:.0f}", f"{cpus / tps * 1e6:.2f}", sep=",", flush=True)
