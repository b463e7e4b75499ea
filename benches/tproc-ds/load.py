#!/usr/bin/env python3
"""Measure the load of tproc-ds beside COPY of the same rows from ready text files, with the same keys and indexes.

usage: load.py [ROUNDS]     in turns, so many times each [2]

The server is one of its own. Both have two connections and include statistics and a checkpoint; pgdyno's load also includes its checks: rows of each
table are counted, and one answer is compared. Prints seconds, and CPU seconds of client and server, which other programs on the machine
disturb less. Takes 9 GB of disk in TMPDIR.
"""
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness
import tproc_h
from harness import OwnServer, bench, say, timed
from tproc_c import spread

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 2


def loaded(private):
    return timed([harness.PGDYNO, "load", "tproc-ds", "-s", "1", "-D", "queries=3", "-q", "--replace", "--loaders", "2", "--target", private.dsn])[1]


def load():
    with OwnServer(**tproc_h.SETTINGS) as private:
        tproc_h.headline(private)
        costs = tproc_h.Costs(private)
        # The first load of a new server writes its WAL segments for the first time.
        loaded(private)
        files = tproc_h.Files(private, "text", 2)
        size = sum(map(os.path.getsize, files.files.values()))
        say(f"scale factor 1: {len(files.tables)} tables, {files.rows:,} rows, {size / 1e9:.2f} GB of text, {len(files.indexes)} keys and indexes")
        for n in range(ROUNDS):
            say(f"round {n + 1}")
            costs.measure("pgdyno load", lambda: loaded(private))
            costs.measure("COPY", files.copy)
            files.dropped()
        ours = [c + s for c, s in zip(costs.figures("pgdyno load", "client"), costs.figures("pgdyno load", "server"))]
        say(f"pgdyno by COPY: wall {spread(costs.ratios('pgdyno load', 'wall', 'COPY'), '{:.2f}')}; CPU of the server "
            f"{spread(costs.ratios('pgdyno load', 'server', 'COPY'), '{:.2f}')}; CPU of client and server by the server's of COPY "
            f"{spread([a / b for a, b in zip(ours, costs.figures('COPY', 'server'))], '{:.2f}')}")
        say(f"CPU of the client by the server's: {spread(costs.ratios('pgdyno load', 'client', 'pgdyno load', 'server'), '{:.2f}')}")


if __name__ == "__main__":
    bench({"load": load}, wanted=["load"], kept=False)
