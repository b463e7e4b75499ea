"""sysbench, of Debian's package: its point select, on the same accounts through a view of the name that it expects."""

import re
import shutil
import subprocess

from . import Count, Peer

VIEW = "create or replace view sbtest1 as select aid as id, abalance as k, abalance::text as c, filler as pad from pgbench_accounts"


class Sysbench(Peer):
    name = "sysbench"
    scripts = ("select-only",)

    def __init__(self, path=None):
        self.path = path or shutil.which("sysbench")

    def version(self):
        return subprocess.run([self.path, "--version"], capture_output=True, text=True).stdout.strip()

    def command(self, work):
        # A thread for each client: it knows no other way.
        length = [f"--events={work.transactions * work.clients}", "--time=0"] if work.transactions else [
            "--events=0", f"--time={max(1, round(work.seconds))}"]
        return [self.path, "oltp_point_select", "--db-driver=pgsql", f"--pgsql-host={work.endpoint['host']}",
                f"--pgsql-port={work.endpoint['port']}", f"--pgsql-user={work.endpoint['user']}",
                f"--pgsql-db={work.endpoint['dbname']}", "--tables=1", f"--table-size={work.scale * 100_000}",
                "--rand-type=uniform", "--skip-trx=on", f"--db-ps-mode={'auto' if work.mode == 'prepared' else 'disable'}",
                f"--threads={work.clients}", *length, "run"]

    def count(self, work, usage):
        done, tps = re.search(r"transactions:\s+(\d+)\s+\(([0-9.]+) per sec", usage.text).groups()
        return Count(int(done), float(tps))
