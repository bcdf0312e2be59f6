#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the values that the analysers of MindInsight 2.3.1 read from a folder of MindData's files, without its server.

usage: mindinsight_read.py FOLDER, by the Python that has MindInsight

Prints JSON: minddata_cpu_utilization (device, process: means by metric; op: name, workers and means by number of the
operator; steps), minddata_pipeline (its table), minddata_queues (summary, time, size), and step_trace if its file
exists. If an analyser refuses the files, its message replaces its figures, and the exit status is 1.
"""
import json
import os
import sys
import tempfile

os.environ.setdefault("MINDINSIGHT_WORKSPACE", tempfile.mkdtemp())
from mindinsight.profiler.analyser.analyser_factory import AnalyserFactory  # noqa: E402
from mindinsight.profiler.analyser.minddata_analyser import MinddataAnalyser  # noqa: E402

DEVICE = "0"


def analyser(name, folder):
    return AnalyserFactory.instance().get_analyser(name, folder, DEVICE)


def means(metrics):
    return {name: metric["avg_value"] for name, metric in metrics.items() if isinstance(metric, dict)}


def cpu_utilization(folder):
    found = analyser("minddata_cpu_utilization", folder).query({"device_id": DEVICE})
    operators = {op["op_id"]: [op.get("op_name"), op["num_workers"], means(op["metrics"])]
                 for op in found["op_info"]["op_list"]}
    return {"device": means(found["device_info"]), "process": means(found["process_info"]),
            "steps": found["step_total_num"], "op": operators}


def pipeline(folder):
    return analyser("minddata_pipeline", folder).query({})


def queues(folder):
    minddata = analyser("minddata", folder)
    fetched = minddata.analyse_get_next_info(info_type="queue")[0]
    queue = minddata.analyse_device_queue_info(info_type="queue")[0]
    times = minddata.analyse_device_queue_info(info_type="time")[1]
    return {"summary": MinddataAnalyser.analyse_queue_summary(fetched, queue), "time": times.get("summary"),
            "size": queue.get("size")}


def step_trace(folder):
    condition = {"mode": "proc", "proc_name": "iteration_interval", "step_id": None}
    return analyser("step_trace", folder).query({"filter_condition": condition})


def main(folder):
    readers = {"minddata_cpu_utilization": cpu_utilization, "minddata_pipeline": pipeline, "minddata_queues": queues}
    if os.path.exists(f"{folder}/step_trace_raw_{DEVICE}_detail_time.csv"):
        readers["step_trace"] = step_trace
    found, refused = {}, 0
    for name, reader in readers.items():
        try:
            found[name] = reader(folder)
        except Exception as error:  # any exception is the answer
            found[name] = f"refused: {type(error).__name__}: {error}"
            refused = 1
    print(json.dumps(found, indent=1, default=str))
    return refused


if len(sys.argv) != 2:
    sys.exit(__doc__)
sys.exit(main(os.path.abspath(sys.argv[1])))
