#!/usr/bin/env python3
"""Compare the answers of the questions on PostgreSQL with DuckDB's answers to DuckDB's own texts, over the same rows.

usage: compare.py CONNECTION ROWS [NUMBER...]

CONNECTION is a connection string of libpq, to a database with the 24 tables. ROWS is `server`: DuckDB gets a copy of the
rows of that database; or a DuckDB file with the same rows; or a directory with one file TABLE.dat for each table: fields
separated by `|`, an empty field for NULL. Takes `pip install duckdb duckdb-extension-tpcds 'psycopg[binary]'`, the first
two of the same version.

Prints a line for each question: equal or what differs, rows, and the seconds of PostgreSQL and of DuckDB. Exits with 1 if
an answer differs, with 2 if it could not compare.

Two answers are equal if they have as many columns and rows, if the values of the ordering columns are the same row by row,
and if the rows with the same values there are the same as sets. Rows of the last such set that a LIMIT has cut are
compared by the ordering columns only. Numbers are equal within 1e-6 of their size. In the questions that round, a ratio
may differ by the last digit: DuckDB rounds a binary fraction (0.575 to 0.57), PostgreSQL a decimal one. DuckDB has one text
for a question with two statements: the second statements of 23, 24 and 39 are compared with that text as the
specification changes it, that of 14 with a text of our own, written another way than the statement for PostgreSQL.
"""
import datetime
import decimal
import glob
import math
import os
import re
import sys
import tempfile
import time

import duckdb
import duckdb_extension_tpcds
import psycopg

HERE = os.path.dirname(os.path.abspath(__file__))
# Questions that round to two digits; what two roundings may differ by, in the question that is compared.
ROUNDED = (2, 78)
last_digit = 0.0

# What the second statement of question 14 asks, in the plainest form: DuckDB has no text for it.
SECOND_OF_14 = """
with triple as (
       select i_brand_id, i_class_id, i_category_id from item join store_sales on ss_item_sk = i_item_sk
         join date_dim on d_date_sk = ss_sold_date_sk where d_year in (1999, 2000, 2001)
       intersect
       select i_brand_id, i_class_id, i_category_id from item join catalog_sales on cs_item_sk = i_item_sk
         join date_dim on d_date_sk = cs_sold_date_sk where d_year in (1999, 2000, 2001)
       intersect
       select i_brand_id, i_class_id, i_category_id from item join web_sales on ws_item_sk = i_item_sk
         join date_dim on d_date_sk = ws_sold_date_sk where d_year in (1999, 2000, 2001)),
     line as (
       select ss_sold_date_sk as day, ss_quantity * ss_list_price as amount from store_sales
       union all
       select cs_sold_date_sk, cs_quantity * cs_list_price from catalog_sales
       union all
       select ws_sold_date_sk, ws_quantity * ws_list_price from web_sales),
     week as (
       select d_year, d_week_seq from date_dim where d_moy = 12 and d_dom = 11 and d_year in (1999, 2000)),
     sold as (
       select w.d_year, i_brand_id, i_class_id, i_category_id,
              sum(ss_quantity * ss_list_price) as amount, count(*) as lines
         from store_sales join item on i_item_sk = ss_item_sk join date_dim d on d.d_date_sk = ss_sold_date_sk
         join week w on w.d_week_seq = d.d_week_seq join triple using (i_brand_id, i_class_id, i_category_id)
        group by all
       having amount > (select avg(amount) from line join date_dim on d_date_sk = day where d_year in (1999, 2000, 2001)))
select 'store' as channel, late.i_brand_id, late.i_class_id, late.i_category_id, late.amount, late.lines, early.amount, early.lines
  from sold late join sold early using (i_brand_id, i_class_id, i_category_id)
 where late.d_year = 2000 and early.d_year = 1999
 order by all limit 100
"""

PARAMETER = re.compile(r"^--: (\w+)(?:\[(\d+)\])? = (.*)$")


def split_values(text):
    """Splits a list at its commas; a value in double quotes may contain some."""
    return [v.strip().strip('"') for v in re.findall(r'"[^"]*"|[^,]+', text)]


def validation(header):
    """Returns the values that replace the names in brackets, by name."""
    values = {}
    for line in header:
        name, length, declared = PARAMETER.match(line).groups()
        value = declared.split(" | ")[0].strip()
        if length:
            items = split_values(value)
            if len(items) != int(length):
                raise ValueError(f"parameter {name} declares {length} values and has {len(items)}")
            values.update({f"{name}.{n}": item for n, item in enumerate(items, 1)})
        elif match := re.fullmatch(r"\[(\w+)\] \+ (\d+)", value):
            values[name] = str(int(values[match[1]]) + int(match[2]))
        else:
            values[name] = value.strip('"')
    return values


def statements(path, values=validation):
    """Returns the statements of a question's file; `values` makes the values of its parameters from their lines."""
    lines = open(path, encoding="utf-8").read().splitlines()
    found = values([line for line in lines if line.startswith("--:")])
    text = "\n".join(line for line in lines if line == "--;" or not line.startswith("--"))
    for name, value in found.items():
        text = text.replace(f"[{name}]", value)
    return [statement.strip() for statement in text.split("--;")]


def split_outside(text):
    """Splits at the commas that no parentheses enclose."""
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def ordering(text, columns):
    """Returns the places of the columns that the statement orders by, or None where it does not order."""
    clauses = [m for m in re.finditer(r"^ *order by ", text, re.M) if text[m.end():].count(")") == text[m.end():].count("(")]
    if not clauses:
        return None
    places = []
    for key in split_outside(re.sub(r"\blimit \d+\s*$", "", text[clauses[-1].end():])):
        words = [columns[int(key.split()[0]) - 1]] if key.split()[0].isdigit() else re.findall(r"\w+", key)
        named = [columns.index(word) for word in words if word in columns]
        if not named:
            break
        places += named
    return places


def plain(value):
    if isinstance(value, str):
        return value.rstrip()
    if isinstance(value, (bool, datetime.date)):
        return str(value)
    if not isinstance(value, (int, float, decimal.Decimal)):
        return value
    # DuckDB divides 0 by 0, PostgreSQL refuses to: the texts have NULL there.
    return None if math.isnan(value) else float(value)


def same(left, right):
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-6, abs_tol=1e-9) or abs(left - right) <= last_digit
    return left == right


def sort_key(row):
    # Texts first: two numbers that are equal within the tolerance may sort differently.
    texts = [str(value) for value in row if not isinstance(value, float)]
    return texts, [round(value, 1) for value in row if isinstance(value, float)], [v for v in row if isinstance(v, float)]


def groups(rows, places):
    """Returns the lengths of the runs of rows with the same ordering columns."""
    lengths = []
    for n, row in enumerate(rows):
        if n and all(same(row[p], rows[n - 1][p]) for p in places):
            lengths[-1] += 1
        else:
            lengths.append(1)
    return lengths


def difference(ours, theirs, places, limit):
    """Returns how two answers differ, or None."""
    if len(ours) != len(theirs):
        return f"{len(ours)} rows, DuckDB {len(theirs)}"
    if ours and len(ours[0]) != len(theirs[0]):
        return f"{len(ours[0])} columns, DuckDB {len(theirs[0])}"
    for n, (left, right) in enumerate(zip(ours, theirs), 1):
        if not all(same(left[p], right[p]) for p in places or []):
            return f"row {n} is {left}, DuckDB {right}"
    start = 0
    for length in groups(theirs, places) if places else [len(ours)]:
        end = start + length
        if end == len(ours) and limit == end and places and length < end:
            break
        for left, right in zip(sorted(ours[start:end], key=sort_key), sorted(theirs[start:end], key=sort_key)):
            if not all(map(same, left, right)):
                return f"among rows {start + 1} to {end} is {left}, DuckDB {right}"
        start = end
    return None


def load_extension(db):
    """Loads the extension from its package, without a network."""
    package = os.path.dirname(duckdb_extension_tpcds.__file__)
    extension = glob.glob(os.path.join(package, "extensions", "*", "tpcds.duckdb_extension"))[0]
    db.execute(f"load '{extension}'")


def copy_file(db, table, file):
    db.execute(f"copy {table} from '{file}' (delimiter '|', nullstr '', header false, quote '')")


def copy_server(db, server, texts):
    """Copies the rows of the server's tables that a text names; char(n) comes without the blanks that fill it."""
    tables = db.execute("select table_name, list(column_name order by ordinal_position) from information_schema.columns group by all")
    for table, columns in tables.fetchall():
        if not any(re.search(rf"(?i)\b{table}\b", text) for text in texts):
            continue
        fields = ", ".join(f"{column}::text" for column in columns)
        with tempfile.NamedTemporaryFile() as file:
            with server.copy(f"copy (select {fields} from {table}) to stdout (delimiter '|', null '')") as rows:
                file.writelines(rows)
            file.flush()
            copy_file(db, table, file.name)


def open_rows(path):
    """Opens the DuckDB file, or makes the tables in memory; from the files of a directory, or empty for the server's rows."""
    if path != "server" and not os.path.isdir(path):
        db = duckdb.connect(path, read_only=True)
        load_extension(db)
        return db
    db = duckdb.connect()
    load_extension(db)
    db.execute("call dsdgen(sf = 0)")
    if path != "server":
        for file in sorted(glob.glob(os.path.join(path, "*.dat"))):
            copy_file(db, os.path.splitext(os.path.basename(file))[0], file)
    return db


def answer(cursor, text):
    begin = time.monotonic()
    found = cursor.execute(text)
    rows = [tuple(map(plain, row)) for row in found.fetchall()]
    return [column[0] for column in found.description], rows, time.monotonic() - begin


def second_text(number, text):
    """Returns a text for what the second statement of the question asks, or None: DuckDB's text, changed."""
    if number == 14:
        return SECOND_OF_14
    if number == 23:
        return f"select sum(sales) from ({re.sub(r'(?i)limit 100;?', '', text)})"
    if number == 24:
        return text.replace("'peach'", "'saddle'")
    if number == 39:
        place = text.rindex("ORDER BY")
        return f"{text[:place]} and inv1.cov > 1.5 {text[place:]}"
    return None


def compare(server, duck, number, text, theirs_text):
    """Compares one statement; returns whether it is equal and what to print."""
    global last_digit
    last_digit = 0.0100001 if number in ROUNDED else 0.0
    _, theirs, duck_s = answer(duck, theirs_text)
    try:
        columns, ours, server_s = answer(server, text)
    except psycopg.Error as error:
        return False, f"failed: {error}"
    limit = re.search(r"\blimit (\d+)\s*$", text)
    differs = difference(ours, theirs, ordering(text, columns), int(limit[1]) if limit else None)
    state = f"differs: {differs}" if differs else f"equal, rows {len(ours)}"
    return not differs, f"{state}; {server_s:.3f} s, DuckDB {duck_s:.3f} s"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    server = psycopg.connect(sys.argv[1], autocommit=True).cursor()
    duck = open_rows(sys.argv[2])
    texts = dict(duck.execute("select query_nr, query from tpcds_queries()").fetchall())
    files = sorted(int(name[1:3]) for name in os.listdir(HERE) if re.fullmatch(r"q\d\d\.sql", name))
    compared = []
    for number in [int(n) for n in sys.argv[3:]] or files:
        pairs = zip(statements(os.path.join(HERE, f"q{number:02}.sql")), (texts[number], second_text(number, texts[number])))
        compared += [(number, nth, text, theirs) for nth, (text, theirs) in enumerate(pairs, 1) if theirs]
    if sys.argv[2] == "server":
        copy_server(duck, server, [text for _, _, *both in compared for text in both])
    results = []
    for number, nth, text, theirs in compared:
        equal, line = compare(server, duck, number, text, theirs)
        results.append(equal)
        print(f"q{number:02}{' second' if nth == 2 else ''} {line}", flush=True)
    print(f"equal: {sum(results)} of {len(results)} statements")
    sys.exit(0 if all(results) and results else 1)


if __name__ == "__main__":
    try:
        main()
    except (psycopg.Error, duckdb.Error, OSError, ValueError) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        sys.exit(2)
