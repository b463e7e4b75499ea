"""The bare echo: the same bytes by send, recv and epoll alone (crates/pgdyno-null/examples/echo.rs)."""

from . import Count, Peer


class Echo(Peer):
    name = "bare echo"
    scripts = ("select-only",)
    modes = ("prepared",)

    def __init__(self, path):
        self.path = path

    def command(self, work):
        # It has no count of transactions: a hundredth of a second is its start.
        seconds = work.seconds if work.transactions is None else 0.01
        return [self.path, "drive", str(work.endpoint["host"]), str(work.endpoint["port"]), str(work.clients), str(seconds)]

    def count(self, work, usage):
        done = int(usage.text)
        return Count(done, done / (work.seconds or 0.01))
