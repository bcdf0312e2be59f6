#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small files that would make much of memory or time: an error that says why, within 10 s and 512 MB.

    tests/foreign/bombs.py ANALYZER FOLDER
"""
import gzip
import resource
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


def packed(name, head, block, count):
    """@head, and @count times 64 MiB of @block, as members of one gzip file."""
    path = sums.path(name)
    member = gzip.compress(block * (64 * MIB // len(block)))
    with open(path, "wb") as file:
        file.write(gzip.compress(head))
        for _ in range(count):
            file.write(member)
    return path


def tracks(name, head, event):
    """An event on each of more tracks than any job has."""
    path = sums.path(name)
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as file:
        file.write(head)
        for first in range(0, 1200000, 1000):
            file.write("".join(event % {"n": i} for i in range(first, first + 1000)))
        file.write("{}]}")
    return path


KINETO = '{"schemaVersion": 1, "deviceProperties": [], "traceEvents": ['
check(packed("string.json.gz", b'{"traceEvents": [{"ph": "X", "name": "', b"x", 64), ["byte ", "a text, number or space of more than 8 MiB"])
check(packed("spaces.json.gz", KINETO.encode(), b"\n", 128), ["byte ", "of more than 8 MiB"])
check(packed("events.json.gz", KINETO.encode(), b'{"ph": "i", "ts": 1},           ', 128),
      ["byte ", "unpacks to more than 200 times its size"])
for number, opening in enumerate(('{"a":', "[")):
    PATH = sums.path("nested-%d.json" % number)
    with open(PATH, "w", encoding="utf-8") as nested:
        nested.write(KINETO + '{"ph": "X", "args":' + opening * 3000000)
    check(PATH, ["byte ", "nested too deeply"])
check(tracks("streams.json.gz", KINETO, '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": %(n)d, "ts": %(n)d, '
             '"dur": 1, "args": {"device": 0, "stream": %(n)d}},\n'), ["more than 1048576 streams and threads"])
check(tracks("threads.json.gz", KINETO, '{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, '
             '"tid": %(n)d, "ts": %(n)d, "dur": 1, "args": {"correlation": %(n)d}},\n'), ["more than 1048576 streams and threads"])
check(tracks("chrome.json.gz", '{"traceEvents": [', '{"ph": "X", "name": "k", "pid": 1, "tid": %(n)d, "ts": %(n)d, "dur": 1},\n'),
      ["more than 1048576 streams and threads"])
check(tracks("rocm.json.gz", '{"traceEvents": [{"ph": "M", "name": "process_name", "pid": 6, "args": {"name": "1 GPU0"}},\n',
             '{"ph": "X", "name": "gemm", "pid": 6, "tid": %(n)d, "ts": %(n)d, "dur": 0, "args": '
             '{"BeginNs": "1%(n)09d", "EndNs": "2%(n)09d", "dev-id": "0", "queue-id": "%(n)d"}},\n'), ["more than 1048576 streams and threads"])
sums.end()
