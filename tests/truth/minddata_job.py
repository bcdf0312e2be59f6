#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A MindData pipeline with known counts and a known slow place, with a trainer that only sleeps.

source -> shuffle -> map (C++) -> map (Python) -> batch -> trainer

Prints {"ready": true, "pid": ...} and waits for a line on standard input: before it makes
the pipeline or, with --middle, once the pipeline runs, its first batch is fetched and all
its queues are full. Then it prints the number of rows requested from the generator so far,
continues, and prints its counts.

--second: two equal pipelines, except for the second's Python map; fetches from both in turn, one batch of the
second after every two of the first.
"""
import argparse
import json
import os
import sys
import threading
import time

os.environ.setdefault("GLOG_v", "3")
parser = argparse.ArgumentParser()
parser.add_argument("--source", choices=["generator", "numpy"], default="generator")
parser.add_argument("--rows", type=int, default=320)
parser.add_argument("--batch", type=int, default=16)
parser.add_argument("--epochs", type=int, default=2)
parser.add_argument("--workers", type=int, default=2, help="of the Python map")
parser.add_argument("--processes", action="store_true", help="the Python map works in processes")
parser.add_argument("--map", choices=["none", "cheap", "sleep", "burn"], default="cheap")
parser.add_argument("--second", choices=["cheap", "sleep", "burn"])
parser.add_argument("--map-ms", type=float, default=5, help="what the Python map takes per row")
parser.add_argument("--source-ms", type=float, default=0, help="the generator sleeps so long per row")
parser.add_argument("--heavy", type=int, default=0, help="blurs per row of the C++ map")
parser.add_argument("--image", type=int, default=32)
parser.add_argument("--think-ms", type=float, default=1, help="the trainer sleeps so long per batch")
parser.add_argument("--middle", action="store_true")
args = parser.parse_args()

import numpy as np
import mindspore.dataset as ds
import mindspore.dataset.vision as vision

IMAGES = np.random.default_rng(0).integers(0, 255, (args.rows, args.image, args.image, 3), np.uint8)
LABELS = np.arange(args.rows, dtype=np.int32)
asked = 0


class Source:
    def __len__(self):
        return args.rows

    def __getitem__(self, index):
        global asked
        asked += 1
        if args.source_ms:
            time.sleep(args.source_ms / 1e3)
        return IMAGES[index], LABELS[index]


def work(row, how):
    if how == "sleep":
        time.sleep(args.map_ms / 1e3)
    elif how == "burn":
        end = time.thread_time() + args.map_ms / 1e3
        while time.thread_time() < end:
            pass
    return row


def pipeline(how):
    if args.source == "generator":
        data = ds.GeneratorDataset(Source(), ["image", "label"], shuffle=False,
                                   num_parallel_workers=1)
    else:
        data = ds.NumpySlicesDataset((IMAGES, LABELS), ["image", "label"], shuffle=False,
                                     num_parallel_workers=1)
    native = [vision.GaussianBlur(7, 3.0)] * args.heavy + [vision.HWC2CHW()]
    data = data.shuffle(16).map(native, "image", num_parallel_workers=1)
    if how != "none":
        data = data.map([lambda row: work(row, how)], "image", num_parallel_workers=args.workers,
                        python_multiprocessing=args.processes, max_rowsize=1)
    return data.batch(args.batch, drop_remainder=True, num_parallel_workers=1)


def ready():
    print(json.dumps({"ready": True, "pid": os.getpid()}), flush=True)
    sys.stdin.readline()


def others_asleep():
    """Whether no other thread is on a CPU or waits for one."""
    for tid in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{tid}/stat", encoding="utf-8") as file:
                if int(tid) != threading.get_native_id() and file.read().rpartition(")")[2].split()[0] == "R":
                    return False
        except OSError:
            pass  # it has just ended
    return True


def until_full():
    """Waits until there are no requests for half a second in which no thread wanted a CPU: then all queues are full."""
    before, quiet, end = -1, 0, time.monotonic() + 60
    while quiet < 10 and time.monotonic() < end:
        quiet = quiet + 1 if asked == before and others_asleep() else 0
        before = asked
        time.sleep(0.05)


def two():
    iterators = [iter(pipeline(how).create_tuple_iterator(num_epochs=1, output_numpy=True))
                 for how in (args.map, args.second)]
    batches, turn, ended = [0, 0], 0, [False, False]
    while not all(ended):
        which = 1 if turn % 3 == 2 else 0
        if turn == 3:
            until_full()
            ready()
        turn += 1
        if ended[which]:
            continue
        if next(iterators[which], None) is None:
            ended[which] = True
        else:
            batches[which] += 1
        time.sleep(args.think_ms / 1e3)
    print(json.dumps({"batches": batches}), flush=True)


ds.config.set_prefetch_size(4)
if args.second:
    two()
    sys.exit()
if not args.middle:
    ready()
iterator = pipeline(args.map).create_tuple_iterator(num_epochs=args.epochs, output_numpy=True)
batches = before = 0
for epoch in range(args.epochs):
    for _ in iterator:
        batches += 1
        if args.middle and batches == 1:
            until_full()
            ready()
            before = asked
        time.sleep(args.think_ms / 1e3)
print(json.dumps({"rows": args.rows * args.epochs, "batches": batches, "asked_before": before,
                  "asked": asked}), flush=True)
