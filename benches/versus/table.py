"""The tables, with the goals beside the figures."""

import statistics

import virtual_users
from client_cpu import costs, ratios
from peers.pgdyno import Coalescing
from scenarios import COST_US_CLIENT_SQL, GOALS, PARTS, REGIMES, cases


def spread(numbers, form="{:.2f}"):
    """Median and range."""
    if not numbers:
        return "–"
    if len(numbers) == 1:
        return form.format(numbers[0])
    return f"{form.format(statistics.median(numbers))} ({form.format(min(numbers))}–{form.format(max(numbers))})"


def verdict(value, goal, most=True):
    if value is None:
        return "not measured"
    met = value <= goal if most else value >= goal
    return "met" if met else "**missed**"


def median(store, part, peer, key):
    found = [cost[key] for cost in costs(store, part, peer).values() if cost[key] is not None]
    return statistics.median(found) if found else None


def figure(value, form="{:.2f}"):
    return "–" if value is None else form.format(value)


def line_of(store, case, theirs):
    """One cell in one line, as it is printed while the bench runs."""
    part = case.id
    text = f"{part:34}"
    for peer in peers_of(store, part):
        client, server, tps = (median(store, part, peer, key) for key in ("client_us", "server_us", "tps"))
        text += f" {peer}: {figure(client)} us, server {figure(server, '{:.1f}')} us, {figure(tps, '{:,.0f}')} TPS;"
    found = ratios(store, part, "pgdyno", theirs) if theirs else []
    return text + (f" ratio {spread(found)}" if found else "")


def peers_of(store, part):
    return list(dict.fromkeys(line["peer"] for line in store.lines.values() if line["part"] == part and "failed" not in line))


def whole(store, theirs):
    """All that was measured, as Markdown."""
    facts = store.facts()
    out = [f"# pgdyno beside other drivers: {facts.get('begun', '')}", "", *heading(facts), ""]
    out += goal_table(store, theirs) + [""] + other_goals(store, theirs) + [""] + cells(store, theirs) + [""] + tproc_c(store) + [""] + losses(store)
    return "\n".join(out) + "\n"


def heading(facts):
    out = [f"- machine: {facts.get('cpus')} CPUs {facts.get('cpu')}, {facts.get('memory_bytes', 0) / 2**30:.1f} GiB, {facts.get('os')}, "
           f"load average {facts.get('load_average_1min', 0):.2f} at the begin; commit {facts.get('commit')}",
           f"- server: PostgreSQL {facts.get('server', '–')}; " + ", ".join(f"{k} {v}" for k, v in facts.get("settings", {}).items()),
           f"- programs: {'; '.join(facts.get('versions', []))}"]
    for name in facts.get("absent", []):
        out.append(f"- left out: {name}")
    options = facts.get("options", {})
    out += [f"- {options.get('pairs')} rotations of {options.get('seconds')} s (twice that in W, and more with many clients), scale {options.get('scale')}; "
            "user+sys of the whole process; "
            "start, connecting and the first transaction of each client are left out: a run of one transaction a client has them",
            "- pgdyno samples the server's statistics as it does by default" if options.get("samples") else
            "- pgdyno runs with --no-samples: pgbench does not look at the server's statistics either",
            *(f"- **{key}**: {text}" for key, text in REGIMES.items())]
    return out


def goal_table(store, theirs):
    columns = (16, 64, 256, 1000)
    out = [f"## Client CPU a transaction: pgdyno's to that of {theirs} -j 1", "",
           "Median of the pairs' ratios and their range; the goal is the upper end.", "",
           "| | " + " | ".join(f"{n:,}" + (" clients" if n == 16 else "") for n in columns) + " |", "|---" * 5 + "|"]
    rows = {}
    for case in cases():
        if case.goal is not None:
            name = {"select-only": "select-only", "tpcb-like": "tpcb-like, 7 round trips", "tpcb-pipeline": "tpcb-like as one pipeline"}
            rows.setdefault(f"{name[case.script]}, {case.regime}, {case.transport}", {})[case.clients] = case
    for name, by_clients in rows.items():
        out.append(f"| {name} | " + " | ".join(goal_cell(store, by_clients.get(n), theirs) for n in columns) + " |")
    return out


def goal_cell(store, case, theirs):
    if case is None:
        return ""
    found = ratios(store, case.id, "pgdyno", theirs) if theirs else []
    value = statistics.median(found) if found else None
    return f"{spread(found)} ≤ {case.goal:.2f} {verdict(value, case.goal)}"


def other_goals(store, theirs):
    out = ["## The other goals", "", "| | figure | goal | |", "|---|---|---|---|"]

    def row(name, found, goal, form="{:.2f}", most=True, unit=""):
        value = statistics.median(found) if found else None
        out.append(f"| {name} | {spread(found, form)}{unit if found else ''} | {'≤' if most else '≥'} {goal:g}{unit} | {verdict(value, goal, most)} |")

    for transport in ("unix", "tcp"):
        for n in (16, 64, 256, 1000):
            row(f"to the bare echo of the same bytes, S, {transport}, {n:,}", ratios(store, f"select-only/S/{transport}/{n}", "pgdyno", "bare echo"),
                GOALS["floor"])
        for regime, clients in (("R", 64), ("R", 256), ("R20k", 256)):
            row(f"to the bare echo of the same bytes, {regime}, {transport}, {clients}",
                ratios(store, f"select-only/{regime}/{transport}/{clients}", "pgdyno", "bare echo"), GOALS["floor"])
            row(f"with {Coalescing.name[7:]} to the bare echo, {regime}, {transport}, {clients}",
                ratios(store, f"select-only/{regime}/{transport}/{clients}", Coalescing.name, "bare echo"), GOALS["floor"])
        row(f"with {Coalescing.name[7:]}, W, {transport}, 64",
            ratios(store, f"select-only/W/{transport}/64", Coalescing.name, theirs) if theirs else [], GOALS["coalesce"])
        few, many = (median(store, f"select-only/S/{transport}/{n}", "pgdyno", "client_us") for n in (16, 1000))
        row(f"growth from 16 to 1,000 clients, S, {transport}", [many / few] if few and many else [], GOALS["growth"])
    row("to tokio-postgres, S, unix, 64", ratios(store, "select-only/S/unix/64", "pgdyno", "tokio-postgres"), GOALS["tokio-postgres"])
    lowest = [(statistics.median(found), case.id) for case in cases() if theirs
              for found in [ratios(store, case.id, "pgdyno", theirs, "tps")] if found]
    row(f"throughput to {theirs}'s, the lowest cell" + (f" ({min(lowest)[1]})" if lowest else ""), [min(lowest)[0]] if lowest else [], 1.0, most=False)
    row("TPROC-C by procedure, to HammerDB", ratios(store, virtual_users.PART, virtual_users.OURS["tproc-c"], "HammerDB"), GOALS["hammerdb"])
    row("TPROC-C by SQL of the client", [cost["client_us"] for cost in costs(store, virtual_users.PART, virtual_users.OURS["tproc-c-client"]).values()],
        COST_US_CLIENT_SQL, "{:.1f}", unit=" µs")
    base = f"{theirs} -i"
    row("pgbench_accounts, wall time to pgbench -i, without checkpoint and count", of_lines(store, "load/accounts", "pgdyno load", base, "alike_s"), GOALS["accounts"])
    split = "pgdyno load, 2 partitions"
    split = split if store.of("load/accounts", split) else "pgdyno pgbench -i, 2 partitions"
    row(f"the same with two partitions ({split})", of_lines(store, "load/accounts", split, base, "alike_s"), GOALS["accounts-2"])
    copy = [theirs_s / (ours_s - checks_s) for theirs_s, ours_s, checks_s in zip(*(
        [line["server_s"] for line in store.of("load/tproc-c", peer)]
        for peer in ("COPY from files", "pgdyno load, 1 connection", "its conditions alone")))]
    row("TPROC-C's tables, rows per server CPU second, to COPY's", copy, GOALS["copy"], most=False)
    warehouses = store.facts().get("tproc_c_warehouses", 1)
    for loaders in (1, 2):
        name = f"pgdyno load, {loaders} connection{'s'[: loaders - 1]}"
        walls = [(line["wall_s"] - check["wall_s"]) / warehouses for line, check in
                 zip(store.of("load/tproc-c", name), store.of("load/tproc-c", "its conditions alone"))]
        row(f"a warehouse, {name[13:]}, without the conditions", walls, GOALS[f"warehouse-{loaders}"], unit=" s")
    row("memory of a client", [(many["rss_bytes"] - few["rss_bytes"]) / (many["clients"] - 1) / 1024 for many, few in
                               zip(store.of("memory", "pgdyno"), store.of("memory", "pgdyno", "base"))], GOALS["memory"], unit=" KiB")
    row("release binary", [line["bytes"] / 1e6 for line in store.of("start")], GOALS["binary"], "{:.1f}", unit=" MB")
    row("pgdyno --version", [line["ms"] for line in store.of("start")], GOALS["version"], "{:.1f}", unit=" ms")
    row("user-mode instructions a transaction", [line["instructions"] for line in store.of("instructions", "pgdyno")],
        GOALS["instructions"], "{:,.0f}")
    return out


def of_lines(store, part, ours, theirs, key="wall_s"):
    mine, them = ({line["n"]: line.get(key, line["wall_s"]) for line in store.of(part, peer)} for peer in (ours, theirs))
    return [mine[n] / them[n] for n in sorted(mine.keys() & them.keys())]


def cells(store, theirs):
    """Every program of every part, by the median of its rotations."""
    out = ["## All figures", "", "| | | client µs (user + sys) | server µs | TPS | client CPU to " + str(theirs) +
           " | peak memory MiB | CPUs that others used |", "|---" * 8 + "|"]
    for part in [case.id for case in cases()]:
        for peer in peers_of(store, part):
            client, user, system, server, tps, rss, others = (
                median(store, part, peer, key)
                for key in ("client_us", "user_us", "sys_us", "server_us", "tps", "rss_bytes", "other_cpus"))
            found = ratios(store, part, peer, theirs) if theirs and peer != theirs else []
            out.append(f"| {part} | {peer} | {figure(client)} ({figure(user)} + {figure(system)}) | {figure(server, '{:.1f}')} | "
                       f"{figure(tps, '{:,.0f}')} | {spread(found) if found else ''} | {figure(rss and rss / 2**20, '{:.0f}')} | {figure(others)} |")
    out += ["", "| load | | wall s | client CPU s | server CPU s | CPUs that others used |", "|---" * 6 + "|"]
    for part in ("load/accounts", "load/tproc-c"):
        for peer in peers_of(store, part):
            lines = store.of(part, peer)
            client = [line["user_s"] + line["sys_s"] for line in lines if "user_s" in line]
            server = [line["server_s"] for line in lines if line["server_s"] is not None]
            others = [line["other_cpus"] for line in lines if "other_cpus" in line]
            out.append(f"| {part} | {peer} | {spread([line['wall_s'] for line in lines])} | {spread(client)} | {spread(server)} | {spread(others)} |")
    out += ["", "| network, TCP | bytes a transaction, both ways | of pgdyno, client µs |", "|---" * 3 + "|"]
    for peer in peers_of(store, "network"):
        carried, client = (median(store, "network", peer, key) for key in ("loopback_bytes", "client_us"))
        out.append(f"| {peer} | {figure(carried, '{:,.0f}')} | {figure(client)} |")
    for part in ("memory", "start", "instructions"):
        out += part_lines(store, part)
    return out


def tproc_c(store):
    """TPROC-C by every tool, pgdyno held against each that calls as the tool does."""
    part, options = virtual_users.PART, store.facts().get("options", {})
    if not store.of(part):
        return []
    out = [f"## TPROC-C, B: {options.get('warehouses')} warehouses, {options.get('users')} users without think time", "",
           "By procedure over the socket, by SQL of the client over TCP, and so are the tools beside them.", "",
           "| | client µs (user + sys) | pgdyno's to it | server µs | TPS | NOPM | transactions | failed | peak memory MiB | CPUs that others used |",
           "|---" * 10 + "|"]
    for peer in peers_of(store, part):
        lines = store.of(part, peer)
        if not lines:
            continue
        client, user, system, server, tps, others = (
            median(store, part, peer, key) for key in ("client_us", "user_us", "sys_us", "server_us", "tps", "other_cpus"))
        ours = virtual_users.OURS.get(lines[0].get("script"))
        found = ratios(store, part, ours, peer) if ours not in (None, peer) else []
        nopm = [line["nopm"] for line in lines if line["nopm"] is not None]
        out.append(f"| {peer} | {figure(client, '{:.1f}')} ({figure(user, '{:.1f}')} + {figure(system, '{:.1f}')}) | "
                   f"{f'{spread(found)}: {ours}' if found else ''} | "
                   f"{figure(server, '{:.0f}')} | {figure(tps, '{:,.0f}')} | {figure(statistics.median(nopm) if nopm else None, '{:,.0f}')} | "
                   f"{sum(line['transactions'] for line in lines):,} | {sum(line['failed_transactions'] for line in lines):,} | "
                   f"{max(line['rss_bytes'] for line in lines) / 2**20:.0f} | {figure(others)} |")
    return out


def part_lines(store, part):
    """A part that is no table: its lines as they are."""
    shown = [{key: value for key, value in line.items() if key not in ("part", "kind", "n", "at")}
             for kind in ("base", "run") for line in store.of(part, kind=kind)]
    return ["", f"{part}: {PARTS[part]}", ""] + ["- " + ", ".join(f"{key} {plain(value)}" for key, value in line.items()) for line in shown]


def plain(value):
    return f"{value:,.3g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def losses(store):
    failures = store.failures()
    return ["## What failed", ""] + [f"- {line['part']}, {line['peer']}: {line['failed']}" for line in failures] if failures else []
