#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sessions of a daemon: listed, stopped, left alone; they survive profctl and end with the daemon.
# beside others: its daemon is its own, and no time counts
. "$(dirname "$0")/lib.sh"
need_root
need_command setpriv jq

sleep 1000 &
target=$!
setpriv --reuid=65534 --regid=65534 --clear-groups sleep 1000 &
theirs=$!
wait_until 10 grep -q '^Uid:[[:space:]]*65534' "/proc/$theirs/status" || fail "setpriv did not change the user"

sessions() { "$PROFCTL" list --format json | jq '.sessions | length'; }
no_session_left() { [ "$(sessions)" -eq 0 ]; }

# complete WHAT TRACE: the trace ends with the session's last statistics.
complete() {
	report_json "$2" "$WORK/report.json"
	assert_eq "$1: complete" true "$(json "$WORK/report.json" .capture.complete)"
	assert_loss_accounted "$WORK/report.json"
}

# ---- Status: with and without a daemon, for root and others

assert_status "status without daemon" 0 "$PROFCTL" status
assert_contains "status without daemon" "$WORK/out" '^tracing +possible'
# Copies, because other users may not be able to enter the checkout's folder.
mkdir "$WORK/public"
cp -r "$PROFCTL" "$PROFBPFD" catalog "$WORK/public"
assert_status "status without daemon and privilege" 0 env PROFBPF_CATALOG_DIR="$WORK/public/catalog" \
	setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs "$WORK/public/profctl" status
assert_contains "status without privilege" "$WORK/out" '^  because +tracing needs root'
start_daemon
assert_status "status" 0 "$PROFCTL" status --format json
assert_eq "its schema" profbpf.status/1 "$(json "$WORK/out" .schema)"
assert_eq "its process" "$DAEMON_PID" "$(json "$WORK/out" .daemon.pid)"
assert_between "catalogs it knows" 3 100 "$(json "$WORK/out" '.catalogs | length')"
assert_between "features it tells" 3 100 "$(json "$WORK/out" '.features | length')"

# ---- List and stop

rss() { "$PROFCTL" status --format json | jq .daemon.rss_bytes; }
rss_without=$(rss)
attach_in_background "$target" "$WORK/first.pbt" --duration 1000s
first=$PROFCTL_PID
rss_first=$(rss)
mv "$WORK/profctl.err" "$WORK/first.err"
mkdir -p "$WORK/public"
chmod 777 "$WORK/public"
as_nobody "$PROFCTL" attach --pid "$theirs" -o "$WORK/public/second.pbt" 2>"$WORK/second.err" </dev/null &
second=$!
wait_for_line "$WORK/second.err" '^tracing' 30
# Rings have a minimum size, and there is one for each CPU.
if [ "$(getconf _NPROCESSORS_CONF)" -le 16 ]; then
	assert_between "bytes that the daemon takes for a further session, the first one took $((rss_first - rss_without))" \
		-1000000000 $(((rss_first - rss_without) / 2)) $(($(rss) - rss_first))
fi

# figure_of NAME FIELD: a field of the statuses of the daemon's threads of this name, counted after their name; each value once
figure_of() {
	local name=$1 task
	for task in "/proc/$DAEMON_PID/task"/*; do
		[ "$(<"$task/comm")" != "$name" ] || awk -v field="$2" '{ sub(/.*\) /, ""); print $field }' "$task/stat"
	done | sort -n | uniq | paste -sd,
}

nice_of() { figure_of "$1" 17; }

# policy_of NAME: 3 = its threads do not interrupt others when they wake up
policy_of() { figure_of "$1" 39; }
is_patient() { [[ $(policy_of profbpfd/read) = *3* ]]; }
# The rings of the second session, and of any session of many CPUs, are too small for that.
if [ "$(getconf _NPROCESSORS_CONF)" -le 16 ]; then
	wait_until 10 is_patient || fail "a reader interrupts other threads though there is little to read: $(policy_of profbpfd/read)"
fi
assert_eq "scheduling policy of the control loop" 0 "$(policy_of profbpfd)"
assert_eq "scheduling policies of other threads of sessions" "3 3" "$(policy_of profbpfd/write) $(policy_of profbpfd/maps)"
if nice -n -10 true 2>/dev/null && [ "$(nice)" -eq 0 ] && [ "$(nice -n -10 nice 2>/dev/null)" = -10 ]; then
	assert_eq "priority of the control loop" -10 "$(nice_of profbpfd)"
	assert_eq "priority of readers: the trusted's, an ordinary user's" "-10,0" "$(nice_of profbpfd/read)"
	assert_eq "priority of writers" 0 "$(nice_of profbpfd/write)"
fi

"$PROFCTL" list --format json >"$WORK/list.json"
assert_eq "sessions that root sees" 2 "$(json "$WORK/list.json" '.sessions | length')"
assert_eq "target of the first" "$target" "$(json "$WORK/list.json" '.sessions[0].pids[0]')"
assert_eq "its duration" 1000000000000 "$(json "$WORK/list.json" '.sessions[0].duration_ns')"
assert_eq "its output" "$WORK/first.pbt" "$(json "$WORK/list.json" '.sessions[0].output')"
assert_eq "owner of the second" 65534 "$(json "$WORK/list.json" '.sessions[1].uid')"
first_id=$(json "$WORK/list.json" '.sessions[0].session')
second_id=$(json "$WORK/list.json" '.sessions[1].session')
as_nobody "$PROFCTL" list --format json >"$WORK/list.json"
assert_eq "sessions that the other user sees" "[$second_id]" "$(json "$WORK/list.json" '[.sessions[].session] | tojson')"
assert_status "list as text" 0 "$PROFCTL" list
assert_contains "list as text" "$WORK/out" "^ *$first_id .* live .* $target .*$WORK/first.pbt"
as_nobody "$PROFCTL" status --format json >"$WORK/status.json"
assert_eq "sessions that status counts" 2 "$(json "$WORK/status.json" .daemon.sessions)"
assert_eq "sessions that status shows others" 1 "$(json "$WORK/status.json" '.sessions | length')"

assert_status "stop of another user's session" 1 as_nobody "$PROFCTL" stop "$first_id"
assert_contains "stop of another user's session" "$WORK/err" "no session $first_id; profctl list shows"
assert_status "stop" 0 "$PROFCTL" stop "$first_id"
assert_contains "stop's summary" "$WORK/err" 'ended: stopped by user'
wait_for_end "$first" 20
assert_contains "the starter's summary" "$WORK/first.err" 'ended: stopped by user'
assert_contains "what to type next" "$WORK/first.err" "^next: analyzer report $WORK/first.pbt\$"
complete "stopped session" "$WORK/first.pbt"
assert_status "stop of one's own session" 0 as_nobody "$PROFCTL" stop "$second_id"
wait_for_end "$second" 20
complete "the other user's session" "$WORK/public/second.pbt"
assert_status "stop of a session that has ended" 1 timeout 200 "$PROFCTL" stop "$first_id"
for i in 1 2 3 4 5; do
	attach_in_background "$target" "$WORK/ended.pbt"
	id=$("$PROFCTL" list --format json | jq '.sessions[-1].session')
	"$PROFCTL" stop "$id" 2>"$WORK/stop.err"
	# Its programs are still being unloaded now.
	assert_status "stop of session $id just after its end ($i)" 1 timeout 200 "$PROFCTL" stop "$id"
	wait_for_end "$PROFCTL_PID" 20
done

# ---- Ctrl-C waits for the complete file; a second Ctrl-C leaves the rest to the daemon

attach_in_background "$target" "$WORK/once.pbt"
stop_attach
complete "after Ctrl-C" "$WORK/once.pbt"

attach_in_background "$target" "$WORK/twice.pbt"
kill -STOP "$DAEMON_PID"
kill -INT "$PROFCTL_PID"
signals_are_held() { grep -q '^SigBlk:.*[2367abef]$' "/proc/$PROFCTL_PID/status"; }
signal_is_taken() { ! grep -q '^ShdPnd:.*2$' "/proc/$PROFCTL_PID/status"; }
wait_until 10 signal_is_taken || fail "profctl does not take its signal"
kill -INT "$PROFCTL_PID"
status=0
wait_for_end "$PROFCTL_PID" 10 || status=$?
kill -CONT "$DAEMON_PID"
assert_eq "status after the second Ctrl-C" 1 "$status"
assert_contains "second Ctrl-C" "$WORK/profctl.err" "exiting now; profbpfd is still completing $WORK/twice.pbt"
wait_until 20 no_session_left || fail "the session does not end"
complete "after the second Ctrl-C" "$WORK/twice.pbt"

# ---- A session survives profctl, except with a private daemon

attach_in_background "$target" "$WORK/left.pbt"
kill -KILL "$PROFCTL_PID"
wait "$PROFCTL_PID" || :
sleep 0.5
assert_eq "sessions after profctl was killed" 1 "$(sessions)"
left_id=$("$PROFCTL" list --format json | jq '.sessions[0].session')
assert_status "stop of the session left behind" 0 "$PROFCTL" stop "$left_id"
complete "session left behind" "$WORK/left.pbt"

attach_in_background "$target" "$WORK/private.pbt" --standalone
assert_contains "a private daemon" "$WORK/profctl.err" 'using a private daemon \(--standalone\)'
private=$(pgrep -P "$PROFCTL_PID" -x profbpfd)
assert_eq "sessions of the daemon beside a private one" 0 "$(sessions)"
kill -KILL "$PROFCTL_PID"
wait "$PROFCTL_PID" || :
wait_until 20 process_is_gone "$private" || fail "the private daemon $private outlives profctl"
complete "session of a private daemon whose profctl was killed" "$WORK/private.pbt"

# ---- A private daemon has a higher priority than others, but only while it starts

# group_nice PID: the nice value of its group of threads (autogroup)
group_nice() { sed -n 's/.* nice //p' "/proc/$1/autogroup"; }
# start_private TRACE: sets "private" to a private daemon, which is stopped while it starts
start_private() {
	rm -f "$WORK/profctl.err"
	env --default-signal=INT "$PROFCTL" attach --pid "$target" -o "$1" --standalone 2>"$WORK/profctl.err" </dev/null &
	PROFCTL_PID=$!
	until private=$(pgrep -P "$PROFCTL_PID" -x profbpfd); do
		process_is_gone "$PROFCTL_PID" && fail "no private daemon: $(cat "$WORK/profctl.err")"
	done
	# The daemon has answered its first question by then, and begins to load its programs.
	wait_until 10 signals_are_held || fail "profctl does not hold signals: $(cat "$WORK/profctl.err")"
	kill -STOP "$private"
	assert_lacks "what profctl says meanwhile" "$WORK/profctl.err" '^tracing'
}
# shellcheck disable=SC2016 # for that shell
if [ -e /proc/self/autogroup ] && [ "$(nice)" -le 0 ] &&
	[ "$(setsid -w sh -c 'echo -10 >/proc/self/autogroup && cat /proc/$$/autogroup' 2>/dev/null | sed -n 's/.* nice //p')" = -10 ]; then
	start_private "$WORK/ahead.pbt"
	assert_eq "nice value of a private daemon's group while it starts" -10 "$(group_nice "$private")"
	kill -CONT "$private"
	wait_for_line "$WORK/profctl.err" '^tracing' 30
	assert_eq "the same while it records" 0 "$(group_nice "$private")"
	stop_attach
	complete "session of a private daemon that had priority" "$WORK/ahead.pbt"

	# A shell that is not Bash would stay between script and profctl without exec.
	script -qec "exec $PROFCTL top --standalone --pid $target" /dev/null >"$WORK/screen" 2>&1 </dev/null &
	terminal=$!
	# Its first table, in which the target, which sleeps, may have no row.
	wait_until 30 grep -q 'sorted by' "$WORK/screen" || fail "top shows nothing: $(cat "$WORK/screen")"
	top=$(pgrep -P "$terminal" -x profctl)
	private=$(pgrep -P "$top" -x profbpfd)
	has_no_priority() { [ "$(group_nice "$private")" = 0 ]; }
	wait_until 10 has_no_priority || fail "a private daemon keeps its priority while top shows its figures"
	kill -INT "$top"
	wait_for_end "$terminal" 20 || fail "top failed: $(cat "$WORK/screen")"

	# Nor does it need profctl for that, which its user may stop meanwhile (Ctrl-Z).
	start_private "$WORK/stopped.pbt"
	kill -STOP "$PROFCTL_PID"
	kill -CONT "$private"
	wait_until 30 has_no_priority || fail "a private daemon keeps its priority while profctl is stopped"
	kill -CONT "$PROFCTL_PID"
	wait_for_line "$WORK/profctl.err" '^tracing' 30
	stop_attach
	complete "session of a private daemon whose profctl was stopped" "$WORK/stopped.pbt"

	start_private "$WORK/given_up.pbt"
	kill -INT "$PROFCTL_PID"
	wait_until 10 signal_is_taken || fail "profctl does not take its signal"
	kill -INT "$PROFCTL_PID"
	wait_for_end "$PROFCTL_PID" 10 && fail "profctl claims success"
	assert_eq "the same when profctl has left before that" 0 "$(group_nice "$private")"
	kill -CONT "$private"
	wait_until 20 process_is_gone "$private" || fail "the private daemon $private outlives profctl"
else
	leave_out "the priority of a private daemon that starts: this kernel has no autogroups, or this user may not change them"
fi

# ---- The daemon's end ends its sessions, with complete files

attach_in_background "$target" "$WORK/last.pbt"
stop_daemon
wait_for_end "$PROFCTL_PID" 20
assert_contains "summary at the daemon's end" "$WORK/profctl.err" 'ended: the daemon was stopped'
complete "session ended with its daemon" "$WORK/last.pbt"
kill -0 "$target" || fail "the target did not survive"
