# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# python_jobs_lib.sh - runs jobs of a framework whose import takes seconds, with one import
# (tests/truth/python_jobs.py); sourced after lib.sh. Not for scripts that count calls of workers which a job forks: the
# importing process maps the same files, so each worker is probed separately, and on a busy machine after its first
# calls.

# start_jobs PYTHON MODULE...: begins the import; the first job waits for it.
start_jobs() {
	coproc JOBS { exec "$1" "$ROOT/tests/truth/python_jobs.py" "${@:2}" 2>"$WORK/jobs.err"; }
	JOBS_BEGUN=no
}

# jobs_say SECONDS: sets SAID to the next line
jobs_say() {
	read -r -t $(($1 * PATIENCE)) SAID <&"${JOBS[0]}" || fail "no job: $(tail -n 5 "$WORK/jobs.err")"
}

# begin_job NAME PROGRAM [ARGUMENT...]: its output is in $WORK/NAME.out and $WORK/NAME.err. Sets JOB_PID.
begin_job() {
	if [ "$JOBS_BEGUN" = no ]; then
		jobs_say 60
		JOBS_BEGUN=yes
	fi
	: >"$WORK/$1.out"
	jq -cn '$ARGS.positional' --args -- "$WORK/$1.out" "$WORK/$1.err" "${@:2}" >&"${JOBS[1]}"
	jobs_say 10
	# shellcheck disable=SC2034 # for the scripts
	JOB_PID=$SAID
}

# end_job SECONDS: waits for the job; returns its status.
end_job() {
	jobs_say "$1"
	return $((SAID & 255))
}
