#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Python programs, each in a separate child process, with one import of their common modules.

usage: python_jobs.py MODULE...

Imports these modules, prints "ready", and then takes lines of standard input: a JSON list of files for the program's
output and its messages, and the program with its arguments. Prints the child's process id when it has begun, and its
status when it has ended, after which the next line is taken. A program runs as if Python had started it.
"""
import importlib
import json
import os
import runpy
import sys
import traceback


def replace(fd, path, flags):
    opened = os.open(path, flags, 0o644)
    os.dup2(opened, fd)
    os.close(opened)


def child(output, messages, arguments):
    replace(0, os.devnull, os.O_RDONLY)
    replace(1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    replace(2, messages, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    sys.argv = arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
    status = 0
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1 if end.code else 0
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        status = 1
    # A normal exit: waits for workers and writes output.
    sys.exit(status)


for module in sys.argv[1:]:
    importlib.import_module(module)
print("ready", flush=True)
for line in sys.stdin:
    output, messages, *arguments = json.loads(line)
    pid = os.fork()
    if pid == 0:
        child(output, messages, arguments)
    print(pid, flush=True)
    _, status = os.waitpid(pid, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
