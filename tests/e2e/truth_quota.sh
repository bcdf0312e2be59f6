#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CPU quota and throttling of a job's group against the kernel's own cpu.stat, read around the session.
# beside others: the group's own account is what it is judged by
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq

# field FILE NAME: the value in lines NAME VALUE
field() { awk -v name="$2" '$1 == name { print $2 }' "$1"; }

lift_quota() {
	if [ "$GROUP_VERSION" = 1 ]; then echo -1 >"$GROUP/cpu.cfs_quota_us"; else echo max >"$GROUP/cpu.max"; fi
}

make_group profbpf-quota
if [ "$GROUP_VERSION" = 1 ]; then
	echo 50000 >"$GROUP/cpu.cfs_period_us"
	echo 2000 >"$GROUP/cpu.cfs_quota_us"
	throttled=throttled_time unit=1
else
	echo "2000 50000" >"$GROUP/cpu.max"
	throttled=throttled_usec unit=1000
fi
start_truth process_totals 30
echo "$TRUTH_PID" >"$GROUP/cgroup.procs"
cp "$GROUP/cpu.stat" "$WORK/stat0"
attach_truth "$WORK/quota.pbt" --interval 200ms
cp "$GROUP/cpu.stat" "$WORK/stat1"
truth_go 60
cp "$GROUP/cpu.stat" "$WORK/stat2"
stop_attach
cp "$GROUP/cpu.stat" "$WORK/stat3"
lift_quota # or its end, and what comes next, would take their time
truth_end
report_json "$WORK/quota.pbt" "$WORK/quota.json"
r=$WORK/quota.json
path=/${GROUP##*/}
assert_eq "the process' group" "$path" "$(json "$r" ".processes[] | select(.pid == $TRUTH_PID) | .cgroup")"
group=".cgroups[] | select(.path == \"$path\")"
assert_eq "its quota, per period" "2000000 50000000" "$(json "$r" "$group | \"\\(.quota_ns) \\(.period_ns)\"")"
for name in periods:nr_periods:1 throttled_periods:nr_throttled:1 "throttled_ns:$throttled:$unit"; do
	IFS=: read -r what file scale <<<"$name"
	low=$((($(field "$WORK/stat2" "$file") - $(field "$WORK/stat1" "$file")) * scale))
	high=$((($(field "$WORK/stat3" "$file") - $(field "$WORK/stat0" "$file")) * scale))
	assert_between "$what" "$low" "$high" "$(json "$r" "$group | .$what")"
done
# On a machine so busy that no process gets 4 % of a CPU there may be no throttling.
[ "$(json "$r" "$group | .throttled_periods")" -ge 1 ] || note "nobody was held back here"
"$ANALYZER" report "$WORK/quota.pbt" --section processes >"$WORK/quota.txt"
assert_contains "the text report" "$WORK/quota.txt" "$path +[0-9]+ +0\\.04 "

note "-- the group is removed while the session runs"
rm "$WORK/process_totals.in"
start_truth process_totals 20
echo "$TRUTH_PID" >"$GROUP/cgroup.procs"
attach_truth "$WORK/gone.pbt"
truth_go 60
echo >&"$TRUTH_IN" # profctl has this descriptor too: its end would not be seen
truth_end
remove_group "$GROUP"
wait_for_end "$PROFCTL_PID" 20
report_json "$WORK/gone.pbt" "$WORK/gone.json"
assert_eq "its group" "$path" "$(json "$WORK/gone.json" ".processes[] | select(.pid == $TRUTH_PID) | .cgroup")"
