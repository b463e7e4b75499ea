#!/usr/bin/env python3
"""Make the answers of the 22 queries and the digests of the tables, by DuckDB over tpchgen's rows.

usage: make.py SCALE FILE     SCALE: 0.01, 0.1, 1

Takes `pip install duckdb tpchgen-cli==4.0.0`. The file has a section `# tables`: of each table its rows and the sum, over
all rows, of the first 32 bits of the MD5 of the fields as text, separated by `|`. Then of each query, with the validation
parameters of TPC-H, a line of columns with their kinds, and the rows: numbers rounded to two digits after the point, NULL as a word.
"""
import decimal
import hashlib
import os
import re
import subprocess
import sys
import tempfile

import duckdb

HERE = os.path.dirname(os.path.abspath(__file__))
QUERIES = os.path.join(HERE, "..", "queries")

VALIDATION = {
    1: ["90"], 2: ["15", "BRASS", "EUROPE"], 3: ["BUILDING", "1995-03-15"], 4: ["1993-07-01"],
    5: ["ASIA", "1994-01-01"], 6: ["1994-01-01", "0.06", "24"], 7: ["FRANCE", "GERMANY"],
    8: ["BRAZIL", "AMERICA", "ECONOMY ANODIZED STEEL"], 9: ["green"], 10: ["1993-10-01"],
    12: ["MAIL", "SHIP", "1994-01-01"], 13: ["special", "requests"], 14: ["1995-09-01"], 15: ["1996-01-01"],
    16: ["Brand#45", "MEDIUM POLISHED", "49", "14", "23", "45", "19", "3", "36", "9"],
    17: ["Brand#23", "MED BOX"], 18: ["300"], 19: ["Brand#12", "Brand#23", "Brand#34", "1", "10", "20"],
    20: ["forest", "1994-01-01", "CANADA"], 21: ["SAUDI ARABIA"], 22: ["13", "31", "23", "29", "30", "18", "17"],
}
TABLES = ["region", "nation", "part", "supplier", "partsupp", "customer", "orders", "lineitem"]
MONEY = "acctbal|price|_discount|_tax|supplycost|l_quantity"


# Of a longer answer only the first rows are kept, and the number and the MD5 of all.
ROWS_MAX, ROWS_KEPT = 3000, 100


def query(number, scale):
    values = VALIDATION.get(number) or ["GERMANY", f"{0.0001 / scale:.10f}"]
    text = open(os.path.join(QUERIES, f"q{number:02}.sql")).read()
    for nth in range(len(values), 0, -1):
        text = text.replace(f":{nth}", values[nth - 1])
    return text


def kind(duckdb_type):
    if duckdb_type.startswith("DECIMAL") or duckdb_type == "DOUBLE":
        return "number"
    return {"DATE": "date", "VARCHAR": "text"}.get(duckdb_type, "integer")


def field(value, kind):
    if value is None:
        return "NULL"
    if kind == "number":
        # The shortest decimal of a float: what it was before the division is exact.
        return str(decimal.Decimal(str(value)).quantize(decimal.Decimal("0.01"), decimal.ROUND_HALF_UP))
    return str(value)


def main():
    scale, path = float(sys.argv[1]), sys.argv[2]
    out = open(path, "w")
    db = duckdb.connect()
    with tempfile.TemporaryDirectory() as rows:
        subprocess.run(["tpchgen-cli", "parquet", "-s", sys.argv[1], "-o", rows], check=True)
        for table in TABLES:
            columns = db.execute(f"describe select * from '{rows}/{table}.parquet'").fetchall()
            typed = [f"{c[0]}::decimal(12,2) as {c[0]}" if re.search(MONEY, c[0]) else c[0] for c in columns]
            db.execute(f"create table {table} as select {', '.join(typed)} from '{rows}/{table}.parquet'")
    out.write("# tables\n")
    for table in TABLES:
        columns = ", ".join(f"{c[0]}::varchar" for c in db.execute(f"describe {table}").fetchall())
        md5 = f"md5(concat_ws('|', {columns}))"
        digest = db.execute(f"select count(*), sum(('0x' || left({md5}, 8))::bigint) from {table}").fetchall()[0]
        out.write(f"{table}|{digest[0]}|{digest[1]}\n")
    for number in range(1, 23):
        found = db.execute(query(number, scale))
        kinds = [kind(str(column[1])) for column in found.description]
        names = [column[0] for column in found.description]
        lines = ["|".join(map(field, row, kinds)) for row in found.fetchall()]
        out.write(f"# q{number}\n" + "|".join(map("{} {}".format, names, kinds)) + "\n")
        kept = lines if len(lines) <= ROWS_MAX else lines[:ROWS_KEPT]
        out.writelines(line + "\n" for line in kept)
        if len(kept) < len(lines):
            md5 = hashlib.md5("\n".join(lines).encode()).hexdigest()
            out.write(f"... {len(lines)} {md5}\n")


main()
