#!/usr/bin/env python3
"""The tables of docs/performance.md again, and what moved since they were measured last.

usage: benches/versus/nightly.py [--quick] [--go-ycsb PROGRAM] [--ycsb DIR] [OPTIONS OF run.py: --hammerdb DIR --go-tpc PROGRAM …]

Runs run.py, then key_value.py with 4 and with 64 clients, each into a directory of its own under benches/results, and compares the figures with
the newest ones there. About an hour on two CPUs that nobody else uses. Ends with 1 if a figure is worse or something could not be measured.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

import moved
from store import ROOT, Store

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="that all of it works; the figures are worthless, and nothing is kept")
    parser.add_argument("--go-ycsb", metavar="PROGRAM")
    parser.add_argument("--ycsb", metavar="DIR")
    options, of_run = parser.parse_known_args()
    quick = ["--quick"] if options.quick else []
    kits = [word for name in ("go_ycsb", "ycsb") if getattr(options, name) for word in ("--" + name.replace("_", "-"), getattr(options, name))]
    place = tempfile.mkdtemp() if options.quick else os.path.join(ROOT, "benches", "results")
    begun = os.path.join(place, time.strftime("%Y-%m-%d-%H%M", time.gmtime()))
    steps = [(f"{begun}-versus", ["run.py", *quick, *of_run])]
    steps += [(f"{begun}-key-value-{clients}", ["key_value.py", *quick, *kits, "--clients", str(clients)]) for clients in (4, 64)]
    failed = worse = False
    for directory, (script, *arguments) in steps:
        failed |= subprocess.run([os.path.join(HERE, script), *arguments, "--results", directory]).returncode != 0
        if os.path.exists(os.path.join(directory, "measurements.jsonl")):
            print(f"== {os.path.basename(directory)}: what moved", flush=True)
            after = Store(directory)
            failed |= bool(after.failures())
            worse |= moved.compare(after, moved.newest(after))
    return int(failed or worse)


if __name__ == "__main__":
    sys.exit(main())
