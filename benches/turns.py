#!/usr/bin/env python3
"""pgdyno and HammerDB in turns on one database: first on one that HammerDB built, then on one that pgdyno loaded. It shows
that each drives what the other left, and measures nothing. See README.md beside this file."""

import argparse
import os
import re
import subprocess
import sys

from harness import PGDYNO, OwnServer, bench, newest, say, scratch
from tproc_c import HammerDB, settle


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="theirs, ours; both where none is named")
    parser.add_argument("--hammerdb", metavar="DIR", required=True, help="directory with an installed hammerdbcli")
    parser.add_argument("--warehouses", type=int, default=1, help="of each database [%(default)s]")
    parser.add_argument("--users", type=int, default=2, help="clients and virtual users [%(default)s]")
    options = parser.parse_args()
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"no part {part}: {', '.join(PARTS)}")
    return options


def pgdyno(dsn, command, expected=0, told=()):
    """Runs a command; says its exit code, and the lines that hold one of these words."""
    run = command.startswith("run")
    out = ["--out", scratch("out"), "--no-samples"] if run else []
    done = subprocess.run([PGDYNO, *command.split(), *out, "--target", dsn], capture_output=True, text=True)
    say(f"$ pgdyno {command}    (exit code {done.returncode})")
    lines = (done.stdout + done.stderr).replace(dsn, "…").splitlines()
    for line in lines:
        if any(re.search(word, line) for word in told):
            say(f"    {line}")
    if done.returncode != expected:
        sys.exit(f"pgdyno {command}: exit code {done.returncode}, not {expected}\n{done.stdout}{done.stderr}")


def hammerdb_runs(hammerdb, private, database):
    figure = hammerdb.run(database, OPTIONS.users, 1)
    say(f"HammerDB {hammerdb.version}, {OPTIONS.users} virtual users, 1 minute: {figure['nopm']:,} NOPM, {figure['failed']} kinds of error")
    if not figure["nopm"] or figure["failed"]:
        sys.exit("HammerDB's transactions failed")
    settle(private)


RUN = ("data loaded by", "schema pgdyno", "NOPM", "warning: the data breaks", "checks ")
CHECK = ("^holds", "^known", "^BROKEN", "known of HammerDB", "data loaded by")


def server():
    return OwnServer(shared_buffers="256MB", max_wal_size="4GB")


def theirs():
    """A database that HammerDB built."""
    say(f"## Built by HammerDB, {OPTIONS.warehouses} warehouses")
    with server() as private:
        hammerdb = HammerDB(OPTIONS.hammerdb, private)
        hammerdb.build("tpcc", OPTIONS.warehouses, "procedures")
        dsn = private.database("tpcc")
        drive = f"run tproc-c -c {OPTIONS.users} -T 15 --ramp 2"
        objects = ("select string_agg(oid::regprocedure::text || ' ' || md5(prosrc), E'\\n' order by 1) from pg_proc "
                   "where pronamespace = 'public'::regnamespace")
        before = private.sql(objects, "tpcc")
        pgdyno(dsn, "check tproc-c", told=CHECK)
        pgdyno(dsn, drive, told=RUN)
        hammerdb_runs(hammerdb, private, "tpcc")
        pgdyno(dsn, f"{drive} --call function", told=RUN)
        pgdyno(dsn, f"{drive} --call client", told=RUN)
        hammerdb_runs(hammerdb, private, "tpcc")
        pgdyno(dsn, "check tproc-c", told=CHECK)
        pgdyno(dsn, "drop tproc-c", expected=11, told=("data loaded by",))
        pgdyno(dsn, f"load tproc-c -w {OPTIONS.warehouses} --replace", expected=11, told=("data loaded by",))
        say(f"HammerDB's routines are as they were: {private.sql(objects, 'tpcc') == before}")
        keep_routines(private)
    say()


def keep_routines(private):
    """HammerDB's routines without its tables: what a user does who wants them in another database."""
    dump, chosen = scratch("tpcc.dump"), scratch("tpcc.list")
    place = ["-h", private.host, "-p", private.port, "-U", "postgres"]
    subprocess.run([newest("pg_dump"), *place, "-Fc", "-s", "-n", "public", "-f", dump, "tpcc"], check=True)
    listed = subprocess.run([newest("pg_restore"), "-l", dump], check=True, capture_output=True, text=True).stdout
    with open(chosen, "w") as f:
        f.writelines(line + "\n" for line in listed.splitlines() if re.search(r" (FUNCTION|PROCEDURE) ", line))


def ours():
    """A database that pgdyno loaded, driven by HammerDB with the routines that HammerDB made elsewhere."""
    say(f"## Loaded by pgdyno, {OPTIONS.warehouses} warehouses")
    if not os.path.exists(scratch("tpcc.dump")):
        sys.exit("part ours takes the routines that part theirs leaves: name both")
    with server() as private:
        hammerdb = HammerDB(OPTIONS.hammerdb, private)
        private.sql("create role mine login password 'mine'")
        private.sql("create database mine owner mine")
        dsn = private.database("mine").replace("user=postgres", "user=mine")
        pgdyno(dsn, f"load tproc-c -w {OPTIONS.warehouses}", told=("^BROKEN",))
        subprocess.run([newest("pg_restore"), "-h", private.host, "-p", private.port, "-U", "mine", "--no-owner", "-L", scratch("tpcc.list"),
                        "-d", "mine", scratch("tpcc.dump")], check=True)
        drive = f"run tproc-c -c {OPTIONS.users} -T 15 --ramp 2"
        pgdyno(dsn, drive, told=RUN)
        hammerdb_runs(hammerdb, private, "mine")
        pgdyno(dsn, "check tproc-c", told=CHECK)
        pgdyno(dsn, drive, told=RUN)
        hammerdb_runs(hammerdb, private, "mine")
        pgdyno(dsn, "drop tproc-c", told=("dropped",))
    say()


PARTS = {"theirs": theirs, "ours": ours}

if __name__ == "__main__":
    OPTIONS = arguments()
    bench(PARTS, wanted=OPTIONS.parts)
