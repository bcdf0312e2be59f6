#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The recorded kernel functions of threads that sleep in several system calls in turn match the system call each time.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq
[ "$(awk '$1 !~ /^0+$/ { print; exit }' /proc/kallsyms)" ] || skip "this kernel tells nobody the addresses of its functions"

# A kernel function in sleeps of block_in_KIND, and in no other sleeps.
declare -A function=([nanosleep]='^hrtimer_nanosleep$' [poll]='^do_sys_poll$' [timer]='^timerfd_read' [pipe]='pipe_read$'
	[socket]='^unix_stream_' [event]='^eventfd_read$' [futex]='^futex_wait$')

# sleeps PLACE FUNCTION: the number of sleeps in that place with that kernel function; "" = any
sleeps() {
	jq --arg place "$1" --arg function "$2" '[.stacks.blocking[] | select([.frames[].name] | index($place)) |
		select($function == "" or (.frames | any(.kind == "kernel" and (.name | test($function))))) | .count] | add // 0' "$report"
}

report=$WORK/places.json
start_truth kernel_places
attach_truth "$WORK/places.pbt" --topics sched,stack --stack-block 2ms
truth_go 60
stop_attach
truth_end
report_json "$WORK/places.pbt" "$report"
assert_loss_accounted "$report"
assert_complete "$report"

# Kernels that do not report every switch hide some sleeps; a busy machine makes sleeps short.
expected=$(truth_value sleeps) missing=$(json "$report" .capture.switches_missing)
for kind in "${!function[@]}"; do
	all=$(sleeps "block_in_$kind" "")
	assert_between "sleeps in block_in_$kind" $((expected * 8 / 10 - missing)) "$expected" "$all"
	for other in "${!function[@]}"; do
		[ "$kind" = "$other" ] && told=$all || told=0
		assert_eq "sleeps in block_in_$kind, by ${function[$other]}" "$told" "$(sleeps "block_in_$kind" "${function[$other]}")"
	done
done
