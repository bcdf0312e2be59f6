#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs nobody changed, traced from their first instruction: clinfo, and a Python interpreter
# that starts children, sleeps and computes. They behave as without us.
. "$(dirname "$0")/lib.sh"
need_root
need_command jq python3 clinfo
need_opencl_device

# clinfo is linked with the loader: what it asks of OpenCL is in the trace, its output is the same.
clinfo >"$WORK/clinfo.plain"
"$PROFCTL" record -o "$WORK/clinfo.pbt" -- clinfo >"$WORK/clinfo.traced" 2>"$WORK/profctl.err"
cmp "$WORK/clinfo.plain" "$WORK/clinfo.traced" || fail "clinfo prints something else when it is traced"
report_json "$WORK/clinfo.pbt" "$WORK/clinfo.json"
assert_loss_accounted "$WORK/clinfo.json"
assert_between "OpenCL calls of clinfo" 1 10000 "$(jq '[.api[] | select(.runtime == "opencl") | .count] | add // 0' "$WORK/clinfo.json")"

# Python: CPU time and sleep of the process as Python itself measures them; its status is ours.
cat >"$WORK/job.py" <<'END'
import os, subprocess, sys, time
end = time.process_time() + 0.5
while time.process_time() < end:
    pass
time.sleep(0.5)
subprocess.run(["sleep", "0.2"], check=True)
print(os.getpid(), time.process_time_ns(), file=open(sys.argv[1], "w"))
sys.exit(7)
END
status=0
"$PROFCTL" record -o "$WORK/python.pbt" -- python3 "$WORK/job.py" "$WORK/job.out" 2>"$WORK/profctl.err" || status=$?
assert_eq "python's exit status" 7 "$status"
report_json "$WORK/python.pbt" "$WORK/python.json" --top 0
r=$WORK/python.json
assert_loss_accounted "$r"
read -r pid cpu <"$WORK/job.out"
assert_near "CPU time of the interpreter, ns" "$cpu" 5 "$(json "$r" ".processes[] | select(.pid == $pid) | .run_ns")"
assert_between "time the main thread slept, ns" 690000000 900000000 \
	"$(json "$r" ".processes[] | select(.pid == $pid) | .threads[] | select(.tid == $pid) | .blocked_ns")"
assert_eq "the child is there" sleep \
	"$(jq -r '[.processes[] | select(.target and .name == "sleep") | .name] | first' "$r")"
assert_between "the child's switches to sleep" 1 20 \
	"$(jq '[.processes[] | select(.target and .name == "sleep") | .threads[].voluntary_switches] | add' "$r")"
