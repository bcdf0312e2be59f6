#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small files that would take much memory or time: the analyzer fails with the reason, within 10 s and 512 MB.

    tests/foreign/bombs.py ANALYZER FOLDER
"""
import gzip
import json
import resource
import sqlite3
import subprocess
import sys

import sums

SECONDS = 10
BYTES = 512 * 10**6
MIB = 2**20


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def check(path, said):
    run = subprocess.run([sys.argv[1], "info", "--device", path], capture_output=True, text=True, check=False,
                         preexec_fn=limit)  # pylint: disable=subprocess-popen-preexec-fn
    sums.same(path + ": exit status", run.returncode, 1)
    for word in (path, *said):
        sums.same("%s: says %s, not %s" % (path, word, run.stderr[-300:]), word in run.stderr, True)


def check_taken(path, command, said):
    """The file is read completely, or up to the limit."""
    run = subprocess.run([sys.argv[1], command, "--device", path], capture_output=True, text=True, check=False,
                         preexec_fn=limit)  # pylint: disable=subprocess-popen-preexec-fn
    sums.same("%s: exit status, %s" % (path, run.stderr[-300:]), run.returncode, 0)
    sums.same("%s: says %s" % (path, said), said in run.stdout, True)


def packed(name, head, block, count):
    """A gzip file with @head and @count members of 64 MiB of @block."""
    path = sums.path(name)
    member = gzip.compress(block * (64 * MIB // len(block)))
    with open(path, "wb") as file:
        file.write(gzip.compress(head))
        for _ in range(count):
            file.write(member)
    return path


def tracks(name, head, event, tail="]}", count=1200000):
    """One event on each of many tracks, more than any job has."""
    path = sums.path(name)
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as file:
        file.write(head)
        for first in range(0, count, 1000):
            file.write("".join(event % {"n": i} for i in range(first, first + 1000)))
        file.write("{}" + tail)
    return path


KINETO = '{"schemaVersion": 1, "deviceProperties": [], "traceEvents": ['
check(packed("string.json.gz", b'{"traceEvents": [{"ph": "X", "name": "', b"x", 64), ["byte ", "a text, number or space of more than 8 MiB"])
check(packed("spaces.json.gz", KINETO.encode(), b"\n", 128), ["byte ", "of more than 8 MiB"])
check(packed("events.json.gz", KINETO.encode(), b'{"ph": "i", "ts": 1},           ', 128),
      ["byte ", "unpacks to more than 100 times its size"])
for number, opening in enumerate(('{"a":', "[")):
    PATH = sums.path("nested-%d.json" % number)
    with open(PATH, "w", encoding="utf-8") as nested:
        nested.write(KINETO + '{"ph": "X", "args":' + opening * 3000000)
    # The limit of nesting: 512 levels, of which the file's own list is the second.
    check(PATH, ["byte %d: " % (len(KINETO) + len('{"ph": "X", "args":') + 509 * len(opening) + 1), "nested too deeply"])
check(tracks("streams.json.gz", KINETO, '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": %(n)d, "ts": %(n)d, '
             '"dur": 1, "args": {"device": 0, "stream": %(n)d}},\n'), ["more than 1048576 streams and threads"])
check(tracks("threads.json.gz", KINETO, '{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, '
             '"tid": %(n)d, "ts": %(n)d, "dur": 1, "args": {"correlation": %(n)d}},\n'), ["more than 1048576 streams and threads"])
# So many devices and processes that pairs of them would take hours.
DEVICES = ["more than 16384 devices"]
check(tracks("devices.json.gz", KINETO, '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": %(n)d, '
             '"dur": 1, "args": {"device": %(n)d, "stream": 7}},\n', count=200000), DEVICES)
check(tracks("processes.json.gz", KINETO, '{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": %(n)d, '
             '"tid": 1, "ts": %(n)d, "dur": 1, "args": {"correlation": %(n)d}},\n', count=200000), ["more than 32768 processes"])
with open(sums.path("op_statistic_1.csv"), "w", encoding="utf-8") as rows:
    rows.write("Device_id,OP Type,Core Type,Count,Total Time(us)\n" + "".join("%d,Add,AI_CORE,1,1\n" % at for at in range(1200000)))
check(sums.path("op_statistic_1.csv"), DEVICES)
with open(sums.path("op_statistic_2.csv"), "w", encoding="utf-8") as rows:
    rows.write("Device_id,OP Type,Core Type,Count,Total Time(us)\n")
    rows.writelines("%d,Add,AI_CORE,1,1\n" % (at % 16000) for at in range(160000))
check_taken(sums.path("op_statistic_2.csv"), "info", "16000 devices")
check(tracks("chrome.json.gz", '{"traceEvents": [', '{"ph": "X", "name": "k", "pid": 1, "tid": %(n)d, "ts": %(n)d, "dur": 1},\n'),
      ["more than 1048576 streams and threads"])
check(tracks("rocm.json.gz", '{"traceEvents": [{"ph": "M", "name": "process_name", "pid": 6, "args": {"name": "1 GPU0"}},\n',
             '{"ph": "X", "name": "gemm", "pid": 6, "tid": %(n)d, "ts": %(n)d, "dur": 0, "args": '
             '{"BeginNs": "1%(n)09d", "EndNs": "2%(n)09d", "dev-id": "0", "queue-id": "%(n)d"}},\n'), ["more than 1048576 streams and threads"])

ASCEND = ('[{"name": "process_name", "pid": 1, "tid": 0, "ph": "M", "args": {"name": "Ascend Hardware"}},\n'
          '{"name": "AscendCL@aclInit", "pid": 2, "tid": 1, "ts": "1700000000000000.5", "dur": 1, "ph": "X", "args": {"level": "acl"}},\n')
check(tracks("ascend.json.gz", ASCEND, '{"name": "MatMul", "pid": 1, "tid": %(n)d, "ts": "1700000000000001.%(n)d", "dur": 1, "ph": "X", '
             '"args": {"Task Type": "AI_CORE", "Physic Stream Id": %(n)d, "Task Id": 1}},\n', "]"), ["more than 1048576 streams and threads"])
check(tracks("megengine.json.gz", '{"traceEvents": [{"name": "thread_name", "ph": "M", "pid": 1, "tid": 1, "args": {"name": "channel"}},\n'
             '{"cat": "Default", "name": "TensorCommand", "ph": "B", "pid": 1, "tid": 1, "ts": 0.1, "args": {}},\n',
             '{"cat": "Default", "name": "Elemwise", "ph": "B", "pid": 1, "tid": %(n)d, "ts": 0.2, "args": {}},\n'),
      ["more than 1048576 streams and threads"])
table = sums.path("op_summary_1.csv.gz")
with gzip.open(table, "wt", compresslevel=1, encoding="utf-8") as rows:
    rows.write("Device_id,Task ID,Stream ID,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n")
    for at in range(1200000):
        rows.write("0,1,%d,MatMul,MatMul,AI_CORE,%d,1\n" % (at, 1700000000000000 + at))
check(table, ["more than 1048576 streams and threads"])
HEAD = "Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n"
check_taken(packed("op_summary_2.csv.gz", HEAD.encode(), b"0,a,b,AI_CORE,1,1234567890123\n\n", 4), "info",
            "unpacks to more than 100 times its size")
# Each of many steps could contain each of equally many reductions.
with open(sums.path("msprof_0.json"), "w", encoding="utf-8") as events:
    row = '{"cat": "%s", "ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": %d.5, "dur": 1.5, "args": {"Iteration ID": 1, "FP Start": "%d.5"}},\n'
    events.write(ASCEND + "".join(row % (kind, 1700000000000000 + at, 1700000000000000 + at) for at in range(20000)
                                  for kind in ("Reduce", "Iteration Time")) + "{}]")
check_taken(sums.path("msprof_0.json"), "info", "1 device,")
with open(sums.path("data", "pipeline_profiling_0.json"), "w", encoding="utf-8") as tree:
    operators = ['{"op_id": %d, "op_type": "MapOp", "num_workers": 1, "children": %s}' % (at, json.dumps(list(range(900)))) for at in range(4000)]
    tree.write('{"op_info": [' + ",".join(operators) + "]}")
check_taken(sums.path("data"), "info", "no file of CPU use")
# All steps at the same time: steps that overlap cost no more than others.
with open(sums.path("op_summary_3.csv"), "w", encoding="utf-8") as rows:
    rows.write(HEAD + 80000 * "0,a,b,AI_CORE,1,1\n")
check_taken(sums.path("op_summary_3.csv"), "report", "80000 tasks")
with open(sums.path("dynamic_shape_info_0.json"), "w", encoding="utf-8") as tree:
    tree.write('{"operator": {"1": [' + ",".join(500000 * ['{"op_side": "d", "op_type": "t", "op_name": "n", "dur": 1}']) + "]}}")
check(sums.path("dynamic_shape_info_0.json"), ["byte ", "more than 4000000 values"])
nsys = sums.path("report.sqlite")
db = sqlite3.connect(nsys)
db.executescript("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (1, 'gemm'); "
                 "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
                 "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, "
                 "streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);")
db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, ?, ?, 16777216, 1, 1)",
               ((at, at + 1, at, at) for at in range(1, 1200001)))
db.commit()
db.close()
check(nsys, ["more than 1048576 streams and threads"])


def varint(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def message(number, body):
    return bytes([number << 3 | 2]) + varint(len(body)) + body


# XSpace: a plane of a GPU with a line for each event, which all are of one kind.
KIND = message(4, b"\x08\x01" + message(2, b"\x08\x01" + message(2, b"gemm")))
with open(sums.path("host.xplane.pb"), "wb") as space:
    lines = b"".join(message(3, b"\x08" + varint(at) + message(2, b"Stream") + b"\x18\x01" + message(4, b"\x08\x01\x10\x01\x18\x02"))
                     for at in range(1, 1200001))
    space.write(message(1, b"\x08\x01" + message(2, b"/device:GPU:0") + KIND + lines))
check(sums.path("host.xplane.pb"), ["more than 1048576 streams and threads"])
sums.end()
