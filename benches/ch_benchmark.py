#!/usr/bin/env python3
"""ch-benchmark beside go-tpc's `ch` on one server: the times of the queries. See README.md beside this file."""

import argparse
import json
import os
import re
import subprocess
import time

from harness import PGDYNO, OwnServer, bench, busy_elsewhere, say, scratch, server_cpu, timed
from tproc_c import settle

# The same for every program. Without JIT, which would compile longer than queries of this size run.
SETTINGS = {"shared_buffers": "1GB", "max_wal_size": "8GB", "work_mem": "64MB", "max_parallel_workers_per_gather": "0", "jit": "off"}
QUERIES = range(1, 23)
# A query that takes longer is said to.
LIMIT_S = 60


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--warehouses", default="1", help="warehouses of each program's own data [%(default)s]")
    parser.add_argument("--rounds", type=int, default=3, help="how often each query is run, the programs in turns [%(default)s]")
    parser.add_argument("--go-tpc", metavar="PROGRAM", help="go-tpc; left out without it")
    return parser.parse_args()


class Pgdyno:
    def __init__(self, private, form):
        self.private, self.form, self.name = private, form, f"pgdyno {form}"

    def load(self):
        if self.form == "full":
            self.private.sql("create database ours")
            timed([PGDYNO, "load", "ch-benchmark", "-w", OPTIONS.warehouses, "-q", "--target", self.private.database("ours")])

    def run(self, query):
        record = scratch("record.json")
        # As long as one execution takes, and a second at least.
        done = subprocess.run(
            [PGDYNO, "run", "ch-benchmark", "--streams", "1", "-D", "transactions=false", "--queries", str(query), "--query-form", self.form,
             "--no-check", "--no-samples", "-q", "--ramp", "0", "-T", "1", "--grace", str(LIMIT_S), "--target", self.private.database("ours"),
             "--json", record, "--out", scratch("out")], capture_output=True, text=True)
        if not os.path.exists(record):
            return None, done.stderr.strip().splitlines()[-1:]
        with open(record) as f:
            of = json.load(f)["analytics"]["stages"][0]["queries"]
        os.remove(record)
        return (of[0]["seconds_p50"], f"{of[0].get('rows_mean', 0):.0f}") if of and "seconds_p50" in of[0] else (None, "did not end")


class GoTpc:
    name = "go-tpc"
    database = "gotpc"

    def __init__(self, private):
        self.private = private
        self.common = ["-d", "postgres", "-H", "127.0.0.1", "-P", private.port, "-U", "postgres", "-p", "none", "-D", self.database, "--conn-params",
                       "sslmode=disable", "--warehouses", OPTIONS.warehouses]

    def load(self):
        self.private.sql(f"create database {self.database}")
        for part in ("tpcc", "ch"):
            timed([OPTIONS.go_tpc, part, "prepare", *self.common, "-T", "2"])

    def run(self, query):
        command = [OPTIONS.go_tpc, "ch", "run", *self.common, "-T", "0", "-t", "1", "--queries", f"q{query}", "--count", "1"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return None, f"more than {LIMIT_S} s"
        found = re.search(rf"\[Summary\] Q{query} +- Count: 1, Sum\(ms\): ([\d.]+)", done.stdout)
        return (float(found[1]) / 1e3, "") if found else (None, (done.stdout + done.stderr).strip()[-80:])


def beside():
    say(f"## Times of the queries at rest, {OPTIONS.warehouses} warehouse(s) of each program's own data, one connection, programs in turns")
    with OwnServer(**SETTINGS, listen_addresses="127.0.0.1", port="54872") as private:
        say(f"server: PostgreSQL {private.version}, " + ", ".join(f"{name} {value}" for name, value in SETTINGS.items()))
        programs = [Pgdyno(private, "full"), Pgdyno(private, "citus")]
        programs += [GoTpc(private)] if OPTIONS.go_tpc else []
        for program in programs:
            begun = time.time()
            program.load()
            say(f"load: {program.name} {time.time() - begun:.0f} s")
        for name in {getattr(program, "database", "ours") for program in programs}:
            private.sql("vacuum analyze", name)
        of = {(program.name, query): [] for program in programs for query in QUERIES}
        why = {}
        for n in range(OPTIONS.rounds):
            busy, own, begun = busy_elsewhere(), server_cpu(private.pid), time.time()
            settle(private)
            for query in QUERIES:
                for program in programs:
                    seconds, what = program.run(query)
                    why[program.name, query] = what
                    if seconds is not None:
                        of[program.name, query].append(seconds)
            used = (busy_elsewhere() - busy) / (time.time() - begun)
            say(f"round {n + 1}: {used:.1f} CPUs busy, of these the server {(server_cpu(private.pid) - own) / (time.time() - begun):.1f}")
        say("least of the rounds in ms (median), for what other programs take makes times longer only; rows of pgdyno")
        say("query | " + " | ".join(program.name for program in programs) + " | rows full, citus")
        for query in QUERIES:
            cells = []
            for program in programs:
                times = sorted(of[program.name, query])
                text = f"{times[0] * 1e3:.1f} ({times[len(times) // 2] * 1e3:.1f})" if times else f"- {why[program.name, query]}"
                cells.append(text)
            say(f"q{query} | " + " | ".join(cells) + f" | {why['pgdyno full', query]}, {why['pgdyno citus', query]}")
        for program in programs:
            least = [min(of[program.name, query]) for query in QUERIES if of[program.name, query]]
            say(f"{program.name}: {len(least)} queries, sum {sum(least):.2f} s")
    say()


PARTS = {"beside": beside}

if __name__ == "__main__":
    OPTIONS = arguments()
    bench(PARTS, wanted=list(PARTS))
