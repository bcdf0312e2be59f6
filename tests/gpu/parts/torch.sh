#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A PyTorch training, with the shim and with PyTorch's own profiler (Kineto) in turns: CUPTI serves one of them at a
# time, so they are runs of their own, in which the same is done. Then both at once: who loses what.
# shellcheck source=tests/gpu/lib.sh
. "$(dirname "$0")/../lib.sh"

with_torch || {
	verdict skip PyTorch "no PyTorch with a device"
	exit 0
}
DEVICE=cuda
[ "$DRY" != yes ] || DEVICE=cpu

job() { "$PYTHON" "$HERE/job.py" --device "$DEVICE" "$@"; }

# profiled NAME OPTION...: a run under Kineto; its tasks are in $WORK/NAME.tables
profiled() {
	local name=$1
	shift
	job --profile "$WORK/$name.kineto.json" "$@" >"$WORK/$name.out" 2>"$WORK/$name.err" </dev/null || {
		verdict fail "$name" "$(tail -n 1 "$WORK/$name.err")"
		return 1
	}
	analyse "$name" --device "$WORK/$name.kineto.json"
}

# recorded NAME OPTION...: a run under profctl with the shim
recorded() {
	local name=$1
	shift
	record "$name" "$PYTHON" "$HERE/job.py" --device "$DEVICE" --settle "$SETTLE_S" "$@" || return 1
	[ -z "$REPORT" ] || note_joins "$name"
}

note_joins() {
	verdict note "$1: joins" "$("$PYTHON" -c '
import json, sys
report = json.load(open(sys.argv[1]))
join, clock = report["join"], report["join"].get("clock", {})
print("%(matched)s of %(tasks)s tasks joined, %(unmatched_launches)s of %(launches)s launches without a task, %(ambiguous)s in doubt" % join,
      "; clock %s, error +-%s ns, before their call %s" % (clock.get("clock"), clock.get("error_ns"), clock.get("before_enqueue")),
      "; lost", {source["name"]: source["lost"] for source in report["capture"]["sources"] if source["lost"]})
' "$REPORT" 2>&1 | tail -n 1)"
}

# compare_runs WHAT OPTION...: ours between two of Kineto's
compare_runs() {
	local what=$1
	shift
	profiled "$what-kineto1" "$@" && recorded "$what-ours" "$@" && profiled "$what-kineto2" "$@" || return 0
	[ "$DEVICE" = cuda ] || return 0
	local ours=$WORK/$what-ours.tables
	[ -d "$ours" ] || ours=$WORK/$what-ours.tasks
	run_compare "$what" kineto "$ours:$WORK/$what-ours.out" "$WORK/$what-kineto1.tables" "$WORK/$what-kineto2.tables"
	[ ! -e "$WORK/$what-ours.json" ] || strict_joins "$what"
}

# Every task of the training has its call.
strict_joins() {
	local left
	left=$("$PYTHON" -c 'import json, sys; join = json.load(open(sys.argv[1]))["join"]; print(join["tasks"] - join["matched"])' \
		"$WORK/$1-ours.json")
	if [ "$left" = 0 ]; then
		verdict pass "$1: every task is joined to its call" all
	else
		verdict fail "$1: every task is joined to its call" "$left are not"
	fi
}

dry() {
	if job --steps 3 --profile "$WORK/dry.kineto.json" >"$WORK/dry.out" 2>"$WORK/dry.err" </dev/null &&
		"$PYTHON" -c 'import json, sys; json.load(open(sys.argv[1]))' "$WORK/dry.out" 2>>"$WORK/dry.err"; then
		verdict pass "the training runs" "on the CPU, under PyTorch's profiler"
	else
		verdict fail "the training runs" "$(tail -n 1 "$WORK/dry.err")"
	fi
}

if [ "$DRY" = yes ]; then
	dry
	exit 0
fi
compare_runs eager
if record nccl "$PYTHON" "$HERE/job.py" --device "$DEVICE" --settle "$SETTLE_S" --nccl --steps 10 && [ -n "$REPORT" ]; then
	run_compare NCCL nccl "$WORK/nccl.out" "$REPORT" "$TASKS"
fi
if job --compile --steps 2 >"$WORK/compile.out" 2>"$WORK/compile.err" </dev/null; then
	compare_runs compiled --compile
else
	verdict skip torch.compile "does not work here: $(tail -n 1 "$WORK/compile.err")"
fi
# Both in one process: whatever becomes of the figures, the training must live.
if record both "$PYTHON" "$HERE/job.py" --device "$DEVICE" --settle "$SETTLE_S" --profile "$WORK/both.kineto.json"; then
	verdict pass "PyTorch's profiler begun while the shim records" "the training lived"
	[ -z "$REPORT" ] || note_joins both
	analyse both-kineto --device "$WORK/both.kineto.json" &&
		verdict note "PyTorch's profiler begun while the shim records" "it has $(($(wc -l <"$WORK/both-kineto.tables/tasks.csv") - 1)) tasks"
fi
exit 0
