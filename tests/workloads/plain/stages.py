#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A data pipeline without a framework: a reader, workers and a main thread, with a fault planted in the workers.

usage: stages.py --kind threads|processes|pool|executor|ahead --workers N --fault sleep|burn|none --ms M --items I [--go FILE]

  threads     the workers are threads, with a queue.Queue on each side
  processes   the same with multiprocessing.Queue
  pool        multiprocessing.Pool.imap
  executor    concurrent.futures.ProcessPoolExecutor.map
  ahead       one thread prefetches into a queue of 2 (as jax's and many others' prefetchers do), whatever --workers says

The fault is in decode(), which the workers run for each item. Prints "ready" and waits for the file --go, then prints
what the main thread measured: wait_ns=, loop_ns= and steps=.
"""
import argparse
import concurrent.futures
import hashlib
import multiprocessing
import os
import queue
import threading
import time

DATA = bytes(65536)


def decode(item, fault, ms):
    if fault == "sleep":
        time.sleep(ms / 1000)
    elif fault == "burn":
        end = time.thread_time() + ms / 1000
        while time.thread_time() < end:
            hashlib.sha256(DATA).digest()
    return item


def work(source, sink, fault, ms):
    while (item := source.get()) is not None:
        sink.put(decode(item, fault, ms))
    sink.put(None)


def decode_one(arguments):
    return decode(*arguments)


def prefetch(items, sink, fault, ms):
    for item in items:
        sink.put(decode(item, fault, ms))
    sink.put(None)


def train(ms):
    """A step of the main thread, which does not hold the interpreter's lock while it computes."""
    end = time.thread_time() + ms / 1000
    while time.thread_time() < end:
        hashlib.sha256(DATA).digest()


def taken(sink, workers):
    ended = 0
    while ended < workers:
        item = sink.get()
        if item is None:
            ended += 1
        else:
            yield item


def by_queues(options, new_queue, new_worker):
    source, sink = new_queue(4 * options.workers), new_queue(2 * options.workers)

    def feed():
        for item in range(options.items):
            source.put(item)
        for _ in range(options.workers):
            source.put(None)

    workers = [new_worker(target=work, args=(source, sink, options.fault, options.ms), name=f"decode-{i}")
               for i in range(options.workers)]
    for worker in workers:
        worker.start()
    yield
    threading.Thread(target=feed, daemon=True, name="reader").start()
    yield from taken(sink, options.workers)
    for worker in workers:
        worker.join()


def by_thread(options):
    sink = queue.Queue(2)
    yield
    threading.Thread(target=prefetch, args=(range(options.items), sink, options.fault, options.ms), name="prefetch").start()
    yield from taken(sink, 1)


def by_pool(options):
    arguments = [(item, options.fault, options.ms) for item in range(options.items)]
    with multiprocessing.Pool(options.workers) as pool:
        yield
        yield from pool.imap(decode_one, arguments)


def by_executor(options):
    arguments = [(item, options.fault, options.ms) for item in range(options.items)]
    with concurrent.futures.ProcessPoolExecutor(options.workers) as pool:
        list(pool.map(decode_one, [(0, "none", 0)] * options.workers))
        yield
        yield from pool.map(decode_one, arguments)


def batches(options):
    if options.kind == "threads":
        return by_queues(options, queue.Queue, threading.Thread)
    if options.kind == "processes":
        return by_queues(options, multiprocessing.Queue, multiprocessing.Process)
    return {"ahead": by_thread, "pool": by_pool, "executor": by_executor}[options.kind](options)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kind", required=True)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--fault", default="none")
    parser.add_argument("--ms", type=float, default=10)
    parser.add_argument("--step-ms", type=float, default=1)
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--go")
    options = parser.parse_args()
    stream = batches(options)
    next(stream)
    print("ready", flush=True)
    while options.go and not os.path.exists(options.go):
        time.sleep(0.01)
    steps, waited = 0, 0
    begin = before = time.monotonic_ns()
    for _ in stream:
        waited += time.monotonic_ns() - before
        steps += 1
        train(options.step_ms)
        before = time.monotonic_ns()
    print(f"wait_ns={waited}")
    print(f"loop_ns={time.monotonic_ns() - begin}")
    print(f"steps={steps}", flush=True)


if __name__ == "__main__":
    main()
