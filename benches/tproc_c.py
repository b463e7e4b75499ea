#!/usr/bin/env python3
"""tproc-c beside HammerDB and pgbench, by CPU time of client and server. See README.md beside this file."""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time

from harness import (PAIRS, PGDYNO, OwnServer, ReadyFiles, bench, busy_elsewhere, cpu_seconds, newest, say, scratch, server_cpu,
                     timed)

SYLLABLES = "BAR OUGHT ABLE PRI PRES ESE ANTI CALLY ATION EING".split()

# Weight, then the script: the inputs as clauses 2.4.1 to 2.8.1 have them, but always ten lines and no unused item. Constants
# of NURand are left out: they only move which rows are hot.
PGBENCH = {
    "new-order": (45, "\\set d random(1, 10)\n\\set c ((random(0, 1023) | random(1, 3000)) % 3000) + 1\n" + "".join(
        f"\\set i{n} ((random(0, 8191) | random(1, 100000)) % 100000) + 1\n\\set q{n} random(1, 10)\n"
        f"\\set s{n} case when random(1, 100) = 1 then random(1, :warehouses) else :w end\n" for n in range(10))
        + "CALL pgdyno_new_order(:w, :d, :c, " + ", ".join(
            "ARRAY[" + ", ".join(f":{what}{n}" for n in range(10)) + "]::int[]" for what in "isq") + ");\n"),
    "payment": (43, "\\set d random(1, 10)\n\\set far random(1, 100) <= 15\n\\set cw case when :far then random(1, :warehouses) else :w end\n"
                    "\\set cd case when :far then random(1, 10) else :d end\n\\set n (random(0, 255) | random(0, 999)) % 1000\n"
                    "\\set c ((random(0, 1023) | random(1, 3000)) % 3000) + 1\n\\set by random(1, 100)\n\\set cents random(100, 500000)\n"
                    "\\if :by <= 60\nCALL pgdyno_payment(:w, :d, :cw, :cd, NULL, bench_last_name(:n::int), :cents / 100.0);\n"
                    "\\else\nCALL pgdyno_payment(:w, :d, :cw, :cd, :c, NULL, :cents / 100.0);\n\\endif\n"),
    "order-status": (4, "\\set d random(1, 10)\n\\set n (random(0, 255) | random(0, 999)) % 1000\n"
                        "\\set c ((random(0, 1023) | random(1, 3000)) % 3000) + 1\n\\set by random(1, 100)\n"
                        "\\if :by <= 60\nCALL pgdyno_order_status(:w, :d, NULL, bench_last_name(:n::int));\n"
                        "\\else\nCALL pgdyno_order_status(:w, :d, :c, NULL);\n\\endif\n"),
    "delivery": (4, "\\set carrier random(1, 10)\nCALL pgdyno_delivery(:w, :carrier);\n"),
    "stock-level": (4, "\\set d :client_id / :warehouses % 10 + 1\n\\set threshold random(10, 20)\nCALL pgdyno_stock_level(:w, :d, :threshold);\n"),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="load, run, terminals; all of them where none is named")
    parser.add_argument("--hammerdb", metavar="DIR", help="directory with an installed hammerdbcli; left out without it")
    parser.add_argument("--hammerdb-routines", default="procedures,functions", help="what HammerDB calls [%(default)s]")
    parser.add_argument("--calls", default="procedure,function,client", help="what pgdyno calls [%(default)s]")
    parser.add_argument("--sizes", default="4x4,10x16", help="warehouses x users of `run` [%(default)s]")
    parser.add_argument("--rounds", type=int, default=PAIRS, help="how often each peer is measured [%(default)s]")
    parser.add_argument("--minutes", type=int, default=1, help="window of one measurement; HammerDB takes whole minutes [%(default)s]")
    parser.add_argument("--terminals", type=int, default=5000, help="virtual users of `terminals` [%(default)s]")
    parser.add_argument("--shared-buffers", default="2GB", help="of the private server [%(default)s]")
    parser.add_argument("--quick", action="store_true", help="one short round of each, to see that all of it works; nothing is kept")
    options = parser.parse_args()
    for part in options.parts:
        if part not in PARTS:
            parser.error(f"no part {part}: {', '.join(PARTS)}")
    if options.quick:
        options.rounds, options.sizes, options.terminals = 1, options.sizes.split(",")[0], min(options.terminals, 500)
    return options


def server(**more):
    return OwnServer(shared_buffers=OPTIONS.shared_buffers, max_wal_size="8GB", **more)


def headline(private):
    say(f"server: PostgreSQL {private.version}, " + ", ".join(f"{name} {private.sql(f'show {name}').strip()}" for name in (
        "shared_buffers", "max_wal_size", "fsync", "synchronous_commit", "autovacuum")))


def settle(private):
    """Waits until the backends of the last client are gone and have told what they did, and writes all pages, so that each
    measurement begins alike."""
    while private.sql("select count(*) from pg_stat_activity where backend_type = 'client backend'").strip() != "1":
        time.sleep(0.1)
    private.sql("checkpoint")
    time.sleep(0.5)


def spread(numbers, form="{:.0f}"):
    return f"{form.format(statistics.median(numbers))} ({form.format(min(numbers))}-{form.format(max(numbers))})"


class HammerDB:
    """A HammerDB that is installed somewhere, given the commands that a user would type."""

    benchmark = "TPC-C"

    def __init__(self, directory, private):
        self.directory, self.private = os.path.abspath(directory), private
        program = os.path.join(self.directory, "hammerdbcli")
        if not os.path.exists(program):
            sys.exit(f"--hammerdb {directory}: no hammerdbcli there; name the directory in which HammerDB is installed")
        with open(program, encoding="utf-8") as f:
            source = f.read()
        found = re.search(r"hdb_version \"?(v[0-9.]+)", source)
        self.version = found.group(1) if found else "of an unknown version"
        # What its start alone costs: it is no part of a transaction.
        self.start_cpu_s = cpu_seconds(self.type("tpcc", [])[1])

    def type(self, database, commands):
        path = scratch("hammerdb.tcl")
        with open(path, "w") as f:
            f.write("\n".join([
                "dbset db pg", f"dbset bm {self.benchmark}",
                f"diset connection pg_host {self.private.host}", f"diset connection pg_port {self.private.port}",
                "diset connection pg_sslmode disable",
                *self.names(database), *commands, ""]))
        text, usage = timed(["./hammerdbcli", "tcl", "auto", path], cwd=self.directory, env={**os.environ, "TMP": scratch("")})
        # It ends with status 0 whatever happened.
        failed = re.search(r".*(FINISHED FAILED|^Error).*", text, re.M)
        if failed:
            raise RuntimeError(f"HammerDB: {failed.group(0)}\n{text[-2000:]}")
        return text, usage

    def names(self, database):
        """Names database and role in its settings."""
        return [f"diset tpcc pg_dbase {database}", f"diset tpcc pg_user {database}", f"diset tpcc pg_pass {database}"]

    def build(self, database, warehouses, routines):
        users = min(2, warehouses)
        text, usage = self.type(database, [
            f"diset tpcc pg_count_ware {warehouses}", f"diset tpcc pg_num_vu {users}",
            f"diset tpcc pg_storedprocs {'true' if routines == 'procedures' else 'false'}", "buildschema"])
        if "SCHEMA COMPLETE" not in text.upper():
            raise RuntimeError(f"HammerDB built nothing:\n{text[-2000:]}")
        orders = int(self.private.sql("select count(*) from orders", database))
        if orders != 30_000 * warehouses:
            raise RuntimeError(f"HammerDB built {orders} orders instead of {30_000 * warehouses}:\n{text[-2000:]}")
        return usage

    def run(self, database, users, minutes):
        count = f"select xact_commit + xact_rollback from pg_stat_database where datname = '{database}'"
        before = int(self.private.sql(count))
        text, usage = self.type(database, [
            "diset tpcc pg_driver timed", "diset tpcc pg_rampup 0", f"diset tpcc pg_duration {minutes}",
            "loadscript", f"vuset vu {users}", "vucreate", "vurun", "vudestroy"])
        settle(self.private)
        result = re.search(r"System achieved (\d+) NOPM from (\d+)", text)
        if not result:
            raise RuntimeError(f"HammerDB gave no result:\n{text[-2000:]}")
        return {"transactions": int(self.private.sql(count)) - before, "client_s": cpu_seconds(usage) - self.start_cpu_s,
                "nopm": int(result.group(1)), "rss": usage.ru_maxrss * 1024,
                # It names an error of each virtual user and kind, and goes on without counting.
                "failed": len(re.findall(r"Error set RAISEERROR", text))}


def knows(command, option):
    return option in subprocess.run([PGDYNO, command, "--help"], capture_output=True, text=True).stdout


def profile(command, name):
    return ["--profile", name] if knows(command, "--profile") else []


# What the statements of each way to call look like. Options that are taken prove nothing: the record does.
CALLS = {"procedure": r"CALL ", "function": r"SELECT .*\bpgdyno_", "client": r"(?!CALL )(?!.*\bpgdyno_)"}


def calls_so(dsn, call, common):
    """Whether this pgdyno knows a way to call, and really calls so."""
    if subprocess.run([PGDYNO, "plan", "tproc-c", "--call", call], capture_output=True).returncode != 0:
        say(f"pgdyno --call {call}: unknown to this one, left out")
        return False
    statements = pgdyno(dsn, *common, "-t", "10", "--call", call)["statements"]
    wrong = [sql for sql in statements if not re.match(CALLS[call], sql, re.I)]
    if wrong:
        say(f"pgdyno --call {call} sends {wrong[0]!r}: not what is to be measured, left out")
    return not wrong


def pgdyno(dsn, *options):
    record = scratch("record.json")
    _, usage = timed([PGDYNO, "run", "tproc-c", "--target", dsn, "--no-check", "-q", "--json", record, "--out", scratch("out"), *options])
    with open(record) as f:
        record = json.load(f)
    summary = record["summary"]
    return {"transactions": summary["committed"] + summary["rolled_back"] + summary["failed"], "client_s": cpu_seconds(usage),
            "nopm": summary["nopm"], "failed": summary["failed"], "tps": summary["tps"], "rss": record["client"]["rss_bytes_max"],
            "own_us": summary["client_cpu_us_per_tx"], "statements": [s["sql"] for s in record["statements"] if s["executed"]]}


def pgdyno_load(dsn, warehouses, loaders=2):
    return timed([PGDYNO, "load", "tproc-c", "-w", str(warehouses), "-q", "--replace", "--loaders", str(loaders), "--target", dsn])


def pgbench(private, database, warehouses, users, seconds):
    command = [newest("pgbench"), "-h", private.host, "-p", private.port, "-U", "postgres", "-n", "-M", "prepared",
               "-c", str(users), "-j", "1", "-T", str(seconds), "-D", f"warehouses={warehouses}"]
    for name, (weight, text) in PGBENCH.items():
        with open(scratch(name + ".sql"), "w") as f:
            f.write("\\set w :client_id % :warehouses + 1\n" + text)
        command += ["-f", f"{scratch(name + '.sql')}@{weight}"]
    orders = "select sum(d_next_o_id) from district"
    before = int(private.sql(orders, database))
    text, usage = timed([*command, database])
    done = int(re.search(r"actually processed: (\d+)", text).group(1))
    failed = re.search(r"failed transactions: (\d+)", text)
    return {"transactions": done, "client_s": cpu_seconds(usage), "rss": usage.ru_maxrss * 1024,
            "failed": int(failed.group(1)) if failed else 0,
            "nopm": (int(private.sql(orders, database)) - before) * 60 / seconds}


def load():
    warehouses = 1 if OPTIONS.quick else 4
    say(f"## Load: {warehouses} warehouses, indexes, statistics and checkpoint included; pgdyno's checks too")
    with server() as private:
        headline(private)
        hammerdb = HammerDB(OPTIONS.hammerdb, private) if OPTIONS.hammerdb else None
        if not hammerdb:
            say("no --hammerdb: it is left out")
        # The first load of a new server writes its WAL segments for the first time.
        pgdyno_load(private.dsn, warehouses)
        ready = ReadyFiles(private)
        costs = {}

        def cost(name, work):
            settle(private)
            before, begun = server_cpu(private.pid), time.time()
            usage = work()
            settle(private)
            wall = time.time() - begun
            costs.setdefault(name, []).append(
                (cpu_seconds(usage) / warehouses, (server_cpu(private.pid) - before) / warehouses, wall, usage.ru_maxrss / 1024))

        ratios = []
        for _ in range(OPTIONS.rounds):
            for loaders in (1, 2):
                cost(f"pgdyno, {loaders} loader{'s'[: loaders - 1]}", lambda: pgdyno_load(private.dsn, warehouses, loaders)[1])
            cost("its conditions alone", lambda: timed([PGDYNO, "check", "tproc-c", "-q", "--target", private.dsn])[1])
            settle(private)
            _, copy_s = ready.copy()
            loaded, checked = costs["pgdyno, 1 loader"][-1][1], costs["its conditions alone"][-1][1]
            ratios.append((copy_s / warehouses / loaded, copy_s / warehouses / (loaded - checked)))
            if hammerdb:
                cost(f"HammerDB {hammerdb.version}, {min(2, warehouses)} users", lambda: hammerdb.build("tpcc", warehouses, "procedures"))
                private.sql("drop database tpcc")
        for name, values in costs.items():
            client, at_server, wall, rss = zip(*values)
            say(f"{name:24} a warehouse: client {spread(client, '{:.2f}')} s, server {spread(at_server, '{:.2f}')} s"
                f"   wall {spread(wall, '{:.1f}')} s, client's peak memory {max(rss):.0f} MiB")
        whole, bare = zip(*ratios)
        say(f"{ready.rows:,} rows; rows per server CPU second, of COPY's from ready files, one connection: {spread(bare, '{:.2f}')} for the load "
            f"as COPY does it, {spread(whole, '{:.2f}')} with the conditions that follow it")
    say()


def run():
    for size in OPTIONS.sizes.split(","):
        warehouses, users = map(int, size.split("x"))
        beside(warehouses, users)


def beside(warehouses, users):
    minutes = OPTIONS.minutes
    seconds = 15 if OPTIONS.quick else 60 * minutes
    say(f"## Run: {warehouses} warehouses, {users} users, {OPTIONS.rounds} rounds; no warm-up, a checkpoint before each measurement")
    say("client and server: user+sys of the whole process (HammerDB's own start left out) and of all processes of the server, / transactions")
    with server() as private:
        headline(private)
        peers = {}
        if OPTIONS.hammerdb:
            hammerdb = HammerDB(OPTIONS.hammerdb, private)
            say(f"HammerDB {hammerdb.version}: {minutes} min by its timed driver, transactions by pg_stat_database; its start, left out: "
                f"{hammerdb.start_cpu_s:.2f} s")
            for routines in OPTIONS.hammerdb_routines.split(","):
                hammerdb.build(routines, warehouses, routines)
                peers[f"HammerDB, {routines}"] = lambda routines=routines: hammerdb.run(routines, users, minutes)
        else:
            say("no --hammerdb: it is left out, and the ratios are to the first line")
        private.sql("create database pgdyno")
        dsn = private.database("pgdyno")
        pgdyno_load(dsn, warehouses)
        common = ["-c", str(users), *profile("run", "hammerdb")]
        for call in OPTIONS.calls.split(","):
            if calls_so(dsn, call, common):
                peers[f"pgdyno, {call}"] = lambda call=call: pgdyno(
                    dsn, *common, "-T", str(seconds), "--ramp", "0", "--call", call)
        if newest("pgbench"):
            private.sql(f"create function bench_last_name(n int) returns text language sql immutable as $$ select {last_name()} $$",
                        "pgdyno")
            peers["pgbench, procedures"] = lambda: pgbench(private, "pgdyno", warehouses, users, seconds)
        figures = {name: [] for name in peers}
        for _ in range(OPTIONS.rounds):
            for name, work in peers.items():
                settle(private)
                cpu, busy, begun = server_cpu(private.pid), busy_elsewhere(), time.time()
                wal = float(private.sql("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')"))
                figure = work()
                wal = float(private.sql("select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')")) - wal
                settle(private)
                cpu, wall = server_cpu(private.pid) - cpu, time.time() - begun
                done = figure["transactions"]
                figure |= {"client": figure["client_s"] / done * 1e6, "server": cpu / done * 1e6, "wal": wal / done / 1024,
                           "others": (busy_elsewhere() - busy - cpu - figure["client_s"]) / wall}
                figures[name].append(figure)
        report(figures)
        status = subprocess.run([PGDYNO, "check", "tproc-c", "-q", "--target", dsn], capture_output=True, text=True)
        say(f"afterwards all conditions hold of pgdyno's data: {status.returncode == 0}")
    say()


def last_name():
    syllables = "array[" + ", ".join(f"'{s}'" for s in SYLLABLES) + "]"
    return " || ".join(f"({syllables})[n / {ten} % 10 + 1]" for ten in (100, 10, 1))


def report(figures):
    """Medians and ranges of each peer, and its ratios to the first, round by round."""
    first = next(iter(figures.values()))
    for name, own in figures.items():
        of = lambda key: [figure[key] for figure in own]
        to = lambda key: [figure[key] / base[key] for figure, base in zip(own, first)]
        say(f"{name:22} client {spread(of('client'), '{:.1f}')} us, server {spread(of('server'))} us, NOPM {spread(of('nopm'), '{:,.0f}')}"
            f"   ratios: client {spread(to('client'), '{:.2f}')}, server {spread(to('server'), '{:.2f}')}, NOPM {spread(to('nopm'), '{:.2f}')}"
            f"   WAL {spread(of('wal'), '{:.1f}')} KiB, failed {sum(f.get('failed', 0) for f in own)}"
            f", client's peak memory {max(of('rss')) / 2**20:.0f} MiB, CPUs that others used {spread(of('others'), '{:.2f}')}")


def terminals():
    users = OPTIONS.terminals
    seconds = 5 if OPTIONS.quick else 30
    say(f"## Terminals: {users:,} virtual users in one process; the goal is a peak below 400 MB for 5,000")
    told("null server", users, pgdyno("null", "-w", "10", "-c", str(users), "-T", str(seconds), "--ramp", "0", *profile("run", "hammerdb")))
    fit = int(available() / BACKEND)
    if fit < users:
        say(f"real server: {users:,} backends need more than the memory that is free, so {fit:,}")
        users = fit
    with server(max_connections=users + 100) as private:
        headline(private)
        pgdyno_load(private.dsn, 10)
        # At a rate: thousands of users in a closed loop on ten warehouses would only wait for each other's locks.
        rate = 500
        figure = pgdyno(private.dsn, "-c", str(users), "-R", str(rate), "-T", str(seconds), "--ramp", "0", *profile("run", "hammerdb"))
        told(f"real server, {rate} transactions a second", users, figure)
    if knows("run", "--connections") and profile("run", "spec"):
        many, each = (1000, 64) if OPTIONS.quick else (50_000, 64)
        options = ["-w", str(many // 10), "-c", str(many), "--connections", str(each), "-T", str(seconds), "--ramp", "0", "--profile", "spec"]
        told(f"null server, spec, over {each} connections", many, pgdyno("null", *options))
    else:
        say("--profile spec over --connections: unknown to this pgdyno, left out")
    say()


# A backend that has planned all procedures, its page tables included.
BACKEND = 4 * 2**20


def available():
    with open("/proc/meminfo") as f:
        return int(re.search(r"MemAvailable:\s+(\d+)", f.read()).group(1)) * 1024 * 0.7


def told(where, users, figure):
    say(f"{where}: {users:,} users: peak resident {figure['rss'] / 2**20:.1f} MiB, client {figure['own_us']:.1f} us a transaction, "
        f"{figure['tps']:,.0f} TPS, {figure['failed']} failed")


PARTS = {"load": load, "run": run, "terminals": terminals}

if __name__ == "__main__":
    OPTIONS = arguments()
    bench(PARTS, wanted=OPTIONS.parts, kept=not OPTIONS.quick)
