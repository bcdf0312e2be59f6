#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files that were mapped while the kernel could not report it count as lost, in status, trace and report; all of them are
# looked for again.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq python3 taskset prlimit

# A copy, because other tests may run programs with the library itself. The target loads it while the daemon is stopped,
# and calls when it is told to.
cp "$TRUTH/libtruth.so" "$WORK/libtruth.so"
mkfifo "$WORK/to"
exec {to}<>"$WORK/to"
python3 -uc "import ctypes, sys
print('ready')
sys.stdin.readline()
library = ctypes.CDLL('$WORK/libtruth.so')
print('loaded')
sys.stdin.readline()
for i in range(70): library.truth_noop(1)
print('done')
sys.stdin.readline()" <"$WORK/to" >"$WORK/job" &
target=$!
wait_for_line "$WORK/job" '^ready' 20

# All of it on one CPU: each has a buffer of its own, and on many CPUs none would be full. Before Linux 6.0 the kernel
# tells of a loss with the next mapping on that CPU.
release=$(uname -r)
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[-,].*//')
taskset -cp "$cpu" "$target" >/dev/null

start_daemon
of_api='.. | objects | select(.name? == "api")'
told() {
	[ "${release%%.*}" -ge 6 ] || taskset -c "$cpu" true
	"$PROFCTL" status --format json >"$WORK/status.json" && grep -q 'mapped files not reported' "$WORK/status.json"
}
# fill_buffer: many programs begin. Each maps some ten files; the buffer of a CPU has room for some hundred such programs.
fill_buffer() {
	(
		taskset -cp "$cpu" "$BASHPID" >/dev/null
		for _ in $(seq 1500); do /bin/true; done
	)
}
# overflow: that happens while the daemon is stopped.
overflow() {
	kill -STOP "$DAEMON_PID"
	fill_buffer
	echo >&"$to"
	wait_for_line "$WORK/job" '^loaded' 20
	# The first look at the processes finds no descriptor for it.
	[ -z "${descriptors:-}" ] || prlimit --pid "$DAEMON_PID" --nofile="3:"
	kill -CONT "$DAEMON_PID"
	[ -z "${descriptors:-}" ] || { sleep 0.7 && prlimit --pid "$DAEMON_PID" --nofile="$descriptors:"; }
	wait_until 10 told || fail "status tells of no loss: $(jq -c "$of_api" "$WORK/status.json")"
}
# check TRACE: it tells of the loss
check() {
	report_json "$1" "$WORK/missed.json"
	assert_loss_accounted "$WORK/missed.json"
	jq -e '.capture.sources[] | select(.name == "api") | .lost > 0' "$WORK/missed.json" >/dev/null ||
		fail "the report tells of no loss: $(jq -c .capture.sources "$WORK/missed.json")"
	"$ANALYZER" report "$1" --section capture >"$WORK/text"
	assert_contains "the report" "$WORK/text" 'mapped files not reported'
	assert_eq "calls in a library that was mapped meanwhile" 70 \
		"$(jq "[.api[] | select(.function == \"truth_noop\" and .pid == $target) | .count] | add // 0" "$WORK/missed.json")"
}
functions() { "$PROFCTL" list --format json | jq '.sessions[0].functions'; }
is_probed() { [ "$(functions)" -gt "$before" ]; }

# A session of the whole machine knows no list of targets.
env --default-signal=INT "$PROFCTL" record --system --topics api --catalog "$ROOT/tests/catalog" -o "$WORK/all.pbt" 2>"$WORK/profctl.err" </dev/null &
PROFCTL_PID=$!
wait_for_line "$WORK/profctl.err" '^tracing' 30
before=$(functions)
descriptors=$(prlimit --pid "$DAEMON_PID" --nofile --noheadings --raw --output SOFT)
overflow
descriptors=
wait_until 20 is_probed || fail "the library is not probed: $("$PROFCTL" list --format json)"
echo >&"$to"
wait_for_line "$WORK/job" '^done' 20
stop_attach
check "$WORK/all.pbt"
kill "$target"

# stop_listener: stops the daemon's thread that reads the buffers, while it holds no lock, until a line comes.
stop_listener() {
	python3 -uc "import ctypes, os, sys
ptrace = ctypes.CDLL(None).ptrace
ptrace.argtypes = [ctypes.c_long] * 4
SEIZE, INTERRUPT, DETACH, WALL = 0x4206, 0x4207, 17, 0x40000000
tasks = '/proc/$DAEMON_PID/task/'
tid = next(int(t) for t in os.listdir(tasks) if open(tasks + t + '/comm').read() == 'profbpfd/maps\n')
def waits(): # in epoll_wait or epoll_pwait, of x86-64 or arm64
    return open(tasks + f'{tid}/syscall').read().split()[0] in ('232', '281', '22')
while True:
    assert ptrace(SEIZE, tid, 0, 0) == 0 and ptrace(INTERRUPT, tid, 0, 0) == 0
    os.waitpid(tid, WALL)
    if waits(): break
    ptrace(DETACH, tid, 0, 0)
print('stopped')
sys.stdin.readline()" <"$WORK/to" >"$WORK/listener"
}

# A loss of the last instants counts, too: nobody has looked at the buffers when the session ends. The session may have
# missed files at its start, while it was busy.
missed() { jq '[.. | objects | select(.name? == "api") | .lost_by["mapped files not reported"] // 0] | add' "$1"; }
env --default-signal=INT "$PROFCTL" record --system --topics api -o "$WORK/end.pbt" 2>"$WORK/profctl.err" </dev/null &
PROFCTL_PID=$!
wait_for_line "$WORK/profctl.err" '^tracing' 30
stop_listener &
wait_for_line "$WORK/listener" '^stopped' 20
fill_buffer
"$PROFCTL" status --format json >"$WORK/status.json"
stop_attach
echo >&"$to"
report_json "$WORK/end.pbt" "$WORK/end.json"
before=$(missed "$WORK/status.json")
assert_between "losses with that of the end, of which status knew $before" $((before + 1)) 1000 "$(missed "$WORK/end.json")"
stop_daemon
