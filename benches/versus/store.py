"""What was measured, kept line by line, so that an interrupted bench loses nothing and goes on where it was."""

import json
import os
import platform
import re
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Store:
    """A directory: `facts.json`, `measurements.jsonl`, `output.txt` with what the programs said, `table.md`."""

    def __init__(self, directory):
        self.directory = directory
        os.makedirs(directory, exist_ok=True)
        self.lines = {}
        path = os.path.join(directory, "measurements.jsonl")
        if os.path.exists(path):
            with open(path) as f:
                for text in f:
                    try:
                        line = json.loads(text)
                    except ValueError:
                        continue  # cut off when the bench was killed
                    self.lines[line["part"], line["peer"], line["kind"], line["n"]] = line
        self.file = open(path, "a")
        self.output = open(os.path.join(directory, "output.txt"), "a")

    def done(self, part, peer, kind, n):
        """The line, where this was measured already and did not fail."""
        line = self.lines.get((part, peer, kind, n))
        return line if line and "failed" not in line else None

    def add(self, part, peer, kind, n, **figures):
        line = {"part": part, "peer": peer, "kind": kind, "n": n, "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), **figures}
        self.lines[part, peer, kind, n] = line
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()
        return line

    def said(self, heading, command, usage):
        """What a program wrote."""
        # Where programs lie on this machine says nothing to others.
        called = " ".join([os.path.basename(command[0]), *map(str, command[1:])])
        told = f"### {heading}\n$ {called}\n{usage.text}{usage.errors}\n"
        self.output.write(told.replace(ROOT + os.sep, ""))
        self.output.flush()

    def of(self, part, peer=None, kind="run"):
        """All lines of a part that did not fail, in the order of their pairs."""
        found = [line for line in self.lines.values() if line["part"] == part and line["kind"] == kind
                 and (peer is None or line["peer"] == peer) and "failed" not in line]
        return sorted(found, key=lambda line: line["n"])

    def failures(self):
        return [line for line in self.lines.values() if "failed" in line]

    def facts(self, new=None):
        path = os.path.join(self.directory, "facts.json")
        facts = {}
        if os.path.exists(path):
            with open(path) as f:
                facts = json.load(f)
        if new:
            facts.update(new)
            with open(path, "w") as f:
                json.dump(facts, f, indent=1)
        return facts

    def write(self, name, text):
        with open(os.path.join(self.directory, name), "w") as f:
            f.write(text)


def machine():
    """What the figures were taken on."""
    with open("/proc/cpuinfo") as f:
        model = re.search(r"model name\s*: (.*)", f.read())
    with open("/proc/meminfo") as f:
        memory = int(re.search(r"MemTotal:\s+(\d+)", f.read()).group(1)) * 1024
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    return {"begun": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "commit": commit, "cpus": os.cpu_count(),
            "cpu": model.group(1) if model else "unknown", "memory_bytes": memory,
            "os": f"{platform.system()} {platform.release()}", "load_average_1min": os.getloadavg()[0]}
