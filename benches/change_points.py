#!/usr/bin/env python3
"""How often change points are false, and how soon a step is found: pgdyno's own simulation, and Apache Otava on the same kinds of noise.

usage: benches/change_points.py [TIMES]     needs Python with apache-otava for the second part (tried with 0.8.0)
"""

import math
import random
import subprocess
import sys
from pathlib import Path

# Otava's defaults.
OPTIONS = {"window_len": 50, "max_pvalue": 0.001, "min_magnitude": 0.0}


def noise(kind, n, rng):
    """A series of mean 0 and a standard deviation of about 1, as in change_points/simulation.rs."""
    one = {
        "Normal": lambda at: rng.gauss(0, 1),
        "Skewed": lambda at: (math.exp(0.5 * rng.gauss(0, 1)) - math.exp(0.125)) / 0.604,
        "HeavyTailed": lambda at: rng.gauss(0, 1) / math.sqrt(sum(rng.gauss(0, 1) ** 2 for _ in range(3))),
        "Outliers": lambda at: rng.gauss(0, 1) - (10 if rng.random() < 0.05 else 0),
        "Louder": lambda at: rng.gauss(0, 1) * (3 if at >= n // 2 else 1),
    }
    if not kind.startswith("Inherited"):
        return [one[kind](at) for at in range(n)]
    rho, series = float(kind[10:-1]), [rng.gauss(0, 1)]
    while len(series) < n:
        series.append(rho * series[-1] + math.sqrt(1 - rho * rho) * rng.gauss(0, 1))
    return series


def history(kind, n, rng, deviation=0.02, at=0, ratio=1.0):
    return [1000 * (ratio if nth >= at else 1) * math.exp(deviation * v) for nth, v in enumerate(noise(kind, n, rng))]


def otava(times):
    from otava.analysis import compute_change_points

    def places(series):
        points, _ = compute_change_points(series, **OPTIONS)
        return [point.index for point in points]

    rng = random.Random(7)
    print(f"\nApache Otava with its defaults {OPTIONS}")
    print(f"histories of 100 equal runs that show a change point after any of their runs, of {times}")
    for kind in ["Normal", "Skewed", "HeavyTailed", "Outliers", "Louder", "Inherited(0.2)", "Inherited(0.4)"]:
        shows = lambda series: any(places(series[:end]) for end in range(6, 101))
        share = sum(shows(history(kind, 100, rng)) for _ in range(times)) / times
        print(f"{kind}: {100 * share:.1f} %", flush=True)
    print(f"\nsteps: noise, ratio, runs before + after: shown within two runs of its place, another one; of {times}")
    for kind, deviation, ratio, before, after in [
        ("Normal", 0.01, 0.8, 5, 3),
        ("Normal", 0.01, 0.95, 10, 5),
        ("Normal", 0.01, 0.95, 30, 5),
        ("Normal", 0.02, 0.95, 30, 8),
        ("Normal", 0.02, 1.05, 30, 10),
        ("HeavyTailed", 0.02, 0.95, 30, 10),
        ("Outliers", 0.01, 0.95, 30, 8),
    ]:
        found = others = 0
        for _ in range(times):
            at = places(history(kind, before + after, rng, deviation, before, ratio))
            found += any(abs(one - before) <= 2 for one in at)
            others += any(abs(one - before) > 2 for one in at)
        print(f"{kind} {deviation} {ratio} {before}+{after}: {found / times:.3f} {others / times:.3f}", flush=True)
    print(f"\ndrifts over 60 runs: noise, total: mean number of change points; of {times}")
    for deviation, total in [(0.01, 0.2), (0.02, 0.2), (0.02, 0.1), (0.02, -0.5)]:
        count = 0
        for _ in range(times):
            series = history("Normal", 60, rng, deviation)
            count += len(places([v * math.exp(total * nth / 59) for nth, v in enumerate(series)]))
        print(f"{deviation} {total}: {count / times:.1f}", flush=True)


if __name__ == "__main__":
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    command = ["cargo", "test", "--release", "-p", "pgdyno-measure", "the_table", "--", "--ignored", "--nocapture"]
    ran = subprocess.run(command, cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=True)
    print("\n".join(line for line in ran.stdout.splitlines() if ":" in line and not line.startswith("test ")), flush=True)
    otava(times)
