#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ioctls are seen with descriptors from any source: opened before or after attach, inherited before or
# after, received through a socket, kept across exec; ioctls of an untraced process on the same device are not.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
. "$(dirname "$0")/truth_devices_lib.sh"
need_root
need_command jq

# RNDGETENTCNT, and a command of no driver
devices_on /dev/urandom mem 0x80045200 0x5ace --topics +ioctl
can_open() { { : <"$1"; } 2>/dev/null; }
# LOOP_CTL_GET_FREE, of a driver that its devices' numbers do not identify
! can_open /dev/loop-control || devices_on /dev/loop-control misc 0x4c82 0x5ace
# BLKGETSIZE64 on a block device that may be empty
! can_open /dev/loop7 || devices_on /dev/loop7 loop 0x80081272 0x5ace

# If only the system call's tracepoints show ioctls, they are attached once a target has a driver's device open.
capture_text() { "$ANALYZER" report --section capture "$WORK/late.pbt" >"$WORK/late.txt" 2>&1; }
hooked_by_now() { capture_text || :; grep -q 'ioctls are recorded from' "$WORK/late.txt"; }
hooked_late() {
	local fifo=$WORK/late.fifo held
	mkfifo "$fifo"
	# A writer that stays: else the target's second read ended if the first writer closed late, and the target with it.
	exec {held}<>"$fifo"
	bash -c 'read -r _ <"$0"; exec 3</dev/loop-control; read -r _ <"$0"' "$fifo" &
	PROFBPF_IOCTLS=tracepoint attach_in_background $! "$WORK/late.pbt"
	sleep 1.2
	echo >"$fifo"
	wait_until 10 hooked_by_now || fail "no hooks: $(cat "$WORK/late.txt" "$WORK/profctl.err")"
	stop_attach
	echo >"$fifo"
	exec {held}>&-
	capture_text
	assert_contains "that they are not hooked at first" "$WORK/late.txt" 'ioctls are recorded only when a target has opened'
	assert_contains "from when on" "$WORK/late.txt" 'ioctls are recorded from [1-9][0-9.]* s on: process [0-9]+ had /dev/loop-control open'
}
! can_open /dev/loop-control || hooked_late
