# SPDX-License-Identifier: Apache-2.0
"""Shared by the jobs: options, and a file with the end of each step."""
import argparse
import os
import signal
import sys
import time


class Steps:
    """Writes CLOCK_MONOTONIC nanoseconds of the end of each step; stops after --steps, or on SIGTERM."""

    def __init__(self):
        parser = argparse.ArgumentParser()
        parser.add_argument("file", help="where the ends of steps are written")
        parser.add_argument("--steps", type=int, default=0, help="end after so many (default: on SIGTERM)")
        parser.add_argument("--profiler", metavar="DIR", help="use the framework's own profiler, results in DIR")
        self.options = parser.parse_args()
        self.out = open(self.options.file, "w", buffering=1)
        self.count = 0
        self.over = False
        signal.signal(signal.SIGTERM, self.stop)

    def stop(self, *unused):
        self.over = True

    def ended(self):
        """Called after each step; returns whether the job goes on."""
        self.out.write(f"{time.monotonic_ns()}\n")
        self.count += 1
        self.over |= self.count == self.options.steps
        return not self.over

    @staticmethod
    def leave():
        """Exits without waiting for workers of data loaders, which may sleep for long."""
        sys.stdout.flush()
        os._exit(0)
