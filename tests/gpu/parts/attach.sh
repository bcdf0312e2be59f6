#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A job that runs already, with the shim loaded when it began: silent until somebody attaches, then device times; twice.
# shellcheck source=tests/gpu/lib.sh
. "$(dirname "$0")/../lib.sh"

known_is_built || {
	verdict skip "attach" "there is no CUDA program"
	exit 0
}
if [ "$DRY" = yes ]; then STAY=1; else STAY=3; fi

# start_job: one that goes on until $WORK/go is gone. Sets JOB.
start_job() {
	export CUDA_INJECTION64_PATH=$SHIM PROFBPF_VERBOSE=1 PROFBPF_CUPTI
	PROFBPF_CUPTI=$(cat "$OUT/libcupti")
	rm -f "$WORK/go"
	"$OUT/known" -g "$WORK/go" -l 40 >"$WORK/job.out" 2>"$WORK/job.err" </dev/null &
	JOB=$!
	unset CUDA_INJECTION64_PATH
	wait_for 20 grep -q '^ready' "$WORK/job.err" && touch "$WORK/go"
}

# stay NAME [OPTION...]: attaches, stays, and leaves; the job goes on
stay() {
	attach "$JOB" "$@" || {
		verdict fail "$1" "did not begin: $(why "$WORK/$1.err")"
		return 1
	}
	sleep "$STAY"
	detach
}

start_job || {
	verdict fail attach "the job did not begin: $(why "$WORK/job.err")"
	exit 0
}
if with_bpf; then
	sleep 1
	stay first
	# Until the lease has run out, and the shim is silent again.
	sleep 3.5
	# Device times alone: such a session ends at once, and what the shim has not told by then must still be in it.
	stay second --topics device
	rm -f "$WORK/go"
	if wait "$JOB"; then verdict pass "the job" "ended well after two attaches"; else verdict fail "the job" "$(why "$WORK/job.err")"; fi
	for name in first second; do
		[ -e "$WORK/$name.pbt" ] || continue
		analyse "$name" || continue
		read -r begin end lost < <("$PYTHON" -c '
import json, sys
report = json.load(open(sys.argv[1]))
trace, sources = report["trace"], report["capture"]["sources"]
lost = sum(source["lost"] for source in sources if source["name"] == "device")
print(trace["start_ns"], trace["start_ns"] + trace["duration_ns"], lost)' "$REPORT")
		run_compare "$name attach" attached "$WORK/job.out" "$TASKS" "$begin" "$end" "$lost"
	done
else
	sleep 1
	{ sleep $((STAY + 4)) && rm -f "$WORK/go"; } &
	"$KIT/bin/stream_dump" "$JOB" >"$WORK/job.tasks" 2>"$WORK/dump.err"
	if wait "$JOB"; then verdict pass "the job" "ended well"; else verdict fail "the job" "$(why "$WORK/job.err")"; fi
	run_compare "a reader that came later" attached "$WORK/job.out" "$WORK/job.tasks"
fi
exit 0
