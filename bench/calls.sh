# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2046,SC2153 # variables are shared with the other files; lists of events are split
# calls.sh - measures the cost of a traced call.

LIBRARY=$(readlink -f "$BENCH/libbench.so")
KINDS=(push nop5 endbr64 mov stepped exits)
# States of profbpf; of tracers that attach to the running target; of tracers that start it.
CALLS_OWN=(untraced floor profbpf all short)
CALLS_ATTACHED=(ftrace trace_cmd perf perf_trace bpftrace)
CALLS_STARTED=(preload uftrace ltrace)
SLOW_CALLS=400 # of those that stop the program for each, or print a line

# file_offset SYMBOL: its offset in LIBRARY, by which probes are placed
file_offset() {
	local value
	value=$(nm -D --defined-only "$LIBRARY" | awk -v name="$1" '$3 == name { print "0x" $1 }')
	while read -r _ offset address _ size _; do
		((value < address || value >= address + size)) || printf '%d\n' $((value - address + offset))
	done < <(readelf -lW "$LIBRARY" | grep LOAD)
}

# The kernel's uprobe events, entry and return of each function: perf and ftrace use the same.
probe_events_on() {
	local kind
	touch "$WORK/perf.probes"
	command -v perf >/dev/null || die "needs perf probe to name the events"
	for kind in "${KINDS[@]}"; do
		perf probe -q -x "$LIBRARY" "bench:$kind=bench_$kind" && perf probe -q -x "$LIBRARY" "bench:$kind=bench_$kind%return"
	done 2>"$WORK/perf.err" || die "perf probe: $(cat "$WORK/perf.err")"
}

probe_events_off() {
	perf probe -q -d 'bench:*'
	rm "$WORK/perf.probes"
}

# The events' names in the kernel: the second event of a name gets a suffix.
probe_events() { sed -n 's/^[pr][0-9]*:\(bench\)\/\([^ ]*\) .*/\1:\2/p' "$TRACEFS/uprobe_events"; }

# calls_with STATE COMMAND...: starts the target under a tracer
calls_with() {
	start_target "$@"
	tracer_is "${TARGET_PID[$1]}"
}

calls_on() {
	local pid=${TARGET_PID[calls]} kind
	case $1 in
	untraced) ;;
	floor) floor_on calls "$pid" "$LIBRARY" "${OFFSETS[@]}" ;;
	profbpf) profbpf_on "$pid" api ;;
	all) profbpf_on "$pid" api,ioctl,sched,device ;;
	short) profbpf_on "$pid" api --min-duration 1s ;;
	ftrace) probe_events_on && ftrace_on "$pid" $(probe_events) ;;
	trace_cmd) probe_events_on && trace_cmd_on -P "$pid" $(probe_events | sed 's/^/-e /') ;;
	perf) probe_events_on && perf_on record -q -m 4M -o "$WORK/perf.data" -e 'bench:*' -p "$pid" ;;
	perf_trace) probe_events_on && perf_on trace --no-syscalls -m 4M -o "$WORK/perf.txt" -e 'bench:*' -p "$pid" ;;
	bpftrace)
		bpftrace_on "$(printf "uprobe:$LIBRARY:bench_%s { @start[tid] = nsecs; } " "${KINDS[@]}")
			$(printf "uretprobe:$LIBRARY:bench_%s { @ns = hist(nsecs - @start[tid]); } " "${KINDS[@]}")"
		;;
	preload) start_target preload env "LD_PRELOAD=$(readlink -f "$BENCH/interpose.so")" "$BENCH/call_target" ;;
	uftrace) calls_with uftrace uftrace record --force --no-pager -d "$WORK/uftrace.data" "$BENCH/call_target" ;;
	ltrace) calls_with ltrace ltrace -e 'bench_*' -o "$WORK/ltrace.out" "$BENCH/call_target" ;;
	esac
}

is_slow() { [ "$1" = ltrace ] || [ "$1" = perf_trace ]; }

calls_take() {
	local kind target=calls calls=$CALLS answer
	[ -z "${TARGET_PID[$2]:-}" ] || target=$2
	! is_slow "$2" || calls=$SLOW_CALLS
	for kind in "${KINDS[@]}"; do
		answer=$(ask "$target" "$kind" "$calls")
		take "$1" "$2" "$kind" "$answer"
	done
}

calls_off() {
	local made=$((CALLS * 5 * ${#KINDS[@]}))
	! is_slow "$1" || made=$((SLOW_CALLS * 5 * ${#KINDS[@]}))
	case $1 in
	untraced) ;;
	floor) floor_off ;;
	profbpf) profbpf_off profbpf api ;;
	all | short) profbpf_off ;;
	ftrace) ftrace_off "$made" && probe_events_off ;;
	trace_cmd) trace_cmd_off "$made" && probe_events_off ;;
	perf) perf_off perf "$made" "$WORK/perf.data" && probe_events_off ;;
	perf_trace) perf_off perf_trace "$made" "$WORK/perf.txt" && probe_events_off ;;
	bpftrace) bpftrace_off "$made" ;;
	preload)
		stop_target preload
		cost preload - - "$made" -
		;;
	uftrace | ltrace)
		tracer_settle
		TRACER_PIDS=''
		stop_target "$1"
		cost "$1" "$TRACER_CPU_NS" "$(du -sbc "$WORK/$1".[do]* | tail -n 1 | cut -f 1)" "$made" -
		rm -rf "$WORK/uftrace.data" "$WORK/ltrace.out"
		;;
	esac
}

# ---- Tables

# Describes a state, for the table of tracers.
calls_words() {
	case $1 in
	untraced) echo "" ;;
	floor) echo "an empty BPF program at entry and return: nothing is recorded" ;;
	profbpf) echo "every call, 3 arguments, to a running job" ;;
	ftrace) echo "every entry and return, to a running job; in memory until the end" ;;
	trace_cmd) echo "the same" ;;
	perf) echo "perf record: every entry and return, to a running job" ;;
	perf_trace) echo "perf trace: a line for each, to a running job" ;;
	bpftrace) echo "a histogram of durations, to a running job" ;;
	preload) echo "every call into memory that nobody reads; needs a restart" ;;
	uftrace) echo "every call; needs a restart" ;;
	ltrace) echo "a line for each call; needs a restart" ;;
	esac
}

print_calls() {
	local kind state states=("$@")
	heading "A traced call, CPU nanoseconds: medians of $PASSES passes of 5 x $CALLS calls"
	printf '%-9s' begins
	printf ' %9s' "${states[@]}" 'profbpf' 'profbpf' 'all' 'short'
	printf '\n%-9s' with
	printf ' %9s' "${states[@]//*/}" '/floor' '/untraced' '/floor' '/floor'
	printf '\n'
	for kind in "${KINDS[@]}"; do
		printf '%-9s' "$kind"
		for state in "${states[@]}"; do printf ' %9s' "$(median "$state" "$kind")"; done
		printf ' %9s %9s %9s %9s\n' "$(ratio profbpf floor "$kind")" "$(ratio profbpf untraced "$kind")" \
			"$(ratio all floor "$kind")" "$(ratio short floor "$kind")"
	done
	printf '\nsmallest to largest\n'
	for kind in "${KINDS[@]}"; do
		printf '%-9s' "$kind"
		for state in "${states[@]}"; do printf ' %9s' "$(range "$state" "$kind")"; done
		printf '\n'
	done
	print_daemon_cost call
}

# print_tracers STATE...: tracers side by side, on functions that begin with push, like most functions
print_tracers() {
	local state
	heading "The same call (push) under other tracers"
	printf '%-10s %9s %9s %9s %9s %9s  %s\n' '' 'CPU ns' 'wall ns' '/profbpf' 'tool CPU' 'bytes' 'what is kept' \
		'' '' '' '' 'ns/call' '/call' ''
	for state in "$@"; do
		printf '%-10s %9s %9s %9s %9s %9s  %s\n' "${state//_/ }" "$(median "$state" push)" "$(wall_median "$state" push)" \
			"$(ratio "$state" profbpf push)" "$(costs "$state" cpu)" "$(costs "$state" bytes)" "$(calls_words "$state")"
	done
}

bench_calls() {
	local kind own=() others=()
	OFFSETS=()
	for kind in "${KINDS[@]}"; do OFFSETS+=("$(file_offset "bench_${kind}_at")"); done
	start_target calls "$BENCH/call_target"
	for state in "${CALLS_OWN[@]}"; do ! is_wanted "$state" || own+=("$state"); done
	usable calls "${CALLS_ATTACHED[@]}" "${CALLS_STARTED[@]}"
	others=("${USABLE[@]}")
	measure calls "${own[@]}" "${others[@]}"
	stop_target calls
	print_calls "${own[@]}"
	[ ${#others[@]} -eq 0 ] || print_tracers untraced floor profbpf "${others[@]}"
}
