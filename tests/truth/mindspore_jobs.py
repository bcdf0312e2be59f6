#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs MindSpore programs one after another, each in a separate child process, with one import.

usage: mindspore_jobs.py [MODULE...]

Imports MindSpore, prints {"pid"}, and then takes lines of standard input: a JSON list of a
file for the program's output, a file of a cgroup ("" for none) to which the child writes its
id first, and the program with its arguments. Prints {"pid", "status"} when it has ended. A
program runs as if Python had started it; each saved import of MindSpore takes some five
seconds of CPU time.
"""
import importlib
import json
import os
import runpy
import sys
import traceback

os.environ.setdefault("GLOG_v", "3")
for module in ["mindspore", "mindspore.nn", "mindspore.dataset", "mindspore.dataset.vision",
               "mindspore.dataset.transforms"] + sys.argv[1:]:
    importlib.import_module(module)


def child(output, group, arguments):
    if group:
        with open(group, "w", encoding="ascii") as file:
            file.write(str(os.getpid()))
    fd = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    os.dup2(fd, 1)
    os.dup2(fd, 2)
    sys.argv = arguments
    status = 0
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1 if end.code else 0
        if isinstance(end.code, str):
            print(end.code, flush=True)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    # No orderly exit: MindSpore would tear down state of the parent, too.
    os._exit(status)


print(json.dumps({"pid": os.getpid()}), flush=True)
for line in sys.stdin:
    output, group, *arguments = json.loads(line)
    pid = os.fork()
    if pid == 0:
        child(output, group, arguments)
    _, status = os.waitpid(pid, 0)
    print(json.dumps({"pid": pid, "status": os.waitstatus_to_exitcode(status)}), flush=True)
