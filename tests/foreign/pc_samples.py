#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Program counter samples of rocprofv3: as JSON and as tables, of both methods, alone and beside kernels.

    tests/foreign/pc_samples.py ANALYZER FOLDER
"""
import collections
import csv
import json
import random

import sums

PID, START = 4711, 390705261924637
NOT_ISSUED = "ROCPROFILER_PC_SAMPLING_INSTRUCTION_NOT_ISSUED_REASON_"
KERNELS = {7: "void gemm<float, 4>(float*)", 9: "softmax"}
CODE = ["v_fma_f32 v1, v2, v3, v%d" % i for i in range(14)] + ["s_waitcnt vmcnt(0)", "s_endpgm"]
DISPATCHES = [(number, 7 if number % 3 else 9, START + 100000 * number) for number in range(1, 13)]


def take(stochastic):
    """(dispatch, instruction, the reason why it was not issued); one dispatch has no kernel in the file."""
    random.seed(stochastic)
    samples = []
    for dispatch in [number for number, _, _ in DISPATCHES] + [99]:
        for _ in range(random.randrange(1, 90)):
            instruction = min(int(random.expovariate(0.3)), len(CODE) - 1)
            reason = random.choice(["", "WAITCNT", "ALU_DEPENDENCY"]) if stochastic else ""
            samples.append((dispatch, instruction, reason))
    return samples


def write_json(path, samples, stochastic):
    kernels = [{"size": 88, "kind": 11, "operation": 0, "thread_id": PID, "correlation_id": {"internal": number, "external": 0},
                "start_timestamp": start, "end_timestamp": start + 50000,
                "dispatch_info": {"agent_id": {"handle": 11}, "queue_id": {"handle": 1}, "kernel_id": kernel, "dispatch_id": number}}
               for number, kernel, start in DISPATCHES]
    records = []
    for place, (dispatch, instruction, reason) in enumerate(samples):
        record = {"hw_id": {"chiplet": 0}, "pc": {"code_object_id": 1, "code_object_offset": 4 * instruction},
                  "exec_mask": 18446744073709551615, "timestamp": START + place, "dispatch_id": dispatch,
                  "corr_id": {"internal": dispatch, "external": 0}, "wave_in_grp": 0}
        if stochastic:
            record.update(wave_issued=int(not reason), wave_cnt=6, inst_type="ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_VALU",
                          snapshot={"stall_reason": NOT_ISSUED + (reason or "OTHER_WAIT"), "dual_issue_valu": 0})
        records.append({"record": record, "inst_index": instruction})
    tool = {"metadata": {"pid": PID}, "agents": [{"id": {"handle": 11}, "type": 2, "logical_node_type_id": 0, "name": "gfx942"}],
            "strings": {"buffer_records": [], "pc_sample_instructions": CODE, "pc_sample_comments": [""] * len(CODE)},
            "kernel_symbols": [{"kernel_id": number, "formatted_kernel_name": name} for number, name in KERNELS.items()],
            "buffer_records": {"kernel_dispatch": kernels, "pc_sample_stochastic": records if stochastic else [],
                               "pc_sample_host_trap": [] if stochastic else records}}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"rocprofiler-sdk-tool": [tool]}, file)


def write_table(name, rows):
    path = sums.path(name)
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(rows)
    return path


def write_tables(folder, samples, stochastic):
    columns = ["Sample_Timestamp", "Exec_Mask", "Dispatch_Id", "Instruction", "Instruction_Comment", "Correlation_Id"]
    more = ["Wave_Issued_Instruction", "Instruction_Type", "Stall_Reason", "Wave_Count"] if stochastic else []
    rows = [columns + more]
    for place, (dispatch, instruction, reason) in enumerate(samples):
        row = [START + place, 18446744073709551615, dispatch, CODE[instruction], "", dispatch]
        if stochastic:
            row += [int(not reason), "ROCPROFILER_PC_SAMPLING_INSTRUCTION_TYPE_VALU", NOT_ISSUED + (reason or "OTHER_WAIT"), 6]
        rows.append(row)
    alone = write_table("%s/%d_pc_sampling_%s.csv" % (folder, PID, "stochastic" if stochastic else "host_trap"), rows)
    kernels = write_table("%s/%d_kernel_trace.csv" % (folder, PID), [
        ["Kind", "Agent_Id", "Queue_Id", "Stream_Id", "Thread_Id", "Dispatch_Id", "Kernel_Id", "Kernel_Name", "Correlation_Id",
         "Start_Timestamp", "End_Timestamp"]] + [["KERNEL_DISPATCH", "Agent 4", 1, 0, PID, number, kernel, KERNELS[kernel], number,
                                                  start, start + 50000] for number, kernel, start in DISPATCHES])
    return kernels, alone


def hottest(samples, name_of):
    """For each kernel the instructions with the most samples, at most ten."""
    found = collections.defaultdict(collections.Counter)
    for dispatch, instruction, _ in samples:
        found[name_of.get(dispatch, "unknown kernels")][CODE[instruction]] += 1
    return {"samples of " + kernel: sorted(counts.values(), reverse=True)[:10] for kernel, counts in found.items()}, found


def check(what, path, samples, name_of, devices):
    report = sums.report(path)
    wanted, all_of = hottest(samples, name_of)
    facts = [row for row in report["device_facts"] if row["topic"].startswith("samples of ")]
    found = collections.defaultdict(list)
    for row in facts:
        found[row["topic"]].append(row["value"])
        sums.same("%s: %s of %s" % (what, row["name"], row["topic"]), row["value"], all_of[row["topic"][11:]][row["name"]])
    sums.same(what + ": instructions", dict(found), wanted)
    sums.same(what + ": devices", {row.get("device") for row in facts}, devices)
    counters = json.loads(sums.analyzer("query", "--format", "json", "--device", path,
                                        "select m.metric as name, t.start_ns as at, m.value as value from task_metrics m "
                                        "join tasks t on t.task = m.task where m.metric like 'pc_samples%'"))
    place = {start: number for number, _, start in DISPATCHES}
    numbers = collections.Counter()
    for dispatch, _, reason in samples:
        if dispatch in name_of:
            numbers[dispatch, "pc_samples"] += 1
            if reason:
                numbers[dispatch, "pc_samples_stalled." + reason] += 1
    sums.same(what + ": counters of kernels", {(place[row["at"]], row["name"]): row["value"] for row in counters}, dict(numbers))


NAMES = {number: KERNELS[kernel] for number, kernel, _ in DISPATCHES}
for method in 0, 1:
    made = take(method)
    write_json(sums.path("results%d.json" % method), made, method)
    check("JSON %d" % method, sums.path("results%d.json" % method), made, NAMES, {0, None})
    trace, only = write_tables("tables%d" % method, made, method)
    check("tables %d" % method, trace, made, NAMES, {4, None})
    check("samples alone %d" % method, only, made, {}, {None})
    sums.same("what is missing", "--kernel-trace" in sums.analyzer("info", "--device", only), True)
sums.end()
