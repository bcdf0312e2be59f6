# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# minddata_lib.sh - traces MindSpore's jobs: tests/truth/minddata_job.py, tests/workloads/mindspore; sourced after
# lib.sh.

MINDSPORE_VENV=${MINDSPORE_VENV:-$ROOT/build/venv-mindspore}
MINDSPORE_PYTHON=$MINDSPORE_VENV/bin/python
# shellcheck disable=SC2034 # for the scripts
WORKLOADS=$ROOT/tests/workloads/mindspore
# Importing MindSpore takes 5 s of CPU time, and much longer on a busy machine.
IMPORT_SECONDS=200

need_mindspore() {
	[ -e "$MINDSPORE_VENV/.complete" ] ||
		skip "needs MindSpore in ${MINDSPORE_VENV#"$ROOT"/} (${MINDSPORE_INSTALL:-./setup check} installs it)"
}

# start_job NAME [OPTION...]: begins the import; job_ready waits for it. Several jobs can import side by side.
start_job() {
	local name=$1
	shift
	mkfifo "$WORK/$name.in"
	"$MINDSPORE_PYTHON" "$ROOT/tests/truth/minddata_job.py" "$@" <>"$WORK/$name.in" \
		>"$WORK/$name.out" 2>"$WORK/$name.err" &
	printf '%s\n' $! >"$WORK/$name.pid"
}

job_ready() {
	wait_until "$IMPORT_SECONDS" grep -q '"ready"' "$WORK/$1.out" ||
		fail "$1: no pipeline within $IMPORT_SECONDS s: $(tail -n 20 "$WORK/$1.err")"
}

# run_traced NAME [PIPELINES]: attaches to the waiting job, starts it and traces it to its end; report: $WORK/NAME.json
run_traced() {
	local name=$1 pipelines=${2:-1} pid
	job_ready "$name"
	pid=$(cat "$WORK/$name.pid")
	attach_in_background "$pid" "$WORK/$name.pbt"
	echo go >"$WORK/$name.in"
	wait_for_end "$pid" 120 || fail "$name failed: $(tail -n 20 "$WORK/$name.err")"
	wait_for_end "$PROFCTL_PID" 30 || fail "profctl failed: $(cat "$WORK/profctl.err")"
	report_json "$WORK/$name.pbt" "$WORK/$name.json"
	"$ANALYZER" report "$WORK/$name.pbt" --section pipeline,advice
	assert_eq "$name: all that was recorded is there" true "$(jq .capture.complete "$WORK/$name.json")"
	assert_eq "$name: pipelines" "$pipelines" "$(jq '.pipeline | length' "$WORK/$name.json")"
	assert_series_add_up "$WORK/$name.json"
}

# job_value NAME KEY: a value from the job's own output
job_value() {
	tail -n 1 "$WORK/$1.out" | jq -r ".$2"
}

# operator NAME ID FIELD
operator() {
	json "$WORK/$1.json" ".pipeline[0].operators[] | select(.id == $2) | .$3"
}
