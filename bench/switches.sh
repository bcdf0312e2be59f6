# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# switches.sh - measures the cost of a context switch while switches and wake-ups are recorded.

SWITCHES_OWN=(untraced floor accounts profbpf)
SWITCHES_OTHERS=(ftrace trace_cmd perf perf_sched perf_trace bpftrace)
SWITCH_EVENTS=sched:sched_switch,sched:sched_waking

switches_on() {
	local pids=${TARGET_PIDS[switches]}
	case $1 in
	untraced) ;;
	floor) floor_on switches ;;
	profbpf) profbpf_on "$pids" sched ;;
	accounts) profbpf_on "$pids" account ;;
	ftrace) ftrace_on - ${SWITCH_EVENTS//,/ } ;;
	trace_cmd) trace_cmd_on -e ${SWITCH_EVENTS//,/ -e } ;;
	perf) perf_on record -q -m 4M -o "$WORK/perf.data" -a -e "$SWITCH_EVENTS" ;;
	perf_sched) perf_on sched record -q -m 4M -o "$WORK/perf.data" ;;
	perf_trace) perf_on trace --no-syscalls -m 4M -o "$WORK/perf.txt" -a -e "$SWITCH_EVENTS" ;;
	bpftrace) bpftrace_on 'tracepoint:sched:sched_switch { @[0] = count(); } tracepoint:sched:sched_waking { @[1] = count(); }' ;;
	esac
}

switches_take() {
	local answer
	answer=$(ask switches "$CALLS")
	take "$1" "$2" switch "$answer"
}

# A switch makes two events: itself and the wake-up before it. Other tracers record the whole machine.
switches_off() {
	local made=$((CALLS * 5 * 2))
	case $1 in
	untraced) ;;
	floor) floor_off ;;
	profbpf) profbpf_off profbpf sched ;;
	accounts) profbpf_off ;;
	ftrace) ftrace_off "$made" ;;
	trace_cmd) trace_cmd_off "$made" ;;
	perf | perf_sched) perf_off "$1" "$made" "$WORK/perf.data" ;;
	perf_trace) perf_off perf_trace "$made" "$WORK/perf.txt" ;;
	bpftrace) bpftrace_off "$made" ;;
	esac
}

per_event() {
	awk -v state="$1" '$2 == state { a[$1] = $4 } $2 == "untraced" { b[$1] = $4 }
		END { for (i in a) print (a[i] - b[i]) / 2 }' "$WORK/samples" | sort -n | middle '%.0f'
}

bench_switches() {
	local state states=()
	start_target switches "$BENCH/switch_target"
	for state in "${SWITCHES_OWN[@]}"; do ! is_wanted "$state" || states+=("$state"); done
	usable switches "${SWITCHES_OTHERS[@]}"
	states+=("${USABLE[@]}")
	measure switches "${states[@]}"
	stop_target switches
	heading "A context switch with its wake-up, two processes on one CPU: $PASSES passes of 5 x $CALLS switches"
	printf '%-10s %8s %11s %8s %10s %8s %9s %9s %9s\n' '' 'CPU ns' 'range' 'wall ns' '/untraced' '/floor' 'ns per' 'tool CPU' 'bytes' \
		'' '' '' '' '' '' 'event' 'ns/event' '/event'
	for state in "${states[@]}"; do
		printf '%-10s %8s %11s %8s %10s %8s %9s %9s %9s\n' "${state//_/ }" "$(median "$state" switch)" "$(range "$state" switch)" \
			"$(wall_median "$state" switch)" "$(ratio "$state" untraced switch)" "$(ratio "$state" floor switch)" \
			"$(per_event "$state")" "$(costs "$state" cpu)" "$(costs "$state" bytes)"
	done
	print_daemon_cost event
}
