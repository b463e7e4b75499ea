#!/usr/bin/env python3
"""Measure the questions of tproc-ds beside the texts of DuckDB, on the same PostgreSQL and the same rows.

usage: beside.py CONNECTION [NUMBER...]

CONNECTION is a connection string of libpq to a database with the 24 tables, on this machine, as compare.py wants it. Both
texts of a question run one after the other, by turns ours or DuckDB's first, on tables that were read before. A text ends
after 60 s. Prints a CSV: question, seconds of ours and DuckDB's, and CPU seconds of the backend (from /proc; empty where
it cannot be read), which other programs on the machine disturb less. The last lines are the geometric means of ours over DuckDB's: first of
the questions that both ended, then of all, with 60 s for those that did not end.
"""
import math
import os
import sys
import time

import duckdb
import psycopg

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
QUESTIONS = os.path.join(HERE, "..", "..", "crates", "pgdyno-workloads", "src", "tproc_ds", "questions")
sys.path.insert(0, QUESTIONS)
import compare

TIMEOUT_S = 60
SETTINGS = ("server_version", "shared_buffers", "work_mem", "jit", "max_parallel_workers_per_gather", "fsync",
            "random_page_cost", "effective_cache_size")


def cpu_s(pid):
    try:
        return int(open(f"/proc/{pid}/schedstat").read().split()[0]) / 1e9
    except OSError:
        return None


def measure(cursor, pid, text):
    """Returns the seconds and the CPU seconds of a text, or None for both if it does not end in time."""
    begin, cpu = time.monotonic(), cpu_s(pid)
    try:
        cursor.execute(text)
        cursor.fetchall()
    except psycopg.errors.QueryCanceled:
        return None, None
    end = cpu_s(pid)
    return time.monotonic() - begin, None if cpu is None or end is None else end - cpu


def printed(value):
    return "" if value is None else f"{value:.4f}"


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def report(results):
    for name, at in (("seconds", 0), ("CPU seconds", 1)):
        both = [ours[at] / theirs[at] for ours, theirs in results if ours[at] and theirs[at]]
        every = [(ours[at] or TIMEOUT_S) / (theirs[at] or TIMEOUT_S) for ours, theirs in results]
        if both:
            print(f"# {name}: ours over DuckDB's, geometric mean {mean(both):.3f} of {len(both)}; {mean(every):.3f} of all {len(every)}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    cursor = psycopg.connect(sys.argv[1], autocommit=True).cursor()
    cursor.execute(f"set statement_timeout = '{TIMEOUT_S}s'")
    pid = cursor.execute("select pg_backend_pid()").fetchone()[0]
    duck = duckdb.connect()
    compare.load_extension(duck)
    texts = dict(duck.execute("select query_nr, query from tpcds_queries()").fetchall())
    settings = [f"{name} {cursor.execute(f'show {name}').fetchone()[0]}" for name in SETTINGS]
    print(f"# {time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}; {os.cpu_count()} CPUs, load average {os.getloadavg()[0]:.1f}")
    print("# " + ", ".join(settings))
    print("question,ours_s,duckdb_s,ours_cpu_s,duckdb_cpu_s", flush=True)
    results = []
    for number in [int(n) for n in sys.argv[2:]] or sorted(texts):
        path = os.path.join(QUESTIONS, f"q{number:02}.sql")
        pair = {"ours": compare.statements(path)[0], "theirs": texts[number]}
        order = ("ours", "theirs") if number % 2 else ("theirs", "ours")
        found = {which: measure(cursor, pid, pair[which]) for which in order}
        ours, theirs = found["ours"], found["theirs"]
        results.append((ours, theirs))
        print(f"{number},{printed(ours[0])},{printed(theirs[0])},{printed(ours[1])},{printed(theirs[1])}", flush=True)
    report(results)


main()
