#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# After attach: a library loaded by dlopen, a child by fork, a program by exec; and record from the start.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq
own_truth follow calls

calls_of() {
	jq "[.api[] | select(.function == \"$2\" and .pid == $3) | .count] | add // 0" "$1"
}

start_truth follow "$TRUTH/libtruth2.so"
attach_truth "$WORK/follow.pbt" "${CALLS_DO[@]}"
truth_go
stop_attach
truth_end
report_json "$WORK/follow.pbt" "$WORK/follow.json"
r=$WORK/follow.json
assert_loss_accounted "$r"
assert_eq "calls of the forked child" "$(truth_value child.calls)" \
	"$(calls_of "$r" truth_noop "$(truth_value child.pid)")"
assert_eq "calls of the executed program" "$(truth_value exec.calls)" \
	"$(calls_of "$r" truth_noop "$(truth_value exec.pid)")"
assert_eq "calls into the library loaded late" "$(truth_value late.calls)" \
	"$(calls_of "$r" truth_second "$(truth_value parent.pid)")"
assert_eq "the child is a target" true \
	"$(jq ".processes[] | select(.pid == $(truth_value child.pid)) | .target" "$r")"

# Without --follow only the process itself is traced. Other topics' programs are loaded only above: on an emulated CPU
# their verification takes longer than all else.
rm "$WORK/follow.in"
start_truth follow
attach_truth "$WORK/alone.pbt" --no-follow --topics api
truth_go
stop_attach
truth_end
report_json "$WORK/alone.pbt" "$WORK/alone.json"
assert_eq "calls of children under --no-follow" 0 "$(api_count "$WORK/alone.json" truth_noop)"

# An untraced process that maps the same library gets no breakpoint: its code is unchanged.
offset=$(truth_value noop.offset)
rm "$WORK/follow.in"
start_truth calls
stranger=$TRUTH_PID stranger_in=$TRUTH_IN
start_truth follow
attach_truth "$WORK/two.pbt" --topics api
code_of() {
	local base
	base=$(awk '/libtruth.so/ && $3 == "00000000" { split($1, a, "-"); print a[1]; exit }' "/proc/$1/maps")
	dd if="/proc/$1/mem" bs=1 skip=$((0x$base + offset)) count=16 2>/dev/null | od -An -tx1
}
assert_eq "the stranger's code is untouched" \
	"$(dd if="$TRUTH/libtruth.so" bs=1 skip=$offset count=16 2>/dev/null | od -An -tx1)" "$(code_of "$stranger")"
[ "$(code_of "$TRUTH_PID")" != "$(code_of "$stranger")" ] || fail "the target has no breakpoint either"
truth_go
stop_attach
truth_end
exec {stranger_in}>&-
wait "$stranger"

# record: every call of the command from its first instruction on, and of the programs it starts
# once their library is known; a library that nobody could expect takes a few milliseconds.
"$PROFCTL" record -o "$WORK/direct.pbt" "${CALLS_DO[@]}" --catalog "$ROOT/tests/catalog" -- "$TRUTH/follow" exec 2>"$WORK/record.err"
report_json "$WORK/direct.pbt" "$WORK/direct.json"
assert_loss_accounted "$WORK/direct.json"
assert_eq "calls of a recorded command" 200 "$(api_count "$WORK/direct.json" truth_noop)"
"$PROFCTL" record -o "$WORK/record.pbt" --topics api --catalog "$ROOT/tests/catalog" -- \
	sh -c "'$TRUTH/follow' slow; exec '$TRUTH/follow' exec" 2>"$WORK/record.err"
report_json "$WORK/record.pbt" "$WORK/record.json"
assert_loss_accounted "$WORK/record.json"
assert_eq "calls under record, child and exec" 400 "$(api_count "$WORK/record.json" truth_noop)"
