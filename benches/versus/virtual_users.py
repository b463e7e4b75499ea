"""Client CPU of TPROC-C transactions, in regime B. Each tool has a database of its own: their schemas differ, and so do their
transactions, so only what the client does for one is compared. All have the same warehouses and as many users without think
time, and run at the server's default isolation."""

from dataclasses import replace

import loads
import measure
from peers import Work

PART = "tproc-c/run"
# What pgdyno's lines are called; a peer is held against the one that calls as it does, and both come the same way.
OURS = {"tproc-c": "pgdyno, procedure", "tproc-c-client": "pgdyno, client SQL"}
# JDBC knows nothing but TCP; HammerDB would keep the password that TCP asks for.
TRANSPORTS = {"tproc-c": "unix", "tproc-c-client": "tcp"}
# HammerDB takes whole minutes, and all tools the same time.
MINUTE = 60


def run(bench):
    server = bench.server(unpinned=True)
    seconds = max(5.0, bench.options.seconds) if bench.options.quick or not bench.others else MINUTE
    database, turns = loads.fresh(server, "versus_pgdyno"), []
    databases = [database]
    for script, name in OURS.items():
        endpoint = server.endpoints.get(TRANSPORTS[script]) or next(iter(server.endpoints.values()))
        work = Work(script, "prepared", bench.options.users, endpoint, bench.scratch, bench.options.warehouses, seconds=seconds)
        own = replace(work, endpoint=endpoint.database(database))
        if not turns:
            measure.run([bench.pgdyno.path, "load", "tproc-c", "-w", str(work.scale), "-q", "--target", own.endpoint.dsn], env=own.endpoint.env)
        turns.append((name, bench.pgdyno, own))
        for peer in bench.others:
            if script in peer.scripts:
                databases.append(loads.fresh(server, "versus_" + "".join(c for c in peer.name.lower() if c.isalnum())))
                theirs = replace(work, endpoint=endpoint.database(databases[-1]))
                if prepared(bench, peer, theirs):
                    turns.append((peer.name, peer, theirs))
    for n in range(bench.options.load_pairs):
        for name, peer, its in turns:
            # What start and connecting cost; a tool that knows no number of transactions does the least that it can.
            for kind in ("base", "run") if n == 0 else ("run",):
                if peer.before_sql:
                    server.sql(peer.before_sql, str(its.endpoint["dbname"]))
                loads.rested(server, str(its.endpoint["dbname"]))
                bench.measured(PART, peer, replace(its, transactions=1) if kind == "base" else its, None, server, kind, n, name, script=its.script)
    for name in databases:
        server.sql(f"drop database if exists {name} with (force)")
        server.sql(f"drop role if exists {name}")  # HammerDB makes one
    bench.show_part(PART)


def prepared(bench, peer, work):
    """Has a peer make its tables."""
    refused = peer.refuses(work)
    if refused:
        bench.say(f"{PART}, {peer.name}: {refused}: left out")
        return False
    try:
        for command in peer.prepare(work):
            usage = measure.run(command, env=peer.env(work), cwd=peer.cwd, limit_s=1800)
            bench.store.said(f"{PART} {peer.name}, prepare", command, usage)
        if peer.prepared not in usage.text + usage.errors:
            raise measure.Failed(f"its tables are not complete: {(usage.errors or usage.text).strip()[-400:]}")
    except (measure.Failed, OSError) as failure:
        bench.failed(PART, peer.name, "prepare", 0, failure)
        return False
    return True
