"""BenchBase: TPC-C by SQL of the client, through JDBC."""

import json
import os
import re
from xml.sax.saxutils import escape

from . import Count, Peer

# With their weights.
TRANSACTIONS = {"NewOrder": 45, "Payment": 43, "OrderStatus": 4, "Delivery": 4, "StockLevel": 4}


class BenchBase(Peer):
    name = "BenchBase"
    scripts = ("tproc-c-client",)
    prepared = "Finished loading data"
    # It has no count of transactions to end by, and what the JVM compiles meanwhile belongs to its start: so long is that, in
    # the whole seconds that it knows, at most half of the run.
    start_s = 10

    def __init__(self, directory):
        self.cwd = os.path.abspath(directory)
        if not os.path.exists(os.path.join(self.cwd, "benchbase.jar")):
            raise SystemExit(f"--benchbase {directory}: no benchbase.jar there; name the directory that its archive unpacks to")

    def refuses(self, work):
        if work.endpoint["host"].startswith("/"):
            return "JDBC knows no sockets of Unix"
        return super().refuses(work)

    def prepare(self, work):
        yield self._run(work, "--create=true", "--load=true", "--execute=false")

    def command(self, work):
        return self._run(work, "--execute=true", "-d", os.path.join(work.scratch, "benchbase"), "-jh", self._histograms(work))

    def count(self, work, usage):
        with open(self._histograms(work)) as f:
            histograms = {name: histogram["HISTOGRAM"] for name, histogram in json.load(f).items()}
        # What it aborts itself are the orders that are to be rolled back.
        done = sum(histograms["completed"].values()) + sum(histograms["aborted"].values())
        failed = sum(histograms["rejected"].values()) + sum(histograms["unexpected"].values())
        new_orders = sum(n for kind, n in histograms["completed"].items() if ".NewOrder/" in kind)
        tps = float(re.search(r"([0-9.]+) requests/sec \(throughput\)", usage.text).group(1))
        return Count(done, tps, failed, tps * 60 * new_orders / max(done, 1))

    def seconds(self, work):
        seconds = max(2, round(work.seconds))
        return min(self.start_s, seconds // 2) if work.transactions else seconds

    def _histograms(self, work):
        return os.path.join(work.scratch, "benchbase.json")

    def _run(self, work, *what):
        path = os.path.join(work.scratch, "benchbase.xml")
        with open(path, "w") as f:
            f.write(self._configuration(work))
        return ["java", "-jar", "benchbase.jar", "-b", "tpcc", "-c", path, *what]

    def _configuration(self, work):
        """As its sample has it, but for the isolation, which is what the others run with, and the rate. It takes the password from
        the environment."""
        place = work.endpoint
        url = f"jdbc:postgresql://{place['host']}:{place['port']}/{place['dbname']}?sslmode=disable&reWriteBatchedInserts=true"
        kinds = "".join(f"<transactiontype><name>{name}</name></transactiontype>" for name in TRANSACTIONS)
        weights = ",".join(str(weight) for weight in TRANSACTIONS.values())
        return (f"<parameters><type>POSTGRES</type><driver>org.postgresql.Driver</driver><url>{escape(url)}</url>"
                f"<username>{escape(place['user'])}</username><password>${{env:PGPASSWORD}}</password>"
                f"<isolation>TRANSACTION_READ_COMMITTED</isolation><batchsize>128</batchsize>"
                f"<scalefactor>{work.scale}</scalefactor><terminals>{work.clients}</terminals>"
                f"<works><work><time>{self.seconds(work)}</time><rate>unlimited</rate><weights>{weights}</weights></work></works>"
                f"<transactiontypes>{kinds}</transactiontypes></parameters>")
