#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ioctls on a device of another driver, /dev/davinci0 as made by CUSE: by device file, with errors and durations.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
. "$(dirname "$0")/truth_devices_lib.sh"
need_root
need_command jq
[ -c /dev/cuse ] || modprobe cuse 2>/dev/null || :
[ -c /dev/cuse ] || skip "needs /dev/cuse, which this kernel lacks (the machines of make vmtest have it)"
[ ! -e /dev/davinci0 ] || skip "needs a machine without a /dev/davinci0 of its own"

"$TRUTH/cuse" davinci0 2>"$WORK/cuse.err" &
wait_until 20 test -c /dev/davinci0 || fail "CUSE made no /dev/davinci0: $(cat "$WORK/cuse.err")"
# _IO('D', 1) and a number that the device does not know
devices_on /dev/davinci0 davinci0 0x4401 0x4463
# _IO('D', 2) takes a millisecond, each time
devices_on /dev/davinci0 davinci0 0x4402 0x4463 "${IOCTLS_DO[@]}"
# shellcheck disable=SC2016 # for jq
longer='[.ioctl[] | select(.number == 17410) | select(.total_ns < .count * 1000000 or .max_ns < 1000000)] | length'
assert_eq "ioctls that took less than the device" 0 "$(jq "$longer" "$WORK/devices.json")"
