#!/usr/bin/env python3
"""Make the answers of the questions with the parameters of their validation.

usage: make.py CONNECTION ROWS FILE     as compare.py, which says what CONNECTION and ROWS are; FILE is written

An answer is what PostgreSQL returns, if DuckDB's answer to its own text over the same rows is equal. The file has of each
question a line of columns with their kinds, and the rows as text: numbers rounded to two digits after the point, NULL as a
word, sorted by their fields. Of a longer answer only the first rows are kept, and the number and the MD5 of all. Where a
LIMIT has cut rows that the question's order does not tell apart, only the columns of that order are kept: the others are of
kind `any`. Questions with another answer than DuckDB's are named, and left out.
"""
import hashlib
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
QUESTIONS = os.path.join(HERE, "..", "questions")
sys.path.insert(0, QUESTIONS)
import compare  # noqa: E402

# Of a longer answer so many rows are kept.
ROWS_MAX, ROWS_KEPT = 30, 20

KINDS = {20: "integer", 21: "integer", 23: "integer", 700: "number", 701: "number", 1700: "number", 1082: "date"}


def names(server, columns):
    """Returns a name for each column that SQL takes as it is; none comes twice."""
    keywords = {word for word, in server.execute("select word from pg_get_keywords() where catcode <> 'U'").fetchall()}
    found = []
    for column in columns:
        name = re.sub(r"\W", "_", column.name.lower())
        name = f"{name}_" if name in keywords else name if re.match(r"[a-z_]", name) else f"c_{name}"
        while name in found:
            name += "_"
        found.append(name)
    return found


def field(name, kind):
    if kind == "number":
        return f"coalesce(round(q.{name}::numeric, 2)::text, 'NULL')"
    if kind == "date":
        return f"coalesce(to_char(q.{name}, 'YYYY-MM-DD'), 'NULL')"
    return "'*'" if kind == "any" else f"coalesce(q.{name}::text, 'NULL')"


def is_cut(server, text, places):
    """Returns whether the row after the last one has the same values in the ordering columns."""
    limit = re.search(r"\blimit (\d+)\s*$", text)
    if not limit or places is None:
        return False
    rows = server.execute(f"{text[:limit.start()]}limit {int(limit[1]) + 1}").fetchall()
    at = [[row[place] for place in places] for row in rows[-2:]]
    return len(rows) > int(limit[1]) and at[0] == at[1]


def answer(server, text):
    """Returns the lines of an answer."""
    columns = server.execute(text).description
    places = compare.ordering(text, [column.name for column in columns])
    kinds = [KINDS.get(column.type_code, "text") for column in columns]
    if is_cut(server, text, places):
        kinds = [kind if place in places else "any" for place, kind in enumerate(kinds)]
    named = names(server, columns)
    fields = ", ".join(map(field, named, kinds))
    rows = server.execute(f"select {fields} from (\n{text}\n) as q ({', '.join(named)})").fetchall()
    rows = ["|".join(row) for row in sorted(rows, key=lambda row: [value.encode() for value in row])]
    kept = rows if len(rows) <= ROWS_MAX else rows[:ROWS_KEPT]
    if len(kept) < len(rows):
        kept = kept + [f"... {len(rows)} {hashlib.md5(chr(10).join(rows).encode()).hexdigest()}"]
    return ["|".join(map("{} {}".format, named, kinds)), *kept]


def main():
    server = compare.psycopg.connect(sys.argv[1], autocommit=True).cursor()
    duck = compare.open_rows(sys.argv[2], server)
    texts = dict(duck.execute("select query_nr, query from tpcds_queries()").fetchall())
    numbers = sorted(int(name[1:3]) for name in os.listdir(QUESTIONS) if re.fullmatch(r"q\d\d\.sql", name))
    with open(sys.argv[3], "w", encoding="utf-8") as out:
        for number in numbers:
            is_equal, line = compare.compare(server, duck, number, texts[number])
            if not is_equal:
                print(f"q{number} is left out: {line}", file=sys.stderr)
                continue
            text = compare.statements(os.path.join(QUESTIONS, f"q{number:02}.sql"))[0]
            out.write("\n".join([f"# q{number}", *answer(server, text)]) + "\n")
            out.flush()


main()
