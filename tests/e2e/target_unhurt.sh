#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Repeated attach to and detach from a busy program that checks its own results:
# its code bytes are restored, nothing is left in the kernel.
# timeout: 2400
# longer: 200 times, not 20
# beside others: what programs do and return is the same however busy the machine
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq bpftool
own_truth busy

ROUNDS=20
[ -z "${PROFBPF_TEST_LONG:-}" ] || ROUNDS=200

code_of() {
	local base
	base=$(awk '/libtruth.so/ && $3 == "00000000" { split($1, a, "-"); print a[1]; exit }' "/proc/$1/maps")
	dd if="/proc/$1/mem" bs=4096 skip=$((0x$base / 4096)) count=4 2>/dev/null | md5sum
}
links_of() { sed -n 's/^link_id:[[:space:]]*//p' /proc/"$1"/fdinfo/* 2>/dev/null; }
no_links() { [ -z "$(links_of "$DAEMON_PID")" ]; }

start_daemon
start_truth busy
before=$(code_of "$TRUTH_PID")
# Topic calls only, which puts breakpoints into it; loading other programs only takes time.
for ((i = 0; i < ROUNDS; i++)); do
	"$PROFCTL" attach --pid "$TRUTH_PID" --duration 20ms --topics api --catalog "$ROOT/tests/catalog" -o "$WORK/busy.pbt" \
		2>"$WORK/profctl.err" || fail "round $i: $(cat "$WORK/profctl.err")"
done
# Once with all topics, until it has run for a while.
ran() { cat /proc/"$TRUTH_PID"/task/*/schedstat | awk '{ ns += $1 } END { printf "%.0f", ns }'; }
has_run() { [ "$(ran)" -ge $((begun + 100000000)) ]; }
attach_truth "$WORK/busy.pbt"
begun=$(ran)
wait_until 20 has_run || fail "the program does not run"
stop_attach
report_json "$WORK/busy.pbt" "$WORK/busy.json"
assert_between "calls traced in the last round" 10 100000000000 "$(api_count "$WORK/busy.json" truth_noop)"
assert_eq "the program's code after $ROUNDS rounds" "$before" "$(code_of "$TRUTH_PID")"
truth_go
assert_eq "wrong results" 0 "$(truth_value wrong)"
truth_end
wait_until 10 no_links || fail "the daemon still holds BPF links: $(links_of "$DAEMON_PID")"
stop_daemon
