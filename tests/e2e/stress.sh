#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sessions begin and end at random, and their profctl is killed, on a program with 64 calling threads, hundreds of
# child processes and a library that is loaded and unloaded: nothing crashes, leaks or miscounts. `make stress` runs it
# for 5 minutes.
# beside others: what programs do and return is the same however busy the machine
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq
own_truth stress

readonly SECONDS_ALL=${STRESS_SECONDS:-15} WORKERS=3
# Memory that the daemon may keep: allocators and libraries reach a stable size. Leaks grow with each session.
readonly MEMORY_KIB=$((32 * 1024))

# ---- The daemon's resources

descriptors() { find "/proc/$DAEMON_PID/fd" -mindepth 1 2>/dev/null | wc -l; }
# Threads for heavy requests and for unwind tables stay, and their number is constant.
threads() { cat "/proc/$DAEMON_PID"/task/*/comm | grep -cvxE 'profbpfd/(work|unwind)'; }
bpf_objects() { bpf_left | wc -l; }
resident_kib() { awk '/^VmRSS:/ { print $2 }' "/proc/$DAEMON_PID/status"; }
sessions() { "$PROFCTL" list --format json | jq '.sessions | length'; }
is_quiet() { [ "$(sessions)" -eq 0 ] && [ "$(threads)" -eq 1 ] && [ "$(bpf_objects)" -eq 0 ]; }

# ---- One session after the other, each ended in a random way

# random N: 0 to N - 1
random() { echo $((RANDOM % $1)); }

pause() { sleep "$(awk -v r="$RANDOM" -v most="$1" 'BEGIN { printf "%.3f", r / 32767 * most }')"; }

is_live() { grep -q '^tracing' "$1"; }

# judge TRACE LIST: a complete file accounts for all records; removes it
judge() {
	local report=$1.json
	if "$ANALYZER" report "$1" --section capture --format json -o "$report" 2>"$1.said"; then
		jq -r --arg trace "${1##*/}" '
			if (.capture.complete | not) and ([.capture.sources[].lost] | add) == 0 then "incomplete \($trace) \(.capture)"
			elif [.capture.sources[] | select(.produced != .delivered + .lost)] | length > 0 then "unbalanced \($trace) \(.capture.sources)"
			else "balanced \($trace)" end' "$report" >>"$2"
	else
		printf 'unreadable %s %s\n' "${1##*/}" "$(tail -n 1 "$1.said")" >>"$2"
	fi
	rm -f "$1" "$report" "$1.said"
}

# one_session NAME LIST
one_session() {
	local trace=$WORK/$1.pbt err=$WORK/$1.err pid status=0 options=(--catalog "$ROOT/tests/catalog")
	case $(random 6) in
	0) options+=(--topics api) ;;
	1) options+=(--topics "sched,ioctl") ;;
	2) options+=(--no-follow) ;;
	3) options+=(--standalone) ;;
	4) options+=(--topics "api,account") ;;
	esac
	env --default-signal=INT "$PROFCTL" attach --pid "$TRUTH_PID" -o "$trace" "${options[@]}" 2>"$err" </dev/null &
	pid=$!
	# Some sessions are ended while they start.
	[ "$(random 4)" -eq 0 ] || wait_until 60 is_live "$err" || printf 'silent %s\n' "$1" >>"$2"
	pause 1
	if [ "$(random 3)" -eq 0 ]; then
		kill -KILL "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
		printf 'killed %s\n' "$1" >>"$2"
		return
	fi
	kill -INT "$pid" 2>/dev/null || :
	wait "$pid" || status=$?
	if [ "$status" -eq 0 ] && [ -s "$trace" ]; then
		judge "$trace" "$2"
	elif is_live "$err"; then
		printf 'failed %s status %s: %s\n' "$1" "$status" "$(tail -n 1 "$err")" >>"$2"
	else
		printf 'early %s\n' "$1" >>"$2" # told to end before it was live: no file is promised
	fi
	rm -f "$err"
}

# work NUMBER: runs sessions until the file $WORK/over exists
work() {
	local n=0
	RANDOM=$1
	while [ ! -e "$WORK/over" ]; do
		n=$((n + 1))
		one_session "worker$1.$n" "$WORK/sessions.$1"
		stop_left_behind
	done
}

# A session whose profctl was killed runs until it is stopped.
stop_left_behind() {
	local id
	for id in $("$PROFCTL" list --format json | jq -r --arg big "$WORK/all.pbt" \
		'.sessions[] | select(.output != $big) | select(.state == "live") | .session'); do
		[ "$(random 3)" -ne 0 ] || "$PROFCTL" stop "$id" >/dev/null 2>&1 || :
	done
}

stop_all() {
	local id
	for id in $("$PROFCTL" list --format json | jq -r '.sessions[].session'); do
		timeout 60 "$PROFCTL" stop "$id" >/dev/null 2>&1 || :
	done
	[ "$(sessions)" -eq 0 ]
}

count_of() { cat "$WORK"/sessions.* 2>/dev/null | grep -c "^$1 " || :; }

# ---- The run

start_daemon
start_truth stress "$SECONDS_ALL"
# The first session makes the daemon read its catalogs and its allocator grow: measured after it.
attach_in_background "$TRUTH_PID" "$WORK/first.pbt" --catalog "$ROOT/tests/catalog"
stop_attach
wait_until 60 is_quiet || fail "the daemon still holds $(threads) threads and $(bpf_objects) BPF objects"
before_descriptors=$(descriptors) before_kib=$(resident_kib)

attach_truth "$WORK/all.pbt" --buffer 256M
all=$PROFCTL_PID
workers=()
for ((i = 1; i <= WORKERS; i++)); do
	work "$i" &
	workers+=($!)
done
truth_go $((SECONDS_ALL + 60))
: >"$WORK/over"
for pid in "${workers[@]}"; do
	wait_for_end "$pid" 60 || fail "worker $pid failed"
done
PROFCTL_PID=$all
stop_attach
wait_until 60 stop_all || fail "sessions do not end"
assert_eq "wrong results" 0 "$(truth_value wrong)"
truth_end
kill -0 "$DAEMON_PID" 2>/dev/null || fail "profbpfd did not survive: $(tail -n 20 "$WORK/profbpfd.log")"
wait_until 60 is_quiet || fail "the daemon still holds $(threads) threads and $(bpf_objects) BPF objects"

# ---- Judging

note "$(truth_value threads) threads, $(truth_value children) children, $(truth_value loads) times dlopen and dlclose"
note "sessions: $(count_of balanced) judged, $(count_of killed) with profctl killed, $(count_of early) ended before they were live"
for wrong in unbalanced incomplete unreadable failed silent; do
	[ "$(count_of "$wrong")" -eq 0 ] || fail "sessions: $(cat "$WORK"/sessions.* | grep -m 3 "^$wrong ")"
done
# There are few on a busy machine, where loading the programs takes seconds.
assert_between "sessions judged" $((SECONDS_ALL / 20)) 1000000 "$(count_of balanced)"
assert_eq "descriptors of the daemon" "$before_descriptors" "$(descriptors)"
assert_between "memory of the daemon, KiB" 0 $((before_kib + MEMORY_KIB)) "$(resident_kib)"

report_json "$WORK/all.pbt" "$WORK/all.json"
r=$WORK/all.json
assert_loss_accounted "$r"
# Lost records, on a slow machine, may belong to either function.
lost=$(jq '[.capture.sources[] | select(.name == "api") | .lost] | add' "$r")
assert_eq "it is complete, or says what it lost" true \
	"$(jq '.capture.complete or ([.capture.sources[].lost] | add) > 0' "$r")"
made=$(($(truth_value noops) + $(truth_value copies)))
assert_between "calls it saw, $lost lost" $((made - lost)) "$made" \
	$(($(api_count "$r" truth_noop) + $(api_count "$r" truth_arguments)))
stop_daemon
