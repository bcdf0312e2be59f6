#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each limit of an ordinary user is enforced, with a message that names it and who can raise it; root has no limits.
# beside others: its daemon is its own, and no time counts
. "$(dirname "$0")/lib.sh"
need_root
need_command setpriv jq

start_daemon --user-sessions 2 --user-memory 400M --user-processes 3 --user-functions 2 --user-catalog 200
mkdir -m 777 "$WORK/theirs" "$WORK/catalogs"
# Functions of libc, which every process maps.
printf 'runtime quota\nnanosleep other 1\nclock_nanosleep other 1\ngetpid other 1\ngetppid other 1\n' >"$WORK/catalogs/quota.catalog"

# Starts processes when it reads a line.
setpriv --reuid=65534 --regid=65534 --clear-groups bash -c 'read -r; sleep 1000 & sleep 1000 & sleep 1000 & sleep 1000 & read -r' < <(
	until [ -e "$WORK/start" ]; do sleep 0.05; done
	echo
	exec sleep 1000
) &
theirs=$!
wait_until 10 grep -q '^Uid:[[:space:]]*65534' "/proc/$theirs/status" || fail "setpriv did not change the user"
sleep 1000 &
ours=$!

attach() { as_nobody "$PROFCTL" attach --pid "$theirs" "$@"; }

# ---- At the start of a session

assert_status "memory" 1 attach --buffer 300M -o "$WORK/theirs/a.pbt"
assert_contains "memory" "$WORK/err" 'may use 400.0 MiB of memory.*--buffer.*profbpfd --user-memory'
assert_status "memory before a step" 1 attach --buffer 250M --launch-from-step 9 --duration 1s -o "$WORK/theirs/a.pbt"
assert_contains "memory before a step" "$WORK/err" 'may use 400.0 MiB of memory'
printf '%0300d\n' 0 | sed 's/^/# /' >>"$WORK/catalogs/quota.catalog"
assert_status "catalogs" 1 attach --catalog "$WORK/catalogs" -o "$WORK/theirs/a.pbt"
assert_contains "catalogs" "$WORK/err" 'may have 200 bytes in total.*profbpfd --user-catalog'
sed -i '/^#/d' "$WORK/catalogs/quota.catalog"
assert_status "processes" 1 attach --pid "$ours,$$,1" -o "$WORK/theirs/a.pbt"
assert_contains "processes" "$WORK/err" '4 processes are requested.* traces 3 at most:.*profbpfd --user-processes'

# ---- During a session

attach --catalog "$WORK/catalogs" --topics api,sched -o "$WORK/theirs/first.pbt" 2>"$WORK/first.err" </dev/null &
first=$!
wait_for_line "$WORK/first.err" '^tracing' 30
assert_contains "functions" "$WORK/first.err" 'only 2 of [0-9]+ functions are probed: the limit of a session is 2 probes.*profbpfd --user-functions'
attach -o "$WORK/theirs/second.pbt" 2>"$WORK/second.err" </dev/null &
second=$!
wait_for_line "$WORK/second.err" '^tracing' 30
assert_status "sessions" 1 attach -o "$WORK/theirs/third.pbt"
assert_contains "sessions" "$WORK/err" 'you have 2 sessions, an ordinary user may have 2: .*profctl stop.*profbpfd --user-sessions'
[ ! -e "$WORK/theirs/third.pbt" ] || fail "the refused session left a file behind"

touch "$WORK/start"
warned() { [ "$("$PROFCTL" list --format json | jq '[.sessions[].warnings[] | select(contains("the limit of 3 processes is reached"))] | length')" -ge 2 ]; }
wait_until 20 warned || fail "sessions do not say that processes are not traced:
$("$PROFCTL" list --format json)"
"$PROFCTL" list --format json | jq -r '.sessions[].warnings[]' >"$WORK/warnings"
assert_contains "processes that are started" "$WORK/warnings" 'further ones are not traced.*profbpfd --user-processes'
"$PROFCTL" list --format json >"$WORK/list.json"
for id in $(jq '.sessions[].session' "$WORK/list.json"); do as_nobody "$PROFCTL" stop "$id" 2>/dev/null; done
wait_for_end "$first" 20
wait_for_end "$second" 20
report_json "$WORK/theirs/first.pbt" "$WORK/report.json"
assert_loss_accounted "$WORK/report.json"

# ---- Root has no limits

mapfile -t crowd < <(for _ in 1 2 3 4 5; do sleep 1000 >/dev/null & echo $!; done)
printf '%0300d\n' 0 | sed 's/^/# /' >>"$WORK/catalogs/quota.catalog"
pids=$(IFS=, && echo "${crowd[*]}")
assert_status "root's session" 0 "$PROFCTL" attach --pid "$pids" --buffer 600M --catalog "$WORK/catalogs" \
	--duration 300ms -o "$WORK/root.pbt"
assert_lacks "root's session" "$WORK/err" 'functions are probed|user-'

# ---- Wrong limits

for wrong in --user-sessions=x --user-processes=0 --user-memory=1MB; do
	assert_status "profbpfd $wrong" 2 "$PROFBPFD" "$wrong"
	assert_contains "profbpfd $wrong" "$WORK/err" "${wrong%=*}: .*'"
done
stop_daemon
