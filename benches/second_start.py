#!/usr/bin/env python3
"""How long until the first measured transaction, with data that an earlier run has kept and without.

usage: benches/second_start.py PGDYNO [ROUNDS] [ARGUMENTS OF `pgdyno run`]

Three runs on a private server in turns: one that loads and keeps nothing, one that loads and keeps, one that begins with a copy. Removes
the kept data of this user before each round.
"""

import datetime
import glob
import json
import os
import subprocess
import sys
import tempfile
import time

program = os.path.abspath(sys.argv[1])
rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
arguments = sys.argv[3:] or ["tproc-c", "-w", "20", "-c", "4"]
print(f"machine: {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the beginning")
print("each: pgdyno run", *arguments, "-T 1 --ramp 0", flush=True)
for nth in range(1, rounds + 1):
    subprocess.run([program, "cache", "clear"], check=True, capture_output=True)
    for name, more in [("keeps nothing", ["--cache-size", "0"]), ("keeps", []), ("begins with a copy", [])]:
        with tempfile.TemporaryDirectory() as results:
            began = time.time()
            command = [program, "run", *arguments, "-T", "1", "--ramp", "0", "-q", "--out", results, *more]
            subprocess.run(command, check=True, capture_output=True)
            with open(glob.glob(f"{results}/*/run.json")[0]) as file:
                record = json.load(file)
        measured = datetime.datetime.fromisoformat(record["measured_at"][:19] + "+00:00").timestamp()
        measured += float("0." + record["measured_at"][20:].rstrip("Z"))
        loaded = f"load {record['load']['seconds']:.1f} s" if "load" in record else "no load"
        cached = f", {record['cached_data']['bytes'] / 2**30:.2f} GiB copied" if "cached_data" in record else ""
        print(f"{nth} {name:20} first measured transaction after {measured - began:5.1f} s, {loaded}{cached}", flush=True)
