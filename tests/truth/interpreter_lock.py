# SPDX-License-Identifier: Apache-2.0
"""interpreter_lock.py bytecode|native SECONDS: a thread holds the interpreter's lock most of the time, the main thread
needs it.

Prints main.tid, holder.tid, wait_ns (the time that main waited to continue after it had released the lock for a moment)
and the number of these waits. bytecode releases the lock every 5 ms, native holds it for some 20 ms at a time.
"""
import ctypes
import os
import sys
import threading
import time

GETTID = {"x86_64": 186, "aarch64": 178}
PAUSE = 0.0002


def own_tid():
    return ctypes.CDLL(None).syscall(GETTID[os.uname().machine])


def hold_by_bytecode():
    n = 0
    for i in range(100000):
        n += i * i


def hold_in_native(things):
    things.count(-1)


def hold(way, things):
    say("holder.tid=%d" % own_tid())
    while True:
        if way == "bytecode":
            hold_by_bytecode()
        else:
            hold_in_native(things)


def say(text):
    # One write, so that lines of two threads do not mix.
    os.write(1, (text + "\n").encode())


def launch(seconds):
    waited, count = 0.0, 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        start = time.monotonic()
        time.sleep(PAUSE)
        waited += time.monotonic() - start - PAUSE
        count += 1
        sum(range(1000))
    return waited, count


def main():
    way, seconds = sys.argv[1], float(sys.argv[2])
    things = list(range(20000))
    while way == "native":
        start = time.monotonic()
        things.count(-1)
        if time.monotonic() - start > 0.02:
            break
        things += things
    say("main.tid=%d" % own_tid())
    say("ready %d" % os.getpid())
    sys.stdin.readline()
    thread = threading.Thread(target=hold, args=(way, things))
    thread.daemon = True
    thread.start()
    start = time.monotonic()
    waited, count = launch(seconds)
    say("wait_ns=%d" % (waited * 1e9))
    say("count=%d" % count)
    say("all_ns=%d" % ((time.monotonic() - start) * 1e9))
    say("done")
    sys.stdin.readline()
    os._exit(0)


main()
