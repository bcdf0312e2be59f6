#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sleeps of threads: exact counts, the right kind of object, the right waker.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

start_truth sleepers
attach_truth "$WORK/sleeps.pbt" --topics sched
truth_go 60
stop_attach
truth_end
r=$WORK/sleeps.json
report_json "$WORK/sleeps.pbt" "$r" --top 0
assert_loss_accounted "$r"
assert_complete "$r"
n=$(truth_value sleeps)

# all_of WHAT EXPECTED ACTUAL: kernels do not report every switch and wake-up: about one in a hundred
# may be missing. There are never more than the real ones.
all_of() { assert_between "$1" $(($2 - $2 / 10)) "$2" "$3"; }

# sleeps_of NAME CONDITION: the number of the thread's sleeps that match. Sleeps for the kernel's own locks on
# the way are uninterruptible.
sleeps_of() {
	jq "[.processes[].threads[] | select(.tid == $(truth_value "$1.tid")) | .sleeps[] |
		select((.uninterruptible | not) and $2) | .count] | add // 0" "$r"
}

# timed_of WHAT NAME ACTUAL: a timeout that expires before the thread has left its CPU is no sleep, which happens on a
# busy machine; a thread may also sleep for another reason on the way.
timed_of() {
	local slept
	slept=$(truth_value "$2.slept")
	slept=$((slept < n ? slept : n))
	assert_between "$1" $((slept * 9 / 10 - 1)) "$n" "$3"
}
timed_of "naps" napper "$(sleeps_of napper '.reason == "sleep" and .timeout and .woken_by == "timer"')"
all_of "futex without a timeout" "$n" "$(sleeps_of locker '.reason == "futex" and .object == "futex" and (.timeout | not)')"
all_of "of these, woken by the unlocker" "$n" "$(sleeps_of locker '.reason == "futex" and .woken_by == "unlocker"')"
assert_eq "addresses they slept at" 1 \
	"$(jq "[.processes[].threads[] | select(.tid == $(truth_value locker.tid)) | .sleeps[] | select(.object == \"futex\" and (.timeout | not)) | .name] | unique | length" "$r")"
timed_of "futex with a timeout" timed "$(sleeps_of timed '.reason == "futex" and .timeout and .woken_by == "timer"')"
writer=$(truth_value writer.pid)
all_of "reads of a pipe, woken by the process that writes" "$n" \
	"$(sleeps_of reader ".reason == \"pipe\" and .object == \"pipe\" and .syscall == \"read\" and .woken_by_pid == $writer")"
all_of "polls of one socket, with a timeout" "$n" \
	"$(sleeps_of poller '.reason == "poll" and .object == "unix_socket" and .timeout')"
all_of "reads of an eventfd" "$n" "$(sleeps_of eventer '.reason == "event" and .object == "eventfd"')"
children=$(truth_value children)
all_of "waits for children" "$children" "$(sleeps_of waiter '.reason == "child" and .object == "child"')"
all_of "children waited for, by name" "$children" \
	"$(jq "[.processes[].threads[] | select(.tid == $(truth_value waiter.tid)) | .sleeps[] | select(.reason == \"child\") | .name] | unique | length" "$r")"

# Reasons add up to the time asleep, except for corrections of CPU time.
for name in napper locker reader; do
	tid=$(truth_value "$name.tid")
	# If the kernel omitted a switch, the time asleep is from its own sums, and more than the reported sleeps.
	[ "$(thread_field "$r" "$tid" source)" = switches ] || continue
	blocked=$(thread_field "$r" "$tid" blocked_ns)
	assert_between "reasons of $name add up to its time asleep" "$blocked" $((blocked + 5000000 * SLACK)) \
		"$(thread_field "$r" "$tid" 'blocked_by | add')"
done
