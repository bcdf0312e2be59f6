#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What it costs: the time of a step, medians. In one job that has the shim, turns in which nothing is attached, profctl
# without device times, profctl with them (without BPF: a reader of the shim's stream); jobs without the shim and under
# other profilers around them.
# shellcheck source=tests/gpu/lib.sh
. "$(dirname "$0")/../lib.sh"

if [ "$DRY" = yes ]; then TURNS=1 STAY=0.3 LEASE=0; else TURNS=4 STAY=1.5 LEASE=3.3; fi

# turn NAME: STAY seconds, as they are
turn() {
	local begin
	begin=$(now_ns)
	sleep "$STAY"
	printf '%s %s %s\n' "${1// /_}" "$begin" "$(now_ns)" >>"$WORK/$JOB_NAME.windows"
}

# Until the shim has looked at its lease, and CUPTI has begun.
settle() { sleep "$((SETTLE_MS / 1000)).$((SETTLE_MS % 1000 / 100))"; }

# traced_turn NAME OPTION...: with profctl
traced_turn() {
	local name=$1
	shift
	attach "$JOB" turn "$@" || {
		verdict fail "profctl in a turn" "$(why "$WORK/turn.err")"
		return 1
	}
	settle
	turn "$name"
	detach
}

# With a reader of the shim's stream alone.
read_turn() {
	local reader
	"$KIT/bin/stream_dump" -q "$JOB" >"$WORK/turn.tasks" 2>"$WORK/turn.err" </dev/null &
	reader=$!
	settle
	turn "reader and shim"
	kill "$reader"
	wait "$reader" 2>/dev/null
}

one_round() {
	turn "silent shim"
	if with_bpf; then
		traced_turn "profctl alone" --topics api,sched,account || return 1
		traced_turn "profctl and shim" --topics api,sched,account,device || return 1
	else
		read_turn
	fi
	# The lease runs out, and the shim ends what it began.
	sleep "$LEASE"
}

# in_turns NAME COMMAND...: a job with the shim that says "ready", and goes on while $WORK/go is there
in_turns() {
	local i
	JOB_NAME=$1
	shift
	rm -f "$WORK/go" "$WORK/$JOB_NAME.windows"
	export CUDA_INJECTION64_PATH=$SHIM PROFBPF_CUPTI
	PROFBPF_CUPTI=$(cat "$OUT/libcupti" 2>/dev/null)
	"$@" >"$WORK/$JOB_NAME.out" 2>"$WORK/$JOB_NAME.err" </dev/null &
	JOB=$!
	unset CUDA_INJECTION64_PATH
	if wait_for 60 grep -q '^ready' "$WORK/$JOB_NAME.err"; then
		touch "$WORK/go"
	else
		kill "$JOB" 2>/dev/null
		verdict fail "$JOB_NAME" "did not begin: $(why "$WORK/$JOB_NAME.err")"
		return
	fi
	sleep 0.5
	for ((i = 0; i < TURNS; i++)); do
		one_round || break
	done
	rm -f "$WORK/go"
	wait "$JOB"
	run_compare "$JOB_NAME" cost "$WORK/$JOB_NAME.out" "$WORK/$JOB_NAME.windows"
}

# whole NAME LABEL COMMAND...: all steps of a job that runs alone
whole() {
	local name=$1 label=$2
	shift 2
	"$@" >"$WORK/$name.out" 2>"$WORK/$name.err" </dev/null || {
		verdict skip "$label" "$(why "$WORK/$name.err")"
		return
	}
	# Other profilers write among what the job prints.
	sed -n '/^{/,$p' "$WORK/$name.out" | "$PYTHON" -c 'import json, sys; print(json.dumps(json.JSONDecoder().raw_decode(sys.stdin.read())[0]))' \
		>"$WORK/$name.steps" 2>/dev/null
	printf '%s 0 %s\n' "$label" $((1 << 62)) >"$WORK/$name.windows"
	run_compare "$name" cost "$WORK/$name.steps" "$WORK/$name.windows"
}

if known_is_built; then
	whole CUDA-program-before bare "$OUT/known" -l "$STAY"
	in_turns CUDA-program "$OUT/known" -g "$WORK/go" -l 90
	[ "$DRY" = yes ] || whole CUDA-program-after bare "$OUT/known" -l "$STAY"
	nsys=$(command -v nsys || find /opt/nvidia /usr/local/cuda*/bin -name nsys -perm -u+x 2>/dev/null | head -n 1)
	if [ -n "$nsys" ]; then
		whole CUDA-program-nsys nsys "$nsys" profile --trace=cuda --sample=none --cpuctxsw=none -f true -o "$WORK/nsys" "$OUT/known" -l 3
	else
		verdict skip nsys "not on this machine"
	fi
fi
if with_torch && [ "$DRY" != yes ]; then
	in_turns training "$PYTHON" "$HERE/job.py" --go "$WORK/go" --seconds 90
	if "$PYTHON" "$HERE/job.py" --seconds 12 --alternate "$WORK/kineto.windows" >"$WORK/kineto.out" 2>"$WORK/kineto.err"; then
		run_compare "training with PyTorch's profiler" cost "$WORK/kineto.out" "$WORK/kineto.windows"
	else
		verdict fail "training with PyTorch's profiler" "$(why "$WORK/kineto.err")"
	fi
fi
exit 0
