#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The end of a recording waits until no call returns through the kernel any more; if one takes long, that is reported.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq
own_truth calls busy

"$PROFCTL" status --format json >"$WORK/status.json"
[ "$(jq -r .tracing.method "$WORK/status.json")" = session ] || skip "needs session links (Linux 6.13)"
mkdir "$WORK/catalogs"
cat >"$WORK/catalogs/plain.catalog" <<'END'
runtime plain
library libtruth.so*
vouch test is to see what becomes of such calls
truth_noop  other 1 plain=test
truth_sleep other 1 plain=test
truth_block other 1 plain=test
END

# said: the reported number of remaining calls
said() { sed -n 's/.*warning: \([0-9]*\) calls of plain functions did not end within a second;.*/\1/p' "$WORK/profctl.err"; }

# A thread of the program stays in truth_block.
start_daemon
start_truth calls
attach_in_background "$TRUTH_PID" "$WORK/calls.pbt" --catalog "$WORK/catalogs" --topics api
truth_go
stop_attach
assert_eq "calls that are said to be left" 1 "$(said)"
truth_end
report_json "$WORK/calls.pbt" "$WORK/calls.json"
assert_loss_accounted "$WORK/calls.json"
assert_complete "$WORK/calls.json"
assert_eq "calls" 30000 "$(api_count "$WORK/calls.json" truth_noop)"
assert_eq "calls that sleep" 20 "$(api_count "$WORK/calls.json" truth_sleep)"
assert_eq "open calls" 1 "$(api_count "$WORK/calls.json" truth_block open)"

# All of these calls end: nothing is reported, and the program's results are right.
rm -f "$WORK/busy.in"
start_truth busy
for ((i = 0; i < 5; i++)); do
	attach_in_background "$TRUTH_PID" "$WORK/busy.pbt" --catalog "$WORK/catalogs" --topics api
	stop_attach
	assert_eq "calls that are said to be left, round $i" "" "$(said)"
done
truth_go
assert_eq "wrong results" 0 "$(truth_value wrong)"
truth_end
stop_daemon
