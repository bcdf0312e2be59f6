# SPDX-License-Identifier: Apache-2.0
"""Generators and coroutines of Python, an event loop inside a probed function, exceptions below it."""
import asyncio
from victim import CALLBACK, lib, main


def numbers():
    i = 0
    while True:
        lib.victim_leaf(i)
        yield i
        i += 1


async def task(i):
    lib.victim_leaf(i)
    await asyncio.sleep(0)
    lib.victim_leaf(i)
    if i % 2:
        raise ValueError(i)
    return i


async def tasks():
    return await asyncio.gather(*(task(i) for i in range(8)), return_exceptions=True)


failed = 0
generator = numbers()


@CALLBACK
def loop(_):
    global failed
    next(generator)
    failed += sum(isinstance(result, ValueError) for result in asyncio.run(tasks()))


def run(rounds):
    global failed
    failed = 0
    for _ in range(rounds // 20):
        lib.victim_work(loop, None)
    return failed == rounds // 20 * 4


main("python_generators", run)
