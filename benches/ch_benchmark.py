#!/usr/bin/env python3
"""ch-benchmark beside go-tpc's `ch` and BenchBase's `chbenchmark` on one server: the times of the queries. See README.md beside this file."""

import argparse
import csv
import glob
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
# Those that take half a second or more at one warehouse.
LONG = {5, 10, 15, 16, 18}
# A query that takes longer is said to.
LIMIT_S = 60


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--warehouses", default="1", help="warehouses of each program's own data [%(default)s]")
    parser.add_argument("--rounds", type=int, default=3, help="how often each query is run, the programs in turns [%(default)s]")
    parser.add_argument("--go-tpc", metavar="PROGRAM", help="go-tpc; left out without it")
    parser.add_argument("--benchbase", metavar="DIR", help="directory with an unpacked BenchBase, benchbase.jar in it; left out without it")
    parser.add_argument("--java", metavar="PROGRAM", default="java", help="the Java that runs it [%(default)s]")
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
        # One execution must end within the window.
        seconds = "1" if query not in LONG else "4"
        done = subprocess.run(
            [PGDYNO, "run", "ch-benchmark", "--streams", "1", "-D", "transactions=false", "--queries", str(query), "--query-form", self.form,
             "--no-check", "--no-samples", "-q", "--ramp", "0", "-T", seconds, "--grace", str(LIMIT_S), "--target", self.private.database("ours"),
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


class BenchBase:
    """Runs all of its queries in one go, each once: a start of its program for each would take longer than they do. Its results file has
    a line for each transaction: number, name, start, latency in microseconds."""

    name = "BenchBase"
    database = "benchbase"

    def __init__(self, private):
        self.private, self.times = private, {}

    def type(self, work, transactions, *options):
        config, results = scratch("benchbase.xml"), scratch("benchbase-results")
        types = "".join(f"<transactiontype><name>{name}</name></transactiontype>" for name in transactions)
        url = f"jdbc:postgresql://127.0.0.1:{self.private.port}/{self.database}?sslmode=disable&amp;reWriteBatchedInserts=true"
        with open(config, "w") as f:
            f.write(f"<?xml version='1.0'?><parameters><type>POSTGRES</type><driver>org.postgresql.Driver</driver><url>{url}</url>"
                    "<username>postgres</username><password>none</password><isolation>TRANSACTION_READ_COMMITTED</isolation><batchsize>128</batchsize>"
                    f"<scalefactor>{OPTIONS.warehouses}</scalefactor><terminals>1</terminals><works>{work}</works>"
                    f"<transactiontypes bench='chbenchmark'>{types}</transactiontypes>"
                    "<transactiontypes bench='tpcc'><transactiontype><name>NewOrder</name></transactiontype></transactiontypes></parameters>")
        command = [OPTIONS.java, "-jar", os.path.join(OPTIONS.benchbase, "benchbase.jar"), "-c", config, "-d", results, *options]
        text, _ = timed(command, cwd=OPTIONS.benchbase)
        return text, results

    def load(self):
        self.private.sql(f"create database {self.database}")
        work = "<work><time>1</time><rate>unlimited</rate><weights bench='tpcc'>100</weights><weights bench='chbenchmark'>100</weights></work>"
        self.type(work, ["Q1"], "-b", "tpcc,chbenchmark", "--create=true", "--load=true", "--execute=false")

    def begin(self):
        """Runs all queries once."""
        names = [f"Q{query}" for query in QUERIES]
        weights = ",".join("4" for _ in names)
        work = f"<work><serial>true</serial><rate>unlimited</rate><weights bench='chbenchmark'>{weights}</weights></work>"
        _, results = self.type(work, names, "-b", "chbenchmark", "--create=false", "--load=false", "--execute=true")
        newest = max(glob.glob(f"{results}/*.raw.csv"), key=os.path.getmtime)
        with open(newest) as f:
            self.times = {row["Transaction Name"]: float(row["Latency (microseconds)"]) / 1e6 for row in csv.DictReader(f)}
        os.remove(newest)

    def run(self, query):
        if query == QUERIES[0]:
            self.begin()
        seconds = self.times.get(f"Q{query}")
        return seconds, "" if seconds else "did not end"


def beside():
    say(f"## Times of the queries at rest, {OPTIONS.warehouses} warehouse(s) of each program's own data, one connection, programs in turns")
    with OwnServer(**SETTINGS, listen_addresses="127.0.0.1", port="54872") as private:
        say(f"server: PostgreSQL {private.version}, " + ", ".join(f"{name} {value}" for name, value in SETTINGS.items()))
        programs = [Pgdyno(private, "full"), Pgdyno(private, "citus")]
        programs += [GoTpc(private)] if OPTIONS.go_tpc else []
        programs += [BenchBase(private)] if OPTIONS.benchbase else []
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
