#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Without a device's tasks: threads are judged instead, and calls that wait for the device bound its busy time; the
# simulated device knows its real busy time. A process without any runtime gets a verdict, too: for its main thread, or
# for --thread.
# timeout: 900
# beside others: what others take of the CPUs is told apart from what it judges
. "$(dirname "$0")/lib.sh"
need_root
need_command jq python3

SIM=$BUILD/ascend-sim
[ -x "$SIM/layers" ] || fail "$SIM/layers is not built: run make ascend-sim"

# bounds NAME BLOCK_NS ARGUMENT...: bounds of the device's busy time from the host's calls. Sets R, and LEAST, TRUE,
# MOST in percent
bounds() {
	local name=$1 block_ns=$2 input
	shift 2
	mkdir "$WORK/$name"
	mkfifo "$WORK/$name/in"
	ASCEND_SIM_BLOCK_NS=$block_ns ASCEND_SIM_OUT=$WORK/$name "$SIM/layers" "$@" <"$WORK/$name/in" >"$WORK/$name/out" \
		2>"$WORK/$name/err" &
	JOB_PID=$!
	exec {input}>"$WORK/$name/in"
	wait_for_line "$WORK/$name/out" '^ready' 30
	attach_in_background "$JOB_PID" "$WORK/$name/trace.pbt"
	echo go >&$input
	wait_for_line "$WORK/$name/out" '^done' 120
	stop_attach
	echo end >&$input
	exec {input}>&-
	wait_for_end "$JOB_PID" 30 || fail "$name failed: $(cat "$WORK/$name/err")"
	R=$WORK/$name/report.json
	"$ANALYZER" report "$WORK/$name/trace.pbt" --section trace,waits,verdict --format json -o "$R"
	LEAST=$(json "$R" .waits.device_busy_at_least_percent)
	MOST=$(json "$R" .waits.device_busy_at_most_percent)
	TRUE=$(python3 - "$WORK/$name/truth.json" "$(json "$R" .trace.start_ns)" "$(json "$R" .waits.window_ns)" <<-'END'
		import json, sys
		start, window = int(sys.argv[2]), int(sys.argv[3])
		busy, reach = 0, start
		for task in sorted(json.load(open(sys.argv[1]))["tasks"], key=lambda t: t["start_ns"]):
		    if task["kind"] > 3:  # events and marks
		        continue
		    begin, end = max(task["start_ns"], reach), min(task["end_ns"], start + window)
		    busy += max(0, end - begin)
		    reach = max(reach, end)
		print(100 * busy / window)
	END
	)
	note "$name: busy at least $LEAST %, truly $TRUE %, at most $MOST %"
	assert_eq "$name: whose time it is" launches "$(json "$R" .waits.of)"
	# The waits that bound it are the host's instants, the truth the device's: each kernel is off by microseconds.
	assert_between "$name: how busy it truly was" "$(python3 -c "print($LEAST - 0.5)")" "$(python3 -c "print($MOST + 0.5)")" "$TRUE"
	assert_eq "$name: waits add up" "$(json "$R" .waits.total_ns)" "$(jq '[.waits.roots[].ns] | add' "$R")"
	assert_eq "$name: all its time" "$(json "$R" .waits.window_ns)" "$(jq '.waits.total_ns + .waits.run_ns' "$R")"
}

# The host waits for the device at the end of each turn, or after each kernel.
bounds by_device 200000 train 15
assert_eq "the verdict" device "$(json "$R" .verdict.state)"
json "$R" .verdict.sentence >"$WORK/words"
assert_contains "the bounds in words" "$WORK/words" 'busy for at least [0-9]+ %, at most [0-9]+ %'
assert_between "nothing is known better than that" 50 100 "$LEAST"
bounds each_kernel 1000000 blocking 3
# Every 20th turn the host waits for a thread that sleeps twice as long as the other turns take.
bounds by_host 2000 train 60 400000
assert_between "the device has nothing to do for most of it" 0 50 "$MOST"
assert_eq "the verdict" host_code "$(json "$R" .verdict.state)"
jq -r .verdict.root.who "$R" >"$WORK/words"
assert_contains "who it is" "$WORK/words" '^validator '

# ---- No runtime at all

# Before the processes that load the machine.
mkfifo "$WORK/in"
nice -n -15 "$TRUTH/waiters" <"$WORK/in" >"$WORK/waiters" &
job=$!
exec {input}>"$WORK/in"
wait_for_line "$WORK/waiters" '^ready' 20
tid() { sed -n "s/^$1=//p" "$WORK/waiters"; }

# why NAME STATE WHO CAUSE OPTION...
why() {
	local name=$1 state=$2 who=$3 cause=$4
	shift 4
	assert_status "$name" 0 "$PROFCTL" why "$job" --duration 1s -o "$WORK/$name.pbt" "$@"
	assert_contains "$name" "$WORK/out" "^root +$who $(tid "$who").*; $cause, "
	assert_contains "$name" "$WORK/out" "^do "
	R=$WORK/$name.json
	"$ANALYZER" report "$WORK/$name.pbt" --section verdict,waits --format json "$@" -o "$R"
	assert_eq "$name: state" "$state" "$(json "$R" .verdict.state)"
}

why main host_code source sleep
assert_eq "through whom" "waiters maker source" "$(jq -r '[.verdict.root.chain[].who | split(" ")[0]] | join(" ")' "$R")"
why second host_code holder sleep --thread "$(tid second)"
assert_eq "whose time it is" asked "$(json "$R" .waits.of)"

assert_status "a thread that is not there" 1 "$PROFCTL" why "$job" --duration 300ms --thread 4194304
assert_contains "a thread that is not there" "$WORK/err" 'thread 4194304 does not exist'
assert_status "no thread id" 2 "$PROFCTL" why "$job" --duration 300ms --thread x
# A thread of another process, whose activity is not in the recording.
assert_status "of another process" 0 "$PROFCTL" why "$job" --duration 300ms --thread $$
assert_contains "of another process" "$WORK/out" 'cannot be known'

exec {input}>&-
wait_for_end "$job" 10 || fail "waiters: $?"
