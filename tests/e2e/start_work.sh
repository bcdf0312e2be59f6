#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Limits the instructions that the verifier processes for a session's programs, which is most of a session's start time.
. "$(dirname "$0")/lib.sh"
need_root

# 50 % above the current values. A loop whose body is verified again in each iteration exceeds them by a multiple.
readonly EACH=40000 ALL=120000

looked_at() {
	cat "/proc/$DAEMON_PID/fdinfo"/* 2>/dev/null | awk '$1 == "verified_insns:" { print $2 }'
}

start_daemon
sleep 100 &
target=$!
attach_in_background "$target" "$WORK/start.pbt"
looked_at >"$WORK/looked"
stop_attach
[ -s "$WORK/looked" ] || skip "this kernel does not tell how much it looked at (5.16 does)"
read -r count most sum < <(awk '$1 > most { most = $1 } { sum += $1 } END { print NR, most, sum }' "$WORK/looked")
note "$count programs: $sum instructions looked at, of one at most $most"
assert_between "programs" 20 200 "$count"
assert_between "instructions looked at, of one program" 1 "$EACH" "$most"
assert_between "of all" 1 "$ALL" "$sum"
