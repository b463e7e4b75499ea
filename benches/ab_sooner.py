#!/usr/bin/env python3
"""How much sooner slices in turns decide than separate runs: from the slices of experiments A against A, or of a known difference.

usage: benches/ab_sooner.py FILE...     what benches/ab.py printed

A slice is freed of its side's mean, so that only noise is left. Then the same measured time is divided in two ways: in turns, as
`pgdyno ab` does (the contrast of a unit's slices, A B B A), and as separate runs would (all of A first, then all of B: the contrast of
a unit's first and second half, and of whole units, one for A and the next for B). The variance of a contrast for the same measured
time is the time until a decision: a ratio of 3 is three times as long.
"""

import statistics
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


turns, halves, whole = [], [], []
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
        # Two units of four slices: half of the variance for the time of one.
        whole += [(after - before) / sqrt(2) for before, after in zip(means[::2], means[1::2])]

deviation = {name: sqrt(mean([v * v for v in values])) for name, values in
             [("in turns, A B B A", turns), ("two slices of A, then two of B", halves), ("a unit of A, then a unit of B", whole)]}
least = deviation["in turns, A B B A"]
print(f"{len(turns)} units of four slices; the contrast of B to A for the measured time of one unit")
for name, one in deviation.items():
    print(f"{name:32} {100 * one:5.1f} %   {one * one / least ** 2:4.1f} times the time")
