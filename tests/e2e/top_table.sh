#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# profctl top: a single table for scripts with the right calls, and a live table on a terminal, with resizing and
# quitting.
# beside others: its daemon is its own, and no time counts
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

# busy calls seven traced functions in each round, until it reads a line.
start_truth busy
start_daemon

note "-- one table"
"$PROFCTL" top --once --pid "$TRUTH_PID" --catalog "$ROOT/tests/catalog" >"$WORK/top.txt"
assert_contains "its CPUs" "$WORK/top.txt" '^CPUs +\[.*us +[0-9.]+ sy'
assert_contains "a function" "$WORK/top.txt" " $TRUTH_PID +truth +truth_noop"
assert_contains "the target is marked" "$WORK/top.txt" "^ *$TRUTH_PID\\* "
assert_contains "losses" "$WORK/top.txt" 'nothing lost|LOST'

note "-- on a narrow terminal"
if command -v script >/dev/null; then
	script -qec "stty cols 60; $PROFCTL top --once --pid $TRUTH_PID --catalog $ROOT/tests/catalog 2>/dev/null" /dev/null </dev/null |
		tr -d '\r' >"$WORK/narrow.txt"
	assert_contains "the target is in it" "$WORK/narrow.txt" "^ *$TRUTH_PID\\* "
	assert_eq "lines of more than 60 columns" 0 "$(LC_ALL=C.UTF-8 awk 'length($0) > 60' "$WORK/narrow.txt" | wc -l)"
	assert_between "lines of more than 60 columns in a file" 1 1000000 "$(LC_ALL=C.UTF-8 awk 'length($0) > 60' "$WORK/top.txt" | wc -l)"
else
	leave_out "needs script(1), for a terminal"
fi

note "-- the same as JSON"
t=$WORK/top.json
calls() { jq "[.calls[] | select(.function == \"$1\" and .pid == $TRUTH_PID) | .count] | add // 0" "$t"; }
process=".processes[] | select(.pid == $TRUTH_PID)"
# Each round has one call of each function, but two of truth_inner. Counters and times are read one after the other
# while the job runs: on a busy machine another process may run in between, but not in every frame.
fits() {
	local noop make inner times
	"$PROFCTL" top --once --format json --pid "$TRUTH_PID" --catalog "$ROOT/tests/catalog" >"$t" || return 1
	noop=$(calls truth_noop) make=$(calls truth_make) inner=$(calls truth_inner)
	# Time of its three threads running, waiting and asleep, in thousandths of the frame
	times=$(jq ".duration_ns as \$d | [$process | (.run_ns + .runnable_ns + .blocked_ns) * 1000 / \$d | floor] | first" "$t")
	note "noop $noop make $make inner $inner times $times of $(jq .duration_ns "$t") ns"
	[ "$noop" -gt 0 ] && [ $((make * 2)) -ge "$noop" ] && [ "$make" -le $((noop * 2)) ] && [ "$inner" -ge "$noop" ] &&
		[ "$inner" -le $((4 * noop)) ] && [ "$times" -ge 2800 ] && [ "$times" -le 30000 ] &&
		[ "$(jq "$process | .run_ns" "$t")" -gt 0 ]
}
for ((i = 0; i < 30; i++)); do ! fits || break; done
[ "$i" -lt 30 ] || fail "figures of 30 frames do not fit together"
assert_eq "schema" profbpf.top/1 "$(json "$t" .schema)"
# One second, without waits for a CPU.
assert_between "length of the frame, ms" 100 600000 "$(jq '.duration_ns / 1000000 | floor' "$t")"
assert_eq "target" true "$(json "$t" "$process | .target")"
assert_eq "threads" 3 "$(json "$t" "$process | .threads")"

note "-- the whole machine"
"$PROFCTL" top --once --format json >"$WORK/all.json"
[ "$(jq '[.processes[] | select(.run_ns > 0)] | length' "$WORK/all.json")" -ge 2 ] || fail "fewer than two processes ran"
assert_eq "calls" 0 "$(jq '.calls | length' "$WORK/all.json")"

note "-- wrong usage"
assert_status "without a terminal" 1 "$PROFCTL" top
assert_contains "what to do" "$WORK/err" '\-\-once'
assert_status "a format for the screen" 2 "$PROFCTL" top --format json
assert_status "a process that is not there" 1 "$PROFCTL" top --once --pid 4194305

if command -v tmux >/dev/null; then
	note "-- on a terminal"
	tmux=(tmux -S "$WORK/tmux" -f /dev/null)
	shown() { "${tmux[@]}" capture-pane -p >"$WORK/screen" && grep -qE -e "$1" "$WORK/screen"; }
	until_shown() { wait_until 60 shown "$1" || fail "not on the screen: $1
$(cat "$WORK/screen")"; }
	"${tmux[@]}" new-session -d -x 120 -y 40 \
		"$PROFCTL top --pid $TRUTH_PID --catalog $ROOT/tests/catalog 2>$WORK/top.err; echo status \$? >$WORK/top.status"
	until_shown "truth +truth_noop"
	until_shown "cost: profbpfd +[0-9.]+ %"
	note "$(grep -o 'cost: .*' "$WORK/screen")"
	"${tmux[@]}" send-keys m
	until_shown "sorted by memory"
	"${tmux[@]}" send-keys t
	until_shown "targets only"
	"${tmux[@]}" send-keys h
	until_shown "only commands with a word"
	"${tmux[@]}" send-keys x
	until_shown "cost: profbpfd"
	# busy only computes: nothing holds it up, except other processes on the CPUs.
	"${tmux[@]}" send-keys w
	until_shown "^(verdict|root) +[A-Z]"
	until_shown "^verdict  "
	"${tmux[@]}" send-keys w
	"${tmux[@]}" send-keys t v
	until_shown "sorted by memory, tree"
	"${tmux[@]}" send-keys / n o b o d y
	until_shown "only commands with: nobody_"
	assert_eq "processes of nobody" 0 "$(sed '1,/ ready% /d' "$WORK/screen" | grep -cE '^ +[0-9]+[* ] ' || :)"
	"${tmux[@]}" send-keys BSpace BSpace BSpace BSpace BSpace BSpace $TRUTH_PID Enter
	until_shown "tree, with $TRUTH_PID"
	until_shown "^ *$TRUTH_PID\\* "
	"${tmux[@]}" send-keys Escape
	until_shown "sorted by memory, tree *$"
	# A busy machine has more processes than lines.
	"${tmux[@]}" send-keys / $TRUTH_PID Enter
	until_shown "tree, with $TRUTH_PID"
	"${tmux[@]}" resize-window -x 60 -y 30
	until_shown "^ *$TRUTH_PID\\* +[0-9.]+ +[0-9.]+ +[0-9.]+[BKMG] +[^ ]"
	"${tmux[@]}" resize-window -x 60 -y 15
	until_shown "sorted by memory"
	assert_between "lines of the smaller screen" 1 15 "$(wc -l <"$WORK/screen")"
	"${tmux[@]}" send-keys q
	wait_until 30 test -s "$WORK/top.status" || fail "q does not end it: $(cat "$WORK/top.err")"
	assert_eq "its end" "status 0" "$(cat "$WORK/top.status")"
	"${tmux[@]}" kill-server 2>/dev/null || :
fi
echo >&"$TRUTH_IN"
truth_end
stop_daemon
