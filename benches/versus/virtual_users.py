"""Client CPU of TPROC-C transactions. Each tool has a database of its own: their schemas differ, and so do their
transactions, so only what the client does for one is compared."""

from dataclasses import replace

import loads
import measure
from peers import Work

PART = "tproc-c/run"
# HammerDB takes whole minutes, and all tools the same time.
MINUTE = 60


def run(bench):
    server = bench.server(unpinned=True)
    endpoint = next(iter(server.endpoints.values()))
    seconds = MINUTE if bench.others else max(5.0, bench.options.seconds)
    users = bench.options.users
    work = Work("tproc-c", "prepared", users, endpoint, bench.scratch, bench.options.warehouses, seconds=seconds)
    database = loads.fresh(server, "versus_pgdyno")
    own = replace(work, endpoint=endpoint.database(database))
    measure.run([bench.pgdyno.path, "load", "tproc-c", "-w", str(work.scale), "-q", "--target", own.endpoint.dsn], env=bench.env)
    turns = [("pgdyno, procedure", bench.pgdyno, own), ("pgdyno, client SQL", bench.pgdyno, replace(own, script="tproc-c-client"))]
    databases = [database]
    for peer in bench.others:
        name = loads.fresh(server, "versus_" + "".join(c for c in peer.name.lower().split()[0] if c.isalnum()))
        databases.append(name)
        theirs = replace(work, endpoint=endpoint.database(name))
        try:
            for command in peer.prepare(theirs):
                bench.store.said(f"{PART} {peer.name}, prepare", command, measure.run(command, env=peer.env(theirs), cwd=peer.cwd, limit_s=1800))
            turns.append((peer.name, peer, theirs))
        except measure.Failed as failure:
            bench.failed(PART, peer.name, "prepare", 0, failure)
    for n in range(bench.options.load_pairs):
        for name, peer, its in turns:
            loads.rested(server, str(its.endpoint["dbname"]))
            # What start and connecting cost; a tool that knows no number of transactions has a start of its own.
            if n == 0:
                bench.measured(PART, peer, replace(its, transactions=1), None, server, "base", n, name)
            bench.measured(PART, peer, its, None, server, "run", n, name)
    for name in databases:
        server.sql(f"drop database if exists {name} with (force)")
    bench.show_part(PART)
