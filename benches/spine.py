#!/usr/bin/env python3
"""The figures of the main job: client CPU, load, memory, start. See README.md beside this file."""

import json
import os
import re
import statistics
import subprocess
import time

from harness import (PAIRS, PGDYNO, ROOT, SECONDS, ReadyFiles, Server, bench, busy_elsewhere, cpu_seconds, newest, say, scratch,
                     server_cpu, timed)

BARE = os.path.join(ROOT, "target", "release", "examples", "bare")


def run_pgdyno(server, *arguments, cpu=None):
    record = scratch("record.json")
    command = [PGDYNO, "run", *arguments, "--target", server, "--no-check", "-q", "--json", record]
    _, usage = timed(command, cpu)
    with open(record) as f:
        return json.load(f), usage


def cpu():
    pgbench = newest("pgbench")
    if not pgbench:
        return say("no pgbench here: the comparison is left out")
    version = subprocess.run([pgbench, "--version"], capture_output=True, text=True).stdout.strip()
    say("## Client CPU a transaction: select-only, prepared, one thread, unix socket")
    say(f"{version} -j 1 and pgdyno, alternately, {PAIRS} pairs of {SECONDS} s each; user+sys of the whole process, connecting included, / transactions")
    say("bare: an epoll loop that reads, writes and records nothing (crates/pgdyno-engine/examples/bare.rs): the kernel's own cost")
    say("pgdyno sends Bind, Execute and Sync with a binary integer; pgbench Bind, Describe, Execute and Sync with text")
    with Server() as server:
        say(f"server: PostgreSQL {server.version}, scale 50")
        timed([PGDYNO, "load", "select-only", "-s", "50", "-q", "--target", server.dsn])
        for regime, cpus, client in [("W", {0}, 1), ("B", set(range(os.cpu_count())), None)]:
            server.pin(cpus)
            for clients in (16, 64, 256):
                ratios, theirs, ours, floors, tps, foreign = [], [], [], [], [], []
                for _ in range(PAIRS):
                    before, begun = busy_elsewhere(), time.time()
                    command = [pgbench, "-h", server.host, "-p", server.port, "-U", "postgres", "-S", "-M", "prepared", "-n"]
                    text, usage = timed([*command, "-c", str(clients), "-j", "1", "-T", str(SECONDS), "postgres"], client)
                    done = int(re.search(r"actually processed: (\d+)", text).group(1))
                    them = cpu_seconds(usage) / done * 1e6
                    record, usage = run_pgdyno(
                        server.dsn, "select-only", "-c", str(clients), "-j", "1", "-T", str(SECONDS), "--ramp", "0", cpu=client)
                    mine = cpu_seconds(usage) / record["summary"]["committed"] * 1e6
                    text, usage = timed([BARE, server.dsn, str(clients), str(SECONDS)], client)
                    floors.append(cpu_seconds(usage) / int(text) * 1e6)
                    ratios.append(mine / them), theirs.append(them), ours.append(mine)
                    tps.append((done / SECONDS, record["summary"]["tps"]))
                    foreign.append((busy_elsewhere() - before) / (time.time() - begun))
                say(f"{regime} {clients:4} clients: ratio {statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
                    f"   pgbench {statistics.median(theirs):.2f} us, pgdyno {statistics.median(ours):.2f} us"
                    f", bare {statistics.median(floors):.2f} us"
                    f"   TPS {statistics.median(t for t, _ in tps):,.0f} / {statistics.median(t for _, t in tps):,.0f}"
                    f"   CPUs in use {statistics.median(foreign):.2f}")
                say("    raw: " + "  ".join(f"{a:.2f}/{b:.2f}/{c:.2f}" for a, b, c in zip(theirs, ours, floors)))
    say()


def load():
    warehouses = 4
    say(f"## Load: tproc-c, {warehouses} warehouses, against COPY from ready files of the same rows, one connection each time")
    with Server() as server:
        say(f"server: PostgreSQL {server.version}")
        arguments = [PGDYNO, "load", "tproc-c", "-w", str(warehouses), "-q", "--replace", "--target", server.dsn]
        # The first load of a new server writes its WAL segments for the first time.
        timed([*arguments, "--loaders", "2"])
        ready = ReadyFiles(server)
        ratios = []
        for _ in range(PAIRS):
            copy_wall, copy_cpu = ready.copy()
            before, begun = server_cpu(server.pid), time.time()
            _, usage = timed([*arguments, "--loaders", "1"])
            wall, cpu_s = time.time() - begun, server_cpu(server.pid) - before
            ratio = copy_cpu / cpu_s
            ratios.append(ratio)
            say(f"COPY from files {copy_wall:.1f} s, server CPU {copy_cpu:.2f} s; pgdyno load and check {wall:.1f} s, server CPU {cpu_s:.2f} s, "
                f"client CPU {cpu_seconds(usage):.2f} s; rows per server CPU second: {ratio:.2f} of COPY's")
        say(f"{ready.rows:,} rows; ratio {statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f}); "
            f"all server CPU is counted, our count of rows, our conditions and our checkpoint included")
        _, usage = timed([*arguments, "--loaders", "2"])
        status = subprocess.run([PGDYNO, "check", "tproc-c", "-q", "--target", server.dsn], capture_output=True, text=True)
        say(f"afterwards all conditions hold: {status.returncode == 0}")
    say()


def memory():
    say("## Memory: 5,000 clients against a null server")
    few, _ = run_pgdyno("null", "select-only", "-c", "1", "-T", "2", "--ramp", "0")
    many, _ = run_pgdyno("null", "select-only", "-c", "5000", "-T", "5", "--ramp", "0")
    base, peak = few["client"]["rss_bytes_max"], many["client"]["rss_bytes_max"]
    say(f"peak resident: {base / 2**20:.1f} MiB with 1 client, {peak / 2**20:.1f} MiB with 5,000: {(peak - base) / 4999 / 1024:.2f} KiB a client; "
        f"{many['summary']['tps']:,.0f} TPS")
    say()


def start():
    say("## Start: from `run` to the first measured transaction, select-only at scale 1 on the private server")
    for _ in range(PAIRS):
        record = scratch("record.json")
        begun = time.time()
        timed([PGDYNO, "run", "select-only", "-s", "1", "-T", "1", "--ramp", "0", "-q", "--json", record])
        with open(record) as f:
            measured = json.load(f)["measured_at"]
        at = subprocess.run(["date", "-d", measured, "+%s.%N"], capture_output=True, text=True).stdout
        say(f"{float(at) - begun:.2f} s: server made and started, data loaded and checked")
    say()


if __name__ == "__main__":
    bench(
        {"cpu": cpu, "load": load, "memory": memory, "start": start},
        build=("-p", "pgdyno", "-p", "pgdyno-engine", "--bins", "--examples"),
    )
