#!/usr/bin/env python3
"""pgdyno beside other drivers of PostgreSQL, alternately, on the same server and data. See README.md beside this file."""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace

import client_cpu
import loads
import measure
import network
import scenarios
import servers
import small
import store
import table
import virtual_users
from peers.benchbase import BenchBase
from peers.echo import Echo
from peers.go_tpc import GoTpc
from peers.hammerdb import HammerDB
from peers.pgbench import DropIn, versions
from peers.pgdyno import Coalescing, Pgdyno
from peers.stroppy import Stroppy
from peers.sysbench import VIEW, Sysbench
from peers.tokio import TokioPostgres

ROOT = store.ROOT
# What --resume takes from the first run: figures of other options are not to be mixed.
KEPT = ("pairs", "load_pairs", "seconds", "scale", "warehouses", "users", "quick", "samples", "only")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", metavar="DSN", help="a server to use instead of one of the bench's own: pgbench's tables are loaded into its database unless others are there, "
                             "and databases named versus_… are made and dropped")
    parser.add_argument("--only", action="append", metavar="PART", default=[], help="a part, or a pattern such as 'select-only/W/*'; may be repeated")
    parser.add_argument("--list", action="store_true", help="the parts, and nothing else")
    parser.add_argument("--pairs", type=int, default=7, help="rotations of each cell [%(default)s]")
    parser.add_argument("--load-pairs", type=int, default=3, help="rotations of loads and of tproc-c [%(default)s]")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one measurement [%(default)s]")
    parser.add_argument("--scale", type=int, default=50, help="of pgbench's tables [%(default)s]")
    parser.add_argument("--warehouses", type=int, default=4, help="of tproc-c [%(default)s]")
    parser.add_argument("--users", type=int, default=4, help="of tproc-c [%(default)s]")
    parser.add_argument("--cpus", default=None, metavar="SERVER,CLIENT", help="the CPUs of the regimes W and S [the first two]")
    parser.add_argument("--quick", action="store_true", help="one short rotation of few cells, to see that all of it works; the figures are worthless")
    parser.add_argument("--samples", action="store_true", help="pgdyno samples the server's statistics meanwhile, as it does by default")
    parser.add_argument("--results", metavar="DIR", help="where results are kept [benches/results/<UTC>-versus]")
    parser.add_argument("--resume", metavar="DIR", help="go on with a run that was interrupted: what it has is not measured again")
    parser.add_argument("--table", metavar="DIR", help="print the tables of a run again, and nothing else")
    parser.add_argument("--hammerdb", metavar="DIR", help="directory with hammerdbcli; left out without it")
    parser.add_argument("--go-tpc", metavar="PROGRAM", help="left out without it")
    parser.add_argument("--benchbase", metavar="DIR", help="directory with benchbase.jar; left out without it")
    parser.add_argument("--stroppy", metavar="PROGRAM", help="left out without it")
    parser.add_argument("--sysbench", metavar="PROGRAM", help="[sysbench, where it is installed]")
    parser.add_argument("--tokio-probe", metavar="PROGRAM", help="[tokio-probe/target/release/tokio-probe, where it is built]")
    return parser.parse_args()


class Bench:
    """The programs, the servers and the results of one call."""

    def __init__(self, options, results):
        self.options, self.store, self.loaded, self._server = options, results, None, None
        self.all_cpus = os.sched_getaffinity(0)
        cpus = [int(n) for n in options.cpus.split(",")] if options.cpus else sorted(self.all_cpus)[:2]
        if len(set(cpus)) < 2:
            sys.exit("two CPUs are needed, one for the server and one for the client")
        self.server_cpus, self.client_cpus = {cpus[0]}, {cpus[1]}
        self.env = dict(os.environ)
        self._find_peers()

    def _find_peers(self):
        release = os.path.join(ROOT, "target", "release")
        self.pgdyno = Pgdyno(os.path.abspath(os.environ.get("PGDYNO", os.path.join(release, "pgdyno"))), self.options.samples)
        found = versions()
        self.pgbench, self.older = (found[0], found[1:]) if found else (None, [])
        self.beside, self.absent = [*self.older, Coalescing(self.pgdyno.path, self.options.samples)], []
        if self.pgbench:
            self.beside.append(DropIn(self.pgdyno.path, self.pgbench))
        else:
            self.absent.append("pgbench: none is installed, so there are no ratios")
        for make, path, what in (
            (Sysbench, self.options.sysbench or Sysbench().path, "sysbench: not installed (Debian's package sysbench)"),
            (Echo, os.environ.get("ECHO_PROGRAM", os.path.join(release, "examples", "echo")), "bare echo: cargo build --release -p pgdyno-null --examples"),
            (TokioPostgres, self.options.tokio_probe or os.path.join(os.path.dirname(os.path.abspath(__file__)), "tokio-probe", "target", "release", "tokio-probe"),
             "tokio-postgres: cargo build --release in benches/versus/tokio-probe"),
        ):
            if path and os.path.exists(path):
                self.beside.append(make(path))
            else:
                self.absent.append(what)
        self.others = []
        for make, path, what in (
            (HammerDB, self.options.hammerdb, "--hammerdb DIR"), (GoTpc, self.options.go_tpc, "--go-tpc PROGRAM"),
            (BenchBase, self.options.benchbase, "--benchbase DIR"), (Stroppy, self.options.stroppy, "--stroppy PROGRAM"),
        ):
            if path:
                self.others.append(make(path))
            else:
                self.absent.append(f"{make.name}: not named ({what})")

    def server(self, unpinned=False):
        """The one real server, started and loaded at its first use."""
        if self._server is None:
            self._server = servers.Given(self.options.target) if self.options.target else servers.Private(1100)
            self._server.__enter__()
            self.env = next(iter(self._server.endpoints.values())).env
            self.store.facts({"server": self._server.version, "settings": self._server.settings()})
        if unpinned:
            if self._server.pid:
                self._server.pin(self.all_cpus)
        elif self.loaded is None:
            self.say(f"loading pgbench's tables, scale {self.options.scale}, PostgreSQL {self._server.version}")
            endpoint = next(iter(self._server.endpoints.values()))
            measure.run([self.pgdyno.path, "load", "tpcb-like", "-s", str(self.options.scale), "-q", "--replace", "--target", endpoint.dsn],
                        env=endpoint.env)
            if any(isinstance(peer, Sysbench) for peer in self.beside):
                self._server.sql(VIEW)  # where there is such a table already this fails, and tells so
            self._server.sql("checkpoint")
            self._server.rest()
            self.loaded = True
        return self._server

    def close(self):
        if self._server is not None:
            self._server.__exit__()
            self._server = None

    def measured(self, part, peer, work, cpus, server, kind, n, name=None, **more):
        """One run of a peer, unless the results have it; a failure is kept and told, and ends nothing."""
        name = name or peer.name
        if self.store.done(part, name, kind, n):
            return
        try:
            command, database = peer.command(work), str(work.endpoint["dbname"])
            before = server.transactions(database) if peer.counted_by_server else 0
            usage = measure.run(command, cpus, server, peer.env(work), getattr(peer, "cwd", None) or self.scratch,
                                limit_s=4 * work.seconds + 120)
            self.store.said(f"{part} {name} {kind} {n}", command, usage)
            count = peer.count(work, usage)
            if peer.counted_by_server:
                count = replace(count, transactions=server.transactions(database) - before)
            self.store.add(part, name, kind, n, transactions=count.transactions, tps=count.tps, failed_transactions=count.failed,
                           nopm=count.nopm, user_s=usage.user_s, sys_s=usage.sys_s, rss_bytes=usage.rss_bytes, wall_s=usage.wall_s,
                           server_s=usage.server_s, other_cpus=usage.other_cpus, loopback_bytes=usage.loopback_bytes, **more)
        except (measure.Failed, OSError, ValueError, AttributeError, KeyError) as failure:
            self.failed(part, name, kind, n, failure)

    def measured_command(self, part, name, command, server, n, before, more=lambda usage: {}):
        """A command whose wall time counts; `more` reads further figures from what it said."""
        if self.store.done(part, name, "run", n):
            return
        try:
            before()
            usage = measure.run(command, None, server, self.env, self.scratch, limit_s=1800)
            self.store.said(f"{part} {name} {n}", command, usage)
            self.store.add(part, name, "run", n, wall_s=usage.wall_s, user_s=usage.user_s, sys_s=usage.sys_s, rss_bytes=usage.rss_bytes,
                           server_s=usage.server_s, other_cpus=usage.other_cpus, **more(usage))
        except (measure.Failed, OSError) as failure:
            self.failed(part, name, "run", n, failure)

    def failed(self, part, name, kind, n, failure):
        self.say(f"{part}, {name}: {failure}")
        self.store.add(part, name, kind, n, failed=str(failure)[:500])

    def say(self, text):
        print(f"{time.strftime('%H:%M:%S')}  {text}", flush=True)

    def show(self, case):
        self.say(table.line_of(self.store, case, self.theirs))

    def show_part(self, part):
        if part in ("memory", "start", "instructions"):
            self.say("; ".join(line.lstrip("- ") for line in table.part_lines(self.store, part)[2:] if line))
            return
        for peer in table.peers_of(self.store, part):
            lines = self.store.of(part, peer)
            walls = table.spread([line["wall_s"] for line in lines])
            client, carried = (table.median(self.store, part, peer, key) if lines and "transactions" in lines[0] else None
                               for key in ("client_us", "loopback_bytes"))
            self.say(f"{part}: {peer}: wall {walls} s" + (f", client {client:.1f} us a transaction" if client is not None else "")
                     + (f", {carried:,.0f} bytes of network" if part == "network" else ""))

    @property
    def theirs(self):
        return self.pgbench.name if self.pgbench else None

    def facts(self):
        peers = [peer for peer in (self.pgdyno, self.pgbench, *self.beside, *self.others) if peer]
        said = [f"{peer.name}{': ' + peer.version() if peer.version() else ''}" for peer in peers]
        self.store.facts({**store.machine(), "versions": said, "absent": self.absent, "theirs": self.theirs,
                          "options": {key: getattr(self.options, key) for key in KEPT}})

    def run(self):
        """Everything that is wanted, the cells first."""
        cells, wanted = client_cpu.Cells(self), self.options.only
        others = {"tproc-c/run": virtual_users.run, "load/accounts": loads.accounts, "load/tproc-c": loads.tproc_c, "network": network.run,
                  "memory": small.memory, "start": small.start, "instructions": small.instructions}
        for case in scenarios.cases():
            quick = self.options.quick and case.clients != 64
            if scenarios.chosen(case.id, wanted) and not quick:
                self.part(case.id, lambda case=case: cells.run(case))
        for name, part in others.items():
            if scenarios.chosen(name, wanted):
                self.part(name, lambda part=part: part(self))

    def part(self, name, work):
        """A part that cannot be measured is told; the others follow."""
        try:
            work()
        except (measure.Failed, OSError, subprocess.SubprocessError) as failure:
            self.failed(name, "the bench", "run", 0, failure)
        self.store.write("table.md", table.whole(self.store, self.theirs))


def main():
    options = arguments()
    if options.list:
        print("\n".join([*(case.id for case in scenarios.cases()), *(f"{name}: {what}" for name, what in scenarios.PARTS.items())]))
        return 0
    if options.table:
        kept = store.Store(options.table)
        print(table.whole(kept, kept.facts().get("theirs")), end="")
        return 0
    if options.quick:
        options.pairs, options.load_pairs, options.seconds, options.scale, options.warehouses = 1, 1, 1.0, 5, 1
    directory = options.resume or options.results or os.path.join(
        ROOT, "benches", "results", time.strftime("%Y-%m-%d-%H%M", time.gmtime()) + "-versus")
    results = store.Store(directory)
    if options.resume:
        for key, value in results.facts().get("options", {}).items():
            setattr(options, key, value)
    if "PGDYNO" not in os.environ:
        subprocess.run(["cargo", "build", "--release", "-q", "-p", "pgdyno", "-p", "pgdyno-null", "--bins", "--examples"], cwd=ROOT, check=True)
    bench = Bench(options, results)
    # Ended from outside it keeps what was measured too, and stops its server.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    status = 0
    with tempfile.TemporaryDirectory(prefix="pgdyno-versus-") as bench.scratch:
        try:
            if not options.resume:
                bench.facts()
            bench.run()
        except KeyboardInterrupt:
            status = 130
            bench.say(f"interrupted; benches/versus/run.py --resume {os.path.relpath(directory)} goes on")
        finally:
            bench.close()
    results.write("table.md", table.whole(results, bench.theirs))
    print(table.whole(results, bench.theirs))
    print(f"kept in {os.path.relpath(directory)}")
    return status


if __name__ == "__main__":
    sys.exit(main())
