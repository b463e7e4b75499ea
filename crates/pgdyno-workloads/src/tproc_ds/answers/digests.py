#!/usr/bin/env python3
"""Make the digests of the tables from files with their rows: of each table its rows and the sum, over all rows, of the first
32 bits of the MD5 of the fields as PostgreSQL writes them, separated by `|`.

usage: digests.py DIR FILE     DIR has TABLE.dat of each table, such as dsdgen or `tpcgen-cli tpcds --format dat` writes them
"""
import hashlib
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def field(text, kind):
    if kind.startswith("char("):
        text = text.rstrip(" ")
    if not text:
        return "\\N"
    return text + ".00" if kind.startswith("numeric") and "." not in text else text


def digest(path, kinds):
    rows, total = 0, 0
    # The kinds that are written otherwise than they are read.
    changed = [nth for nth, kind in enumerate(kinds) if kind.startswith(("char(", "numeric"))]
    for line in open(path, encoding="utf-8"):
        fields = line.rstrip("\n").split("|")[: len(kinds)]
        for nth in changed:
            fields[nth] = field(fields[nth], kinds[nth])
        md5 = hashlib.md5("|".join(value or "\\N" for value in fields).encode())
        rows, total = rows + 1, total + int.from_bytes(md5.digest()[:4], "big")
    return rows, total


def main():
    sql = open(os.path.join(HERE, "..", "tables.sql")).read()
    with open(sys.argv[2], "w") as out:
        for table, body in re.findall(r"create table (\w+) \(\n(.*?)\n\);", sql, re.S):
            columns = [line.split() for line in body.splitlines() if "primary key" not in line]
            out.write("{}|{}|{}\n".format(table, *digest(f"{sys.argv[1]}/{table}.dat", [column[1] for column in columns])))


main()
