"""What a transaction carries over the network: the loopback device counts it. Headers of IP and TCP and acknowledgements are
in it; Ethernet's headers, some 38 bytes a packet with its gap, are not."""

from dataclasses import replace

import loads
import measure
from peers import Work

PART = "network"
SCRIPTS = ("select-only", "tpcb-like", "tpcb-pipeline", "tproc-c", "tproc-c-client")


def run(bench):
    """pgdyno alone, 16 clients. Whatever else uses loopback meanwhile is in the figures too."""
    server = bench.server()
    if "tcp" not in server.endpoints or not server.pid:
        return bench.say(f"{PART}: it needs a server on this machine that is reached by TCP: left out")
    server.pin(bench.all_cpus)
    database = loads.fresh(server, "versus_network")
    tproc_c = server.endpoints["tcp"].database(database)
    measure.run([bench.pgdyno.path, "load", "tproc-c", "-w", str(bench.options.warehouses), "-q", "--target", tproc_c.dsn], env=tproc_c.env)
    for script in SCRIPTS:
        ours = script.startswith("tproc-c")
        work = Work(script, "prepared", 16, tproc_c if ours else server.endpoints["tcp"], bench.scratch,
                    bench.options.warehouses if ours else bench.options.scale)
        for kind, transactions in (("base", 1), ("run", 500)):
            bench.measured(PART, bench.pgdyno, replace(work, transactions=transactions), None, server, kind, 0, script)
    server.sql(f"drop database {database}")
    bench.show_part(PART)
