#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The report as a page: its script draws every figure of the JSON report, and never interprets names as markup.
# beside others: it makes its files itself, and no time counts
. "$(dirname "$0")/lib.sh"
need_command jq
need_command node

TABLE=$WORK/op_summary_20231114.csv
note "-- ten steps of a device, with names that would be markup"
{
	printf 'Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n'
	for ((i = 0; i < 10; i++)); do
		at=$((1700000000000000 + i * 10000))
		printf '0,%d,3,"net/</script><script>alert(1)</script>",<img src=x>,AI_CORE,%d.125\t,1500.25\n' $((i * 4)) $at
		printf '0,%d,3,net/Unique,Unique,AI_CPU,%d.5\t,2500\n' $((i * 4 + 1)) $((at + 2000))
		printf '0,N/A,N/A,hcom_allReduce__1_%d,hcom_allReduce_,COMMUNICATION,%d\t,800.001\n' $i $((at + 5000))
		printf '0,%d,3,net/Adam,ApplyAdam,AI_CORE,%d\t,100\n' $((i * 4 + 2)) $((at + 6000))
	done
} >"$TABLE"
"$ANALYZER" report --device "$TABLE" --format json >"$WORK/report.json"
"$ANALYZER" report --device "$TABLE" --format html -o "$WORK/report.html"
assert_eq "ends of scripts" 4 "$(grep -o '</script>' "$WORK/report.html" | wc -l)"
sed -n 's|^<script type="text/plain" id="report">\([^<]*\)</script>$|\1|p' "$WORK/report.html" | base64 -d | zcat >"$WORK/inside.json"
assert_eq "the report in it" "$(jq -cS . "$WORK/report.json")" "$(jq -cS 'del(.left_out)' "$WORK/inside.json")"
if sed 's/<script type="text\/plain".*//' "$WORK/report.html" | grep -qE '(src|href)="?(http|//)|@import|url\('; then
	fail "the page loads something"
fi

node "$ROOT/tests/tools/page.mjs" "$WORK/report.html" "$WORK/report.json" >"$WORK/drawn" 2>"$WORK/figures" ||
	fail "the page cannot be drawn: $(cat "$WORK/figures")"
for section in operators operator_types steps overlap idle devices; do
	assert_contains "section $section" "$WORK/drawn" "<section id=\"$section\">"
done
for chart in "Device time by type of operator" "Steps of device 0, Ascend" "Idle time by root" "Device 0"; do
	assert_contains "chart" "$WORK/drawn" "<figcaption>$chart</figcaption><div data-chart"
done
assert_contains "the verdict" "$WORK/drawn" "<section id=\"verdict\" data-state=\"$(json "$WORK/report.json" .verdict.state)\">"
total=$(jq '.operators[] | select(.name == "net/Unique") | .total_ns' "$WORK/report.json")
assert_eq "an operator's time" 25000000 "$total"
assert_contains "an operator's time as people read it" "$WORK/drawn" 'data-value="25000000">25.00 ms</td>'

note "-- every figure of the pages of what is stored is that of the JSON report"
for input in tests/data/traces/*.pbt tests/data/devices/*; do
	option=--device
	[ "${input%.pbt}" = "$input" ] || option=
	"$ANALYZER" report $option "$input" --format json >"$WORK/report.json" 2>/dev/null || continue
	"$ANALYZER" report $option "$input" --format html >"$WORK/report.html" 2>/dev/null
	node "$ROOT/tests/tools/page.mjs" "$WORK/report.html" "$WORK/report.json" >"$WORK/drawn" 2>"$WORK/figures" ||
		fail "the page of $input: $(grep -m 1 Error "$WORK/figures")"
	assert_eq "$input: percentiles of steps" "$(jq -c '[.steps.p50_ns, .steps.p99_ns]' "$WORK/report.json")" "$(jq -c '
		[.steps.rows // [] | .[].duration_ns] | sort as $ns | [50, 99] | map($ns[((. * ($ns | length) + 99) / 100 | floor) - 1])' "$WORK/report.json")"
	note "$input: $(cat "$WORK/figures")"
done

note "-- devices of one number differ in their rank, and what there is no room for is named"
python3 "$ROOT/tests/tools/make_kineto_ranks.py" "$WORK/ranks" 10 4 3 8
"$ANALYZER" report --device "$WORK/ranks" --format json >"$WORK/report.json"
"$ANALYZER" report --device "$WORK/ranks" --format html >"$WORK/report.html"
node "$ROOT/tests/tools/page.mjs" "$WORK/report.html" "$WORK/report.json" >"$WORK/drawn" 2>"$WORK/figures" ||
	fail "the page of ranks: $(grep -m 1 Error "$WORK/figures")"
assert_eq "ranks whose steps contain their own collective, and no other" 10 "$(jq '[.steps.devices[].mean | select(.all_reduce[0].count == 1)] | length' "$WORK/report.json")"
assert_contains "steps of a rank" "$WORK/drawn" '<figcaption>Steps of device 0 \(rank 3\), GPU</figcaption>'
assert_contains "a rank's steps above its own rows" "$WORK/drawn" 'Device 0 \(rank 1\), GPU, Steps; Device 0 \(rank 1\), GPU, Idle, by root; Device 0 \(rank 1\), GPU, Stream 7'
assert_contains "an operator of a rank" "$WORK/drawn" 'Device time by operator. gemm, rank 3 '
assert_contains "how the steps are known" "$WORK/drawn" 'data-value="marker">marks, or calls that begin a step<'
assert_contains "why a chain ends" "$WORK/drawn" 'data-value="no_record">nothing was recorded then<'
assert_contains "what is not drawn" "$WORK/drawn" 'Not drawn here: 2 more devices; the lines “Tasks queued, Device 0 \(rank 6\), GPU”, “Tasks queued, Device 0 \(rank 7\), GPU”\.'
assert_contains "other bars" "$WORK/drawn" '<p class="note">All others: 9, each in a row of a table below.</p>'

rm "$WORK"/ranks/rank[4-9].json
"$ANALYZER" report --device "$WORK/ranks" --format json >"$WORK/report.json"
"$ANALYZER" report --device "$WORK/ranks" --format html >"$WORK/report.html"
node "$ROOT/tests/tools/page.mjs" "$WORK/report.html" "$WORK/report.json" >"$WORK/drawn" 2>"$WORK/figures" ||
	fail "the page of four ranks: $(grep -m 1 Error "$WORK/figures")"
assert_contains "means of a rank" "$WORK/drawn" '<h4>Device 0 \(rank 3\), GPU: Mean</h4>'

note "-- of long lists the page keeps the beginning, says what is missing, and stays small"
awk 'BEGIN { print "Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)"
	for (i = 0; i < 400000; i++) printf "0,%d,3,net/op%d,Op,AI_CORE,%d.125\t,%d.25\n", i, i % 50000, 1700000000000000 + i * 9000, 1000 + i * 7919 % 5000 }' >"$WORK/op_summary_20231115.csv"
"$ANALYZER" report --device "$WORK/op_summary_20231115.csv" --format json --top 0 >"$WORK/report.json"
"$ANALYZER" report --device "$WORK/op_summary_20231115.csv" --format html --top 0 >"$WORK/report.html"
node "$ROOT/tests/tools/page.mjs" "$WORK/report.html" "$WORK/report.json" >"$WORK/drawn" 2>"$WORK/figures" ||
	fail "the page of an hour: $(grep -m 1 Error "$WORK/figures")"
assert_contains "what is missing" "$WORK/drawn" '[0-9,]* further rows are in the JSON report only'
size=$(stat -c %s "$WORK/report.html")
note "an hour of tasks: $size bytes, $(stat -c %s "$WORK/report.json") of JSON"
[ "$size" -le 5000000 ] || fail "the page of an hour has $size bytes"

note "-- the page of an hour of a host is small, too: 3,600 seconds' figures, half a million calls"
"$BUILD/tests/tools/make_hour" "$WORK/hour.pbt" 3600 4
"$ANALYZER" report "$WORK/hour.pbt" --format html -o "$WORK/report.html"
size=$(stat -c %s "$WORK/report.html")
assert_between "bytes of it" 100000 5000000 "$size"

assert_status "info has no page" 2 "$ANALYZER" info --device "$TABLE" --format html
