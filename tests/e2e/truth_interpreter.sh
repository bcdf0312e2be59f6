#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A Python thread holds the interpreter's lock for which the launching thread waits: all slices of its waits lead to the
# holder, and to its current function, with default options; for each installed CPython 3.
# longer: every version, not the oldest and the newest alone
# beside others: what others take of the CPUs is told apart from what it judges
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq python3

readonly POINTS=10 # of the time looked at that a share may be off
readonly LATE_NS=100000
readonly UNKNOWN_POINTS=25 # of a version whose lock the recorder does not know

# job PYTHON WAY: like launch_truth() for a Python program
job() {
	rm -f "$WORK/job.in"
	mkfifo "$WORK/job.in"
	"$1" "$ROOT/tests/truth/interpreter_lock.py" "$2" 1.5 <"$WORK/job.in" >"$WORK/job.out" 2>"$WORK/job.err" &
	TRUTH_PID=$! TRUTH_OUT=$WORK/job.out
	exec {TRUTH_IN}>"$WORK/job.in"
	wait_for_line "$TRUTH_OUT" '^ready' 20
	# Without the tests' catalog, which names a function that CPython has, too: its probe would dominate the run
	# time.
	attach_in_background "$TRUTH_PID" "$WORK/job.pbt"
	truth_go 30
	stop_attach
	truth_end
}

# roots FILTER: nanoseconds of main's waits with roots that match
roots() { jq "[.waits.roots[] | select($1) | .ns] | add // 0" "$WORK/waits.json"; }

# judge VERSION WAY POINTS SLICES: SLICES is "led" where slices may stand for themselves and count as led to the holder
judge() {
	local all truth led own late slices points=$3
	"$ANALYZER" report "$WORK/job.pbt" --thread "$(truth_value main.tid)" --section waits --format json -o "$WORK/waits.json"
	all=$(truth_value all_ns) truth=$(($(truth_value wait_ns) * 100 / all))
	# Sleeps take longer than requested; this is no wait for the lock.
	late=$(($(truth_value count) * LATE_NS * 100 / all))
	# A holder without a CPU still has the lock.
	led=$(($(roots "any(.chain[1:][]; .tid == $(truth_value holder.tid))") * 100 / all))
	# A wait for a CPU is no wait for the lock, but the job's own clock contains both.
	own=$(($(roots ".cause == \"runnable\" and (.chain | length) == 1") * 100 / all))
	slices=$(($(roots '.cause == "sleep" and ((.object // "") | startswith("futex"))') * 100 / all))
	[ "$4" != led ] || led=$((led + slices))
	assert_between "$1, $2: percent of the time that leads to the holder" $((truth - own - late - points)) $((truth + POINTS)) "$led"
	[ "$4" != led ] || return 0
	assert_between "$1, $2: percent of the time in slices of a wait that stand for themselves" 0 "$4" "$slices"
	jq -c "[.waits.roots[] | select(.cause == \"user_code\" and .tid == $(truth_value holder.tid))][0]" "$WORK/waits.json" >"$WORK/root"
	assert_eq "$1, $2: the way to it" "lock $(truth_value main.tid) user_code $(truth_value holder.tid)" \
		"$(jq -r '[.chain[] | "\(.cause) \(.tid)"] | join(" ")' "$WORK/root")"
}

seen=
while read -r version python; do
	"$python" -c 'import ctypes' 2>/dev/null || continue
	seen+=" $version"
	for way in bytecode native; do
		job "$python" "$way"
		if ! [[ $version =~ ^3\.([789]|1[0-4])$ ]]; then
			# Slices are recognised by their form alone. A holder that releases the lock within a
			# microsecond of the end of a slice leaves no slice that it ends itself.
			slices=led
			[ "$way" = bytecode ] || slices=$UNKNOWN_POINTS
			judge "$version" "$way" "$UNKNOWN_POINTS" "$slices"
			continue
		fi
		judge "$version" "$way" "$POINTS" 3
		assert_contains "where it is" "$WORK/root" "interpreter_lock.py:[0-9]+ hold_(by_bytecode|in_native)"
	done
done < <(pythons)
[ -n "$seen" ] || skip "needs a CPython 3 with ctypes"
