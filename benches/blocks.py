#!/usr/bin/env python3
"""The CPU time of the server for a block that shared buffers do not have and the system's file cache has: the same reads with small
and with large shared buffers, in turns.

Usage: benches/blocks.py PGDYNO [PAIRS]. Prints CSV: the raw output of a run is benches/results/*-blocks.csv."""

import csv
import glob
import json
import os
import subprocess
import sys
import tempfile

pgdyno = os.path.realpath(sys.argv[1])
pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 6


def measured(directory, buffers):
    """Returns CPU time of client backends and blocks from outside for a transaction, and transactions a second."""
    subprocess.run([pgdyno, "run", "select-only", "-s", "6", "-c", "4", "-T", "6", "--ramp", "2", "-q", "--set",
                    f"shared_buffers={buffers}", "--out", buffers], cwd=directory, check=True, stdout=subprocess.DEVNULL)
    run = sorted(glob.glob(os.path.join(directory, buffers, "2*")))[-1]
    with open(os.path.join(run, "run.json")) as file:
        record = json.load(file)
    with open(os.path.join(run, "samples", "database.csv")) as file:
        rows = list(csv.DictReader(file))
    within = [row for row in rows if 2 <= float(row["at_s"]) <= 8]
    blocks = int(within[-1]["blks_read"]) - int(within[0]["blks_read"])
    seconds = float(within[-1]["at_s"]) - float(within[0]["at_s"])
    tps = record["summary"]["tps"]
    return record["server_machine"]["server_cpus"]["client backend"] / tps, blocks / seconds / tps, tps


print("small_buffers,pair,tps_small,tps_large,cpu_us_per_tx_small,cpu_us_per_tx_large,blocks_per_tx_small,cpu_us_per_block")
with tempfile.TemporaryDirectory() as directory:
    for buffers in ("1MB", "8MB"):
        for pair in range(1, pairs + 1):
            order = (buffers, "256MB") if pair % 2 else ("256MB", buffers)
            of = {each: measured(directory, each) for each in order}
            (small, blocks, tps), (large, others, tps_large) = of[buffers], of["256MB"]
            block_us = (small - large) / (blocks - others) * 1e6
            print(buffers, pair, f"{tps:.0f}", f"{tps_large:.0f}", f"{small * 1e6:.1f}", f"{large * 1e6:.1f}", f"{blocks:.2f}",
                  f"{block_us:.2f}", sep=",", flush=True)
