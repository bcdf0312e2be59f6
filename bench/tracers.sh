# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2086 # lists of processes are split
# tracers.sh - NAME_on and NAME_off of profbpf, of the kernel's own floor, and of other tracers.

TRACER_PID='' TRACER_PIDS='' TRACER_CPU_NS='' TRACEFS=/sys/kernel/tracing
INSTANCE=$TRACEFS/instances/profbpf_bench
FTRACE_BUFFER_KB=49152 # per CPU: all events of a pass

# The program that a state needs; for other states it is the state's name.
tracer_program() {
	case $1 in
	perf_sched | perf_trace) echo perf ;;
	ftrace) echo dd ;;
	untraced | floor | profbpf | all | short | accounts | preload) echo true ;;
	*) echo "${1//_/-}" ;;
	esac
}

tracer_installed() { command -v "$(tracer_program "$1")" >/dev/null; }

tracers_cleanup() {
	[ -z "$TRACER_PIDS" ] || kill -INT $TRACER_PIDS 2>/dev/null || :
	[ ! -d "$INSTANCE" ] || ftrace_remove || :
	[ ! -e "$WORK/perf.probes" ] || perf probe -q -d 'bench:*' 2>/dev/null || :
}

# wait_for_line FILE PATTERN
wait_for_line() {
	local i
	for ((i = 0; i < 600; i++)); do
		! grep -qE -e "$2" "$1" 2>/dev/null || return 0
		kill -0 "$TRACER_PID" 2>/dev/null || break
		sleep 0.05
	done
	die "no '$2' in time: $(tail -n 5 "$1")"
}

# cpu_ns PID...: CPU time of all threads of these processes so far
cpu_ns() {
	local pid
	for pid in "$@"; do cat "/proc/$pid/task/"*/schedstat 2>/dev/null || :; done |
		awk '{ sum += $1 } END { printf "%.0f\n", sum }'
}

# tracer_is PID...: the tracer is on now; its CPU time counts from here
tracer_is() {
	TRACER_PIDS=$*
	TRACER_CPU_NS=$(cpu_ns $TRACER_PIDS)
}

# Sets TRACER_CPU_NS to its CPU time since tracer_is(); its buffers have been read by then.
tracer_settle() {
	sleep "${1:-0.5}"
	TRACER_CPU_NS=$(($(cpu_ns $TRACER_PIDS) - TRACER_CPU_NS))
}

end_tracer() {
	kill -INT "$TRACER_PID"
	wait "$TRACER_PID" || :
	TRACER_PID='' TRACER_PIDS=''
}

# ---- The floor: empty programs

# floor_on ARGUMENT...: arguments of bench/floor
floor_on() {
	rm -f "$WORK/floor.in" "$WORK/floor.out"
	mkfifo "$WORK/floor.in"
	"$BENCH/floor" "$@" <"$WORK/floor.in" >"$WORK/floor.out" 2>&1 &
	TRACER_PID=$! TRACER_PIDS=$!
	exec {FLOOR_IN}>"$WORK/floor.in"
	wait_for_line "$WORK/floor.out" '^attached'
}

floor_off() {
	echo >&"$FLOOR_IN"
	exec {FLOOR_IN}>&-
	wait "$TRACER_PID" || die "$(cat "$WORK/floor.out")"
	TRACER_PID='' TRACER_PIDS=''
}

# ---- profbpf

# profbpf_on PIDS TOPICS [OPTION...]
profbpf_on() {
	local pids=$1 topics=$2
	shift 2
	rm -f "$WORK/profctl.err"
	# A shell's background jobs start with SIGINT ignored.
	env --default-signal=INT "$PROFCTL" attach --pid "${pids// /,}" --topics "$topics" --budget off -o "$WORK/run.pbt" "$@" \
		2>"$WORK/profctl.err" </dev/null &
	TRACER_PID=$!
	wait_for_line "$WORK/profctl.err" '^tracing'
	tracer_is "$(pgrep -P "$TRACER_PID" -x profbpfd)"
}

# profbpf_off [STATE SOURCE]: rings are read at least every 100 ms, batches written at least every second
profbpf_off() {
	tracer_settle 1.2
	end_tracer
	grep -q '^tracing' "$WORK/profctl.err" || die "$(cat "$WORK/profctl.err")"
	[ $# -eq 0 ] || cost "$1" "$TRACER_CPU_NS" "$(stat -c %s "$WORK/run.pbt")" "$(records "$2")" "$(lost "$2")"
}

# records SOURCE, lost SOURCE: from profctl's final summary
records() { awk -v source="$1" '$1 == source { print $2 }' "$WORK/profctl.err"; }
lost() { awk -v source="$1" '$1 == source { print $3 }' "$WORK/profctl.err"; }

# ---- perf. It prints nothing when it begins.

# perf_on SUBCOMMAND OPTION...: writes $WORK/perf.data, or the file that the options name
perf_on() {
	env --default-signal=INT perf "$@" >"$WORK/perf.err" 2>&1 </dev/null &
	TRACER_PID=$!
	sleep 2
	kill -0 "$TRACER_PID" 2>/dev/null || die "perf $1: $(cat "$WORK/perf.err")"
	tracer_is "$TRACER_PID"
}

# perf_off STATE RECORDS FILE
perf_off() {
	tracer_settle
	end_tracer
	cost "$1" "$TRACER_CPU_NS" "$(stat -c %s "$3")" "$2" -
}

# ---- bpftrace

# bpftrace_on PROGRAM: it only counts
bpftrace_on() {
	env --default-signal=INT bpftrace -e "BEGIN { printf(\"tracing\\n\"); } $1" >"$WORK/bpftrace.out" 2>&1 </dev/null &
	TRACER_PID=$!
	wait_for_line "$WORK/bpftrace.out" '^tracing'
	tracer_is "$TRACER_PID"
}

bpftrace_off() {
	tracer_settle
	end_tracer
	cost bpftrace "$TRACER_CPU_NS" - "$1" -
}

# ---- The kernel's own tracing, an instance of it, as used by trace-cmd, but read only at the end.

# ftrace_on PID|- EVENT...: SYSTEM:NAME
ftrace_on() {
	local pid=$1 event
	shift
	mkdir "$INSTANCE"
	echo $FTRACE_BUFFER_KB >"$INSTANCE/buffer_size_kb"
	[ "$pid" = - ] || echo "$pid" >"$INSTANCE/set_event_pid"
	for event in "$@"; do echo 1 >"$INSTANCE/events/${event/://}/enable"; done
}

ftrace_remove() {
	echo 0 >"$INSTANCE/events/enable"
	rmdir "$INSTANCE"
}

# ftrace_off RECORDS
ftrace_off() {
	local lost cpu bytes=0
	echo 0 >"$INSTANCE/events/enable"
	lost=$(cat "$INSTANCE"/per_cpu/cpu*/stats | awk '/^(overrun|dropped events):/ { sum += $NF } END { print sum + 0 }')
	for cpu in "$INSTANCE"/per_cpu/cpu*; do
		dd if="$cpu/trace_pipe_raw" of="$WORK/ftrace.raw" bs=4096 iflag=nonblock 2>/dev/null || :
		bytes=$((bytes + $(stat -c %s "$WORK/ftrace.raw")))
	done
	rm -f "$WORK/ftrace.raw"
	ftrace_remove
	cost ftrace - "$bytes" "$1" "$lost"
}

# ---- trace-cmd

# trace_cmd_on OPTION...: options of trace-cmd record
trace_cmd_on() {
	rm -f "$WORK/trace.dat"*
	env --default-signal=INT trace-cmd record -q -B profbpf_bench -o "$WORK/trace.dat" "$@" >"$WORK/trace_cmd.err" 2>&1 </dev/null &
	TRACER_PID=$!
	sleep 2
	kill -0 "$TRACER_PID" 2>/dev/null || die "trace-cmd: $(cat "$WORK/trace_cmd.err")"
	tracer_is "$TRACER_PID" $(pgrep -P "$TRACER_PID")
}

trace_cmd_off() {
	tracer_settle
	end_tracer
	cost trace_cmd "$TRACER_CPU_NS" "$(stat -c %s "$WORK/trace.dat")" "$1" -
}
