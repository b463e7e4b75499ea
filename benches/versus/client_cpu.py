"""Client CPU a transaction: the cells of the first table."""

import statistics
from dataclasses import replace

import servers
from peers import Work

# How often start and connecting are measured for each program of a cell.
BASES = 3
# Rotations in which peers take part that are no cell of the table.
BESIDE = 3


# Clients of a real server for which a run is as long again: the first transactions of a backend fill its caches, and
# cost more than the others.
CLIENTS_AS_LONG_AGAIN = 800
# What a wake-up costs varies more than all else.
AS_LONG_IN_W = 2
# With a rate a second has few transactions.
AS_LONG_IN_R = 3
# What a cell calls a peer whose name says more.
WANTED = {"Echo": "bare", "Coalescing": "pgdyno --coalesce"}


def lengthened(case):
    """How many times the usual length a cell is measured."""
    of_clients = 1 if case.regime == "S" else 1 + case.clients / CLIENTS_AS_LONG_AGAIN
    return of_clients * (AS_LONG_IN_W if case.regime == "W" else AS_LONG_IN_R if case.rate else 1)


class Cells:
    """Measures cells on one bench's servers. A null server is started for each transport, once."""

    def __init__(self, bench):
        self.bench = bench

    def run(self, case):
        bench = self.bench
        if case.regime == "S":
            with servers.null(bench.pgdyno.path, case.transport, bench.server_cpus) as server:
                self._measure(case, server)
            return
        server = bench.server()
        if case.transport not in server.endpoints:
            return bench.say(f"{case.id}: the server that was given is not reached by {case.transport}: left out")
        if case.regime == "W" and not server.pid:
            return bench.say(f"{case.id}: the server is not on this machine and cannot be pinned: left out")
        if case.script != "select-only":
            for statement in ("vacuum pgbench_tellers", "vacuum pgbench_branches", "checkpoint"):
                server.sql(statement)
        if server.pid:
            server.pin(bench.server_cpus if case.regime == "W" else bench.all_cpus)
        self._measure(case, server)

    def _measure(self, case, server):
        bench = self.bench
        work = Work(case.script, case.mode, case.clients, server.endpoints[case.transport], bench.scratch, bench.options.scale,
                    seconds=bench.options.seconds * lengthened(case), rate=case.rate)
        cpus = bench.client_cpus if case.regime in "WS" else bench.all_cpus
        for n in range(bench.options.pairs):
            for peer in self._rotation(case, n):
                if peer.name == "bare echo":
                    self._echo(case, peer, work, cpus, n)
                else:
                    self._one(case, peer, work, cpus, server, n)
        for_threads = replace(work, threads=2)
        if bench.pgbench and bench.options.pairs > 1:
            # Its own best: with a second thread it may be cheaper or quicker, on both CPUs.
            self._one(case, bench.pgbench, for_threads, bench.all_cpus, server, 0, label=f"{bench.pgbench.name} -j 2")
        bench.show(case)

    def _rotation(self, case, n):
        bench = self.bench
        yield from [peer for peer in (bench.pgbench, bench.pgdyno) if peer]
        for peer in bench.beside:
            wanted = "older" if peer in bench.older else WANTED.get(type(peer).__name__, peer.name)
            if wanted in case.beside and (n < BESIDE or wanted in ("bare", "tokio-postgres", "pgdyno --coalesce")):
                yield peer

    def _echo(self, case, peer, work, cpus, n):
        """The echo has a server of its own."""
        bench = self.bench
        server_cpus = bench.server_cpus if case.regime == "S" else bench.all_cpus
        with servers.Answering([peer.path, "serve"], case.transport, server_cpus, {}) as server:
            work = replace(work, endpoint=server.endpoints[case.transport])
            self._one(case, peer, work, cpus, server, n)

    def _one(self, case, peer, work, cpus, server, n, label=None):
        bench, name = self.bench, label or peer.name
        refused = peer.refuses(work)
        if refused:
            return
        if n < BASES:
            bench.measured(case.id, peer, replace(work, transactions=1), cpus, server, "base", n, name)
        if peer.counts_connecting:
            longest = max((line["wall_s"] for line in bench.store.of(case.id, name, "base")), default=0.0)
            work = replace(work, seconds=work.seconds + longest)
        bench.measured(case.id, peer, work, cpus, server, "run", n, name)


def costs(store, part, peer):
    """Of each pair: client and server CPU µs a transaction, TPS. What start, connecting and the first transaction of each
    client cost is left out, as a run of one transaction a client had it."""
    bases = store.of(part, peer, "base")
    base = lambda key: statistics.median(line[key] or 0 for line in bases) if bases else 0
    found = {}
    for line in store.of(part, peer):
        done = line["transactions"] - base("transactions")
        if done <= 0:
            continue
        per = lambda key: (line[key] - base(key)) / done * 1e6
        found[line["n"]] = {
            "client_us": per("user_s") + per("sys_s"), "user_us": per("user_s"), "sys_us": per("sys_s"), "tps": line["tps"],
            "server_us": per("server_s") if line["server_s"] is not None else None,
            "loopback_bytes": (line["loopback_bytes"] - base("loopback_bytes")) / done, "rss_bytes": line["rss_bytes"], "other_cpus": line["other_cpus"]}
    return found


def ratios(store, part, ours, theirs, key="client_us"):
    """Ours to theirs, pair by pair."""
    mine, them = costs(store, part, ours), costs(store, part, theirs)
    return [mine[n][key] / them[n][key] for n in sorted(mine.keys() & them.keys()) if them[n][key]]
