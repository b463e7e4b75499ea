#!/usr/bin/env python3
"""The first command from nothing: what `cargo build` takes with an empty target directory, in turns.

usage: benches/first_build.py [--rounds N] [PROFILE ...]

The profiles are release, that of `cargo run --release`, and dist, that of packages, unless others are named. The sources of all crates are
fetched before. Says the size of the binary, and which units took longest (`cargo build --timings`).
"""

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import tempfile
import time

from harness import ROOT, bench, busy_elsewhere, say

LARGEST = 12


def built(profile):
    """Builds once; the wall time, CPU seconds of cargo and its children, CPUs of others, the size of the binary, and the largest units."""
    with tempfile.TemporaryDirectory() as target:
        environment = {**os.environ, "CARGO_TARGET_DIR": target}
        features = ["--features", "dist"] if profile == "dist" else []
        before, others, began = resource.getrusage(resource.RUSAGE_CHILDREN), busy_elsewhere(), time.time()
        subprocess.run(["cargo", "build", "-q", "--locked", "--timings", "--profile", profile, "-p", "pgdyno", *features], cwd=ROOT, env=environment, check=True)
        wall, after = time.time() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        others = (busy_elsewhere() - others - cpu) / wall
        with open(os.path.join(target, "cargo-timings", "cargo-timing.html")) as page:
            units = json.loads(re.search(r"const UNIT_DATA = (\[.*?\]);", page.read(), re.S)[1])
        units.sort(key=lambda unit: -unit["duration"])
        largest = ", ".join(f"{unit['name']}{unit['target']} {unit['duration']:.1f} s" for unit in units[:LARGEST])
        return wall, cpu, others, os.path.getsize(os.path.join(target, profile, "pgdyno")), largest


def build():
    version = subprocess.run(["cargo", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    packages = subprocess.run(["cargo", "tree", "-p", "pgdyno", "-e", "normal,build", "--prefix", "none", "--no-dedupe"], cwd=ROOT,
                              capture_output=True, text=True, check=True).stdout.splitlines()
    say(f"## From nothing: {len({' '.join(line.split()[:2]) for line in packages if line})} crates, {version}")
    subprocess.run(["cargo", "fetch", "-q", "--locked"], cwd=ROOT, check=True)
    walls = {}
    for n in range(OPTIONS.rounds):
        for profile in OPTIONS.profiles:
            wall, cpu, others, size, largest = built(profile)
            walls.setdefault(profile, []).append(wall)
            say(f"  {profile:10} wall {wall:6.1f} s   CPU {cpu:6.1f} s   others {others:.2f}   binary {size / 1e6:.1f} MB")
            if n == 0:
                say(f"    the largest units: {largest}")
    for profile, times in walls.items():
        say(f"{profile:12} {statistics.median(times):6.1f} s ({min(times):.1f} to {max(times):.1f})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("profiles", nargs="*", metavar="PROFILE", default=["release", "dist"])
    parser.add_argument("--rounds", type=int, default=2)
    OPTIONS = parser.parse_args()
    bench({"build": build}, build=None, wanted=["build"])
