#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ends of calls are not probed while that would cost more than the budget: all calls are counted, and the trace has
# these times.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

# recorded NAME [ARGUMENT...] -- OPTION...: the program, of a library of its own, from attach to its end. Sets R
recorded() {
	local name=$1 arguments=()
	shift
	while [ "$1" != -- ]; do arguments+=("$1") && shift; done
	shift
	WORK=$WORK/$name TRUTH=$WORK
	mkdir "$WORK"
	cp "$PROGRAMS/libtruth.so" "$WORK"
	cp "$PROGRAMS/hot" "$WORK/$name"
	start_truth "$name" "${arguments[@]}"
	attach_truth "$WORK/run.pbt" --topics api "$@"
	truth_go 60
	stop_attach
	truth_end
	R=$WORK/report.json
	report_json "$WORK/run.pbt" "$R"
	assert_loss_accounted "$R"
}

judge_hot() {
	local calls unknown
	recorded hot -- --budget 2%
	assert_complete "$R"
	calls=$(truth_value calls) unknown=$(api_count "$R" truth_noop end_unknown)
	assert_eq "calls of the function that became hot" "$calls" "$(api_count "$R" truth_noop)"
	assert_between "of them without an end" 20000 $((calls - 1000)) "$unknown"
	assert_eq "calls of the function that did not" "$(truth_value rare)" "$(api_count "$R" truth_make)"
	assert_eq "of them without an end" 0 "$(api_count "$R" truth_make end_unknown)"
	assert_eq "calls that were left" 0 "$(api_count "$R" truth_noop left)"
	assert_eq "functions without ends" truth_noop "$(jq -r '[.capture.ends_not_seen[].function] | unique | join(" ")' "$R")"
	assert_eq "times that they were" 1 "$(jq '.capture.ends_not_seen | length' "$R")"
	# For the last 8 s it is called rarely; about 5 s pass before this is taken into account.
	assert_eq "ends that were seen again, before the end" true "$(jq '.trace as $t | .capture.ends_not_seen[0] |
		.start_ns + .duration_ns < ([$t.start_ns // 0, 0] | max) + $t.duration_ns - 500000000' "$R")"
	note "without an end: $unknown of $calls calls; $(jq -c '.capture.ends_not_seen' "$R")"
}

# Calls that are too short for a record: while they are frequent, calls of the function are only counted, without times.
judge_short() {
	local calls
	recorded short hot -- --budget 2% --min-duration 1s
	assert_complete "$R"
	calls=$(truth_value calls)
	assert_eq "calls of the hot function that were too short" "$calls" "$(api_count "$R" truth_noop)"
	assert_between "of these without a time" 20000 $((calls - 1000)) "$(api_count "$R" truth_noop end_unknown)"
	assert_between "records of calls" 0 50 "$(jq '[.capture.sources[] | select(.name == "api") | .produced] | add' "$R")"
	assert_eq "short functions without ends" truth_noop "$(jq -r '[.capture.ends_not_seen[].function] | unique | join(" ")' "$R")"
	assert_eq "times that short calls had no ends" 1 "$(jq '.capture.ends_not_seen | length' "$R")"
	assert_between "ns of a call, of those with a time" 1 100000 "$(api_count "$R" truth_noop mean_ns)"
}

# Without a budget.
judge_off() {
	recorded off hot -- --budget off
	assert_eq "calls without a budget" "$(truth_value calls)" "$(api_count "$R" truth_noop)"
	assert_eq "of them without an end" 0 "$(api_count "$R" truth_noop end_unknown)"
}

# The programs sleep most of the time. Each has its own copy of the library, so that only it hits the probes.
PROGRAMS=$TRUTH
jobs=()
for judge in judge_hot judge_short judge_off; do
	$judge &
	jobs+=($!)
done
for job in "${jobs[@]}"; do
	wait "$job" || fail "one of them failed, see above"
done
