#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Loops with a known number of turns: as many steps as turns are found, also in loops of equal layers, with the device's
# tasks, with the host's calls alone and with the device's profile alone; and no steps without evidence of a loop.
# timeout: 1200
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
need_root
need_command jq

SIM=$BUILD/ascend-sim
[ -x "$SIM/layers" ] || fail "$SIM/layers is not built: run make ascend-sim"
# A profile of the device alone.
export ASCEND_SIM_BLOCK_NS=2000 ASCEND_SIM_DEVICE_ONLY=1

# run NAME PROGRAM ARGUMENT...: traces the program's work. Leaves $WORK/NAME/{out,trace.pbt}
run() {
	local name=$1 input
	shift
	mkdir "$WORK/$name"
	mkfifo "$WORK/$name/in"
	ASCEND_SIM_OUT=$WORK/$name "$@" <"$WORK/$name/in" >"$WORK/$name/out" 2>"$WORK/$name/err" &
	JOB_PID=$!
	exec {input}>"$WORK/$name/in"
	wait_for_line "$WORK/$name/out" '^ready' 90
	attach_in_background "$JOB_PID" "$WORK/$name/trace.pbt"
	echo go >&$input
	wait_for_line "$WORK/$name/out" '^done' 120
	stop_attach
	echo end >&$input
	exec {input}>&-
	wait_for_end "$JOB_PID" 30 || fail "$name failed: $(cat "$WORK/$name/err")"
}

# report NAME VIEW INPUT...: sets R, and checks for impossible shares
report() {
	local name=$1 view=$2
	shift 2
	R=$WORK/$name/$view.json
	"$ANALYZER" report "$@" --format json -o "$R"
	assert_eq "$name, $view: shares above 100 % or below 0 %" "" "$(jq -r '{ steps, verdict, advice, idle, waits, pipeline } |
		paths(numbers) as $p | select($p[-1] | tostring | test("percent")) | getpath($p) as $v |
		select($v > 100.001 or $v < -0.001) | "\($p | join(".")) \($v)"' "$R")"
}

# views NAME JUDGE ARGUMENT...: judges with all data, and with the host's calls alone
views() {
	local name=$1
	report "$name" both "$WORK/$name/trace.pbt" --device "$(echo "$WORK/$name"/PROF_*)"
	"${@:2}" "$name" both
	report "$name" host "$WORK/$name/trace.pbt"
	"${@:2}" "$name" host
}

# alone NAME JUDGE ARGUMENT...: judges with the device's tasks alone, which have no copy directions and no waits
alone() {
	report "$1" device --device "$(echo "$WORK/$1"/PROF_*)"
	"${@:2}" "$1" device
}

steps() { jq '[.steps.rows // [] | .[]] | length' "$R"; }

# is_loop TURNS KNOWN_FROM NAME VIEW: a regular expression
is_loop() {
	local turns=$1 from=$2 what="$3, $4"
	assert_eq "$what: steps" "$turns" "$(steps)"
	jq -r '[.steps | .known_from, .devices[].known_from | strings][0]' "$R" >"$WORK/known"
	assert_contains "$what: where they are known from" "$WORK/known" "$from"
	assert_eq "$what: repetitions" 0 "$(jq '.steps.repetitions // [] | length' "$R")"
	assert_eq "$what: advice on the end of steps" "" "$(jq -r '[.advice[]?.id | select(. == "device_tail")] | join(" ")' "$R")"
}

# is_none TIMES NAME VIEW: no steps; the device's tasks alone show that something repeats
is_none() {
	local times=$1 what="$2, $3"
	assert_eq "$what: steps" 0 "$(steps)"
	[ "$3" = host ] || assert_eq "$what: repetitions" "$times" "$(jq '[.steps.repetitions[]?.count] | add // 0' "$R")"
	assert_eq "$what: advice on steps" "" \
		"$(jq -r '[.advice[]?.id | select(test("device_gap|device_tail"))] | join(" ")' "$R")"
}

# ---- On a device: 24 equal layers of 8 kernels a turn

run train "$SIM/layers" train 136 50000
views train is_loop 136 'copies to the device'
alone train is_loop 136 "the optimizer's work"
assert_eq "steps of which the host's begin is known" 136 \
	"$(jq '[.steps.devices[0].rows[] | select(.host_start_ns)] | length' "$WORK/train/both.json")"

# outliers VIEW FIRST: in each 20th step the main thread waits for a sleeping thread; the host's loop has that wait at
# the end of the turn before, the device at the begin of its step.
outliers() {
	assert_eq "$1: steps that are long because the validator sleeps" \
		"$(seq -s ' ' "$2" 20 135)" "$(jq -r '[.steps.outliers[] | select(.cause == "sleep" and
			(.who | startswith("validator"))) | .index] | sort | join(" ")' "$WORK/train/$1.json")"
	assert_eq "$1: how long, of 50 ms" "" "$(jq -r '.steps.outliers[] | select(.who // "" | startswith("validator")) |
		select(.ns < 49e6 or .ns > 90e6 or .usual_cause_ns > 1e6 or .ns > .duration_ns)' "$WORK/train/$1.json")"
}
outliers both 19
outliers host 18

run parallel "$SIM/layers" parallel 60
views parallel is_loop 60 'collectives'
alone parallel is_loop 60 'collectives'

run tensor "$SIM/layers" tensor 40
views tensor is_none 40
alone tensor is_none 40

run blocking "$SIM/layers" blocking 20
views blocking is_loop 20 'copies to the device'

run one "$SIM/layers" one 200
views one is_loop 200 'copies to the device'

# ---- Without a device's tasks: the host's loop alone

if clinfo -l 2>/dev/null | grep -q 'Device #0' && [ -x "$TRUTH/opencl_loop" ]; then
	run opencl "$TRUTH/opencl_loop" 50 24
	report opencl host "$WORK/opencl/trace.pbt"
	is_loop 50 'copies to the device' opencl host
else
	leave_out "no OpenCL device: its loop"
fi

if [ -e "$ROOT/build/venv-torch/.complete" ]; then
	run torch "$ROOT/build/venv-torch/bin/python" tests/workloads/torch/loop.py 40
	report torch host "$WORK/torch/trace.pbt"
	is_loop 40 "the optimizer's work" torch host
else
	leave_out "no PyTorch: its loop on the CPU"
fi
