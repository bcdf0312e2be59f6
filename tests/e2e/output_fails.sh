#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Output that fails: a full file system, a reader that exits, a reader that does not read.
# beside others: its daemon is its own, and no time counts
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq python3

start_daemon
start_truth busy

# A file system of 1 MiB fills up: a clear message, and the written part stays readable.
mkdir "$WORK/small"
mount -t tmpfs -o size=1m tmpfs "$WORK/small"
status=0
timeout 400 "$PROFCTL" attach --pid "$TRUTH_PID" --duration 300s --catalog "$ROOT/tests/catalog" \
	-o "$WORK/small/full.pbt" 2>"$WORK/full.err" || status=$?
cp "$WORK/small/full.pbt" "$WORK/full.pbt"
umount "$WORK/small"
assert_eq "status with a full file system" 1 "$status"
assert_contains "the message" "$WORK/full.err" 'No space left on device'
report_json "$WORK/full.pbt" "$WORK/full.json"
assert_between "calls that stay readable" 1 100000000 "$(api_count "$WORK/full.json" truth_noop)"
"$ANALYZER" info "$WORK/full.pbt" >"$WORK/full.info"
assert_lacks "a torn packet" "$WORK/full.info" 'torn'

# A reader that exits.
status=0
timeout 400 "$PROFCTL" attach --pid "$TRUTH_PID" --duration 300s --catalog "$ROOT/tests/catalog" -o - \
	2>"$WORK/gone.err" | head -c 100000 >"$WORK/gone.pbt" || status=$?
assert_contains "the message when the reader goes away" "$WORK/gone.err" 'writing the trace failed'

# A reader that never reads: capture drops and counts records, and the session still ends. The pipe holds one page,
# which any trace fills.
mkfifo "$WORK/fifo"
python3 -c 'import fcntl, time; fcntl.fcntl(0, 1031, 4096); print("ready", flush=True); time.sleep(1000)' \
	<>"$WORK/fifo" >"$WORK/holder" &
wait_for_line "$WORK/holder" '^ready' 20
timeout 400 "$PROFCTL" attach --pid "$TRUTH_PID" --duration 2s --catalog "$ROOT/tests/catalog" -o - \
	2>"$WORK/stuck.err" >"$WORK/fifo" && fail "profctl says nothing of a reader that does not read"
assert_contains "the message when nobody reads" "$WORK/stuck.err" 'writing the trace failed'

truth_go
assert_eq "wrong results" 0 "$(truth_value wrong)"
truth_end
stop_daemon
