#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An ordinary user may trace their own process through the daemon, but not follow it into a
# program that runs with another user's privileges.
# beside others: its daemon is its own, and no time counts
. "$(dirname "$0")/lib.sh"
need_root
need_command jq setpriv

start_daemon
# The same program twice, once set-user-id root.
mkdir -p "$WORK/public"
cp "$(command -v sleep)" "$WORK/public/elevated"
cp "$(command -v sleep)" "$WORK/public/plain"
chmod 4755 "$WORK/public/elevated"
mount | grep -q "on ${TMPDIR:-/tmp} .*nosuid" && skip "needs a ${TMPDIR:-/tmp} that honours set-user-id"
cp "$PROFCTL" "$WORK/public/profctl"
chmod 1777 "$WORK/public"

# record_as_nobody PROGRAM TRACE: records a shell of the user nobody that runs the program, then another
record_as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$WORK/public/profctl" record -o "$2" -- \
		sh -c "'$1' 0.3; sleep 0.1" 2>"$WORK/profctl.err" || fail "$(cat "$WORK/profctl.err")"
}

# Only threads recorded switch by switch count; totals of all threads are in every trace.
switches_of() {
	jq "[.processes[] | select(.name == \"$2\") | .threads[] | select(.source == \"switches\") | .voluntary_switches] | add // 0" "$1"
}

# Kernels do not report every switch: then a thread has the kernel's sums instead, and the test is repeated.
for ((i = 0; i < 20; i++)); do
	record_as_nobody "$WORK/public/plain" "$WORK/public/plain.pbt"
	report_json "$WORK/public/plain.pbt" "$WORK/plain.json" --top 0
	[ "$(switches_of "$WORK/plain.json" plain)" -eq 0 ] || break
done
assert_eq "the plain program is followed" true \
	"$(jq '[.processes[] | select(.name == "plain") | .target] | any' "$WORK/plain.json")"
assert_between "switches recorded of the plain program" 1 1000000 "$(switches_of "$WORK/plain.json" plain)"
record_as_nobody "$WORK/public/elevated" "$WORK/public/elevated.pbt"
report_json "$WORK/public/elevated.pbt" "$WORK/elevated.json" --top 0
assert_eq "switches recorded of the elevated program" 0 "$(switches_of "$WORK/elevated.json" elevated)"
assert_eq "what came after it is followed" true \
	"$(jq '[.processes[] | select(.name == "sleep") | .target] | any' "$WORK/elevated.json")"
stop_daemon
