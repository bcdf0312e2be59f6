#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tf.data pipelines with a planted cost; the job prints its own measurements.

usage: pipelines.py --go FILE [OPTION...]

Prints "ready" when all libraries are loaded, waits until FILE exists, takes all batches, and prints a line of JSON: the
number of batches, the time it waited for them, and the CPU time of all threads except the main thread.

--how: the work of map() on a row: burn (TensorFlow's own operations), python (a Python function that is on a CPU for
--ms), sleep (a function that sleeps as long), quick (a function that does nothing), none.

--second: another data set of the same kind, whose map() does this work. One batch of each is taken before "ready"; after
that, one batch of the second data set after every two of the first. --epochs: repeats this, with new iterators over both.
"""
import argparse
import json
import os
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf

HOW = ["none", "burn", "python", "sleep", "quick"]


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def wait_for(path):
    print("ready", flush=True)
    while not os.path.exists(path):
        time.sleep(0.05)


def two(args, first, second):
    batches, ends = [0, 0], [0, 0]
    for epoch in range(args.epochs):
        iterators = [iter(first), iter(second)]
        if epoch == 0:
            for iterator in iterators:
                next(iterator)
            wait_for(args.go)
        turn = 0
        while ends != [epoch + 1, epoch + 1]:
            which = 1 if turn % 3 == 2 else 0
            turn += 1
            if ends[which] > epoch:
                continue
            if next(iterators[which], None) is None:
                ends[which] += 1
            else:
                batches[which] += 1
            burn(args.step_ms / 1e3)
    print(json.dumps({"batches": batches, "ends": ends}))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--go", required=True)
    parser.add_argument("--how", choices=HOW, default="none")
    parser.add_argument("--parallel", type=int, default=2, help="calls of map() at once; 0: one, in the thread that asks")
    parser.add_argument("--batches", type=int, default=40)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--ms", type=float, default=5)
    parser.add_argument("--step-ms", type=float, default=2)
    parser.add_argument("--size", type=int, default=320, help="of the matrices that burn multiplies")
    parser.add_argument("--after", action="store_true", help="a cheap map() after the batch")
    parser.add_argument("--second", choices=HOW)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--cache", action="store_true", help="cache().repeat(4): of a quarter of the batches")
    args = parser.parse_args()

    def work(row, how):
        if how == "burn":
            matrix = tf.fill([args.size, args.size], tf.cast(row, tf.float32) * 1e-9)
            for _ in range(6):
                matrix = tf.tanh(tf.matmul(matrix, matrix))
            return matrix[0, 0]
        if how in ("python", "sleep", "quick"):
            spend = time.sleep if how == "sleep" else burn
            seconds = 0 if how == "quick" else args.ms / 1e3
            return tf.numpy_function(lambda value: (spend(seconds), value)[1], [row], tf.int64)
        return row

    def make(rows, how):
        data = tf.data.Dataset.range(rows // 4 if args.cache else rows)
        data = data.map(lambda row: work(row, how), num_parallel_calls=args.parallel or None)
        if args.cache:
            data = data.cache().repeat(4)
        data = data.batch(args.batch)
        if args.after:
            data = data.map(lambda value: tf.identity(value), num_parallel_calls=2)
        options = tf.data.Options()
        options.experimental_optimization.map_and_batch_fusion = False
        return data.prefetch(2).with_options(options)

    data = make(args.batches * args.batch, args.how)
    if args.second:
        two(args, data, make(args.batches * args.batch // 2, args.second))
        return
    wait_for(args.go)
    begin, wait, batches, ends = time.monotonic(), 0.0, 0, 0
    own, every = time.thread_time(), time.process_time()
    iterator = iter(data)
    while True:
        start = time.monotonic()
        batch = next(iterator, None)
        wait += time.monotonic() - start
        if batch is None:
            break
        batches += 1
        burn(args.step_ms / 1e3)
    others = time.process_time() - every - (time.thread_time() - own)
    print(json.dumps({"batches": batches, "wait_percent": round(100 * wait / (time.monotonic() - begin), 1), "others_cpu_ms": round(others * 1e3)}))


if __name__ == "__main__":
    main()
