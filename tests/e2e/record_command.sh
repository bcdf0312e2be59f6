#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record is invisible to its command: output, status, signals and input pass through; failures leave no file.
# beside others: its daemon is its own, and no time counts
. "$(dirname "$0")/lib.sh"
need_root
need_command jq python3

record() { "$PROFCTL" record -o "$WORK/out.pbt" "$@"; }

# failed WHAT STATUS PATTERN COMMAND...: fails with the status that a shell would return, and leaves no file.
failed() {
	local what=$1 status=$2 pattern=$3
	shift 3
	rm -f "$WORK/out.pbt"
	assert_status "$what" "$status" record -- "$@"
	assert_contains "$what" "$WORK/err" "$pattern"
	[ ! -e "$WORK/out.pbt" ] || fail "$what: it left a file behind"
}

start_daemon

# ---- Output and status

assert_status "a command that succeeds" 0 record -- sh -c 'echo to stdout; echo to stderr >&2'
assert_eq "its standard output" "to stdout" "$(<"$WORK/out")"
assert_contains "its standard error" "$WORK/err" '^to stderr$'
assert_contains "the line that says it is live" "$WORK/err" '^tracing [0-9]+ \(sh\): .*ends with the command$'
assert_lacks "a command that ends before its recording" "$WORK/err" 'still running'
assert_status "a command that fails" 3 record -- sh -c 'exit 3'
assert_status "a command without --" 4 record sh -c 'exit 4'
# shellcheck disable=SC2016 # for the inner shell
assert_status "a command that is killed" 137 record -- sh -c 'kill -KILL $$'
# shellcheck disable=SC2016
assert_status "a command that is terminated" 143 record -- sh -c 'kill -TERM $$'
assert_eq "standard input" hello "$(echo hello | record -- cat 2>"$WORK/err")"
assert_eq "closed standard output" closed \
	"$(record -- sh -c '{ echo x 2>/dev/null >&1; } || echo closed >&2' 2>&1 >&- | grep '^closed$')"
assert_eq "options of the command" "-o --pid" "$(record -- echo -o --pid 2>"$WORK/err")"
assert_eq "descriptors that the command inherits" "$(sh -c 'ls /proc/self/fd | wc -l')" \
	"$(record -- sh -c 'ls /proc/self/fd | wc -l' 2>"$WORK/err")"
signals='import signal; print(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])), signal.getsignal(signal.SIGINT))'
assert_eq "signals that the command has blocked" "$(python3 -c "$signals")" \
	"$(record -- python3 -c "$signals" 2>"$WORK/err")"

# ---- Commands that cannot be run

printf '#!/nowhere/sh\n' >"$WORK/script" && chmod 755 "$WORK/script"
printf 'no program\n' >"$WORK/plain" && chmod 644 "$WORK/plain"
failed "no such command" 127 "cannot run 'no-such-command': command not found" no-such-command
failed "no such file" 127 "cannot run '$WORK/none'" "$WORK/none"
failed "not executable" 126 "cannot run '$WORK/plain': Permission denied" "$WORK/plain"
failed "a folder" 126 "cannot run '$WORK': Permission denied" "$WORK"
failed "no such interpreter" 127 'interpreter in its first line does not exist' "$WORK/script"
no_session_left() { [ "$("$PROFCTL" list --format json | jq '.sessions | length')" -eq 0 ]; }
wait_until 20 no_session_left || fail "a session of a command that never ran goes on"
printf 'echo no interpreter named; exit 5\n' >"$WORK/script"
assert_status "a script without #!" 5 record -- "$WORK/script"

# ---- Signals: the command gets those of the terminal itself; profctl passes on signals sent to it alone

cat >"$WORK/patient.py" <<'END'
import signal, sys, time
def handler(number, frame):
    print("got", signal.Signals(number).name, flush=True)
    if number == signal.SIGTERM: sys.exit(9)
for s in (signal.SIGINT, signal.SIGTERM): signal.signal(s, handler)
print("ready", flush=True)
while True: time.sleep(0.1)
END
env --default-signal=INT "$PROFCTL" record -o "$WORK/signals.pbt" -- python3 "$WORK/patient.py" \
	>"$WORK/patient.out" 2>"$WORK/patient.err" </dev/null &
profctl=$!
wait_for_line "$WORK/patient.out" '^ready$' 30
kill -INT "$profctl"
wait_for_line "$WORK/patient.out" '^got SIGINT$' 10
kill -0 "$profctl" || fail "profctl ended before its command"
kill -TERM "$profctl"
status=0
wait_for_end "$profctl" 20 || status=$?
assert_eq "status of a command that ends itself on SIGTERM" 9 "$status"
assert_contains "summary" "$WORK/patient.err" '^next: analyzer report'
report_json "$WORK/signals.pbt" "$WORK/report.json"
assert_eq "the trace is complete" true "$(json "$WORK/report.json" .capture.complete)"

# ---- --duration ends the trace, not the command

# The command runs until the session has ended.
# shellcheck disable=SC2016 # for the inner shell
assert_status "a command longer than --duration" 6 record --duration 300ms -- sh -c \
	'until "$0" list --format json | jq -e "(.sessions | length) == 0"; do sleep 0.1; done; exit 6' "$PROFCTL"
assert_contains "its summary" "$WORK/err" 'recorded .*ended: '
assert_contains "what it waits for" "$WORK/err" "'sh' is still running, but no longer traced"
report_json "$WORK/out.pbt" "$WORK/report.json"
[ "$(json "$WORK/report.json" .trace.duration_ns)" -ge 290000000 ] || fail "it ended early"

# ---- The command outlives a killed daemon and a killed profctl

mkfifo "$WORK/end"
# shellcheck disable=SC2016
"$PROFCTL" record -o "$WORK/lost.pbt" -- sh -c 'read -r _ <"$0"; exit 7' "$WORK/end" >/dev/null 2>"$WORK/lost.err" </dev/null &
profctl=$!
wait_for_line "$WORK/lost.err" '^tracing' 30
kill -KILL "$DAEMON_PID"
wait "$DAEMON_PID" || :
wait_for_line "$WORK/lost.err" 'the daemon closed the connection' 20
echo >"$WORK/end"
status=0
wait_for_end "$profctl" 20 || status=$?
assert_eq "status of a command whose daemon was killed" 7 "$status"
assert_contains "the message" "$WORK/lost.err" 'the daemon closed the connection'

# ---- The whole machine

start_daemon
assert_status "record --system" 0 record --system --duration 1s
assert_contains "record --system" "$WORK/err" '^tracing this machine: '
assert_status "record --system with a command" 8 record --system -- sh -c 'exit 8'
stop_daemon
