#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A wait at an internet socket for a process of the same host leads to that process's activity; if that process is not
# traced, or not known, the peer's address is reported; also for a wait for one of many sockets.
# beside others: what others take of the CPUs is told apart from what it judges
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth_lib.sh"
need_root
need_command jq python3

readonly POINTS=10

# job WAY OPTION...: runs it, attached with these options
job() {
	local way=$1
	shift
	rm -f "$WORK/job.in"
	mkfifo "$WORK/job.in"
	python3 tests/truth/network.py "$way" <"$WORK/job.in" >"$WORK/job.out" 2>"$WORK/job.err" &
	TRUTH_PID=$! TRUTH_OUT=$WORK/job.out
	exec {TRUTH_IN}>"$WORK/job.in"
	wait_for_line "$TRUTH_OUT" '^ready' 20
	attach_truth "$WORK/job.pbt" "$@"
	truth_go 60
	stop_attach
	truth_end
	"$ANALYZER" report "$WORK/job.pbt" --thread "$(truth_value main.tid)" --section waits --format json -o "$WORK/waits.json"
}

# share FILTER: the share of matching roots, in percent of the time
share() { echo $(($(jq "[.waits.roots[] | select($1) | .ns] | add // 0" "$WORK/waits.json") * 100 / $(truth_value all_ns))); }

# followed WAY: waits lead to the server
followed() {
	local way=$1 truth own
	job "$way"
	truth=$(($(truth_value wait_ns) * 100 / $(truth_value all_ns)))
	own=$(share '.cause == "runnable" and (.chain | length) == 1')
	assert_between "$way: percent of the time that leads to the server" $((truth - own - POINTS)) $((truth + POINTS)) \
		"$(share "any(.chain[1:][]; .tid == $(truth_value server.tid))")"
	assert_between "$way: percent that the server burned" $(($(truth_value cpu_ns) * 100 / $(truth_value all_ns) - POINTS)) 100 \
		"$(share ".tid == $(truth_value server.tid) and (.cause == \"user_code\" or .cause == \"irq\")")"
	assert_eq "$way: the way to it" "network $(truth_value main.tid) user_code $(truth_value server.tid)" \
		"$(jq -r "[.waits.roots[] | select(.cause == \"user_code\" and .tid == $(truth_value server.tid))][0].chain |
			map(\"\(.cause) \(.tid)\") | join(\" \")" "$WORK/waits.json")"
}

# told WAY: the peer is reported if the server is not traced
told() {
	local way=$1 truth
	job "$way" --no-follow
	truth=$(($(truth_value wait_ns) * 100 / $(truth_value all_ns)))
	assert_between "$way: percent of the time that the network takes where the server is not traced" $((truth - 2 * POINTS)) 100 \
		"$(share '.cause == "network"')"
	assert_eq "$way: the peer" "127.0.0.1:$(truth_value port) of process $(truth_value server.tid)" \
		"$(jq -r '[.waits.roots[] | select(.cause == "network" and .object)][0].object' "$WORK/waits.json")"
}

followed recv
told recv
followed epoll
told epoll
followed poll
told select
