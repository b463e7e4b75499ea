#!/usr/bin/env python3
"""pgdyno beside sysbench, go-ycsb and YCSB: in turns, on one server and the same data.

    benches/versus/key_value.py                      pgdyno and what is found in PATH
    benches/versus/key_value.py --go-ycsb PROGRAM --ycsb DIR
    benches/versus/key_value.py --quick              that all of it works; the figures are worthless
    benches/versus/key_value.py --table DIR          the tables of a run again

Measures the client's CPU time for an operation (user and system, of the whole process by `wait4`; start and connecting are left
out by a run of few operations), throughput, and the share of the hottest 1 % of the keys as a trigger on the server saw them.
sysbench comes by the socket, go-ycsb and YCSB by TCP, and pgdyno beside each of them the same way. Operations of all programs are
one statement in autocommit, but for sysbench's transactions.

Beside reads of one row stands the bare echo (`cargo build --release -p pgdyno-null --examples`): as many bytes by send, recv and epoll
alone, answered by threads that are as busy with each request as the server was in the same round, so that the client sleeps and is woken
as it is with the server. What the echo costs is the kernel's, and nobody can skip it.

YCSB is a directory with `lib/`, in which the JDBC binding and PostgreSQL's driver are. pgdyno is built in release mode, unless PGDYNO
names a binary.
"""

import argparse
import glob
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import measure
import servers
from store import ROOT, Store, machine

MIX = {
    "ycsb-a": {"readproportion": 0.5, "updateproportion": 0.5},
    "ycsb-b": {"readproportion": 0.95, "updateproportion": 0.05},
    "ycsb-c": {"readproportion": 1.0, "updateproportion": 0},
}
SYSBENCH = {"oltp-point-select": 1.0, "oltp-read-only": 0.1, "oltp-read-write": 0.05}
# Reads of one row, with the bytes of their reply.
FLOOR = {"oltp-point-select": 190, "ycsb-c": 1_130}
FLOOR_S = 3
# Goals for the client's CPU time: pgdyno's to the peer's.
GOALS = {"sysbench": 0.5, "go-ycsb": 0.15, "YCSB": 0.15}
# Of sysbench, whose clients have a thread each, with so few clients that pgdyno's have one, too.
FEW_CLIENTS, GOAL_FEW = 8, 0.85


class Program:
    """Runs one workload for a number of operations, and says how many it did and failed to do."""

    def __init__(self, name, transport, version):
        self.name, self.transport, self.version = name, transport, version

    def database(self, workload):
        return "ycsb" if workload.startswith("ycsb") else "sysbench"


class Pgdyno(Program):
    def __init__(self, path, transport):
        version = subprocess.run([path, "--version"], capture_output=True, text=True).stdout.strip()
        super().__init__("pgdyno", transport, version)
        self.path = path

    def command(self, work):
        self.record = os.path.join(work.scratch, "record.json")
        # The socket's name has no password; by TCP it comes from the environment.
        return [self.path, "run", work.workload, "--target", work.endpoint.dsn, "-c", str(work.clients), *work.threads,
                "-t", str(max(1, work.operations // work.clients)), "--no-check", "--no-samples", "-q", "--no-load",
                *work.pgdyno_options, "--json", self.record, "--out", work.scratch]

    def count(self, work, usage):
        with open(self.record) as f:
            summary = json.load(f)["summary"]
        return summary["committed"], summary["failed"], summary["tps"]


class Sysbench(Program):
    def __init__(self, path):
        version = subprocess.run([path, "--version"], capture_output=True, text=True).stdout.strip()
        super().__init__("sysbench", "unix", version)
        self.path = path

    def command(self, work):
        end = work.endpoint
        return [self.path, work.workload.replace("-", "_"), "--db-driver=pgsql", f"--pgsql-host={end['host']}",
                f"--pgsql-port={end['port']}", f"--pgsql-user={end['user']}", f"--pgsql-db={end['dbname']}", "--tables=1",
                f"--table-size={work.records}", f"--threads={work.clients}", f"--events={work.operations}", "--time=0",
                f"--rand-type={work.rand_type}", "run"]

    def count(self, work, usage):
        done, tps = re.search(r"transactions:\s+(\d+)\s+\(([0-9.]+) per sec", usage.text).groups()
        ignored = re.search(r"ignored errors:\s+(\d+)", usage.text).group(1)
        return int(done), int(ignored), float(tps)


class Ycsb(Program):
    """go-ycsb or YCSB: both take the same properties, from a file, because one of them is the password."""

    def __init__(self, name, version, run):
        super().__init__(name, "tcp", version)
        self.run = run

    def database(self, workload):
        # Its keys are others than YCSB's: it finds no row that it has not loaded itself.
        return "go_ycsb" if self.name == "go-ycsb" else super().database(workload)

    def command(self, work, kind="run"):
        end = work.endpoint
        properties = {
            "recordcount": work.records, "operationcount": work.operations, "threadcount": work.clients,
            "requestdistribution": "zipfian", "scanproportion": 0, "insertproportion": 0, **MIX[work.workload],
            "workload": "core" if self.name == "go-ycsb" else "site.ycsb.workloads.CoreWorkload",
            "pg.host": end["host"], "pg.port": end["port"], "pg.user": end["user"], "pg.db": end["dbname"],
            "pg.password": end.password, "db.driver": "org.postgresql.Driver", "db.user": end["user"],
            "db.passwd": end.password, "db.url": f"jdbc:postgresql://{end['host']}:{end['port']}/{end['dbname']}",
        }
        path = os.path.join(work.scratch, "properties")
        with open(path, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as f:
            f.writelines(f"{name}={value}\n" for name, value in properties.items())
        return [*self.run, path] if kind == "run" else [self.run[0], kind, *self.run[2:], path]

    def count(self, work, usage):
        text = usage.text + usage.errors
        if self.name == "YCSB":
            done = sum(int(n) for n in re.findall(r"\[(?:READ|UPDATE)\], Return=OK, (\d+)", text))
            failed = sum(int(n) for n in re.findall(r"\[(?:READ|UPDATE)\], Return=(?!OK)\w+, (\d+)", text))
            tps = float(re.search(r"\[OVERALL\], Throughput\(ops/sec\), ([0-9.]+)", text).group(1))
        else:
            # The totals come last; figures of parts come before them.
            last = text.rsplit("Run finished", 1)[-1]
            rows = re.findall(r"^(\w+)\s+- Takes\(s\): ([0-9.]+), Count: (\d+), OPS: ([0-9.]+)", last, re.M)
            whole = next(row for row in rows if row[0] == "TOTAL")
            done, tps = int(whole[2]), float(whole[3])
            failed = sum(int(row[2]) for row in rows if row[0].endswith("_ERROR"))
        return done, failed, tps


class Work:
    def __init__(self, workload, operations, endpoint, scratch, options, rand_type="special"):
        self.workload, self.operations, self.endpoint = workload, operations, endpoint
        self.scratch, self.records, self.clients, self.rand_type = scratch, options.records, options.clients, rand_type
        self.threads = ["-j", str(options.threads)] if options.threads else []
        self.pgdyno_options = ["-D", f"rand-type={rand_type}"] if workload in SYSBENCH or workload.startswith("oltp") else []


def programs(options, pgdyno):
    """Pairs: a peer, and pgdyno the same way."""
    found = []
    sysbench = options.sysbench or shutil.which("sysbench")
    if sysbench:
        found.append(Sysbench(sysbench))
    go = options.go_ycsb or shutil.which("go-ycsb")
    if go:
        found.append(Ycsb("go-ycsb", "go-ycsb", [go, "run", "postgresql", "-P"]))
    if options.ycsb:
        jars = glob.glob(os.path.join(options.ycsb, "lib", "*.jar"))
        core = next(os.path.basename(jar)[:-4] for jar in jars if os.path.basename(jar).startswith("core-"))
        java = ["java", "-cp", ":".join(jars), "site.ycsb.Client", "-t", "-db", "site.ycsb.db.JdbcDBClient", "-P"]
        found.append(Ycsb("YCSB", f"YCSB {core}", java))
    return [(peer, Pgdyno(pgdyno, peer.transport)) for peer in found]


def one(store, server, part, program, work, n, kind="run"):
    """Measures a program once, unless that was done."""
    if store.done(part, program.name, kind, n):
        return
    command = program.command(work)
    try:
        usage = measure.run(command, server=server, env=work.endpoint.env, cwd=work.scratch, limit_s=900)
        done, failed, tps = program.count(work, usage)
    except (measure.Failed, AttributeError, StopIteration) as error:
        store.add(part, program.name, kind, n, failed=str(error))
        print(f"{part} {program.name}: failed: {error}", file=sys.stderr)
        return
    shown = [word.replace(work.scratch, "SCRATCH").replace(str(work.endpoint["host"]), "HOST") for word in command]
    hidden = lambda text: text.replace(work.scratch, "SCRATCH").replace(os.path.dirname(server.data), "HOST")
    usage.text, usage.errors = (hidden(text) for text in (usage.text, usage.errors))
    store.said(f"{part} {program.name} {kind} {n}", [part_of(word) for word in shown], usage)
    line = store.add(part, program.name, kind, n, operations=done, failed_operations=failed, tps=tps, cpu_s=usage.cpu_s, user_s=usage.user_s,
                     wall_s=usage.wall_s, server_s=usage.server_s, other_cpus=usage.other_cpus, rss_bytes=usage.rss_bytes)
    print(f"{part:<32} {program.name:<9} {kind:<5} {n}  {line['cpu_s']:8.3f} s CPU  {done:>9,} operations  {tps:>10,.0f}/s"
          f"  others {usage.other_cpus:.2f}", flush=True)


def part_of(word):
    """A word of a command without the directories of this machine."""
    return ":".join(os.path.basename(part) for part in word.split(":")) if ".jar" in word else word


def costs(store, server, options, pairs, echo, scratch):
    for peer, ours in pairs:
        is_sysbench = peer.name == "sysbench"
        for workload in SYSBENCH if is_sysbench else MIX:
            if options.only and workload not in options.only:
                continue
            share = SYSBENCH.get(workload, 0.5)
            part = f"{workload} beside {peer.name}"
            endpoints = {program.name: server.endpoints[peer.transport].database(program.database(workload)) for program in (ours, peer)}
            for n in range(options.rounds):
                for program in (ours, peer) if n % 2 == 0 else (peer, ours):
                    endpoint = endpoints[program.name]
                    few = 400
                    many = max(int(options.operations * share), 5 * few)
                    one(store, server, part, program, Work(workload, few, endpoint, scratch, options), n, "base")
                    one(store, server, part, program, Work(workload, many, endpoint, scratch, options), n)
                if workload in FLOOR:
                    floor(store, part, echo, peer.transport, options, n, FLOOR[workload])


def floor(store, part, echo, transport, options, n, reply):
    """The bare echo, unpinned as the others are, answered by a program that takes the server's time for each operation."""
    if not echo or store.done(part, "bare echo", "run", n):
        return
    run = next((line for line in store.of(part, "pgdyno") if line["n"] == n), None)
    if run is None:
        return
    of_server = run["server_s"] / run["operations"]
    idle, _ = echoed(echo, transport, options, reply, 0)
    busy_ns = max(0, round((of_server - idle.server_s / int(idle.text)) * 1e9))
    usage, done = echoed(echo, transport, options, reply, busy_ns)
    store.add(part, "bare echo", "run", n, operations=done, failed_operations=0, tps=done / FLOOR_S, cpu_s=usage.cpu_s, user_s=usage.user_s,
              wall_s=usage.wall_s, server_s=usage.server_s, other_cpus=usage.other_cpus, rss_bytes=usage.rss_bytes, busy_ns=busy_ns)
    print(f"{part:<32} {'bare echo':<9} {'run':<5} {n}  {usage.cpu_s:8.3f} s CPU  {done:>9,} operations  {done / FLOOR_S:>10,.0f}/s"
          f"  busy for {busy_ns / 1e3:.1f} µs", flush=True)


def echoed(echo, transport, options, reply, busy_ns):
    """The usage of an echo whose other side is busy for so long with each request, and its replies."""
    size = ["--reply", str(reply)]
    with servers.Answering([echo, "serve", *size, "--busy", str(busy_ns)], transport, os.sched_getaffinity(0), {}) as server:
        end = server.endpoints[transport]
        usage = measure.run([echo, "drive", str(end["host"]), str(end["port"]), str(options.clients), str(FLOOR_S), *size], server=server)
    return usage, int(usage.text)


TRIGGER = """
create unlogged table if not exists seen (key text);
truncate seen;
create or replace function note() returns trigger language plpgsql as $$
begin insert into seen values (new.{key}); return null; end $$;
create or replace trigger note after update on {table} for each row execute function note()
"""


def shares(store, server, options, pairs, scratch):
    """Who updates which keys: a trigger notes them."""
    for peer, ours in pairs:
        is_sysbench = peer.name == "sysbench"
        workload = "oltp-update-non-index" if is_sysbench else "ycsb-a"
        part = f"keys of {workload} beside {peer.name}"
        table, key = ("sbtest1", "id") if is_sysbench else ("usertable", "ycsb_key")
        for program in (ours, peer):
            database = program.database(workload)
            endpoint = server.endpoints[peer.transport].database(database)
            if store.done(part, program.name, "share", 0):
                continue
            server.sql(TRIGGER.format(key=key, table=table), database)
            operations = options.keys * (1 if is_sysbench else 2)
            one(store, server, part, program, Work(workload, operations, endpoint, scratch, options), 0)
            counts = server.sql("select count(*) from seen group by key order by 1 desc", database).split()
            server.sql(f"drop trigger note on {table}", database)
            counts, updates = [int(count) for count in counts], sum(int(count) for count in counts)
            of = lambda hottest: sum(counts[:hottest]) / updates if updates else 0.0
            store.add(part, program.name, "share", 0, updates=updates, keys=len(counts), hottest_key=of(1),
                      hottest_percent=of(options.records // 100), hottest_ten_percent=of(options.records // 10))


def threads(facts):
    """pgdyno's threads, in words. Facts of earlier runs do not name them: it was one."""
    count = facts.get("threads", 1)
    return "as many threads as by default" if count is None else "one thread" if count == 1 else f"{count} threads"


def table(store):
    facts = store.facts()
    lines = [f"# pgdyno beside sysbench, go-ycsb and YCSB: {facts['begun']}", "",
             f"- machine: {facts['cpus']} CPUs {facts['cpu']}, {facts['memory_bytes'] / 2**30:.1f} GiB, {facts['os']}, load average "
             f"{facts['load_average_1min']:.2f} at the begin; commit {facts['commit']}",
             f"- server: PostgreSQL {facts['server']}; " + ", ".join(f"{k} {v}" for k, v in facts["settings"].items()),
             f"- programs: {'; '.join(facts['programs'])}",
             f"- {facts['records']:,} records or rows, {facts.get('clients', 4)} clients, pgdyno with {threads(facts)}, --no-samples; {facts['rounds']} rounds in turns",
             "- CPU: user and system of the whole process, less that of a run of 400 operations; ratios pair by pair: median and range",
             "", "## Client CPU an operation", "",
             "| workload | pgdyno µs | of it in user mode | peer µs | ratio | without user mode | goal | | bare echo µs | pgdyno's to it | pgdyno op/s | peer op/s | others' CPUs |",
             "|---" * 13 + "|"]
    parts = list(dict.fromkeys(part for part, _, kind, _ in store.lines if kind == "base"))
    for part in parts:
        peer = part.split(" beside ")[1]

        def cost(name, key="cpu_s"):
            runs, bases = store.of(part, name), {line["n"]: line for line in store.of(part, name, "base")}
            return {line["n"]: (line[key] - bases[line["n"]][key]) * 1e6 / (line["operations"] - bases[line["n"]]["operations"])
                    for line in runs if line["n"] in bases and key in line}

        ours, theirs = cost("pgdyno"), cost(peer)
        ratios = sorted(ours[n] / theirs[n] for n in ours if n in theirs)
        if not ratios:
            lines.append(f"| {part} | – | – | not measured | | | | | | | | | |")
            continue
        middle = statistics.median
        rate = lambda name: middle(line["tps"] for line in store.of(part, name))
        others = middle(line["other_cpus"] for name in ("pgdyno", peer) for line in store.of(part, name))
        few = peer == "sysbench" and facts.get("clients", 4) <= FEW_CLIENTS
        ratio, goal = middle(ratios), GOAL_FEW if few else GOALS[peer]
        verdict = "met" if ratio <= goal else "**missed**"
        user = cost("pgdyno", "user_s")
        kernel = sorted((ours[n] - user[n]) / theirs[n] for n in user if n in theirs)
        echo = {line["n"]: line["cpu_s"] * 1e6 / line["operations"] for line in store.of(part, "bare echo")}
        to_echo = sorted(ours[n] / echo[n] for n in ours if n in echo)
        beside_echo = f"{middle(echo.values()):.1f} | {middle(to_echo):.2f} ({to_echo[0]:.2f}–{to_echo[-1]:.2f})" if to_echo else " | "
        lines.append(f"| {part} | {middle(ours.values()):.1f} | {f'{middle(user.values()):.1f}' if user else '–'} | {middle(theirs.values()):.1f} | {ratio:.2f} ({ratios[0]:.2f}–{ratios[-1]:.2f}) | {f'{middle(kernel):.2f}' if kernel else '–'} "
                     f"| ≤ {goal} | {verdict} | {beside_echo} | {rate('pgdyno'):,.0f} | {rate(peer):,.0f} | {others:.2f} |")
    lines += ["", "## Keys as the server saw them", "",
              "Updates noted by a trigger. `±` is two standard deviations of the sampling.", "",
              "| | program | updates | hottest key | hottest 1 % | hottest 10 % |", "|---|---|---|---|---|---|"]
    for line in store.lines.values():
        if line["kind"] == "share":
            error = lambda share: 200 * (share * (1 - share) / line["updates"]) ** 0.5
            cell = lambda name: f"{100 * line[name]:.2f} ± {error(line[name]):.2f} %"
            lines.append(f"| {line['part']} | {line['peer']} | {line['updates']:,} | {cell('hottest_key')} | {cell('hottest_percent')} "
                         f"| {cell('hottest_ten_percent')} |")
    failures = store.failures()
    lines += ["", *(f"- failed: {line['part']} {line['peer']} {line['kind']} {line['n']}: {line['failed']}" for line in failures)]
    store.write("table.md", "\n".join(lines).rstrip() + "\n")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sysbench", metavar="PROGRAM")
    parser.add_argument("--go-ycsb", metavar="PROGRAM")
    parser.add_argument("--ycsb", metavar="DIR")
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--operations", type=int, default=400_000)
    parser.add_argument("--keys", type=int, default=100_000, help="updates whose keys are noted")
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--threads", type=int, help="pgdyno's [its default: one for each of up to 8 clients, then by the CPUs]")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", metavar="WORKLOAD", action="append", help="this workload's CPU time, and no keys; may be repeated")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--results", metavar="DIR", help="where results are kept [benches/results/<UTC>-key-value]")
    parser.add_argument("--resume", metavar="DIR")
    parser.add_argument("--table", metavar="DIR")
    options = parser.parse_args()
    if options.table:
        return print(table(Store(options.table)))
    if options.quick:
        options.records, options.operations, options.keys, options.rounds = 5_000, 8_000, 4_000, 1
    kept = tempfile.mkdtemp() if options.quick else os.path.join(
        ROOT, "benches", "results", time.strftime("%Y-%m-%d-%H%M-key-value", time.gmtime()))
    store = Store(options.resume or options.results or kept)
    pgdyno = os.path.abspath(os.environ["PGDYNO"]) if "PGDYNO" in os.environ else None
    if not pgdyno:
        subprocess.run(["cargo", "build", "--release", "-p", "pgdyno"], cwd=ROOT, check=True)
        pgdyno = os.path.join(ROOT, "target", "release", "pgdyno")
    pairs = programs(options, pgdyno)
    echo = os.environ.get("ECHO_PROGRAM", os.path.join(ROOT, "target", "release", "examples", "echo"))
    echo = echo if os.path.exists(echo) else None
    # Ended from outside it keeps what was measured too, and stops its server.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with servers.Private(options.clients + 32) as server, tempfile.TemporaryDirectory() as scratch:
        store.facts({**machine(), "server": server.version, "settings": server.settings(), "records": options.records,
                     "clients": options.clients, "threads": options.threads, "rounds": options.rounds,
                     "programs": [pairs[0][1].version, *(peer.version for peer, _ in pairs)] if pairs else []})
        for database, workload, size in (("ycsb", "ycsb-a", "--records"), ("sysbench", "oltp-read-write", "--scale")):
            server.sql(f"create database {database}")
            endpoint = server.endpoints["unix"].database(database)
            subprocess.run([pgdyno, "load", workload, size, str(options.records), "--target", endpoint.dsn, "-q"],
                           cwd=scratch, env=endpoint.env, check=True)
        for program in (peer for peer, _ in pairs if peer.name == "go-ycsb"):
            server.sql(f"create database {program.database('ycsb-a')}")
            endpoint = server.endpoints[program.transport].database(program.database("ycsb-a"))
            command = program.command(Work("ycsb-a", options.records, endpoint, scratch, options), "load")
            subprocess.run(command, cwd=scratch, env=endpoint.env, check=True, stdout=subprocess.DEVNULL)
            server.sql("vacuum analyze usertable", program.database("ycsb-a"))
        try:
            costs(store, server, options, pairs, echo, scratch)
            if not options.only:
                shares(store, server, options, pairs, scratch)
        except KeyboardInterrupt:
            print("interrupted: what was measured is kept", file=sys.stderr)
        print(table(store))


if __name__ == "__main__":
    main()
