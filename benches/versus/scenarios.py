"""What is measured, and what is to be reached: one line a cell of the table."""

from dataclasses import dataclass
from fnmatch import fnmatch


@dataclass(frozen=True)
class Case:
    """Client CPU a transaction, pgdyno beside pgbench, one thread each. `goal` is the ratio's upper end."""

    script: str
    regime: str
    transport: str
    clients: int
    goal: float | None = None
    mode: str = "prepared"
    beside: tuple = ()  # other peers, by the first word of their names

    @property
    def rate(self):
        return RATES.get(self.regime)

    @property
    def id(self):
        mode = "" if self.mode == "prepared" else f"-{self.mode}"
        return f"{self.script}{mode}/{self.regime}/{self.transport}/{self.clients}"


REGIMES = {
    "W": "a real server pinned to one CPU, the client to another: the client sleeps and is woken for each reply",
    "B": "a real server and the client unpinned: replies come in batches",
    "R": "both unpinned, an open loop of 10,000 transactions a second with exponential gaps: both sleep most of the time",
    "R20k": "the same with 20,000 a second, which 256 clients of each program can hold: B at equal throughput",
    "S": "the client's thread saturated against a null server on another CPU: its greatest TPS",
}

# Transactions a second of the regimes with a schedule.
RATES = {"R": 10_000, "R20k": 20_000}

# Regime, transport: the goal by the number of clients.
SELECT_ONLY = {
    ("W", "unix"): {16: 0.65, 64: 0.45, 256: 0.28, 1000: 0.28},
    ("W", "tcp"): {16: 0.80, 64: 0.50, 256: 0.28, 1000: 0.28},
    ("B", "unix"): {16: 0.73, 64: 0.80, 256: 0.68},
    ("B", "tcp"): {16: 0.80, 64: 0.80, 256: 0.73},
    ("R", "unix"): {64: 0.60, 256: 0.45},
    ("R", "tcp"): {64: 0.60, 256: 0.45},
    ("R20k", "unix"): {256: 0.68},
    ("R20k", "tcp"): {256: 0.68},
    ("S", "unix"): {16: 0.78, 64: 0.72, 256: 0.72, 1000: 0.78},
    ("S", "tcp"): {16: 0.90, 64: 0.83, 256: 0.92, 1000: 0.95},
}
ROUND_TRIPS = {"unix": {16: 0.80, 64: 0.62}, "tcp": {16: 0.82, 64: 0.63}}
PIPELINE = {"unix": {64: 0.40}, "tcp": {64: 0.52}}


def cases():
    """In the order in which they are measured."""
    for (regime, transport), goals in SELECT_ONLY.items():
        for clients, goal in goals.items():
            beside = ("bare",) if regime in ("S", *RATES) else ()
            if regime in RATES or regime == "W" and clients >= 64:
                beside += ("pgdyno --coalesce",)
            if clients == 64 and transport == "unix" and regime not in RATES:
                beside += ("pgdyno pgbench", "sysbench", "tokio-postgres", "older")
            yield Case("select-only", regime, transport, clients, goal, beside=beside)
    for transport, goals in ROUND_TRIPS.items():
        for clients, goal in goals.items():
            yield Case("tpcb-like", "W", transport, clients, goal)
    for transport, goals in PIPELINE.items():
        for clients, goal in goals.items():
            yield Case("tpcb-pipeline", "S", transport, clients, goal)
    for regime in "WS":
        yield Case("select-only", regime, "unix", 64, mode="simple")


# The parts that are no such cell, with their goals.
PARTS = {
    "tproc-c/run": "client CPU of a TPROC-C transaction, regime B: by procedure, by SQL of the client, and other tools beside each",
    "load/accounts": "pgbench_accounts beside pgbench -i: one table, two partitions",
    "load/tproc-c": "TPROC-C's tables, beside COPY from ready files of the same rows",
    "network": "bytes of a transaction there and back, by TCP, headers of IP and TCP included",
    "memory": "resident memory of 5,000 clients",
    "start": "the time of pgdyno --version, and the binary's size",
    "instructions": "user-mode instructions of a select-only transaction, by callgrind",
}

COST_US_CLIENT_SQL = 50
GOALS = {
    "floor": 1.15,  # of the bare echo, S and R
    "coalesce": 0.30,  # of pgbench, W, 64 clients
    "growth": 1.15,  # from 16 to 1,000 clients, S
    "tokio-postgres": 0.60,  # S, unix
    "hammerdb": 0.25,  # TPROC-C by procedure
    "accounts": 0.80,  # of pgbench -i's wall time
    "accounts-2": 0.65,
    "copy": 0.90,  # rows a second of server CPU, of COPY from ready files
    "warehouse-1": 1.05,  # seconds of wall time a warehouse, by loaders
    "warehouse-2": 0.65,
    "memory": 32,  # KiB a client
    "binary": 25,  # MB
    "version": 10,  # ms
    "instructions": 1000,
}


def chosen(name, patterns):
    """Whether --only wants it: `select-only/W/*`, or the beginning of a name."""
    return not patterns or any(fnmatch(name, pattern) or name.startswith(pattern.rstrip("/") + "/") or name == pattern for pattern in patterns)
