#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# analyzer query keeps and analyses only the data that the tables of a statement need: their rows are the same as beside
# a table that needs all analyses. With a time window tables have the rows of that window. For a statement with a
# condition on time only the needed data is read, with the same resulting rows.
# beside others: it makes its files itself, and no time counts
. "$(dirname "$0")/lib.sh"

tables() { "$ANALYZER" query --schema --format csv | tail -n +2 | cut -d, -f1 | uniq; }

rows() { "$ANALYZER" query "$1" --format csv "$2" >"$3" 2>"$WORK/err" || fail "$2 of $1: $(cat "$WORK/err")"; }

for trace in every ioctls launched sleeps; do
	for table in $(tables); do
		rows "tests/data/traces/$trace.pbt" "select * from $table" "$WORK/alone"
		rows "tests/data/traces/$trace.pbt" "select t.* from $table t, (select count(*) from advice)" "$WORK/beside"
		cmp -s "$WORK/alone" "$WORK/beside" || fail "$table of $trace.pbt by itself: $(diff "$WORK/alone" "$WORK/beside" | head -n 4)"
	done
done

# Rows of a window are the rows of the whole that begin in it; all calls begin a few us after a multiple of 100 us.
"$BUILD/tests/tools/make_trace" "$WORK/run.pbt" 3000 >"$WORK/expected"
rows "$WORK/run.pbt" 'select start_ns from trace' "$WORK/trace"
start_ns=$(tail -n 1 "$WORK/trace")
from=$((start_ns + 100000000)) to=$((start_ns + 110000000))
for table in calls ioctls tasks; do
	columns=start_ns,end_ns
	"$ANALYZER" query "$WORK/run.pbt" --from 100ms --to 110ms --format csv \
		"select $columns from $table order by 1, 2" >"$WORK/part" || fail "no part of $table"
	rows "$WORK/run.pbt" "select $columns from $table where start_ns >= $from and start_ns < $to order by 1, 2" "$WORK/cut"
	cmp "$WORK/part" "$WORK/cut" || fail "$table of a part: $(diff "$WORK/part" "$WORK/cut" | head -n 4)"
	[ "$(wc -l <"$WORK/part")" -ge 401 ] || fail "only $(wc -l <"$WORK/part") rows of a part of $table"
done
# A statement with a condition on time has the same rows as one whose condition cannot be evaluated before reading.
"$BUILD/tests/tools/make_trace" "$WORK/host.pbt" 3000 host >"$WORK/expected"
for trace in tests/data/traces/every.pbt tests/data/traces/ioctls.pbt tests/data/traces/sleeps.pbt "$WORK/host.pbt"; do
	rows "$trace" 'select start_ns, (end_ns - start_ns) / 3 from trace' "$WORK/trace"
	IFS=, read -r first third < <(tail -n 1 "$WORK/trace")
	for table in calls ioctls states interrupts; do
		# Row numbers are valid within one run only.
		columns=$("$ANALYZER" query --schema="$table" --format csv | tail -n +2 | awk -F, '$2 !~ /^(call|thread|task|other)$/ { print "t." $2 }' | paste -sd,)
		told="t.start_ns between $((first + third)) and $((first + 2 * third))"
		rows "$trace" "select $columns, h.* from $table t, trace h where $told order by t.start_ns, 1, 2, 3, 4" "$WORK/part"
		rows "$trace" "select $columns, h.* from $table t, trace h where ${told/t.start_ns/t.start_ns + 0} order by t.start_ns, 1, 2, 3, 4" "$WORK/cut"
		cmp "$WORK/part" "$WORK/cut" || fail "$table of a part of $trace: $(diff "$WORK/part" "$WORK/cut" | head -n 4)"
	done
done
"$ANALYZER" export "$WORK/run.pbt" --to csv --from 100ms --until 110ms -o "$WORK/csv" || fail "no export of a part"
assert_eq "calls of a part, exported" "$(tail -n +2 "$WORK/csv/calls.csv" | wc -l)" 1600
assert_eq "states of a part that are outside of it" 0 \
	"$(tail -n +2 "$WORK/csv/states.csv" | awk -F, -v from=$from -v to=$to '$3 <= from || $2 >= to' | wc -l)"

[ -x /usr/bin/time ] || { note "no /usr/bin/time: nothing of memory is looked at" && exit 0; }

# Data that exceeds the memory limit goes to files, with the same result: 3 million records, more than 144 MB, most of
# them in files.
"$BUILD/tests/tools/make_trace" "$WORK/long.pbt" 75000 host >"$WORK/expected"
# report_in MEMORY OPTION...: writes the report to $WORK/of.MEMORY, and its peak memory to $WORK/kib.MEMORY
report_in() {
	/usr/bin/time -f %M -o "$WORK/kib.$1" "$ANALYZER" report "$WORK/long.pbt" --section "$section" --format json "${@:2}" \
		>"$WORK/of.$1" || fail "no $section in $1"
}
# Data that a statement does not need is not kept.
rows "$WORK/long.pbt" 'select start_ns from trace' "$WORK/trace"
start_ns=$(tail -n 1 "$WORK/trace")
# sum_in NAME INSTANT: sums calls of 10 ms, by a condition on the instant
sum_in() {
	/usr/bin/time -f %M -o "$WORK/kib.$1" "$ANALYZER" query "$WORK/long.pbt" --format csv --memory 8G "select count(*), \
		sum(end_ns - start_ns) from calls where $2 between $((start_ns + 100000000)) and $((start_ns + 109999999))" \
		>"$WORK/sum.$1" || fail "no sum of a part"
}
sum_in cut 'start_ns + 0'
sum_in part start_ns
cmp "$WORK/sum.cut" "$WORK/sum.part" || fail "a part has other calls: $(cat "$WORK/sum.cut" "$WORK/sum.part")"
note "calls of 10 ms of those read: $(cat "$WORK/kib.part") KiB; of all: $(cat "$WORK/kib.cut") KiB"
[ "$(cat "$WORK/kib.part")" -le $(($(cat "$WORK/kib.cut") / 2)) ] || fail "calls are kept that no row is made of"
for section in processes api ioctl; do
	report_in 8G --memory 8G
	report_in 144M --memory 144M
	cmp "$WORK/of.8G" "$WORK/of.144M" || fail "$section is another one in little memory"
	note "$section: $(cat "$WORK/kib.8G") KiB in 8G, $(cat "$WORK/kib.144M") KiB in 144M"
	[ "$(cat "$WORK/kib.8G")" -gt $((144 * 1024)) ] || fail "$(cat "$WORK/kib.8G") KiB in 8G: too few to show anything in 144M"
	[ "$(cat "$WORK/kib.144M")" -le $((144 * 1024)) ] || fail "$(cat "$WORK/kib.144M") KiB in 144M"
done
report_in default
cmp "$WORK/of.8G" "$WORK/of.default" || fail "$section is another one if nothing is said of memory"
[ "$(cat "$WORK/kib.default")" -le $((256 * 1024)) ] || fail "$(cat "$WORK/kib.default") KiB if nothing is said"
