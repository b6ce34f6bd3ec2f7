"""The words of JSON Schema that docs/profile.schema.json uses, and no others.

schema.py SCHEMA DOCUMENT: prints what in the document is not as the schema says, a line each. With --closed objects
have no members that the schema does not name, so that what is added to documents is added to it.
"""
import json
import math
import sys

KNOWN = {
    "$schema", "$defs", "$ref", "title", "description", "type", "required", "properties", "additionalProperties",
    "items", "minItems", "maxItems", "minimum", "minLength", "const", "enum",
}


def is_type(value, name):
    """JSON Schema counts 1.0 as an integer, and true as no number."""
    if name in ("integer", "number"):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        return name == "number" or (math.isfinite(value) and value == int(value))
    return isinstance(value, {"object": dict, "array": list, "string": str, "boolean": bool,
                              "null": type(None)}[name])


def same(a, b):
    """1 is not true."""
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def follow(root, ref):
    at = root
    for part in ref.removeprefix("#/").split("/"):
        at = at[part]
    return at


def check(root, schema, value, path, closed, wrong):
    unknown = set(schema) - KNOWN
    if unknown:
        raise SystemExit(f"the schema has {sorted(unknown)} at {path}, which is not checked")
    if "$ref" in schema:
        check(root, follow(root, schema["$ref"]), value, path, closed, wrong)
    types = schema.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(value, t) for t in types):
        wrong.append(f"{path}: is no {' or '.join(types)}")
        return
    if "const" in schema and not same(value, schema["const"]):
        wrong.append(f"{path}: is not {schema['const']}")
    if "enum" in schema and not any(same(value, x) for x in schema["enum"]):
        wrong.append(f"{path}: is none of {schema['enum']}")
    if is_type(value, "number") and value < schema.get("minimum", value):
        wrong.append(f"{path}: is below {schema['minimum']}")
    if isinstance(value, str) and len(value) < schema.get("minLength", 0):
        wrong.append(f"{path}: is too short")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            wrong.append(f"{path}: has {len(value)} items")
        for i, x in enumerate(value):
            check(root, schema.get("items", {}), x, f"{path}[{i}]", closed, wrong)
    if isinstance(value, dict) and "type" in schema:
        check_object(root, schema, value, path, closed, wrong)


def check_object(root, schema, value, path, closed, wrong):
    for name in schema.get("required", []):
        if name not in value:
            wrong.append(f"{path}: has no {name}")
    named = schema.get("properties", {})
    for name, x in value.items():
        if name in named:
            check(root, named[name], x, f"{path}.{name}", closed, wrong)
        elif "additionalProperties" in schema:
            check(root, schema["additionalProperties"], x, f"{path}.{name}", closed, wrong)
        elif closed:
            wrong.append(f"{path}: the schema has no {name}")


def main():
    arguments = [a for a in sys.argv[1:] if a != "--closed"]
    with open(arguments[0], encoding="utf-8") as f:
        schema = json.load(f)
    with open(arguments[1], encoding="utf-8") as f:
        document = json.load(f)
    wrong = []
    check(schema, schema, document, "$", "--closed" in sys.argv, wrong)
    for line in wrong[:20]:
        print(line)


main()
