# SPDX-License-Identifier: Apache-2.0
"""python_chains.py SECONDS: computes for that time in each of several chains of calls; a thread sleeps in another
chain.

Names of functions end in their chain's letter, so that one function determines the rest of its stack:
a: a function that C code calls back; b: a generator; c: coroutines; d: the thread that sleeps; e: a deep recursion.
"""
import asyncio
import os
import sys
import threading
import time

DEPTH = 150


def burn(seconds, turn):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        turn()


def key_a(n):
    for _ in range(200):
        n = n * 7 % 1000003
    return n


def sort_a():
    sorted(range(200), key=key_a)


def each_b():
    for n in range(50):
        yield deep_b(n)


def deep_b(n):
    for _ in range(1000):
        n = n * 7 % 1000003
    return n


def sum_b():
    return sum(each_b())


async def step_c(n):
    for _ in range(10000):
        n = n * 7 % 1000003
    return n


async def steps_c(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        await step_c(3)


def run_c(loop, seconds):
    loop.run_until_complete(steps_c(seconds))


def sleep_d():
    while True:
        nap_d()


def nap_d():
    time.sleep(0.03)


def down_e(depth):
    if depth:
        return down_e(depth - 1)
    n = 1
    for _ in range(20000):
        n = n * 7 % 1000003
    return n


def main():
    seconds = float(sys.argv[1])
    loop = asyncio.new_event_loop()  # imports: not within one of the chains
    threading.Thread(target=sleep_d, daemon=True).start()
    os.write(1, b"ready %d\n" % os.getpid())
    sys.stdin.readline()
    burn(seconds, sort_a)
    burn(seconds, sum_b)
    run_c(loop, seconds)
    burn(seconds, lambda: down_e(DEPTH))
    os.write(1, b"done\n")
    sys.stdin.readline()
    os._exit(0)


main()
