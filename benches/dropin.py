#!/usr/bin/env python3
"""Client CPU of the drop-in beside pgbench: the same options, the same messages. See README.md beside this file."""

import os
import re
import statistics
import subprocess

from harness import PAIRS, PGDYNO, SECONDS, Server, bench, cpu_seconds, newest, say, scratch, timed

SCALE = 50


def us_per_transaction(command, cpu):
    """Client CPU (user and system, connecting included) in microseconds, and transactions a second."""
    text, usage = timed(command, cpu)
    done = int(re.search(r"actually processed: (\d+)", text).group(1))
    tps = float(re.search(r"^tps = ([0-9.]+)", text, re.M).group(1))
    return cpu_seconds(usage) / done * 1e6, tps


def compare(server, regime, script, source, mode, clients, seconds=SECONDS):
    server.pin({0} if regime == "W" else set(range(os.cpu_count())))
    pin = 1 if regime == "W" else None
    what = ["-b", script]
    if source == "file":
        what = ["-f", scratch(script + ".sql"), "-s", str(SCALE)]
        text = subprocess.run([newest("pgbench"), f"--show-script={script}"], capture_output=True, text=True).stderr
        with open(scratch(script + ".sql"), "w") as f:
            f.write(text)
    options = ["-h", server.host, "-p", server.port, "-U", "postgres", "-n", *what, "-M", mode,
               "-c", str(clients), "-j", "1", "-T", str(seconds), "postgres"]
    theirs, ours = [], []
    for _ in range(PAIRS):
        theirs.append(us_per_transaction([newest("pgbench"), *options], pin))
        ours.append(us_per_transaction([PGDYNO, "pgbench", *options], pin))
    ratios = [mine / them for (mine, _), (them, _) in zip(ours, theirs)]
    median = lambda pairs, i: statistics.median(pair[i] for pair in pairs)
    say(f"{regime} {script:11} {source:8} {mode:8} {clients:5} clients: ratio {statistics.median(ratios):.2f} "
        f"({min(ratios):.2f}-{max(ratios):.2f})   pgbench {median(theirs, 0):6.2f} us, drop-in {median(ours, 0):6.2f} us"
        f"   TPS {median(theirs, 1):8,.0f} / {median(ours, 1):8,.0f}")


def load(server):
    timed([PGDYNO, "load", "tpcb-like", "-s", str(SCALE), "-q", "--target", server.dsn])
    version = subprocess.run([newest("pgbench"), "--version"], capture_output=True, text=True).stdout.strip()
    say(f"{version} and the drop-in, alternately, {PAIRS} pairs of {SECONDS} s; PostgreSQL {server.version}, scale {SCALE}, "
        "unix socket, one client thread")


def grid():
    say("## Client CPU a transaction, built-in scripts")
    with Server() as server:
        load(server)
        for regime in "WB":
            for script in ("select-only", "tpcb-like"):
                for mode in ("prepared", "simple"):
                    for clients in (16, 64, 256):
                        compare(server, regime, script, "built-in", mode, clients)
    say()


def files():
    say("## The same from script files")
    with Server() as server:
        load(server)
        for script in ("select-only", "tpcb-like"):
            for mode in ("prepared", "simple"):
                compare(server, "W", script, "file", mode, 64)
    say()


def growth():
    say("## Growth with the number of clients")
    with Server() as server:
        load(server)
        for clients in (16, 64, 256, 1000):
            # pgbench counts the time from before its clients connect.
            seconds = SECONDS + clients // 50
            compare(server, "W", "select-only", "built-in", "prepared", clients, seconds)
    say()


if __name__ == "__main__":
    bench({"grid": grid, "files": files, "growth": growth})
