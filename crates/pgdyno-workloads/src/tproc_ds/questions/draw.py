#!/usr/bin/env python3
"""Run each question with values drawn from the ranges of its parameters, and count the rows.

usage: draw.py CONNECTION DRAWS SEED [NUMBER...]

CONNECTION is a connection string of libpq to a database with the 24 tables. Takes `pip install 'psycopg[binary]'`. Runs
every statement of a question DRAWS times, and prints a line for each question: draws that returned rows, and the rows of
each. A row in which all is NULL or 0 counts as none. Exits with 1 if a statement fails or is cancelled.
"""
import datetime
import os
import random
import re
import sys

import psycopg

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
LISTS = os.path.join(HERE, "..", "lists")
PARAMETER = re.compile(r"^--: (\w+)(?:\[(\d+)\])? = (.*)$")


def split_values(text):
    return [v.strip().strip('"') for v in re.findall(r'"[^"]*"|[^,]+', text)]


def literals(inside):
    """Returns the values that the parentheses of a range hold: those of a list, a range of numbers, or themselves."""
    if re.fullmatch(r"[a-z_]+", inside) and os.path.exists(os.path.join(LISTS, inside + ".txt")):
        return open(os.path.join(LISTS, inside + ".txt"), encoding="utf-8").read().splitlines()
    return split_values(inside)


def between(inside):
    first, last = map(int, inside.split(","))
    return range(first, last + 1)


def draw(chance, kind, inside, length):
    """Returns one value, or `length` different ones."""
    if kind == "uniform":
        return str(chance.choice(between(inside)))
    if kind == "date":
        years, first, last = (part.strip() for part in inside.split(","))
        year = chance.randint(*map(int, years.split("-")))
        first, last = (datetime.date.fromisoformat(f"{year}-{day}") for day in (first, last))
        return str(first + datetime.timedelta(chance.randint(0, (last - first).days)))
    if kind == "distinct":
        is_range = re.fullmatch(r"-?\d+, ?-?\d+", inside)
        return [str(value) for value in chance.sample(list(between(inside) if is_range else literals(inside)), length)]
    if kind in ("one_of", "values"):
        return chance.choice(literals(inside))
    raise ValueError(f"unknown range {kind}")


def drawn(chance, header):
    values = {}
    for line in header:
        name, length, declared = PARAMETER.match(line).groups()
        if computed := re.fullmatch(r"\[(\w+)\] \+ (\d+)", declared):
            values[name] = str(int(values[computed[1]]) + int(computed[2]))
            continue
        kind, inside = re.fullmatch(r"(\w+)\((.*)\)", declared.split(" | ")[1]).groups()
        value = draw(chance, kind, inside, int(length or 0))
        if length:
            values.update({f"{name}.{n}": item for n, item in enumerate(value, 1)})
        else:
            values[name] = value
    return values


def statements(path, chance):
    lines = open(path, encoding="utf-8").read().splitlines()
    values = drawn(chance, [line for line in lines if line.startswith("--:")])
    text = "\n".join(line for line in lines if line == "--;" or not line.startswith("--"))
    for name, value in values.items():
        text = text.replace(f"[{name}]", value)
    if left := re.search(r"\[[A-Z_0-9.]+\]", text):
        raise ValueError(f"{path} declares no parameter {left[0]}")
    return text.split("--;")


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    cursor = psycopg.connect(sys.argv[1], autocommit=True).cursor()
    numbers = [int(n) for n in sys.argv[4:]] or range(1, 100)
    failed = False
    for number in numbers:
        counts = []
        for nth in range(int(sys.argv[2])):
            chance = random.Random(f"{sys.argv[3]}/{number}/{nth}")
            for text in statements(os.path.join(HERE, f"q{number:02}.sql"), chance):
                try:
                    rows = cursor.execute(text).fetchall()
                except psycopg.Error as error:
                    failed = True
                    print(f"q{number:02} draw {nth + 1} failed: {str(error).splitlines()[0]}", flush=True)
                    continue
                counts.append(sum(any(row) for row in rows))
        print(f"q{number:02} {sum(map(bool, counts))} of {len(counts)} with rows: {' '.join(map(str, counts))}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
