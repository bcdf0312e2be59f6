#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each call has its own string, although each string is sent once: thousands of strings, from several threads.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

start_truth call_texts
attach_truth "$WORK/texts.pbt"
truth_go
stop_attach
truth_end
report_json "$WORK/texts.pbt" "$WORK/texts.json"
r=$WORK/texts.json
assert_loss_accounted "$r"
assert_complete "$r"
assert_eq "calls" "$(truth_value calls)" "$(api_count "$r" truth_arguments)"

"$ANALYZER" export "$WORK/texts.pbt" --to chrome -o "$WORK/texts.trace.json"
jq -c '[.[] | select(.name == "truth_arguments") | [.args.bytes, .args.text]]' "$WORK/texts.trace.json" >"$WORK/calls"
assert_eq "calls whose string is the one they had" "$(($(truth_value calls) - 2))" "$(jq \
	'("x" * 140) as $letters | map(select(.[0] < 1000000 and
		.[1] == ("text_\(.[0])_" + $letters[:.[0] % 140])[:127])) | length' "$WORK/calls")"
assert_eq "different strings" "$(truth_value texts)" "$(jq '[.[][1] | select(.)] | unique | length' "$WORK/calls")"
assert_eq "an empty one, and one that can't be read" '[[1000000,null],[1000001,null]]' \
	"$(jq -c 'map(select(.[0] >= 1000000)) | sort' "$WORK/calls")"
# Strings of many calls are sent again only if two strings have the same mark.
sent=$(json "$r" '[.capture.sources[] | select(.name == "task") | .produced] | add')
assert_between "records of strings and tasks" "$(truth_value texts)" $(($(truth_value calls) * 9 / 10)) "$sent"
