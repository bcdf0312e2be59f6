#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stacks of a C++ program without frame pointers reach the start functions of its threads through the known chains of
# calls: on a CPU and asleep; on x86-64 also through functions without tables and through one made at run time. If the
# kernel does not support this, stacks follow frame pointers, and the report does not claim more.
# beside others: stacks are the same however busy the machine
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"

need_root
need_command jq
need_command g++

g++ -O2 -fomit-frame-pointer -g -pthread -o "$WORK/unwind" "$ROOT/tests/truth/languages/cpp/unwind.cc"

# traced NAME [OPTION...]: records the program from before its threads work until they are done
traced() {
	local name=$1
	shift
	TRUTH=$WORK start_truth unwind 400
	attach_truth "$WORK/$name.pbt" --stack-rate 250 "$@"
	truth_go 60
	stop_attach
	truth_end
	report_json "$WORK/$name.pbt" "$WORK/$name.json"
	assert_loss_accounted "$WORK/$name.json"
	"$ANALYZER" export "$WORK/$name.pbt" --to folded -o "$WORK/$name.folded"
}

# below NAME PATTERN: the number of samples whose stack, outermost frame first, matches
below() {
	awk -v pattern="$2" '$0 ~ pattern { n += $NF } END { print n + 0 }' "$WORK/$1.folded"
}

if ! "$PROFCTL" status --format json | jq -e '.features[] | select(.name == "unwind tables") | .available' >/dev/null; then
	skip "this kernel cannot walk stacks by tables"
fi

traced tables --topics sched,stack
samples=$(json "$WORK/tables.json" .stacks.samples) whole=$(json "$WORK/tables.json" .stacks.samples_whole)
note "$whole of $samples samples reach the thread's start"
assert_between "samples that reach the thread's start" $((samples * 95 / 100)) "$samples" "$whole"

# The chains of both threads are complete, frame by frame. Other frames belong to the library.
rooms=$(printf 'room_chain;%.0s' 1 2 3 4 5 6)
aligned=$(printf 'aligned_chain;%.0s' 1 2 3)
chains=("${rooms}(std::_Function_handler[^;]*;)?sorted_leaf;([^;]*;)*spin" "${aligned}spin" "interrupted;([^;]*;)*on_signal;spin")
[ "$(uname -m)" != x86_64 ] || chains+=("assembled;assembled_aligned;spin_for_assembler;spin" "call_generated;[^;]*;spin_for_generated;spin")
for chain in "${chains[@]}"; do
	all=$(below tables "$chain")
	assert_between "samples in $chain" 60 "$samples" "$all"
	first=$(below tables "^unwind;_start;([^;]*;)*main;work;$chain")
	assert_between "of these, of the first thread" $((all / 4)) $((all * 3 / 4)) "$first"
	# A function that the C library does not export has no name here.
	assert_between "and of the other one" $((all / 4)) $((all * 3 / 4)) "$(below tables "^unwind;[^;]*libc[^;]*;([^;]*;)*work;$chain")"
done

export PROFBPF_WITHOUT_FEATURES=unwind
traced pointers
assert_eq "samples known to be whole by frame pointers" null "$(jq .stacks.samples_whole "$WORK/pointers.json")"
