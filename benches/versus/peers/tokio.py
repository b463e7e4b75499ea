"""tokio-postgres, driven by the probe in `tokio-probe/`, one thread."""

from . import Count, Peer


class TokioPostgres(Peer):
    name = "tokio-postgres"
    scripts = ("select-only",)
    modes = ("prepared",)

    def __init__(self, path):
        self.path = path

    def command(self, work):
        seconds = work.seconds if work.transactions is None else 0.01
        return [self.path, work.endpoint.dsn, str(work.clients), str(seconds), str(work.scale)]

    def count(self, work, usage):
        done = int(usage.text)
        return Count(done, done / (work.seconds or 0.01))
