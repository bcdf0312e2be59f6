#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of the daemon during a session: the target runs on correctly, its code is restored,
# no BPF link is left, and the file is readable except for its last seconds.
# beside others: its daemon is its own, and no time counts
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq bpftool
own_truth busy

code_of() {
	local base
	base=$(awk '/libtruth.so/ && $3 == "00000000" { split($1, a, "-"); print a[1]; exit }' "/proc/$1/maps")
	dd if="/proc/$1/mem" bs=4096 skip=$((0x$base / 4096)) count=4 2>/dev/null | md5sum
}
# Other programs of the machine may have BPF links of their own, and the daemon's descriptors may change meanwhile.
links_of() { sed -n 's/^link_id:[[:space:]]*//p' /proc/"$1"/fdinfo/* 2>/dev/null || :; }
links_left() {
	bpftool --json link show 2>/dev/null | jq -r '.[].id' | grep -cxF -f "$WORK/links" || :
}

start_daemon
start_truth busy
before=$(code_of "$TRUTH_PID")
attach_truth "$WORK/killed.pbt"
[ "$(code_of "$TRUTH_PID")" != "$before" ] || fail "no breakpoint was set"
links_of "$DAEMON_PID" >"$WORK/links"
assert_between "links the daemon holds" 5 100000 "$(wc -l <"$WORK/links")"
# Waits until two seconds of calls can be read from the file while it is written.
written() {
	cp "$WORK/killed.pbt" "$WORK/live.pbt" && report_json "$WORK/live.pbt" "$WORK/live.json" 2>/dev/null &&
		[ "$(api_count "$WORK/live.json" truth_noop)" -gt 0 ] &&
		[ "$(jq .trace.duration_ns "$WORK/live.json")" -ge 2000000000 ]
}
wait_until 60 written || fail "nothing reaches the file: $(cat "$WORK/profctl.err")"
kill -KILL "$DAEMON_PID"
killed_ns=$(awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime)
wait "$DAEMON_PID" 2>/dev/null || :
status=0
wait_for_end "$PROFCTL_PID" 20 || status=$?
assert_eq "profctl's status when its daemon dies" 1 "$status"
assert_contains "profctl's message" "$WORK/profctl.err" 'daemon'

code_is_back() { [ "$(code_of "$TRUTH_PID")" = "$before" ]; }
links_are_gone() { [ "$(links_left)" = 0 ]; }
wait_until 10 code_is_back || fail "the target's code was not restored"
wait_until 10 links_are_gone || fail "BPF links are left: $(links_left)"
truth_go
assert_eq "wrong results" 0 "$(truth_value wrong)"
truth_end

report_json "$WORK/killed.pbt" "$WORK/killed.json"
r=$WORK/killed.json
assert_eq "the report says that the recording did not end" false "$(jq .capture.complete "$r")"
# Records that were readable before are still readable.
assert_between "calls in the file" "$(api_count "$WORK/live.json" truth_noop)" 100000000000 "$(api_count "$r" truth_noop)"
end=$(jq '.trace.start_ns + .trace.duration_ns' "$r")
# CLOCK_MONOTONIC and uptime (resolution 10 ms) differ only by the time in suspend.
assert_between "the last record, ns" "$(jq '.trace.start_ns + .trace.duration_ns' "$WORK/live.json")" $((killed_ns + 20000000)) "$end"
"$ANALYZER" report "$WORK/killed.pbt" >"$WORK/killed.txt"
assert_contains "the text says so" "$WORK/killed.txt" 'did not end properly'
