# SPDX-License-Identifier: Apache-2.0
"""One thread that holds the interpreter's lock, and one that releases it for nearly all of its work.

Runs as described in truth.h; the argument is the number of seconds of work.
"""
import hashlib
import sys
import threading
import time


def spin_with_lock(until):
    n = 0
    while time.monotonic() < until:
        for i in range(1000):
            n += i
    return n


def hash_without_lock(until):
    data = bytes(16 << 20)
    while time.monotonic() < until:
        hashlib.sha256(data).digest()


def main():
    print("ready", flush=True)
    sys.stdin.readline()
    until = time.monotonic() + float(sys.argv[1])
    other = threading.Thread(target=hash_without_lock, args=(until,))
    other.start()
    spin_with_lock(until)
    other.join()
    print("done", flush=True)
    sys.stdin.readline()


main()
