# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# walks.sh - measures the cost of a sample with its stack, walked by frame pointers and by unwind tables.

WALKS_STATES=(pointers tables)
declare -A WALKS_SEEN=()
WALKS_FRAMES=(8 32 96)
WALKS_MS=400 # of each thread's CPU time, for each depth
WALKS_RATE=4000 # samples a second: hundreds of samples in each measurement

walks_on() {
	local without=
	[ "$1" = tables ] || without=unwind
	PROFBPF_WITHOUT_FEATURES=$without profbpf_on "${TARGET_PID[walks]}" sample --stack-rate $WALKS_RATE
	# Waits for the unwind tables of its four files.
	sleep 1
}

# Some runs hit threads other than the target's: their cost is measured while the target is asleep.
walks_take() {
	local frames runs ns before_runs before_ns idle ran
	read -r before_runs before_ns < <(ask time "$TRACER_PIDS")
	sleep 0.5
	read -r runs ns < <(ask time "$TRACER_PIDS")
	[ "$runs" -gt "$before_runs" ] || die "no samples were taken"
	idle=$(((ns - before_ns) / (runs - before_runs)))
	for frames in "${WALKS_FRAMES[@]}"; do
		read -r before_runs before_ns < <(ask time "$TRACER_PIDS")
		ran=$(ask walks "$frames $WALKS_MS")
		read -r runs ns < <(ask time "$TRACER_PIDS")
		take "$1" "$2" "$frames" "$(awk -v runs=$((runs - before_runs)) -v ns=$((ns - before_ns)) -v idle="$idle" -v ran="$ran" -v rate=$WALKS_RATE '
			BEGIN { samples = ran * rate / 1000; if (samples > runs) samples = runs; printf "%.0f", (ns - (runs - samples) * idle) / samples }')"
	done
}

# Sets WALKS_SEEN[STATE] to the largest number of frames of the chain in a sample.
walks_off() {
	profbpf_off "$1" sample
	"$BUILD/analyzer" export "$WORK/run.pbt" --to folded -o "$WORK/folded"
	WALKS_SEEN[$1]=$(awk '{ n = gsub(/;chain/, "") - 1; if (n > most) most = n } END { print most + 0 }' "$WORK/folded")
}

bench_walks() {
	local frames
	start_target walks "$BENCH/walk_target"
	start_target time "$BENCH/program_time" on_sample
	measure walks "${WALKS_STATES[@]}"
	stop_target time
	stop_target walks
	heading "A sample with its stack, nanoseconds in the kernel: medians of $PASSES passes of $WALKS_MS ms on each CPU at $WALKS_RATE Hz"
	printf '%-8s %10s %10s %8s %17s %17s\n' 'calls' 'pointers' 'tables' 'ratio' 'range (pointers)' 'range (tables)'
	for frames in "${WALKS_FRAMES[@]}"; do
		printf '%-8s %10s %10s %8s %17s %17s\n' "$frames" "$(median pointers "$frames")" "$(median tables "$frames")" \
			"$(ratio tables pointers "$frames")" "$(range pointers "$frames")" "$(range tables "$frames")"
	done
	printf '\nthe deepest chain is seen with %s calls by pointers, %s by tables\n' "${WALKS_SEEN[pointers]}" "${WALKS_SEEN[tables]}"
}
