#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A sample of bench/insight: planted faults are found, healthy twins let alone. All of them: make bench-insight.
. "$(dirname "$0")/lib.sh"
need_root
need_command python3

[ -x "$BUILD/bench/insight/plants" ] || fail "bench/insight is not built: run make test-programs"
unset PROFBPF_SOCKET
status=0
BUILD=$BUILD TMPDIR=$WORK bench/insight/run --twins 1 --seconds 0.5 --kinds slow_operator,lock_sleep,slow_source,no_prefetch,lock_process,tiny_kernels,sleeping_python,worker_process \
	>"$WORK/table" || status=$?
cat "$WORK/table"
assert_eq "status" 0 "$status"
assert_eq "jobs" 16 "$(grep -cE '  (found|silent|drowned) ' "$WORK/table")"

note "-- the device does not tell its tasks"
status=0
BUILD=$BUILD TMPDIR=$WORK bench/insight/run --twins 1 --seconds 0.5 --without-stream --kinds slow_source,lock_sleep,slow_launch \
	>"$WORK/table" || status=$?
cat "$WORK/table"
assert_eq "status" 0 "$status"
assert_eq "jobs" 6 "$(grep -cE '  (found|silent|drowned) ' "$WORK/table")"
