#!/usr/bin/env python3
"""How often `pgdyno ab` calls the same server different: experiments of A against A, one after the other.

usage: benches/ab.py PGDYNO [EXPERIMENTS] [BUDGET] [ARGUMENTS OF `pgdyno ab`]

Prints a line for each experiment (verdict, change, interval, units, seconds) and the counts at the end. A verdict of `faster` or
`slower` is false. Both sides are private servers with the same settings, so the machine may be as busy as it likes.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter

program = os.path.abspath(sys.argv[1])
experiments = int(sys.argv[2]) if len(sys.argv) > 2 else 20
budget = sys.argv[3] if len(sys.argv) > 3 else "60s"
arguments = sys.argv[4:] or ["tpcb-like", "-s", "2", "-c", "4", "--slice", "1s"]
same = "work_mem=4MB"

print(f"machine: {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the beginning")
print("each:", "pgdyno ab", *arguments, f"--a {same} --b {same} --budget {budget}", flush=True)
verdicts = Counter()
for nth in range(1, experiments + 1):
    with tempfile.TemporaryDirectory() as results:
        command = [program, "ab", *arguments, "--a", same, "--b", same, "--budget", budget]
        ran = subprocess.run([*command, "--format", "json", "-q", "--out", results], capture_output=True, text=True)
        if ran.returncode not in (0, 20, 21):
            sys.exit(f"experiment {nth} ended with {ran.returncode}: {ran.stderr}")
        told = json.loads(ran.stdout)
    verdicts[told["verdict"]] += 1
    units = f"{len(told['units'])} units in {told['spent_s']:.0f} s, load {os.getloadavg()[0]:.1f}"
    if "interval_percent" in told:
        low, high = told["interval_percent"]
        units = f"{told['change_percent']:+6.1f} % ({low:+.1f} to {high:+.1f}), noise {told['noise_percent']:.1f} %, {units}"
    print(f"{nth:3} {told['verdict']:14} {units}", flush=True)
    print("    log-ratios:", *(f"{unit['log_ratio']:.5f}" for unit in told["units"]), flush=True)
print(dict(verdicts), "false:", verdicts["faster"] + verdicts["slower"])
