#!/usr/bin/env python3
"""The figures of docs/scaling.md that no other bench has: thousands of clients against a null server. See README.md beside this file."""

import json

from harness import PGDYNO, bench, cpu_seconds, say, scratch, timed


def run(name, *options):
    record = scratch("record.json")
    _, usage = timed([PGDYNO, "run", *options, "--target", "null", "--no-check", "-q", "--ramp", "0", "--json", record, "--out", scratch("out")])
    with open(record) as f:
        record = json.load(f)
    summary, client = record["summary"], record["client"]
    say(f"{name}: {summary['tps']:,.0f} TPS, failed {summary['failed']}, CPU in the window "
        f"{(client['cpu_user_s'] + client['cpu_sys_s']) / max(1, summary['committed'] + summary['rolled_back']) * 1e6:.2f} us a transaction, "
        f"of the whole process {cpu_seconds(usage):.2f} s; threads busy {', '.join(f'{busy:.2f}' for busy in client['thread_busy'])}, "
        f"connected after {summary['connect_s']:.2f} s, peak memory {client['rss_bytes_max'] / 2**20:.1f} MiB")
    return client["rss_bytes_max"]


def clients():
    say("## select-only, one thread, a connection each; the null server is a thread of the same process")
    # A peak below that of this script itself is not seen: the kernel hands it down. Memory is told where it is seen to grow.
    few, least = 1, run("    1 client", "select-only", "-c", "1", "-j", "1", "-T", "2")
    for count in (16, 256, 1000, 5000):
        peak = run(f"{count:5,} clients", "select-only", "-c", str(count), "-j", "1", "-T", "5")
        if peak > least * 1.2:
            say(f"    {(peak - least) / (count - few) / 1024:.1f} KiB for each client from {few:,} on")
        few, least = count, peak
    say()


def terminals():
    say("## tproc-c with keying and think times, over 64 connections")
    few, least = 64, run("    64 virtual users", "tproc-c", "--profile", "spec", "-w", "7", "-c", "64", "--connections", "64", "-j", "1", "-T", "10")
    for users in (5000, 50_000):
        peak = run(f"{users:6,} virtual users", "tproc-c", "--profile", "spec", "-w", str(users // 10), "-c", str(users), "--connections", "64",
                   "-j", "1", "-T", "30")
        say(f"    {(peak - least) / (users - few) / 1024:.2f} KiB for each virtual user from {few:,} on")
        few, least = users, peak
    say()


if __name__ == "__main__":
    bench({"clients": clients, "terminals": terminals})
