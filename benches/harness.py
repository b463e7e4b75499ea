"""What the benches share: timing a process, the private server, keeping what was printed."""

import glob
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# A binary given in the environment is taken as it is; otherwise the bench builds its own.
PGDYNO = os.environ.get("PGDYNO", os.path.join(ROOT, "target", "release", "pgdyno"))
# Directory of the server's programs; without it, or where it lacks one, those of the newest one installed.
BIN = os.environ.get("PGBIN")
PAIRS = int(os.environ.get("PAIRS", "5"))
SECONDS = int(os.environ.get("SECONDS_EACH", "5"))
LOG = []


def say(text=""):
    print(text, flush=True)
    LOG.append(text)


def newest(program):
    if BIN and os.path.exists(os.path.join(BIN, program)):
        return os.path.join(BIN, program)
    found = glob.glob(f"/usr/lib/postgresql/*/bin/{program}")
    found.sort(key=lambda p: int(p.split("/")[4]))
    return found[-1] if found else shutil.which(program)


def timed(command, cpu=None, cwd=None, env=None):
    """Runs a command on its own; its output and the CPU seconds (user, system) that the kernel accounts to it and
    to what it waited for."""
    pin = (lambda: os.sched_setaffinity(0, {cpu})) if cpu is not None else None
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=pin, cwd=cwd or SCRATCH, env=env)
        _, status, usage = os.wait4(process.pid, 0)
        out.seek(0), err.seek(0)
        text, errors = out.read().decode(), err.read().decode()
    if status != 0:
        sys.exit(f"{command} failed:\n{text}\n{errors}")
    return text, usage


def busy_elsewhere():
    """CPU seconds of the whole machine so far, all processes."""
    with open("/proc/stat") as f:
        fields = [int(n) for n in f.readline().split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


def cpu_seconds(usage):
    return usage.ru_utime + usage.ru_stime


def server_cpu(pid):
    """CPU seconds of a postmaster and all of its children, those that have ended included."""
    ticks = 0
    for child in [*children(pid), pid]:
        try:
            with open(f"/proc/{child}/stat") as f:
                fields = f.read().rsplit(")", 1)[1].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        ticks += sum(int(n) for n in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def children(pid):
    return [int(n) for n in subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()]


class Server:
    """The private server, kept for the bench."""

    def __enter__(self):
        subprocess.run([PGDYNO, "server", "stop"], capture_output=True)
        subprocess.run([PGDYNO, "server", "start", "--connections", "1100"], check=True, capture_output=True)
        status = subprocess.run([PGDYNO, "server", "status"], check=True, capture_output=True, text=True).stdout
        self.version = re.search(r"PostgreSQL (\S+)", status).group(1)
        self.pid = int(re.search(r"process (\d+)", status).group(1))
        self.host, self.port = re.search(r"-h (\S+) -p (\d+)", status).groups()
        self.dsn = f"host={self.host} port={self.port} user=postgres dbname=postgres"
        return self

    def __exit__(self, *_):
        subprocess.run([PGDYNO, "server", "stop"], capture_output=True)

    def pin(self, cpus):
        for pid in [self.pid, *children(self.pid)]:
            try:
                os.sched_setaffinity(pid, cpus)
            except ProcessLookupError:
                pass  # a worker of the server that has ended meanwhile

    def sql(self, text, database="postgres"):
        psql = newest("psql")
        command = [psql, "-h", self.host, "-p", self.port, "-U", "postgres", "-qAtX", "-v", "ON_ERROR_STOP=1", "-c", text, database]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{text}: {done.stderr.strip()}")
        return done.stdout

    def database(self, name):
        return f"host={self.host} port={self.port} user=postgres dbname={name}"


class OwnServer(Server):
    """A server of the bench alone, in a directory that goes away with it, with the settings given."""

    def __init__(self, **settings):
        self.settings = {"listen_addresses": "", "port": "5432", **settings}

    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="pgdyno-bench-")
        self.owner = "postgres" if os.geteuid() == 0 else None
        if self.owner:
            shutil.chown(self.home, self.owner)
        self.host, self.port = self.home, self.settings["port"]
        self.data = os.path.join(self.home, "data")
        self.settings["unix_socket_directories"] = self.home
        self._run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust")
        with open(os.path.join(self.data, "postgresql.conf"), "a") as f:
            f.writelines(f"{name} = '{value}'\n" for name, value in self.settings.items())
        self._run("pg_ctl", "-D", self.data, "-l", os.path.join(self.home, "log"), "-w", "start")
        with open(os.path.join(self.data, "postmaster.pid")) as f:
            self.pid = int(f.readline())
        self.version = self.sql("show server_version").split()[0]
        self.dsn = self.database("postgres")
        return self

    def __exit__(self, *_):
        self._run("pg_ctl", "-D", self.data, "-w", "-m", "fast", "stop")
        shutil.rmtree(self.home)

    def _run(self, program, *arguments):
        # No pipe: the server would keep it open.
        with tempfile.TemporaryFile() as out:
            done = subprocess.run([newest(program), *arguments], stdout=out, stderr=out, user=self.owner, cwd=self.home)
            out.seek(0)
            if done.returncode != 0:
                sys.exit(f"{program} failed:\n{out.read().decode()}")


class ReadyFiles:
    """The tables of what pgdyno has loaded into `postgres`, as files for COPY on the server."""

    def __init__(self, server):
        self.server = server
        self.tables = server.sql(
            "select relname from pg_class c where relkind = 'r' and relnamespace = 'public'::regnamespace "
            "and relname <> 'pgdyno_stamp' order by 1").split()
        self.rows = sum(int(server.sql(f"select count(*) from {t}")) for t in self.tables)
        directory = server.sql("show data_directory").strip()
        self.files = {t: f"{directory}/bench-{t}.copy" for t in self.tables}
        for table, path in self.files.items():
            server.sql(f"copy {table} to '{path}'")
        self.indexes = server.sql(
            "select indexdef from pg_indexes where schemaname = 'public' and tablename <> 'pgdyno_stamp'").strip().splitlines()
        self.ddl = {t: server.sql(
            "select string_agg(format('%I %s%s', attname, format_type(atttypid, atttypmod), case when attnotnull then ' not null' else '' end), ', ' order by attnum) "
            f"from pg_attribute where attrelid = '{t}'::regclass and attnum > 0").strip() for t in self.tables}

    def copy(self):
        """Tables, rows, indexes, statistics, checkpoint in a schema of its own; seconds, and CPU seconds of the server."""
        before, begun = server_cpu(self.server.pid), time.time()
        self.server.sql("drop schema if exists bench cascade; create schema bench")
        for t in self.tables:
            self.server.sql(f"begin; create table bench.{t} ({self.ddl[t]}); copy bench.{t} from '{self.files[t]}' with (freeze on); commit")
            self.server.sql(f"vacuum analyze bench.{t}")
        for index in self.indexes:
            self.server.sql(index.replace(" ON public.", " ON bench.").replace(" INDEX public.", " INDEX "))
        self.server.sql("checkpoint")
        wall, cpu = time.time() - begun, server_cpu(self.server.pid) - before
        self.server.sql("drop schema bench cascade")
        return wall, cpu


def bench(parts, build=("-p", "pgdyno", "--bins"), wanted=None, kept=True):
    """Builds if there is something to build, runs the parts that are wanted (or the command line names) or all of them, and keeps what they said."""
    global SCRATCH
    # Ended from outside, a bench still stops its servers.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if build and "PGDYNO" not in os.environ:
        subprocess.run(["cargo", "build", "--release", "-q", *build], cwd=ROOT, check=True)
    wanted = (sys.argv[1:] if wanted is None else wanted) or list(parts)
    with open("/proc/cpuinfo") as f:
        model = re.search(r"model name\s*: (.*)", f.read())
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    say(f"# {time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime())}, commit {commit}")
    say(f"{os.cpu_count()} CPUs {model.group(1) if model else ''}, {platform.system()} {platform.release()}, load average {os.getloadavg()[0]:.2f}")
    say()
    with tempfile.TemporaryDirectory() as directory:
        SCRATCH = directory
        try:
            for name in wanted:
                parts[name]()
        finally:
            if kept:
                keep(wanted)


def keep(wanted):
    """What was said so far, whatever came after it."""
    script = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    name = time.strftime("%Y-%m-%d-%H%M", time.gmtime()) + "-" + "-".join([script, *wanted]) + ".txt"
    path = os.path.join(ROOT, "benches", "results", name)
    with open(path, "w") as f:
        f.write("\n".join(LOG) + "\n")
    print(f"kept in {os.path.relpath(path, ROOT)}")


def scratch(name):
    """A file that goes away with the bench."""
    return os.path.join(SCRATCH, name)
