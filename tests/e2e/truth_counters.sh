#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Pressure, frequencies and idle states equal the values in the kernel's files, here replaced by files with changing
# values.
. "$(dirname "$0")/lib.sh"
need_root
need_command jq unshare

readonly CPUS=/sys/devices/system/cpu STATES=(POLL C1 C6)
[ -e /proc/pressure/cpu ] || skip "needs pressure stall information (CONFIG_PSI, psi=1)"

# value KIND CPU STATE: the value before the change, in microseconds or kHz; after it, 1000 more
value() { echo $(($1 * 1000000 + $2 * 10000 + $3 * 100 + 7)); }
# write_values FOLDER MORE: writes cpufreq and cpuidle of the CPUs, and the files of pressure
write_values() {
	local cpu state what
	for cpu in 0 1; do
		mkdir -p "$1/cpu$cpu/cpufreq"
		echo $(($(value 2 $cpu 0) + $2)) >"$1/cpu$cpu/cpufreq/scaling_cur_freq"
		for state in 0 1 2; do
			mkdir -p "$1/cpu$cpu/cpuidle/state$state"
			echo "${STATES[state]}" >"$1/cpu$cpu/cpuidle/state$state/name"
			echo $(($(value 3 $cpu $state) + $2)) >"$1/cpu$cpu/cpuidle/state$state/time"
		done
	done
	for what in cpu io memory; do
		printf '%s avg10=1.00 avg60=2.00 avg300=3.00 total=%d\n' some $(($(value 4 0 ${#what}) + $2)) \
			full $(($(value 5 0 ${#what}) + $2)) >"$1/pressure.$what"
	done
}

# The values change after the command has begun, and the session ends with the command.
mkdir "$WORK/cpus"
cp "$CPUS/possible" "$CPUS/online" "$WORK/cpus"
write_values "$WORK/cpus" 0
write_values "$WORK/later" 1000
cat >"$WORK/inside" <<END
mount --bind "$WORK/cpus" $CPUS
for what in cpu io memory; do mount --bind "$WORK/cpus/pressure.\$what" /proc/pressure/\$what; done
exec "$PROFCTL" record --standalone --topics account -o "$WORK/counters.pbt" -- bash -c 'cd "$WORK/later" &&
	find . -type f -exec sh -c "cat \"\\\$1\" >\"$WORK/cpus/\\\$1\"" - {} \;'
END
unshare --mount bash -e "$WORK/inside" 2>"$WORK/record.err" || fail "record: $(cat "$WORK/record.err")"
report_json "$WORK/counters.pbt" "$WORK/counters.json" --section host

# counter NAME CPU MORE: the first and the last recorded value
counter() {
	jq -c --arg name "$1" --argjson cpu "$2" '[.host.counters[] | select(.name == $name and .cpu == $cpu)] |
		"\(length) \(.[0].unit) \(.[0].samples[0][1]) \(.[0].samples[-1][1])"' -r "$WORK/counters.json"
}
for cpu in 0 1; do
	[ -d "$CPUS/cpu$cpu" ] || continue
	hz=$(value 2 $cpu 0)
	assert_eq "frequency of CPU $cpu" "1 hz ${hz}000 $((hz + 1000))000" "$(counter frequency $cpu)"
	for state in 0 1 2; do
		us=$(value 3 $cpu $state)
		assert_eq "time of CPU $cpu in ${STATES[state]}" "1 ns_total ${us}000 $((us + 1000))000" "$(counter "idle_${STATES[state]}" $cpu)"
	done
done
for what in cpu io memory; do
	some=$(value 4 0 ${#what}) full=$(value 5 0 ${#what})
	assert_eq "some waited for $what" "1 ns_total ${some}000 $((some + 1000))000" "$(counter "pressure_${what}_some" null)"
	assert_eq "all waited for $what" "1 ns_total ${full}000 $((full + 1000))000" "$(counter "pressure_${what}_full" null)"
done
