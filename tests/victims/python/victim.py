# SPDX-License-Identifier: Apache-2.0
"""Binds libvictim.so for Python, and runs a victim."""
import ctypes
import os
import sys

lib = ctypes.CDLL(os.path.join(os.environ["VICTIM_FOLDER"], "libvictim.so"))
lib.victim_again.restype = ctypes.c_bool
lib.victim_print.argtypes = [ctypes.c_char_p, ctypes.c_bool]
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def main(name, run):
    """Runs a victim before and after the gate, as in victim.h."""
    ok = run(lib.victim_rounds())
    lib.victim_gate()
    ok &= run(lib.victim_rounds())
    while lib.victim_again():
        ok &= run(lib.victim_rounds())
    lib.victim_print(name.encode(), ok)
    # The interpreter's end must not unwind suspended coroutines.
    os._exit(0 if ok else 1)
