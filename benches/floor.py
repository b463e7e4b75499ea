#!/usr/bin/env python3
"""The driver's own cost as a whole, told apart from everything that a busy machine does to it: instructions in user mode of
`pgdyno run select-only` against a null server, recording and reporting included, and memory for a client.

Counted by callgrind as the difference of two runs that differ in their number of transactions only, so that start and end
cancel out. What the engine's threads do is shown for a transaction; what the main thread does with what they hand over once a
second (merging, the record, the page) for an interval, as under valgrind a second holds a tenth of its transactions. System
calls are not in it, and the reading of the clock is one under valgrind.

    benches/floor.py                 1, 16, 256, 1,000 clients
    benches/floor.py 16 --annotate   and where the instructions of the engine's thread are
    benches/floor.py engine          the engine alone, with its sockets and without record and report
    benches/floor.py memory          1, 1,000, 5,000 clients

Takes the binary of `cargo build --profile profiling`, or that of PGDYNO=PATH."""

import glob
import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PGDYNO = os.environ.get("PGDYNO", os.path.join(ROOT, "target", "profiling", "pgdyno"))
TRANSACTIONS = 40_000


class NullServer:
    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory()
        command = [PGDYNO, "server", "null", "--socket-dir", self.directory.name, "--until-eof"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.stdout.readline()
        return f"host={self.directory.name} port=5432 user=x dbname=x"

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.directory.cleanup()


def run(target, clients, each, before=()):
    """The record of a run, and its number of intervals."""
    with tempfile.TemporaryDirectory() as out:
        command = [*before, PGDYNO, "run", "select-only", "--no-load", "--no-check", "--no-samples", "-q", "--target", target, "--out", out,
                   "-c", str(clients), "-j", "1", "-t", str(each), "--random-seed", "1"]
        ended = subprocess.run(command, capture_output=True, text=True)
        records = glob.glob(f"{out}/*/run.json")
        if ended.returncode != 0 or not records:
            sys.exit(f"{' '.join(command)} ended with {ended.returncode}:\n{ended.stdout}\n{ended.stderr}")
        with open(records[0]) as record, open(os.path.join(os.path.dirname(records[0]), "intervals.csv")) as intervals:
            return json.load(record), len(intervals.readlines()) - 1


def total(dump):
    with open(dump) as text:
        return int(re.search(r"^(?:summary|totals): (\d+)", text.read(), re.M).group(1))


def instructions(target, clients, each, place):
    """Of the main thread, of all others, and the number of intervals; the engine alone does not tell the last."""
    valgrind = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={place}/out"]
    intervals = None
    if ENGINE:
        subprocess.run([*valgrind, ENGINE, "drive", target, str(clients), str(each)], check=True, capture_output=True)
    else:
        _, intervals = run(target, clients, each, valgrind)
    main, *others = sorted(glob.glob(f"{place}/out-*"))
    return total(main), sum(map(total, others)), intervals


def count(clients, annotate):
    few, many = max(TRANSACTIONS // clients, 2), 2 * max(TRANSACTIONS // clients, 2)
    with NullServer() as target, tempfile.TemporaryDirectory() as less, tempfile.TemporaryDirectory() as more:
        main_less, engine_less, intervals_less = instructions(target, clients, few, less)
        main_more, engine_more, intervals_more = instructions(target, clients, many, more)
        line = f"{clients:>6} clients: {(engine_more - engine_less) / (clients * (many - few)):8.0f} instructions a transaction"
        if intervals_more and intervals_more > intervals_less:
            line += f", {(main_more - main_less) / (intervals_more - intervals_less) / 1e6:.1f} million an interval"
        print(line, flush=True)
        if annotate:
            busiest = max(sorted(glob.glob(f"{more}/out-*"))[1:], key=total)
            print(subprocess.run(["callgrind_annotate", "--threshold=90", busiest], capture_output=True, text=True).stdout)


def memory():
    with NullServer() as target:
        base = run(target, 1, 1_000)[0]["client"]["rss_bytes_max"]
        for clients in [1_000, 5_000]:
            peak = run(target, clients, 20)[0]["client"]["rss_bytes_max"]
            print(f"{clients:>6} clients: {(peak - base) / (clients - 1) / 1024:.2f} KiB a client ({base / 2**20:.1f} MiB with one)")


def engine():
    """The newest bench program."""
    subprocess.run(["cargo", "bench", "--profile", "profiling", "--no-run", "-p", "pgdyno-engine", "--bench", "instructions"], cwd=ROOT, check=True)
    built = [f for f in glob.glob(f"{ROOT}/target/profiling/deps/instructions-*") if not f.endswith(".d")]
    return max(built, key=os.path.getmtime)


arguments = [a for a in sys.argv[1:] if a not in ("--annotate", "engine")]
ENGINE = engine() if "engine" in sys.argv else None
if arguments == ["memory"]:
    memory()
else:
    for clients in arguments or ["1", "16", "256", "1000"]:
        count(int(clients), "--annotate" in sys.argv)
