#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names of objects are read once: each call has the name of its own object, although another object had its address
# before.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq
own_truth names

start_truth names
attach_truth "$WORK/names.pbt"
truth_go
stop_attach
truth_end
report_json "$WORK/names.pbt" "$WORK/names.json"
r=$WORK/names.json
assert_loss_accounted "$r"
assert_complete "$r"
assert_eq "calls" "$(truth_value calls)" "$(api_count "$r" truth_named)"

"$ANALYZER" export "$WORK/names.pbt" --to chrome -o "$WORK/names.trace.json"
jq -c '[.[] | select(.name == "truth_named") | [.args.value, .args.text]]' "$WORK/names.trace.json" >"$WORK/calls"
assert_eq "calls whose name is not their object's" '[]' "$(jq -c 'map(select(.[1] != "name_\(.[0])"))' "$WORK/calls")"
assert_eq "a name that changed unseen, and when it was read again" '[[10,"name_10"],[10,"name_10"],[11,"name_11"]]' \
	"$(jq -c 'map(select(.[0] == 10 or .[0] == 11)) | sort' "$WORK/calls")"
assert_eq "names of parent, child and parent, of a program and the next" '[20,20,21,30,31]' \
	"$(jq -c 'map(.[0] | select(. >= 20 and . < 40)) | sort' "$WORK/calls")"
