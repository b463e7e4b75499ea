"""Validates JSON documents: validate.py DIRECTORY, which has NAME.schema.json and NAME.N.json; prints what is wrong."""

import json
import pathlib
import sys

from jsonschema import Draft202012Validator

wrong = 0
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.schema.json")):
    schema = json.loads(path.read_text())
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    name = path.name.removesuffix(".schema.json")
    for document in sorted(path.parent.glob(f"{name}.[0-9]*.json")):
        for error in validator.iter_errors(json.loads(document.read_text())):
            wrong += 1
            print(f"{document.name}: {error.json_path}: {error.message[:300]}")
sys.exit(1 if wrong else 0)
