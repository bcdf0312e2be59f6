#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Topic stack: a known chain of calls on a CPU, known sleeps at a known place, code made at run
# time; in the report, in files for flame graphs and in Perfetto's format.
# beside others: stacks are the same however busy the machine
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"

need_root
need_command jq
need_command protoc

# Frames of the program's own functions in the single place of its long sleeps.
SLEEP_FRAMES='[.stacks.blocking[] | select([.frames[].name] | index("block_here"))]'

# check_frames REPORT: its sleeps have the whole chain of its own functions
check_frames() {
	assert_eq "frames of the program" "block_here block_outer block_far main" "$(jq -r "(${SLEEP_FRAMES})[0].frames |
		map(select(.kind == \"user\" and (.file | endswith(\"/call_chain\")))) | .[:4] | map(.name) | join(\" \")" "$1")"
}

trace=$WORK/stacks.pbt report=$WORK/stacks.json
start_truth call_chain 1000
attach_truth "$trace" --topics sched,stack --stack-rate 250 --stack-block 3ms
truth_go 60
stop_attach
truth_end
report_json "$trace" "$report"
assert_loss_accounted "$report"

# A sample is taken 250 times a second of CPU time: stolen time and a busy machine thin them out.
spin_ms=$(($(truth_value spin_ns) / 1000000))
expected=$((spin_ms * 250 / 1000))
note "CPU time of the chain: $spin_ms ms"
function_field() {
	jq "[.stacks.functions[] | select(.name == \"$1\") | .$2] | add // 0" "$report"
}
assert_between "samples in spin_here" $((expected / 10)) $((expected * 2)) "$(function_field spin_here total)"
[ "$(function_field descend self)" -le $((expected / 10)) ] || fail "descend itself does next to nothing"
spin=$(function_field spin_here total) descend=$(function_field descend total)
# If the prologue of spin_here is interrupted, its caller's frame is missing.
assert_between "samples below descend" $((spin * 9 / 10)) "$((descend > spin ? descend : spin))" "$descend"
assert_between "samples below main" $((spin * 9 / 10)) "$(json "$report" .stacks.samples)" "$(function_field main total)"

generated_ms=$(($(truth_value generated_ns) / 1000000))
assert_between "samples in code made at run time" $((generated_ms / 40)) $((generated_ms / 2)) \
	"$(function_field generated_loop self)"
assert_eq "where the perf map says it comes from" "/made/up.py" \
	"$(json "$report" '.stacks.functions[] | select(.name == "generated_loop") | .file')"
assert_eq "it is Python" python "$(json "$report" '.stacks.functions[] | select(.name == "generated_loop") | .kind')"

# Every long sleep, with its whole chain, and no short sleep.
assert_eq "places" 1 "$(jq "${SLEEP_FRAMES} | length" "$report")"
# Kernels that do not report every switch hide some sleeps.
sleeps=$(truth_value sleeps) seen=$(jq "(${SLEEP_FRAMES})[0].count" "$report")
assert_between "sleeps" $((sleeps - 2 - $(json "$report" .capture.switches_missing))) "$sleeps" "$seen"
check_frames "$report"
slept=$((seen * $(truth_value sleep_ns)))
# Sleeps end later than requested, depending on the load of the machine.
assert_between "time asleep" $((slept * 8 / 10)) $((slept * 20 * SLACK)) "$(jq "(${SLEEP_FRAMES})[0].total_ns" "$report")"
# Sleeps within a single call.
writes=$(truth_value write_sleeps)
assert_between "sleeps in one call" $((writes - 2 - $(json "$report" .capture.switches_missing))) "$writes" \
	"$(jq '[.stacks.blocking[] | select([.frames[].name] | index("block_in_write")) | .count] | add // 0' "$report")"
if [ "$(awk '$1 !~ /^0+$/ { print; exit }' /proc/kallsyms)" ]; then
	jq -e "(${SLEEP_FRAMES})[0].frames | any(.kind == \"kernel\" and (.name | test(\"nanosleep\")))" "$report" >/dev/null ||
		fail "no kernel frame tells of nanosleep: $(jq -c "(${SLEEP_FRAMES})[0].frames" "$report")"
fi

# The recursion is recorded frame by frame, as the program reports.
"$ANALYZER" export "$trace" --to folded -o "$WORK/cpu.folded"
chain="main$(printf ';descend%.0s' $(seq "$(truth_value depth)"));spin_here"
assert_contains "the whole chain, outermost first" "$WORK/cpu.folded" "^call_chain;.*$chain( |;)"
assert_eq "samples in the file" "$(json "$report" .stacks.samples)" \
	"$(awk '{ n += $NF } END { print n + 0 }' "$WORK/cpu.folded")"
"$ANALYZER" export "$trace" --to folded --kind off-cpu -o "$WORK/blocked.folded"
assert_contains "sleeps" "$WORK/blocked.folded" "^call_chain;.*main;block_far;block_outer;block_here;.* [0-9]+$"
assert_eq "time in the file" "$(json "$report" .stacks.blocked_ns)" \
	"$(awk '{ n += $NF } END { printf "%.0f", n }' "$WORK/blocked.folded")"

# The other formats have the same content, by third-party readers.
for kind in on-cpu off-cpu; do
	"$ANALYZER" export "$trace" --to folded --kind "$kind" -o "$WORK/$kind.folded"
	"$ANALYZER" export "$trace" --to speedscope --kind "$kind" -o "$WORK/$kind.json"
	"$ANALYZER" export "$trace" --to pprof --kind "$kind" -o "$WORK/$kind.pb.gz"
	sum=$(awk '{ n += $NF } END { printf "%.0f", n }' "$WORK/$kind.folded")
	assert_eq "$kind: speedscope's weights" "$sum" "$(jq '.profiles[0].weights | add' "$WORK/$kind.json")"
	jq -r '.shared.frames as $f | .profiles[0] | [.samples, .weights] | transpose[] |
		(.[0] | map($f[.].name | gsub(";"; "_")) | join(";")) + " \(.[1])"' "$WORK/$kind.json" |
		cmp - "$WORK/$kind.folded" || fail "$kind: speedscope's stacks are others than the folded ones"
	column=$([ "$kind" = on-cpu ] && echo 1 || echo 2)
	assert_eq "$kind: pprof's values" "$sum" "$(zcat "$WORK/$kind.pb.gz" |
		protoc --decode pprof.Profile proto/pprof.proto |
		awk -v want="$column" '$1 == "sample" { at = 0 } $1 == "value:" && ++at == want { n += $2 } END { printf "%.0f", n }')"
done
if command -v go >/dev/null; then
	# As text, so that no browser or graphviz is needed.
	go tool pprof -traces "$WORK/off-cpu.pb.gz" >"$WORK/traces" 2>&1 || fail "go tool pprof: $(cat "$WORK/traces")"
	assert_contains "a sleep, as pprof shows it" "$WORK/traces" "block_here"
else
	leave_out "no Go: pprof does not open its file"
fi

"$ANALYZER" report "$trace" --section stacks >"$WORK/text"
assert_contains "text" "$WORK/text" "spin_here"
assert_contains "text" "$WORK/text" "block_here < block_outer < block_far < main"

# Calls with probed returns: their stacks are unchanged.
start_truth call_chain 10
attach_truth "$WORK/probed.pbt" --topics api,sched,stack --stack-block 3ms
truth_go 60
stop_attach
truth_end
report_json "$WORK/probed.pbt" "$WORK/probed.json"
assert_eq "probed calls" 20 "$(api_count "$WORK/probed.json" block_here)"
assert_eq "places" 1 "$(jq "${SLEEP_FRAMES} | length" "$WORK/probed.json")"
check_frames "$WORK/probed.json"

# Without topic sched: the same sleeps, and no recorded switch.
start_truth call_chain 10
attach_truth "$WORK/alone.pbt" --topics stack --stack-block 3ms
truth_go 60
stop_attach
truth_end
report_json "$WORK/alone.pbt" "$WORK/alone.json"
assert_between "sleeps" 18 20 "$(jq "(${SLEEP_FRAMES})[0].count" "$WORK/alone.json")"
check_frames "$WORK/alone.json"
assert_eq "switches on record" 0 "$(json "$WORK/alone.json" '[.capture.sources[] | select(.name == "sched") | .produced] | add // 0')"

# Off unless asked for.
"$PROFCTL" record --standalone -o "$WORK/without.pbt" -- true 2>"$WORK/record.err"
report_json "$WORK/without.pbt" "$WORK/without.json"
jq -e '(.stacks.blocking // []) == []' "$WORK/without.json" >/dev/null || fail "stacks without topic stack"
