#!/usr/bin/env python3
"""What several drivers cost: against null servers, one driver and teams of agents in turns.

    MEET="host=… dbname=…" PGDYNO=target/release/pgdyno benches/drivers.py [1 2 4 8] > benches/results/….txt

Each agent has two threads, eight clients and a null server of its own. On a machine with fewer CPUs than threads, throughput
is the machine's; the figures that carry over to other machines are CPU time for a transaction and what meeting costs: the CPU time
of an agent's main thread, which does nothing else, and transactions of the meeting server. Then clients wait 5 ms before each
transaction, so that even few CPUs suffice: throughput of k agents over k times that of one.
"""

import json
import glob
import os
import signal
import subprocess
import sys
import tempfile
import time

PGDYNO = os.path.abspath(os.environ.get("PGDYNO", "target/release/pgdyno"))
MEET = os.environ["MEET"]
TEAMS = [int(n) for n in sys.argv[1:]] or [1, 2, 4, 8]
ROUNDS = int(os.environ.get("ROUNDS", "3"))
SECONDS = int(os.environ.get("SECONDS_EACH", "10"))
TICK = os.sysconf("SC_CLK_TCK")


def cpu_s(path):
    """CPU seconds of a process or thread so far."""
    with open(path) as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def meeting():
    """Transactions of the meeting database so far, and bytes of WAL."""
    sql = "select xact_commit + xact_rollback from pg_stat_database where datname = current_database()"
    return int(subprocess.run(["psql", MEET, "-XAtc", sql], check=True, capture_output=True, text=True).stdout)


def record(out):
    with open(sorted(glob.glob(f"{out}/*/run.json"))[-1]) as f:
        return json.load(f)


def run(home, more, workload="select-only"):
    args = [PGDYNO, "run", workload, "--target", "null", "-T", str(SECONDS), "--ramp", "1", "-q", "--out", f"{home}/out"]
    subprocess.run(args + more, check=True, capture_output=True, cwd=home)
    found = record(f"{home}/out")
    # A second too coarse would order two runs wrongly.
    time.sleep(1.1)
    return found


def main():
    load = os.getloadavg()[0]
    print(f"several drivers against null servers, {SECONDS} s each, {ROUNDS} rounds in turns; two threads and eight clients a driver")
    print(f"machine: {os.cpu_count()} CPUs, load {load:.1f} at the beginning; meeting database on the same machine\n")
    with tempfile.TemporaryDirectory() as home:
        alone = []
        teams = {k: [] for k in TEAMS}
        agents = [
            subprocess.Popen([PGDYNO, "agent", "--meet", MEET, "--allow-target", "null", "-q"], cwd=home, stdin=subprocess.DEVNULL)
            for _ in range(max(TEAMS))
        ]
        try:
            time.sleep(3)
            main_threads = [f"/proc/{a.pid}/task/{a.pid}/stat" for a in agents]
            before, queries = [cpu_s(t) for t in main_threads], meeting()
            time.sleep(20)
            idle = [cpu_s(t) - b for t, b in zip(main_threads, before)]
            share = 100 * sum(idle) / len(idle) / 20
            rate = (meeting() - queries) / 20 / len(agents)
            print(f"idle: {share:.2f} % of a CPU an agent, {rate:.1f} transactions a second and agent at the meeting server\n")
            print("drivers  tps        µs/tx  ratio  start spread  clock ±   meeting: % CPU/agent  tx/s/agent")
            for _ in range(ROUNDS):
                found = run(home, ["-c", "8", "-j", "2"])
                alone.append(found["summary"]["client_cpu_us_per_tx"])
                print(f"  alone  {found['summary']['tps']:>9,.0f}  {alone[-1]:5.2f}")
                for k in TEAMS:
                    before, queries, begun = [cpu_s(t) for t in main_threads], meeting(), time.time()
                    found = run(home, ["-c", str(8 * k), "-j", str(2 * k), "--meet", MEET, "--agents", str(k)])
                    took = time.time() - begun
                    names = {d["pid"] for d in found["drivers"]}
                    own = [cpu_s(t) - b for a, t, b in zip(agents, main_threads, before) if a.pid in names]
                    starts = [d["start_ms"] for d in found["drivers"]]
                    clock = max(d["clock_error_ms"] for d in found["drivers"])
                    cost = found["summary"]["client_cpu_us_per_tx"]
                    teams[k].append(cost / alone[-1])
                    idle_agents = len(agents) - k
                    rate_here = ((meeting() - queries) / took - idle_agents * rate) / k
                    print(
                        f"{k:>7}  {found['summary']['tps']:>9,.0f}  {cost:5.2f}  {teams[k][-1]:5.2f}  {max(starts) - min(starts):9.2f} ms"
                        f"  {clock:5.2f} ms  {100 * sum(own) / len(own) / took:17.2f}  {rate_here:10.1f}",
                        flush=True,
                    )
            print("\nCPU time for a transaction relative to one driver alone, median (least to greatest):")
            for k in TEAMS:
                ratios = sorted(teams[k])
                print(f"{k:>7}  {ratios[len(ratios) // 2]:.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})")
            with open(f"{home}/waiting.sql", "w") as f:
                f.write("\\sleep 5 ms\nSELECT 1;\n")
            print("\nclients that wait 5 ms before each transaction, eight a driver")
            print("drivers  tps      over k times that of one agent, median (least to greatest)")
            found = {k: [] for k in TEAMS}
            for _ in range(ROUNDS):
                for k in TEAMS:
                    args = ["-c", str(8 * k), "-j", str(2 * k), "--meet", MEET, "--agents", str(k)]
                    found[k].append(run(home, args, f"{home}/waiting.sql")["summary"]["tps"])
            one = found[TEAMS[0]]
            for k in TEAMS:
                ratios = sorted(tps / (k / TEAMS[0] * base) for tps, base in zip(found[k], one))
                median = sorted(found[k])[len(found[k]) // 2]
                print(f"{k:>7}  {median:>7,.0f}  {ratios[len(ratios) // 2]:.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})")
        finally:
            for a in agents:
                a.send_signal(signal.SIGTERM)
            for a in agents:
                a.wait()


main()
