"""The servers that drivers are held against: one of our own, a given one, and one that answers at once."""

import glob
import os
import re
import secrets
import shutil
import subprocess
import tempfile
import time
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

import measure


def newest(program):
    found = glob.glob(f"/usr/lib/postgresql/*/bin/{program}")
    found.sort(key=lambda path: float(path.split("/")[4]))
    return found[-1] if found else shutil.which(program)


class Endpoint:
    """Where a server is, in libpq's keywords. A password stays out of command lines: it goes by the environment."""

    def __init__(self, keywords):
        self.keywords = dict(keywords)
        self.password = self.keywords.pop("password", None)

    @classmethod
    def parse(cls, text):
        if not re.match(r"postgres(ql)?://", text):
            pairs = re.findall(r"(\w+)\s*=\s*('(?:[^'\\]|\\.)*'|\S+)", text)
            return cls((key, re.sub(r"\\(.)", r"\1", value.strip("'"))) for key, value in pairs)
        url = urlsplit(text)
        found = {"host": url.hostname, "port": url.port, "user": url.username, "password": url.password, "dbname": url.path[1:]}
        return cls({**{key: unquote(str(value)) for key, value in found.items() if value}, **dict(parse_qsl(url.query))})

    def __getitem__(self, key):
        return self.keywords.get(key, {"host": "localhost", "port": "5432", "user": "postgres", "dbname": "postgres"}.get(key))

    def database(self, name):
        return Endpoint({**self.keywords, "dbname": name, **({"password": self.password} if self.password else {})})

    @property
    def dsn(self):
        return " ".join(f"{key}={quoted(str(value))}" for key, value in self.keywords.items())

    @property
    def url(self):
        """The same as a URL."""
        more = {key: value for key, value in self.keywords.items() if key not in ("host", "port", "user", "dbname")}
        place = f"{self['host']}:{self['port']}"
        if self["host"].startswith("/"):
            place, more = "", {**more, "host": self["host"], "port": self["port"]}
        return f"postgres://{quote(self['user'])}@{place}/{quote(self['dbname'])}?{urlencode(more)}"

    @property
    def env(self):
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PG") or key == "PGDYNO"}
        return {**kept, "PGPASSWORD": self.password} if self.password else kept


def quoted(value):
    """A value as libpq's connection strings have it."""
    if re.fullmatch(r"[\w./-]+", value):
        return value
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


class Server:
    """A PostgreSQL server; `pid` is its first process, where that is on this machine."""

    pid = None
    endpoints = {}

    def sql(self, text, database=None):
        endpoint = next(iter(self.endpoints.values()))
        endpoint = endpoint.database(database) if database else endpoint
        done = subprocess.run([newest("psql"), "-qAtX", "-v", "ON_ERROR_STOP=1", "-c", text, endpoint.dsn],
                              capture_output=True, text=True, env=endpoint.env)
        if done.returncode != 0:
            raise measure.Failed(f"{text}: {done.stderr.strip()}")
        return done.stdout.strip()

    def transactions(self, database):
        """How many the server has seen in a database."""
        return int(self.sql(f"select xact_commit + xact_rollback from pg_stat_database where datname = '{database}'"))

    def cpu_s(self):
        return measure.tree_cpu_s(self.pid) if self.pid else None

    def pin(self, cpus):
        """Binds the server to these CPUs; new backends inherit it."""
        for pid in [self.pid, *measure.children(self.pid)]:
            try:
                os.sched_setaffinity(pid, cpus)
            except ProcessLookupError:
                pass  # it ended meanwhile

    def settle(self):
        """Waits until the backends of the last program are gone, so that their time is known."""
        deadline = time.monotonic() + 20
        while len(measure.children(self.pid)) > self.resting and time.monotonic() < deadline:
            time.sleep(0.02)

    def rest(self):
        """How many processes the server has when nobody is connected."""
        time.sleep(0.3)
        self.resting = len(measure.children(self.pid)) if self.pid else 0

    def settings(self):
        names = "shared_buffers max_wal_size wal_level fsync synchronous_commit full_page_writes autovacuum max_connections".split()
        return {name: self.sql(f"show {name}") for name in names}


class Private(Server):
    """A server for the bench alone, in a directory that goes away with it; reached by a socket and by loopback."""

    def __init__(self, connections, port=0):
        self.connections, self.port = connections, port

    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="pgdyno-versus-")
        # PostgreSQL refuses to run as root.
        self.owner = "postgres" if os.geteuid() == 0 else None
        if self.owner:
            shutil.chown(self.home, self.owner)
        self.data = os.path.join(self.home, "data")
        password = secrets.token_hex(16)
        secret = os.path.join(self.home, "password")
        with open(secret, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as f:
            f.write(password)
        if self.owner:
            shutil.chown(secret, self.owner)
        port = str(self.port or free_port())
        # Clear text on loopback: a hash for each of a thousand connections would outweigh what is measured.
        self._run("initdb", "-D", self.data, "-U", "postgres", "-N", "--auth-local=trust", "--auth-host=password", f"--pwfile={secret}")
        os.remove(secret)
        with open(os.path.join(self.data, "postgresql.conf"), "a") as f:
            f.write(f"listen_addresses = '127.0.0.1'\nport = {port}\nunix_socket_directories = '{self.home}'\n"
                    f"max_connections = {self.connections}\nshared_buffers = '1GB'\nmax_wal_size = '8GB'\nautovacuum = off\n"
                    "checkpoint_timeout = '1h'\n")
        self._run("pg_ctl", "-D", self.data, "-l", os.path.join(self.home, "log"), "-w", "start")
        with open(os.path.join(self.data, "postmaster.pid")) as f:
            self.pid = int(f.readline())
        common = {"port": port, "user": "postgres", "dbname": "postgres"}
        self.endpoints = {
            "unix": Endpoint({"host": self.home, **common}),
            "tcp": Endpoint({"host": "127.0.0.1", **common, "sslmode": "disable", "password": password}),
        }
        self.version = self.sql("show server_version")
        self.rest()
        return self

    def __exit__(self, *_):
        subprocess.run([newest("pg_ctl"), "-D", self.data, "-w", "-m", "immediate", "stop"], user=self.owner, cwd="/",
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.home, ignore_errors=True)

    def _run(self, program, *arguments):
        # No pipe: the server would keep it open.
        with tempfile.TemporaryFile() as out:
            done = subprocess.run([newest(program), *arguments], stdout=out, stderr=out, user=self.owner, cwd=self.home)
            out.seek(0)
            if done.returncode != 0:
                shutil.rmtree(self.home, ignore_errors=True)
                raise measure.Failed(f"{program} failed:\n{out.read().decode()}")


class Given(Server):
    """The server that --target names. Where it runs on this machine its CPU time is known, and it can be pinned."""

    def __init__(self, text):
        endpoint = Endpoint.parse(text)
        self.endpoints = {"unix" if str(endpoint["host"]).startswith("/") else "tcp": endpoint}

    def __enter__(self):
        self.version = self.sql("show server_version")
        self.pid = self._postmaster()
        self.rest()
        return self

    def __exit__(self, *_):
        if self.pid:
            self.pin(os.sched_getaffinity(0))

    def _postmaster(self):
        try:
            pid = int(self.sql("select split_part(pg_read_file('postmaster.pid'), e'\\n', 1)"))
            with open(f"/proc/{pid}/comm") as f:
                return pid if f.read().strip() in ("postgres", "postmaster") else None
        except (measure.Failed, OSError, ValueError):
            return None


class Answering(Server):
    """A program that answers at once: pgdyno's null server, or the bare echo. One thread, on a CPU of its own."""

    resting = 0

    def __init__(self, command, transport, cpus, keywords):
        self.command, self.transport, self.cpus, self.keywords = command, transport, cpus, keywords

    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="pgdyno-versus-")
        port = free_port()
        where = ["--socket-dir", self.home] if self.transport == "unix" else ["--port", str(port)]
        pin = lambda: os.sched_setaffinity(0, self.cpus)
        self.process = subprocess.Popen([*self.command, *where], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                        preexec_fn=pin, start_new_session=True)
        if "ready" not in self.process.stdout.readline():
            measure.end(self.process)
            raise measure.Failed(f"{self.command} does not listen")
        place = {"host": self.home, "port": "5432"} if self.transport == "unix" else {"host": "127.0.0.1", "port": str(port)}
        self.endpoints = {self.transport: Endpoint({**place, **self.keywords})}
        self.pid = self.process.pid
        return self

    def __exit__(self, *_):
        measure.end(self.process)
        shutil.rmtree(self.home, ignore_errors=True)

    def settle(self):
        pass


def null(pgdyno, transport, cpus):
    return Answering([pgdyno, "server", "null"], transport, cpus, {"user": "null", "dbname": "null", "sslmode": "disable"})


def free_port():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
