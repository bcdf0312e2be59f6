#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Inputs that cannot be read and setups that cannot work give a message with the reason and the remedy, never a crash:
# files that are no traces, damaged traces, a kernel without type information.
# beside others: it compares files, and no time counts
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq unshare

analyzer=$SAN_BUILD/analyzer
[ -x "$analyzer" ] || analyzer=$ANALYZER

printf '\xff\xd8\xff\xe0\x00\x10JFIF\x00' >"$WORK/picture.pbt"
assert_status "a JPEG" 1 "$analyzer" report "$WORK/picture.pbt"
assert_contains "the message" "$WORK/err" 'picture.pbt: not a profbpf trace.*JPEG'
: >"$WORK/empty.pbt"
assert_status "an empty file" 1 "$analyzer" report "$WORK/empty.pbt"
assert_contains "the message" "$WORK/err" 'empty.pbt: .*empty'
assert_status "a missing file" 1 "$analyzer" report "$WORK/missing.pbt"
assert_contains "the message" "$WORK/err" 'missing.pbt: .*No such file'
assert_status "a directory" 1 "$analyzer" report "$WORK"
assert_status "an unknown format" 2 "$analyzer" report --format xml "$WORK/picture.pbt"
assert_status "no trace" 2 "$analyzer" report

# A real trace, cut and with flipped bytes: a partial report that says so, or an error.
"$PROFCTL" record -o "$WORK/good.pbt" --catalog "$ROOT/tests/catalog" -- "$TRUTH/follow" exec 2>"$WORK/profctl.err"
assert_status "the trace as it is" 0 "$analyzer" report "$WORK/good.pbt"
assert_status "the same trace twice" 1 "$analyzer" report "$WORK/good.pbt" "$WORK/good.pbt"
assert_contains "the message" "$WORK/err" 'give each file once'
# A later second recording is no gap in the coverage of the first.
"$PROFCTL" record -o "$WORK/next.pbt" --catalog "$ROOT/tests/catalog" -- "$TRUTH/follow" exec 2>"$WORK/profctl.err"
cat "$WORK/good.pbt" "$WORK/next.pbt" >"$WORK/both.pbt"
"$analyzer" report "$WORK/both.pbt" --format json -o "$WORK/both.json"
assert_eq "calls of two recordings in one file" 400 "$(api_count "$WORK/both.json" truth_noop)"
assert_eq "stretches not covered" 0 "$(jq '.capture.not_covered | length' "$WORK/both.json")"
size=$(stat -c %s "$WORK/good.pbt")
for ((i = 1; i <= 24; i++)); do
	head -c $((size * i / 25)) "$WORK/good.pbt" >"$WORK/cut.pbt"
	status=0
	timeout 400 "$analyzer" report "$WORK/cut.pbt" >"$WORK/out" 2>"$WORK/err" || status=$?
	[ "$status" -le 1 ] || fail "status $status for the first $((size * i / 25)) bytes: $(tail -n 5 "$WORK/err")"
	grep -qE 'did not end|torn|cannot|skipped' "$WORK/out" "$WORK/err" ||
		fail "nothing is said of a trace cut after $((size * i / 25)) bytes"
	cp "$WORK/good.pbt" "$WORK/flipped.pbt"
	printf '\xa5' | dd of="$WORK/flipped.pbt" bs=1 seek=$((size * i / 25)) conv=notrunc 2>/dev/null
	status=0
	timeout 400 "$analyzer" report "$WORK/flipped.pbt" >"$WORK/out" 2>"$WORK/err" || status=$?
	[ "$status" -le 1 ] || fail "status $status for a flipped byte at $((size * i / 25)): $(tail -n 5 "$WORK/err")"
done
note "24 cuts and 24 flipped bytes survived"

# A container that hides the kernel's type information.
status=0
unshare --mount sh -c "mount -t tmpfs tmpfs /sys/kernel/btf && '$PROFCTL' record -o '$WORK/nobtf.pbt' -- true" \
	2>"$WORK/err" || status=$?
assert_eq "status without BTF" 1 "$status"
assert_contains "the message" "$WORK/err" 'a mount hides /sys/kernel/btf'

# A pid namespace: process ids would refer to other processes.
status=0
unshare --pid --fork --mount-proc "$PROFCTL" record -o "$WORK/pidns.pbt" -- true 2>"$WORK/err" || status=$?
assert_eq "status in a pid namespace" 1 "$status"
assert_contains "the message" "$WORK/err" 'pid namespace'
