#!/usr/bin/env python3
"""The time of `pgdyno check tproc-c` by two programs in turns.

usage: checks.py OLD NEW WAREHOUSES TARGET [PAIRS]

OLD and NEW are programs, TARGET a connection string to a database with that many warehouses, loaded by either and best after a run. Prints
the seconds of each pair, after one check by each that does not count, and the median of both and of their ratio.
"""
import platform
import statistics
import subprocess
import sys
import time


def seconds(program, warehouses, target):
    begun = time.monotonic()
    check = [program, "check", "tproc-c", "-w", warehouses, "--target", target]
    subprocess.run(check, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - begun


def main():
    programs, (warehouses, target), pairs = sys.argv[1:3], sys.argv[3:5], int((sys.argv[5:] + ["5"])[0])
    print(platform.platform(), "warehouses:", warehouses)
    for program in programs:
        print(subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.strip())
        seconds(program, warehouses, target)
    times = [[seconds(program, warehouses, target) for program in programs] for _ in range(pairs)]
    for old, new in times:
        print(f"{old:.2f} {new:.2f}")
    old, new = (statistics.median(side) for side in zip(*times))
    ratios = sorted(new / old for old, new in times)
    print(f"median {old:.2f} {new:.2f}, ratio {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")


if __name__ == "__main__":
    main()
