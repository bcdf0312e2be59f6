#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Devices that are idle because of a thread at the end of a chain of waits: the right thread is the top root, with the
# cause and share from its own output, and the chain leads to it. All sums are exact.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
. "$(dirname "$0")/trace_queries_lib.sh"
need_root
need_command jq

readonly POINTS=10 # of its idle time that the share of a root may be off

disk=
if command -v losetup >/dev/null; then
	truncate -s 32M "$WORK/disk"
	disk=$(losetup --find --show --direct-io=on "$WORK/disk" 2>/dev/null) || disk=
	[ -z "$disk" ] || trap 'status=$?; trap - ERR; losetup -d "$disk"; (exit $status); cleanup_test' EXIT
fi
[ -n "$disk" ] || leave_out "no loop device: nobody waits for a disk"

start_truth roots ${disk:+"$disk"}
attach_truth "$WORK/roots.pbt"
truth_go 60
stop_attach
truth_end
r=$WORK/roots.json
report_json "$WORK/roots.pbt" "$r" --section capture,idle --top 0
assert_eq "capture is complete" true "$(jq .capture.complete "$r")"
assert_eq "roots add up to the idle time" "$(jq .idle.total_ns "$r")" "$(jq '[.idle.roots[].ns] | add' "$r")"
assert_eq "causes still do" "$(jq .idle.total_ns "$r")" "$(jq '[.idle.causes[].ns] | add' "$r")"
assert_eq "no chain has more than it should" 0 \
	"$(jq '[.idle.roots[] | select(.chain[0].ns > .ns or .chain[-1].ns > .ns or .chain[0].ns < .chain[-1].ns)] | length' "$r")"

# An idle CPU had to wake up: no thread causes this, and it has its own cause.
assert_eq "what idle CPUs do, but wake up" '[]' \
	"$(jq -c '[.idle.roots[] | select(.cause == "runnable" and .who == "an idle CPU") | .doing] - ["wake-up latency"]' "$r")"
assert_eq "interrupts without a kind" 0 "$(jq '[.idle.roots[] | select(.cause == "irq" and (has("object") | not))] | length' "$r")"

# scene NAME CAUSE HOPS [POINTS]: chains that begin with its main thread belong to it. The top root is judged by the
# truth: on a loaded machine other processes may rightly have a larger share.
printf '%-8s %-10s %5s %8s %8s %5s  %s\n' scene cause hops "truth %" "share %" top chain
scene() {
	local name=$1 cause=$2 hops=$3 points=${4:-$POINTS} main idle truth ready tid share top chain
	main=$(truth_value "$name.main") idle=$(truth_value "$name.idle_ns") truth=$(truth_value "$name.ns")
	# While the main thread itself waited for a CPU it did not wait for other threads.
	ready=$(truth_value "$name.ready_ns")
	jq --argjson main "$main" '[.idle.roots[] | select(.chain[0].tid == $main)]' "$r" >"$WORK/$name.json"
	tid=".tid == $(truth_value "$name.tid")"
	# Interrupts on its CPU count in a thread's clock.
	share=$(jq "[.[] | select((.cause == \"$cause\" or (\"$cause\" == \"user_code\" and .cause == \"irq\")) and $tid) | .ns] |
		add // 0" "$WORK/$name.json")
	top=$(jq "map(select(.cause != \"runnable\"))[0] | .cause == \"$cause\" and $tid" "$WORK/$name.json")
	chain=$(jq -r "[.[] | select(.cause == \"$cause\" and $tid)][0].chain | map(.who) | join(\" <- \")" "$WORK/$name.json")
	printf '%-8s %-10s %5s %8s %8s %5s  %s\n' "$name" "$cause" "$hops" "$((truth * 100 / idle))" "$((share * 100 / idle))" \
		"$top" "$chain"
	assert_between "$name: share of the root in percent" $(((truth - ready) * 100 / idle - points)) $((truth * 100 / idle + POINTS)) \
		$((share * 100 / idle))
	assert_eq "$name: hops from the main thread to the root" "$hops" \
		"$(jq "[.[] | select(.cause == \"$cause\" and $tid)][0].chain | length" "$WORK/$name.json")"
	# An excess in the truth, within its error, does not make it the top root.
	[ $((truth * 100 / idle - (points - POINTS))) -lt 50 ] || assert_eq "$name: the root is on top" true "$top"
}

scene burn2 user_code 2
scene sleep2 sleep 2
scene burn3 user_code 3
scene pipe3 sleep 3
scene line sleep 7
scene slices user_code 2
scene crowd user_code 2
scene child sleep 2
scene server user_code 2
scene mutex user_code 2
scene signal user_code 2
# It reports its time off the CPU, by a clock that excludes interrupts and stolen time: up to twice the other scenes'
# excess over its sleeps.
[ -z "$disk" ] || scene disk io 3 $((2 * POINTS))

# The same threads without the device: their own waits lead to the same roots.
for name in sleep2 burn3 line; do
	w=$WORK/waits.json
	"$ANALYZER" report "$WORK/roots.pbt" --thread "$(truth_value "$name.main")" --section waits --format json -o "$w"
	assert_eq "$name: waits add up" "$(jq .waits.total_ns "$w")" "$(jq '[.waits.roots[].ns] | add' "$w")"
	assert_eq "$name: work adds up" "$(jq .waits.run_ns "$w")" "$(jq '[.waits.run[].ns] | add' "$w")"
	assert_eq "$name: both are all of its time" "$(jq .waits.window_ns "$w")" "$(jq '.waits.total_ns + .waits.run_ns' "$w")"
	assert_eq "$name: whom it waits for most" "$(truth_value "$name.tid")" \
		"$(jq '[.waits.roots[] | select(.cause != "runnable")][0].tid' "$w")"
done

# The verdict is the largest kind of roots, in at most five lines, before everything else.
expected=$(jq -r '[.idle.roots[] | { ns, state: (if .cause | IN("runnable", "throttled", "irq") then "cpu"
	elif .cause == "device_wait" then "device" elif .cause | IN("unknown", "no_work") then "unknown" else "host_code" end) }] |
	group_by(.state) | max_by(map(.ns) | add)[0].state' "$r")
"$ANALYZER" report "$WORK/roots.pbt" --section verdict --format json -o "$WORK/verdict.json"
assert_eq "the verdict" "$expected" "$(jq -r .verdict.state "$WORK/verdict.json")"
assert_eq "its root is a row of the roots" 1 \
	"$(jq --slurpfile v "$WORK/verdict.json" '[.idle.roots[] | select(. == $v[0].verdict.root)] | length' "$r")"
"$ANALYZER" report "$WORK/roots.pbt" --section verdict >"$WORK/verdict.txt"
assert_between "lines of the verdict" 3 5 "$(wc -l <"$WORK/verdict.txt")"
"$ANALYZER" report "$WORK/roots.pbt" -o "$WORK/report.txt"
assert_eq "what the report begins with" "$(cat "$WORK/verdict.txt")" \
	"$(head -n "$(wc -l <"$WORK/verdict.txt")" "$WORK/report.txt")"

# The same as text, and as tables.
"$ANALYZER" report "$WORK/roots.pbt" --section idle --top 200 >"$WORK/roots.txt"
grep -q '^Roots of the waits' "$WORK/roots.txt" || fail "no roots in the text"
grep -Eq 'line [0-9]+ .*<- line_4 [0-9]+ <- line_3 [0-9]+ <- line_2 [0-9]+ <- 2 more <- line_main [0-9]+' "$WORK/roots.txt" ||
	fail "no chain in the text"
"$ANALYZER" export "$WORK/roots.pbt" --to csv -o "$WORK/tables"
assert_eq "roots of the tables add up" "$(jq .idle.total_ns "$r")" \
	"$(python3 -c 'import csv, sys; print(sum(int(row["ns"]) for row in csv.DictReader(sys.stdin)))' \
		<"$WORK/tables/idle_roots.csv")"

# On a timeline the chains are arrows, from the root to the waiting threads and on to the device: each from one thread
# of a chain to the next, none to another scene, and as long as the root held up the others.
if [ ! -s "$ROOT/build/tools/trace-processor/trace_processor.wasm" ]; then
	leave_out "no trace processor (./setup check fetches it): arrows of timelines are not looked at"
else
	chains="'sleep2>sleep2_main', 'burn2>burn2_main', 'burn3>burn3_0', 'burn3_0>burn3_main', 'pipe3>pipe3_0', 'pipe3_0>pipe3_main',
		'slices>slices_main', 'crowd>crowd_main', 'mutex>mutex_main', 'signal>signal_main', 'line>line_4', 'line_4>line_3',
		'line_3>line_2', 'line_2>line_1', 'line_1>line_0', 'line_0>line_main'"
	scenes="'sleep2', 'burn2', 'burn3', 'pipe3', 'slices', 'crowd', 'mutex', 'signal', 'line'"
	arrows="(select a.name cause, a.ts ts, a.dur dur, b.ts end_ts, b.dur end_dur, b.category category, at.name tail, bt.name head,
		substr(at.name, 1, instr(at.name || '_', '_') - 1) tail_scene, substr(bt.name, 1, instr(bt.name || '_', '_') - 1) head_scene
		from flow f join slice a on a.id = f.slice_out join slice b on b.id = f.slice_in
		join thread_track au on au.id = a.track_id join thread at on at.utid = au.utid
		left join thread_track bu on bu.id = b.track_id left join thread bt on bt.utid = bu.utid where a.category = 'holder')"
	"$ANALYZER" export "$WORK/roots.pbt" --to perfetto -o "$WORK/roots.pftrace"
	assert_trace_clean "$WORK/roots.pftrace"
	expect "arrows that are not from who was waited for to who waited" 0 \
		"select count(*) from $arrows where tail_scene in ($scenes) and head_scene in ($scenes)
		 and tail || '>' || head not in ($chains)"
	expect "arrows to a device that are not from who submits to it" 0 \
		"select count(*) from $arrows where category = 'root' and tail_scene in ($scenes) and tail not glob '*_main'"
	expect "arrows between other instants" 0 "select count(*) from $arrows where ts != end_ts or dur != end_dur"
	compare "$WORK/roots.pftrace"
	trace_query "$WORK/roots.pftrace" "select tail, head, cause, sum(dur) from $arrows where category != 'root' group by tail, head, cause" |
		tr -d '"' >"$WORK/arrows.csv"
	for arrow in sleep2,sleep2_main,sleep burn3,burn3_0,user_code burn3_0,burn3_main, pipe3,pipe3_0,sleep line,line_4,sleep line_4,line_3, \
		line_0,line_main,; do
		scene=${arrow%%[_,]*}
		truth=$(truth_value "$scene.ns") idle=$(truth_value "$scene.idle_ns") ready=$(truth_value "$scene.ready_ns")
		took=$(awk -F , -v arrow="$arrow" 'index($0, arrow) == 1 { ns += $4 } END { printf "%.0f", ns }' "$WORK/arrows.csv")
		assert_between "arrows $arrow: percent of the idle time" $(((truth - ready) * 100 / idle - POINTS)) 100 $((took * 100 / idle))
	done
fi
