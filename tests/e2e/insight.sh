#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A sample of bench/insight: planted faults are found, and none in healthy twins. For all kinds: make bench-insight.
# longer: some also where the device does not tell its tasks
. "$(dirname "$0")/lib.sh"
need_root
need_command python3

[ -x "$BUILD/bench/insight/plants" ] || fail "bench/insight is not built: run make test-programs"
unset PROFBPF_SOCKET

# plants KINDS [OPTION...]: each kind with its twin. If other processes take the CPUs, a few percent of the plants are
# missed: the missed kinds are tried once more, with other magnitudes.
plants() {
	local kinds=$1 again jobs
	shift
	jobs=$(($(tr -cd , <<<"$kinds" | wc -c) * 2 + 2))
	BUILD=$BUILD TMPDIR=$WORK bench/insight/run --twins 1 --seconds 0.5 "$@" --kinds "$kinds" >"$WORK/table" || :
	cat "$WORK/table"
	assert_eq "jobs" "$jobs" "$(grep -cE ' (faulty|healthy) ' "$WORK/table")"
	again=$(awk '/ (faulty|healthy) / && !/ (found|silent|drowned) / { print $1 }' "$WORK/table" | sort -u | paste -sd,)
	[ -n "$again" ] || return 0
	note "-- once more: $again"
	[ "$(tr -cd , <<<"$again" | wc -c)" -lt 2 ] || fail "more than two kinds were missed"
	BUILD=$BUILD TMPDIR=$WORK bench/insight/run --twins 1 --seconds 0.5 "$@" --kinds "$again" >"$WORK/table" ||
		fail "missed twice: $(cat "$WORK/table")"
	cat "$WORK/table"
}

plants slow_operator,lock_sleep,slow_source,no_prefetch,lock_process,tiny_kernels,sleeping_python,worker_process
if [ -n "${PROFBPF_TEST_LONG:-}" ]; then
	note "-- the device does not tell its tasks"
	plants slow_source,lock_sleep,slow_launch --without-stream
fi
