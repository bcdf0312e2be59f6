# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# demo_lib.sh - shared by the demos: trace a job that already runs, report, export.
#
# A demo sets JOB to the process id of the running job and calls trace_and_report.

set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.."

DEMO=build/demo
SECONDS_TRACED=${SECONDS_TRACED:-8}
JOB=

say() { printf '\n== %s\n' "$*"; }

fail() {
	printf 'demo: %s\n' "$*" >&2
	exit 1
}

end_job() {
	local status=$?
	trap - EXIT
	if [ -n "$JOB" ]; then
		kill "$JOB" 2>/dev/null || :
		wait "$JOB" 2>/dev/null || :
	fi
	exit "$status"
}
trap end_job EXIT
trap 'exit 1' INT TERM

prepare() {
	[ "$(id -u)" -eq 0 ] || fail "tracing needs root; run: sudo ./setup demo"
	local program
	for program in profbpfd profctl analyzer; do
		[ -x "build/$program" ] || fail "build/$program is missing; run ./setup first"
	done
	rm -rf "$DEMO"
	mkdir -p "$DEMO"
}

# wait_for_job SECONDS COMMAND...: until the command succeeds; the job must stay alive.
wait_for_job() {
	local tries=$(($1 * 10))
	shift
	until "$@" >/dev/null 2>&1; do
		kill -0 "$JOB" 2>/dev/null || fail "the job ended early; its messages:
$(tail -n 20 "$DEMO/job.log")"
		[ $((tries -= 1)) -gt 0 ] || fail "the job did not get going; its messages:
$(tail -n 20 "$DEMO/job.log")"
		sleep 0.1
	done
}

trace_and_report() {
	say "the job runs since a while as process $JOB; tracing it for $SECONDS_TRACED s"
	echo "+ profctl attach --pid $JOB --duration ${SECONDS_TRACED}s -o $DEMO/run.pbt"
	build/profctl attach --pid "$JOB" --duration "${SECONDS_TRACED}s" -o "$DEMO/run.pbt"
	kill -0 "$JOB" 2>/dev/null || fail "the job did not survive; its messages:
$(tail -n 20 "$DEMO/job.log")"
	say "analyzer report $DEMO/run.pbt"
	build/analyzer report "$DEMO/run.pbt" -o "$DEMO/report.txt"
	build/analyzer report "$DEMO/run.pbt" --format json -o "$DEMO/report.json"
	build/analyzer export "$DEMO/run.pbt" --to perfetto -o "$DEMO/trace.pftrace"
	cat "$DEMO/report.txt"
	say "left in $DEMO"
	cat <<-END
	run.pbt        the recording                 build/analyzer info $DEMO/run.pbt
	report.txt     the report above              build/analyzer report $DEMO/run.pbt --full has all of it
	report.json    the same for programs         jq .idle.causes $DEMO/report.json
	trace.pftrace  the timeline: threads, calls, CPUs, device, arrows from launch to task

	Open next: trace.pftrace in https://ui.perfetto.dev (the file stays in your browser), or try it
	on a job of your own: build/profctl attach --pid PID --duration 10s -o run.pbt
	END
}
