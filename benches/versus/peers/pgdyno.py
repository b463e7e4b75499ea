"""pgdyno itself, as its users start it; what it did is read from its record."""

import json
import os
import subprocess

from . import Count, Peer


class Pgdyno(Peer):
    name = "pgdyno"
    scripts = ("select-only", "tpcb-like", "tpcb-pipeline", "tproc-c", "tproc-c-client")
    keeps_rates = True
    options = ()

    def __init__(self, path, samples=False):
        self.path, self.samples = path, samples

    def version(self):
        return subprocess.run([self.path, "--version"], capture_output=True, text=True).stdout.strip()

    def command(self, work):
        what = {
            "tpcb-pipeline": ["tpcb-like", "--pipeline"],
            "tproc-c": ["tproc-c", "--call", "procedure"],
            "tproc-c-client": ["tproc-c", "--call", "client"],
        }.get(work.script, [work.script])
        size = ["-w" if work.script.startswith("tproc-c") else "-s", str(work.scale)]
        length = ["-t", str(work.transactions)] if work.transactions else ["-T", str(work.seconds), "--ramp", "0"]
        length += ["-R", str(work.rate)] if work.rate else []
        samples = [] if self.samples else ["--no-samples"]
        return [self.path, "run", *what, *size, "--target", work.endpoint.dsn, "-M", work.mode, "-c", str(work.clients),
                "-j", str(work.threads), *length, "--no-load", "--no-check", "-q", *samples, *self.options,
                "--json", self._record(work), "--out", os.path.join(work.scratch, "pgdyno-results")]

    def count(self, work, usage):
        with open(self._record(work)) as f:
            summary = json.load(f)["summary"]
        return Count(summary["committed"] + summary["rolled_back"], summary["tps"], summary["failed"], summary.get("nopm"))

    def _record(self, work):
        return os.path.join(work.scratch, "record.json")


class Coalescing(Pgdyno):
    """pgdyno with several replies by one wake-up: they lie unread for up to this long, and its latencies say so."""

    options = ("--coalesce", "200us")
    name = "pgdyno " + " ".join(options)
    scripts = ("select-only",)
