"""tokio-postgres, driven by the probe in `tokio-probe/`, one thread."""

from . import Probe


class TokioPostgres(Probe):
    name = "tokio-postgres"

    def command(self, work):
        return [self.path, work.endpoint.dsn, str(work.clients), str(self.seconds(work)), str(work.scale)]
