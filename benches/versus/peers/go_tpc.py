"""go-tpc: TPC-C by SQL of the client."""

import os
import re
import subprocess

from . import Count, Peer


class GoTpc(Peer):
    name = "go-tpc"
    scripts = ("tproc-c",)
    cwd = None

    def __init__(self, path):
        self.path = os.path.abspath(path)

    def version(self):
        said = subprocess.run([self.path, "version"], capture_output=True, text=True).stdout
        return " ".join(said.split())

    def prepare(self, work):
        yield [*self._tpcc(work, "prepare"), "-T", str(work.clients), "--no-check"]

    def command(self, work):
        length = ["--count", str(work.transactions * work.clients)] if work.transactions else ["--time", f"{work.seconds:.0f}s"]
        return [*self._tpcc(work, "run"), "-T", str(work.clients), *length]

    def count(self, work, usage):
        counts = re.findall(r"\[Summary\] [A-Z_]+ - Takes\(s\): ([0-9.]+), Count: (\d+)", usage.text)
        if not counts and not work.transactions:
            raise ValueError(f"no result: {usage.text[-300:]}")
        failed = re.findall(r"\[Summary\] [A-Z_]+_ERR - Takes\(s\): [0-9.]+, Count: (\d+)", usage.text)
        done = sum(int(count) for _, count in counts)
        new_orders = re.search(r"tpmC: ([0-9.]+)", usage.text)
        return Count(done, done / (work.seconds or 1), sum(map(int, failed)), float(new_orders.group(1)) if new_orders else None)

    def _tpcc(self, work, action):
        place = work.endpoint
        # A socket's directory goes with the parameters of the connection.
        host = ["-H", "localhost", "--conn-params", f"sslmode=disable&host={place['host']}"] if place["host"].startswith("/") else [
            "-H", place["host"], "--conn-params", "sslmode=disable"]
        return [self.path, "tpcc", action, "-d", "postgres", *host, "-P", str(place["port"]), "-U", place["user"], "-D", place["dbname"],
                "--warehouses", str(work.scale)]
