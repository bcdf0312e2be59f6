# SPDX-License-Identifier: Apache-2.0
"""work_kinds.py SECONDS: the main thread waits for a thread of each kind of work, one after the other.

Each thread works for SECONDS, and on a busy machine until it has used CPU_SECONDS, at most LONGEST_SECONDS. Prints
main.tid, and for each KIND its KIND.tid and KIND.cpu_ns.
"""
import ctypes
import gc
import json
import logging
import mmap
import os
import pickle
import re
import sys
import threading
import time
import zlib

GETTID = {"x86_64": 186, "aarch64": 178}
PAGE = 4096
CPU_SECONDS = 0.4
LONGEST_SECONDS = 20


def own_tid():
    return ctypes.CDLL(None).syscall(GETTID[os.uname().machine])


def say(text):
    os.write(1, (text + "\n").encode())


class Node:
    def __init__(self, other):
        self.other, self.me = other, self


def make_garbage_job():
    nodes = []
    for _ in range(50000):
        nodes.append(Node(nodes[-1] if nodes else None))
    return lambda: gc.collect(2) + (0 if nodes else 1)


def make_pickle_job():
    data = [{"a": i, "b": [i, i + 1], "c": str(i)} for i in range(300)]
    return lambda: pickle.dumps(data)


def make_compress_job():
    data = bytes(i * i % 251 for i in range(1 << 18))
    return lambda: zlib.compress(data, 6)


def make_regex_job():
    text = "aaaaaaaaab" * 2000
    pattern = re.compile("(a+)(b|c)x")
    return lambda: pattern.search(text)


def make_json_job():
    data = [{"a": i, "b": [i, i + 1], "c": str(i)} for i in range(300)]
    return lambda: json.loads(json.dumps(data))


def make_log_job():
    log = logging.getLogger("work")
    log.propagate = False
    handler = logging.StreamHandler(open(os.devnull, "w"))
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)

    def job():
        for i in range(200):
            log.warning("item %d of %s", i, "many")

    return job


def make_copy_job():
    data = bytearray(8 << 20)
    view = bytearray(8 << 20)

    def job():
        view[:] = data

    return job


def make_fault_job():
    libc = ctypes.CDLL(None, use_errno=True)
    size = 32 << 20
    memory = mmap.mmap(-1, size)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))

    def job():
        libc.memset(ctypes.c_void_p(address), 1, ctypes.c_size_t(len(memory)))
        libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(size), 4)

    return job


def make_read_job():
    source = open("/dev/zero", "rb", buffering=0)
    into = bytearray(1 << 20)
    return lambda: source.readinto(into)


def make_plain_job():
    def job():
        n = 0
        for i in range(20000):
            n += i * i

    return job


KINDS = {
    "garbage": make_garbage_job,
    "pickle": make_pickle_job,
    "compress": make_compress_job,
    "regex": make_regex_job,
    "json": make_json_job,
    "log": make_log_job,
    "copy": make_copy_job,
    "fault": make_fault_job,
    "read": make_read_job,
    "plain": make_plain_job,
}


def run(kind, job, seconds):
    # A separate name, because successive threads with the same name count as one.
    ctypes.CDLL(None).prctl(15, kind.encode())
    start, begin = time.thread_time(), time.monotonic()
    while True:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            job()
        if time.thread_time() - start >= CPU_SECONDS or time.monotonic() - begin >= LONGEST_SECONDS:
            break
    say("%s.tid=%d" % (kind, own_tid()))
    say("%s.cpu_ns=%d" % (kind, (time.thread_time() - start) * 1e9))


def main():
    gc.disable()
    jobs = {kind: make() for kind, make in KINDS.items()}
    say("main.tid=%d" % own_tid())
    say("ready %d" % os.getpid())
    sys.stdin.readline()
    for kind, job in jobs.items():
        thread = threading.Thread(target=run, args=(kind, job, float(sys.argv[1])))
        thread.start()
        thread.join()
    say("done")
    sys.stdin.readline()
    os._exit(0)


main()
