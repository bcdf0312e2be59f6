# SPDX-License-Identifier: Apache-2.0
"""jobs.py LIBPLANT KIND faulty|healthy TASK_US PERCENT SECONDS: jobs like those of plants.c, in Python."""
import gc
import json
import multiprocessing
import os
import pickle
import queue
import re
import signal
import threading
import time
import zlib

import planted
from planted import ASLEEP, CPU, LOCKED, burn, start, tell_root


def count_words(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for _ in range(100):
            pass


def slow_python(job):
    """An operator in Python, whose queue the main thread waits for."""
    items = queue.Queue(3)

    def produce():
        tell_root()
        while True:
            job.spell(LOCKED, count_words, job.item)
            items.put(0)

    start(produce)
    job.feed(items.get)
    print("causes=user_code\nhops=2\nwhere=count_words|produce|spell")


def sleeping_python(job):
    items = queue.Queue(3)

    def produce():
        tell_root()
        while True:
            job.spell(ASLEEP, time.sleep, job.item)
            items.put(0)

    start(produce)
    job.feed(items.get)
    print("causes=sleep\nhops=2")


def lock_holder(job):
    """Another thread runs bytecode with the interpreter's lock when the main thread needs the lock again."""

    def hold():
        tell_root()
        while True:
            if job.faulty:
                job.spell(LOCKED, burn, 0.05)
            else:
                time.sleep(1)

    start(hold)
    turns = max(1, int(job.item / 0.005))

    def item():
        # Each sleep releases the lock, and gets it back when the other thread's time slice ends.
        for _ in range(turns):
            time.sleep(0.0001)

    job.feed(item)
    print("causes=user_code,runtime\nhops=2")


class Node:
    def __init__(self, other):
        self.other = other
        self.me = self


def collect(job):
    """The main thread collects garbage for each item."""
    tell_root()
    last = None
    keep = []
    for _ in range(20000):
        last = Node(last)
        keep.append(last)
    gc.collect()

    def item():
        end = time.thread_time() + job.item
        while time.thread_time() < end:
            gc.collect(0 if not job.faulty else 2)

    job.feed(item, CPU)
    print("causes=user_code\nhops=1\nwhere=gc|collect\nwords=garbage collection")


def pickles(job):
    tell_root()
    data = [{"a": i, "b": [i, i + 1], "c": str(i)} for i in range(200)]

    def item():
        end = time.thread_time() + job.item
        while time.thread_time() < end:
            pickle.dumps(data)

    job.feed(item, CPU)
    print("causes=user_code\nhops=1\nwhere=pickle|save|dumps|item\nwords=pickling")


def work_on(job, turn, where, words):
    """The main thread repeats turn() for each item."""
    tell_root()

    def item():
        end = time.thread_time() + job.item
        while time.thread_time() < end:
            turn()

    job.feed(item, CPU)
    print(f"causes=user_code\nhops=1\nwhere={where}\nwords={words}")


def compress(job):
    data = bytes(range(256)) * 256
    work_on(job, lambda: zlib.compress(data, 6), "deflate|compress|adler|longest|libz|item|<lambda>", "compression")


def regular(job):
    text = "aaaaaaaaaaaaaaaaaaaab " * 20
    pattern = re.compile("(a+)+c|b$")
    work_on(job, lambda: pattern.search(text[:14]), "sre|search|match|item|<lambda>", "regular expressions")


def read_json(job):
    text = json.dumps([{"a": i, "b": [i, i + 1], "c": str(i)} for i in range(200)])
    work_on(job, lambda: json.loads(text), "json|scan|decod|parse|item|<lambda>", "JSON")


def two_queues(job):
    """Two Python threads in a chain; the last one sleeps."""
    first, second = queue.Queue(3), queue.Queue(3)

    def produce():
        tell_root()
        while True:
            job.spell(ASLEEP, time.sleep, job.item)
            first.put(0)

    def hand_on():
        while True:
            second.put(first.get())

    start(produce)
    start(hand_on)
    job.feed(second.get)
    print("causes=sleep\nhops=3")


def lock_python(job):
    """A Python lock that another thread holds while it sleeps."""
    lock = threading.Lock()

    def hold():
        tell_root()
        while True:
            with lock:
                job.spell(ASLEEP, time.sleep, job.item)
            time.sleep(0.0001)

    def item():
        with lock:
            pass

    start(hold)
    job.feed(item)
    print("causes=sleep\nhops=2")


def worker_process(job):
    """A process that makes items and sends them through a pipe of multiprocessing."""
    receive, send = multiprocessing.Pipe(False)
    child = os.fork()
    if not child:
        tell_root()
        while os.getppid() != 1:
            job.spell(ASLEEP, time.sleep, job.item)
            send.send(b"x" * 16)
    job.feed(receive.recv)
    print("causes=sleep\nhops=2")
    os.kill(child, signal.SIGKILL)


def with_device(kind):
    def run(job):
        job.open()
        planted.wait_for_go()
        kind(job)

    return run


if __name__ == "__main__":
    planted.run({k.__name__: with_device(k) for k in (
        slow_python, sleeping_python, lock_holder, collect, pickles, compress, regular, read_json, two_queues, lock_python,
        worker_process)})
