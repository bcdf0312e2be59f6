#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# While no target maps code, the daemon looks for mapped code each 20 ms instead of each 5, whatever other processes map.
# beside others: it counts wake-ups of its own daemon's thread, of which a busy machine only has fewer
. "$(dirname "$0")/lib.sh"
need_root

LOOK_MS=20

wake_ups() {
	local comm
	comm=$(grep -lx profbpfd/maps "/proc/$DAEMON_PID"/task/*/comm)
	sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' "${comm%/comm}/status"
}
now_ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }

start_daemon
sleep 1000 &
attach_in_background $! "$WORK/quiet.pbt" --topics api,sched
# The start of a session counts as a mapping; a second later it is over.
sleep 1.5
woken=$(wake_ups) began=$(now_ms)
for ((i = 0; i < 20; i++)); do
	/bin/true
	sleep 0.1
done
woken=$(($(wake_ups) - woken)) lasted=$(($(now_ms) - began))
note "$woken wake-ups in $lasted ms"
assert_between "wake-ups" 1 $((lasted / LOOK_MS * 3 / 2)) "$woken"
stop_attach
stop_daemon
