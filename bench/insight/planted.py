# SPDX-License-Identifier: Apache-2.0
"""What planted jobs in Python are made of; as plants.h is for those in C. SCRIPT without arguments lists its kinds, else

SCRIPT LIBPLANT KIND faulty|healthy TASK_US PERCENT SECONDS
"""
import ctypes
import os
import sys
import threading
import time

NOTHING, CPU, ASLEEP = 0, 1, 2
LOCKED = 4  # on a CPU with the interpreter's lock, in the process of the main thread
LOADER = "remedy=worker|less per element|cheaper|parallel|sleeping|in processes\n"  # what helps a loader


class Spell(ctypes.Structure):
    _fields_ = [("start_ns", ctypes.c_uint64), ("cpu_ns", ctypes.c_uint64), ("ready_ns", ctypes.c_uint64)]


class Job:
    """A device that is libplant's; it is made once the job's own libraries are there."""

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
    """In one piece: several threads and processes may."""
    os.write(1, b"root.tid=%d\n" % threading.get_native_id())


def start(run):
    threading.Thread(target=run, daemon=True).start()


def burn(seconds):
    """Bytecode, and nothing that lets go of the interpreter's lock."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for _ in range(200):
            pass


def wait_for_go():
    print(f"ready {os.getpid()}", flush=True)
    sys.stdin.readline()
    print(f"main.tid={threading.get_native_id()}", flush=True)


def run(kinds):
    """kinds: by name what is done once the job is traced, or a generator that prepares first and yields where that is so."""
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
