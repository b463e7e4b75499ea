#!/usr/bin/env python3
"""How much sooner slices in turns decide than separate runs: from the slices of experiments A against A, or of a known difference.

usage: benches/ab_sooner.py FILE...     what benches/ab.py printed

A slice is freed of its side's mean, so that only noise is left. Then the same measured time is divided in two ways: in turns, as
`pgdyno ab` does (the contrast of a unit's slices, A B B A), and as separate runs would (first A, then B: the contrast of a unit's
first and second half, and of one, two, four or eight units with the next ones). The variance of a contrast, for the same measured
time, goes as the time until a decision: a ratio of 3 is three times as long.
"""

import sys
from math import log, sqrt


def units(path):
    """Yields experiments: units of (side, logarithm of the throughput), in the order in which they were measured."""
    experiment = []
    with open(path) as lines:
        for line in lines:
            words = line.split()
            if words[:1] == ["log-ratios:"] and experiment:
                yield experiment
                experiment = []
            if words[:1] == ["slices:"]:
                experiment.append([(word[0], log(float(word[2:]))) for word in words[1:]])
    if experiment:
        yield experiment


def mean(values):
    return sum(values) / len(values)


RUNS = [1, 2, 4, 8]
contrasts = {"in turns, A B B A": [], "half a unit of A, then half of B": []}
contrasts |= {f"{n} unit{'s' * (n > 1)} of A, then {n} of B": [] for n in RUNS}
turns, halves, *separate = contrasts.values()
for path in sys.argv[1:]:
    for experiment in units(path):
        level = {side: mean([value for unit in experiment for s, value in unit if s == side]) for side in "ab"}
        noise = [[(side, value - level[side]) for side, value in unit] for unit in experiment]
        for unit in noise:
            a, b = ([value for side, value in unit if side == s] for s in "ab")
            turns.append(mean(b) - mean(a))
            values = [value for _, value in unit]
            halves.append(mean(values[2:]) - mean(values[:2]))
        means = [mean([value for _, value in unit]) for unit in noise]
        for n, found in zip(RUNS, separate):
            runs = [mean(means[at:at + n]) for at in range(0, len(means) - n + 1, n)]
            # 2n units in all: freed of that, for the time of one.
            found += [(after - before) * sqrt(2 * n) / 2 for before, after in zip(runs[::2], runs[1::2])]

least = mean([v * v for v in turns])
print(f"{len(turns)} units of four slices; the contrast of B to A, for the measured time of one unit")
for name, found in contrasts.items():
    variance = mean([v * v for v in found]) if found else float("nan")
    print(f"{name:34} {100 * sqrt(variance):5.1f} %   {variance / least:4.1f} times the time   ({len(found)} contrasts)")
