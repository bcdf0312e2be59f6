#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The report as a page: its script runs, draws the figures of the JSON report, and takes no name for markup.
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
assert_eq "scripts" 2 "$(grep -c '</script>' "$WORK/report.html")"
sed -n 's/^<script type="application\/json" id="report">//; /^{/,/<\/script>/p' "$WORK/report.html" | sed 's/<\/script>$//' >"$WORK/inside.json"
assert_eq "the report in it" "$(jq -cS . "$WORK/report.json")" "$(jq -cS . "$WORK/inside.json")"
if grep -qE '(src|href)="?(http|//)|@import|url\(' "$WORK/report.html"; then
	fail "the page loads something"
fi

node "$ROOT/tests/tools/page.mjs" "$WORK/report.html" >"$WORK/drawn" || fail "the page cannot be drawn"
for section in operators operator_types steps overlap idle devices; do
	assert_contains "section $section" "$WORK/drawn" "<section id=\"$section\">"
done
for chart in "Time by type of operator" "Steps of device 0" "Mean step of device 0" "Why devices were idle" "Device 0"; do
	assert_contains "chart" "$WORK/drawn" "<figcaption>$chart</figcaption><svg"
done
assert_contains "the verdict" "$WORK/drawn" "<section id=\"verdict\" data-state=\"$(json "$WORK/report.json" .verdict.state)\">"
total=$(jq '.operators[] | select(.name == "net/Unique") | .total_ns / 1e6' "$WORK/report.json")
assert_contains "an operator's time" "$WORK/drawn" "net/Unique</td>.*>$(printf %.3f "$total")</td>"
assert_status "info has no page" 2 "$ANALYZER" info --device "$TABLE" --format html
