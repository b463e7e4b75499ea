"""One program measured: what the kernel accounts to it, to the server, and to everybody else meanwhile."""

import os
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass

TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Failed(Exception):
    """A program did not do what was asked of it."""


@dataclass
class Usage:
    """What a program used, from its start to its end. Times in seconds, memory in bytes."""

    user_s: float
    sys_s: float
    rss_bytes: int
    wall_s: float
    server_s: float | None  # absent where the server is not on this machine
    other_cpus: float  # CPUs that neither the program nor the server used
    loopback_bytes: int  # of everybody: what went over loopback meanwhile, headers of IP and TCP included
    text: str
    errors: str

    @property
    def cpu_s(self):
        return self.user_s + self.sys_s


def run(command, cpus=None, server=None, env=None, cwd=None, limit_s=600):
    """Runs a program alone, pinned to `cpus` where they are given. Ctrl-C ends the program, and then us."""
    pin = (lambda: os.sched_setaffinity(0, cpus)) if cpus else None
    server_s = server.cpu_s() if server else None
    busy_s, loopback, begun = machine_busy_s(), loopback_bytes(), time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, preexec_fn=pin, cwd=cwd, env=env, start_new_session=True)
        status, usage, rss_bytes = reap(process, begun + limit_s)
        wall_s = time.monotonic() - begun
        out.seek(0), err.seek(0)
        text, errors = (without_password(file.read().decode(errors="replace"), env) for file in (out, err))
    if status != 0:
        raise Failed(f"{os.path.basename(command[0])} ended with {status}: {(errors or text).strip()[-600:]}")
    if server_s is not None:
        server.settle()
        server_s = server.cpu_s() - server_s
    used = usage.ru_utime + usage.ru_stime + (server_s or 0.0)
    others = max(0.0, machine_busy_s() - busy_s - used) / (time.monotonic() - begun)
    return Usage(usage.ru_utime, usage.ru_stime, rss_bytes, wall_s, server_s, others, loopback_bytes() - loopback, text, errors)


def without_password(text, env):
    """What a program wrote, should it have written the password that it was given."""
    password = (env or {}).get("PGPASSWORD")
    return text.replace(password, "***") if password else text


def reap(process, deadline):
    """Waits for a process; its exit status and usage, children that it waited for included, and its largest memory."""
    rss_bytes = 0
    try:
        while True:
            rss_bytes = max(rss_bytes, resident_bytes(process.pid))
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                return process.returncode, usage, rss_bytes
            if time.monotonic() > deadline:
                raise Failed(f"{process.args[0]} has not ended in time")
            time.sleep(0.02)
    except BaseException:
        end(process)
        raise


def resident_bytes(pid):
    """The largest resident memory so far. The kernel's ru_maxrss counts what the bench itself had when it made the process."""
    try:
        with open(f"/proc/{pid}/status") as f:
            found = [line.split()[1] for line in f if line.startswith("VmHWM")]
        return int(found[0]) * 1024 if found else 0
    except OSError:
        return 0


def end(process):
    """Ends a process that we started, and what it started in its session."""
    if process.returncode is None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
                process.wait(5)
                return
            except ProcessLookupError:
                return
            except subprocess.TimeoutExpired:
                pass


def machine_busy_s():
    """CPU seconds of the whole machine so far, all processes."""
    with open("/proc/stat") as f:
        fields = [int(n) for n in f.readline().split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / TICKS_PER_S


def loopback_bytes():
    """Bytes that the loopback device has carried, each once."""
    with open("/proc/net/dev") as f:
        return next(int(line.split(":")[1].split()[0]) for line in f if line.strip().startswith("lo:"))


def tree_cpu_s(pid):
    """CPU seconds of a process and its children, those that have ended included."""
    ticks = 0
    for member in [*children(pid), pid]:
        try:
            with open(f"/proc/{member}/stat") as f:
                ticks += sum(int(n) for n in f.read().rsplit(")", 1)[1].split()[11:15])
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended meanwhile: its parent has its time
    return ticks / TICKS_PER_S


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            return [int(n) for n in f.read().split()]
    except FileNotFoundError:
        return []
