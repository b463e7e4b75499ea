"""pgbench, of each version that is installed; and pgdyno's drop-in, which takes the same options."""

import glob
import os
import re
import shutil
import subprocess

from . import Count, Peer


def versions():
    """All that are installed, the newest first."""
    directories = [*glob.glob("/usr/lib/postgresql/*/bin"), *glob.glob("/usr/pgsql-*/bin"), *os.get_exec_path()]
    paths = filter(None, (shutil.which("pgbench", path=directory) for directory in directories))
    peers = {}
    for path in paths:
        peer = Pgbench(path)
        peers.setdefault(peer.version(), peer)
    return sorted(peers.values(), key=lambda peer: [int(n) for n in re.findall(r"\d+", peer.name)], reverse=True)


class Pgbench(Peer):
    scripts = ("select-only", "tpcb-like", "tpcb-pipeline")
    counts_connecting = True
    keeps_rates = True

    def __init__(self, path):
        self.path, self.program = path, [path]
        self.name = "pgbench " + re.search(r"[\d.]+\w*", self.version()).group(0)

    def version(self):
        return subprocess.run([self.path, "--version"], capture_output=True, text=True).stdout.strip()

    def refuses(self, work):
        if work.script == "tpcb-pipeline" and work.mode == "simple":
            return "a pipeline needs the extended protocol"
        return super().refuses(work)

    def command(self, work):
        # From a file: for its built-in scripts it asks the tables how many rows there are.
        path = os.path.join(work.scratch, work.script + ".sql")
        with open(path, "w") as f:
            f.write(self.script(work.script))
        length = ["-t", str(work.transactions)] if work.transactions else ["-T", str(max(1, round(work.seconds)))]
        length += ["-R", str(work.rate)] if work.rate else []
        return [*self.program, "-n", "-f", path, "-s", str(work.scale), "-M", work.mode, "-c", str(work.clients),
                "-j", str(work.threads), *length, work.endpoint.dsn]

    def script(self, name):
        """As pgbench itself has it; the pipeline is the same statements between the two commands."""
        builtin = "select-only" if name == "select-only" else "tpcb-like"
        shown = subprocess.run([self.path, f"--show-script={builtin}"], capture_output=True, text=True)
        lines = (shown.stderr or shown.stdout).splitlines()
        if name == "tpcb-pipeline":
            first = next(n for n, line in enumerate(lines) if line.startswith("BEGIN"))
            lines = [*lines[:first], r"\startpipeline", *lines[first:], r"\endpipeline"]
        return "\n".join(lines) + "\n"

    def count(self, work, usage):
        if "tps = " not in usage.text:
            raise ValueError(f"not one transaction in {work.seconds:.1f} s")
        done = int(re.search(r"actually processed: (\d+)", usage.text).group(1))
        failed = re.search(r"failed transactions: (\d+)", usage.text)
        return Count(done, float(re.search(r"^tps = ([0-9.]+)", usage.text, re.M).group(1)), int(failed.group(1)) if failed else 0)


class DropIn(Pgbench):
    """`pgdyno pgbench`: pgbench's options and messages."""

    def __init__(self, pgdyno, newest):
        self.path, self.program, self.name = newest.path, [pgdyno, "pgbench"], "pgdyno pgbench"
