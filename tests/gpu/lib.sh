# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# lib.sh - what the parts of the kit have in common. Each part is a script of its own, run by tests/gpu/run with
#
#   KIT      the folder of programs          OUT     where all results go; a part keeps its files in $OUT/NAME
#   PART     the part's name                 DRY     yes: no GPU, the stand-ins in STUBS are the device
#   PYTHON   python3, with PyTorch if the machine has it
#
# A part ends with 0 whatever it found; what it found are lines "PART VERDICT CHECK TEXT" in $OUT/results.tsv, with
# tabs between.

set -uo pipefail
HERE=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
SHIM=$KIT/libprofbpf-cupti.so
WORK=$OUT/$PART
mkdir -p "$WORK"
export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1

# ---- Verdicts

# verdict pass|fail|skip|note CHECK TEXT
verdict() {
	printf '%s\t%s\t%s\t%s\n' "$PART" "$1" "$2" "$(printf '%s' "$3" | tr -s '\n\t ' ' ')" >>"$OUT/results.tsv"
	printf '%-4s %s: %s\n' "$1" "$2" "$3"
}

# run_compare PREFIX COMMAND ARG...: each of its verdicts, with PREFIX before the check's name
run_compare() {
	local prefix=$1 status=0 word check text lines=0
	shift
	"$PYTHON" "$HERE/compare.py" "$@" >"$WORK/compare.out" 2>"$WORK/compare.err" || status=$?
	while IFS=$'\t' read -r word check text; do
		verdict "$word" "${prefix:+$prefix: }$check" "$text"
		lines=$((lines + 1))
	done <"$WORK/compare.out"
	[ -s "$WORK/compare.err" ] || [ "$lines" -eq 0 ] || return 0
	verdict fail "${prefix:+$prefix: }comparison" "compare.py ended with status $status: $(tail -n 1 "$WORK/compare.err")"
}

# The first line of a file that says what went wrong, or the last one.
why() { { grep -m 1 -iE 'error|cannot|fail|refuse|denied|not ' "$1" || tail -n 1 "$1"; } 2>/dev/null | cut -c 1-300; }

# ---- What the machine has

# what the part about the environment found: yes or no
with_bpf() { [ "$(cat "$OUT/has.bpf" 2>/dev/null)" = yes ]; }
with_torch() { [ "$(cat "$OUT/has.torch" 2>/dev/null)" = yes ]; }
known_is_built() { [ -x "$OUT/known" ]; }

# How long a job waits for the recording of its device: CUPTI takes a second or two to begin.
# shellcheck disable=SC2034 # for the parts
if [ "$DRY" = yes ]; then SETTLE_MS=300 SETTLE_S=0; else SETTLE_MS=2000 SETTLE_S=4; fi

# ---- Recording

# with_shim COMMAND...: the shim says why if it cannot; whose libcupti, for programs that have none, is in $OUT/libcupti
with_shim() {
	local libcupti
	libcupti=$(cat "$OUT/libcupti" 2>/dev/null)
	env CUDA_INJECTION64_PATH="$SHIM" PROFBPF_VERBOSE=1 ${libcupti:+PROFBPF_CUPTI="$libcupti"} "$@"
}

# record NAME COMMAND...: a job under profctl, or, without BPF, with the shim and a reader of its stream alone. What it
# printed is in $WORK/NAME.out, its tasks are in $TASKS, the report is $REPORT ("" without BPF); false: it failed, and
# the verdict is written.
record() {
	local name=$1 status=0
	shift
	TASKS='' REPORT=''
	if with_bpf; then
		with_shim "$KIT/bin/profctl" record --standalone -o "$WORK/$name.pbt" -- "$@" \
			>"$WORK/$name.out" 2>"$WORK/$name.err" </dev/null || status=$?
		[ "$status" -ne 0 ] || analyse "$name" || return 1
	else
		record_alone "$name" "$@" || status=$?
	fi
	[ "$status" -eq 0 ] || verdict fail "$name" "ended with status $status: $(why "$WORK/$name.err")"
	return "$status"
}

record_alone() {
	local name=$1 job status=0
	shift
	export CUDA_INJECTION64_PATH=$SHIM PROFBPF_VERBOSE=1 PROFBPF_CUPTI
	PROFBPF_CUPTI=$(cat "$OUT/libcupti" 2>/dev/null)
	"$@" >"$WORK/$name.out" 2>"$WORK/$name.err" </dev/null &
	job=$!
	unset CUDA_INJECTION64_PATH
	"$KIT/bin/stream_dump" -w 60 "$job" >"$WORK/$name.tasks" 2>"$WORK/$name.dump.err" </dev/null
	wait "$job" || status=$?
	TASKS=$WORK/$name.tasks
	return "$status"
}

# analyse NAME [OPTION...]: $WORK/NAME.pbt, or device files alone
analyse() {
	local name=$1 trace=$WORK/$1.pbt
	shift
	[ -e "$trace" ] || trace=
	REPORT=$WORK/$name.json TASKS=$WORK/$name.tables
	rm -rf "$TASKS"
	mkdir "$TASKS"
	if ! "$KIT/bin/analyzer" report --format json --top 0 -o "$REPORT" "$@" ${trace:+"$trace"} 2>"$WORK/$name.analyzer.err" ||
		! "$KIT/bin/analyzer" report --top 5 -o "$WORK/$name.txt" "$@" ${trace:+"$trace"} 2>>"$WORK/$name.analyzer.err" ||
		! "$KIT/bin/analyzer" export --to csv -o "$TASKS" "$@" ${trace:+"$trace"} 2>>"$WORK/$name.analyzer.err"; then
		verdict fail "$name: analyzer" "$(why "$WORK/$name.analyzer.err")"
		return 1
	fi
}

# wait_for SECONDS COMMAND...: until it succeeds; false when the time is over
wait_for() {
	local end=$(($(date +%s) + $1))
	shift
	until "$@" 2>/dev/null; do
		[ "$(date +%s)" -le "$end" ] || return 1
		sleep 0.05
	done
}

now_ns() { "$PYTHON" -c 'import time; print(time.monotonic_ns())'; }

# attach PID NAME [OPTION...]: returns once it records. Sets ATTACHED.
attach() {
	local pid=$1 name=$2
	shift 2
	: >"$WORK/$name.err"
	env --default-signal=INT "$KIT/bin/profctl" attach --standalone --pid "$pid" -o "$WORK/$name.pbt" "$@" \
		2>"$WORK/$name.err" </dev/null &
	ATTACHED=$!
	wait_for 20 grep -q '^tracing' "$WORK/$name.err"
}

detach() {
	kill -INT "$ATTACHED" 2>/dev/null
	wait "$ATTACHED"
}
