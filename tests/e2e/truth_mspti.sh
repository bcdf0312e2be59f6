#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The MSPTI shim reports every task once, with its times and its call, and changes nothing for the program.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

DUMP=$BUILD/tests/tools/stream_dump
SHIM=$BUILD/libprofbpf-mspti.so
ROUNDS=50 THREADS=3
rounds=$((ROUNDS * THREADS)) tasks=$((5 * ROUNDS * THREADS))
export TRUTH_MSPTI_LOG=$WORK/log

start_known() {
	rm -f "$WORK/mspti_known.in" "$WORK/log"
	LD_PRELOAD="$TRUTH/libmspti_truth.so $SHIM" start_truth mspti_known $ROUNDS $THREADS
}

# ---- Every task

start_known
"$DUMP" "$TRUTH_PID" >"$WORK/tasks" 2>"$WORK/tasks.err" </dev/null {TRUTH_IN}>&- &
dump=$!
wait_for_line "$WORK/log" '^begin' 20
truth_go
truth_end
wait_for_end $dump 20 || fail "stream_dump: $(cat "$WORK/tasks.err")"
assert_contains "nothing lost" "$WORK/tasks" \
	"^counts source mspti produced $tasks delivered $tasks lost 0 untimed 0 in_flight 0\$"
assert_contains "device and clock" "$WORK/tasks" '^device 0 accelerator clock 4 Ascend 0$'
sed -i 's/Memcpy HtoD/Memcpy_HtoD/' "$WORK/tasks"
# Each instant is converted between two clocks, on both sides; 50 us are far above that error and below the distance of
# tasks.
wrong=$(awk -v slack=50000 '
	function far(a, b) { return a - b > slack || b - a > slack }
	FNR == NR && /^task/ {
		what[$2] = $3 " " $4 " " $5 " " $6 " " $7; dur[$2] = $9 - $8; call[$2] = $10
		next
	}
	/^task/ && what[$2] != $3 " " $4 " " $6 " " $7 " " $8 { print "other: " $0 " known: " what[$2] }
	/^task/ && (far($13 - $12, dur[$2]) || far($14, call[$2])) { print "times: " $0 }
	/^task/ { delete what[$2] }
	END { for (n in what) print "missing: " n }' "$WORK/log" "$WORK/tasks")
[ -z "$wrong" ] || fail "wrong tasks:
$(head -n 5 <<<"$wrong")"

# ---- In a session

start_known
attach_in_background "$TRUTH_PID" "$WORK/session.pbt" --topics api,device
wait_for_line "$WORK/log" '^begin' 20
truth_go
stop_attach
truth_end
report_json "$WORK/session.pbt" "$WORK/session.json"
r=$WORK/session.json
assert_loss_accounted "$r"
assert_eq "tasks, with their call, without" "$tasks $tasks 0" \
	"$(jq -r '"\(.devices[0].tasks) \(.join.matched) \(.join.unmatched_tasks)"' "$r")"
assert_eq "kernels and collectives" "$((2 * rounds)) $rounds" \
	"$(jq -r '[.operators[] | {(.name): .count}] | add | "\(.MatMul_7) \(.hcom_allReduce_)"' "$r")"
assert_eq "copies and fills, and their bytes" "$rounds $rounds $((THREADS * (4096 * ROUNDS + ROUNDS * (ROUNDS - 1) / 2))) $((512 * rounds))" \
	"$(jq -r '[.operators[] | {(.name): .}] | add | "\(."Memcpy HtoD".count) \(.Memset.count) \(."Memcpy HtoD".bytes) \(.Memset.bytes)"' "$r")"

# ---- Nothing changes for the program

# run_alone NAME [VARIABLE...]: its output is in $WORK/NAME.alone, its messages in $WORK/NAME.err
run_alone() {
	local name=$1
	shift
	printf '\n\n' | env "$@" "$TRUTH/mspti_known" $ROUNDS $THREADS 2>"$WORK/$name.err" |
		sed 's/^ready.*/ready/' >"$WORK/$name.alone"
}
rm -f "$WORK/log"
run_alone without
run_alone with LD_PRELOAD="$TRUTH/libmspti_truth.so $SHIM"
run_alone lonely LD_PRELOAD="$SHIM"
run_alone verbose LD_PRELOAD="$SHIM" PROFBPF_VERBOSE=1
for name in with lonely verbose; do
	diff "$WORK/without.alone" "$WORK/$name.alone" || fail "another outcome $name"
done
[ ! -s "$WORK/with.err" ] && [ ! -s "$WORK/lonely.err" ] || fail "the program says: $(cat "$WORK/with.err" "$WORK/lonely.err")"
assert_contains "without libmspti, if asked" "$WORK/verbose.err" '^profbpf: MSPTI: no device times: libmspti.so is not'
[ ! -e "$WORK/log" ] || fail "MSPTI was begun though nobody listens"
