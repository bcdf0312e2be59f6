#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# JSON reports match analyzer report --schema: each value has its type, and rows have no key that the
# schema lacks, except keys written by functions outside the views.
# beside others: it compares files, and no time counts
. "$(dirname "$0")/lib.sh"
need_command python3

"$ANALYZER" report --schema >"$WORK/schema.json" || fail "no schema"
cat >"$WORK/check.py" <<'PYTHON'
import json, sys

TYPES = {"integer": int, "number": (int, float), "string": str, "boolean": bool, "object": dict, "array": list}
# Keys written by functions: times with reasons as keys; counters; further values of a map.
BESIDE = {"throttled_ns", "blocked_by", "lost_by", "counters", "unmatched", "work_mean_ns", "imbalance_percent", "slowest", "slowest_rank"}
seen = set()

def check(value, schema, path, error):
    if "const" in schema and value != schema["const"]:
        error(f"{path} is {value!r}")
    kind = schema.get("type")
    if isinstance(kind, list):
        if value is None and "null" in kind:
            return
        kind = kind[0]
    if kind and (not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        error(f"{path} is no {kind}: {value!r}")
    for key, inner in (value.items() if isinstance(value, dict) else ()):
        if key in schema.get("properties", {}):
            seen.add(f"{path}.{key}")
            check(inner, schema["properties"][key], f"{path}.{key}", error)
        elif path and "properties" in schema and key not in BESIDE:
            error(f"{path}.{key} is not described")
    if "prefixItems" in schema and len(value) != len(schema["prefixItems"]):
        error(f"{path} has {len(value)} values, {len(schema['prefixItems'])} are described")
    for number, inner in enumerate(value if isinstance(value, list) else ()):
        described = schema["prefixItems"][number] if "prefixItems" in schema else schema.get("items", {})
        if inner is not None:
            check(inner, described, f"{path}[]", error)

schema = json.load(open(sys.argv[1]))
for name in sys.argv[2:]:
    def error(text):
        sys.exit(f"{name}: {text}")
    check(json.load(open(name)), schema, "", error)
print(len(seen))
PYTHON

reports=()
report() {
	local file=$WORK/report${#reports[@]}.json
	"$ANALYZER" report "$@" --format json >"$file" 2>"$WORK/message" ||
		fail "no report of $*: $(cat "$WORK/message")"
	reports+=("$file")
}
for trace in every faults io ioctls launched sleeps; do report "tests/data/traces/$trace.pbt"; done
for name in pytorch pytorch-distributed msprof-tables mindspore-shapes mindspore-cluster mindspore-memory; do
	folder=tests/data/devices/$name
	# A single file is passed as a file, because a folder must have the names that profilers give.
	if [ "$(find "$folder" -type f | wc -l)" -eq 1 ]; then folder=$(find "$folder" -type f); fi
	report --device "$folder"
done
described=$(python3 "$WORK/check.py" "$WORK/schema.json" "${reports[@]}") || fail "the report is not as described"
note "$described kinds of values in ${#reports[@]} reports"
[ "$described" -ge 200 ] || fail "the description is of $described kinds of values only"
