# SPDX-License-Identifier: Apache-2.0
"""Greenlets, whose stacks are copied to the heap, switch inside a probed function."""
import greenlet
from victim import CALLBACK, lib, main

hub = greenlet.getcurrent()


@CALLBACK
def switch_away(_):
    hub.switch()


def work():
    while True:
        lib.victim_work(switch_away, None)


greenlets = [greenlet.greenlet(work) for _ in range(4)]


def run(rounds):
    ok = True
    for i in range(rounds):
        greenlets[i * 3 % 4].switch()
        ok &= lib.victim_leaf(i) == 3 * i
    return ok


main("python_greenlets", run)
