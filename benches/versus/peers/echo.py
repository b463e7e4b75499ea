"""The bare echo: the same bytes by send, recv and epoll alone (crates/pgdyno-null/examples/echo.rs)."""

from . import Probe


class Echo(Probe):
    name = "bare echo"
    keeps_rates = True

    def command(self, work):
        where = work.endpoint
        return [self.path, "drive", str(where["host"]), str(where["port"]), str(work.clients), str(self.seconds(work)),
                *(["--rate", str(work.rate)] if work.rate else [])]
