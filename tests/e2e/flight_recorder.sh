#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The flight recorder finds processes with a runtime by itself; a snapshot has every call of its window, and the number
# dropped before; ordinary users get only their own data; after kill -9 it restarts soon.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq setpriv

SECONDS_KEPT=2
PACED_IN=() PACED_PID=()

# start_paced NUMBER [COMMAND...]: starts program NUMBER, under COMMAND; returns once it calls
start_paced() {
	local number=$1
	shift
	mkfifo -m 666 "$WORK/paced.$number.in"
	"$@" "$WORK/public/paced" <"$WORK/paced.$number.in" >"$WORK/paced.$number.out" 2>&1 &
	PACED_PID[number]=$!
	exec {PACED_IN[number]}>"$WORK/paced.$number.in"
	wait_for_line "$WORK/paced.$number.out" '^ready' 10
}
paced_goes() {
	echo >&"${PACED_IN[$1]}"
	wait_for_line "$WORK/paced.$1.out" '^going' 10
}
# Sets CALLS.
paced_ends() {
	echo >&"${PACED_IN[$1]}"
	wait_for_line "$WORK/paced.$1.out" '^done' 10
	# A line, not the end of input: the other programs inherited this end of the pipe.
	echo >&"${PACED_IN[$1]}"
	wait_for_end "${PACED_PID[$1]}" 10 || fail "a traced program failed: $(cat "$WORK/paced.$1.out")"
	CALLS=$(sed -n 's/^calls=//p' "$WORK/paced.$1.out")
}

# Prints the number of the recorder's sessions with probes
probing() { "$PROFCTL" list --format json | jq '[.sessions[] | select(.output == "flight recorder" and .functions > 0)] | length'; }
probes() { [ "$(probing)" -ge "$1" ]; }

# calls_of TRACE PID: "first,last,count" of the program's call numbers
calls_of() {
	"$ANALYZER" query "$1" "select min(argument1), max(argument1), count(distinct argument1) from calls
		join functions using (function) join threads using (thread) join processes on processes.process = threads.process
		where functions.name = 'truth_fail_every' and processes.pid = $2" --format csv | tail -n 1
}

# assert_whole WHAT TRACE PID: no number is missing between the first and the last. Sets FIRST, LAST, COUNT.
assert_whole() {
	IFS=, read -r FIRST LAST COUNT < <(calls_of "$2" "$3")
	assert_eq "$1: calls from $FIRST to $LAST" $((LAST - FIRST + 1)) "$COUNT"
}

# snapshot TRACE [OPTION...]: its summary: $WORK/snapshot.err
snapshot() {
	local trace=$1
	shift
	"$PROFCTL" snapshot -o "$trace" "$@" 2>"$WORK/snapshot.err" || fail "profctl snapshot: $(cat "$WORK/snapshot.err")"
	report_json "$trace" "$trace.json"
	assert_loss_accounted "$trace.json"
	assert_complete "$trace.json"
}
of_api() { sed -nE "s/^ +api +([0-9]+) .*  ([0-9]+) dropped before.*/\\$1/p" "$WORK/snapshot.err"; }

mkdir -m 755 "$WORK/public"
cp "$TRUTH/paced" "$TRUTH/libtruth.so" "$PROFCTL" "$WORK/public"
AS_USER=(setpriv --reuid=65534 --regid=65534 --clear-groups)

start_daemon
assert_status "a snapshot without a recorder" 1 "$PROFCTL" snapshot -o "$WORK/none.pbt"
assert_contains "the message" "$WORK/err" 'no flight recorder.*--recorder'
[ ! -e "$WORK/none.pbt" ] || fail "a snapshot that failed leaves a file"
stop_daemon
assert_status "a window that is too short" 2 "$PROFBPFD" --recorder 10ms
assert_status "nobody's processes" 2 "$PROFBPFD" --recorder 10s --recorder-for whom

# Programs are found by the runtime that they map. Other processes of this machine may be found, too: below, counts name
# theirs.
start_daemon --recorder ${SECONDS_KEPT}s --catalog "$ROOT/tests/catalog"
start_paced 1
is_found() {
	"$PROFCTL" snapshot -o "$WORK/found.pbt" && report_json "$WORK/found.pbt" "$WORK/found.json" &&
		jq -e ".trace.targets | index(${PACED_PID[1]})" "$WORK/found.json"
}
wait_until 10 is_found || fail "the recorder has not found the program: $(cat "$WORK/profbpfd.log")"
stop_daemon

start_daemon --recorder ${SECONDS_KEPT}s --catalog "$ROOT/tests/catalog" --recorder-for pid="${PACED_PID[1]}"
wait_until 10 probes 1 || fail "the recorder has not found the process: $(cat "$WORK/profbpfd.log")"
started_us=${EPOCHREALTIME/[.,]/}
paced_goes 1
as_nobody "$PROFCTL" snapshot -o - >/dev/null 2>"$WORK/nobody.err" && fail "an ordinary user got root's calls"
assert_contains "the message to an ordinary user" "$WORK/nobody.err" 'no process of yours'
assert_status "the recorder's session cannot be stopped" 1 "$PROFCTL" stop 1
assert_contains "the message" "$WORK/err" "belongs to the flight recorder"
# Waits longer than the recorder keeps calls, by two of its segments
until [ $((${EPOCHREALTIME/[.,]/} - started_us)) -gt $((SECONDS_KEPT * 1000000 + 2500000)) ]; do sleep 0.1; done
snapshot "$WORK/all.pbt"
assert_between "seconds of all" $SECONDS_KEPT $((SECONDS_KEPT + 3)) "$(jq '.trace.duration_ns / 1e9' "$WORK/all.pbt.json")"
assert_whole "all that is kept" "$WORK/all.pbt" "${PACED_PID[1]}"
assert_between "the first call of them" 2 "$LAST" "$FIRST"
assert_eq "calls kept" "$COUNT" "$(of_api 1)"
assert_eq "calls kept and dropped are all that there were" "$LAST" $(($(of_api 1) + $(of_api 2)))
assert_contains "the file says what was dropped" "$WORK/all.pbt.json" "window were dropped"
assert_eq "the target" "${PACED_PID[1]}" "$(jq '.trace.targets | join(",")' -r <"$WORK/all.pbt.json")"
# A shorter window: a later snapshot begins later, whatever the program did meanwhile.
first=$FIRST
snapshot "$WORK/last.pbt" --last 1s
assert_whole "--last 1s" "$WORK/last.pbt" "${PACED_PID[1]}"
assert_between "the first call of --last 1s" $((first + 1)) "$LAST" "$FIRST"
assert_between "seconds of --last 1s" 1 2.9 "$(jq '.trace.duration_ns / 1e9' "$WORK/last.pbt.json")"
# Calls of an ended process are kept until they are too old
paced_ends 1
snapshot "$WORK/after.pbt"
assert_whole "after the end" "$WORK/after.pbt" "${PACED_PID[1]}"
assert_eq "the last call" "$CALLS" "$LAST"
stop_daemon

start_paced 2 "${AS_USER[@]}"
start_paced 3
FOR=(--recorder-for pid="${PACED_PID[2]}" --recorder-for pid="${PACED_PID[3]}")
start_daemon --recorder ${SECONDS_KEPT}s --catalog "$ROOT/tests/catalog" "${FOR[@]}"
wait_until 10 probes 2 || fail "the recorder has not found both: $(cat "$WORK/profbpfd.log")"
paced_goes 2
paced_goes 3
sleep 1.2
as_nobody "$PROFCTL" snapshot -o - >"$WORK/own.pbt" 2>"$WORK/nobody.err" || fail "no snapshot: $(cat "$WORK/nobody.err")"
snapshot "$WORK/both.pbt"
assert_whole "the user's own" "$WORK/own.pbt" "${PACED_PID[2]}"
assert_eq "from the first on" 1 "$FIRST"
assert_eq "root's calls in the user's snapshot" ",,0" "$(calls_of "$WORK/own.pbt" "${PACED_PID[3]}")"
report_json "$WORK/own.pbt" "$WORK/own.json"
assert_eq "targets of the user's snapshot" "${PACED_PID[2]}" "$(jq '.trace.targets | join(",")' -r <"$WORK/own.json")"
assert_whole "the user's in root's snapshot" "$WORK/both.pbt" "${PACED_PID[2]}"
assert_whole "root's in root's snapshot" "$WORK/both.pbt" "${PACED_PID[3]}"

kill -KILL "$DAEMON_PID"
wait "$DAEMON_PID" 2>/dev/null || :
rm -f "$PROFBPF_SOCKET"
killed_us=${EPOCHREALTIME/[.,]/}
start_daemon --recorder ${SECONDS_KEPT}s --catalog "$ROOT/tests/catalog" "${FOR[@]}"
wait_until 2 probes 2 || fail "the recorder is not back: $(cat "$WORK/profbpfd.log")"
note "the recorder is back after $(((${EPOCHREALTIME/[.,]/} - killed_us) / 1000)) ms"
snapshot "$WORK/back.pbt"
assert_whole "after kill -9" "$WORK/back.pbt" "${PACED_PID[3]}"
paced_ends 2
paced_ends 3
no_user_session() { "$PROFCTL" list --format json | jq -e '[.sessions[] | select(.uid == 65534)] | length == 0'; }
wait_until 10 no_user_session || fail "the user's session stays: $("$PROFCTL" list)"
assert_eq "results that were wrong" 0 "$(sed -n 's/^wrong=//p' "$WORK"/paced.*.out | awk '{ n += $1 } END { print n + 0 }')"
stop_daemon
