#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A daemon reads a library of 100,000 functions once; later sessions reuse the result until the file changes.
# beside others: its daemon is its own, and no time counts
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq gcc

# Names as long as those of C++.
awk 'BEGIN {
	for (i = 0; i < 100000; i++) {
		name = sprintf("_ZN10tensorflow7functor%dUnaryFunctorIN5Eigen16ThreadPoolDeviceENS0_4wideIfEEE%08dEv", i % 97, i)
		printf ".globl %s\n.type %s,@function\n%s:\npush %%rbp\npop %%rbp\nret\n.size %s,.-%s\n", name, name, name, name, name
	}
	name = "binary_needle"
	printf ".globl %s\n.type %s,@function\n%s:\nnop\nxor %%eax,%%eax\nret\n.size %s,.-%s\n", name, name, name, name, name
}' >"$WORK/large.s"
[ "$(uname -m)" = x86_64 ] || sed -i 's/push .*/nop/; s/pop .*/nop/; s/xor .*/mov w0, wzr/' "$WORK/large.s"
gcc -shared -nostdlib -o "$WORK/large.so" "$WORK/large.s"
rm "$WORK/large.s"

start_daemon
start_truth binaries "open:$WORK/large.so:binary_needle:9"

# Files that changed within the last seconds are not cached (file_cache.h).
settled() { [ "$(stat -c %Z "$WORK/large.so")" -lt $(($(date +%s) - 3)) ]; }
bytes_read() { sed -n 's/^rchar: //p' "/proc/$DAEMON_PID/io"; }
# session NAME: sets READ to the bytes that the daemon read for it
session() {
	local before
	wait_until 10 settled || fail "the library changes all the time"
	before=$(bytes_read)
	assert_status "$1" 0 "$PROFCTL" attach --pid "$TRUTH_PID" --catalog "$ROOT/tests/catalog" \
		--duration 1ms -o "$WORK/$1.pbt"
	READ=$(($(bytes_read) - before))
	assert_contains "$1" "$WORK/err" '^tracing .* functions in'
	note "$1: the daemon read $READ bytes"
}

# Twice 100,000 symbols of 24 bytes and their names of some 90.
tables=20000000
session first
first=$READ
[ "$first" -gt $tables ] || fail "the first session read $first bytes, less than the symbols have"
session second
assert_between "bytes that the second session read" 0 $((first - tables)) "$READ"
session third
assert_between "bytes that the third session read" 0 $((first - tables)) "$READ"
touch "$WORK/large.so"
session changed
assert_between "bytes read after the file changed" $tables $((first * 2)) "$READ"

# The cached result is also right.
attach_in_background "$TRUTH_PID" "$WORK/calls.pbt" --catalog "$ROOT/tests/catalog"
truth_go
stop_attach
truth_end
report_json "$WORK/calls.pbt" "$WORK/calls.json"
assert_loss_accounted "$WORK/calls.json"
assert_eq "calls of the one function that is wanted" 9 "$(api_count "$WORK/calls.json" binary_needle)"
stop_daemon
