#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# If probes are perf events, the kernel removes them one by one, which takes long: the recording is complete before
# that, with every call, the duration is reported, and the program's code is restored afterwards.
# long: the kernel takes its time, and who waits for it has tests of its own
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

code_of() {
	local base
	base=$(awk '/libtruth.so/ && $3 == "00000000" { split($1, a, "-"); print a[1]; exit }' "/proc/$1/maps")
	dd if="/proc/$1/mem" bs=4096 skip=$((0x$base / 4096)) count=4 2>/dev/null | md5sum
}
now_ms() { printf '%s\n' $((${EPOCHREALTIME/[.,]/} / 1000)); }
is_clean() { [ "$(code_of "$TRUTH_PID")" = "$before" ]; }

start_daemon --without-feature multi --without-feature session
start_truth busy
before=$(code_of "$TRUTH_PID")
attach_truth "$WORK/busy.pbt" --topics api
assert_eq "probes" perf "$("$PROFCTL" status --format json | jq -r .tracing.method)"
[ "$(code_of "$TRUTH_PID")" != "$before" ] || fail "there is no breakpoint in the program"
sleep 1
began=$(now_ms)
stop_attach
took=$(($(now_ms) - began))
said=$(sed -n 's/.*removes the [0-9]* probes one by one, which takes about \([0-9]*\) s;.*/\1/p' "$WORK/profctl.err")
note "profctl ended after $took ms; all are said to be removed after $said s"
[ -n "$said" ] || fail "it is not said: $(cat "$WORK/profctl.err")"
report_json "$WORK/busy.pbt" "$WORK/busy.json"
assert_loss_accounted "$WORK/busy.json"
assert_complete "$WORK/busy.json"
assert_between "calls traced" 10 100000000000 "$(api_count "$WORK/busy.json" truth_noop)"
! is_clean || fail "nothing was left to be removed"
wait_until $((said + 5)) is_clean || fail "the program's code is not what it was after $said s, and more"
note "the code is what it was after $(($(now_ms) - began)) ms"
[ "$took" -lt $((said * 1000)) ] || fail "the end was waited for"
truth_go
assert_eq "wrong results" 0 "$(truth_value wrong)"
truth_end
stop_daemon
