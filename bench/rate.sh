# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# rate.sh - counts the calls of two threads at full speed, and their records: written and lost.

bench_rate() {
	local calls seconds=$SECONDS_OF_RATE kind
	rm -f "$WORK/costs"
	heading "Two threads at full speed for $seconds s on $(nproc) CPUs, rings of $BUFFER"
	printf '%-10s %12s %12s %12s %12s %12s\n' 'begins' 'calls/s' 'calls' 'produced' 'delivered' 'lost'
	for kind in nop5 push; do
		start_target rate "$BENCH/call_target"
		profbpf_on "${TARGET_PID[rate]}" api --buffer "$BUFFER"
		calls=$(ask rate rate "$kind" "$seconds")
		profbpf_off profbpf api
		stop_target rate
		printf '%-10s %12s %12s %12s %12s %12s\n' "$kind" $((calls / seconds)) "$calls" \
			$(($(records api) + $(lost api))) "$(records api)" "$(lost api)"
	done
	print_daemon_cost call
}
