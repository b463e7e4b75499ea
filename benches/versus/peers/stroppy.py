"""Stroppy: TPC-C by SQL of the client."""

import json
import os
import re
import subprocess

from . import Count, Peer

LOAD = "drop_schema,create_schema,load_data,create_indexes,create_foreign_keys,analyze,validate_population"


class Stroppy(Peer):
    name = "Stroppy"
    scripts = ("tproc-c-client",)
    prepared = "End of 'validate_population' step"
    # It numbers the rows of history from the same number in each run, and they have a primary key.
    before_sql = "truncate history"

    def __init__(self, path):
        self.path = os.path.abspath(path)

    def version(self):
        said = subprocess.run([self.path, "version"], capture_output=True, text=True).stdout
        return " ".join(said.split())

    def env(self, work):
        return {**super().env(work), "HOME": work.scratch}  # it keeps files there

    def prepare(self, work):
        yield [*self._tpcc(work), "--load-workers", "2", "--steps", LOAD]

    def command(self, work):
        length = ["--executor", "shared-iterations", "--iterations", str(work.transactions * work.clients)] if work.transactions else [
            "--executor", "constant-vus", "--duration", f"{work.seconds:.0f}s"]
        return [*self._tpcc(work), "--steps", "workload", "--vus", str(work.clients), *length]

    def count(self, work, usage):
        found = re.search(r'^\{"compliance".*$', usage.text, re.M)
        if not found:
            raise ValueError(f"no result: {(usage.errors or usage.text)[-300:]}")
        report = json.loads(found.group(0))["compliance"]
        # It ends with status 0 where all users were lost, and counts what failed among the rest.
        told = dict(re.findall(r"^ +(tx_errors_total|tpcc_rollback_done) +(\d+)", usage.errors, re.M))
        failed = int(told.get("tx_errors_total", 0)) - int(told.get("tpcc_rollback_done", 0))
        done = sum(kind["count"] for kind in report["transactions"]) - failed
        if done <= 0:
            raise ValueError(f"no transaction: {usage.errors[-300:]}")
        return Count(done, done / report["elapsed_seconds"], failed, report["tpm_c"])

    def _tpcc(self, work):
        # The server's default isolation is what the others run with.
        return [self.path, "run", "tpcc/tx", "-d", "pg", "-D", f"url={work.endpoint.url}", "--scale-factor", str(work.scale),
                "--tx-isolation", "read_committed"]
