#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recording that begins at step N and lasts M steps contains these steps and little else, and accounts for all
# records. It prints what it waits for; if no step comes it leaves no file, and prints the reason.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

attach_steps() { # TRACE OPTION...
	local trace=$1
	shift
	"$PROFCTL" attach --pid "$TRUTH_PID" --catalog "$ROOT/tests/catalog" -o "$trace" "$@" 2>"$WORK/err" {TRUTH_IN}>&- &
	ATTACH_PID=$!
	wait_for_line "$WORK/err" '^tracing' 20
}
attach_ends() { # WHAT STATUS
	local status=0
	wait_for_end "$ATTACH_PID" 20 || status=$?
	assert_eq "$1: $(cat "$WORK/err")" "$2" "$status"
}
# The options for the part of the file with the steps, as printed
part() { sed -n "s|^next: analyzer report \\(--from [0-9.]*s --to [0-9.]*s\\) .*|\\1|p" "$WORK/err"; }

assert_status "steps without the first" 2 "$PROFCTL" attach --pid $$ --steps 3 -o "$WORK/no.pbt"
assert_contains "the message" "$WORK/err" 'needs --launch-from-step N'
assert_status "steps without calls" 2 "$PROFCTL" attach --pid $$ --launch-from-step 3 --topics sched -o "$WORK/no.pbt"
assert_contains "the message" "$WORK/err" 'needs topic api'

start_daemon
start_truth paced 500
attach_steps "$WORK/run.pbt" --launch-from-step 1000 --steps 3000 --step-call 'truth_fail_e*'
assert_contains "what it waits for" "$WORK/err" 'waiting for step 1000: a step begins with each call of truth_fail_e\*;'
echo >&"$TRUTH_IN"
attach_ends "3000 steps" 0
# Steps are checked once a second.
assert_contains "when they began" "$WORK/err" "step 1000 of process $TRUTH_PID has begun: recording up to the end of step 3999"
assert_contains "why it ended" "$WORK/err" "ended: steps 1000 to 3999 of process $TRUTH_PID are over"
report_json "$WORK/run.pbt" "$WORK/report.json"
assert_complete "$WORK/report.json"
assert_between "calls around the steps" 3000 20000 "$(api_count "$WORK/report.json" truth_fail_every)"
# shellcheck disable=SC2046 # two options with a value each
"$ANALYZER" report $(part) "$WORK/run.pbt" --format json -o "$WORK/part.json"
assert_eq "calls in the steps" 3000 "$(api_count "$WORK/part.json" truth_fail_every)"
"$ANALYZER" info "$WORK/run.pbt" >"$WORK/info"
assert_contains "where the first begins" "$WORK/info" "step 1000 of process $TRUTH_PID began [0-9.]+ m?s after this recording"

# Records from before the steps are not part of the verdict.
"$PROFCTL" why "$TRUTH_PID" --catalog "$ROOT/tests/catalog" -o "$WORK/why.pbt" --launch-from-step 600 --steps 100 \
	--step-call truth_fail_every >"$WORK/out" 2>"$WORK/err" {TRUTH_IN}>&- || fail "why by steps: $(cat "$WORK/err")"
# shellcheck disable=SC2046
assert_eq "the verdict is on the steps" "$("$ANALYZER" report $(part) --section verdict "$WORK/why.pbt")" "$(cat "$WORK/out")"

# A step that does not come, and a function that is never called
attach_steps "$WORK/never.pbt" --launch-from-step 1000000000 --step-call truth_fail_every
sleep 1.5
kill -INT "$ATTACH_PID"
attach_ends "a step that does not come" 1
assert_contains "it says so" "$WORK/err" "step 1000000000 has not begun: process $TRUTH_PID began [1-9][0-9]* .stopped by user.; nothing was recorded"
attach_steps "$WORK/never.pbt" --launch-from-step 0 --step-call nobodys_function --duration 1500ms
attach_ends "a function that is not there" 1
assert_contains "it says so" "$WORK/err" 'no step has begun: no probed function begins a step .duration.; nothing was recorded'
[ ! -e "$WORK/never.pbt" ] || fail "an empty file is left"

# The job ends within its steps.
attach_steps "$WORK/short.pbt" --launch-from-step 10 --steps 1000000000 --step-call truth_fail_every
wait_for_line "$WORK/err" 'has begun: recording' 10
truth_go
truth_end
attach_ends "a job that ends first" 0
report_json "$WORK/short.pbt" "$WORK/report.json"
assert_complete "$WORK/report.json"

# From the first instruction on: step 0 is the first step. It ends before the first check.
"$PROFCTL" record --catalog "$ROOT/tests/catalog" --launch-from-step 0 --steps 3 --step-call truth_noop -o "$WORK/record.pbt" -- \
	"$TRUTH/paced" 1000 launch >"$WORK/out" 2>"$WORK/err" < <(echo; wait_for_line "$WORK/out" "^going" 20; sleep 0.3; echo; echo) ||
	fail "recording a command: $(cat "$WORK/err")"
# shellcheck disable=SC2046
"$ANALYZER" report $(part) "$WORK/record.pbt" --format json -o "$WORK/part.json"
assert_eq "calls in the first steps" 3 "$(api_count "$WORK/part.json" truth_noop)"
stop_daemon
