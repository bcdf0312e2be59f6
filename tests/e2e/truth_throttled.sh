#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A process that burns more CPU time than its cgroup's quota: its throttled time equals the kernel's.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

# The hierarchy with the CPU controller: version 2, or version 1.
group='' name=profbpf-test-$$
if [ -e /sys/fs/cgroup/cpu/cpu.stat ]; then
	group=/sys/fs/cgroup/cpu/$name
elif grep -qw cpu /sys/fs/cgroup/cgroup.subtree_control 2>/dev/null; then
	group=/sys/fs/cgroup/$name
fi
{ [ -n "$group" ] && mkdir "$group" 2>/dev/null; } || skip "no cgroup hierarchy with the CPU controller can be written to"

burner=''
leave() {
	[ -z "$burner" ] || kill -KILL "$burner" 2>/dev/null || :
	[ -z "$burner" ] || wait "$burner" 2>/dev/null || :
	rmdir "$group" 2>/dev/null || :
}
trap 'status=$?; leave; (exit $status); cleanup_test' EXIT

if [ -e "$group/cpu.max" ]; then
	echo "1000 100000" >"$group/cpu.max" || skip "cpu.max cannot be written"
elif [ -e "$group/cpu.cfs_quota_us" ]; then
	{ echo 100000 >"$group/cpu.cfs_period_us" && echo 1000 >"$group/cpu.cfs_quota_us"; } || skip "quotas cannot be written"
else
	skip "this kernel has no CPU quotas (CONFIG_CFS_BANDWIDTH)"
fi

# A high weight, so that it gets its allowed hundredth of a CPU even on a busy machine.
{ echo 10000 >"$group/cpu.weight" || echo 200000 >"$group/cpu.shares"; } 2>/dev/null || :

# In nanoseconds; the versions count in different units.
throttled() {
	awk '/^throttled_(time|usec) / { printf "%.0f\n", $1 == "throttled_usec" ? $2 * 1000 : $2 }' "$group/cpu.stat"
}

bash -c 'echo $$ >"$1/cgroup.procs"; while :; do :; done' burner "$group" &
burner=$!
is_throttled() { [ "$(throttled)" -gt 0 ]; }
wait_until 20 is_throttled || fail "the kernel never throttled the process"

attach_in_background "$burner" "$WORK/quota.pbt" --topics sched
before=$(throttled)
was_held_back() { [ $(($(throttled) - before)) -ge 1000000000 ]; }
wait_until 20 was_held_back || fail "the kernel held the process back for $(($(throttled) - before)) ns only"
after=$(throttled)
stop_attach
r=$WORK/quota.json
report_json "$WORK/quota.pbt" "$r" --top 0
mine=$(jq "[.processes[] | select(.pid == $burner) | .throttled_ns] | first" "$r")
wall=$(jq .trace.duration_ns "$r")
# The kernel counts throttled time when it ends, so part of it may be from before the session; the thread's wait ends
# when it gets a CPU, which other threads may use.
assert_between "time held back, ns, of $((after - before)) by the kernel" $(((after - before) / 4)) "$wall" "$mine"
assert_between "the rest of the time it was on a CPU or ready, ns" 1 $((wall - mine)) \
	"$(jq "[.processes[] | select(.pid == $burner) | .run_ns] | first" "$r")"

# A wait for that process is a wait for its quota: the group with the quota is named.
"$ANALYZER" report "$WORK/quota.pbt" --thread "$burner" --section waits --format json -o "$WORK/waits.json"
jq '[.waits.roots[] | select(.cause == "throttled")][0]' "$WORK/waits.json" >"$WORK/root.json"
assert_eq "the group and its quota" "/${group##*/} (quota: 1 % of a CPU)" "$(json "$WORK/root.json" .object)"
