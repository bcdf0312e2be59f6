#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The CUDA program of which everything is known, recorded and compared with what it says.
# shellcheck source=tests/gpu/lib.sh
. "$(dirname "$0")/../lib.sh"

known_is_built || {
	verdict skip "CUDA program" "it is not there"
	exit 0
}

# run_known NAME OPTION...: twice: what is first done with a device is done otherwise later
run_known() {
	local name=$1
	shift
	record "$name" "$OUT/known" -w "$SETTLE_MS" "$@" || return 0
	run_compare "$name" known "$WORK/$name.out" "$TASKS" ${REPORT:+"$REPORT"}
}

# Kineto's form of what the stand-in for CUPTI knows: a dry run's second opinion, of the very same run.
compare_with_log() {
	"$PYTHON" "$HERE/kineto_of_log.py" "$WORK/log" >"$WORK/log.kineto.json" || {
		verdict fail "stand-in's log" "not understood"
		return
	}
	local ours=$TASKS
	analyse kineto --device "$WORK/log.kineto.json" || return
	run_compare "by the stand-in's log" kineto "$ours" "$TASKS"
}

[ "$DRY" != yes ] || export TRUTH_CUPTI_LOG=$WORK/log
run_known counts -r 50 -t 2
[ "$DRY" != yes ] || [ -z "$TASKS" ] || compare_with_log
unset TRUTH_CUPTI_LOG
run_known threads -r 20 -t 8 -s 10

# What is never traced is what it was: the same counts, nothing on standard error.
with_shim "$OUT/known" -r 5 >"$WORK/silent.out" 2>"$WORK/silent.err" </dev/null &&
	"$OUT/known" -r 5 >"$WORK/bare.out" 2>"$WORK/bare.err" </dev/null
counts() { sed -n '/^"kernels"/,$p' "$1"; }
if [ "$(counts "$WORK/silent.out")" = "$(counts "$WORK/bare.out")" ] && [ ! -s "$WORK/silent.err" ]; then
	verdict pass "with the silent shim as without" "the same output, no word"
else
	verdict fail "with the silent shim as without" "$(head -n 1 "$WORK/silent.err")"
fi

# Without BPF even where there is BPF: the shim has to do alone.
if with_bpf; then
	record_alone alone "$OUT/known" -w "$SETTLE_MS" -r 20 || verdict fail alone "$(why "$WORK/alone.err")"
	run_compare "the shim alone" known "$WORK/alone.out" "$TASKS"
fi
