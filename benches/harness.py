"""What the benches share: timing a process, the private server, keeping what was printed."""

import glob
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PGDYNO = os.path.join(ROOT, "target", "release", "pgdyno")
PAIRS = int(os.environ.get("PAIRS", "5"))
SECONDS = int(os.environ.get("SECONDS_EACH", "5"))
LOG = []


def say(text=""):
    print(text, flush=True)
    LOG.append(text)


def newest(program):
    found = glob.glob(f"/usr/lib/postgresql/*/bin/{program}")
    found.sort(key=lambda p: int(p.split("/")[4]))
    return found[-1] if found else shutil.which(program)


def timed(command, cpu=None):
    """Runs a command on its own; its output and the CPU seconds (user, system) that the kernel accounts to it."""
    pin = (lambda: os.sched_setaffinity(0, {cpu})) if cpu is not None else None
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, preexec_fn=pin, cwd=SCRATCH)
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


def server_cpu(pid):
    """CPU seconds of a postmaster and all of its children that have ended."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return sum(int(n) for n in fields[11:15]) / os.sysconf("SC_CLK_TCK")


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
        children = subprocess.run(["pgrep", "-P", str(self.pid)], capture_output=True, text=True).stdout.split()
        for pid in [self.pid, *map(int, children)]:
            try:
                os.sched_setaffinity(pid, cpus)
            except ProcessLookupError:
                pass  # a worker of the server that has ended meanwhile

    def sql(self, text):
        psql = newest("psql")
        command = [psql, "-h", self.host, "-p", self.port, "-U", "postgres", "-qAtX", "-v", "ON_ERROR_STOP=1", "-c", text, "postgres"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def bench(parts, build=("-p", "pgdyno", "--bins")):
    """Builds, runs the parts that the command line names or all of them, and keeps what they said."""
    global SCRATCH
    subprocess.run(["cargo", "build", "--release", "-q", *build], cwd=ROOT, check=True)
    wanted = sys.argv[1:] or list(parts)
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
