#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The flight recorder's triggers: a process killed by a signal, a process that launches no more, a slow step, steps by
# number, a long wait for data, and a metric write one file each, with the reason; files are limited in number and size;
# ordinary users have no triggers. The configuration can be reloaded while the daemon runs.
# beside others: its daemon is its own, and no time counts
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq
need_command prlimit
own_truth paced

FILES=$WORK/triggered
files_of() { find "$FILES" -name "profbpf-trigger-$1-*.pbt"; }
has_file() { [ "$(files_of "$1" | wc -l)" -ge 1 ]; }
probes() { "$PROFCTL" list --format json | jq -e "[.sessions[] | select(.functions > 0)] | length > 0"; }
# trigger_field NUMBER COLUMN: column 2 = times it happened, 3 = files written
trigger_field() { "$PROFCTL" trigger list | awk -v n="$1" -v column="$2" '$1 == n { print $column }'; }
happened() { [ "$(trigger_field "$1" 2)" -ge "$2" ]; }
# assert_reason WHAT NUMBER PATTERN
assert_reason() {
	local file
	file=$(files_of "$2")
	assert_eq "$1: files" 1 "$(wc -l <<<"$file")"
	report_json "$file" "$WORK/report.json"
	assert_complete "$WORK/report.json"
	json "$WORK/report.json" .capture.end_reason >"$WORK/reason"
	assert_contains "$1" "$WORK/reason" "$3"
	assert_between "$1: calls of it" 1 1000000 "$(api_count "$WORK/report.json" truth_noop)"
}

says() { grep -qE "$1" "$WORK/profbpfd.log"; }

assert_status "no such trigger" 2 "$PROFBPFD" --recorder 5s --trigger often
assert_contains "the message" "$WORK/err" 'not one of signal'
start_truth paced 2000 launch
cat >"$WORK/profbpfd.conf" <<END
# What the daemon is told by its configuration
recorder = 10s
  recorder-memory=4M
recorder-for = pid=$TRUTH_PID
trigger-directory = $FILES
trigger-space = 64M

trigger = signal
END
assert_status "the configuration is right" 0 "$PROFBPFD" --check-config="$WORK/profbpfd.conf"
assert_contains "so it says" "$WORK/out" 'profbpfd.conf: no errors'
for line in 'recorder = soon' 'recorder 60s' 'records = 60s' 'private = 3' 'metrics = 1.2.3.4' 'metrics =' \
	'trigger = slow-step=0.5:f'; do
	{ cat "$WORK/profbpfd.conf" && echo "$line"; } >"$WORK/wrong.conf"
	assert_status "a configuration with $line" 2 "$PROFBPFD" --check-config="$WORK/wrong.conf"
	assert_contains "the message" "$WORK/err" 'wrong.conf:9: '
done
printf '%s\n' 'recorder = soon' 'recorder 60s' 'trigger = signal' 'records = 60s' 'metrics = 1.2.3.4' >"$WORK/wrong.conf"
assert_status "a configuration with four wrong lines" 2 "$PROFBPFD" --check-config="$WORK/wrong.conf"
assert_eq "the lines that the messages name" "1 2 4 5" "$(sed -n 's/.*wrong.conf:\([0-9]*\): .*/\1/p' "$WORK/err" | xargs)"
assert_status "the daemon with it" 2 "$PROFBPFD" --config "$WORK/wrong.conf"
assert_eq "messages" 1 "$(grep -c 'wrong.conf:' "$WORK/err")"
assert_status "a configuration that is not there" 2 "$PROFBPFD" --config "$WORK/none.conf"
assert_contains "the message" "$WORK/err" 'none.conf: No such file'
# A file left by a killed daemon, and a file that another daemon is writing
mkdir "$FILES"
touch "$FILES/profbpf-trigger-1-left.pbt.part" "$FILES/report.pbt.part"
exec {written}>"$FILES/profbpf-trigger-1-written.pbt.part"
flock "$written"
# The command line overrides the configuration.
start_daemon --config "$WORK/profbpfd.conf" --recorder 20s --catalog "$ROOT/tests/catalog"
assert_eq "what is not complete" "profbpf-trigger-1-written.pbt.part report.pbt.part" "$(cd "$FILES" && echo *)"
exec {written}>&-
rm "$FILES"/*.part
wait_until 10 probes || fail "the recorder has not found the process: $(cat "$WORK/profbpfd.log")"
"$PROFCTL" trigger add no-launch=2s --every 1h --last 5s >"$WORK/added"
assert_contains "a trigger is added" "$WORK/added" "trigger 2: .*$FILES"
"$PROFCTL" trigger add slow-step=1000:truth_fail_* --every 1h >/dev/null
assert_status "a trigger that makes no sense" 1 "$PROFCTL" trigger add slow-step=400
assert_contains "the message" "$WORK/err" "'slow-step=400' is not one of"
"$PROFCTL" trigger add --launch-from-step 100 --steps 50 truth_noop --every 1h >/dev/null
"$PROFCTL" trigger add data-wait=0.0001%:truth_noop --every 1h --last 5s >/dev/null
"$PROFCTL" trigger add 'metric=profbpf_process_launches_total>100' --every 1h --last 5s >/dev/null
assert_status "steps without a beginning" 2 "$PROFCTL" trigger add --steps 50 truth_noop
as_nobody "$PROFCTL" trigger list 2>"$WORK/err" && fail "an ordinary user sees triggers"
assert_contains "the message to an ordinary user" "$WORK/err" 'only root'

# Old files exceed the limit, so one must be removed; there is room for the other, whatever a busy machine has recorded.
# Files that are not the recorder's stay.
truncate -s 31M "$FILES/profbpf-trigger-9-old.pbt" "$FILES/profbpf-trigger-9-older.pbt" "$FILES/report.pbt"
touch -d '2 days ago' "$FILES/profbpf-trigger-9-older.pbt"
touch -d '1 day ago' "$FILES/profbpf-trigger-9-old.pbt"
echo >&"$TRUTH_IN"
wait_for_line "$TRUTH_OUT" '^going' 10
sleep 1.2
assert_eq "triggered so far" 0 "$(find "$FILES" -name "profbpf-trigger-[123]-*" | wc -l)"
wait_until 10 has_file 4 || fail "steps were not counted: $(cat "$WORK/profbpfd.log")"
assert_reason "steps" 4 "trigger steps=100\+50:truth_noop: steps 100 to 149 of process $TRUTH_PID are over"
wait_until 10 has_file 5 || fail "data were not waited for: $(cat "$WORK/profbpfd.log")"
assert_reason "data" 5 "trigger data-wait=0.0001%:truth_noop: thread $TRUTH_PID of process $TRUTH_PID has spent"
wait_until 10 has_file 6 || fail "no metric was above: $(cat "$WORK/profbpfd.log")"
assert_reason "a metric" 6 "trigger metric=.*: process $TRUTH_PID: profbpf_process_launches_total grows by [1-9][0-9.]+ a second"

# Reloads of the configuration: with an error, with changeable settings, and with others.
cp "$WORK/profbpfd.conf" "$WORK/before.conf"
echo 'trigger = slow-step=0.5:f' >>"$WORK/profbpfd.conf"
assert_status "a wrong configuration" 1 "$PROFCTL" reload
assert_contains "its place" "$WORK/err" 'profbpfd.conf:9: --trigger: .slow-step=0.5:f. is not one of'
sed '$d' "$WORK/before.conf" >"$WORK/profbpfd.conf"
sleep 300 &
printf 'trigger = signal\ntrigger = signal=7\nrecorder-for = pid=%d\nuser-sessions = 2\nmetrics = %s\n' $! "$WORK/metrics.sock" >>"$WORK/profbpfd.conf"
assert_status "another configuration" 0 "$PROFCTL" reload
assert_eq "what it says" "changed: user-sessions recorder-for trigger
needs a restart: metrics" "$(cat "$WORK/out")"
assert_eq "triggers, with their numbers" "1 2 3 4 5 6 7" "$("$PROFCTL" trigger list | awk '$1 ~ /^[0-9]+$/ { print $1 }' | xargs)"
cp "$WORK/before.conf" "$WORK/profbpfd.conf"
kill -HUP "$DAEMON_PID"
wait_until 10 says '^profbpfd: changed: user-sessions recorder-for trigger$' || fail "no reloading by SIGHUP: $(cat "$WORK/profbpfd.log")"
assert_eq "triggers afterwards" "1 2 3 4 5 6" "$("$PROFCTL" trigger list | awk '$1 ~ /^[0-9]+$/ { print $1 }' | xargs)"
assert_status "no setting has changed" 0 "$PROFCTL" reload
assert_contains "so it says" "$WORK/out" '^no setting has changed$'
as_nobody "$PROFCTL" reload 2>"$WORK/err" && fail "an ordinary user has settings read"
assert_contains "the message to an ordinary user" "$WORK/err" 'only root'

kill -STOP "$TRUTH_PID"
wait_until 10 has_file 2 || fail "nothing was written: $(cat "$WORK/profbpfd.log")"
wait_until 10 has_file 3 || fail "no slow step was seen: $(cat "$WORK/profbpfd.log")"
assert_reason "nothing launched" 2 "trigger no-launch=2s: process $TRUTH_PID has launched nothing for [2-9]"
# For the kernel the process sleeps: it was stopped in the call that paces it.
"$ANALYZER" report "$(files_of 2)" --section stacks --format json -o "$WORK/stacks.json"
assert_eq "where its threads sleep" "$TRUTH_PID 1 true" "$(jq -r --argjson pid "$TRUTH_PID" '.stacks.asleep
	| "\(map(.tid) | join(",")) \(length) \(.[0].frames | (map(.kind) | index("kernel") == 0) and (map(.name) | index("sleep_ns") < index("main")))"' "$WORK/stacks.json")"
# asleep_at FILE: the time of the last look at sleeping threads; 0: none. Looks for triggers are in later snapshots,
# too.
asleep_at() {
	"$ANALYZER" report "$1" --section stacks --format json |
		jq --argjson pid "$TRUTH_PID" '[.stacks.asleep[]? | select(.pid == $pid).ts_ns] | max // 0'
}
"$PROFCTL" snapshot -o "$WORK/without.pbt" 2>/dev/null
"$PROFCTL" snapshot --stacks -o "$WORK/with.pbt" 2>/dev/null
[ "$(asleep_at "$WORK/with.pbt")" -gt "$(asleep_at "$WORK/without.pbt")" ] || fail "snapshot --stacks has not looked at threads"
assert_reason "a slow step" 3 "trigger slow-step=1000:truth_fail_\*: a step of process $TRUTH_PID has taken"
[ ! -e "$FILES/profbpf-trigger-9-older.pbt" ] || fail "the oldest file was not removed"
[ -e "$FILES/profbpf-trigger-9-old.pbt" ] && [ -e "$FILES/report.pbt" ] || fail "too much was removed: $(ls -l "$FILES")"
assert_eq "the mode of a file" 600 "$(stat -c %a "$(files_of 2)")"

# The trigger happens again, but too soon for another file
kill -CONT "$TRUTH_PID"
sleep 0.3
kill -STOP "$TRUTH_PID"
wait_until 10 happened 2 2 || fail "it did not happen again: $("$PROFCTL" trigger list)"
assert_eq "files written" 1 "$(trigger_field 2 3)"
"$PROFCTL" trigger remove 2
assert_status "it is gone" 1 "$PROFCTL" trigger remove 2

kill -CONT "$TRUTH_PID"
kill -SEGV "$TRUTH_PID"
wait "$TRUTH_PID" 2>/dev/null || :
wait_until 10 has_file 1 || fail "nothing was written at the end: $(cat "$WORK/profbpfd.log")"
assert_reason "a signal" 1 "trigger signal: process $TRUTH_PID \(paced\) was ended by signal 11"
assert_eq "files that were not completed" 0 "$(find "$FILES" -name '*.part' | wc -l)"
stop_daemon

# A reload can turn the recorder on, but only a restart turns it off: until then it continues unchanged.
reloads() { # WHAT SETTINGS SAID
	printf '%s\n' "$2" >"$WORK/off.conf"
	assert_status "$1" 0 "$PROFCTL" reload
	assert_eq "$1" "$3" "$(cat "$WORK/out")"
}
echo '# nothing' >"$WORK/off.conf"
start_daemon --config "$WORK/off.conf"
# Turning it on fails for lack of descriptors: the reason is reported, nothing is left, and it can be tried again.
first_free() { local fd=0; while [ -e "/proc/$DAEMON_PID/fd/$fd" ]; do fd=$((fd + 1)); done; echo "$fd"; }
descriptors() { { find "/proc/$DAEMON_PID/fd" 2>/dev/null || :; } | wc -l; }
before=$(descriptors)
# The connection of the previous command may not be closed yet.
none_left() { [ "$(descriptors)" -le "$before" ]; }
for room in 2 3; do
	prlimit --pid "$DAEMON_PID" --nofile=$(($(first_free) + room)):
	echo 'recorder = 10s' >"$WORK/off.conf"
	assert_status "no descriptors to turn it on, but $room" 1 "$PROFCTL" reload
	assert_contains "why" "$WORK/err" 'no flight recorder: .*(descriptors|Too many open files).*; no setting was changed'
	prlimit --pid "$DAEMON_PID" --nofile=1024:
	assert_status "there is none" 1 "$PROFCTL" trigger add signal
	assert_contains "so it says" "$WORK/err" 'need the flight recorder'
	wait_until 10 none_left || fail "descriptors: $before before, $(descriptors) afterwards"
done
reloads "turned on" "recorder = 10s" "changed: recorder"
reloads "turned off" "# nothing" "needs a restart: recorder"
reloads "still turned off" "# nothing" "needs a restart: recorder"
reloads "as it was all the time" "recorder = 10s" "no setting has changed"
reloads "otherwise" $'recorder = 12s\nrecorder-for = unit=train' "changed: recorder recorder-for"
stop_daemon
