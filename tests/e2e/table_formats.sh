#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The tables of a trace as CSV, SQLite and Parquet have the same content, by third-party readers; and analyzer query.
# beside others: it makes its files itself, and no time counts
. "$(dirname "$0")/lib.sh"
need_command jq

MAKE_TRACE=$BUILD/tests/tools/make_trace
"$ROOT/tests/tools/make-venv" parquet >"$WORK/install" 2>&1 ||
	skip "DuckDB and pyarrow cannot be installed: $(tail -n 1 "$WORK/install")"

# Several groups of rows, and a group that is not full.
eval "$("$MAKE_TRACE" "$WORK/run.pbt" 3000)"
for format in csv sqlite parquet; do
	assert_status "export to $format" 0 "$ANALYZER" export "$WORK/run.pbt" --to $format -o "$WORK/$format"
done
"$ROOT/build/venv-parquet/bin/python" "$ROOT/tests/tools/check_tables.py" "$WORK/csv" "$WORK/sqlite" "$WORK/parquet" \
	>"$WORK/checked" 2>&1 || fail "the formats differ: $(tail -n 3 "$WORK/checked")"
note "the same in all formats: $(cat "$WORK/checked")"

# A full disk leaves nothing behind.
(
	ulimit -f 8
	trap '' XFSZ
	assert_status "Parquet that does not fit" 1 "$ANALYZER" export "$WORK/run.pbt" --to parquet -o "$WORK/big"
)
assert_eq "what a full disk leaves" "" "$(find "$WORK" -name 'big*')"

# ---- analyzer query

query() { "$ANALYZER" query "$WORK/run.pbt" "$@" >"$WORK/rows" 2>"$WORK/err" || fail "query $*: $(cat "$WORK/err")"; }

query --format csv 'select function, count(*) as calls, sum(end_ns - start_ns) as ns from calls group by 1 order by 1'
sqlite3_rows() { "$ROOT/build/venv-parquet/bin/python" - "$WORK/sqlite" "$1" <<'P'; }
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]):
    print(",".join("" if value is None else str(value) for value in row))
P
sqlite3_rows 'select function, count(*), sum(end_ns - start_ns) from calls group by 1 order by 1' >"$WORK/stored"
assert_eq "calls by function, virtual and stored" "$(cat "$WORK/stored")" "$(tail -n +2 "$WORK/rows")"
# Queries by row number, by thread, and both in a join.
for sql in 'select name from threads where thread = 3' 'select count(*), sum(start_ns) from calls where thread = 2' \
	'select t.tid, count(*), sum(c.start_ns) from threads t join calls c using (thread) group by 1 order by 1' \
	'select count(*) from calls where thread = -1' "select count(*) from calls where thread = 'x'" \
	'select count(*), sum(end_ns) from states where thread = 4'; do
	query --format csv "$sql"
	assert_eq "$sql" "$(sqlite3_rows "$sql")" "$(tail -n +2 "$WORK/rows")"
done
query --format json 'select quantile(end_ns - start_ns, 0.5) as p50, median(depth) as d, null as none from calls'
assert_eq "kinds of JSON values" "number number null" "$(jq -r '.[0] | [.p50, .d, .none | type] | join(" ")' "$WORK/rows")"
query --schema
assert_contains "the list of tables" "$WORK/rows" '^calls - '
assert_status "a statement that changes" 1 "$ANALYZER" query "$WORK/run.pbt" 'create table x (a)'
assert_contains "why not" "$WORK/err" 'only SELECT'
assert_status "a wrong column" 1 "$ANALYZER" query "$WORK/run.pbt" 'select nonsense from calls'
assert_contains "what to do" "$WORK/err" 'no such column: nonsense; analyzer query --schema'
assert_status "no statement" 2 "$ANALYZER" query
"$ANALYZER" query "$WORK/run.pbt" --format csv 'select * from calls' 2>"$WORK/err" | head -n 1 >"$WORK/rows" || :
assert_eq "complaints of a closed pipe" "" "$(cat "$WORK/err")"

# docs/tables.md equals the program's output.
"$ANALYZER" query --schema --format markdown | cmp - "$ROOT/docs/tables.md" ||
	fail "docs/tables.md is not what the program knows: analyzer query --schema --format markdown >docs/tables.md"
"$ANALYZER" query --schema --format json | "$ROOT/docs/man_of_tables.py" | cmp - "$ROOT/docs/man/profbpf-tables.7" ||
	fail "docs/man/profbpf-tables.7 is not what the program knows: make docs"
