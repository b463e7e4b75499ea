"""go-tpc: TPC-C by SQL of the client."""

import os
import re
import subprocess

from . import Count, Peer


class GoTpc(Peer):
    name = "go-tpc"
    scripts = ("tproc-c-client",)
    prepared = "Finished"

    def __init__(self, path):
        self.path = os.path.abspath(path)

    def version(self):
        said = subprocess.run([self.path, "version"], capture_output=True, text=True).stdout
        found = re.search(r"Release version: *(\S+)", said)
        return found.group(1) if found else ""

    def prepare(self, work):
        yield [*self._tpcc(work, "prepare"), "-T", str(work.clients), "--no-check"]

    def command(self, work):
        length = ["--count", str(work.transactions * work.clients)] if work.transactions else ["--time", f"{work.seconds:.0f}s"]
        # By default an error, a deadlock too, ends its user.
        return [*self._tpcc(work, "run"), "-T", str(work.clients), "--ignore-error", *length]

    def count(self, work, usage):
        found = re.findall(r"^\[Summary\] ([A-Z_]+?)(_ERR)? - Takes\(s\): ([0-9.]+), Count: (\d+)", usage.text, re.M)
        if not found:
            raise ValueError(f"no result: {usage.text[-300:]}")
        done = sum(int(count) for _, error, _, count in found if not error)
        failed = sum(int(count) for _, error, _, count in found if error)
        new_orders = sum(int(count) for name, error, _, count in found if name == "NEW_ORDER" and not error)
        seconds = max(float(takes) for _, _, takes, _ in found) or 1.0
        return Count(done, done / seconds, failed, new_orders * 60 / seconds)

    def _tpcc(self, work, action):
        place = work.endpoint
        # A socket's directory goes with the parameters of the connection. The password comes by the environment.
        host = ["-H", "localhost", "--conn-params", f"sslmode=disable&host={place['host']}"] if place["host"].startswith("/") else [
            "-H", place["host"], "--conn-params", "sslmode=disable"]
        return [self.path, "tpcc", action, "-d", "postgres", *host, "-P", str(place["port"]), "-U", place["user"], "-D", place["dbname"],
                "--warehouses", str(work.scale)]
