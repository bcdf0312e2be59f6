# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# truth_devices_lib.sh - runs tests/truth/descriptors on one device file; sourced after lib.sh and truth_lib.sh.

# devices_ioctls REPORT DEVICE PID FIELD: summed over commands; PID may be null for all processes
devices_ioctls() {
	jq --arg device "$2" --argjson pid "$3" \
		"[.ioctl[] | select(.device == \$device and (\$pid == null or .pid == \$pid)) | .$4] | add // 0" "$1"
}

# devices_on PATH DRIVER GOOD BAD [OPTION...]
devices_on() {
	local path=$1 driver=$2 good=$3 bad=$4 r=$WORK/devices.json who
	shift 4
	rm -f "$WORK/descriptors.in"
	start_truth descriptors "$path" "$good" "$bad"
	attach_truth "$WORK/devices.pbt" "$@"
	"$TRUTH/descriptors" "$path" "$good" "$bad" stranger || fail "the stranger's ioctls on $path failed"
	truth_go
	stop_attach
	assert_eq "ioctls that ended in another way than they should" 0 "$(truth_value wrong)"
	truth_end
	report_json "$WORK/devices.pbt" "$r"
	assert_loss_accounted "$r"
	assert_eq "driver of $path" "$driver" \
		"$(jq -r --arg device "$path" '[.ioctl[] | select(.device == $device) | .driver] | unique | join(" ")' "$r")"
	assert_eq "own ioctls on $path" $(($(truth_value own) + $(truth_value failing))) \
		"$(devices_ioctls "$r" "$path" "$TRUTH_PID" count)"
	for who in early received late; do
		assert_eq "ioctls on $path by the process that came by it: $who" "$(truth_value "$who")" \
			"$(devices_ioctls "$r" "$path" "$(truth_value "$who.pid")" count)"
	done
	assert_eq "ioctls on $path that failed" "$(truth_value failing)" "$(devices_ioctls "$r" "$path" null errors)"
	assert_eq "ioctls on $path in all: none of a stranger" \
		$(($(truth_value own) + $(truth_value failing) + $(truth_value early) + $(truth_value received) + $(truth_value late))) \
		"$(devices_ioctls "$r" "$path" null count)"
	assert_eq "devices in the report: no pipe" 0 \
		"$(jq --arg device "$path" '[.ioctl[] | select(.device != $device)] | length' "$r")"
}
