"""The programs that are held against each other, one module each.

A peer has a `name`, says its `version()`, tells by `refuses(work)` why it cannot do some work (or nothing), gives the
`command(work)` line, and reads from the program's output how much was done: `count(work, usage)`. A tool of TPC-C also has
`prepare(work)`, the commands that make its tables, and `prepared`, what the last of them writes when they are complete.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
    """One measurement's work. With `transactions` (of each client) it has no time: what start and connecting cost."""

    script: str  # select-only, tpcb-like, tpcb-pipeline, tproc-c, tproc-c-client
    mode: str  # prepared, simple
    clients: int
    endpoint: object
    scratch: str
    scale: int = 1
    threads: int = 1
    seconds: float = 0.0
    transactions: int | None = None
    rate: int | None = None  # transactions a second; a closed loop without it


@dataclass(frozen=True)
class Count:
    """What a program says that it has done."""

    transactions: int
    tps: float
    failed: int = 0
    nopm: float | None = None


class Peer:
    name = ""
    # Work that it can do.
    scripts = ()
    modes = ("prepared", "simple")
    # Its time begins before its clients connect.
    counts_connecting = False
    # It can be given a rate, and draws arrivals with exponential gaps.
    keeps_rates = False
    # It leaves out transactions that its CPU time has: the server's count of its database is taken for them.
    counted_by_server = False
    # Where it must be started; the bench's scratch directory otherwise.
    cwd = None
    # What its tables need before each run.
    before_sql = None

    def version(self):
        return ""

    def refuses(self, work):
        if work.rate and not self.keeps_rates:
            return f"{self.name} keeps no rate"
        if work.script not in self.scripts:
            return f"{self.name} has no {work.script}"
        if work.mode not in self.modes:
            return f"{self.name} has no {work.mode} protocol"
        return None

    def env(self, work):
        return work.endpoint.env


class Probe(Peer):
    """A small program of our own beside ours: it prints how many select-only transactions it did in its seconds."""

    scripts = ("select-only",)
    modes = ("prepared",)
    # It has no count of transactions to end by: so long is its start.
    start_s = 0.01

    def __init__(self, path):
        self.path = path

    def seconds(self, work):
        return work.seconds if work.transactions is None else self.start_s

    def count(self, work, usage):
        done = int(usage.text)
        return Count(done, done / (work.seconds or self.start_s))
