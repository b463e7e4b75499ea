#!/usr/bin/env python3
"""A run on a new private server: with initdb, and with a copy of what initdb made before.

usage: benches/new_cluster.py PGDYNO [PAIRS]

Both run one transaction of select-only, in turns, in a cache of their own on the disk of TMPDIR. Says wall time and CPU time of the whole command,
server included.
"""

import datetime
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

program = os.path.abspath(sys.argv[1])
pairs = int(sys.argv[2]) if len(sys.argv) > 2 else 5


def measured(cache, results):
    """Runs once; returns wall and CPU seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
    subprocess.run([program, "run", "select-only", "-t", "1", "-c", "1", "-q", "--target", "embedded", "--out", results],
                   env={**os.environ, "PGDYNO_CACHE": cache}, check=True, capture_output=True)
    wall, after = time.time() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


print(f"{datetime.datetime.now():%F %R}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the beginning", flush=True)
ratios = []
for nth in range(pairs):
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        first, then = [measured(f"{place}/cache", f"{place}/results") for _ in range(2)]
    ratios.append(then[0] / first[0])
    print(f"initdb: {first[0]:.2f} s, CPU {first[1]:.2f} s; a copy: {then[0]:.2f} s, CPU {then[1]:.2f} s", flush=True)
print(f"wall time with a copy, relative to initdb: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")
