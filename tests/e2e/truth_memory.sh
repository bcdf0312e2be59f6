#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Memory that a job allocates through two layers of a runtime is counted once: peak, leaks and failures are exact.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

start_truth allocations
attach_in_background "$TRUTH_PID" "$WORK/memory.pbt" --topics api
truth_go
stop_attach
truth_end
report_json "$WORK/memory.pbt" "$WORK/memory.json"
assert_loss_accounted "$WORK/memory.json"

# device FIELD, host FIELD: of the ledgers of the two kinds of memory
device() { jq ".memory.ledgers[] | select(.memory == \"device\") | .$1" "$WORK/memory.json"; }
host() { jq ".memory.ledgers[] | select(.memory == \"host\") | .$1" "$WORK/memory.json"; }

assert_eq "ledgers" 2 "$(jq '.memory.ledgers | length' "$WORK/memory.json")"
assert_eq "allocations" "$(truth_value allocations)" "$(device allocations)"
assert_eq "bytes" "$(truth_value allocated)" "$(device allocated_bytes)"
# A free of memory from before the recording counts as a free, too.
assert_eq "frees" $(($(truth_value frees) + 1)) "$(device frees)"
assert_eq "frees of what was there before" 1 "$(device unknown_frees)"
assert_eq "failed" 1 "$(device failed)"
assert_eq "peak" "$(truth_value peak)" "$(device peak_bytes)"
assert_eq "what is left" "$(truth_value leaked)" "$(device live_bytes)"
assert_eq "by size" '[{"function":"aclrtMalloc","bytes":4096,"count":3}]' \
	"$(device 'live | map({function, bytes, count})' | jq -c .)"
assert_eq "the highest point of the curve" "$(truth_value peak)" "$(device 'curve | map(.[1]) | max')"
assert_eq "the host's" "1 1 12345 0" "$(host allocations) $(host frees) $(host peak_bytes) $(host live_bytes)"
