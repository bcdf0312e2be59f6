# SPDX-License-Identifier: Apache-2.0
"""Parts of planted jobs in Python, as plants.h is for jobs in C. SCRIPT without arguments lists its kinds, else

SCRIPT LIBPLANT KIND faulty|healthy TASK_US PERCENT SECONDS
"""
import ctypes
import os
import sys
import threading
import time

NOTHING, CPU, ASLEEP = 0, 1, 2
LOCKED = 4  # on a CPU with the interpreter's lock, which the main thread needs, or the threads that send it the items
LOADER = "remedy=worker|less per element|cheaper|parallel|sleeping|in processes\n"  # remedies for a slow loader


class Spell(ctypes.Structure):
    _fields_ = [("start_ns", ctypes.c_uint64), ("cpu_ns", ctypes.c_uint64), ("ready_ns", ctypes.c_uint64)]


class Job:
    """The device of libplant; it is made after the job's own libraries are loaded."""

    def __init__(self, library, faulty, task_us, percent, seconds):
        self.lib = ctypes.CDLL(library)
        self.lib.plant_open.argtypes = self.lib.plant_submit.argtypes = [ctypes.c_uint64]
        self.lib.plant_task.argtypes = self.lib.plant_fed.argtypes = [ctypes.c_uint64, ctypes.c_uint64]
        self.faulty = faulty
        self.task = task_us / 1e6
        self.item = self.task * percent / 100 if faulty else self.task / 8
        self.rounds = int(seconds / max(self.item, self.task))

    def open(self):
        self.lib.plant_open(int(self.task * 1e6) * 1000)

    def spell(self, kind, work, *arguments):
        spell = Spell()
        self.lib.plant_begin(ctypes.byref(spell))
        work(*arguments)
        self.lib.plant_end(ctypes.byref(spell), kind)

    def feed(self, item, kind=NOTHING):
        for _ in range(self.rounds):
            self.lib.plant_wait_room()
            self.spell(kind, item)
            self.lib.plant_submit(0)


def tell_root():
    """Prints in one write, because several threads and processes may print."""
    os.write(1, b"root.tid=%d\n" % threading.get_native_id())


def start(run):
    threading.Thread(target=run, daemon=True).start()


def burn(seconds):
    """Runs bytecode without releasing the interpreter's lock voluntarily."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for _ in range(200):
            pass


def wait_for_go():
    print(f"ready {os.getpid()}", flush=True)
    sys.stdin.readline()
    print(f"main.tid={threading.get_native_id()}", flush=True)


def run(kinds):
    """Run one of the kinds, {name: function}; the function calls wait_for_go() once the job is ready to be traced."""
    if len(sys.argv) < 7:
        print("\n".join(kinds))
        return
    library, kind, twin, task_us, percent, seconds = sys.argv[1:7]
    job = Job(library, twin == "faulty", int(task_us), int(percent), float(seconds))
    kinds[kind](job)
    sys.stdout.flush()
    job.lib.plant_print()
    print("done", flush=True)
    sys.stdin.readline()
    os._exit(0)
