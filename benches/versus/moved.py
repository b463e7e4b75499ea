#!/usr/bin/env python3
"""What moved between two measurements of pgdyno beside its peers.

usage: benches/versus/moved.py AFTER [BEFORE …]

AFTER and BEFORE are directories that run.py and key_value.py keep. Without BEFORE a figure is compared with the newest one under
benches/results that is older than AFTER.

Figures are ratios to a peer that was measured in turns with pgdyno, or pgdyno's own where they depend on no machine (bytes of memory and
network, instructions). One has moved if its median differs by more than 5 % and the ranges of its pairs do not overlap; ratios of less than
three pairs are left out. Ends with 1 if a figure is worse.
"""

import os
import re
import statistics
import sys

from client_cpu import costs
from store import ROOT, Store
from table import spread
from virtual_users import OURS
from virtual_users import PART as VIRTUAL_USERS

# A figure has moved if its median differs by more than this share.
MOVED = 0.05
# Ratios of fewer pairs say nothing of their scatter.
PAIRS_MIN = 3
# The program that a load is held against, by its first word; loads of pgdyno begin with its name.
LOADS = {"load/accounts": "pgbench", "load/tproc-c": "COPY"}


def named(peer):
    """A peer without its version: figures of another one are the nearest that there are."""
    return re.sub(r" \d[\d.]*", "", peer, count=1)


def figures(store):
    """All figures of a store: part and what it is → (values, whether less is better)."""
    found = {}
    for part in dict.fromkeys(line["part"] for line in store.lines.values()):
        peers = list(dict.fromkeys(line["peer"] for line in store.of(part)))
        if part in LOADS:
            found.update(loads(store, part, peers))
        elif part == "memory":
            found.update(memory(store, part))
        elif part == "network":
            found.update({(part, f"bytes of {peer}"): ([cost["loopback_bytes"] for cost in costs(store, part, peer).values()], True) for peer in peers})
        elif part in ("start", "instructions"):
            for line in store.of(part, "pgdyno"):
                found.update({(part, key): ([line[key]], True) for key in ("instructions", "bytes") if key in line})
        elif " beside " in part:
            found.update(beside(part, {peer: operations(store, part, peer) for peer in peers}, ours=lambda peer: "pgdyno"))
        else:
            kinds = {peer: OURS.get(store.of(part, peer)[0].get("script")) for peer in peers} if part == VIRTUAL_USERS else {}
            found.update(beside(part, {peer: costs(store, part, peer) for peer in peers}, ours=lambda peer: kinds.get(peer, "pgdyno")))
    is_ratio = lambda key: " of pgdyno" in key[1]
    return {key: figure for key, figure in found.items() if len(figure[0]) >= (PAIRS_MIN if is_ratio(key) else 1)}


def operations(store, part, peer):
    """Client CPU µs an operation and throughput, pair by pair, of a program that key_value.py measured."""
    bases = {line["n"]: line for line in store.of(part, peer, "base")}
    return {line["n"]: {"client_us": (line["cpu_s"] - bases[line["n"]]["cpu_s"]) / (line["operations"] - bases[line["n"]]["operations"]) * 1e6,
                        "tps": line["tps"]} for line in store.of(part, peer) if line["n"] in bases}


def beside(part, measured, ours):
    """pgdyno's figures by each peer's, pair by pair; those of its other ways of driving by pgbench's."""
    pgbench = next((peer for peer in measured if re.fullmatch(r"pgbench [\d.]+", peer)), None)
    found = {}
    for peer in measured:
        by_pgbench = peer.startswith("pgdyno ") and "," not in peer
        mine, theirs = (peer, pgbench) if by_pgbench else (ours(peer), peer)
        if mine == theirs or mine not in measured or theirs not in measured:
            continue
        for key, what, less in (("client_us", "client CPU", True), ("tps", "throughput", False)):
            # A schedule is met by both: its throughput says nothing.
            if key == "tps" and re.search(r"/R(20k)?/", part):
                continue
            pairs = sorted(measured[mine].keys() & measured[theirs].keys())
            values = [measured[mine][n][key] / measured[theirs][n][key] for n in pairs if measured[theirs][n][key]]
            found[part, f"{what} of {mine} to {named(theirs)}"] = (values, less)
    return found


def loads(store, part, peers):
    """Wall time by that of the program beside it."""
    theirs = next((peer for peer in peers if peer.startswith(LOADS[part])), None)
    seconds = lambda peer: {line["n"]: line.get("alike_s", line["wall_s"]) for line in store.of(part, peer)}
    found = {}
    for peer in peers:
        if theirs and peer.startswith("pgdyno"):
            mine, them = seconds(peer), seconds(theirs)
            found[part, f"time of {peer} to {named(theirs)}"] = ([mine[n] / them[n] for n in sorted(mine.keys() & them.keys())], True)
    return found


def memory(store, part):
    """Bytes of memory for each client."""
    found = {}
    for base, run in zip(store.of(part, "pgdyno", "base"), store.of(part, "pgdyno")):
        found[part, "bytes of a client"] = ([(run["rss_bytes"] - base["rss_bytes"]) / run["clients"]], True)
    return found


def change(before, after, less):
    """The change of the medians, as a share, and whether it is worse; None where nothing moved."""
    then, now = statistics.median(before), statistics.median(after)
    share = now / then - 1 if then else 0.0
    apart = min(after) > max(before) or max(after) < min(before)
    return (share, (share > 0) == less) if apart and abs(share) > MOVED else None


def newest(after):
    """The stores that are older than one, the newest last."""
    results, at = os.path.join(ROOT, "benches", "results"), after.facts().get("begun", "9")
    kept = [os.path.join(results, name) for name in sorted(os.listdir(results))]
    stores = [Store(path) for path in kept if os.path.exists(os.path.join(path, "measurements.jsonl"))]
    # Figures of a run that only showed that all of it works are worthless.
    usable = [store for store in stores if not store.facts().get("options", {}).get("quick") and store.facts().get("begun", "9") < at]
    return sorted(usable, key=lambda store: store.facts()["begun"])


def compare(after, befores):
    """Prints what moved; returns true if a figure is worse."""
    known = {}
    for store in befores:
        # Four clients and 64 are not to be compared, and the parts of key_value.py do not name them.
        if store.facts().get("clients") == after.facts().get("clients"):
            known.update({key: (figure[0], store) for key, figure in figures(store).items()})
    compared = worse = moved = new = 0
    for key, (values, less) in figures(after).items():
        if key not in known:
            new += 1
            continue
        compared += 1
        before, store = known[key]
        found = change(before, values, less)
        if found:
            share, is_worse = found
            moved += 1
            worse += is_worse
            form = "{:,.0f}" if statistics.median(values) > 100 else "{:.2f}"
            print(f"{key[0]}: {key[1]}: {spread(before, form)} → {spread(values, form)}, {share:+.0%}, {'worse' if is_worse else 'better'}"
                  f" (since {store.facts().get('begun')})")
    print(f"{moved} of {compared} figures moved, {worse} for the worse; {new} were not measured before")
    return worse > 0


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    for directory in sys.argv[1:]:
        if not os.path.exists(os.path.join(directory, "measurements.jsonl")):
            sys.exit(f"{directory} has no measurements.jsonl: name a directory that run.py or key_value.py keeps")
    after, *befores = map(Store, sys.argv[1:])
    return int(compare(after, befores or newest(after)))


if __name__ == "__main__":
    sys.exit(main())
