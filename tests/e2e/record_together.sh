#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Commands recorded in parallel by one daemon: each recording has all calls, from the first instruction on. A change of
# any session wakes all waiting starters, so a command that starts before its own session is live would lack calls.
# longer: 60 commands, not 20
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

RUNS=20
[ -z "${PROFBPF_TEST_LONG:-}" ] || RUNS=60
start_daemon

# one NUMBER: prints its calls and the number recorded, or why there are none
one() {
	local folder=$WORK/run$1
	mkdir "$folder"
	"$PROFCTL" record --catalog "$ROOT/tests/catalog" --topics api -o "$folder/run.pbt" -- "$TRUTH/calls" \
		<<<$'\n\n\n' >"$folder/out" 2>"$folder/err" || { tail -n 1 "$folder/err" >"$folder/wrong"; return; }
	"$ANALYZER" report "$folder/run.pbt" --format json --section capture,api >"$folder/report.json" 2>/dev/null
	jq -r '"\(.capture.complete) " + ([.api[] | select(.function == ("truth_noop", "truth_make")) | .count] | map(tostring) | join(" "))' \
		"$folder/report.json" >"$folder/seen"
	rm "$folder/run.pbt" "$folder/report.json"
}

for ((i = 0; i < RUNS; i++)); do
	while [ "$(jobs -rp | wc -l)" -gt 8 ]; do wait -n || true; done
	one $i &
done
for job in $(jobs -rp); do
	[ "$job" = "$DAEMON_PID" ] || wait "$job" || true
done
cat "$WORK"/run*/wrong 2>/dev/null && fail "not all could be recorded"
assert_eq "runs that were seen" "$RUNS" "$(cat "$WORK"/run*/seen | wc -l)"
assert_eq "what was seen of each" "$RUNS true $(sed -n 's/^noops=//p' "$WORK/run0/out") 20" \
	"$(sort "$WORK"/run*/seen | uniq -c | sed 's/^ *//')"
stop_daemon
