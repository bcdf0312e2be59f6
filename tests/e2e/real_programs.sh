#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Unmodified programs, traced from their first instruction: clinfo, and a Python interpreter
# that starts child processes, sleeps and computes. They behave as without tracing.
# beside others: it counts, and no load changes a count
. "$(dirname "$0")/lib.sh"
need_root
need_command jq python3 clinfo
need_opencl_device

# clinfo is linked with the loader: its OpenCL calls are in the trace, its output is the same.
clinfo >"$WORK/clinfo.plain"
"$PROFCTL" record -o "$WORK/clinfo.pbt" -- clinfo >"$WORK/clinfo.traced" 2>"$WORK/profctl.err"
cmp "$WORK/clinfo.plain" "$WORK/clinfo.traced" || fail "clinfo prints something else when it is traced"
report_json "$WORK/clinfo.pbt" "$WORK/clinfo.json"
assert_loss_accounted "$WORK/clinfo.json"
assert_between "OpenCL calls of clinfo" 1 1000000 "$(jq '[.api[] | select(.runtime == "opencl") | .count] | add // 0' "$WORK/clinfo.json")"

# Python: CPU time and sleep of the process equal Python's own measures; record returns its status.
cat >"$WORK/job.py" <<'END'
import os, subprocess, sys, time
child = os.fork()
if child:
    # The cost of the child's whole life, from the kernel.
    _, status, usage = os.wait4(child, 0)
    print("cpu", child, round((usage.ru_utime + usage.ru_stime) * 1e9), file=open(sys.argv[1], "a"))
    sys.exit(os.waitstatus_to_exitcode(status))
end = time.process_time() + 0.5
while time.process_time() < end:
    pass
start = time.monotonic_ns()
time.sleep(0.5)
subprocess.run(["sleep", "0.2"], check=True)
print("slept", os.getpid(), time.monotonic_ns() - start, file=open(sys.argv[1], "a"), flush=True)
os._exit(7)
END
status=0
"$PROFCTL" record -o "$WORK/python.pbt" -- python3 "$WORK/job.py" "$WORK/job.out" 2>"$WORK/profctl.err" || status=$?
assert_eq "python's exit status" 7 "$status"
report_json "$WORK/python.pbt" "$WORK/python.json" --top 0
r=$WORK/python.json
assert_loss_accounted "$r"
read -r _ pid slept < <(grep '^slept' "$WORK/job.out")
read -r _ _ cpu < <(grep '^cpu' "$WORK/job.out")
of() { jq ".processes[] | select(.pid == $pid) | .threads[] | select(.tid == $pid) | .$1 // 0" "$r"; }
# The kernel's sum does not contain stolen time.
assert_between "CPU time of the interpreter, ns" $((cpu * 95 / 100)) $((cpu * 105 / 100 + $(of stolen_ns) + $(of unknown_ns))) "$(of run_ns)"
# At least 700 ms by its own clock, which may include time on a CPU and waits for a CPU.
assert_between "time the main thread slept or waited for a CPU, ns" $((slept - $(of run_ns))) "$(of alive_ns)" \
	$(($(of blocked_ns) + $(of runnable_ns)))
assert_between "it was there for longer than it slept, ns" "$slept" "$(json "$r" .trace.duration_ns)" "$(of alive_ns)"
assert_eq "the child is there" sleep \
	"$(jq -r '[.processes[] | select(.target and .name == "sleep") | .name] | first' "$r")"
assert_between "the child's switches to sleep" 1 100000 \
	"$(jq '[.processes[] | select(.target and .name == "sleep") | .threads[].voluntary_switches] | add' "$r")"
