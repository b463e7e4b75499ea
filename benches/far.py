#!/usr/bin/env python3
"""What commands take on a server far away: a proxy delays every byte, in both directions.

usage: benches/far.py [--round-trip MS] [--rounds N] PGDYNO [PGDYNO ...]

The programs take turns, with loaded data of select-only. pgbench is measured beside them.
"""

import argparse
import asyncio
import os
import socket
import statistics
import subprocess
import tempfile
import threading
import time

from harness import OwnServer, newest

COMMANDS = ["plan select-only", "check select-only", "run select-only -c 2 -t 1", "run select-only -c 2 -t 1 --no-check"]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


async def delayed(reader, writer, seconds):
    """Passes on what comes, `seconds` later."""
    queue, clock = asyncio.Queue(), asyncio.get_running_loop().time

    async def send():
        while True:
            due, data = await queue.get()
            await asyncio.sleep(max(0, due - clock()))
            if not data:
                return writer.close()
            writer.write(data)

    sending, data = asyncio.create_task(send()), b"begins"
    while data:
        try:
            data = await reader.read(65536)
        except ConnectionError:
            data = b""
        queue.put_nowait((clock() + seconds, data))
    await sending


def proxy(port, to, seconds):
    async def serve(reader, writer):
        there = await asyncio.open_connection("127.0.0.1", to)
        await asyncio.gather(delayed(reader, there[1], seconds), delayed(there[0], writer, seconds))

    async def run():
        async with await asyncio.start_server(serve, "127.0.0.1", port) as server:
            await server.serve_forever()

    threading.Thread(target=lambda: asyncio.run(run()), daemon=True).start()


def timed(command):
    with tempfile.TemporaryDirectory() as results:
        began = time.time()
        subprocess.run(command, check=True, capture_output=True, cwd=results)
        return time.time() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", metavar="PGDYNO")
    parser.add_argument("--round-trip", type=float, default=50, metavar="MS")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    programs = [os.path.abspath(program) for program in options.programs]
    to, port = free_port(), free_port()
    with OwnServer(listen_addresses="127.0.0.1", port=str(to)):
        near, far = (f"host=127.0.0.1 port={which} user=postgres dbname=postgres" for which in (to, port))
        proxy(port, to, options.round_trip / 2000)
        subprocess.run([programs[0], "load", "select-only", "-s", "1", "--target", near], check=True, capture_output=True)
        print(f"machine: {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the beginning; round trip {options.round_trip:g} ms")
        for line in COMMANDS:
            times = {program: [] for program in options.programs}
            for _ in range(options.rounds):
                for name, program in zip(options.programs, programs):
                    times[name].append(timed([program, *line.split(), "--target", far]))
            for name, values in times.items():
                print(f"{line:40} {name}: {statistics.median(values):5.2f} s ({min(values):.2f} to {max(values):.2f})", flush=True)
        values = [timed([newest("pgbench"), "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "-S", "-c", "2", "-t", "1", "postgres"])
                  for _ in range(options.rounds)]
        print(f"{'pgbench -S -c 2 -t 1':40} {statistics.median(values):5.2f} s ({min(values):.2f} to {max(values):.2f})")


if __name__ == "__main__":
    main()
