#!/usr/bin/env python3
"""What sampling the server costs: the same run with and without it, in turns. See README.md beside this file."""

import json
import statistics

from harness import OwnServer, PAIRS, PGDYNO, SECONDS, bench, say, scratch, server_cpu, timed

SCALE = 50
RAMP = 1


def run(server, workload, clients, *options):
    """One run: its record, and CPU seconds of the server for each transaction of warm-up and window."""
    record = scratch("record.json")
    before = server_cpu(server.pid)
    timed([PGDYNO, "run", workload, "--no-load", "--no-check", "-q", "-c", str(clients), "-T", str(SECONDS), "--ramp", str(RAMP),
           "--target", server.dsn, "--json", record, *options])
    cpu = server_cpu(server.pid) - before
    with open(record) as f:
        record = json.load(f)
    return record, cpu


def spread(values, digits=2):
    return f"{statistics.median(values):+.{digits}f} % ({min(values):+.{digits}f} to {max(values):+.{digits}f})"


def compare(server, workload, clients):
    tps, cpu, share, looks = [], [], [], []
    for nth in range(PAIRS):
        # The second of two runs finds warmer caches, so each is the second as often as the first.
        order = [(), ("--no-samples",)] if nth % 2 == 0 else [("--no-samples",), ()]
        found = {options: run(server, workload, clients, *options) for options in order}
        (watched, watched_cpu), (alone, alone_cpu) = found[()], found[("--no-samples",)]
        rate = lambda record: record["summary"]["tps"]
        each = lambda record, seconds: seconds / (rate(record) * (SECONDS + RAMP))
        tps.append((rate(watched) / rate(alone) - 1) * 100)
        cpu.append((each(watched, watched_cpu) / each(alone, alone_cpu) - 1) * 100)
        samples = watched["samples"]
        looks.append(samples["queries"] / samples["watched_s"])
        if "server_cpu_s" in samples:
            share.append(samples["server_cpu_s"] / watched_cpu * 100)
    say(f"{workload:11} {clients:4} clients: TPS {spread(tps)}, server CPU a transaction {spread(cpu)}")
    # What the kernel has counted for the session itself is not drowned in the noise of the two above.
    if share:
        say(f"{'':24} the sampling session took {statistics.median(share):.3f} % of the server's CPU "
            f"({min(share):.3f} to {max(share):.3f}), {statistics.median(looks):.1f} queries a second")


def load(server):
    timed([PGDYNO, "load", "tpcb-like", "-s", str(SCALE), "-q", "--target", server.dsn])
    say(f"with samples beside --no-samples, in turns, {PAIRS} pairs of {SECONDS} s after {RAMP} s; PostgreSQL {server.version}, "
        f"scale {SCALE}, unix socket")


def grid():
    say("## What sampling costs")
    with OwnServer(shared_buffers="1GB", max_wal_size="4GB", max_connections="300") as server:
        load(server)
        for workload in ("select-only", "tpcb-like"):
            for clients in (1, 16, 256):
                compare(server, workload, clients)
    say()


if __name__ == "__main__":
    bench({"grid": grid})
