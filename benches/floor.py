#!/usr/bin/env python3
"""The driver's own cost as a whole, told apart from everything that a busy machine does to it: instructions in user mode of
`pgdyno run select-only` against a null server, for a transaction, recording and reporting included, and memory for a client.

Counted by callgrind as the difference of two runs that differ in their number of transactions only, so that start and end
cancel out. What happens once a second (intervals, the progress line) is in it, and under valgrind a second holds fewer
transactions than it should: the figure is an upper bound.

    benches/floor.py                 1, 16, 256, 1,000 clients
    benches/floor.py 16 --annotate   and where the instructions are
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
    with tempfile.TemporaryDirectory() as out:
        command = [*before, PGDYNO, "run", "select-only", "--no-load", "--no-check", "--no-samples", "-q", "--target", target, "--out", out,
                   "-c", str(clients), "-j", "1", "-t", str(each), "--random-seed", "1"]
        ended = subprocess.run(command, capture_output=True, text=True)
        records = glob.glob(f"{out}/*/run.json")
        if ended.returncode != 0 or not records:
            sys.exit(f"{' '.join(command)} ended with {ended.returncode}:\n{ended.stdout}\n{ended.stderr}")
        with open(records[0]) as record:
            return json.load(record)


def instructions(target, clients, each, keep=None):
    with tempfile.TemporaryDirectory() as place:
        out = keep or f"{place}/out"
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
        if ENGINE:
            subprocess.run([*valgrind, ENGINE, "drive", target, str(clients), str(each)], check=True, capture_output=True)
        else:
            run(target, clients, each, valgrind)
        with open(out) as dump:
            return int(re.search(r"^(?:summary|totals): (\d+)", dump.read(), re.M).group(1))


def count(clients, annotate):
    few, many = max(TRANSACTIONS // clients, 2), 2 * max(TRANSACTIONS // clients, 2)
    with NullServer() as target:
        keep = f"callgrind.{clients}.out" if annotate else None
        more = instructions(target, clients, many, keep) - instructions(target, clients, few)
        print(f"{clients:>6} clients: {more / (clients * (many - few)):8.0f} instructions a transaction", flush=True)
        if annotate:
            print(subprocess.run(["callgrind_annotate", "--threshold=90", keep], capture_output=True, text=True).stdout)


def memory():
    with NullServer() as target:
        base = run(target, 1, 1_000)["client"]["rss_bytes_max"]
        for clients in [1_000, 5_000]:
            peak = run(target, clients, 20)["client"]["rss_bytes_max"]
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
