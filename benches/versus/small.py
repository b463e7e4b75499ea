"""Memory, start, size, and instructions: what pgdyno takes beside CPU time."""

import glob
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from dataclasses import replace

import servers
from peers import Work

CLIENTS = 5000


def memory(bench):
    """The growth of the largest resident memory from one client to thousands, on a null server."""
    with servers.null(bench.pgdyno.path, "unix", bench.server_cpus) as server:
        many = 500 if bench.options.quick else CLIENTS
        few = Work("select-only", "prepared", 1, server.endpoints["unix"], bench.scratch, bench.options.scale, seconds=2.0)
        for peer in filter(None, (bench.pgbench, bench.pgdyno)):
            bench.measured("memory", peer, few, bench.client_cpus, server, "base", 0)
            bench.measured("memory", peer, replace(few, clients=many, seconds=6.0), bench.client_cpus, server, "run", 0, clients=many)
    bench.show_part("memory")


def start(bench):
    """`pgdyno --version`, beside /bin/true: what is between them is pgdyno's."""
    times = {"pgdyno": [], "true": []}
    for _ in range(5 if bench.options.quick else 31):
        for name, command in (("true", ["/bin/true"]), ("pgdyno", [bench.pgdyno.path, "--version"])):
            begun = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            times[name].append((time.perf_counter() - begun) * 1e3)
    bench.store.add("start", "pgdyno", "run", 0, ms=statistics.median(times["pgdyno"]), true_ms=statistics.median(times["true"]),
                    bytes=os.path.getsize(bench.pgdyno.path))
    bench.show_part("start")


def instructions(bench):
    """Two runs under callgrind, one longer than the other: the difference is what transactions take. pgdyno's main thread, which
    drives nothing and reports once a second, is left out: under valgrind a second holds few of its transactions, and
    `benches/floor.py` counts it by interval."""
    if not shutil.which("valgrind"):
        return bench.say("instructions: no valgrind here: left out")
    short, long = 50, 550
    with servers.null(bench.pgdyno.path, "unix", bench.server_cpus) as server:
        work = Work("select-only", "prepared", 16, server.endpoints["unix"], bench.scratch, bench.options.scale)
        for peer in filter(None, (bench.pgbench, bench.pgdyno)):
            if bench.store.done("instructions", peer.name, "run", 0):
                continue
            counts = []
            for transactions in (short, long):
                with tempfile.TemporaryDirectory(dir=bench.scratch) as place:
                    command = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={place}/out",
                               *peer.command(replace(work, transactions=transactions))]
                    done = subprocess.run(command, capture_output=True, text=True, env=peer.env(work), cwd=bench.scratch)
                    dumps = sorted(glob.glob(f"{place}/out-*"))
                    if done.returncode != 0 or not dumps:
                        bench.failed("instructions", peer.name, "run", 0, done.stderr[-300:])
                        break
                    counts.append(sum(map(collected, dumps[1:] if peer is bench.pgdyno else dumps)))
            else:
                bench.store.add("instructions", peer.name, "run", 0, instructions=(counts[1] - counts[0]) / (16 * (long - short)))
    bench.show_part("instructions")


def collected(dump):
    """The instructions of one thread."""
    with open(dump) as text:
        return int(re.search(r"^(?:summary|totals): (\d+)", text.read(), re.M).group(1))
